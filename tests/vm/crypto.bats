#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's own ciphers: measured through AF_ALG and checked; named by the driver that dm-crypt gets.

load ../lib/common
load guest

specs=(aes-xts-plain64/512 aes-cbc-essiv:sha256/256 xchacha12,aes-adiantum-plain64/256)

@test "bench --engine afalg: three specs at 512 to 4096, both directions, every output checked" {
	expect 0 "$DMCT" bench --json --engine afalg --sector-size 512,1024,2048,4096 --time 2 "${specs[@]}"
	# And one long message of each spec, for what dm-crypt may be expected to do.
	is "$(json '.results | length')" 30
	is "$(json '[.results[] | select(.checked == true and .median > 0 and .low <= .median and .median <= .high)] | length')" 30
	is "$(json '[.results[].spec | select(test("@"))] | unique | length')" 12
	is "$(json '[.results[] | select(.spec | test("@")) | .size] | unique | map(tostring) | join(" ")')" "512 1024 2048 4096"
	is "$(json '[.results[] | select(.spec | test("@") | not) | "\(.spec) \(.direction) \(.size)"] | sort | join(",")')" \
		"$(for s in "${specs[@]}"; do printf '%s decrypt 65536\n%s encrypt 65536\n' "$s" "$s"; done | sort | paste -sd ,)"
	is "$(json '[.results[] | select(.error != null)] | length')" 0
}

# references NAME: "driver references" of each entry of /proc/crypto with that name.
references() {
	awk -v want="$1" '$1 == "name" { name = $3 } $1 == "driver" { driver = $3 }
		$1 == "refcnt" && name == want { print driver, $3 }' /proc/crypto | sort
}

@test "probe names the driver that dm-crypt really gets: the one whose references a mapping raises" {
	local cipher name keys before probed
	mapping zero "0 32768 zero"
	expect 0 "$DMCT" probe --json
	probed=$output
	while read -r cipher name keys; do
		before=$(references "$name")
		mapping "lab" "0 32768 crypt $cipher $(head -c "$keys" /dev/urandom | od -An -v -t x1 | tr -d ' \n') 0 /dev/mapper/zero 0"
		output=$(comm -13 <(echo "$before") <(references "$name") | cut -d ' ' -f 1)
		is "$(jq -r --arg name "$name" '.kernel.ciphers[] | select(.name == $name) | .driver' <<<"$probed")" "$output" \
			"driver of $name"
		[ -n "$output" ]
		echo "# $name: $output" >&3
		dmsetup remove --retry lab
	done <<-'END'
		aes-xts-plain64 xts(aes) 64
		aes-cbc-essiv:sha256 essiv(cbc(aes),sha256) 32
		aes-cbc-plain64 cbc(aes) 32
		xchacha12,aes-adiantum-plain64 adiantum(xchacha12,aes) 32
		serpent-xts-plain64 xts(serpent) 64
	END
}

@test "cryptsetup benchmark beside bench: both have figures for the same cipher" {
	local peer
	peer=$(cryptsetup benchmark --cipher aes-xts --key-size 512 | awk '$1 == "aes-xts" { print $3, $5 }')
	[[ $peer =~ ^[0-9.]+\ [0-9.]+$ ]]
	expect 0 "$DMCT" bench --json --engine afalg --time 0.5 aes-xts-plain64/512@4096
	is "$(json '[.results[] | select(.checked and .median > 0)] | length')" 2
	echo "# aes-xts, encryption and decryption in MiB/s: cryptsetup $peer, of 64 KiB;" \
		"bench $(json '[.results[].median / 1048576 | floor] | join(" ")'), of 4 KiB" >&3
}

@test "recommend decides on what the kernel does, and cryptsetup takes its command line" {
	image 24M
	expect 0 "$DMCT" recommend --json --time 1 "$loop"
	is "$(json .choice.basis)" dm
	[ "$(json .choice.strength_bits)" -ge 256 ]
	mapfile -t argv < <(json '.cryptsetup_argv[]')
	is "${argv[0]}" cryptsetup
	cheap=()
	for word in "${argv[@]}"; do
		case ${before-} in
		--pbkdf-memory) word=32768 ;;
		--pbkdf-force-iterations) word=4 ;;
		esac
		before=$word
		cheap+=("$word")
	done
	"${cheap[@]}" --batch-mode --key-file key
	is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -r '.segments["0"] | "\(.encryption)@\(.sector_size)"')" \
		"$(json '"\(.choice.cipher)@\(.choice.sector_size)"')"
}
