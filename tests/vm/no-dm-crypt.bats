#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel without the module dm_crypt: a volume can be made and not opened, and that is said before.

load ../lib/common
load guest

@test "probe: device-mapper is there, the target crypt is not, and which module is missing" {
	run ! modprobe -q dm-crypt
	expect 0 "$DMCT" probe --json
	is "$(json .kernel.dm.available)" false
	json .kernel.dm.reason | grep -q 'no target "crypt".*dm_crypt'
	is "$(json '.findings[] | select(.id == "no-dm-crypt") | .severity')" warning
}

@test "bench and format work all the same: the header is whole, and the key opens it" {
	saved
	image 24M
	expect 0 format "$loop"
	is "$(json .verified)" true
	cryptsetup open --test-passphrase --key-file key "$loop"
	run ! cryptsetup open --key-file key "$loop" lab
}
