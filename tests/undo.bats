#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# --undo-file and undo: what was overwritten comes back to the bit; what is not as the format left it is named.

load lib/common
load lib/format

# undo ARGUMENT...: of disk.img, from the file `undo`.
undo() {
	"$DMCT" undo undo disk.img "$@" </dev/null
}

# formatted: a format with an undo file, of what is on disk.img; before.img is what it was.
formatted() {
	rm -f undo
	cp --sparse=always disk.img before.img
	expect 0 format disk.img --auto --yes --overwrite --key-file key --undo-file undo "$@"
}

@test "what was on it comes back, to the bit, and is usable" {
	truncate -s 40M disk.img
	mkfs.ext4 -q -F -L mine disk.img
	printf 'text' >file
	debugfs -w -R 'write file file' disk.img 2>/dev/null
	formatted --json
	is "$(json .undo_file)" undo
	valid format
	is "$(stat -c %a undo)" 600 mode
	opens disk.img key
	expect 0 undo --dry-run --json
	valid undo
	is "$(json '[.dry_run, .written, .verified] | tostring')" '[true,false,false]'
	is "$(json '.differences | length')" 0
	is "$(json '.sectors | .before + .blank + .after + .other - .total')" 0
	is "$(json .sectors.other)" 0
	[ "$(json .sectors.after)" -gt 30000 ]
	opens disk.img key
	cp --sparse=always disk.img new.img
	expect 8 onto_full undo --yes
	says "^dmcrypt-tune: disk.img has back what the format overwrote, but the report could not be written: No space left on device\.$"
	cmp disk.img before.img
	cp --sparse=always new.img disk.img
	expect 0 undo --yes --json
	valid undo
	is "$(json '[.dry_run, .written, .verified] | tostring')" '[false,true,true]'
	is "$(json '.sectors | .before - .total')" 0
	cmp disk.img before.img
	e2fsck -fn disk.img
	is "$(debugfs -R 'cat file' disk.img 2>/dev/null)" text
	expect 0 undo
	[[ $output == *"nothing to undo"* ]]
}

@test "a GPT disk with an old volume in a partition: marks go everywhere, and come back" {
	need sfdisk fdisk
	truncate -s 0 disk.img
	truncate -s 64M disk.img
	printf 'label: gpt\nsize=20M\nsize=24M\n' | sfdisk -q disk.img
	truncate -s 20M inner
	printf old >old-key
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 inner old-key
	dd if=inner of=disk.img bs=1M seek=21 conv=notrunc status=none
	sfdisk -d disk.img >table
	formatted
	is "$(wipefs -n -i -O TYPE disk.img | sort -u | tr -d ' ')" crypto_LUKS "all that wipefs finds"
	# The same partitions made again: nothing of old comes back.
	cp --sparse=always disk.img again.img
	sfdisk -q --wipe never --wipe-partitions never again.img <table
	is "$(blkid -p -O $((21 << 20)) -S $((20 << 20)) again.img)" "" "what is in partition 2"
	expect 0 undo --yes
	cmp disk.img before.img
	dd if=disk.img of=inner bs=1M skip=21 count=20 status=none
	opens inner old-key
}

@test "something else was written since: named, 6; --force puts back all the same" {
	head -c 17M /dev/urandom >disk.img
	formatted
	cp disk.img new.img
	printf 'second' >second
	cryptsetup luksAddKey -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file key disk.img second
	expect 6 undo --yes
	says "sectors that the format wrote hold something else now, the first at byte.*--force"
	opens disk.img second
	cp new.img disk.img
	printf x | dd of=disk.img bs=1 seek=$(((16 << 20) + 5000)) conv=notrunc status=none
	expect 6 undo --yes
	says "the new volume has been used: .*at byte $(((16 << 20) + 4096))"
	expect 0 undo --yes --force --json
	is "$(json '.differences | length')" 1
	cmp -n $((16 << 20)) disk.img before.img
}

@test "another device: its size, its serial number; one too small even with --force" {
	local loop
	formatted
	truncate -s 18M disk.img
	expect 6 undo --yes
	says "the size is not that of the device"
	truncate -s 8M disk.img
	expect 4 undo --yes --force
	says "has 8388608 bytes, and what is to be put back reaches to byte 16777216"
	cp before.img disk.img
	cp before.img other.img
	attach other.img
	rm undo
	expect 0 format "$loop" --auto --yes --key-file key --undo-file undo
	expect 6 "$DMCT" undo undo disk.img --yes
	says "the kind is not that"
	expect 0 "$DMCT" undo undo "$loop" --yes
	cmp other.img before.img
}

@test "files that are no undo files, damaged, cut short, of a later version: 1, nothing written" {
	local at
	formatted
	cp disk.img new.img
	cp undo good
	: >undo
	expect 1 undo --yes
	says "is no undo file"
	head -c 20000 /dev/zero >undo
	expect 1 undo --yes
	says "cut short: nothing was written to the device"
	expect 1 "$DMCT" undo key disk.img --yes
	expect 1 "$DMCT" undo . disk.img --yes
	expect 1 "$DMCT" undo /dev/null disk.img --yes
	expect 1 "$DMCT" undo none disk.img --yes
	says "none: No such file"
	head -c -1 good >undo
	expect 1 undo --yes
	says "not as long as it should be"
	for at in 24 100 300 4090 5000 200000 700000 1000000; do
		cp good undo
		printf '\377' | dd of=undo bs=1 seek=$at conv=notrunc status=none
		expect 1 undo --yes
		says "another version|damaged"
	done
	cmp disk.img new.img
	cp good undo
	expect 0 undo --yes
	cmp disk.img before.img
}

@test "an undo file that cannot be: said before anything is asked, nothing written" {
	: >there
	ln -s nowhere dangling
	refused 1 '"-" is no file' disk.img --auto --yes --key-file key --undo-file -
	[ ! -e ./- ]
	refused 1 "there exists already" disk.img --auto --yes --key-file key --undo-file there
	refused 1 "dangling exists already" disk.img --auto --yes --key-file key --undo-file dangling
	refused 1 "disk.img exists already" disk.img --auto --yes --key-file key --undo-file disk.img
	refused 1 "cannot be made: No such file" disk.img --auto --yes --key-file key --undo-file none/file
	refused 1 "cannot be made: No such file" disk.img --auto --dry-run --key-file key --undo-file none/file
	# That says of itself that it can be written to, to root.
	if [ "$(id -u)" -eq 0 ]; then
		refused 1 "cannot be made: No such file" disk.img --auto --yes --key-file key --undo-file /proc/undo
		refused 1 "cannot be made: No such file" disk.img --auto --dry-run --key-file key --undo-file /proc/undo
	fi
	is "$(find . -name '.dmcrypt-tune-*' | wc -l)" 0 "files left"
	[ ! -e nowhere ]
	expect 0 format disk.img --auto --dry-run --key-file key --undo-file undo
	[ ! -e undo ]
	head -c 17M /dev/urandom >disk.img
	mounted small -t tmpfs -o size=4M tmpfs
	for mode in --yes --dry-run; do
		refused 6 "the file system of small/undo has no room for the 1[67][0-9]{6} bytes" disk.img --auto $mode --overwrite \
			--key-file key --undo-file small/undo
	done
	[ ! -e small/undo ]
	says "small/undo is kept in memory"
}

@test "an undo file that is named as the device as well, by whatever name: 1, --force or not; it stays as it is" {
	formatted
	cp undo kept
	ln undo hard
	ln -s undo soft
	for device in undo hard soft; do
		expect 1 "$DMCT" undo undo "$device" --yes --force
		says "undo is $device itself"
		cmp undo kept
	done
}

@test "undo asks, and takes nothing for YES; in use is refused" {
	local loop
	formatted
	cp disk.img new.img
	expect 6 undo
	says "no terminal to ask on"
	attach disk.img
	expect 5 undo --yes --force
	says "in use: loop"
	cmp disk.img new.img
	expect 1 undo --sysroot /
}
