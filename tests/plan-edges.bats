#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# recommend at its edges: options that contradict each other, costs that nobody can pay, names that JSON cannot hold,
# machines that say nothing of themselves.
load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	LAPTOP=$FIXTURES/decisions/laptop-aesni-nvme.json
}

@test "an option again: the same value is one, another is refused, for every command" {
	local words
	for words in "recommend --time 1 --time 2" "bench --engine cpu --time 1 --engine openssl" "compare --fail-below 1 --fail-below 2 a b" \
		"format --label a --auto --label b x" "inspect --key-slot 1 --key-slot 2 x" "--sysroot / probe --sysroot ." "undo --undo-file a --undo-file b"; do
		# shellcheck disable=SC2086 # split on purpose
		expect 1 "$DMCT" $words
		says '(is given twice, as ".*" and as ".*"; give it once|[Uu]nknown option)'
	done
	expect 1 "$DMCT" recommend -c aes-xts-plain64 --cipher aes-cbc-essiv:sha256
	says '^dmcrypt-tune: --cipher is given twice, as "aes-xts-plain64" and as "aes-cbc-essiv:sha256"; give it once\.$'
	expect 0 "$DMCT" recommend --json --from "$LAPTOP" --from "$LAPTOP" --json
}

@test "costs found by no trial are not called an unlock time" {
	expect 0 "$DMCT" recommend --from "$LAPTOP" --iter-time 40 --unlock-slower 30
	[[ $output == *", for 40 ms to unlock here (not tried), 1.2 s on a machine 30 times slower"* ]]
	[[ $output != *"0.0 s"* ]]
	expect 0 "$DMCT" recommend --json --from "$LAPTOP"
	valid recommend
	is "$(json '.pbkdf | "\(.time_ms) \(.unlock.here_ms) \(.unlock.tried) \(.warning)"')" "2000 2000 false null"
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf pbkdf2 --iter-time 100
	is "$(json .pbkdf.unlock.tried)" true
}

@test "more memory than the unlocking machine has is a contradiction" {
	expect 1 "$DMCT" recommend --from "$LAPTOP" --pbkdf-memory 4194304 --unlock-memory 16M
	says '--pbkdf-memory 4194304 and --unlock-memory 16M contradict each other: the machine that is to unlock has less than those 4 GiB'
	expect 1 "$DMCT" format none --auto --pbkdf-memory 65536 --unlock-memory 63M
	says 'contradict each other'
	expect 0 "$DMCT" recommend --json --from "$LAPTOP" --pbkdf-memory 65536 --unlock-memory 64M
}

@test "iterations that take hours: predicted, and warned of; more than libcryptsetup takes: refused" {
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf pbkdf2 --pbkdf-force-iterations 2147483647
	valid recommend
	is "$(json '.pbkdf | .unlock.here_ms > 10000 and .unlock.tried and .time_ms == null')" true
	[[ $(json .pbkdf.warning) == "2147483647 iterations as asked for take about "*" here, at every unlock"* ]]
	expect 0 "$DMCT" recommend --time 0.2 --pbkdf-force-iterations 1000000 --pbkdf-memory 262144
	[[ $output == *"1000000 iterations, about "*" to unlock here"* ]]
	[[ $output == *"! 1000000 iterations as asked for take about "* ]]
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf-force-iterations 4 --pbkdf-memory 64
	is "$(json '.pbkdf | "\(.warning) \(.unlock.here_ms)"')" "null null"
	expect 1 "$DMCT" recommend --pbkdf-force-iterations 2147483648
	says 'from 4 to 2147483647'
}

@test "device names that are no UTF-8: hexadecimal beside what JSON can hold, escaped on the terminal and for crypttab" {
	local odd=$'x\xff\e.img'
	truncate -s 64M "$odd"
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf-force-iterations 4 "$odd"
	valid recommend
	is "$(json '.cryptsetup_argv_hex | last')" 78ff1b2e696d67
	is "$(json '.cryptsetup_argv_hex | length')" "$(json '.cryptsetup_argv | length')"
	is "$(json '.cryptsetup_argv_hex | first')" 63727970747365747570
	[[ $(json .crypttab) == *'/x\377\033.img none luks' ]]
	expect 0 "$DMCT" probe --json "$odd"
	valid probe
	is "$(json '"\(.device.path_hex) \(.device.target_hex)"')" "78ff1b2e696d67 $(printf '%s/%s' "$PWD" "$odd" | od -An -v -tx1 | tr -d ' \n')"
	expect 0 "$DMCT" recommend --time 0.2 --pbkdf-force-iterations 4 "$odd"
	[[ $output == "Recommended for x??.img"* ]]
	[[ $output == *"\$'x\\377\\033.img'"* ]]
	run ! grep -aq $'[\x1b]' <<<"$output"
	run ! env LC_ALL=C grep -aq $'\xff' <<<"$output"
	expect 4 "$DMCT" probe $'none\xff'
	# shellcheck disable=SC2154 # stderr is bats's
	is "$stderr" "dmcrypt-tune: none?: there is no such device or file."
	mv "$odd" ordinary.img
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf-force-iterations 4 ordinary.img
	is "$(json '"\(.cryptsetup_argv_hex) \(.cryptsetup_flags_argv_hex)"')" "null null"
}

@test "CBC with plain IVs: warned of watermarking; ESSIV and XTS are not" {
	expect 0 "$DMCT" recommend --json --from "$LAPTOP" --cipher aes-cbc-plain64
	is "$(json '[.reasons[] | select(startswith("Warning: aes-cbc-plain64/256@") and contains("watermarked"))] | length')" 1
	for cipher in aes-cbc-essiv:sha256 aes-xts-plain64; do
		expect 0 "$DMCT" recommend --json --from "$LAPTOP" --cipher "$cipher"
		is "$(json '[.reasons[] | select(contains("watermarked"))] | length')" 0
	done
}

@test "--explain: a number of the policy file is the file's, an option's is the option's, others are the program's" {
	printf 'pbkdf-memory-max = 512M\nmargin-cbc = 2\n' >site.conf
	expect 0 "$DMCT" recommend --from "$LAPTOP" --config site.conf --min-strength 256 --explain
	output=$(tr -s ' \n' ' ' <<<"$output")
	[[ $output == *"The policy's numbers (balanced, as changed by site.conf):"* ]]
	[[ $output == *"pbkdf-memory-max = 512 MiB, as site.conf says; the program's own is 1 GiB. cryptsetup's own default"* ]]
	[[ $output == *"min-strength = 256 bits, as --min-strength says; the program's own is 0 bits."* ]]
	[[ $output == *"margin-cbc = 2 times. CBC is malleable"* ]]
	expect 0 "$DMCT" recommend --from "$LAPTOP" --explain
	[[ $output == *"The policy's numbers (balanced):"* ]]
	[[ $output != *"the program's own"* ]]
}

@test "a cipher that FIPS does not approve: what stands against what, and what is left; status 6" {
	expect 6 "$DMCT" recommend --from "$LAPTOP" --policy fips --integrity poly1305
	is "$stderr" "dmcrypt-tune: --integrity poly1305 and policy fips contradict each other: chacha20-random/256+poly1305, rfc7539(chacha20,poly1305), is not approved there; --integrity hmac-sha256 is."
	expect 0 "$DMCT" recommend --json --from "$LAPTOP" --policy fips --integrity hmac-sha256
}

@test "what is not known of CPUs and memory is said to be unknown" {
	mkdir -p bare/proc half/proc half/sys/devices/system/cpu
	expect 0 "$DMCT" --sysroot bare probe
	grep -q '^  CPUs: *not known how many$' <<<"$output"
	grep -q '^Memory *not known$' <<<"$output"
	expect 0 "$DMCT" --sysroot bare recommend --json
	is "$(json .pbkdf.memory_bound_by)" "the policy's limit; how much memory there is is not known"
	printf '0-3\n' >half/sys/devices/system/cpu/online
	expect 0 "$DMCT" --sysroot half probe
	grep -q '^  CPUs: *4 online' <<<"$output"
	run ! grep -q 'CPUs:.* 0 ' <<<"$output"
}

# wrong TEXT MESSAGE: a policy file of that text, as printf has it.
wrong() {
	# shellcheck disable=SC2059 # escapes are wanted
	printf "$1" >bad.conf
	expect 1 "$DMCT" recommend --from "$LAPTOP" --config bad.conf
	is "$stderr" "dmcrypt-tune: $2"
}

@test "policy files: whole numbers, line ends and byte order marks, each with its line" {
	wrong '# ours\noverwrites = 1.5\n' 'bad.conf:2: overwrites: "1.5" is no whole number (times).'
	wrong 'pbkdf-threads-max = 2.5\n' 'bad.conf:1: pbkdf-threads-max: "2.5" is no whole number (threads).'
	wrong '\xef\xbb\xbfpolicy = strict\n' 'bad.conf:1: the file begins with a byte order mark; save it as UTF-8 without one.'
	wrong 'policy = strict\n\roverwrites = 2\n' 'bad.conf:2: byte 16 of the file is a carriage return without a line feed; lines end with a line feed.'
	printf 'policy = strict\r\noverwrites = 2\r\nmargin-rare = 1.5\r\n' >dos.conf
	expect 0 "$DMCT" recommend --json --from "$LAPTOP" --config dos.conf
	is "$(json '"\(.policy) \(.policy_numbers.overwrites) \(.policy_numbers["margin-rare"])"')" "strict 2 1.5"
}

@test "--save after a run that measured nothing: the plan, a sentence, status 7, no file" {
	expect 0 "$DMCT" probe --json
	[ "$(json '.kernel.af_alg.available or .kernel.dm.available')" = false ] || skip "this kernel's own ciphers can be measured"
	expect 7 "$DMCT" recommend --json --time 0.2 --pbkdf-force-iterations 4 --cipher serpent-xts-plain64 --save r.json
	valid recommend
	says '^dmcrypt-tune: --save: nothing was measured, so that r\.json was not written\.$'
	[ ! -e r.json ]
	mkdir -p bare/proc
	expect 0 "$DMCT" --sysroot bare recommend --json --save described.json
	is "$(jq '.results | length' described.json)" 0
}
