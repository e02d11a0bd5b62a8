#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A format's writes as the block layer sees them, logged by dm-log-writes and done again one after the other on the disk
# as it was: after each of them the disk holds all that it held, or the new volume, or nothing that opens, inspect says
# which, and undo puts every byte back.

load ../lib/common
load guest

setup_file() {
	modprobe dm-log-writes
	saved
}

# logged OLD-IMAGE ARGUMENT...: formats that image's loop device ($loop) through a log ($log), with an undo file.
logged() {
	image 20M
	cp "$1" image-20M
	truncate -s 64M log.img
	log=$(losetup -f --show log.img)
	later losetup -d "$log"
	dmsetup create lab-disk --table "0 $(sectors "$loop") log-writes $loop $log"
	expect 0 "$DMCT" format /dev/mapper/lab-disk --auto --yes --overwrite --key-file key --json --undo-file undo --pbkdf pbkdf2 \
		--pbkdf-force-iterations 1000 --from "$BATS_FILE_TMPDIR/saved" "${@:2}" </dev/null || return
	new=$(json .uuid)
	dmsetup remove lab-disk
	/lab/tool log "$log" >entries
	cp image-20M formatted.img
	cp "$1" image-20M
	mapping lab-disk "0 $(sectors "$loop") linear $loop 0"
	disk=/dev/mapper/lab-disk
}

# opens KEYFILE: a copy of the disk does: cryptsetup mends at sight what is damaged.
opens() {
	cp image-20M try.img && cryptsetup open --test-passphrase --key-file "$1" try.img
}

# state: what inspect says of the disk, held against what opens it and what it holds.
state() {
	local uuid status=0
	uuid=$("$DMCT" inspect "$disk" --no-measure --json 2>/dev/null) || status=$?
	uuid=$(jq -r 'select(.header.loaded) | .header.uuid' <<<"$uuid")
	if [ -z "$uuid" ]; then
		[ $status -eq 4 ] || [ $status -eq 8 ] || { echo "inspect ends with $status"; return; }
		echo nothing
	elif [ "$uuid" = "$new" ]; then
		opens key && echo new
	elif [ "$uuid" = "$old" ]; then
		# All of it but marks that are blanked already.
		opens old-key && [ "$(cmp -l "$disk" "$was" | wc -l)" -le 16 ] && echo old
	fi
}

# steps: the log's entries taken together up to each place where the disk is looked at, a line each: FIRST LAST WHAT
# SECTOR WRITES. That is a flush, a write where a header may stand or the mark of one or of anything else (in the first
# 64 KiB, at the places that a second header may have, in the last MiB), and every 1024th write otherwise.
steps() {
	awk '
		function tells(from, to, at) {
			if (from < 128 || to >= 19 * 2048)
				return 1
			for (at = 128; at <= 8192; at *= 2)
				if (from <= at && to > at)
					return 1
			return 0
		}
		first == "" { first = $1 }
		$2 == "w" || $2 == "d" { writes++ }
		$2 == "f" || ($2 != "m" && (tells($3, $3 + $4) || writes % 1024 == 0)) {
			print first, $1, $2, $3, writes + 0
			first = ""
		}' entries
}

# undone: undo from here brings every byte back; then the disk is as it was again.
undone() {
	cp image-20M now.img
	"$DMCT" undo undo "$disk" --yes --quiet >/dev/null || return
	sync
	cmp image-20M "$was" || return
	cp now.img image-20M
	blockdev --flushbufs "$disk" "$loop"
}

# judged: counts what the disk is now in $seen.
judged() {
	local is
	is=$(state) || true
	[ -n "$is" ] || { echo "neither old, new nor nothing:"; "$DMCT" inspect "$disk" --no-measure; return 1; }
	if [ "$is" = nothing ] && cmp -s image-20M "$was"; then is=holds; fi
	seen[$is]=$((seen[$is] + 1))
	[ "$is" = "$last" ] || printf '# %s from write %s on, at sector %s\n' "$is" "$writes" "$sector" >&3
	last=$is
}

# replayed OLD-IMAGE: does the writes of the log again, step by step. What can open depends on the headers alone: between
# two steps nothing is written to them. Undo is tried at each flush, and in the middle.
replayed() {
	local first place what sector writes count last='' flushes=0 looked=0
	was=$1
	declare -gA seen=([old]=0 [new]=0 [nothing]=0 [holds]=0)
	steps >todo
	while read -r first place what sector writes; do
		/lab/tool redo "$log" "$first" "$place" "$loop"
		blockdev --flushbufs "$disk" "$loop"
		if [ "$what" = f ] || [ $((writes % 1024)) -eq 0 ]; then
			undone || { echo "undo at $place, write $writes"; return 1; }
			flushes=$((flushes + 1))
		fi
		count=$writes
		[ "$what" != f ] || continue
		looked=$((looked + 1))
		judged || { echo "at $place, write $writes"; return 1; }
	done <todo
	echo "# $count writes, looked at $looked times, undone $flushes times: ${seen[old]} old, ${seen[nothing]} nothing, ${seen[new]} new, ${seen[holds]} as before" >&3
	is "$last" new "the last state" || return
	cmp image-20M formatted.img || return
	[ $looked -ge 8 ] && [ $flushes -ge 4 ]
}

@test "each write of a format over an old LUKS2 volume, logged and done again" {
	truncate -s 20M old.img
	printf 'the old key' >old-key
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 old.img old-key
	head -c 3M /dev/urandom | dd of=old.img bs=1M seek=17 conv=notrunc status=none
	old=$(cryptsetup luksUUID old.img)
	logged old.img
	replayed old.img
	[ "${seen[nothing]}" -ge 4 ] && [ "${seen[new]}" -ge 1 ]
}

@test "the same over ext4, to LUKS1" {
	truncate -s 20M old.img
	mke2fs -q -F -t ext4 old.img
	head -c 9M /dev/urandom | dd of=old.img bs=1M seek=10 conv=notrunc status=none
	old=none
	logged old.img --type luks1
	replayed old.img
	[ "${seen[nothing]}" -ge 2 ] && [ "${seen[new]}" -ge 1 ]
}
