#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bench: which cells, which keys, which words; never how fast.
# shellcheck disable=SC2016 # jq has variables of its own
load lib/common

setup() {
	T=$BATS_TEST_TMPDIR/t COPY=
	mkdir -p "$T"
}

teardown() {
	[ -z "$COPY" ] || rm -r "$COPY"
}

# The program in $COPY, where every user can run it: neither bats' directory nor the build's need be readable.
readable_copy() {
	COPY=$(mktemp -d "${TMPDIR:-/tmp}/dmct-bench-XXXXXX")
	cp "$DMCT" "$COPY/dmct"
	chmod 755 "$COPY" "$COPY/dmct"
}

# bench ARGS...: as JSON, valid, briefly.
bench() {
	local time=(--time 0.2)
	[[ " $* " != *" --time "* ]] || time=()
	expect 0 "$DMCT" bench --json "${time[@]}" "$@"
	valid bench
}

@test "default: every spec, sector size, direction and engine; successes checked, failures with a reason" {
	expect 0 "$DMCT" bench --json --time 0.4
	valid bench
	is "$(json .schema)" dmcrypt-tune.bench.v1
	is "$(json '.results | length')" 124
	is "$(json '[.results[] | select(.engine == "cpu") | .spec] | unique | length')" 16
	is "$(json '[.results[] | select(.engine == "afalg" and (.spec | test("@"))) | .spec] | unique | length')" 20
	is "$(json '[.results[] | [.spec, .engine, .direction, .size]] | unique | length')" 124
	is "$(json '[.results[] | select(.spec | startswith("xchacha12")) | .engine] | unique | join(" ")')" afalg
	is "$(json '[.results[] | select(.error == null and .checked != true)] | length')" 0
	is "$(json '[.results[] | select(.error == null and (.low > .median or .median > .high))] | length')" 0
	is "$(json '[.results[] | select(.error != null and (.error.reason | length) == 0)] | length')" 0
	is "$(json '[.results[] | select(.engine == "cpu" and .error != null)] | length')" 0
	is "$(json '[.results[] | select(.engine == "cpu") | .size] | unique | join(" ")')" 65536
	is "$(json '[.results[] | select(.engine == "afalg") | "\(.size)"] - ["512", "1024", "2048", "4096"] | unique | sort | join(" ")')" "16384 65536"
}

@test "AF_ALG where it cannot be had: status 7, a reason, and still the document" {
	run --separate-stderr "$DMCT" bench --json --time 0.2 --engine afalg aes-xts-plain64/512@4096
	valid bench
	[ "$(json '.kernel.af_alg.available')" = false ] || skip "this kernel has AF_ALG"
	is "$status" 7
	says 'nothing could be measured'
	is "$(json '[.results[].error.reason] | unique | length')" 1
	is "$(json '.results[0].error.code | test("^E")')" true
	is "$(json '[.results[] | has("median")] | any')" false
}

@test "specs, sector sizes, sizes and threads are what was asked for, once each" {
	bench --engine cpu --threads 1,2,1 --size 4096,65536 --sector-size 4096,512 aes-xts-plain64/256 aes-xts-plain64/256@4096
	is "$(json '[.results[].spec] | unique | join(" ")')" "aes-xts-plain64/256@4096 aes-xts-plain64/256@512"
	is "$(json '[.results[] | [.spec, .direction, .size, .threads]] | (unique | length), length' | tr '\n' ' ')" "16 16 "
	expect 1 "$DMCT" bench --engine cpu --size 1024 --sector-size 1024,4096 aes-xts-plain64
	says "1024 is not a multiple of the sector size"
}

@test "--size alone: messages with one IV, below a sector too, in every engine; each output checked" {
	bench --time 0.5 --engine cpu,openssl --size 16,48,64,256,1024,8192,16384,131072 --tier all aes-xts-plain64/512 aes-cbc-essiv:sha256/128
	is "$(json '[.results[] | select(.checked)] | length')" "$(json '2 * 2 * 8 * (([.cpu.tiers[] | select(.usable)] | length) + 1)')"
	is "$(json '[.results[].spec] | unique | join(" ")')" "aes-cbc-essiv:sha256/128 aes-xts-plain64/512"
	is "$(json '[.results[].size] | unique | map(tostring) | join(" ")')" "16 48 64 256 1024 8192 16384 131072"
	is "$(json '[.results[] | select(.error)] | length')" 0
	is "$(json '.multi_buffer | length')" 0
	# Sectors where they are named, messages where not.
	bench --engine cpu --size 8192 aes-xts-plain64/512@4096 aes-xts-plain64/512
	is "$(json '[.results[].spec] | unique | join(" ")')" "aes-xts-plain64/512 aes-xts-plain64/512@4096"
}

@test "tables against bitslicing against hardware, per size; without AES instructions bitslicing is what is left" {
	[ "$(uname -m)" = x86_64 ] || skip "the tier aesni is for x86"
	grep -q '^flags.* aes' /proc/cpuinfo || skip "this CPU has no AES instructions"
	bench --engine cpu --tier table,portable,aesni --size 16,16384 aes-xts-plain64/512
	is "$(json '[.results[] | select(.checked) | "\(.tier) \(.size) \(.direction)"] | sort | join(",")')" \
		"aesni 16 decrypt,aesni 16 encrypt,aesni 16384 decrypt,aesni 16384 encrypt,portable 16 decrypt,portable 16 encrypt,portable 16384 decrypt,portable 16384 encrypt,table 16 decrypt,table 16 encrypt,table 16384 decrypt,table 16384 encrypt"
	bench --engine cpu --cpu-disable aes --size 16384 aes-xts-plain64/512
	is "$(json '[.results[].tier] | unique | join(" ")')" portable
}

@test "XTS against CBC, 256 bits against 128: ratios with their intervals, per size, and in words" {
	local specs=(aes-xts-plain64/512 aes-xts-plain64/256 aes-cbc-plain64/256 aes-cbc-plain64/128)
	bench --time 1 --engine cpu --size 64,4096 "${specs[@]}"
	is "$(json '[.versus[] | [.left, .right] | join(" ")] | unique | join(",")')" \
		"AES-256-CBC AES-128-CBC,AES-256-XTS AES-128-CBC,AES-256-XTS AES-128-XTS,AES-256-XTS AES-256-CBC"
	is "$(json '.versus | length')" 16
	is "$(json '[.versus[] | select(.low > .ratio or .ratio > .high)] | length')" 0
	is "$(json '[.versus[] | select((.verdict == "faster") != (.low > 1) or (.verdict == "slower") != (.high < 1))] | length')" 0
	is "$(json '. as $d | [.versus[] | . as $v
		| [$d.results[] | select(.direction == $v.direction and .size == $v.size)] as $r
		| (($r[] | select(.spec == $v.left_spec) | .median) / ($r[] | select(.spec == $v.right_spec) | .median)) / $v.ratio
		| . > 0.999 and . < 1.001] | all')" true
	expect 0 "$DMCT" bench --time 0.5 --engine cpu --size 64,4096 "${specs[@]}"
	[[ $output == *"AES-256-XTS against AES-128-CBC here (cpu, "*"), encryption: "*" bytes ("*" times as fast)"* ]]
}

@test "ratios come from pairs of slices, with their interval; more threads show how they scale" {
	bench --time 1 --engine cpu --threads 1,2 aes-xts-plain64/512@4096
	is "$(json '[.results[] | .to_best.pairs >= 3 and .to_best.low <= .to_best.ratio and .to_best.ratio <= .to_best.high] | all')" true
	is "$(json '[.results[] | select(.to_best.ratio == 1 and .to_best.low == 1 and .to_best.high == 1)] | length')" 4
	is "$(json '[.results[] | select(.threads == 1) | .scaling] | unique | map(tostring) | join(" ")')" null
	is "$(json '[.results[] | select(.threads == 2) | .scaling > 0] | unique | map(tostring) | join(" ")')" true
	is "$(json '. as $d | [.results[] | select(.threads == 2) | . as $r
		| ($d.results[] | select(.threads == 1 and .direction == $r.direction) | .median) * $r.scaling / $r.median
		| . > 0.999 and . < 1.001] | all')" true
	expect 0 "$DMCT" bench --time 0.3 --engine cpu --threads 1,2,all aes-xts-plain64/512@4096
	grep -Eq '^  cpu: 2 threads do [0-9.]+ to [0-9.]+ times what one does$' <<<"$output"
	bench --time 1 --engine cpu --threads 1,2 aes-xts-plain64/512@4096
	[ "$(json '.roofline | length')" -gt 0 ] || return 0
	is "$(json '[.results[] | select(.to_roofline.pairs >= 5) | .roofline_share == .to_roofline.ratio] | all')" true
}

@test "in-process and kernel side by side: the crossing, or why it could not be measured" {
	bench --engine cpu,afalg --size 512,4096 aes-xts-plain64/512
	is "$(json '.crossing | has("available")')" true
	if [ "$(json '.kernel.af_alg.available')" = false ]; then
		is "$(json '.crossing | [.available, .basis, (.sizes | length)] | map(tostring) | join(" ")')" "false null 0"
		is "$(json .crossing.reason)" "$(json .kernel.af_alg.reason)"
	fi
	bench --engine cpu --size 512 aes-xts-plain64/512
	is "$(json .crossing)" null
	is "$(json '.fits | length')" 0
}

@test "the widest AES units also on all CPUs at once, though cells are on one" {
	bench --engine cpu aes-xts-plain64/512@4096
	is "$(json '[.results[].threads] | unique | join(" ")')" 1
	[ "$(json '.roofline | length')" -gt 0 ] || skip "the CPU has no AES instructions"
	cpus=$(json .cpu.allowed)
	[ "$cpus" -gt 1 ] || skip "this process may use one CPU only"
	json '.cpu.quota // empty' | grep -q . && skip "a cgroup's quota"
	is "$(json '[.roofline[] | select(.threads > 1) | "\(.bits) \(.threads)"] | join(" ")')" \
		"$(json '[.roofline[].bits] | max') $cpus"
	is "$(json '[.roofline[] | select(.threads == 1 and .bytes_per_second_aes256 > 0)] | length > 0')" true
	# Said or not as the figures have it.
	one=$(json '([.roofline[].bits] | max) as $w | .roofline[] | select(.threads == 1 and .bits == $w) | .bytes_per_second_aes256')
	all=$(json '.roofline[] | select(.threads > 1) | .bytes_per_second_aes256')
	is "$(json '[.conditions[] | select(.id == "shared-aes-units")] | length')" "$((all < one * cpus * 65 / 100))"
}

@test "--cpu-disable aes leaves the portable tier, no roofline, and says so" {
	bench --engine cpu --cpu-disable aes aes-xts-plain64/512@4096
	is "$(json '[.results[].tier] | unique | join(" ")')" portable
	is "$(json '.cpu.tiers | last | [.name, .usable, .bits] | map(tostring) | join(" ")')" "table true null"
	is "$(json '.roofline | length')" 0
	is "$(json '[.results[].roofline_share] | unique | join(" ")')" ""
	if [ "$(json '.cpu.disabled | length')" -gt 0 ]; then
		is "$(json '[.conditions[] | select(.id == "cpu-disable")] | length')" 1
	fi
}

@test "--tier all, and every tier by name" {
	bench --engine cpu --tier all aes-cbc-essiv:sha256/256@512
	usable=$(json '[.cpu.tiers[] | select(.usable) | .name] | sort | join(" ")')
	unusable=$(json '[.cpu.tiers[] | select(.usable | not) | .name] | first // ""')
	is "$(json '[.results[].tier] | unique | join(" ")')" "$usable"
	for tier in $usable; do
		bench --engine cpu --tier "$tier" aes-xts-plain64/256@512
		is "$(json '[.results[].tier] | unique | join(" ")')" "$tier"
	done
	[ -n "$unusable" ] || return 0
	expect 7 "$DMCT" bench --tier "$unusable"
	says "$unusable"
}

@test "--shape both: encryption in CBC has two shapes, nothing else has" {
	bench --engine cpu --shape both aes-cbc-essiv:sha256/128@512 aes-xts-plain64/256@512
	is "$(json '[.results[] | [.spec, .direction, .shape] | join(" ")] | sort | join(",")')" \
		"aes-cbc-essiv:sha256/128@512 decrypt serial,aes-cbc-essiv:sha256/128@512 encrypt multi,aes-cbc-essiv:sha256/128@512 encrypt serial,aes-xts-plain64/256@512 decrypt serial,aes-xts-plain64/256@512 encrypt serial"
}

@test "what encrypting several sectors at once brings is said per spec and tier" {
	bench --engine cpu --tier portable aes-cbc-essiv:sha256/192@4096 aes-xts-plain64/256@512
	is "$(json '[.multi_buffer[] | [.spec, .tier, .available] | map(tostring) | join(" ")] | join(",")')" \
		"aes-cbc-essiv:sha256/192@4096 portable true,aes-xts-plain64/256@512 portable false"
	# What a trial finds is tested on given times; here, that it is said as it was found.
	is "$(json '.multi_buffer[0] | (.pays_from_sectors == null) == (.gain < 1.1) and .sectors == 16')" true
	is "$(json '.multi_buffer[1] | [.pays_from_sectors, .sectors, .gain] | unique | map(tostring) | join(" ")')" null
}

@test "a spec that no requested engine has is a failed cell, not a missing one" {
	expect 7 "$DMCT" bench --json --time 0.2 --engine cpu xchacha12,aes-adiantum-plain64/256@512
	is "$(json '[.results[].error.code] | unique | join(" ")')" EOPNOTSUPP
}

@test "numbers have a dot in every locale" {
	LC_ALL=de_DE.UTF-8 bench --engine cpu aes-xts-plain64/512@4096
	[[ $output != *[0-9],[0-9]* ]]
	LC_ALL=de_DE.UTF-8 expect 0 "$DMCT" bench --time 0.2 --engine cpu aes-xts-plain64/512@4096
	[[ $output != *[0-9],[0-9]* ]]
}

@test "the table for a person: the same cells, failures grouped by reason" {
	expect 0 "$DMCT" bench --time 0.3
	[ "$(grep -c '^aes-.* cpu ' <<<"$output")" -eq 16 ]
	[ "$(grep -c 'aes-xts-plain64/512@4096 .* cpu ' <<<"$output")" -eq 1 ]
	[[ $output != *$'\e'* ]]
	[ -z "$stderr" ]
	if [[ $output == *"Not measured"* ]]; then
		[ "$(grep -c '^  afalg: ' <<<"$output")" -le 5 ]
	fi
}

@test "--save writes the document that --json prints, all or nothing" {
	expect 0 "$DMCT" bench --json --time 0.2 --engine cpu --save "$T/r.json" aes-xts-plain64/512@4096
	diff <(jq -S . <<<"$output") <(jq -S . "$T/r.json")
	chmod 640 "$T/r.json"
	ln -s r.json "$T/link"
	expect 0 "$DMCT" bench --json --time 0.2 --engine cpu --save "$T/link" aes-xts-plain64/256@512
	[ -L "$T/link" ]
	is "$(stat -c %a "$T/r.json")" 640
	is "$(jq -r '.results[0].spec' "$T/r.json")" aes-xts-plain64/256@512
	[ "$(find "$T" -type f | wc -l)" -eq 1 ]
	mkfifo "$T/fifo"
	for target in "$T/fifo" "$T" /dev/null "$T/none/r.json" ""; do
		expect 1 "$DMCT" bench --time 0.2 --engine cpu --save "$target"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}

@test "--save replaces results and empty files, and nothing else" {
	local target
	head -c 1M /dev/urandom >"$T/disk.img"
	printf '{"schema": "dmcrypt-tune.probe.v1"}' >"$T/other.json"
	ln -s disk.img "$T/link"
	sha256sum "$T/disk.img" "$T/other.json" >"$T/sums"
	for target in disk.img other.json link; do
		expect 6 timeout 2 "$DMCT" bench --time 30 --engine cpu --save "$T/$target"
		says "$target exists and holds something else than results; remove it or choose another name"
	done
	# One that comes to be there while it measures.
	(sleep 0.3; cp "$T/disk.img" "$T/late") &
	expect 6 "$DMCT" bench --time 1 --engine cpu --save "$T/late" aes-xts-plain64/512@4096
	wait
	cmp "$T/disk.img" "$T/late"
	sha256sum -c --quiet "$T/sums"
	: >"$T/empty"
	expect 0 "$DMCT" bench --time 0.2 --engine cpu --save "$T/empty" aes-xts-plain64/512@4096
	expect 0 "$DMCT" bench --time 0.2 --engine cpu --save "$T/empty" aes-xts-plain64/256@4096
	is "$(jq -r '.results[0].spec' "$T/empty")" aes-xts-plain64/256@4096
}

@test "bad values are refused with a sentence, before anything is measured" {
	local bad
	for bad in "--engine gpu" "--engine cpu,,openssl" "--engine dm --flags fast" "--engine cpu --flags none" \
		"--engine dm --flags no_read_workqueue+" "--engine dm --depth 0" "--engine cpu --depth 2" "--tier fast" "--tier all --engine openssl" \
		"--sector-size 4000" "--sector-size 0" "--sector-size 8192" "--sector-size 512," "--size 0" "--size 1000" \
		"--size 99999999999" "--size 18446744073709551616" "--size 1024 --sector-size 4096" "--size 8 aes-xts-plain64" "--size 24" "--size 2097152" "--size 16 --sector-size 512" \
		"--size 65536 --engine afalg --sector-size 512" "--size 256 aes-xts-plain64/512@512" "--depth 0" "--depth 257" \
		"--depth 2 --engine cpu" "--path none" "--path splice --engine cpu" \
		"--threads 0" "--threads 1025" "--threads -1" "--threads many" "--time 0" "--time -1" "--time nan" \
		"--time 1,5" "--buffer 0" "--buffer 999999999999" "--shape round" "rot13" "aes-ecb" "aes-xts-plain/512" \
		"aes-xts-plain64/511" "aes-xts-plain64/384" "aes-xts-plain64/512@4096 --sector-size 512"; do
		# shellcheck disable=SC2086 # split on purpose
		expect 1 timeout 5 "$DMCT" bench $bad
		[ "$(wc -l <<<"$stderr")" -eq 1 ] || { echo "$bad: $stderr"; return 1; }
		[ -z "$output" ]
	done
}

@test "dm where there is no device-mapper, or no right to it: failed cells with flags and depth, a reason, and the rest" {
	expect 0 "$DMCT" probe --json
	[ "$(json .kernel.dm.available)" = false ] || skip "this process may make mappings: the lab tests that"
	reason=$(json .kernel.dm.reason)
	expect 7 "$DMCT" bench --json --engine dm --time 0.2 --depth 1,4 --flags none,same_cpu_crypt+high_priority aes-xts-plain64/512@4096
	is "$(json '.results | length')" 8
	is "$(json '[.results[].error.reason] | unique | join("|")')" "$reason"
	is "$(json '[.results[] | "\(.depth) \(.flags | join("+"))"] | unique | join(",")')" \
		"1 ,1 same_cpu_crypt+high_priority,4 ,4 same_cpu_crypt+high_priority"
	valid bench
	expect 0 "$DMCT" bench --json --engine dm,cpu --time 0.2 aes-xts-plain64/512@4096
	is "$(json '[.results[] | select(.checked) | .engine] | unique | join(" ")')" cpu
	is "$(json '.results | length')" 4
}

@test "predictions: what dm-crypt would do, from the tier that stands for the kernel's driver, with an interval" {
	expect 0 "$DMCT" bench --json --engine cpu --tier kernel --time 0.5 --sector-size 512,4096 aes-xts-plain64/512
	valid bench
	is "$(json '.kernel_costs | .handoff_ns > .syscall_ns and .syscall_ns > 0 and .copy_ns_per_kib >= 0')" true
	if json '.kernel.ciphers[] | select(.name == "xts(aes)") | .aes_driver // ""' | grep -q fixed-time; then
		# No tier is as slow as that: nothing is promised.
		is "$(json '.predictions | length')" 0
		return
	fi
	is "$(json '[.predictions[] | "\(.spec) \(.direction) \(.basis)"] | sort | join(",")')" \
		"aes-xts-plain64/512@4096 decrypt cpu,aes-xts-plain64/512@4096 encrypt cpu,aes-xts-plain64/512@512 decrypt cpu,aes-xts-plain64/512@512 encrypt cpu"
	is "$(json '[.predictions[] | select(.low < .bytes_per_second and .bytes_per_second < .high)] | length')" 4
	# Slower than the cipher alone, since a request costs something.
	# shellcheck disable=SC2016 # the dollars are jq's
	is "$(json '[.predictions[] as $p | .results[] | select(.spec == $p.spec and .direction == $p.direction)
		| select(.median > $p.bytes_per_second)] | length')" 4
	expect 0 "$DMCT" bench --engine cpu --tier kernel --time 0.5 aes-xts-plain64/512@4096
	[[ $output == *"What dm-crypt would do, a request of 64 KiB at a time:"* ]]
}

@test "on a terminal: a line of progress, wiped at the end; none of it under --quiet" {
	need script "package bsdutils or util-linux"
	run script -qefc "'$DMCT' bench --time 1.3 --engine cpu aes-xts-plain64/512@4096" /dev/null
	is "$status" 0
	[[ $output == *"%  measuring"* ]]
	[[ $output == *$'\r\e[K'* ]]
	run script -qefc "'$DMCT' bench -q --time 1.3 --engine cpu aes-xts-plain64/512@4096" /dev/null
	is "$status" 0
	[[ $output != *measuring* ]]
}

@test "nothing is measured under --sysroot" {
	expect 1 "$DMCT" --sysroot / bench
	says sysroot
}

@test "SIGINT and SIGTERM end it at once, with their status and an error document" {
	expect 130 timeout --preserve-status -s INT 3 "$DMCT" bench --json --time 30 --engine cpu
	valid error
	is "$(json .error.code)" 130
	expect 143 timeout --preserve-status -s TERM 3 "$DMCT" bench --time 30 --threads 1,2 --save "$T/never.json"
	[ -z "$output" ]
	[ -z "$(ls -A "$T")" ]
}

@test "the time is kept" {
	expect 0 "$DMCT" bench --json --time 1 --engine cpu
	is "$(json '.seconds < 2')" true
	expect 0 "$DMCT" bench --json --time 0.3 --engine cpu --threads 64 aes-xts-plain64/512@4096
	is "$(json '.seconds < 1.5')" true
}

@test "calls too long for the time: three slices each and little else, and it is said how long it took" {
	expect 0 "$DMCT" bench --json --time 0.1 --engine cpu --tier portable --sector-size 512,4096 --size 16777216 --buffer 67108864 \
		aes-xts-plain64/512
	valid bench
	is "$(json '[.results[] | select(.checked)] | length')" 4
	is "$(json '.conditions[] | select(.id == "budget") | .message | test("3 slices only, and it took [0-9.]+ s instead of 0.1 s")')" true
	is "$(json '.seconds < 0.5 + 1.7 * ([.results[] | 3 * .size / .median] | add)')" true
}

@test "few files and tasks: what cannot be started is a failed cell" {
	readable_copy
	# The limit on tasks counts all of a user's, and not root's: a user that nobody is.
	[ "$(id -u)" -eq 0 ] || skip "only root can become a user without other tasks"
	run --separate-stderr setpriv --reuid=$((1000000 + $$)) --regid=65534 --clear-groups -- \
		bash -c "ulimit -u 3; exec '$COPY/dmct' bench --json --time 0.2 --engine cpu --threads 1,64 aes-xts-plain64/512@4096"
	is "$status" 0
	is "$(json '[.results[] | select(.threads == 1 and .checked)] | length')" 2
	is "$(json '[.results[] | select(.threads == 64) | .error.code] | unique | join(" ")')" EAGAIN
}

@test "an ordinary user gets the same" {
	expect 0 as_user "$DMCT" bench --json --time 0.2 --engine cpu,openssl aes-xts-plain64/512@4096
	valid bench
	is "$(json '[.results[] | select(.engine == "cpu" and .checked)] | length')" 2
}

@test "what the document says of the machine is as strict as probe's" {
	local path whole
	diff <(jq -S '."$defs" | {text, count, known, features, cpu, kernel, memory}' "$DMCT_SRC/schemas/probe.json") \
		<(jq -S '."$defs" | {text, count, known, features, cpu, kernel, memory}' "$DMCT_SRC/schemas/bench.json")
	bench --engine cpu aes-xts-plain64/512@4096
	whole=$output
	for path in .cpu.tiers[0].name .cpu.family .kernel.ciphers[0].driver .kernel.af_alg.ciphers[0].tried \
		.kernel.dm.crypt_version .memory.swap; do
		output=$(jq "del($path)" <<<"$whole")
		run ! valid bench
	done
}

@test "authenticated modes through OpenSSL: checked, a tag a sector, in no other engine but said so" {
	bench --engine openssl --sector-size 4096 aes-gcm-random/256+aead aes-gcm-random/128+aead chacha20-random/256+poly1305 \
		aes-xts-plain64/512+hmac-sha256 aes-xts-random/256+hmac-sha256 aes-cbc-essiv:sha256/256+hmac-sha256
	is "$(json '.results | length')" 12
	is "$(json '[.results[] | select(.checked)] | length')" 12
	is "$(json '[.results[] | select(has("for_the_record"))] | length')" 0
	is "$(json '.results[0].spec')" "aes-gcm-random/256+aead@4096"
	# Left out where another engine has it, and a failure with a reason where none has.
	bench --engine cpu,openssl chacha20-random/256+poly1305@4096
	is "$(json '[.results[].engine] | unique | join(" ")')" openssl
	expect 7 "$DMCT" bench --json --time 0.1 --engine cpu,openssl aegis128-random/128+aead@4096
	valid bench
	is "$(json '[.results[].error.reason] | unique | join("; ")')" "the cpu engine does not have aegis128; the openssl engine does not have aegis128"
}

@test "for the record: measured where OpenSSL has it, marked, and nowhere else to be had" {
	run --separate-stderr "$DMCT" bench --json --time 0.2 --engine openssl --sector-size 4096 rc4 rc4+hmac-md5 \
		aes-cbc-essiv:sha256/128+hmac-sha1
	valid bench
	is "$(json '.results | length')" 6
	is "$(json '[.results[] | select(.for_the_record)] | length')" 6
	is "$(json '[.results[] | select(.spec == "aes-cbc-essiv:sha256/128+hmac-sha1@4096" and .checked)] | length')" 2
	if [ "$(json '[.results[] | select(.spec == "rc4/128@4096" and .error)] | length')" -gt 0 ]; then
		is "$(json '[.results[] | select(.spec == "rc4/128@4096") | .error.code] | unique | join(" ")')" EOPNOTSUPP
		skip "this OpenSSL has no RC4"
	fi
	is "$(json '[.results[] | select(.checked)] | length')" 6
	expect 0 "$DMCT" bench --time 0.2 --engine openssl rc4@4096
	grep -qx 'For the record; never recommended: rc4/128\.' <<<"$output"
	expect 1 "$DMCT" recommend --cipher rc4
	says 'rc4: it is measured for the record \(bench\), and for nothing else'
}

@test "authenticated messages of any size, without a sector" {
	expect 0 "$DMCT" bench --json --time 0.2 --engine openssl --size 16,4096 aes-gcm-random/256+aead \
		aes-xts-plain64/512+hmac-sha256
	is "$(json '[.results[] | select(.checked)] | length')" 8
	is "$(json '[.results[] | .size] | unique | join(" ")')" "16 4096"
}

@test "--experiment: each is one command, and says which options it stands for" {
	expect 0 "$DMCT" bench --json --time 0.2 --experiment multi-buffer
	valid bench
	says 'this is bench --engine cpu,openssl --sector-size 4096 --size 8192,16384,32768,65536,131072 --shape both aes-cbc-essiv:sha256/256 aes-cbc-essiv:sha256/128 aes-cbc-essiv:sha256/256\+hmac-sha256 aes-cbc-essiv:sha256/256\+hmac-sha1$'
	is "$(json .experiment)" multi-buffer
	# Whether, from how many on, and the curve: 2 to 32 sectors.
	is "$(json '[.multi_buffer[] | select(.available) | .curve | map(.size) | join(",")] | unique | join(" ")')" \
		"8192,16384,32768,65536,131072"
	is "$(json '[.multi_buffer[] | select(.available) | .curve[] | select(((.multi / .serial) - .gain) | . < 0.001 and . > -0.001)] | length')" 10
	is "$(json '[.multi_buffer[] | select(.spec | test("hmac")) | .available] | join(" ")')" "false false"
	expect 0 "$DMCT" bench --json --time 0.2 --experiment authenticated
	valid bench
	is "$(json '[.results[].spec | sub("@.*"; "")] | unique | length')" 9
	is "$(json '[.results[] | .engine] | unique | join(" ")')" "cpu openssl"
	is "$(json '[.results[] | select(.error == null and .checked == false)] | length')" 0
	is "$(json '[.results[] | select(.for_the_record) | .spec | sub("@.*"; "")] | unique | join(" ")')" \
		"aes-cbc-essiv:sha256/256+hmac-sha1 rc4/128 rc4/128+hmac-md5"
	# XTS alone is not set against CBC under a MAC.
	is "$(json '.versus | length')" 0
	for e in sizes xts-cbc; do
		expect 0 "$DMCT" bench --json --time 0.2 --experiment $e
		is "$(json .experiment)" $e
		is "$(json '[.results[].size] | unique | join(" ")')" "16 64 256 1024 8192 16384 131072"
	done
	run --separate-stderr "$DMCT" bench --json --time 0.2 --experiment crossing
	is "$(json '[.results[].engine] | unique | join(" ")')" "afalg cpu"
}

@test "--experiment: what is given beside it counts; unknown names are refused" {
	expect 0 "$DMCT" bench -q --json --time 0.2 --experiment authenticated --sector-size 4096 chacha20-random/256+poly1305
	is "$stderr" ""
	is "$(json '[.results[].spec] | unique | join(" ")')" chacha20-random/256+poly1305@4096
	is "$(json '[.results[].engine] | unique | join(" ")')" openssl
	expect 0 "$DMCT" bench -q --json --time 0.2 --experiment sizes --engine openssl --size 64
	is "$(json '[.results[] | "\(.engine) \(.size)"] | unique | join(", ")')" "openssl 64"
	expect 1 "$DMCT" bench --experiment size
	says '"size" is none; sizes, crossing, multi-buffer, xts-cbc and authenticated are'
}

@test "AES-GCM on the CPU's own instructions: each tier that has them, and a reason on those that do not" {
	bench --engine cpu,openssl --tier all aes-gcm-random/256+aead@4096
	is "$(json '[.results[].engine] | unique | join(" ")')" "cpu openssl"
	is "$(json '[.results[] | select(.tier == "portable" or .tier == "table") | .error.reason] | unique | join("; ")')" \
		"the tier portable has no AES-GCM; the tier table has no AES-GCM"
	is "$(json '[.results[] | select(.engine == "cpu" and .checked) | .tier] | unique | join(" ")')" \
		"$(json '[.cpu.tiers[] | select(.usable and .bits) | .name] | sort | join(" ")')"
	is "$(json '[.results[] | select(.engine == "cpu" and .checked and .roofline_share == null)] | length')" 0
}

@test "--plot: a picture over size, whatever its name; none of it by a shell" {
	need gnuplot "package gnuplot-nox"
	local name=$T/'it"s $(touch x) `x` \n.svg'
	expect 0 "$DMCT" bench --json --time 0.3 --engine cpu --tier all --size 64,1024,16384 --plot "$name" --save "$T/r.json" \
		aes-xts-plain64/512 aes-cbc-essiv:sha256/128
	valid bench
	[ "$(find "$T" | wc -l)" -eq 3 ]
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$name"
	mv "$name" "$T/p.svg"
	for name in "aes-xts-plain64/512, cpu portable" "aes-cbc-essiv:sha256/128, cpu table" Encryption Decryption \
		"between the quartiles" 16K; do
		grep -Fq "<text>$name</text>" "$T/p.svg"
	done
	expect 0 "$DMCT" bench --time 0.2 --engine cpu --plot "$T/p.PNG" aes-xts-plain64/512@4096
	is "$(head -c 8 "$T/p.PNG" | od -An -t x1 | tr -d ' ')" 89504e470d0a1a0a
	[[ $output == *"aes-xts-plain64/512@4096"* ]]
	# Earlier pictures are replaced, nothing else is.
	expect 0 "$DMCT" bench --time 0.2 --engine cpu --plot "$T/p.PNG" aes-xts-plain64/512@4096
	cp "$T/r.json" "$T/other.png"
	expect 6 timeout 2 "$DMCT" bench --time 30 --engine cpu --plot "$T/other.png" aes-xts-plain64/512@4096
	says "other.png exists and holds something else than PNG pictures"
	cmp "$T/r.json" "$T/other.png"
	for name in "$T/p.gif" "$T/png" "" "$T/none/p.svg"; do
		expect 1 timeout 2 "$DMCT" bench --time 30 --engine cpu --plot "$name"
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
}

@test "--plot without gnuplot, or with one that fails: the results, a sentence, status 7, no picture" {
	local dir=$T/bin
	mkdir "$dir"
	expect 7 env PATH="$dir" "$DMCT" bench --json --time 0.2 --engine cpu --plot "$T/p.svg" aes-xts-plain64/512@4096
	valid bench
	is "$(json '[.results[] | select(.checked)] | length')" 2
	says 'gnuplot, which draws the picture, is not installed'
	printf '#!/bin/sh\necho "line 1: no such terminal" >&2\nexit 1\n' >"$dir/gnuplot"
	chmod 755 "$dir/gnuplot"
	expect 7 env PATH="$dir" "$DMCT" bench --json --time 0.2 --engine cpu --plot "$T/p.svg" aes-xts-plain64/512@4096
	valid bench
	says 'gnuplot drew nothing: line 1: no such terminal'
	[ ! -e "$T/p.svg" ]
}
