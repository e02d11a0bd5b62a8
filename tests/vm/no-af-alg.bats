#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel with dm-crypt and without AF_ALG's modules: nothing fails because of that, and it is said.

load ../lib/common
load guest

@test "probe and bench: why AF_ALG cannot be had; the other engines measure" {
	expect 0 "$DMCT" probe --json
	is "$(json .kernel.af_alg.available)" false
	json .kernel.af_alg.reason | grep -q 'not built, not installed, or blocked'
	json '.findings[].id' | grep -qx af-alg-missing
	is "$(json .kernel.dm.available)" true
	expect 7 "$DMCT" bench --json --engine afalg --time 0.2 aes-xts-plain64/512@4096
	is "$(json '[.results[].error.code] | unique | join(" ")')" EAFNOSUPPORT
	expect 0 "$DMCT" bench --json --time 0.5 aes-xts-plain64/512@4096
	is "$(json '[.results[] | select(.checked) | .engine] | unique | join(" ")')" "cpu dm openssl"
}

@test "format --auto: decided on dm-crypt itself, or on the engine's tier that stands for the driver; opened and used" {
	image 48M
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --time 0.5 \
		--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 </dev/null
	is "$(json .plan.choice.basis)" dm
	used "$loop" lab
	expect 0 without_dm "$DMCT" recommend --json --time 0.5 "$loop"
	is "$(json .choice.basis)" cpu
}
