#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The command line as such: help, usage errors, the form of an error.

load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
}

@test "help goes to stdout with status 0, --version names the version" {
	expect 0 "$DMCT" --help
	[[ $output == "Usage: dmcrypt-tune COMMAND"* ]]
	expect 0 "$DMCT" --version
	[[ $output == "dmcrypt-tune "* ]]
}

@test "usage errors: status 1, a sentence on stderr, nothing on stdout" {
	expect 1 "$DMCT"
	says "No command given"
	expect 1 "$DMCT" nonsense
	says 'Unknown command "nonsense"'
	is "$output" ""
	expect 1 "$DMCT" --nonsense
	says 'Unknown option "--nonsense"'
	expect 1 "$DMCT" --sysroot
	says "a value is missing"
}

@test "with --json an error is one object on stdout, with the exit status in it" {
	expect 1 "$DMCT" --json nonsense
	is "$(json .schema)" dmcrypt-tune.error.v1
	is "$(json .error.code)" 1
	is "$(json .error.name)" usage
	[[ $(json .error.message) == *nonsense* ]]
}

@test "the program starts without libkcapi: it is loaded when it is asked for" {
	need ldd "the C library's tools"
	ldd "$DMCT" >libraries || skip "ldd cannot read the program"
	grep -q libcryptsetup libraries
	run ! grep libkcapi libraries
}
