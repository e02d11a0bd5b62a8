#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A re-encryption's writes as the block layer sees them, logged by dm-log-writes and done again as a power cut might leave
# them: up to each flush, up to the middle of what comes before the next one, and with all of that but its first write, as a
# disk with a cache may have it. Each time the volume is gone on with, and every byte is there.

load ../lib/common
load guest

setup_file() {
	modprobe dm-log-writes
	saved
}

# looks: the log's entries as what to do: "all FIRST LAST" goes into the volume for good; "half" and "later FIRST
# LAST" are tried after that, and forgotten.
looks() {
	awk '
		$2 == "f" {
			if (n > 1) {
				print "half", place[1], place[int(n / 2)]
				print "later", place[2], place[n]
			}
			if (n)
				print "all", place[1], $1
			n = 0
			next
		}
		$2 != "m" { place[++n] = $1 }
		END { if (n) print "all", place[1], place[n] }' entries
}

# holds [ARGUMENT...]: try.img is gone on with, or begun anew, and holds what it held; what its header said goes to $states.
holds() {
	local state status=0
	state=$("$DMCT" inspect try.img --no-measure --json) || status=$?
	[ $status -eq 0 ] || [ $status -eq 8 ] || return
	states+=" $(jq -r '[.header.reencryption // "none", (if .header.reencryption_left then "left" else empty end)] | join("-")' <<<"$state")"
	expect 0 "$DMCT" reencrypt try.img --cipher aes-xts-plain64/512 --from "$BATS_FILE_TMPDIR/saved" --yes --quiet --key-file key "$@" </dev/null || return
	cryptsetup open --key-file key try.img lab-try || return
	is "$(sha256sum </dev/mapper/lab-try)" "$before" contents
	status=$?
	cryptsetup close lab-try
	return $status
}

# replayed MODE: with that resilience.
replayed() {
	local what first last n=0 at=0 flushes=0 states=
	image 33M
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 -c aes-cbc-essiv:sha256 -s 256 \
		--sector-size 4096 "$loop" key
	cryptsetup open --key-file key "$loop" lab-try
	head -c 17M /dev/urandom >/dev/mapper/lab-try
	before=$(sha256sum </dev/mapper/lab-try)
	cryptsetup close lab-try
	cp image-33M base.img
	truncate -s 100M log.img
	log=$(losetup -f --show log.img)
	later losetup -d "$log"
	dmsetup create lab-disk --table "0 $(sectors "$loop") log-writes $loop $log"
	later dmsetup remove lab-disk
	expect 0 "$DMCT" reencrypt /dev/mapper/lab-disk --cipher aes-xts-plain64/512 --from "$BATS_FILE_TMPDIR/saved" --yes --quiet \
		--key-file key --resilience "$1" </dev/null || return
	dmsetup remove lab-disk
	/lab/tool log "$log" >entries
	looks >todo
	later cryptsetup close -q lab-try
	while read -r what first last; do
		at=$((at + 1))
		# Some are enough: each second flush, and with a journal no halves.
		if [ "$what" = all ]; then
			/lab/tool redo "$log" "$first" "$last" base.img
			flushes=$((flushes + 1))
			[ $((flushes % 2)) -eq 0 ] || continue
			cp base.img try.img
		elif [ "$what" = half ] && [ "$1" = journal ]; then
			continue
		else
			cp base.img try.img
			/lab/tool redo "$log" "$first" "$last" try.img
		fi
		n=$((n + 1))
		holds --resilience "$1" || { echo "$what at $at of $(wc -l <todo), places $first to $last:$states"; return 1; }
	done <todo
	cmp base.img image-33M || return
	echo "# $1: looked at $n times:$(tr ' ' '\n' <<<"$states" | sort | uniq -c | awk 'NF > 1 { printf " %s %s", $1, $2 }')" >&3
	[ $n -ge 20 ] && [[ $states == *crashed* && $states == *left* ]]
}

@test "with checksums" {
	replayed checksum
}

@test "with a journal" {
	replayed journal
}
