#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU with AES instructions and a kernel that does not use them: user-mode Linux has its ciphers in generic C only.

load ../lib/common
load guest

setup_file() {
	grep -qw aes <<<"$("$DMCT" probe --json | jq -r '.cpu.usable | join(" ")')" || skip "the host's CPU has no AES"
}

@test "probe: the finding aes-unused, with the generic driver's name" {
	expect 0 "$DMCT" probe --json
	is "$(json '.kernel.ciphers[] | select(.name == "xts(aes)") | "\(.driver) \(.aes)"')" "xts(ecb(aes-generic)) generic"
	is "$(json '[.findings[].id | select(startswith("aes-"))] | join(" ")')" aes-unused
	json '.findings[] | select(.id == "aes-unused") | .message' | grep -q 'xts(ecb(aes-generic))'
}

@test "recommend never counts on the CPU's instructions: by dm-crypt and AF_ALG what the kernel does, by the engine the table tier" {
	image 24M
	expect 0 "$DMCT" recommend --json --time 1 "$loop"
	is "$(json .choice.basis)" dm
	expect 0 without_dm "$DMCT" recommend --json --time 1 "$loop"
	is "$(json .choice.basis)" afalg
	expect 0 without_dm /lab/tool deny "$DMCT" recommend --json --time 1 "$loop"
	is "$(json .choice.basis)" cpu
	json '.reasons[]' | grep -q 'table tier'
	expect 0 "$DMCT" bench --json --engine cpu,afalg --time 1 aes-xts-plain64/512@4096
	# Several times as fast, on whatever machine.
	is "$(json '[.results[] | select(.engine == "cpu" and .direction == "encrypt") | .median][0] > 2 *
		[.results[] | select(.engine == "afalg" and .direction == "encrypt") | .median][0]')" true
}

@test "format --auto, opened and used" {
	saved
	image 48M
	expect 0 format "$loop"
	used "$loop" lab
}
