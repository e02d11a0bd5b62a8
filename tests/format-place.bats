#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format: where data and header go, by --offset and --header; and that cryptsetup, blkid and wipefs agree with the report.

# shellcheck disable=SC2154 # output, stderr and status are bats's
load lib/common
load lib/format

# place: where the last report has the data, and whether it was written and verified.
place() {
	json '"\(.plan.data_offset) \(.written) \(.verified)"'
}

@test "--offset: sectors as cryptsetup counts them, or a size; the header's room and the command line follow" {
	local offset bytes keyslots
	truncate -s 100M disk.img
	while read -r offset bytes keyslots; do
		expect 0 format disk.img --auto --yes --overwrite --key-file key --json --offset "$offset"
		valid format
		is "$(place)" "$bytes true true" "--offset $offset"
		is "$(header '"\(.segments["0"].offset) \(.config.keyslots_size)"')" "$bytes $keyslots" "--offset $offset"
		opens disk.img key
		# cryptsetup makes the same of the command line that the plan has.
		json '.plan.cryptsetup_argv | .[0:-1] | map(@sh) | join(" ")' >argv
		truncate -s 100M other.img
		bash -c "$(<argv) -q other.img key"
		is "$(header '"\(.segments["0"].offset) \(.config.keyslots_size)"' other.img)" "$bytes $keyslots" "cryptsetup --offset $offset"
		rm other.img
	done <<-END
		568 290816 258048
		284K 290816 258048
		4096 2097152 2064384
		1.5M 1572864 1540096
		32MiB 33554432 33521664
		131072 67108864 16744448
	END
	# Sparse, and larger than any memory: what lies before the data is not blanked, in memory neither.
	truncate -s 3T disk.img || return 0
	expect 0 format disk.img --auto --yes --overwrite --key-file key --json --offset 2048G
	is "$(place)" "2199023255552 true true"
	opens disk.img key
	[ "$(du -k disk.img | cut -f1)" -lt 100000 ]
}

@test "--offset: what is refused, and why" {
	local word
	refused 1 "1 is byte 512, which is no multiple of 4096" disk.img --auto --yes --key-file key --offset 1
	refused 1 "5K is byte 5120, which is no multiple of 4096" disk.img --auto --yes --key-file key --offset 5K
	for word in x -1 1T 4096.. 0x1000 100000000000000000000 9007199254740992K; do
		refused 1 "neither a number of 512-byte sectors nor a size" disk.img --auto --yes --key-file key --offset="$word"
	done
	refused 6 "0 is byte 0, and the header of a LUKS2 volume with aes-xts-plain64/512@.* takes 290816 bytes at least \(568 sectors\)" \
		disk.img --auto --yes --key-file key --offset 0
	refused 6 "takes 290816 bytes" disk.img --auto --yes --key-file key --offset 280K
	refused 4 "17825792 bytes, and the data are to begin at byte 17825792; at least 17826304" disk.img --auto --yes --key-file key --offset 17M
	expect 0 format disk.img --auto --yes --key-file key --offset 16M
	is "$(header '.segments["0"].offset')" 16777216
}

@test "LUKS1 on a small device: the sentence is of LUKS1, and --offset makes room" {
	truncate -s 3M disk.img
	expect 4 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key "${PBKDF2[@]}" </dev/null
	says "the data of a LUKS1 volume begin at byte 16777216 unless --offset says otherwise"
	expect 6 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key --offset 1M "${PBKDF2[@]}" </dev/null
	says "the header of a LUKS1 volume with aes-xts-plain64/512@512 takes 2068480 bytes"
	expect 0 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key --offset 2M --json "${PBKDF2[@]}" </dev/null
	is "$(place)" "2097152 true true"
	is "$(cryptsetup luksDump disk.img | awk '/^Payload offset:/ { print $3 }')" 4096
	opens disk.img key
	truncate -s 200M disk.img
	expect 0 "$DMCT" format disk.img --auto --type luks1 --yes --overwrite --key-file key --offset 100M --json "${PBKDF2[@]}" </dev/null
	is "$(cryptsetup luksDump disk.img | awk '/^Payload offset:/ { print $3 }')" 204800
	opens disk.img key
}
