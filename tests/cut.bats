#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format and undo, cut short at every write and flush: killed, interrupted, failing, or by a power cut. Afterwards the
# device is untouched, or holds the old contents whole, or the new volume, or nothing that opens; and undo brings back
# every bit. lib/cut.c cuts in from outside; lib/cut-check.c judges, and replays recorded writes as a power cut would.
# At some of the places; with CUT_ALL=1, as scripts/check runs it once, at many more.

# shellcheck disable=SC2016,SC2030,SC2031 # inner shells have their own $DMCT, each test its own $status and $output
load lib/common
load lib/format

DMCT_BUILD=${DMCT_BUILD:-$(dirname "$DMCT")}
# How many calls lie between two that are tried, and how many cuts that makes at least.
if [ "${CUT_ALL:-}" = 1 ]; then
	STEP=2 CUTS=45 NOTHING=35
else
	STEP=16 CUTS=15 NOTHING=4
fi

setup_file() {
	cd "$BATS_FILE_TMPDIR" || return
	PATH=$PATH:/usr/sbin:/sbin
	"$DMCT" bench aes-xts-plain64/512 --engine cpu --sector-size 512,4096 --time 0.1 --save saved --quiet
	printf 'an old key' >old-key
	printf 'a key' >key
	# An old volume, whole: with its keyslots and data in the way of the new one's.
	truncate -s 18M old.img
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 old.img old-key
	# Its second header alone would open as well.
	head -c 1M /dev/urandom | dd of=old.img bs=1M seek=16 conv=notrunc status=none
}

setup() {
	[ "$(id -u)" -eq 0 ] || export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
	export ASAN_OPTIONS="${ASAN_OPTIONS-}:verify_asan_link_order=0"
	PATH=$PATH:/usr/sbin:/sbin
	cd "$BATS_FILE_TMPDIR" || return
	CHECK=$DMCT_BUILD/tests/lib/cut-check
	# shellcheck disable=SC2034 # lib/format's
	loops=() mounts=()
	rm -f disk.img undo log
	cp --sparse=always old.img disk.img
}

# cutting AT WHAT COMMAND...: runs it, with CUT_DO=WHAT at call AT to disk.img.
cutting() {
	env LD_PRELOAD="$DMCT_BUILD/tests/lib/cut.so" CUT_TARGET="$PWD/disk.img" CUT_AT="$1" CUT_DO="$2" "${@:3}"
}

formats() {
	setsid -w "$DMCT" format disk.img --auto --yes --overwrite --key-file key --quiet --pbkdf-force-iterations 4 \
		--pbkdf-memory 32 --pbkdf-parallel 1 --from saved "$@" </dev/null
}

undoes() {
	"$DMCT" undo undo disk.img --yes --quiet >/dev/null
}

export -f formats undoes

# The calls of a whole run, in $calls; they go to the file `log`.
record() {
	export CUT_LOG=$PWD/log
	rm -f log
	"$@"
	unset CUT_LOG
	calls=$("$CHECK" count log)
}

FORMATS=(bash -c 'DMCT=$0; formats --undo-file undo >/dev/null 2>&1')
UNDOES=(bash -c 'DMCT=$0; undoes >/dev/null 2>&1')

# left: what disk.img is now.
left() {
	"$CHECK" state old.img disk.img key old-key
}

# restored: undo brings every byte back; where the format did not come so far as to make an undo file, nothing was done.
restored() {
	if [ -e undo ]; then
		undoes || return
	fi
	cmp disk.img old.img
}

again() {
	rm -f undo
	cp --sparse=always old.img disk.img
}

@test "killed before its writes and flushes, and in the middle of some" {
	local n how is cuts=0 nothing=0 new=0
	record cutting 0 none "${FORMATS[@]}" "$DMCT"
	[ "$calls" -ge 40 ] || { echo "only $calls calls"; false; }
	is "$(left)" new "a whole run"
	restored
	for ((n = 1; n <= calls; n += n < 6 || n > calls - 8 ? 1 : STEP)); do
		for how in kill torn; do
			[ $how = kill ] || [ $((n % 8)) -eq 0 ] || [ $n -gt $((calls - 5)) ] || continue
			cuts=$((cuts + 1))
			again
			run cutting "$n" $how "${FORMATS[@]}" "$DMCT"
			is=$(left)
			[[ $is =~ ^(untouched|old|new|nothing)$ ]] || { echo "$how at $n: $is"; return 1; }
			[ "$is" != nothing ] || nothing=$((nothing + 1))
			[ "$is" != new ] || new=$((new + 1))
			restored || { echo "$how at $n ($is): not restored"; return 1; }
		done
	done
	# It was cut in where it matters.
	echo "# killed at $cuts places: $nothing times nothing that opens, $new times the new volume" >&3
	[ $cuts -ge $CUTS ] && [ $nothing -ge $NOTHING ] && [ $new -ge 2 ] || { echo "$cuts $nothing $new"; false; }
}

@test "killed at each write and flush of an undo: it can be repeated" {
	local n
	"${FORMATS[@]}" "$DMCT"
	cp --sparse=always disk.img new.img
	cp undo kept
	record cutting 0 none "${UNDOES[@]}" "$DMCT"
	cmp disk.img old.img
	[ "$calls" -ge 40 ]
	for ((n = 1; n <= calls; n += n < 6 || n > calls - 6 ? 1 : 4 * STEP)); do
		cp --sparse=always new.img disk.img
		run cutting "$n" torn "${UNDOES[@]}" "$DMCT"
		[[ $(left) =~ ^(untouched|old|new|nothing)$ ]] || { echo "at $n: $(left)"; return 1; }
		undoes || { echo "at $n: undo fails"; return 1; }
		cmp disk.img old.img
	done
}

# replayed OFFSET: power cuts at each place of a format, then at each of its undo.
replayed() {
	record cutting 0 none "${FORMATS[@]}" "$DMCT"
	run "$CHECK" replay old.img old.img log undo key old-key "$1"
	# shellcheck disable=SC2154 # bats's
	is "$status" 0 "format: $output" || return
	[[ $output =~ old\ [1-9].*new\ [1-9].*nothing\ [1-9][0-9] ]] || { echo "$output"; return 1; }
	cp --sparse=always disk.img new.img
	record cutting 0 none "${UNDOES[@]}" "$DMCT"
	cmp disk.img old.img || return
	run "$CHECK" replay old.img new.img log undo key old-key "$1"
	is "$status" 0 "undo: $output"
}

@test "a power cut at any place of a format or an undo, over an old volume: any sectors since the last flush" {
	replayed 0
}

@test "the same over a GPT disk, with its copy at the end, and the old volume in a partition" {
	[ "${CUT_ALL:-}" = 1 ] || skip "CUT_ALL=1 is not set, as scripts/check sets it once"
	need sfdisk fdisk
	cp old.img kept.img
	truncate -s 0 old.img
	truncate -s 40M old.img
	printf 'label: gpt\nsize=4M\nsize=18M\n' | sfdisk -q old.img
	mkfs.ext4 -q -F part.img 4M
	dd if=part.img of=old.img bs=1M seek=1 conv=notrunc status=none
	dd if=kept.img of=old.img bs=1M seek=5 conv=notrunc status=none
	again
	replayed $((5 << 20))
	mv kept.img old.img
}

@test "a write or flush that fails once: taken back, 6; from there on: 8 and recoverable" {
	local n what
	record cutting 0 none "${FORMATS[@]}" "$DMCT"
	for ((n = 1; n <= calls; n += n < 5 || n > calls - 5 ? 1 : 7 * STEP)); do
		for what in eio enospc; do
			again
			run cutting "$n" $what bash -c 'DMCT=$0; formats --undo-file undo' "$DMCT"
			is "$status" 6 "status of $what at $n: $output" || return
			[[ $output =~ "taken back"|"Nothing on it was changed"|"no room" ]] || { echo "$output"; return 1; }
			cmp disk.img old.img || { echo "$what at $n: not as it was"; return 1; }
			[ ! -e undo ]
		done
		again
		run cutting "$n" eio-on bash -c 'DMCT=$0; formats --undo-file undo' "$DMCT"
		if [ "$status" -eq 6 ]; then
			[ "$(left)" = untouched ]
		else
			is "$status" 8 "status at $n: $output" || return
			[[ $output == *"could not be taken back"*"undo puts back what was there, from undo"* ]] || { echo "$output"; return 1; }
			[[ $output != *"holds no volume that opens"* ]] || [[ $(left) =~ ^(nothing|old)$ ]] || { echo "at $n: $(left): $output"; return 1; }
		fi
		restored || { echo "eio-on at $n: not restored"; return 1; }
	done
}

@test "writes of which only a part is done, SIGINT and SIGTERM in the middle: the volume is finished" {
	local n what
	for what in short int term; do
		for n in 1 2 9 30; do
			again
			cutting $n $what "${FORMATS[@]}" "$DMCT"
			is "$(left)" new "$what at $n"
			undoes
			cmp disk.img old.img
		done
	done
}

@test "a power cut at any place of making a LUKS1 volume" {
	record cutting 0 none bash -c 'DMCT=$0; setsid -w "$DMCT" format disk.img --auto --type luks1 --yes --overwrite \
		--key-file key --quiet --pbkdf-force-iterations 1000 --from saved --undo-file undo </dev/null >/dev/null' "$DMCT"
	run "$CHECK" replay old.img old.img log undo key old-key
	is "$status" 0 "$output"
	[[ $output =~ new\ [1-9].*nothing\ [1-9][0-9] ]]
}
