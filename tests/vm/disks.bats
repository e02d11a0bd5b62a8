#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format --auto on disks of many kinds: opened with cryptsetup, used, and what was planned.

load ../lib/common
load guest

setup_file() {
	saved
}

# formatted DISK [ARGUMENT...]: format works on it, with a plan that the header and the mapping agree with, and it is of use.
formatted() {
	local node
	node=$(disk "$1") || return
	expect 0 format "$node" "${@:2}" || return
	is "$(json '[.written, .verified, .mapped] | tostring')" '[true,true,true]' || return
	used "$node" "lab-$1"
}

# finds ID...: what probe says of a disk, among other things.
finds() {
	local id
	expect 0 "$DMCT" probe --json "$(disk "$1")" || return
	for id in "${@:2}"; do
		json '.findings[].id' | grep -qx -- "$id" || {
			echo "no $id in: $(json '[.findings[].id] | join(" ")')"
			return 1
		}
	done
}

@test "blocks of 512 bytes" {
	finds d512n
	is "$(json '.device | "\(.logical_block) \(.physical_block)"')" "512 512"
	formatted d512n
	# Over what is there now: only when told so.
	expect 6 format "$(disk d512n)"
	formatted d512n --overwrite --sector-size 512
	is "$(json .plan.choice.sector_size)" 512
}

@test "blocks of 4096 bytes that take 512 (512e)" {
	finds d512e 512e
	formatted d512e --sector-size 4096
	is "$(json .plan.choice.sector_size)" 4096
}

@test "blocks of 4096 bytes (4Kn): sectors of that size; of 512 only when asked for" {
	finds d4kn
	is "$(json '.device | "\(.logical_block) \(.physical_block)"')" "4096 4096"
	formatted d4kn
	is "$(json .plan.choice.sector_size)" 4096
	formatted d4kn --overwrite --sector-size 512
	is "$(json .plan.choice.sector_size)" 512
}

@test "a size that 4096 does not divide: sectors of 512 bytes, to the last of them" {
	finds odd size-not-4k
	formatted odd
	is "$(json .plan.choice.sector_size)" 512
}

@test "an absurd best size of a request: said, and not aligned to" {
	finds optio optimal-io-absurd
	formatted optio
	is "$(json .plan.data_offset)" 16777216
}

@test "a rotating disk" {
	finds rotates
	is "$(json .device.rotational)" true
	formatted rotates
}

@test "flash" {
	finds flash
	is "$(json .device.rotational)" false
	formatted flash
}

@test "a partition that begins in the middle of a physical block: said, and sectors of 512 bytes" {
	local node
	node=$(disk d512e)
	printf 'label: dos\nstart=63,size=131072\n' | sfdisk -q --wipe always "$node"
	later wipefs -q -a "$node"
	partx -u "$node"
	expect 0 "$DMCT" probe --json "${node}1"
	json '.findings[].id' | grep -qx partition-misaligned
	# What an earlier test left on the disk is in there.
	expect 0 format "${node}1" --overwrite
	is "$(json .plan.choice.sector_size)" 512
	used "${node}1" lab-odd
	partx -d "$node"
}

@test "a disk with discard: works, and nothing of it is switched on silently" {
	finds trim
	[ "$(cat "/sys/block/$(basename "$(disk trim)")/queue/discard_max_bytes")" -gt 0 ]
	formatted trim
	is "$(json '.plan.flags | length')" 0 flags
	is "$(cryptsetup luksDump "$(disk trim)" | awk '$1 == "Flags:" { $1 = ""; print }')" " (no flags)"
}

@test "3 TiB: exact sizes, used to the last sector" {
	finds big
	is "$(json .device.size)" 3298534883328
	formatted big
}

@test "a partition, with a neighbour that stays as it is; then the other" {
	local spare
	spare=$(disk spare)
	printf 'label: gpt\nsize=66M\nsize=66M\n' | sfdisk -q "$spare"
	later wipefs -q -a "$spare"
	partx -u "$spare"
	wipefs -q -a "${spare}2"
	mke2fs -q -F -t ext4 "${spare}1"
	remember "${spare}1"
	expect 0 format "${spare}2"
	used "${spare}2" lab-part
	untouched "${spare}1"
	expect 6 format "${spare}1"
	says ext4
	expect 0 format "${spare}1" --overwrite
	used "${spare}1" lab-part
	is "$(blkid -p -o value -s TYPE "${spare}2")" crypto_LUKS
	is "$(wipefs -n -i -O TYPE "${spare}1" | sort -u)" crypto_LUKS
	sfdisk -q --delete "$spare"
}
