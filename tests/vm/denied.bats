#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# AF_ALG is there and refused: by a container's filter, or for want of the module crypto_user, which libkcapi needs too.

load ../lib/common
load guest

@test "a filter refuses AF_ALG sockets: the reason says so, the other engines measure, a recommendation comes" {
	expect 0 /lab/tool deny "$DMCT" probe --json
	is "$(json .kernel.af_alg.available)" false
	json .kernel.af_alg.reason | grep -q 'seccomp filter forbids'
	json '.findings[] | select(.id == "af-alg-missing") | .fix' | grep -q 'outside of the container'
	expect 7 /lab/tool deny "$DMCT" bench --json --engine afalg --time 0.2 aes-xts-plain64/512@4096
	is "$(json '[.results[].error.code] | unique | join(" ")')" EPERM
	image 24M
	expect 0 without_dm /lab/tool deny "$DMCT" recommend --json --time 0.5 "$loop"
	is "$(json .choice.basis)" cpu
}

@test "the module crypto_user is blocked: bench names it, and a recommendation still comes" {
	run ! modprobe crypto_user
	expect 7 "$DMCT" bench --json --engine afalg --time 0.2 aes-xts-plain64/512@4096
	json '.results[0].error.reason' | grep -q crypto_user
	image 24M
	expect 0 without_dm "$DMCT" recommend --json --time 0.5 "$loop"
	is "$(json .choice.basis)" cpu
	expect 0 "$DMCT" recommend --json --time 0.5 "$loop"
	is "$(json .choice.basis)" dm
}
