#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A power cut after each write of a format that came to the disk, as dm-log-writes saw them.

load ../lib/common
load guest

setup_file() {
	saved
}

# now: what the file `disk` is, made from the log up to some write: "old" (that volume opens, and but for a few bytes of
# marks it is as it was), "new", or "nothing".
now() {
	# A copy of it is asked: cryptsetup mends a header as it opens it.
	cp --sparse=always disk copy
	if cryptsetup open --test-passphrase --key-file key copy 2>/dev/null; then
		! cryptsetup open --test-passphrase --key-file old-key copy 2>/dev/null && echo new
	elif cryptsetup open --test-passphrase --key-file old-key copy 2>/dev/null; then
		[ "$(cmp -l disk before | wc -l)" -lt 64 ] && echo old
	else
		echo nothing
	fi
}

@test "every write that came to the disk (dm-log-writes), one after the other: the old volume, nothing, or the new one" {
	local spare size entries at=1 i sector count flags what seen=
	spare=$(disk spare)
	size=$(sectors "$spare")
	printf 'an old key\n' >old-key
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$spare" old-key
	dd if="$spare" of=before bs=1M count=17 status=none
	truncate -s 64M log
	loop=$(losetup -f --show log)
	mapping lab-log "0 $size log-writes $spare $loop"
	expect 0 format /dev/mapper/lab-log --overwrite
	release
	# The log: a first sector, then for each write one that says what it is, and its data (Linux
	# admin-guide/device-mapper/log-writes).
	read -r _ _ entries < <(od -An -t u8 -N 24 -w24 "$loop")
	[ "$entries" -ge 20 ]
	cp before disk
	for ((i = 0; i < entries; i++)); do
		read -r sector count flags < <(od -An -t u8 -j $((at++ * 512)) -N 24 -w24 "$loop")
		if [ $((flags & 12)) -eq 0 ] && [ "$count" -gt 0 ]; then
			dd if="$loop" of=disk bs=512 skip=$at seek="$sector" count="$count" conv=notrunc status=none
			at=$((at + count))
		fi
		[ $((i % 10)) -eq 0 ] || [ $((flags & 3)) -ne 0 ] || [ $((entries - i)) -lt 12 ] || continue
		what=$(now)
		[[ $what =~ ^(old|nothing|new)$ ]] || { echo "after write $i of $entries: $what"; return 1; }
		seen+=" $what"
	done
	losetup -d "$loop"
	[[ $seen =~ nothing.*new ]] || { echo "$seen"; return 1; }
	[[ ! $seen =~ new.*(old|nothing) ]] || { echo "$seen"; return 1; }
}
