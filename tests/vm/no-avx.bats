#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# CPUID says AVX, the kernel's command line says not to use it (clearcpuid=avx): no tier may use it, and it is said.

load ../lib/common
load guest

@test "probe: AVX is not usable, and the finding says who forbids it" {
	grep -q clearcpuid=avx /proc/cmdline
	run ! grep -qw avx /proc/cpuinfo
	expect 0 "$DMCT" probe --json
	is "$(json '.cpu.usable | map(select(test("^v?a?vx|^vaes|avx"))) | join(" ")')" ""
	is "$(json '.cpu.tiers[] | select(.name == "aesni") | .usable')" true
	is "$(json '[.cpu.tiers[] | select((.name | startswith("vaes")) and .usable)] | length')" 0
	json '.findings[].id' | grep -qx avx-not-saved
	# The AES instructions themselves need none of it.
	json '.kernel.ciphers[] | select(.name == "xts(aes)") | .driver' | grep -qx xts-aes-aesni
}

@test "bench on every tier that is left: no illegal instruction" {
	expect 0 "$DMCT" bench --json --engine cpu --tier all --time 0.5 aes-xts-plain64/512@4096 aes-cbc-essiv:sha256/256@512
	is "$(json '[.results[] | select(.checked)] | length')" "$(json '.results | length')"
	is "$(json '[.results[].tier] | unique | join(" ")')" "aesni portable table"
}
