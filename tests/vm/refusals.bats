#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format on what must not be formatted: the right exit status, and the first and last 32 MiB stay byte-identical.

load ../lib/common
load guest

setup_file() {
	saved
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'a key\n' >key
	things=()
	spare=$(disk spare)
}

teardown() {
	release
	tidy
	wipefs -q -a "$spare"
}

lvm() {
	LVM_SUPPRESS_FD_WARNINGS=1 command lvm "$@" --config 'activation { udev_sync=0 udev_rules=0 }
		devices { obtain_device_list_from_udev=0 external_device_info_source="none" }'
}

@test "read-only disk: 4" {
	refused 4 "read-only" "$(disk readonly)" --overwrite
}

@test "host-managed zoned disk: 4" {
	local zoned
	modprobe scsi_debug zbc=managed zone_size_mb=16 zone_nr_conv=2 dev_size_mb=128 sector_size=512
	later modprobe -r scsi_debug
	for zoned in /sys/block/sd*/queue/zoned; do
		[ "$(<"$zoned")" = host-managed ] && break
	done
	is "$(<"$zoned")" host-managed
	zoned=${zoned#/sys/block/}
	refused 4 "host-managed zoned" "/dev/${zoned%%/*}" --overwrite
}

@test "partitions of it mounted: 5, the disk and that partition; a neighbour in use is named" {
	printf 'label: gpt\nsize=66M\nsize=66M\n' | sfdisk -q "$spare"
	partx -u "$spare"
	later sfdisk -q --delete "$spare"
	mke2fs -q -F -t ext2 "${spare}2"
	mkdir mnt
	# A file system mounted for writing is written to by the kernel, some time.
	mount -o ro "${spare}2" mnt
	later umount mnt
	sync
	refused 5 "in use: ${spare#/dev/}2: mount .*mnt" "$spare" --overwrite
	refused 5 "in use: mount .*mnt" "${spare}2" --overwrite
	umount mnt
	# No longer used, but still something.
	refused 6 "gpt.*ext2" "$spare"
}

@test "the whole disk mounted, also in another namespace only: 5" {
	mke2fs -q -F -t ext2 "$spare"
	mkdir mnt
	# A file system mounted for writing is written to by the kernel, some time.
	mount -o ro "$spare" mnt
	later umount mnt
	refused 5 "in use: mount .*mnt" "$spare" --overwrite
	umount mnt
	unshare -m --propagation private sh -c "mount -o ro $spare mnt && touch mounted && exec sleep 60" 3>&- &
	later kill $!
	until [ -e mounted ]; do sleep 0.1; done
	refused 5 "not visible here" "$spare" --overwrite
}

@test "LVM: 5 with a volume active on it, 6 without" {
	lvm pvcreate -q -q "$spare"
	lvm vgcreate -q -q labvg "$spare"
	later lvm vgremove -f -q -q labvg
	lvm lvcreate -q -q -n lv -L 8M -Wn -Zn labvg
	refused 5 "in use: .*labvg-lv" "$spare" --overwrite
	lvm vgchange -q -q -an labvg
	refused 6 "LVM2_member" "$spare"
}

@test "MD with metadata 1.0, which is at its end: 5 while it runs, 6 afterwards, and gone once overwritten" {
	mdadm --quiet --create /dev/md7 --metadata=1.0 --level=1 --raid-devices=2 --force --run "$spare" missing </dev/null
	later mdadm --quiet --stop /dev/md7
	refused 5 "in use: .*md7" "$spare" --overwrite
	mdadm --quiet --stop /dev/md7
	refused 6 "linux_raid_member" "$spare"
	expect 0 format "$spare" --overwrite
	is "$(wipefs -n -i -O TYPE "$spare" | sort -u)" crypto_LUKS
	run ! mdadm --examine "$spare"
}

@test "swap: 5 while it is on, 6 afterwards" {
	mkswap -q "$spare"
	swapon "$spare"
	refused 5 "in use: swap" "$spare" --overwrite
	swapoff "$spare"
	refused 6 "swap" "$spare"
}

@test "bcache, cached and caching: 5 while it runs, by its name; 6 afterwards" {
	modprobe bcache
	image 24M
	backing=$loop
	/lab/tool bcache "$backing" backing
	echo "$backing" >/sys/fs/bcache/register
	later sh -c "echo 1 >/sys/block/${backing#/dev/}/bcache/stop"
	refused 5 "in use: holder bcache, backing device of bcache" "$backing" --overwrite
	image 40M
	/lab/tool bcache "$loop" cache
	echo "$loop" >/sys/fs/bcache/register
	set=$(basename "$(readlink "/sys/block/${loop#/dev/}/bcache/set")")
	later sh -c "echo 1 >/sys/fs/bcache/$set/unregister"
	refused 5 "in use: holder bcache, cache of the set $set" "$loop" --overwrite
	is "$("$DMCT" probe --json "$loop" | jq -r '.device.users[0] | .kind')" holder
	echo 1 >"/sys/block/${backing#/dev/}/bcache/stop"
	echo 1 >"/sys/fs/bcache/$set/unregister"
	while [ -e "/sys/block/${backing#/dev/}/bcache" ] || [ -e "/sys/block/${loop#/dev/}/bcache" ]; do sleep 0.1; done
	refused 6 bcache "$backing"
	refused 6 bcache "$loop"
}

@test "an active mapping on it: 5, of whatever target" {
	mapping lab-linear "0 2048 linear $spare 4096"
	refused 5 "in use: .*lab-linear" "$spare" --overwrite
	release
	expect 0 format "$spare" --overwrite
	cryptsetup open --key-file key "$spare" lab-open
	later cryptsetup close lab-open
	refused 5 "in use: .*lab-open" "$spare" --overwrite
	cryptsetup close lab-open
	refused 6 "crypto_LUKS" "$spare"
}

@test "LVM, MD and swap in its partitions: 5 for the disk and for the partition, and the neighbour's name is there" {
	printf 'label: gpt\nsize=33M\nsize=33M\nsize=33M\n' | sfdisk -q "$spare"
	partx -u "$spare"
	later sfdisk -q --delete "$spare"
	lvm pvcreate -q -q "${spare}1"
	lvm vgcreate -q -q labvg "${spare}1"
	later lvm vgremove -f -q -q labvg
	lvm lvcreate -q -q -n lv -L 8M -Wn -Zn labvg
	refused 5 "in use: ${spare#/dev/}1: .*labvg-lv" "$spare" --overwrite
	refused 5 "in use: .*labvg-lv" "${spare}1" --overwrite
	release
	printf 'label: gpt\nsize=33M\nsize=33M\nsize=33M\n' | sfdisk -q "$spare"
	partx -u "$spare"
	later sfdisk -q --delete "$spare"
	mdadm --quiet --create /dev/md7 --metadata=1.0 --level=1 --raid-devices=2 --force --run "${spare}2" missing </dev/null
	later mdadm --quiet --stop /dev/md7
	refused 5 "in use: ${spare#/dev/}2: .*md7" "$spare" --overwrite
	refused 5 "in use: .*md7" "${spare}2" --overwrite
	mkswap -q "${spare}3"
	swapon "${spare}3"
	later swapoff "${spare}3"
	refused 5 "${spare#/dev/}3: swap" "$spare" --overwrite
	refused 5 "in use: swap" "${spare}3" --overwrite
	# The one that nobody uses may be had; its neighbours stay.
	refused 6 LVM2_member "${spare}1"
	expect 0 format "${spare}1" --overwrite
	is "$(wipefs -n -i -O TYPE "${spare}1" | sort -u)" crypto_LUKS
	is "$(blkid -p -o value -s TYPE "${spare}2")" linux_raid_member
}

@test "too small for a header: 4" {
	image 8M
	refused 4 "8388608|8 MiB" "$loop" --overwrite
}
