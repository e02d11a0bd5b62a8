# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests of `format` share, beside lib/common.

# The tests are of the volume: the password hash is cheap, and measured is once a file.
setup_file() {
	"$DMCT" bench aes-xts-plain64/512 --engine cpu --sector-size 512,4096 --time 0.1 --save "$BATS_FILE_TMPDIR/saved" --quiet
}

setup() {
	# LeakSanitizer attaches to its own process, which one that made itself not dumpable only lets root do.
	[ "$(id -u)" -eq 0 ] || export ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"
	PATH=$PATH:/usr/sbin:/sbin
	cd "$BATS_TEST_TMPDIR" || return
	printf 'key' >key
	truncate -s 17M disk.img
	loops=()
	mounts=()
	HERE=(--from "$BATS_FILE_TMPDIR/saved")
	COSTS=(--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 "${HERE[@]}")
	# shellcheck disable=SC2034 # used by the tests
	PBKDF2=(--pbkdf pbkdf2 --pbkdf-force-iterations 1000 "${HERE[@]}")
}

teardown() {
	release
}

# Unmounts and detaches what the test has mounted and attached through attach and mounted.
release() {
	local thing
	for thing in "${mounts[@]}"; do
		umount "$thing" || true
	done
	for thing in "${loops[@]}"; do
		losetup -d "$thing" || true
	done
	mounts=()
	loops=()
}

# format ARGUMENT...: with cheap costs, and never on the terminal that the tests may have been started from.
format() {
	setsid -w "$DMCT" format "$@" "${COSTS[@]}" </dev/null
}

# refused STATUS PATTERN ARGUMENT...: `format ARGUMENT...` ends so, says so, and changes nothing of disk.img.
refused() {
	local want=$1 pattern=$2
	shift 2
	cp --sparse=always disk.img before.img
	expect "$want" format "$@" || return
	says "$pattern" || return
	cmp disk.img before.img
}

# opens FILE KEYFILE: cryptsetup takes the key.
opens() {
	cryptsetup open --test-passphrase --key-file "$2" "$1"
}

# header FILTER [FILE]: what jq reads in the metadata that cryptsetup finds.
header() {
	cryptsetup luksDump --dump-json-metadata "${2:-disk.img}" | jq -r "$1"
}

# attach FILE [LOSETUP-OPTION...]: a loop device over it, whose name goes to $loop.
attach() {
	[ "$(id -u)" -eq 0 ] || skip "loop devices need root"
	loop=$(losetup -f --show "${@:2}" "$1" 2>&1) || skip "no loop device: $loop"
	loops+=("$loop")
}

# mounted DIRECTORY MOUNT-ARGUMENT...: mounted there, or the test is skipped.
mounted() {
	[ "$(id -u)" -eq 0 ] || skip "mounting needs root"
	mkdir "$1"
	mount "${@:2}" "$1" || skip "mount ${*:2} fails"
	mounts+=("$PWD/$1")
}
