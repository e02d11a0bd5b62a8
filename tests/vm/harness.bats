#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The harness itself, on the host: a fault that is planted makes it red.

load ../lib/common

setup() {
	here=$BATS_TEST_DIRNAME
	export VM_KERNEL=6.12 VM_DISKS=no VM_CONSOLE='' VM_APPEND=''
}

# boots STATUS COMMAND: the guest's job ends so.
boots() {
	run --separate-stderr "$here/boot" "$2"
	# shellcheck disable=SC2154 # stderr is bats's
	is "$status" "$1" "status ($output $stderr)"
}

@test "a guest's output and exit status come out" {
	boots 7 'echo hello; exit 7'
	is "$output" hello
	boots 0 true
}

@test "planted fault: a program that does nothing and exits 0: every test of it is red" {
	printf '#!/bin/sh\nexit 0\n' >"$BATS_TEST_TMPDIR/nothing"
	chmod 755 "$BATS_TEST_TMPDIR/nothing"
	export DMCT=$BATS_TEST_TMPDIR/nothing
	VM_DISKS=yes boots 1 'bats --formatter tap crypto.bats disks.bats refusals.bats'
	is "$(grep '^ok ' <<<"$output")" "" "tests that pass"
	[ "$(grep -c '^not ok ' <<<"$output")" -eq "$(grep -h -c '^@test' "$here"/{crypto,disks,refusals}.bats | awk "{ n += \$1 } END { print n }")" ]
}

@test "planted fault: a guest that panics is a failure, with the console's end" {
	boots 125 'echo "ok 1 all is well"; echo c >/proc/sysrq-trigger; sleep 60'
	says 'did not report'
	says 'its kernel panicked'
	says '^. .*Kernel panic'
}

@test "planted fault: a guest that hangs is a failure, at its time limit" {
	VM_TIMEOUT=30 boots 125 'echo 1..1; echo "ok 1 all is well"; sleep 1000'
	says 'it hangs: no end after 30 s'
	says 'up after'
}

@test "planted fault: a guest that ends without a report, a kernel that does not start" {
	boots 125 'echo 1..1; echo "ok 1 all is well"; echo o >/proc/sysrq-trigger; sleep 60'
	says 'without a word'
	VM_APPEND=root=/dev/nowhere VM_TIMEOUT=60 boots 125 true
	says 'did not report'
}
