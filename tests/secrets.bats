#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Secrets: the same bytes as cryptsetup takes, by whatever way; in no place where they need not be.

load lib/common
load lib/format

DMCT_BUILD=${DMCT_BUILD:-$(dirname "$DMCT")}

# made NUMBER: a key file of random bytes and of 1 to 512 of them; every fourth is one that can be typed.
made() {
	local length=$((1 + RANDOM % 512))
	[ "$1" -ne 1 ] || length=512
	[ "$1" -ne 2 ] || length=1
	if [ $(($1 % 4)) -eq 3 ]; then
		tr -dc '\040-\176\200-\377' </dev/urandom | head -c "$length" >k
	else
		head -c "$length" /dev/urandom >k
		# Bytes that text would lose, at the ends and inside.
		case $(($1 % 5)) in
		0) printf '\n' | dd of=k bs=1 seek=$((length - 1)) conv=notrunc status=none ;;
		1) printf '\0' | dd of=k bs=1 conv=notrunc status=none ;;
		2) printf '\n' | dd of=k bs=1 seek=$((length / 2)) conv=notrunc status=none ;;
		3) printf '\0' | dd of=k bs=1 seek=$((length / 2)) conv=notrunc status=none ;;
		esac
	fi
}

# typed COMMAND...: on a terminal of its own, with the bytes of the file `k` for each passphrase that is asked for.
typed() {
	cat >typist.exp <<-'END'
		encoding system iso8859-1
		set timeout 30
		log_user 0
		set file [open k rb]
		set key [read $file]
		spawn -noecho {*}$argv
		fconfigure $spawn_id -encoding binary -translation binary
		foreach question {"Passphrase for" "again: "} {
			expect -re $question {} timeout {exit 99} eof {exit 98}
			send -- "$key\r"
		}
		expect eof
		exit [lindex [wait] 3]
	END
	env expect -f typist.exp "$@"
}

# By default 20 keys; KEYS=200 for all that was asked for once.
@test "random keys of 1 to 512 bytes through file, standard input, descriptor and terminal: cryptsetup opens with the same" {
	local n ways=() run=("$DMCT" format disk.img --auto --yes --overwrite --quiet "${PBKDF2[@]}")
	type -P expect >/dev/null || skip "expect is not installed (package expect)"
	for ((n = 1; n <= ${KEYS:-20}; n++)); do
		made $n
		case $((n % 4)) in
		0) setsid -w "${run[@]}" --key-file k </dev/null ;;
		1) setsid -w "${run[@]}" --key-file - <k ;;
		2) setsid -w "${run[@]}" --key-fd 9 9<k </dev/null ;;
		3) typed "${run[@]}" ;;
		esac >out 2>&1 || { echo "key $n: $(<out)"; od -c k | head; return 1; }
		opens disk.img k || { echo "key $n does not open"; od -c k | head; return 1; }
		# Neither with a byte more nor with one less.
		if [ $((n % 10)) -eq 0 ]; then
			head -c -1 k >less
			{ cat k && printf '\n'; } >longer
			run ! opens disk.img less
			run ! opens disk.img longer
		fi
		ways[n % 4]=x
	done
	is "${#ways[@]}" 4 "ways tried"
}

# halted HOW ARGUMENT...: runs format until it stops itself: `stop` before the first write, when the header has been
# made with the key; `exit` at its end. Its PID goes to $pid.
halted() {
	local how=$1
	shift
	[ "$(id -u)" -eq 0 ] || skip "looking into a process that is not dumpable needs root"
	LD_PRELOAD=$DMCT_BUILD/tests/lib/cut.so CUT_TARGET=$PWD/disk.img CUT_AT=1 CUT_DO=$how \
		"$DMCT" format disk.img --auto --yes --overwrite "$@" >out 2>err </dev/null &
	pid=$!
	for _ in {1..300}; do
		! grep -q '^State:.T' /proc/$pid/status 2>/dev/null || return 0
		sleep 0.1
	done
	echo "it did not stop: $(<err)"
	return 1
}

# The first 16 bytes of FILE in each OTHER file.
in_file() {
	python3 - "$@" <<-'END'
		import sys
		needle = open(sys.argv[1], 'rb').read()[:16]
		sys.exit(0 if any(needle in open(f, 'rb').read() for f in sys.argv[2:]) else 1)
	END
}

@test "no secret in command line, environment, output and a core taken once the key was used; none in memory at the end" {
	local pid costs
	! ldd "$DMCT" | grep -q "lib[at]san" || skip "a sanitizer keeps what was freed"
	head -c 40 /dev/urandom >key
	# shellcheck disable=SC2153 # of lib/format
	for costs in "${COSTS[*]}" "${PBKDF2[*]}"; do
		# shellcheck disable=SC2086 # words
		halted stop --key-file key --json --undo-file undo $costs
		in_file key key
		run ! in_file key "/proc/$pid/cmdline" "/proc/$pid/environ" out err
		if type -P gcore >/dev/null; then
			gcore -o core "$pid" >/dev/null 2>&1
			[ -s "core.$pid" ]
			run ! in_file key "core.$pid"
			rm "core.$pid"
		fi
		# All of memory: in the one place where it must be, for it is not over yet.
		run "$DMCT_BUILD/tests/lib/mem-search" "$pid" key
		is "$status" 1 "mem-search: $output"
		is "$(wc -l <<<"$output")" 1 "places"
		kill -CONT "$pid"
		wait "$pid"
		run ! in_file key out err undo
		rm undo
		# shellcheck disable=SC2086
		halted exit --key-file key $costs
		cryptsetup luksDump -q --dump-volume-key --volume-key-file volume-key --key-file key disk.img >/dev/null
		"$DMCT_BUILD/tests/lib/mem-search" "$pid" key volume-key
		kill -CONT "$pid"
		wait "$pid"
		rm volume-key
	done
	type -P gcore >/dev/null || skip "gcore is not installed (package gdb): all but the core was searched"
}

@test "a stack of 64 KiB is enough" {
	! ldd "$DMCT" | grep -q "lib[at]san" || skip "a sanitizer needs more"
	expect 0 bash -c 'ulimit -s 64; exec "$@"' - "$DMCT" format disk.img --auto --yes --key-file key "${COSTS[@]}" --undo-file undo </dev/null
	expect 0 bash -c 'ulimit -s 64; exec "$@"' - "$DMCT" undo undo disk.img --yes </dev/null
}

@test "--check-quality: a weak passphrase is refused, 2, a strong one taken; what is no passphrase is not judged" {
	if ! "$DMCT" --version | grep -q 'libpwquality: yes'; then
		expect 7 format disk.img --auto --yes --key-file key --check-quality
		says "built without libpwquality"
		skip "built without libpwquality"
	fi
	cp --sparse=always disk.img before.img
	printf 'aaaaaaaa' >key
	run --separate-stderr format disk.img --auto --dry-run --key-file key --check-quality
	if [ "$status" -eq 7 ]; then
		says "no dictionary; install cracklib"
		skip "cracklib has no dictionary (package cracklib-runtime)"
	fi
	refused 2 "passphrase is too weak: .*Nothing was written" disk.img --auto --yes --key-file key --check-quality
	head -c 64 /dev/urandom >key
	printf '\0' >>key
	refused 1 "no passphrase that can be judged" disk.img --auto --yes --key-file key --check-quality
	printf 'blue Kestrel 7 tumbles upward' >key
	expect 0 format disk.img --auto --yes --key-file key --check-quality
	opens disk.img key
}

@test "what a keyboard at boot may not give: a note for what was typed, and for GRUB; stored byte for byte" {
	local text
	type -P expect >/dev/null || skip "expect is not installed (package expect)"
	# é composed and decomposed.
	for text in $'\303\251' $'e\314\201'; do
		printf '%s' "$text" >k
		typed "$DMCT" format disk.img --auto --yes --overwrite "${PBKDF2[@]}" >out 2>&1
		opens disk.img k
	done
	printf 'caf\303\251' >key
	expect 0 format disk.img --auto --yes --overwrite --key-file key
	# shellcheck disable=SC2154 # bats's
	[[ $stderr != *"prompt at boot"* ]]
	expect 0 "$DMCT" format disk.img --auto --for grub --yes --overwrite --key-file key "${PBKDF2[@]}" </dev/null
	says "holds bytes that are not ASCII.*GRUB has the American one"
	printf 'qwertz' >key
	expect 0 "$DMCT" format disk.img --auto --for grub --yes --overwrite --key-file key "${PBKDF2[@]}" </dev/null
	says "holds characters that keyboards have in different places"
	printf 'bite the hush of it' >key
	expect 0 "$DMCT" format disk.img --auto --for grub --yes --overwrite --key-file key "${PBKDF2[@]}" </dev/null
	[[ $stderr != *"prompt at boot"* ]]
}
