#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Described machines and disks (tests/fixtures/decisions), each with the choice that a person who knows the field would
# make, and the reason that he would give. Each file is what `recommend --save` writes, with `expect` and `comment`
# beside it: real input to `recommend --from`.

# shellcheck disable=SC2016 # the dollars in single quotes are jq's

load lib/common

setup_file() {
	local file name words
	cd "$BATS_FILE_TMPDIR" || return
	# One process a machine; everything else in one.
	for file in "$DMCT_SRC"/tests/fixtures/decisions/*.json; do
		name=$(basename "$file" .json)
		mapfile -t words < <(jq -r '.expect.args[]' "$file")
		"$DMCT" recommend --from "$file" --json "${words[@]}" >"$name.out" 2>"$name.err" ||
			printf '{"failed": %s}\n' "$(jq -Rs . <"$name.err")" >"$name.out"
	done
	for file in *.out; do
		jq -c --arg name "${file%.out}" --slurpfile fixture "$DMCT_SRC/tests/fixtures/decisions/${file%.out}.json" \
			'{name: $name, plan: ., expect: $fixture[0].expect, comment: $fixture[0].comment}' "$file"
	done >all
}

setup() {
	cd "$BATS_FILE_TMPDIR" || return
}

# none FILTER: prints a line for each machine for which the filter has something to complain of; there must be none.
none() {
	jq -r "$1 | select(. != null)" all >complaints
	[ ! -s complaints ] || { cat complaints; return 1; }
}

@test "at least forty machines, each with its choice, its reason and where its speeds are from" {
	[ "$(wc -l <all)" -ge 40 ]
	none 'select(.plan.failed) | "\(.name): \(.plan.failed)"'
	none 'select((.expect.spec | not) or (.expect.reasons | length == 0) or (.comment | length < 30)) | .name'
}

@test "the spec, the basis, the password hash, the flags" {
	none 'if .plan.choice.spec != .expect.spec then "\(.name): \(.plan.choice.spec), not \(.expect.spec)" else null end'
	none 'if .plan.choice.basis != .expect.basis then "\(.name): basis \(.plan.choice.basis)" else null end'
	none 'if .plan.pbkdf.type != .expect.pbkdf then "\(.name): \(.plan.pbkdf.type)" else null end'
	none 'if .plan.flags != .expect.flags then "\(.name): flags \(.plan.flags)" else null end'
}

@test "the reasons, and why each of the others was not taken" {
	none '. as $f | .expect.reasons[] | . as $phrase
		| if [$f.plan.reasons[] | contains($phrase)] | any then null
		  else "\($f.name): no reason says \"\($phrase)\": \($f.plan.reasons)" end'
	none '. as $f | .expect.rejected | to_entries[] | . as $want
		| [$f.plan.rejected[] | select(.spec == $want.key) | .reason] as $said
		| if ($said | length) == 1 and ($said[0] | contains($want.value)) then null
		  else "\($f.name): \($want.key) rejected because \($said), not \"\($want.value)\": \([$f.plan.rejected[].spec])" end'
	none 'if .expect.summary and (.expect.summary as $s | .plan.summary | contains($s) | not)
		then "\(.name): \(.plan.summary)" else null end'
}

@test "numbers: memory and threads of the hash, unlock times, where the data begins, the disk as the limit" {
	none '. as $f | {memory: .plan.pbkdf.memory, threads: .plan.pbkdf.threads, time_ms: .plan.pbkdf.time_ms,
			slower_ms: .plan.pbkdf.unlock.slower_ms, data_offset: .plan.data_offset,
			limits: .plan.device_speed.limits, integrity: .plan.integrity.mode,
			expected: .plan.choice.expected_bytes_per_second} | to_entries[]
		| select($f.expect | has("\(.key)")) | . as $e
		| if $f.expect[$e.key] == $e.value then null
		  else "\($f.name): \($e.key) is \($e.value), not \($f.expect[$e.key])" end' 
	none 'if .expect.below and .plan.choice.expected_bytes_per_second >= .expect.below
		then "\(.name): \(.plan.choice.expected_bytes_per_second)" else null end'
	none 'if .expect.crypttab and (.expect.crypttab as $c | .plan.crypttab | endswith($c) | not)
		then "\(.name): \(.plan.crypttab)" else null end'
}

@test "every plan: valid, a summary, the saved device named, a sector size that divides its data area" {
	jq -c .plan all | "$DMCT_SRC/tests/lib/validate" "$DMCT_SRC/schemas/recommend.json" each
	none 'if (.plan.summary | length) < 60 then "\(.name): \(.plan.summary)" else null end'
	for file in "$DMCT_SRC"/tests/fixtures/decisions/*.json; do
		jq -c --arg name "$(basename "$file" .json)" 'select(.device) | {name: $name, device}' "$file"
	done >devices
	jq -r --slurpfile devices devices '. as $f | [$devices[] | select(.name == $f.name) | .device][0] | select(.)
		| select(($f.plan.cryptsetup_argv | last) != .path or
			 ((.size - $f.plan.data_offset) % $f.plan.choice.sector_size) != 0) | $f.name' all >complaints
	[ ! -s complaints ] || { cat complaints; return 1; }
}

@test "every plan: cryptsetup's words, crypttab and the figures of each candidate say the same as the choice" {
	none '. as $f | .plan as $p | $p.cryptsetup_argv as $a
		| def after($w): $a[($a | index($w)) + 1];
		if after("--cipher") == $p.choice.cipher and after("--key-size") == "\($p.choice.key_bits)"
			and after("--sector-size") == "\($p.choice.sector_size)" and after("--offset") == "\($p.data_offset / 512)"
			and after("--pbkdf") == $p.pbkdf.type
			and ($p.pbkdf.memory == null or after("--pbkdf-memory") == "\($p.pbkdf.memory / 1024)")
			and ($p.integrity == null or after("--integrity") == $p.integrity.mode)
		then null else "\($f.name): \($a)" end'
	none '. as $f | ["discard", "no-read-workqueue", "no-write-workqueue"] as $words
		| [.plan.flags[] | sub("^perf-"; "") | gsub("_"; "-") | sub("allow-discards"; "discard")] as $flags
		| [.plan.crypttab | split(",")[1:][] | select(. as $w | $words | index($w))] as $said
		| if ($flags | sort) == ($said | sort) and ((.plan.flags == []) == (.plan.cryptsetup_flags_argv == []))
		  then null else "\($f.name): \($said)" end'
	none '. as $f | .plan as $p | [$p.candidates[] | select(.state == "chosen")] as $c
		| [$c[0].sector_sizes[] | select(.sector_size == $p.choice.sector_size)][0] as $s
		| if ($c | length) == 1 and $c[0].spec == $p.choice.spec and $s.allowed
			and ($p.choice.expected_bytes_per_second == null or
			     $s.expected_bytes_per_second == $p.choice.expected_bytes_per_second)
			and ([$p.candidates[] | select(.state != "not-admitted") | .sector_sizes | length] | unique) == [4]
			and all($p.candidates[]; .modules and .protects and .class and .strength_bits)
			and ($p.reasons | any(. == $p.choice.protects))
		  then null else $f.name end'
}

@test "the same bytes again, and with every list of the input turned round" {
	for name in laptop-aesni-nvme vm-noisy nas-hdd imx6-caam-cbc server-integrity; do
		mapfile -t words < <(jq -r '.expect.args[]' "$DMCT_SRC/tests/fixtures/decisions/$name.json")
		jq '.results |= reverse | .kernel.drivers |= reverse | .kernel.af_alg.ciphers |= reverse' \
			"$DMCT_SRC/tests/fixtures/decisions/$name.json" >turned.json
		"$DMCT" recommend --from turned.json --json "${words[@]}" >turned.out
		cmp turned.out "$name.out"
	done
}
