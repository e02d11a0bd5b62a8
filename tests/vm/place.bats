#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format on block devices: where data and header go, and that cryptsetup, blkid, wipefs and lsblk agree with the report.

# shellcheck disable=SC2154 # output, stderr and status are bats's
load ../lib/common
load ../lib/agree
load guest

setup_file() {
	saved
}

# makes DEVICE WORDS...: formats it so, over whatever is there.
makes() {
	local costs=(--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1)
	[[ "$*" != *luks1* ]] || costs=(--pbkdf pbkdf2 --pbkdf-force-iterations 1000)
	expect 0 "$DMCT" format "$1" --yes --overwrite --key-file key --json --from "$BATS_FILE_TMPDIR/saved" "${@:2}" "${costs[@]}" </dev/null
}

@test "after each format, with a header on a device and with integrity too, all say the same; it was used through dm-crypt" {
	image 20M
	place=$loop
	image 40M
	while read -r line; do
		[[ $line != *'header head'* ]] || wipefs -qa "$place"
		read -ra words <<<"${line/header head/header $place}"
		makes "$loop" "${words[@]}" || return
		is "$(json '[.written, .verified, .mapped] | tostring')" '[true,true,true]' "$line" || return
		case $line in
		*--header*) agree "$loop" "$place" || { echo "after: $line"; return 1; } ;;
		*) agree "$loop" || { echo "after: $line"; return 1; } ;;
		esac
	done < <(
		agree_formats
		echo "--cipher aes-xts-plain64/512+hmac-sha256@4096 --label tags"
	)
}

@test "over LVM, a RAID member and a partitioned disk, header here or elsewhere: nothing old is found" {
	image 20M
	place=$loop
	for what in lvm md gpt; do
		for header in "" "$place"; do
			image 40M
			wipefs -qa "$place"
			case $what in
			lvm) lvm pvcreate -q -y "$loop" ;;
			md) mdadm --create --quiet --run --metadata=1.0 --level=1 --raid-devices=2 --force /dev/md7 "$loop" missing
				mdadm --stop --quiet /dev/md7 ;;
			gpt)
				printf 'label: gpt\n1MiB,10MiB\n20MiB,\n' | sfdisk -q "$loop"
				mke2fs -q -F -t ext4 -E offset=20971520 "$loop" 10M ;;
			esac
			[ "$(wipefs -n "$loop" | wc -l)" -gt 1 ] || { echo "no $what was made"; return 1; }
			makes "$loop" --auto ${header:+--header "$header"} && agree "$loop" ${header:+"$header"} || { echo "over $what, header: $header"; return 1; }
			losetup -d "$loop"
			rm -f image-40M
		done
	done
}

@test "header and data on two partitions of one disk, with one lock; the same device, a part of it and its disk are refused" {
	image 64M
	losetup -d "$loop"
	things=()
	loop=$(losetup -Pf --show image-64M)
	later losetup -d "$loop"
	printf 'label: gpt\n1MiB,20MiB\n24MiB,\n' | sfdisk -q "$loop"
	partx -u "$loop" 2>/dev/null || true
	[ -b "${loop}p1" ] || for n in 1 2; do
		IFS=: read -r major minor <"/sys/class/block/${loop#/dev/}p$n/dev"
		mknod "${loop}p$n" b "$major" "$minor"
	done
	makes "${loop}p2" --auto --header "${loop}p1"
	is "$(json '[.verified, .mapped, .header.kind] | join(" ")')" "true true partition"
	agree "${loop}p2" "${loop}p1"
	cryptsetup open --key-file key --header "${loop}p1" "${loop}p2" lab-two
	# In use, header or data.
	expect 5 "$DMCT" format "${loop}p2" --auto --yes --overwrite --key-file key --from "$BATS_FILE_TMPDIR/saved" </dev/null
	cryptsetup close lab-two
	# The whole disk and a partition of it.
	for pair in "$loop ${loop}p1" "${loop}p1 $loop"; do
		read -r data header <<<"$pair"
		expect 5 "$DMCT" format "$data" --auto --yes --overwrite --key-file key --header "$header" --from "$BATS_FILE_TMPDIR/saved" </dev/null
	done
	cryptsetup open --test-passphrase --key-file key --header "${loop}p1" "${loop}p2"
	image 24M
	for pair in "$loop $loop" "$loop image-24M" "image-24M $loop"; do
		read -r data header <<<"$pair"
		before=$(sha256sum <"$loop")
		run "$DMCT" format "$data" --auto --yes --overwrite --key-file key --header "$header" --from "$BATS_FILE_TMPDIR/saved" </dev/null
		[ "$status" -eq 1 ] || [ "$status" -eq 5 ]
		is "$(sha256sum <"$loop")" "$before" "$pair"
	done
	# Too small for a header.
	image 8M
	small=$loop
	image 30M
	expect 4 "$DMCT" format "$loop" --auto --yes --key-file key --header "$small" --from "$BATS_FILE_TMPDIR/saved" </dev/null
	says 'too small: it has 8388608 bytes, and the header takes 16777216'
}
