#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# 384 MiB of memory and no swap: Argon2 within it, nothing killed.

load ../lib/common
load guest

@test "probe: low-memory; format --auto with nothing forced stays within memory and is opened" {
	is "$(awk 'END { print NR }' /proc/swaps)" 1
	expect 0 "$DMCT" probe --json
	json '.findings[].id' | grep -qx low-memory
	image 48M
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --iter-time 500 </dev/null
	is "$(json .plan.pbkdf.type)" argon2id
	[ "$(json .plan.pbkdf.memory)" -lt $((384 << 20)) ]
	is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq '.keyslots["0"].kdf.memory')" "$(json '.plan.pbkdf.memory / 1024')"
	used "$loop" lab
	run ! grep -qi 'out of memory\|oom-kill' <(dmesg)
}

@test "costs beyond this machine are refused before any write" {
	image 48M
	remember "$loop"
	run "$DMCT" format "$loop" --auto --yes --key-file key --time 0.5 --pbkdf-memory 1048576 --pbkdf-force-iterations 4 </dev/null
	[[ $status =~ ^[367]$ ]]
	untouched "$loop"
	run ! grep -qi 'out of memory\|oom-kill' <(dmesg)
}
