#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The decision on real kernels: what is chosen, that the cryptsetup command line does the same as format, and that the
# choice is the best of its class when it is measured for longer. Which guest it is, the tests find out.

# shellcheck disable=SC2016 # the dollars in single quotes are jq's

load ../lib/common
load guest

# A cheap password hash, so that only what is tested takes time.
cheap=(--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1)

fips() {
	[ "$(cat /proc/sys/crypto/fips_enabled 2>/dev/null || echo 0)" = 1 ]
}

# recommend ARGUMENT...: as JSON, for these guests.
recommend() {
	if fips; then
		"$DMCT" recommend --json --quiet --time 0.6 --pbkdf-force-iterations 1000 "$@"
	else
		"$DMCT" recommend --json --quiet --time 0.6 "${cheap[@]}" "$@"
	fi
}

# fields DEVICE: what a header says but for what is random in it (keys, salts, UUID, times).
fields() {
	cryptsetup luksDump --dump-json-metadata "$1" | jq -S '
		{keyslots: [.keyslots[] | {type, key_size, area: (.area | del(.offset)), af,
			kdf: (.kdf | del(.salt))}],
		 segments: [.segments[]], digests: [.digests[] | {type, hash, keyslots, segments}], config}'
}

@test "the fastest measured of the strongest class; AES-XTS with AES instructions, and for GRUB in any case" {
	image 48M
	# Rates under emulation wander enough for a weaker class to seem twice as fast.
	expect 0 recommend --policy strict "$loop"
	is "$(json .choice.strength_bits)" 256
	json .choice.basis | grep -Eqx 'dm|afalg'
	# Nobody of its class is ahead by more than what is compared; with AES, XTS is it.
	is "$(json '(.candidates[] | select(.state == "chosen")) as $c
		| [.candidates[] | select(.class == $c.class and .strength_bits == 256 and .compared_low
			and .margin_rare == 1 and .compared_low > 1.05 * $c.compared_high) | .spec] | length')" 0 faster
	kind=$("$DMCT" probe --json | jq -r '.kernel.ciphers[] | select(.name == "xts(aes)") | .aes')
	if [[ $kind == aes || $kind == vaes* ]]; then
		is "$(json '.choice | "\(.cipher)/\(.key_bits)"')" aes-xts-plain64/512
	fi
	expect 0 recommend --for lvm "$loop"
	is "$(json .choice.sector_size)" 512
	expect 0 "$DMCT" recommend --json --quiet --time 0.6 --pbkdf-force-iterations 1000 --policy strict \
		--for grub "$loop"
	is "$(json '"\(.choice.spec) \(.pbkdf.type)"')" "aes-xts-plain64/512@512 pbkdf2"
	json '.reasons[]' | grep -q "For GRUB"
}

@test "FIPS mode, where it is: no Argon2 and no Adiantum; elsewhere Argon2id" {
	image 48M
	expect 0 recommend "$loop"
	if fips; then
		is "$(json .pbkdf.type)" pbkdf2
		is "$(json '[.candidates[] | select((.spec | test("adiantum")) and .state != "not-admitted")] | length')" 0
	else
		is "$(json .pbkdf.type)" argon2id
	fi
}

@test "a size that 4096 does not divide: the largest sector that does" {
	image $((48 * 1048576 + 2048))
	expect 0 recommend "$loop"
	[ "$(json .choice.sector_size)" -le 2048 ]
	json '.rejected[] | select(.spec | endswith("@4096")) | .reason' | grep -q "4096 does not divide"
	expect 0 recommend --sector-size 2048 "$loop"
	is "$(json .choice.sector_size)" 2048
}

@test "cryptsetup_argv run as it stands makes the header that format --auto makes" {
	image 48M
	expect 0 recommend --save saved "$loop"
	mapfile -t argv < <(json '.cryptsetup_argv[]')
	is "${argv[-1]}" "$loop"
	"${argv[@]}" --batch-mode --key-file key
	fields "$loop" >by-hand
	wipefs -q -a "$loop"
	dd if=/dev/zero of="$loop" bs=1M count=17 conv=fsync status=none
	words=("${cheap[@]}")
	! fips || words=(--pbkdf-force-iterations 1000)
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --from saved "${words[@]}" </dev/null
	fields "$loop" >by-format
	diff by-hand by-format
	[ "$(jq '.keyslots | length' by-format)" -eq 1 ]
}

@test "the disk's own speed: measured by reading alone; a disk that cannot be read has none, and is no error" {
	image 48M
	dd if=/dev/urandom of="$loop" bs=1M count=48 conv=fsync status=none
	remember "$loop"
	expect 0 recommend "$loop"
	untouched "$loop"
	json .device_speed.from | grep -Eqx 'measured|failed'
	json '.device_speed | .bytes_read // 0' | { read -r n && [ "$n" -le $((256 << 20)) ]; }
	mapping lab-bad "0 131072 error"
	expect 0 recommend /dev/mapper/lab-bad
	is "$(json '.device_speed | "\(.from) \(.bytes_per_second)"')" "failed null"
	json .device_speed.reason | grep -q "Input/output error"
}

@test "discards: in the header, in crypttab and in the mapping when asked for" {
	image 48M
	expect 0 recommend "$loop"
	is "$(json '[.flags[] | select(. == "allow-discards")] | length')" 0
	words=("${cheap[@]}")
	! fips || words=(--pbkdf-force-iterations 1000)
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --time 1 --allow-discards "${words[@]}" </dev/null
	json .plan.crypttab | grep -q 'luks,.*discard\|luks,discard'
	cryptsetup luksDump "$loop" | grep -q 'Flags:.*allow-discards'
	cryptsetup open --key-file key "$loop" lab-discards
	later cryptsetup close lab-discards
	dmsetup table lab-discards | grep -q allow_discards
}

@test "the regret of the choice can be had, held against a longer measurement" {
	# Shown, not asserted: rates under emulation, or beside other guests, mean nothing.
	expect 0 "$DMCT_SRC/scripts/bench-regret" --time 6 --limit 1000000
	grep -Eq '^regret [0-9.]+ %$' <<<"$output"
	printf '# %s\n' "${lines[@]}" >&3
}
