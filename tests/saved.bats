#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Saved results as a whole: what goes into a file comes out of it again.
# shellcheck disable=SC2016 # jq has variables of its own
load lib/common

setup() {
	T=$BATS_TEST_TMPDIR/t
	mkdir -p "$T"
}

# A run of the engine, with what only a kernel with AF_ALG would have brought, made up.
made_up() {
	expect 0 "$DMCT" bench -q --json --time 0.3 --engine cpu --threads 1,2 aes-xts-plain64/512
	jq '(.results | map(select(.tier == "none"))) as $none | .fits = [{spec: "aes-xts-plain64/512", direction: "decrypt", path: "splice", depth: 4,
			threads: 2, tier: "xts-aes-vaes-avx2", sizes: 5, fixed_ns: -12.5, per_byte_ns: 0.125, per_byte_ns_low: 0.1,
			per_byte_ns_high: 0.15, bytes_per_second: 8000000000, error: 0.01, error_worst: 0.03}]
		| .crossing_cells = [512, 1024, 4096, 16384, 65536 | {spec: null, engine: "afalg", tier: "ecb-cipher_null", shape: "serial",
			direction: "encrypt", size: ., threads: 1, depth: 1, path: "copy", median: (. * 1e9 / (1000 + . / 8) | floor),
			low: (. * 1e9 / (1100 + . / 8) | floor), high: (. * 1e9 / (900 + . / 8) | floor), slices: 9, roofline_share: null,
			to_roofline: null, to_best: null, scaling: null, checked: true}]
		| .results += [512, 1024, 4096, 16384, 65536 | {spec: "aes-xts-plain64/512", engine: "afalg", tier: "xts-aes-vaes-avx2", shape: "serial",
			direction: "encrypt", size: ., threads: 1, depth: 1, path: "copy", median: (. * 1e9 / (1500 + . / 4) | floor),
			low: (. * 1e9 / (1600 + . / 4) | floor), high: (. * 1e9 / (1400 + . / 4) | floor), slices: 9, roofline_share: null,
			to_roofline: null, to_best: null, scaling: null, checked: true}]' <<<"$output" >"$T/a.json"
}

@test "a saved file brings back cells with their ratios, fits, the crossing and the predictions" {
	made_up
	expect 0 "$DMCT" recommend -q --from "$T/a.json" --save "$T/b.json"
	output=$(<"$T/b.json")
	valid bench
	local key
	for key in .results .fits .crossing_cells .multi_buffer .roofline .kernel_costs .conditions .seconds; do
		diff <(jq -S "$key" "$T/a.json") <(jq -S "$key" "$T/b.json") || { echo "$key"; return 1; }
	done
	is "$(jq '[.results[] | select(.engine == "cpu" and .to_best.pairs > 0)] | length > 0' "$T/b.json")" true
	is "$(jq '[.results[] | select(.scaling != null)] | length > 0' "$T/b.json")" true
	# Concluded again from them.
	is "$(jq -r '.crossing | "\(.available) \(.basis) \(.sizes | length)"' "$T/b.json")" "true null-cipher 5"
	is "$(jq '.predictions | length > 0' "$T/b.json")" true
	expect 0 "$DMCT" recommend -q --from "$T/b.json" --save "$T/c.json"
	diff "$T/b.json" "$T/c.json"
	expect 0 "$DMCT" compare "$T/a.json" "$T/b.json"
}

@test "what bench predicts is what its saved file predicts" {
	expect 0 "$DMCT" bench -q --time 0.3 --engine cpu --tier kernel --save "$T/a.json" aes-xts-plain64/512 aes-cbc-essiv:sha256/256
	[ "$(jq '.predictions | length' "$T/a.json")" -gt 0 ] || skip "nothing stands for this kernel's AES, so nothing is predicted"
	expect 0 "$DMCT" recommend -q --from "$T/a.json" --save "$T/b.json"
	is "$(jq -s '[.[0].predictions, .[1].predictions] | transpose | map((.[0] | del(.bytes_per_second, .low, .high)) == (.[1] | del(.bytes_per_second, .low, .high))
		and (.[0].bytes_per_second / .[1].bytes_per_second | . > 0.9999 and . < 1.0001)) | all' "$T/a.json" "$T/b.json")" true
}

@test "fits and crossings of a wrong kind are refused, with their place" {
	made_up
	local change
	for change in '.fits[0].direction = "up"' '.fits[0].fixed_ns = "x"' '.fits[0].path = "pipe"' '.fits = {}' '.crossing_cells[2].size = 0' \
		'.crossing_cells = 1' '.results[0].to_best.pairs = 0' '.results[0].scaling = -1'; do
		jq "$change" "$T/a.json" >"$T/bad.json"
		expect 1 "$DMCT" recommend --from "$T/bad.json"
		says "bad.json: (fits|crossing_cells|results)[^ ]* is .* is expected"
	done
}

@test "a key that stands twice in one object is refused, at any depth, however it is written" {
	made_up
	local second
	for second in '"results"' '"re\\u0073ults"'; do
		sed "1s/^{/{ $second : [],/" "$T/a.json" >"$T/twice.json"
		expect 1 "$DMCT" recommend --from "$T/twice.json"
		says 'twice\.json: the key "results" stands twice in one object, the second time at byte [0-9]+; which of them is meant cannot be told'
		expect 1 "$DMCT" compare "$T/a.json" "$T/twice.json"
	done
	sed '0,/"engine"/s//"engine": "dm", "engine"/' "$T/a.json" >"$T/twice.json"
	expect 1 "$DMCT" recommend --from "$T/twice.json"
	says 'the key "engine" stands twice'
	# Braces, quotes and commas within strings are no structure.
	jq '.note = "{\"results\": [\"}, \\\\"' "$T/a.json" >"$T/fine.json"
	expect 0 "$DMCT" recommend -q --json --from "$T/fine.json"
}

@test "compare counts no cell that is not checked, as recommend does, and says so" {
	made_up
	jq '.results |= map(if .engine == "cpu" and .threads == 2 then .checked = false else . end)' "$T/a.json" >"$T/b.json"
	expect 0 "$DMCT" compare "$T/a.json" "$T/b.json"
	[[ $output == *"b.json: 8 cells are not counted: the file does not say that their output was checked."* ]]
	expect 8 "$DMCT" compare --json --fail-below 0.1 "$T/a.json" "$T/b.json"
	valid compare
	is "$(json '.files | map(.unchecked > 0) | map(tostring) | join(" ")')" "false true"
	is "$(json '[.comparisons[0].cells[] | select(.threads == 2) | "\(.verdict) \(.error.code) \(.other)"] | unique | join(",")')" "lost unchecked null"
	is "$(json '.comparisons[0].count.lost == .files[1].unchecked')" true
}
