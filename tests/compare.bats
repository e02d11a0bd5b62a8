#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# compare: saved results side by side, made up here, so that every ratio is known.
load lib/common

setup() {
	T=$BATS_TEST_TMPDIR/t
	mkdir -p "$T"
	cd "$T" || return
}

# cell SPEC ENGINE DIRECTION MEDIAN [JQ]: a result with quartiles 1 % apart, of 100 slices.
cell() {
	jq -cn --arg s "$1" --arg e "$2" --arg d "$3" --argjson m "$4" "{spec: \$s, engine: \$e, tier: \"t\", shape: \"serial\",
		direction: \$d, size: 65536, threads: 1, median: \$m, low: (\$m * 0.995), high: (\$m * 1.005), slices: 100,
		roofline_share: null, checked: true} ${5:+| $5}"
}

# file NAME CELL...: a document of these results.
file() {
	local name=$1
	shift
	printf '%s\n' "$@" | jq -s '{schema: "dmcrypt-tune.bench.v1", roofline: [], conditions: [], results: ., seconds: 1}' >"$name"
}

# machine FILE MODEL RELEASE: says what it is of.
machine() {
	jq --arg m "$2" --arg r "$3" '. + {cpu: {arch: "x86_64", model: $m, known: true, features: ["aes"], usable: ["aes"],
		disabled: [], online: 4, allowed: 4}, kernel: {release: $r, fips: false}, memory: {total: 8589934592}}' \
		"$1" >"$1.new"
	mv "$1.new" "$1"
}

XTS=aes-xts-plain64/512@4096
CBC=aes-cbc-essiv:sha256/256@4096

@test "faster, slower, cannot tell: ratios, intervals and counts" {
	file a "$(cell $XTS cpu encrypt 1000000000)" "$(cell $XTS cpu decrypt 1000000000)" "$(cell $CBC cpu encrypt 500000000)"
	file b "$(cell $XTS cpu encrypt 1200000000)" "$(cell $XTS cpu decrypt 900000000)" "$(cell $CBC cpu encrypt 505000000)"
	expect 0 "$DMCT" compare --json a b
	valid compare
	is "$(json .schema)" dmcrypt-tune.compare.v1
	is "$(json '[.files[].file] | join(" ")')" "a b"
	is "$(json '[.comparisons[0].cells[] | .verdict] | join(" ")')" "faster slower cannot-tell"
	is "$(json '[.comparisons[0].cells[] | .ratio] | join(" ")')" "1.2 0.9 1.01"
	# 1.96 * sqrt(2 * (0.93 * 0.01 / 10)^2 + 2 * 0.01^2) on the scale of logarithms.
	is "$(json '[.comparisons[0].cells[0] | .low, .high] | join(" ")')" "1.1671 1.2339"
	is "$(json '.comparisons[0].count | [.faster, .slower, .["cannot-tell"], .lost, .gained] | join(" ")')" "1 1 1 0 0"
	is "$(json '.comparisons[0].median_ratio')" 1.01
	is "$(json '.fail_below')" null
	expect 0 "$DMCT" compare a b
	grep -q "^$XTS *cpu *encrypt *65536 *1.00 GB/s *1.20 GB/s *1.200 1.167 .. 1.234 faster" <<<"$output"
	grep -q "cannot tell" <<<"$output"
	grep -qx '1 faster, 1 slower, 1 that cannot be told; the median ratio is 1.010.' <<<"$output"
}

@test "a fleet: each against the first, and which machine is which" {
	file a "$(cell $XTS cpu encrypt 1000000000)"
	file b "$(cell $XTS cpu encrypt 2000000000 '.tier = "u"')"
	file c "$(cell $XTS cpu encrypt 500000000)"
	machine a "CPU A" 6.1.0
	machine b "CPU B" 6.1.0
	expect 0 "$DMCT" compare --json a b c
	valid compare
	is "$(json '[.comparisons[] | "\(.file) \(.cells[0].ratio)"] | join(", ")')" "b 2, c 0.5"
	is "$(json '.comparisons[0].differs | map("\(.what): \(.first), \(.other)") | join("; ")')" "cpu: CPU A, CPU B"
	is "$(json '.files[2].machine')" null
	is "$(json '.comparisons[0].cells[0] | "\(.first_tier) \(.other_tier)"')" "t u"
	expect 0 "$DMCT" compare a b c
	grep -qx '  CPU: CPU B, not CPU A' <<<"$output"
	grep -qx 'c does not say what machine it is of\.' <<<"$output"
	grep -q 't -> u' <<<"$output"
	machine c "CPU A" 6.12.0
	expect 0 "$DMCT" compare a c
	grep -qx '  kernel: 6.12.0, not 6.1.0' <<<"$output"
}

@test "--fail-below: status 8, and the sentence names the cells" {
	file a "$(cell $XTS cpu encrypt 1000000000)" "$(cell $XTS cpu decrypt 1000000000)" "$(cell $CBC cpu encrypt 500000000)"
	file b "$(cell $XTS cpu encrypt 960000000)" "$(cell $XTS cpu decrypt 900000000)" "$(cell $CBC cpu encrypt 500000000)"
	expect 0 "$DMCT" compare --fail-below 0.85 a b
	# shellcheck disable=SC2154 # bats sets it
	is "$stderr" ""
	expect 8 "$DMCT" compare --fail-below 0.95 a b
	is "$stderr" "dmcrypt-tune: below 0.95 of a: $XTS cpu decrypt of 65536 bytes at 0.900 in b."
	expect 8 "$DMCT" compare --json --fail-below 0.97 a b
	valid compare
	is "$(json '[.comparisons[0].cells[] | .below] | join(" ")')" "true true false"
	is "$(json .fail_below)" 0.97
	says 'encrypt of 65536 bytes at 0.960 in b; '
	for bad in x -1 1001 nan ''; do
		expect 1 "$DMCT" compare --fail-below "$bad" a b
	done
	# What is noise fails nothing.
	file c "$(cell $XTS cpu encrypt 900000000 '.low = 600000000 | .high = 1100000000 | .slices = 5')"
	expect 0 "$DMCT" compare --fail-below 0.95 a c
}

@test "lost, gained and only in one file: named, with the reason; a lost cell is a regression" {
	file a "$(cell $XTS afalg encrypt 100000000 '.size = 4096')" "$(cell $CBC cpu encrypt 500000000)" \
		"$(cell $CBC afalg encrypt 1 '.size = 4096 | del(.median, .low, .high, .slices, .checked, .roofline_share) | .error = {code: "EPERM", reason: "forbidden"}')"
	file b "$(cell $XTS afalg encrypt 1 '.size = 4096 | del(.median, .low, .high, .slices, .checked, .roofline_share) | .error = {code: "ENOENT", reason: "no such cipher"}')" \
		"$(cell $XTS cpu encrypt 500000000)" "$(cell $CBC afalg encrypt 1000000 '.size = 4096')"
	expect 0 "$DMCT" compare --json a b
	valid compare
	is "$(json '[.comparisons[0].cells[] | "\(.verdict) \(.engine)"] | join(", ")')" \
		"lost afalg, only-first cpu, gained afalg, only-other cpu"
	is "$(json '.comparisons[0].cells[0].error | .code + " " + .reason')" "ENOENT no such cipher"
	expect 8 "$DMCT" compare --fail-below 0.1 a b
	says "$XTS afalg encrypt of 4096 bytes not measured any more in b"
	grep -qx "  $XTS, afalg (t), serial, encrypt, 4096 bytes, 1 thread: no such cipher \[ENOENT\]" <<<"$output"
	grep -qx 'Only in the other:' <<<"$output"
}

@test "a disturbed run tells less, and says so" {
	file a "$(cell $XTS cpu encrypt 1000000000 '.low = 960000000 | .high = 1040000000')"
	file b "$(cell $XTS cpu encrypt 900000000 '.low = 864000000 | .high = 936000000')"
	expect 0 "$DMCT" compare --json a b
	is "$(json '.comparisons[0].cells[0].verdict')" slower
	jq '.conditions = [{id: "busy", message: "Others were busy."}]' b >c
	expect 0 "$DMCT" compare --json a c
	valid compare
	is "$(json '.comparisons[0].cells[0].verdict')" cannot-tell
	is "$(json '.files[1].conditions[0].id')" busy
	expect 0 "$DMCT" compare a c
	grep -qx '  c: Others were busy\.' <<<"$output"
}

@test "what bench saves is what compare reads: conditions, multi-buffer and all" {
	"$DMCT" bench -q --time 0.2 --save a --engine cpu --shape both $XTS $CBC >/dev/null
	"$DMCT" bench -q --time 0.2 --json --engine cpu --shape both $XTS $CBC >b
	expect 0 "$DMCT" compare --json a b
	valid compare
	is "$(json '.comparisons[0].cells | length')" 5
	is "$(json '[.comparisons[0].cells[] | select(.ratio > 0.01 and .ratio < 100)] | length')" 5
	is "$(json '.comparisons[0].differs | length')" 0
	is "$(json '.files[0].machine.kernel')" "$(uname -r)"
	# Standard input, once.
	run --separate-stderr "$DMCT" compare --json a - <b
	is "$status" 0
	is "$(json '.files[1].file')" -
}

@test "files that are wrong: refused with the place and the value" {
	file a "$(cell $XTS cpu encrypt 1000000000)"
	expect 1 "$DMCT" compare a
	says 'FIRST OTHER... is missing'
	expect 1 "$DMCT" compare a a
	says 'a and a are one file'
	ln -s a link
	expect 1 "$DMCT" compare a link
	says 'a and link are one file'
	expect 1 "$DMCT" compare a nowhere
	says 'nowhere: No such file or directory'
	expect 1 "$DMCT" compare a .
	says 'no regular file'
	expect 1 "$DMCT" compare - - <a
	says 'are one file'
	printf '{' >bad
	expect 1 "$DMCT" compare a bad
	says 'bad is not JSON'
	jq '.schema = "dmcrypt-tune.recommend.v1"' a >bad
	expect 1 "$DMCT" compare a bad
	says 'bad: schema is "dmcrypt-tune.recommend.v1"'
	jq '.results += .results' a >bad
	expect 1 "$DMCT" compare bad a
	says 'results\[0\] and results\[1\] are the same cell'
	for value in NaN Infinity -1 0 1e400 '"x"' null; do
		sed "s/\"median\": 1000000000/\"median\": $value/" a >bad
		expect 1 "$DMCT" compare a bad
		says 'bad'
	done
	jq '.multi_buffer = [{spec: "aes-xts-plain64/512@4096", tier: "t", available: true, gain: -1}]' a >bad
	expect 1 "$DMCT" compare a bad
	says 'multi_buffer\[0\].gain is -1'
	jq '.multi_buffer = [{spec: "des"}]' a >bad
	expect 1 "$DMCT" compare a bad
	says 'multi_buffer\[0\].spec: Unknown cipher'
	head -c 70000000 /dev/zero | tr '\0' ' ' >bad
	expect 1 "$DMCT" compare a bad
	says 'larger than 64 MiB'
	file b "$(cell $CBC cpu encrypt 1000000000)"
	expect 1 "$DMCT" compare a b
	says 'no cell of a stands in b'
	expect 1 "$DMCT" compare --json a b
	is "$(json .error.code)" 1
}

@test "cells that differ in path, depth or flags alone are not the same" {
	file a "$(cell $XTS afalg encrypt 100000000 '.size = 4096 | .path = "copy" | .depth = 1')" \
		"$(cell $XTS afalg encrypt 200000000 '.size = 4096 | .path = "splice" | .depth = 1')" \
		"$(cell $XTS afalg encrypt 300000000 '.size = 4096 | .path = "splice" | .depth = 4')"
	file b "$(cell $XTS afalg encrypt 300000000 '.size = 4096 | .path = "splice" | .depth = 4')" \
		"$(cell $XTS afalg encrypt 300000000 '.size = 4096 | .path = "splice"')"
	expect 0 "$DMCT" compare --json a b
	valid compare
	is "$(json '[.comparisons[0].cells[] | "\(.verdict) \(.path) \(.depth)"] | join(", ")')" \
		"only-first copy 1, faster splice 1, cannot-tell splice 4"
	file c "$(cell $XTS dm encrypt 100000000 '.flags = []')" \
		"$(cell $XTS dm encrypt 200000000 '.flags = ["no_read_workqueue", "no_write_workqueue"]')"
	file d "$(cell $XTS dm encrypt 400000000 '.flags = ["no_read_workqueue", "no_write_workqueue"]')"
	expect 0 "$DMCT" compare --json c d
	valid compare
	is "$(json '[.comparisons[0].cells[] | "\(.verdict) \(.flags)"] | join(", ")')" \
		"only-first none, faster no_read_workqueue+no_write_workqueue"
	expect 0 "$DMCT" compare c d
	grep -q 'no_read_workqueue+no_write_workqueue .* 2.000 ' <<<"$output"
	jq '.results[1].path = "pipe"' a >bad
	expect 1 "$DMCT" compare bad b
	says 'results\[1\].path is "pipe"'
}

@test "names in files do not steer the terminal" {
	file a "$(cell $XTS cpu encrypt 1000000000)"
	file b "$(cell $XTS cpu encrypt 1000000000 '.tier = "\u001b[31m"')"
	jq '.conditions = [{id: "x", message: "\u001b[2J"}]' b >c
	machine c $'CPU\e[1m' 6.1.0
	machine a CPU 6.1.0
	expect 0 "$DMCT" compare a c
	is "$(grep -c $'\e' <<<"$output")" 0
	expect 0 "$DMCT" compare --json a c
	valid compare
}
