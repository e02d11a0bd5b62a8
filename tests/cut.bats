#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format and undo, cut short at every write and flush: killed, interrupted, failing, or by a power cut. Afterwards the
# device is untouched, or holds the old contents whole, or the new volume, or nothing that opens; and undo brings back
# every bit. lib/cut.c cuts in from outside; lib/cut-check.c judges, and replays recorded writes as a power cut would.

load lib/common
load lib/format

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
	"$DMCT" undo undo disk.img --yes --quiet "$@" >/dev/null
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

# shellcheck disable=SC2016 # for the inner shell
FORMATS=(bash -c 'DMCT=$0; formats --undo-file undo >/dev/null 2>&1')
# shellcheck disable=SC2016
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

@test "killed before each of its writes and flushes, and in the middle of some" {
	local n how is nothing=0 new=0
	record cutting 0 none "${FORMATS[@]}" "$DMCT"
	[ "$calls" -ge 40 ] || { echo "only $calls calls"; false; }
	is "$(left)" new "a whole run"
	restored
	for ((n = 1; n <= calls; n++)); do
		for how in kill torn; do
			[ $how = kill ] || [ $((n % 8)) -eq 3 ] || [ $n -gt $((calls - 5)) ] || continue
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
	[ $nothing -ge 40 ] && [ $new -ge 2 ]
}
