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

@test "--version and --help after a command: nothing runs; help takes the options of every command" {
	local command
	truncate -s 17M disk.img
	for command in "probe" "bench --time 30" "recommend --time 30" "format disk.img --auto --yes --key-file /dev/zero"; do
		# shellcheck disable=SC2086 # split on purpose
		expect 0 timeout 5 "$DMCT" $command --version
		[[ $output == "dmcrypt-tune "*$'\n'"libkcapi: "* ]]
		# shellcheck disable=SC2086
		expect 0 timeout 5 "$DMCT" $command -V --json
		[[ $output == "dmcrypt-tune "* ]]
	done
	is "$(tr -d '\0' <disk.img | wc -c)" 0 "bytes written"
	for command in "help --json" "help help" "--json help" "help -q"; do
		# shellcheck disable=SC2086
		expect 0 "$DMCT" $command
		[[ $output == "Usage: dmcrypt-tune COMMAND"* ]]
	done
	for command in "--json help format" "help format --json"; do
		# shellcheck disable=SC2086
		expect 0 "$DMCT" $command
		[[ $output == "Usage: dmcrypt-tune format"* ]]
	done
	expect 1 "$DMCT" help nonsense
}

@test "empty values and operands are usage errors" {
	expect 1 "$DMCT" format x --auto --key-file ''
	says '^dmcrypt-tune: --key-file: the value is empty\.$'
	expect 1 "$DMCT" format x --auto --label=
	says '^dmcrypt-tune: --label: the value is empty\.$'
	expect 1 "$DMCT" bench --time ''
	says '--time: the value is empty'
	expect 1 "$DMCT" probe ''
	says '^dmcrypt-tune: DEVICE is empty\.$'
	expect 1 "$DMCT" format '' --auto
	says 'DEVICE is empty'
	expect 1 "$DMCT" bench aes-xts-plain64 ''
	says 'SPEC is empty'
}

@test "a report that cannot be written: said once, with the cause" {
	local command
	[ -c /dev/full ] || skip "no /dev/full"
	for command in probe "probe --json" --help "bench --time 0.2 --engine cpu aes-xts-plain64/512@4096" \
		"recommend --json --time 0.2 --pbkdf-force-iterations 4"; do
		# shellcheck disable=SC2086 # split on purpose
		expect 7 onto_full $command
		# shellcheck disable=SC2154 # stderr is bats's
		is "$stderr" "dmcrypt-tune: standard output: No space left on device." "$command"
	done
}

onto_full() {
	"$DMCT" "$@" >/dev/full
}

@test "closed standard output: status 7 and a sentence, never silently 0" {
	local command
	for command in probe "probe --json" --help --version "help bench" "bench -q --time 0.1 --engine cpu aes-xts-plain64/512@4096" \
		"recommend -q --json --time 0.2 --pbkdf-force-iterations 4"; do
		# shellcheck disable=SC2086 # split on purpose
		expect 7 without_output $command
		is "$stderr" "dmcrypt-tune: standard output is closed; what was to be printed is lost." "$command"
	done
	# An error is the error.
	expect 1 without_output bench --json nonsense
	says nonsense
}

without_output() {
	"$DMCT" "$@" >&-
}

@test "control characters of a path: '?' on the terminal, escaped in JSON" {
	local path=$'no\e[31mne\nhere\x9b'
	expect 4 "$DMCT" --json probe "$path"
	is "$stderr" "dmcrypt-tune: no?[31mne?here?: there is no such device or file."
	is "$(json .error.message)" $'no\e[31mne\nhere\xef\xbf\xbd: there is no such device or file.'
	[[ $output == *'\u001b[31mne\nhere'* ]]
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
