#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A CPU without AES instructions: said, and neither the engine nor the kernel uses any.

load ../lib/common
load guest

@test "probe: no AES in the CPU, tiers that need it with that reason, the kernel's generic driver" {
	expect 0 "$DMCT" probe --json
	is "$(json .cpu.has_aes)" false
	is "$(json '[.cpu.tiers[] | select(.usable) | .name] | sort | join(" ")')" "portable table"
	is "$(json '.cpu.tiers[] | select(.name == "aesni") | .reason')" "the CPU has no aes"
	is "$(json '.kernel.ciphers[] | select(.name == "xts(aes)") | .aes')" generic
	is "$(json '[.findings[].id | select(startswith("no-aes") or startswith("aes-"))] | join(" ")')" no-aes
}

@test "bench: the engine's portable tier, and no roofline of instructions that are not there" {
	expect 0 "$DMCT" bench --json --engine cpu --time 0.3 aes-xts-plain64/512@4096
	is "$(json '[.results[].tier] | unique | join(" ")')" portable
	is "$(json '.roofline | length')" 0
}

@test "recommend: measured on the kernel, of full strength, and the volume is made so" {
	image 48M
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --time 1 \
		--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 </dev/null
	is "$(json .plan.choice.basis)" dm
	[ "$(json .plan.choice.strength_bits)" -ge 256 ]
	used "$loop" lab
}
