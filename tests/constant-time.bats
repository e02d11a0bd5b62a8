#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# No branch and no address depends on a key or on data: valgrind's memcheck, with both marked undefined.
load lib/common

WORK=$DMCT_BUILD/tests/unit/secret-work

# A tier under memcheck; 9: it found something.
secretly() { # TIER
	need valgrind "package valgrind"
	! ldd "$WORK" | grep -q "lib[at]san" || skip "a sanitizer's program does not run under valgrind"
	run valgrind -q --error-exitcode=9 --undef-value-errors=yes "$WORK" "$1"
	[[ $output != *"unhandled dwarf2"* ]] || skip "$(valgrind --version) cannot read what this compiler says of its code"
	[ "$status" -ne 77 ] || skip "$1 under $(valgrind --version): ${lines[-1]}"
}

constant_time() { # TIER
	secretly "$1"
	[ "$status" -eq 0 ] || { printf '%s\n' "${lines[@]:0:40}"; false; }
}

@test "portable is constant time" {
	constant_time portable
}

@test "aesni is constant time" {
	constant_time aesni
}

@test "vaes256 is constant time" {
	constant_time vaes256
}

@test "vaes512 is constant time" {
	constant_time vaes512
}

@test "a planted table look-up is found: the table tier is one, and fails" {
	secretly table
	is "$status" 9
	[[ $output == *"Use of uninitialised value"* ]]
	[[ $output == *tier_table.c* ]]
}
