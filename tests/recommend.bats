#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The decision over the command line: right, the same every time, and explained.

load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
}

# results ENGINE SPEC@SECTOR ENCRYPT-MBS DECRYPT-MBS ...: a bench.v1 document on stdout, with a spread of one percent.
results() {
	local engine=$1 rows=''
	shift
	while [ $# -gt 0 ]; do
		rows+="$1 $2 $3"$'\n'
		shift 3
	done
	jq -Rn --arg engine "$engine" '
		[inputs | split(" ") | select(length == 3) | . as [$spec, $enc, $dec]
			| ($spec | split("@")[1] | tonumber) as $sector
			| (["encrypt", $enc], ["decrypt", $dec]) as [$direction, $mbs]
			| ($mbs | tonumber * 1000000) as $m
			| { spec: $spec, engine: $engine, tier: (if $engine == "cpu" then "table" else null end),
			    shape: "serial", direction: $direction, size: $sector, threads: 1, median: $m,
			    low: ($m * 0.99 | floor), high: ($m * 1.01 | floor), roofline_share: null, checked: true }]
		| { schema: "dmcrypt-tune.bench.v1", roofline: [], conditions: [], results: . }' <<<"$rows"
}

# chosen WANT RECOMMEND-ARGUMENT...
chosen() {
	local want=$1
	shift
	expect 0 "$DMCT" recommend --json "$@"
	is "$(json .choice.spec)" "$want" choice
}

@test "a machine without AES instructions: the fastest kernel cipher of the best class, numbers shown" {
	results afalg aes-xts-plain64/512@4096 61 59 aes-xts-plain64/256@4096 82 80 \
		aes-cbc-essiv:sha256/256@4096 70 72 xchacha12,aes-adiantum-plain64/256@4096 190 185 \
		xchacha20,aes-adiantum-plain64/256@4096 140 138 >r.json
	chosen xchacha12,aes-adiantum-plain64/256@4096 --from r.json
	valid recommend
	is "$(json .choice.basis)" afalg
	# libcryptsetup cannot do Adiantum in user space: the keyslot has what format gives it.
	json '.cryptsetup_argv | join(" ")' | grep -q -- '--keyslot-cipher aes-xts-plain64 --keyslot-key-size 512'
	# 1 / (0.7 / 185 + 0.3 / 190)
	is "$(json '.choice.expected_bytes_per_second / 100000 | floor')" 1864
	is "$(json '.rejected[] | select(.spec == "aes-xts-plain64/512@4096") | .reason')" "59.6 MB/s expected, 68 % slower"
}

@test "what made the saved numbers mean less is said with the decision" {
	results cpu aes-xts-plain64/512@4096 500 500 >r.json
	expect 0 "$DMCT" recommend --json --from r.json
	valid recommend
	is "$(json '.conditions | length')" 0
	jq '.conditions = [{id: "shared-aes-units", message: "2 threads did 1.02 times the AES rounds of one."},
		{id: "of-a-later-day", message: "a\u001b[31mb"}]' r.json >c.json
	expect 0 "$DMCT" recommend --json --from c.json
	valid recommend
	is "$(json '.conditions | map(.id) | join(" ")')" "shared-aes-units of-a-later-day"
	is "$(json '.conditions[0].message')" "2 threads did 1.02 times the AES rounds of one."
	expect 0 "$DMCT" recommend --from c.json
	grep -A2 '^To bear in mind of the measuring:$' <<<"$output" | tail -n 2 >said
	printf '  - %s\n' '2 threads did 1.02 times the AES rounds of one.' 'a?[31mb' | diff - said
}

@test "the order of the candidates does not matter" {
	results afalg aes-xts-plain64/512@4096 500 500 aes-xts-plain64/256@4096 640 640 \
		xchacha12,aes-adiantum-plain64/256@4096 503 503 >r.json
	chosen aes-xts-plain64/512@4096 --from r.json
	first=$output
	jq '.results |= reverse' r.json >reversed.json
	chosen aes-xts-plain64/512@4096 --from reversed.json
	is "$output" "$first" "reversed results' decision"
}

@test "the same saved results give the same bytes, run after run" {
	results afalg aes-xts-plain64/512@4096 500 1500 aes-cbc-essiv:sha256/256@512 300 900 >r.json
	chosen aes-xts-plain64/512@4096 --from r.json --sysroot "$FIXTURES/machines/aesni-laptop"
	first=$output
	for _ in 1 2 3; do
		chosen aes-xts-plain64/512@4096 --from r.json --sysroot "$FIXTURES/machines/aesni-laptop"
		is "$output" "$first" decision
	done
	"$DMCT" recommend --json --from - --sysroot "$FIXTURES/machines/aesni-laptop" <r.json >from-stdin
	is "$(cat from-stdin)" "$first" "the decision on standard input"
}

@test "policies: margins between classes, and what each admits" {
	results dm aes-xts-plain64/512@512 30 30 aes-xts-plain64/256@512 40 40 \
		aes-cbc-essiv:sha256/256@512 150 150 aes-cbc-essiv:sha256/128@512 170 170 >caam.json
	chosen aes-cbc-essiv:sha256/256@512 --from caam.json
	chosen aes-xts-plain64/512@512 --from caam.json --policy strict
	json '.rejected[] | select(.spec == "aes-cbc-essiv:sha256/256") | .reason' | grep -q "policy strict never takes"
	results dm aes-xts-plain64/512@512 1000 1000 aes-xts-plain64/256@512 1300 1300 >margin.json
	chosen aes-xts-plain64/512@512 --from margin.json
	chosen aes-xts-plain64/256@512 --from margin.json --policy performance
	is "$(json .choice.strength_bits)" 128
	results afalg xchacha12,aes-adiantum-plain64/256@4096 900 900 aes-xts-plain64/512@4096 100 100 >fips.json
	chosen aes-xts-plain64/512@4096 --from fips.json --policy fips
	is "$(json .pbkdf.type)" pbkdf2
	is "$(json .pbkdf.memory)" null
}

@test "a FIPS host: approved ciphers, PBKDF2, no Argon2 on request, reason printed" {
	results afalg xchacha12,aes-adiantum-plain64/256@4096 900 900 aes-xts-plain64/512@4096 100 100 >r.json
	chosen aes-xts-plain64/512@4096 --from r.json --sysroot "$FIXTURES/machines/fips-host"
	is "$(json .pbkdf.type)" pbkdf2
	json '.pbkdf.reason' | grep -q FIPS
	json '.cryptsetup_argv | join(" ")' | grep -vq argon2
	expect 6 "$DMCT" recommend --from r.json --sysroot "$FIXTURES/machines/fips-host" --pbkdf argon2id
	says "FIPS mode allows pbkdf2 only"
}

@test "described machines decide on facts, and nothing is measured" {
	chosen aes-xts-plain64/512@4096 --sysroot "$FIXTURES/machines/aesni-laptop"
	valid recommend
	is "$(json .choice.basis)" facts
	is "$(json .choice.expected_bytes_per_second)" null
	is "$(json .pbkdf.iterations)" null
}

@test "an image file: the sector size that its length allows, and the plan's numbers in the command line" {
	truncate -s 64M even.img
	truncate -s $((64 * 1048576 + 2048)) odd.img
	results afalg aes-xts-plain64/512@512 700 700 aes-xts-plain64/512@1024 800 800 aes-xts-plain64/512@2048 900 900 \
		aes-xts-plain64/512@4096 1000 1000 >r.json
	chosen aes-xts-plain64/512@4096 --from r.json even.img
	is "$(json '.cryptsetup_argv | join(" ")' | grep -o -- '--sector-size 4096')" "--sector-size 4096"
	is "$(json '.cryptsetup_argv | last')" even.img
	is "$(json .crypttab)" "luks-even.img $PWD/even.img none luks"
	chosen aes-xts-plain64/512@2048 --from r.json odd.img
	json '.rejected[] | select(.spec == "aes-xts-plain64/512@4096") | .reason' | grep -q "4096 does not divide"
	chosen aes-xts-plain64/512@512 --from r.json --sector-size 512 even.img
	expect 6 "$DMCT" recommend --from r.json --sector-size 4096 odd.img
	says "4096 does not divide"
}

@test "recommend measures this machine within its time and says on what it rests" {
	begun=$(date +%s%N)
	expect 0 "$DMCT" recommend --json --time 0.4 --pbkdf-force-iterations 4
	[ $(($(date +%s%N) - begun)) -lt 30000000000 ]
	valid recommend
	# Of a driver in fixed time, or one that no tier is like, the engine gives an order alone.
	if json '.reasons[]' | grep -qE 'no throughput can be told|nothing comparable was measured'; then
		is "$(json .choice.expected_bytes_per_second)" null
	else
		is "$(json '.choice.expected_bytes_per_second > 1000000')" true
	fi
	[ "$(json '.reasons | length')" -ge 4 ]
	expect 0 "$DMCT" recommend --time 0.4 --pbkdf-force-iterations 4
	grep -q '^Recommended: ' <<<"$output"
	grep -q 'cryptsetup luksFormat --type luks2' <<<"$output"
}

@test "the plan as cryptsetup's command line makes a header with the same fields" {
	need cryptsetup "package cryptsetup-bin"
	truncate -s 64M disk.img
	echo -n secret >key
	chmod 600 key
	expect 0 "$DMCT" recommend --json --time 0.3 --pbkdf-force-iterations 4 --pbkdf-memory 64 disk.img
	plan=$output
	mapfile -t argv < <(jq -r '.cryptsetup_argv[]' <<<"$plan")
	"${argv[@]}" --batch-mode --key-file key
	output=$(cryptsetup luksDump --dump-json-metadata disk.img)
	is "$(json '.segments["0"].encryption')" "$(jq -r .choice.cipher <<<"$plan")"
	is "$(json '.segments["0"].sector_size')" "$(jq -r .choice.sector_size <<<"$plan")"
	is "$(json '.segments["0"].offset')" "$(jq -r .data_offset <<<"$plan")"
	is "$(json '.keyslots["0"].key_size * 8')" "$(jq -r .choice.key_bits <<<"$plan")"
	is "$(json '.keyslots["0"].kdf.type')" "$(jq -r .pbkdf.type <<<"$plan")"
	is "$(json '.keyslots["0"].kdf.memory * 1024')" "$(jq -r .pbkdf.memory <<<"$plan")"
	is "$(json '.keyslots["0"].kdf.cpus')" "$(jq -r .pbkdf.threads <<<"$plan")"
}

@test "bad input gets a sentence and its status" {
	expect 1 "$DMCT" recommend --policy fast
	says '"fast" is none of balanced'
	expect 1 "$DMCT" recommend --cipher aes-xts-plain
	says "2 TiB"
	expect 1 "$DMCT" recommend --cipher aes-xts-plain64:sha256
	says "takes no hash"
	expect 1 "$DMCT" recommend --key-size 512
	says "needs --cipher"
	expect 1 "$DMCT" recommend --sector-size 600
	says "600"
	expect 1 "$DMCT" recommend --cipher aes-xts-plain64/512@512 --sector-size 4096
	says "contradict"
	expect 1 "$DMCT" recommend --pbkdf scrypt
	says '"scrypt"'
	expect 1 "$DMCT" recommend --pbkdf pbkdf2 --pbkdf-memory 1024
	says "Argon2's"
	expect 1 "$DMCT" recommend --pbkdf pbkdf2 --pbkdf-force-iterations 999
	says "999 are too few; pbkdf2 takes at least 1000"
	expect 1 "$DMCT" recommend --time 0
	says "at least 0.2"
	expect 1 "$DMCT" recommend --time 0.19
	says "at least 0.2"
	expect 1 "$DMCT" recommend --label "$(printf 'a\033b')"
	says "holds control characters"
	expect 1 "$DMCT" recommend --from /nonexistent
	says "/nonexistent"
	expect 4 "$DMCT" recommend /nonexistent
	says "/nonexistent"
	expect 4 "$DMCT" recommend --json /dev/null
	is "$(json .error.code)" 4
	valid error
	truncate -s 1M small.img
	expect 4 "$DMCT" recommend --sysroot "$FIXTURES/machines/aesni-laptop" small.img
	expect 4 timeout 5 "$DMCT" recommend --time 30 small.img
	says "too small"
}

@test "a volume with an integrity mode is planned; without dm-crypt and dm-integrity none is made: 7, nothing written" {
	expect 0 "$DMCT" recommend --json --cipher aes-gcm-random/256+aead --sysroot "$FIXTURES/machines/aesni-laptop"
	json '.cryptsetup_argv | join(" ")' | grep -q -- '--cipher aes-gcm-random --key-size 256 --integrity aead'
	truncate -s 64M disk.img
	echo -n secret >key
	expect 1 "$DMCT" format disk.img --cipher aes-gcm-random/256+aead --key-file key --yes --pbkdf-force-iterations 4 \
		--pbkdf-memory 64 --undo-file undo
	says 'the whole device is written over, and no undo file holds that'
	if [ "$("$DMCT" probe --json | jq .kernel.dm.available)" = false ]; then
		expect 7 "$DMCT" format disk.img --cipher aes-gcm-random/256+aead --key-file key --yes --pbkdf-force-iterations 4 \
			--pbkdf-memory 64
		says 'aes-gcm-random/256\+aead@.* needs dm-crypt and dm-integrity here.*Nothing was written'
	fi
	is "$(tr -d '\0' <disk.img | wc -c)" 0 "bytes written"
	expect 1 "$DMCT" format disk.img --cipher aes-xts-plain64/512 --integrity-no-wipe --key-file key --yes --pbkdf-force-iterations 4 \
		--pbkdf-memory 64
	says 'integrity-no-wipe is of volumes with an integrity mode'
	expect 1 "$DMCT" recommend --cipher aes-gcm-random
	says 'write aes-gcm-random\+aead'
}

@test "what was decided on is saved with its disk, and decides the same again without either" {
	head -c 64M /dev/urandom >disk.img
	expect 0 "$DMCT" recommend --json --time 0.3 --pbkdf-force-iterations 4 --pbkdf-memory 64 --save saved disk.img
	plan=$output
	output=$(cat saved)
	valid bench
	is "$(json '.device | "\(.kind) \(.size)"')" "file 67108864"
	rm disk.img
	expect 0 "$DMCT" recommend --json --from saved --pbkdf-force-iterations 4 --pbkdf-memory 64
	same='[.choice.spec, .summary, .reasons, .rejected[].reason, .flags, .cryptsetup_argv, .device_speed]'
	is "$(jq "$same" <<<"$output")" "$(jq "$same" <<<"$plan")" plan
	expect 6 "$DMCT" recommend --time 0.2 --save "$DMCT_SRC/README.md"
	says "holds something else than results"
}

@test "the disk's own speed: read past the cache and never written, given, skipped, or not known with the reason" {
	head -c 64M /dev/urandom >disk.img
	truncate -s 64M sparse.img
	cp disk.img before
	results dm aes-xts-plain64/512@4096 500 500 >r.json
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf-force-iterations 4 --pbkdf-memory 64 disk.img
	valid recommend
	case $(json .device_speed.from) in
	measured)
		is "$(json '.device_speed | .bytes_per_second > 1000000 and .bytes_read <= 268435456 and .seconds < 5')" true
		# Where the kernel's driver is slower than any tier here, no speed is promised, and no share of CPUs.
		is "$(json '.device_speed.cpus_busy > 0')" "$(json '.choice.expected_bytes_per_second > 0')" ;;
	*) json .device_speed.reason | grep -q O_DIRECT ;;
	esac
	cmp disk.img before
	expect 0 "$DMCT" recommend --json --time 0.2 --pbkdf-force-iterations 4 --pbkdf-memory 64 sparse.img
	is "$(json '.device_speed | "\(.from) \(.bytes_per_second)"')" "failed null"
	json .device_speed.reason | grep -Eq "sparse|O_DIRECT"
	expect 0 "$DMCT" recommend --json --from r.json --device-speed 125.5 disk.img
	is "$(json '.device_speed | "\(.from) \(.bytes_per_second) \(.limits)"')" "given 125500000 true"
	json '.reasons[]' | grep -q "every cipher here keeps up"
	expect 0 "$DMCT" recommend --json --from r.json --device-speed skip disk.img
	is "$(json .device_speed.from)" skipped
	expect 0 "$DMCT" recommend --json --from r.json disk.img
	is "$(json .device_speed)" null
}

@test "a policy file: its numbers count, the command line goes before it, and decisions elsewhere do without" {
	results dm aes-xts-plain64/512@512 1000 1000 aes-xts-plain64/256@512 1300 1300 >r.json
	printf '# ours\n\n policy = balanced \nmargin-xts128=1.2\npbkdf-memory-max = 256M\npbkdf-time = 1500\n' >ours.conf
	chosen aes-xts-plain64/256@512 --from r.json --config ours.conf
	valid recommend
	is "$(json '"\(.policy_file) \(.policy_numbers["margin-xts128"]) \(.pbkdf.time_ms)"')" "ours.conf 1.2 1500"
	is "$(json '.pbkdf.memory <= 268435456')" true
	chosen aes-xts-plain64/512@512 --from r.json --config ours.conf --min-strength 256
	chosen aes-xts-plain64/512@512 --from r.json --config ours.conf --policy strict
	is "$(json '"\(.policy) \(.policy_numbers["margin-xts128"]) \(.pbkdf.time_ms)"')" "strict 0 1500"
	chosen aes-xts-plain64/256@512 --from r.json --config ours.conf --policy balanced
	printf 'policy = strict\n' >ours.conf
	chosen aes-xts-plain64/512@512 --from r.json --config ours.conf
	is "$(json .policy)" strict
	chosen aes-xts-plain64/256@512 --from r.json --config ours.conf --policy performance
	: >empty.conf
	chosen aes-xts-plain64/512@512 --from r.json --config empty.conf
	chosen aes-xts-plain64/512@512 --from r.json
	is "$(json .policy_file)" null
	expect 0 "$DMCT" recommend --from r.json --config ours.conf --explain
	grep -q 'margin-xts128 = 0 times. AES-128 does 10 rounds' <<<"$output"
	grep -q 'compared as' <<<"$output"
}

# wrong_policy TEXT PATTERN: that policy file is refused with a sentence.
wrong_policy() {
	printf '%b' "$1" >bad.conf
	expect 1 "$DMCT" recommend --from r.json --config bad.conf
	says "$2"
}

@test "a policy file that is wrong: file, line, what is allowed" {
	results dm aes-xts-plain64/512@512 1000 1000 >r.json
	wrong_policy 'read-share = 0.5\nfoo = 1\n' 'bad.conf:2: "foo" is no key'
	wrong_policy 'read-share = 0.5\n\nread-share = 0.6\n' 'bad.conf:3: read-share stands a second time; the first is line 1'
	wrong_policy 'margin-cbc = 0.5\n' 'bad.conf:1: margin-cbc: "0.5" is no number from 1 to 100, or 0'
	wrong_policy 'margin-cbc = 2,5\n' '"2,5" is no number'
	wrong_policy 'pbkdf-memory-max = 1T\n' '"1T" is no number'
	wrong_policy 'policy = lax\n' '"lax" is none of balanced'
	wrong_policy 'read-share\n' 'is no "key = value"'
	wrong_policy 'read-share =\n' 'has no value'
	wrong_policy 'foo = 1\n' 'there are policy, margin-xts128, .* and pbkdf-time\.'
	wrong_policy 'read-share = 0.5\n# caf\351\n' 'bad.conf:2: the line holds bytes that are not UTF-8'
	wrong_policy '# x\n\001\n' 'bad.conf:2: byte 4 of the file \(0x01\) is not text'
	wrong_policy 'read-share = \000 1\n' 'is not text'
	head -c 70000 /dev/zero | tr '\0' '#' >bad.conf
	expect 1 "$DMCT" recommend --from r.json --config bad.conf
	says 'larger than 64 KiB'
	mkfifo fifo
	expect 1 timeout 5 "$DMCT" recommend --from r.json --config fifo
	says 'no regular file'
	expect 1 "$DMCT" recommend --from r.json --config .
	says 'no regular file'
	expect 1 "$DMCT" recommend --from r.json --config /nonexistent
	says '/nonexistent'
	# The file is looked at before anything is opened.
	expect 1 "$DMCT" format /nonexistent --auto --config bad.conf
	says 'larger than 64 KiB'
}

@test "what a plan is for: contradictions and bad words get a sentence" {
	results dm aes-xts-plain64/512@512 1000 1000 xchacha12,aes-adiantum-plain64/256@512 3000 3000 >r.json
	expect 1 "$DMCT" recommend --from r.json --for raid
	says '"raid" is none of lvm, vm, grub and image'
	expect 1 "$DMCT" recommend --from r.json --for grub --sector-size 4096
	says 'GRUB is sure of 512 only'
	expect 6 "$DMCT" recommend --from r.json --for grub --pbkdf argon2id
	says 'GRUB before 2.14'
	expect 6 "$DMCT" recommend --from r.json --for grub --cipher xchacha12,aes-adiantum-plain64
	says 'AES-XTS only'
	expect 1 "$DMCT" recommend --from r.json --for grub --pbkdf-force-iterations 100
	says 'at least 1000'
	expect 1 "$DMCT" recommend --from r.json --for grub --integrity any
	says 'keeps tags'
	expect 1 "$DMCT" recommend --from r.json --integrity md5
	says '"md5" is none of any, aead'
	expect 1 "$DMCT" recommend --from r.json --integrity any --cipher aes-xts-plain64
	says 'contradict'
	expect 1 "$DMCT" recommend --from r.json --integrity any --allow-discards
	says 'passes no discards on'
	expect 1 "$DMCT" recommend --from r.json --min-strength 100
	says '100'
	expect 1 "$DMCT" recommend --from r.json --unlock-memory 5
	says '"5" is no size from 1M to 1024G'
	expect 1 "$DMCT" recommend --from r.json --unlock-time 500 --iter-time 500
	says 'contradict'
	expect 1 "$DMCT" recommend --from r.json --unlock-time 500 --pbkdf-force-iterations 5
	says 'contradict'
	expect 1 "$DMCT" recommend --from r.json --device-speed fast
	says '"fast" is neither measure, skip nor a number'
	expect 1 "$DMCT" recommend --from r.json --device-speed measure
	says 'measures nothing'
	expect 0 "$DMCT" recommend --json --from r.json --unlock-memory 512M --unlock-time 4000 --unlock-slower 10
	is "$(json '.pbkdf | "\(.time_ms) \(.unlock.slower_ms) \(.unlock.slower) \(.memory)"')" "400 4000 10 268435456"
	expect 0 "$DMCT" recommend --from r.json --unlock-slower 10
	grep -q 'for 2.0 s to unlock here (not tried), 20.0 s on a machine 10 times slower' <<<"$output"
}
