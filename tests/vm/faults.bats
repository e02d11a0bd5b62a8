#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks that fail, lie, or take their time: format never says that it is done when it is not, and takes back what it can.

load ../lib/common
load guest

setup_file() {
	saved
	# What was there before.
	head -c 17M /dev/urandom >"$BATS_FILE_TMPDIR/old"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'a key\n' >key
	things=()
	spare=$(disk spare)
	size=$(sectors "$spare")
	dd if="$BATS_FILE_TMPDIR/old" of="$spare" bs=1M conv=fsync status=none
}

# from SECTOR TARGET: the mapping lab-bad, good up to there, then of that target.
from() {
	dmsetup create lab-bad <<-END
		0 $1 linear $spare 0
		$1 $((size - $1)) $2
	END
	later dmsetup remove --retry lab-bad
}

# fails STATUS PATTERN: formatting lab-bad ends so and says so.
fails() {
	expect "$1" format /dev/mapper/lab-bad --overwrite || return
	says "$2" || return
	is "$(json '.verified == true')" false verified
}

@test "writes fail from some sector on: it is no volume, and no header or mark of one is written" {
	local good
	remember "$spare"
	for good in 8 1024 20480; do
		from $good "flakey $spare $good 0 1 1 error_writes"
		fails 8 'failed \(the keyslot area\).*holds no volume that opens'
		release
		untouched "$spare"
	done
}

@test "neither reads nor writes go from some sector on: refused before any write" {
	local good
	remember "$spare"
	for good in 64 20480; do
		from $good error
		fails 6 "cannot be read at byte $((good * 512)).*Nothing was written"
		release
		untouched "$spare"
	done
	mapping lab-bad "0 $size error"
	fails 6 'cannot be read|Nothing was written'
}

@test "writes beyond the header fail, and so does the flush: 8, before any header is written" {
	from 32768 "flakey $spare 32768 0 1 1 error_writes"
	fails 8 'failed \(the keyslot area\): Input/output error.*holds no volume that opens'
	release
	run ! cryptsetup isLuks "$spare"
}

@test "an old mark at the end that cannot be overwritten: 8, and nothing else is written" {
	mdadm --quiet --create /dev/md7 --metadata=1.0 --level=1 --raid-devices=2 --force --run "$spare" missing </dev/null
	mdadm --quiet --stop /dev/md7
	from $((size - 2048)) "flakey $spare $((size - 2048)) 0 1 1 error_writes"
	remember "$spare"
	fails 8 'failed \(the marks of the old contents\): Input/output error.*holds no volume that opens'
	release
	untouched "$spare"
	mdadm --examine "$spare" >examined
	mdadm --quiet --zero-superblock "$spare"
}

@test "a disk that confirms writes and drops them: reading back finds out, 8" {
	mapping lab-bad "0 $size flakey $spare 0 0 1 1 drop_writes"
	fails 8 'was formatted, but the check failed'
	is "$(json '[.written, .verified] | tostring')" '[true,false]'
	run ! cryptsetup open --test-passphrase --key-file key "$spare"
}

@test "a slow disk, 10 ms for each write: formatted, verified, used" {
	mapping lab-slow "0 $size delay $spare 0 0 $spare 0 10"
	expect 0 format /dev/mapper/lab-slow --overwrite
	is "$(json .verified)" true
	used /dev/mapper/lab-slow lab-used
}
