#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format: what it writes is what the plan said and what cryptsetup reads; what it refuses stays byte-identical.

load lib/common
load lib/format

@test "format --auto: the header is what the plan says, and JSON is valid" {
	expect 0 format disk.img --auto --key-file key --yes --label 'café ☕' --subsystem sub --json
	valid format
	is "$(json '[.written, .verified, .dry_run] | tostring')" '[true,true,false]'
	is "$(json .device.target)" "$PWD/disk.img" target
	is "$(json .uuid)" "$(cryptsetup luksUUID disk.img)" uuid
	is "$(json .plan.choice.cipher)" "$(header '.segments["0"].encryption')" cipher
	is "$(json .plan.choice.key_bits)" "$(header '.keyslots["0"].key_size * 8')" "key bits"
	is "$(json .plan.choice.sector_size)" "$(header '.segments["0"].sector_size')" sector
	is "$(json .plan.crypttab)" "luks-disk.img $PWD/disk.img none luks" "crypttab, by path: no UUID leads to an image file"
	is "$(json .plan.data_offset)" "$(header '.segments["0"].offset')" "data offset"
	is "$(json .plan.pbkdf.type)" "$(header '.keyslots["0"].kdf.type')" pbkdf
	is "$(json .plan.pbkdf.iterations)" "$(header '.keyslots["0"].kdf.time')" iterations
	is "$(json '.plan.pbkdf.memory / 1024')" "$(header '.keyslots["0"].kdf.memory')" memory
	is "$(json .plan.pbkdf.threads)" "$(header '.keyslots["0"].kdf.cpus')" threads
	is "$(header '.keyslots | keys | tostring')" '["0"]' keyslots
	is "$(blkid -p -o value -s LABEL disk.img)" 'café ☕' label
	is "$(blkid -p -o value -s SUBSYSTEM disk.img)" sub subsystem
	opens disk.img key
	run ! opens disk.img /etc/hostname
	is "$(stat -c %s disk.img)" $((17 << 20)) size
}

@test "format in words: names UUID, spec, how to open it" {
	expect 0 format disk.img --auto --key-file key --yes --uuid 01234567-89AB-cdef-0123-456789abcdef
	is "$(cryptsetup luksUUID disk.img)" 01234567-89ab-cdef-0123-456789abcdef uuid
	[[ $output == *"is a LUKS2 volume now"*01234567-89ab-cdef*"cryptsetup open disk.img NAME"* ]]
}

@test "ciphers, key and sector sizes, PBKDFs: each comes out as asked for" {
	local spec bits
	for spec in aes-xts-plain64/512@512 aes-xts-plain64/256@1024 aes-xts-plain64/512@2048 aes-xts-plain64/512@4096 \
		aes-cbc-essiv:sha256/256@512 aes-cbc-plain64/128@4096; do
		expect 0 "$DMCT" format disk.img --cipher "$spec" --key-file key --yes --overwrite "${PBKDF2[@]}" --json </dev/null
		valid format
		bits=${spec#*/}
		bits=${bits%@*}
		is "$(header '.segments["0"] | "\(.encryption)@\(.sector_size)"')" "${spec%/*}@${spec#*@}"
		is "$(header '.keyslots["0"].key_size * 8')" "$bits" "key bits of $spec"
		is "$(header '.keyslots["0"].kdf | "\(.type) \(.hash) \(.iterations)"')" "pbkdf2 sha256 1000"
		opens disk.img key
	done
	expect 0 "$DMCT" format disk.img --auto --pbkdf argon2i --pbkdf-memory 8192 --pbkdf-parallel 1 --iter-time 10 \
		"${HERE[@]}" --key-file key --yes --overwrite --json </dev/null
	is "$(header '.keyslots["0"].kdf | "\(.type) \(.cpus)"')" "argon2i 1"
	is "$(header '.keyslots["0"].kdf.time')" "$(json .plan.pbkdf.iterations)"
	[ "$(header '.keyslots["0"].kdf.memory')" -le 8192 ]
	opens disk.img key
}

@test "a key is its bytes: newlines, NULs, any length to 8 MiB; from file, standard input and descriptor" {
	local n
	printf 'a\nb\n' >k1
	printf '\0\0\n\0' >k2
	printf '\n' >k3
	head -c 8388608 /dev/urandom >k4
	for n in 5 6 7; do
		head -c $((RANDOM % 512 + 1)) /dev/urandom >k$n
	done
	for n in 1 2 3 4 5 6 7; do
		case $((n % 3)) in
		0) expect 0 format disk.img --auto --key-file k$n --yes --overwrite ;;
		1) run setsid -w "$DMCT" format disk.img --auto --key-file - --yes --overwrite "${COSTS[@]}" <k$n ;;
		2) run setsid -w "$DMCT" format disk.img --auto --key-fd 7 --yes --overwrite "${COSTS[@]}" 7<k$n </dev/null ;;
		esac
		# shellcheck disable=SC2154 # status is bats's
		is "$status" 0 "k$n ($(stat -c %s k$n) bytes): $output"
		opens disk.img k$n
	done
	printf 'a\nb' >shorter
	expect 0 format disk.img --auto --key-file k1 --yes --overwrite
	run ! opens disk.img shorter
}

@test "keys that are refused: status, sentence, nothing changed" {
	mkdir dir
	: >empty
	mkfifo fifo
	head -c 8388609 /dev/zero >long
	refused 1 "longer than 8388608 bytes" disk.img --auto --yes --key-file long
	refused 1 "longer than 8388608 bytes" disk.img --auto --yes --key-file /dev/zero
	refused 1 "is a directory" disk.img --auto --yes --key-file dir
	refused 1 "No such file" disk.img --auto --yes --key-file none
	refused 1 "nobody writes to" disk.img --auto --yes --key-file fifo
	refused 1 "Key file empty is empty" disk.img --auto --yes --key-file empty
	refused 2 "is empty" disk.img --auto --yes --key-file -
	refused 2 "no terminal to ask" disk.img --auto --yes
	refused 1 "not open" disk.img --auto --yes --key-fd 123
	# Descriptors that cannot be read: waiting for them would have no end.
	refused 1 "descriptor 7 is not open for reading" disk.img --auto --yes --key-fd 7 7> >(sleep 1)
	refused 1 "descriptor 7 is not open for reading" disk.img --auto --yes --key-fd 7 7>out
	# Said before a second is spent on measuring.
	expect 2 timeout 5 setsid -w "$DMCT" format disk.img --auto --yes --time 30 </dev/null
	says "no terminal to ask"
}

@test "command lines that are refused: before the device is looked at" {
	local long
	long=$(printf 'x%.0s' {1..48})
	refused 1 "say --auto" disk.img --yes --key-file key
	refused 1 "give one" disk.img --auto --yes --key-file key --key-fd 0
	refused 1 "48 bytes; at most 47" none --auto --yes --key-file key --label "$long"
	refused 1 "48 bytes; at most 47" none --auto --yes --key-file key --subsystem "$long"
	refused 1 "not of the form" none --auto --yes --key-file key --uuid 1234
	refused 1 "makes no sense" none --auto --yes --key-file key --sysroot /
	expect 1 "$DMCT" format none --auto --yes --key-file key --pbkdf pbkdf2 --pbkdf-force-iterations 999
	says "999 are too few; pbkdf2 takes at least 1000"
	refused 1 "too few; pbkdf2" none --auto --yes --key-file key --policy fips
	refused 1 "0.1 seconds are too few.*at least 0.2" none --auto --yes --key-file key --time 0.1
	refused 1 '"a.b" holds control characters' none --auto --yes --key-file key --label $'a\eb'
	refused 1 "holds control characters" none --auto --yes --key-file key --subsystem $'a\nb'
	refused 1 "holds bytes that are not UTF-8" none --auto --yes --key-file key --label $'caf\xe9'
	refused 1 "none of 512" none --auto --yes --key-file key --sector-size 513
	refused 1 "ecb" none --cipher aes-ecb --yes --key-file key
	refused 1 "DEVICE is missing" --auto
	[ ! -e none ]
	expect 0 format disk.img --auto --yes --key-file key --label "${long:1}"
	is "$(blkid -p -o value -s LABEL disk.img)" "${long:1}" "47 bytes"
}

@test "devices that are refused: status, sentence, nothing created, nothing changed" {
	mkdir dir
	mkfifo fifo
	refused 4 "does not exist" none --auto --yes --key-file key
	[ ! -e none ]
	ln -s none dangling
	refused 4 "does not exist" dangling --auto --yes --key-file key
	[ ! -e none ]
	refused 4 "neither a block device nor a regular file" /dev/tty --auto --yes --key-file key
	refused 4 "a part of its path is no directory" key/none --auto --yes --key-file key
	run ! says truncate
	refused 4 "is a directory; a block device or an image" dir --auto --yes --key-file key
	refused 4 "character device" /dev/null --auto --yes --key-file key
	refused 4 "pipe" fifo --auto --yes --key-file key
	truncate -s 16777216 disk.img
	refused 4 "16777216 bytes.*at least 16777728" disk.img --auto --yes --key-file key
	truncate -s 0 disk.img
	refused 4 "too small: it has 0 bytes" disk.img --auto --yes --key-file key
	truncate -s 16777728 disk.img
	expect 0 format disk.img --auto --yes --key-file key
	is "$(header '.segments["0"].sector_size')" 512 "sector of the smallest volume"
	# A tail that is no sector: seen by libcryptsetup, not by a loop device.
	truncate -s $(((17 << 20) + 100)) disk.img
	expect 0 format disk.img --auto --yes --overwrite --key-file key
	is "$(header '.segments["0"].sector_size')" 512 "sector with a tail of 100 bytes"
	refused 6 "no terminal to ask on" disk.img --auto --overwrite --key-file key
}

@test "no permission: 2, and an ordinary user can format an own file, not dumpable as the process is" {
	local dir cheap
	dir=$(mktemp -d)
	truncate -s 17M "$dir/theirs" "$dir/own"
	printf key >"$dir/key"
	chmod 755 "$dir"
	chmod 444 "$dir/theirs"
	chmod 644 "$dir/key"
	[ "$(id -u)" -ne 0 ] || chown 65534 "$dir/own"
	cp "$BATS_FILE_TMPDIR/saved" "$dir"
	chmod 644 "$dir/saved"
	cheap=(--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 --from "$dir/saved")
	expect 2 as_user "$DMCT" format "$dir/theirs" --auto --yes --key-file "$dir/key" "${cheap[@]}" </dev/null
	says "no permission to write"
	# Under LeakSanitizer a process that cannot be traced cannot look for its leaks.
	expect 0 as_user env ASAN_OPTIONS=detect_leaks=0 "$DMCT" format "$dir/own" --auto --yes --key-file "$dir/key" "${cheap[@]}" </dev/null
	opens "$dir/own" "$dir/key"
	rm -r "$dir"
}

@test "what is on it is named, and lost only with --overwrite" {
	mkfs.ext4 -q -L 'old root' disk.img
	refused 6 'ext4 "old root" at byte 0.*--overwrite' disk.img --auto --yes --key-file key
	refused 6 'ext4 "old root"' disk.img --auto --dry-run --key-file key
	expect 0 format disk.img --auto --yes --key-file key --overwrite
	[[ $output == *"will be LOST"*"old root"* ]]
	is "$(blkid -p -o value -s TYPE disk.img)" crypto_LUKS type
	refused 6 'crypto_LUKS' disk.img --auto --yes --key-file key

	truncate -s 0 disk.img
	truncate -s 32M disk.img
	printf 'unknown' | dd of=disk.img bs=1 seek=$((20 << 20)) conv=notrunc status=none
	refused 6 "data that nothing here recognises at byte $((20 << 20))" disk.img --auto --yes --key-file key
}

@test "a GPT disk: the partitions' contents are named, and both its copies go" {
	need sfdisk fdisk
	truncate -s 0 disk.img
	truncate -s 64M disk.img
	printf 'label: gpt\nsize=20M\nsize=24M\n' | sfdisk -q disk.img
	truncate -s 17M inner
	expect 0 format inner --auto --yes --key-file key
	dd if=inner of=disk.img bs=1M seek=21 conv=notrunc status=none
	refused 6 'gpt partition table.*in partition 2 crypto_LUKS' disk.img --auto --yes --key-file key
	expect 0 format disk.img --auto --yes --key-file key --overwrite
	is "$(wipefs -n -i -O TYPE disk.img | sort -u | tr -d ' ')" crypto_LUKS "all that wipefs finds"
	is "$(blkid -p -o value -s TYPE disk.img)" crypto_LUKS type
	opens disk.img key
}

@test "a dry run checks all and changes nothing, not even times" {
	local before
	touch -d '2001-02-03 04:05:06' disk.img
	before="$(sha256sum disk.img) $(stat -c '%y %z %b %s' disk.img)"
	# This one measures, as a run without options does.
	expect 0 "$DMCT" format disk.img --auto --dry-run --pbkdf-force-iterations 4 --pbkdf-memory 32 --time 0.2 --json
	valid format
	is "$(json .plan.choice.basis)" cpu basis || is "$(json .plan.choice.basis)" afalg basis
	is "$(json '[.written, .verified, .dry_run, .uuid] | tostring')" '[false,false,true,null]'
	expect 0 format disk.img --auto --dry-run --key-file key
	[[ $output == *"nothing was written to disk.img"* ]]
	expect 1 format disk.img --auto --dry-run --key-file none
	expect 7 "$DMCT" format disk.img --cipher serpent-xts-plain64 --dry-run "${COSTS[@]}" ||
		expect 0 "$DMCT" format disk.img --cipher serpent-xts-plain64 --dry-run "${COSTS[@]}"
	is "$(sha256sum disk.img) $(stat -c '%y %z %b %s' disk.img)" "$before" "disk.img"
}

@test "memory that Argon2 could not have: 3, before any write" {
	local limited=(bash -c 'ulimit -v 2000000; exec "$@"' - "$DMCT")
	"${limited[@]}" --version >/dev/null 2>&1 || skip "the program does not start in 2 GB (a sanitizer's)"
	expect 3 "${limited[@]}" format disk.img --auto --yes --key-file key --pbkdf-memory 4194304 \
		--pbkdf-force-iterations 4 "${HERE[@]}"
	says "memory"
	is "$(tr -d '\0' <disk.img | wc -c)" 0 "bytes written"
}

@test "in use: by a second run, by a lock, by a loop device" {
	local pid loop
	mkfifo slow
	format disk.img --auto --yes --key-file slow >/dev/null 2>&1 &
	pid=$!
	# The first run has the lock by the time that it waits for its key.
	until fuser disk.img 2>/dev/null || grep -q "$(stat -c :%i disk.img)" /proc/locks; do sleep 0.05; done
	refused 5 "another dmcrypt-tune|locked by process" disk.img --auto --yes --key-file key
	printf key >slow
	wait "$pid"
	opens disk.img key

	exec 8<>disk.img
	flock 8
	refused 5 "locked by another program" disk.img --auto --yes --overwrite --key-file key
	exec 8<&-
	attach disk.img
	refused 5 "in use: loop $loop" disk.img --auto --yes --overwrite --key-file key
}

onto_full() {
	format "$@" >/dev/full
}

@test "a plan that cannot be shown is not carried out: 7, nothing written" {
	local form
	[ -c /dev/full ] || skip "no /dev/full"
	for form in --quiet --dry-run; do
		expect 7 onto_full disk.img --auto --yes --key-file key $form
		# shellcheck disable=SC2154 # stderr is bats's
		is "$stderr" "dmcrypt-tune: standard output: No space left on device. The plan could not be shown, so nothing was written to disk.img."
	done
	# A pipe that nobody reads; with --json the plan goes to standard error.
	expect 7 onto_closed disk.img --auto --yes --key-file key --quiet
	says "standard output: Broken pipe. The plan could not be shown"
	expect 7 onto_closed disk.img --auto --yes --key-file key --json
	says "standard output: Broken pipe. The plan could not be shown"
	run plan_to_full disk.img --auto --yes --key-file key --json
	is "$status" 7 status
	is "$(tr -d '\0' <disk.img | wc -c)" 0 "bytes written"
}

# With a pipe as standard output whose reader has gone.
onto_closed() {
	exec 8> >(:)
	wait $!
	format "$@" >&8
}

plan_to_full() {
	format "$@" 2>/dev/full
}

@test "a report that cannot be written: 8, with the UUID of what was formatted" {
	[ -c /dev/full ] || skip "no /dev/full"
	expect 8 onto_full disk.img --auto --yes --key-file key --quiet --json
	is "$stderr" "dmcrypt-tune: disk.img was formatted and verified (UUID $(cryptsetup luksUUID disk.img)), but the report could not be written: No space left on device."
	opens disk.img key
}

@test "without --dry-run the plan is shown without what is for doing it by hand" {
	expect 0 format disk.img --auto --yes --key-file key
	[[ $output == *"Recommended for disk.img"*Why:*"is a LUKS2 volume now"* ]]
	[[ $output != *"Not chosen"* ]]
	[[ $output != *luksFormat* ]]
	is "$(grep -c crypttab <<<"$output")" 1 "crypttab lines"
	expect 0 format disk.img --auto --dry-run --overwrite
	[[ $output == *"Not chosen"*luksFormat*crypttab* ]]
}

@test "a path like an option, or with control characters: quoted for a shell, escaped for crypttab" {
	local odd=$'./a \t\e\x7f\\b'
	cp --sparse=always disk.img -- -d.img
	expect 0 "$DMCT" format --auto --yes --key-file key "${COSTS[@]}" -- -d.img </dev/null
	[[ $output == *"cryptsetup open ./-d.img NAME"* ]]
	expect 0 "$DMCT" format --auto --dry-run --overwrite --json "${COSTS[@]}" -- -d.img
	is "$(json '.plan.cryptsetup_argv | last')" ./-d.img
	cp --sparse=always disk.img "$odd"
	expect 0 format "$odd" --auto --dry-run
	[[ $output == *"\$'./a \\011\\033\\177\\134b'"* ]]
	[[ $output == *"/a\\040\\011\\033\\177\\134b none luks"* ]]
	[[ $output != *$'\e'* ]]
}

@test "a rehearsal that fails for want of files or size, and Argon2 for want of threads: the cause is named" {
	need strace
	strace -qq -o trace true || skip "strace cannot trace here"
	expect 7 injected memfd_create:error=EMFILE disk.img --cipher aes-xts-plain64 --dry-run --pbkdf-force-iterations 4 --pbkdf-memory 32
	says "Too many open files\\. Nothing was written\\. \\(.*ulimit -n"
	expect 7 injected ftruncate:error=EFBIG disk.img --cipher aes-xts-plain64 --dry-run --pbkdf-force-iterations 4 --pbkdf-memory 32
	says "ulimit -f"
	expect 7 injected ftruncate:error=EPERM disk.img --cipher aes-xts-plain64 --dry-run --pbkdf-force-iterations 4 --pbkdf-memory 32
	says "Operation not permitted\\. Nothing was written\\.$"
	expect 6 injected clone3,clone:error=EAGAIN disk.img --auto --dry-run --pbkdf-force-iterations 4 --pbkdf-parallel 2
	says "Invalid argument\\. Nothing was written\\. \\(Argon2.s threads.*ulimit -u"
}

# injected SYSCALL:error=ERRNO ARGUMENT...: formats, with that system call failing.
injected() {
	local what=$1
	shift
	ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0" strace -f -qq -o trace -e "inject=$what" \
		"$DMCT" format "$@" "${HERE[@]}" </dev/null
}

closed() {
	bash -c 'exec "$@" <&- >&- 2>&-' - "$DMCT" "$@"
}

half_closed() {
	bash -c 'exec "$@" <&- 2>&-' - "$DMCT" "$@"
}

@test "with standard streams closed nothing that is printed lands on the disk" {
	printf 'mine' >disk.img
	truncate -s 17M disk.img
	cp --sparse=always disk.img before.img
	run closed format disk.img --auto --dry-run --overwrite "${COSTS[@]}"
	is "$status" 7 status
	cmp disk.img before.img
	run closed format disk.img --auto --yes --key-file key "${COSTS[@]}"
	is "$status" 6 status
	cmp disk.img before.img
	run closed format disk.img --auto --yes --overwrite --key-file - "${COSTS[@]}"
	is "$status" 2 status
	cmp disk.img before.img
	# A plan that nobody can see is not carried out.
	run closed format disk.img --auto --yes --overwrite --key-file key "${COSTS[@]}"
	is "$status" 7 status
	cmp disk.img before.img
	run half_closed format disk.img --auto --yes --overwrite --key-file key "${COSTS[@]}"
	is "$status" 0 status
	opens disk.img key
	is "$(tail -c 1M disk.img | tr -d '\0' | wc -c)" 0 "bytes in the data area"
}

@test "SIGINT and SIGTERM while the key is waited for: 128 + N, nothing written, and said so" {
	local signal
	mkfifo slow
	# Held open for writing, without waiting for a reader.
	exec 9<>slow
	for signal in INT TERM; do
		# Not as a background job, which bash starts with SIGINT ignored; the program respects that.
		run --separate-stderr timeout --foreground --preserve-status -s "$signal" 1 \
			"$DMCT" format disk.img --auto --yes --key-file slow "${COSTS[@]}"
		is "$status" $((128 + $(kill -l "$signal"))) status
		says "Interrupted. Nothing was written to disk.img"
	done
	exec 9>&-
	is "$(tr -d '\0' <disk.img | wc -c)" 0 "bytes written"
}

@test "LUKS1: what cryptsetup reads is what was planned; contradictions are refused before anything is opened" {
	expect 0 "$DMCT" format disk.img --auto --type luks1 --key-file key --yes --json "${PBKDF2[@]}" --undo-file undo </dev/null
	valid format
	is "$(json .type)" luks1
	is "$(json .plan.choice.sector_size)" 512
	is "$(json .plan.pbkdf.type)" pbkdf2
	is "$(json '.plan.cryptsetup_argv | join(" ")' | grep -c -- '--type luks1 .*--sector-size')" 0 "sector sizes in the command line"
	is "$(cryptsetup luksDump disk.img | awk '/^Version:/ { v = $2 } /^Payload offset:/ { print v, $3 }')" "1 32768"
	is "$(cryptsetup luksUUID disk.img)" "$(json .uuid)" uuid
	is "$(blkid -p -o value -s VERSION disk.img)" 1 version
	opens disk.img key
	run ! opens disk.img /etc/hostname
	expect 0 "$DMCT" undo undo disk.img --yes
	is "$(tr -d '\0' <disk.img | wc -c)" 0 "bytes left"
	expect 0 "$DMCT" format disk.img --auto --type luks1 --for grub --key-file key --yes "${PBKDF2[@]}" </dev/null
	[[ $output == *"is a LUKS1 volume now"* ]]
	opens disk.img key
	for contradiction in '--pbkdf argon2id' '--pbkdf-memory 32' '--pbkdf-parallel 1' '--label x' '--subsystem x' \
		'--sector-size 4096' '--cipher xchacha12,aes-adiantum-plain64' '--integrity any' '--allow-discards'; do
		# shellcheck disable=SC2086 # words
		expect 1 "$DMCT" format none --auto --type luks1 --yes --key-file key $contradiction
		says "contradict"
	done
	expect 1 "$DMCT" format none --auto --type luks3 --yes --key-file key
	says '"luks3" is none of luks1 and luks2'
}
