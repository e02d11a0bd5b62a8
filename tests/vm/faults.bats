#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Disks that fail, lie, or take their time: format never says that it is done when it is not.

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
	size=$(sectors "$spare")
	wipefs -q -a "$spare"
	dd if=/dev/zero of="$spare" bs=1M count=17 conv=fsync status=none
}

# failed: $output is an error with a sentence, and there is nothing that passes for a volume.
failed() {
	[ "$(json '.error.message | length')" -gt 0 ]
	[ "$(json '.written')" != true ]
	run ! cryptsetup open --test-passphrase --key-file key "$1"
}

@test "writes fail for the last sectors only"  {
	dmsetup create lab-bad <<-END
		0 $((size - 2048)) linear $spare 0
		$((size - 2048)) 2048 flakey $spare $((size - 2048)) 0 1 1 error_writes
	END
	later dmsetup remove --retry lab-bad
	run --separate-stderr format /dev/mapper/lab-bad --overwrite
	echo "# last sectors: $status, $(json .error.message)" >&3
}

@test "a disk that drops writes" {
	mapping lab-bad "0 $size flakey $spare 0 0 1 1 drop_writes"
	run --separate-stderr format /dev/mapper/lab-bad --overwrite
	echo "# drop: $status, $(json .error.message)" >&3
	failed "$spare"
}

@test "a disk whose every read fails" {
	mapping lab-bad "0 $size error"
	run --separate-stderr format /dev/mapper/lab-bad --overwrite
	echo "# error: $status, $(json .error.message)" >&3
	failed "$spare"
}

@test "a slow disk: 30 ms a write" {
	modprobe dm-delay
	mapping lab-slow "0 $size delay $spare 0 0 $spare 0 30"
	begun=$SECONDS
	expect 0 format /dev/mapper/lab-slow --overwrite
	echo "# took $((SECONDS - begun)) s" >&3
	used /dev/mapper/lab-slow lab-used
}

@test "writes fail from some sector on: an error, never a volume" {
	local good
	for good in 8 64 1024 20480; do
		dd if=/dev/zero of="$spare" bs=1M count=17 conv=fsync status=none
		dmsetup create lab-bad <<-END
			0 $good linear $spare 0
			$good $((size - good)) flakey $spare $good 0 1 1 error_writes
		END
		later dmsetup remove --retry lab-bad
		run --separate-stderr format /dev/mapper/lab-bad --overwrite
		echo "# after $good sectors: $status, $(json .error.message)" >&3
		[ "$status" -ne 0 ] && [ "$status" -lt 128 ]
		failed "$spare"
		release
	done
}
