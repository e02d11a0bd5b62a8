#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format: where data and header go, by --offset and --header; and that cryptsetup, blkid and wipefs agree with the report.

# shellcheck disable=SC2016,SC2153,SC2154 # names hold dollars; COSTS is lib/format's; output, stderr and status are bats's
load lib/common
load lib/format
load lib/agree

# place: where the last report has the data, and whether it was written and verified.
place() {
	json '"\(.plan.data_offset) \(.written) \(.verified)"'
}

@test "--offset: sectors as cryptsetup counts them, or a size; the header's room and the command line follow" {
	local offset bytes keyslots
	truncate -s 100M disk.img
	while read -r offset bytes keyslots; do
		expect 0 format disk.img --auto --yes --overwrite --key-file key --json --offset "$offset"
		valid format
		is "$(place)" "$bytes true true" "--offset $offset"
		is "$(header '"\(.segments["0"].offset) \(.config.keyslots_size)"')" "$bytes $keyslots" "--offset $offset"
		opens disk.img key
		# cryptsetup makes the same of the command line that the plan has.
		json '.plan.cryptsetup_argv | .[0:-1] | map(@sh) | join(" ")' >argv
		truncate -s 100M other.img
		bash -c "$(<argv) -q other.img key"
		is "$(header '"\(.segments["0"].offset) \(.config.keyslots_size)"' other.img)" "$bytes $keyslots" "cryptsetup --offset $offset"
		rm other.img
	done <<-END
		568 290816 258048
		284K 290816 258048
		4096 2097152 2064384
		1.5M 1572864 1540096
		32MiB 33554432 33521664
		131072 67108864 16744448
	END
	# Sparse, and larger than any memory: what lies before the data is not blanked, in memory neither.
	truncate -s 3T disk.img || return 0
	expect 0 format disk.img --auto --yes --overwrite --key-file key --json --offset 2048G
	is "$(place)" "2199023255552 true true"
	opens disk.img key
	[ "$(du -k disk.img | cut -f1)" -lt 100000 ]
}

@test "--offset: what is refused, and why" {
	local word
	refused 1 "1 is byte 512, which is no multiple of 4096" disk.img --auto --yes --key-file key --offset 1
	refused 1 "5K is byte 5120, which is no multiple of 4096" disk.img --auto --yes --key-file key --offset 5K
	for word in x -1 1T 4096.. 0x1000 100000000000000000000 9007199254740992K; do
		refused 1 "neither a number of 512-byte sectors nor a size" disk.img --auto --yes --key-file key --offset="$word"
	done
	refused 6 "0 is byte 0, and the header of a LUKS2 volume with aes-xts-plain64/512@.* takes 290816 bytes at least \(568 sectors\)" \
		disk.img --auto --yes --key-file key --offset 0
	refused 6 "takes 290816 bytes" disk.img --auto --yes --key-file key --offset 280K
	refused 4 "17825792 bytes, and the data are to begin at byte 17825792; at least 17826304" disk.img --auto --yes --key-file key --offset 17M
	expect 0 format disk.img --auto --yes --key-file key --offset 16M
	is "$(header '.segments["0"].offset')" 16777216
}

@test "LUKS1 on a small device: the sentence is of LUKS1, and --offset makes room" {
	truncate -s 3M disk.img
	expect 4 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key "${PBKDF2[@]}" </dev/null
	says "the data of a LUKS1 volume begin at byte 16777216 unless --offset says otherwise"
	expect 6 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key --offset 1M "${PBKDF2[@]}" </dev/null
	says "the header of a LUKS1 volume with aes-xts-plain64/512@512 takes 2068480 bytes"
	expect 0 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key --offset 2M --json "${PBKDF2[@]}" </dev/null
	is "$(place)" "2097152 true true"
	is "$(cryptsetup luksDump disk.img | awk '/^Payload offset:/ { print $3 }')" 4096
	opens disk.img key
	truncate -s 200M disk.img
	expect 0 "$DMCT" format disk.img --auto --type luks1 --yes --overwrite --key-file key --offset 100M --json "${PBKDF2[@]}" </dev/null
	is "$(cryptsetup luksDump disk.img | awk '/^Payload offset:/ { print $3 }')" 204800
	opens disk.img key
}

# marks FILE: the types of all that blkid and wipefs find there.
marks() {
	echo "$(blkid -p -o value -s TYPE "$1") $(wipefs -n -i -O TYPE --noheadings "$1" | sort -u | tr -d ' ')"
}

@test "--header FILE: the header is there alone, whole and private; cryptsetup and inspect agree; undo brings the data back" {
	local before
	truncate -s 20M disk.img
	mke2fs -q -F disk.img
	before=$(sha256sum <disk.img)
	refused 6 "disk.img is not empty. It holds: ext4|ext2" disk.img --auto --yes --key-file key --header head
	[ ! -e head ]
	expect 0 format disk.img --auto --dry-run --overwrite --json --header head --undo-file undo
	valid format
	is "$(json '.header | tostring')" '{"path":"head","kind":"file","bytes":16777216,"replaces":false}'
	[ ! -e head ]
	is "$(sha256sum <disk.img)" "$before" "after the dry run"
	expect 0 format disk.img --auto --yes --overwrite --key-file key --json --header head --undo-file undo --label apart
	valid format
	is "$(place)" "0 true true"
	is "$(json .plan.crypttab)" "luks-disk.img $PWD/disk.img none luks,header=$PWD/head"
	is "$(stat -c '%a %s' head)" "600 16777216"
	is "$(marks disk.img)" " " "found on the data"
	is "$(marks head)" "crypto_LUKS crypto_LUKS" "found on the header"
	is "$(json .uuid)" "$(cryptsetup luksUUID head)"
	is "$(header '.segments["0"].offset' head)" 0
	cryptsetup open --test-passphrase --key-file key --header head disk.img
	json '.plan.cryptsetup_argv | join(" ")' | grep -q -- '--offset 0 --header head'
	uuid=$(json .uuid)
	expect 0 "$DMCT" inspect disk.img --header head --no-measure --json
	is "$(json '[.header.uuid, .volume.spec, .volume.data_offset] | join(" ")' | cut -d' ' -f1,3)" "$uuid 0"
	expect 0 "$DMCT" undo undo disk.img --yes
	is "$(sha256sum <disk.img)" "$before" "after undo"
	is "$(find . -name '.dmcrypt-tune-*' | wc -l)" 0 "temporary files left"
	# In words, and with its place beside an offset.
	expect 0 format disk.img --auto --yes --overwrite --key-file key --header two --offset 1M
	[[ $output == *"The header goes to another place:"*"two: a new file"*"Header:         two (1 MiB: without it the data are lost"*"cryptsetup open --header two disk.img NAME"* ]]
	is "$(header '.segments["0"].offset' two)" 1048576
}

@test "--header: what is refused, and why; nothing is made or changed" {
	printf 'something' >there
	ln disk.img hard
	ln -s disk.img soft
	ln -s nothing dangling
	mkdir dir
	truncate -s 17M image
	for name in disk.img ./disk.img hard soft; do
		refused 1 "$name is disk.img itself" disk.img --auto --yes --overwrite --key-file key --header "$name"
	done
	refused 6 "there is already, with 9 bytes|there is not empty" disk.img --auto --yes --key-file key --header there
	refused 6 "image is there already, with 17825792 bytes" disk.img --auto --yes --key-file key --header image
	is "$(<there)" something
	refused 6 "--undo-file keeps what is overwritten on one device" disk.img --auto --yes --overwrite --key-file key --header there --undo-file undo
	[ ! -e undo ]
	refused 1 "a symbolic link that leads to nothing" disk.img --auto --yes --key-file key --header dangling
	refused 1 "cannot be made" disk.img --auto --yes --key-file key --header dir/none/head
	refused 1 "cannot be made" disk.img --auto --yes --key-file key --header head/
	[ "$(id -u)" -ne 0 ] || refused 1 "cannot be made: No such file" disk.img --auto --dry-run --key-file key --header /proc/head
	refused 4 "directory" disk.img --auto --yes --key-file key --header dir
	refused 4 "character device" disk.img --auto --yes --key-file key --header /dev/null
	refused 4 "no file is made in /dev" disk.img --auto --yes --key-file key --header /dev/no-such-disk
	expect 1 "$DMCT" format disk.img --auto --type luks1 --yes --key-file key --header head
	says "contradict"
	exec 8<>image
	flock 8
	refused 5 "image is locked" disk.img --auto --yes --overwrite --key-file key --header image
	exec 8<&-
	[ ! -e nothing ] && [ ! -e head ]
	# What is there is replaced, through a link to it too, and keeps its mode; an empty file needs no word.
	chmod 640 there
	ln -s there link
	expect 0 format disk.img --auto --yes --overwrite --key-file key --header link
	[ -L link ]
	is "$(stat -c '%a %s' there)" "640 16777216"
	: >empty
	expect 0 format disk.img --auto --yes --key-file key --header empty
	cryptsetup open --test-passphrase --key-file key --header empty disk.img
}

@test "a key that would be overwritten, and an undo file under the header's name: refused, nothing is written" {
	local name
	ln -s key link
	for name in key ./key link; do
		refused 1 "The secret is read from $name, which would be overwritten" disk.img --auto --yes --overwrite --key-file key --header "$name"
	done
	refused 1 "The secret is read from disk.img, which" disk.img --auto --yes --overwrite --key-file disk.img
	expect 1 setsid -w "$DMCT" format disk.img --auto --yes --overwrite --key-file - --header key "${COSTS[@]}" <"$PWD/key"
	says "The secret is read from key, which"
	expect 1 setsid -w "$DMCT" format disk.img --auto --yes --overwrite --key-fd 8 --header key "${COSTS[@]}" 8<"$PWD/key"
	is "$(<key)" key
	mkdir dir
	refused 1 "name one file, dir/../head" disk.img --auto --yes --key-file key --header dir/../head --undo-file head
	[ ! -e head ]
}

@test "--header: a file system without room: nothing is changed" {
	mounted small -t tmpfs -o size=8M none
	refused 6 "no room for its 16777216 bytes" disk.img --auto --yes --key-file key --header small/head
	is "$(ls -A small)" ""
}

# nameless: this directory's file system has files without a name.
nameless() {
	python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_WRONLY)' 2>/dev/null
}

@test "--header where no file can be without a name: what a killed run leaves is told by the next one; what is in use is not" {
	local left
	need strace
	strace -qq -o trace true || skip "strace cannot trace here"
	mke2fs -q -F disk.img
	run env LD_PRELOAD="${DMCT_BUILD:-$(dirname "$DMCT")}/tests/lib/cut.so" CUT_TARGET="$PWD/disk.img" CUT_AT=1 CUT_DO=kill \
		ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0" setsid -w \
		strace -qq -f -o trace -P "$PWD" -e trace=openat -e inject=openat:error=EOPNOTSUPP \
		"$DMCT" format disk.img --auto --yes --overwrite --key-file key --header head "${COSTS[@]}" </dev/null
	is "$status" 137 "status: $output"
	[ ! -e head ]
	left=$(find . -name '.dmcrypt-tune-*' -printf %f)
	[[ $left =~ ^\.dmcrypt-tune-[A-Za-z0-9]{6}$ ]] || { echo "left: $left"; false; }
	exec 8<"$left"
	flock 8
	expect 0 format disk.img --auto --dry-run --overwrite --header head
	is "$stderr" "" "said of a file in use"
	exec 8<&-
	expect 0 format disk.img --auto --yes --overwrite --key-file key --header head
	is "$stderr" "dmcrypt-tune: $left, beside head, was left by a run that was killed; nothing needs it, and it may be removed."
	rm "$left"
	# One that replaces has a temporary name for a moment; none is left of it.
	expect 0 format disk.img --auto --yes --overwrite --key-file key --header head
	is "$(find . -name '.dmcrypt-tune-*')" ""
}

@test "--header: cut short by SIGKILL at every write: the header is whole or not there, the data whole or without marks" {
	local call n step made=0
	need strace
	strace -qq -o trace true || skip "strace cannot trace here"
	nameless || skip "the file system of $PWD has no files without a name"
	mke2fs -q -F disk.img
	cp --sparse=always disk.img old.img
	for call in pwrite64 fsync linkat; do
		# At some of the places; with CUT_ALL=1, as scripts/check has it once, at all.
		step=5
		[ "${CUT_ALL:-}" != 1 ] && [ $call != linkat ] || step=1
		for ((n = 1; n < 60; n += step)); do
			cp --sparse=always old.img disk.img
			rm -f head undo
			run setsid -w strace -qq -f -o trace -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
				"$DMCT" format disk.img --auto --yes --overwrite --key-file key --header head --undo-file undo "${COSTS[@]}" </dev/null
			is "$(find . -name '.dmcrypt-tune-*')" "" "left of a header, $call $n" || return
			[ -e head ] && cryptsetup open --test-passphrase --key-file key --header head disk.img
			[ ! -e head ] || made=$((made + 1))
			if [ -e head ]; then is "$(marks disk.img)" " " "marks beside a header, $call $n" || return; fi
			if cmp -s old.img disk.img; then
				[ ! -e head ] || is "$call $n" "a header beside old contents" || return
			else
				expect 0 "$DMCT" undo undo disk.img --yes
				cmp old.img disk.img || return
			fi
			grep -q "killed by SIGKILL" trace || break
		done
	done
	echo "# headers made: $made" >&3
	[ $made -ge 2 ]
}

# makes WORDS...: formats disk.img so, with cheap costs of its password hash.
makes() {
	local costs=("${COSTS[@]}")
	[[ "$*" != *luks1* ]] || costs=("${PBKDF2[@]}")
	expect 0 setsid -w "$DMCT" format disk.img --yes --overwrite --key-file key --json "$@" "${costs[@]}" </dev/null
	valid format
}

@test "after each format cryptsetup, blkid and wipefs say what the report says: one set of signatures" {
	local line words count=0
	truncate -s 40M disk.img
	while read -r line; do
		read -ra words <<<"$line"
		rm -f head
		makes "${words[@]}" || return
		case $line in
		*--header*) agree disk.img head || { echo "after: $line"; return 1; } ;;
		*) agree disk.img || { echo "after: $line"; return 1; } ;;
		esac
		count=$((count + 1))
	done < <(agree_formats)
	is "$count" 11 "formats tried"
}

@test "over old contents, the same: ext4, swap, both partition tables with file systems in them, LUKS of both versions" {
	local what header
	need sfdisk "package fdisk"
	for what in ext4 swap gpt dos luks1 luks2; do
		for header in "" head; do
			# Of each kind one; with CUT_ALL=1, as scripts/check has it once, all.
			[ "${CUT_ALL:-}" = 1 ] || case $what$header in ext4 | swaphead | gpt | doshead | luks1 | luks2head) ;; *) continue ;; esac
			rm -f disk.img head
			truncate -s 40M disk.img
			case $what in
			ext4) mke2fs -q -F -t ext4 disk.img ;;
			swap) mkswap -q disk.img ;;
			gpt | dos)
				printf 'label: %s\n1MiB,10MiB\n20MiB,\n' $what | sfdisk -q disk.img
				mke2fs -q -F -t ext4 -E offset=1048576 disk.img 10M
				mke2fs -q -F -t ext2 -E offset=20971520 disk.img 10M
				;;
			*) cryptsetup luksFormat -q --type $what --pbkdf pbkdf2 --pbkdf-force-iterations 1000 disk.img key ;;
			esac
			# shellcheck disable=SC2086 # a word or none
			makes --auto ${header:+--header $header} && agree disk.img $header || { echo "over $what, header: $header"; return 1; }
			# Of old keyslots, which are random bytes, anything may be said.
			[[ $what == luks* ]] || is "$(blkid -p -O 1048576 disk.img; blkid -p -O 20971520 disk.img)" "" "in old partitions of $what" || return
		done
	done
}

# read_debian WORD: as Debian's scripts decode a field.
read_debian() {
	sh -c 'printf "%b" "$1"' - "$1"
}

# read_systemd LINE: device and header, as systemd-cryptsetup has them of it as arguments, a line each.
read_systemd() {
	rm -rf units
	mkdir units
	printf '%s\n' "$1" >crypttab
	SYSTEMD_CRYPTTAB=$PWD/crypttab /lib/systemd/system-generators/systemd-cryptsetup-generator units units units
	cat units/*.service | python3 -c '
import re, sys
line = [l for l in sys.stdin.buffer.read().split(b"\n") if b" attach " in l][0]
words = re.findall(rb"\x27((?:[^\x27\\]|\\.)*)\x27", line)
assert len(words) == 4, words
decode = lambda w: re.sub(rb"\\(\d{3})", lambda m: bytes([int(m[1], 8)]), w.replace(b"%%", b"%"))
options = decode(words[3]).split(b",")
sys.stdout.buffer.write(decode(words[1]) + b"\n" + options[1].removeprefix(b"header=") + b"\n")'
}

@test "crypttab: both Debian's scripts and systemd read odd paths of device and header back; else there is no line, and why" {
	local name line fields systemd=/lib/systemd/system-generators/systemd-cryptsetup-generator
	mkdir 'a:b'
	for name in 'disk 1 7.img' $'a"b\'c\\0d.img' '#x$y%z;.img' 'café.img' $'w\t7\x7f\xff3\\.img'; do
		cp --sparse=always disk.img "$name"
		# The header is not there yet, and its path is no absolute one.
		expect 0 format "$name" --auto --dry-run --header "a:b/$name"
		line=$(sed -n '/^In .etc.crypttab:$/{n;s/^  //p}' <<<"$output")
		read -ra fields <<<"$line"
		is "${#fields[@]} ${fields[2]}" "4 none" "fields of $line"
		is "$(read_debian "${fields[1]}")" "$PWD/$name" "Debian, of $line"
		is "$(read_debian "${fields[3]}")" "luks,header=$PWD/a:b/$name" "Debian, of $line"
		[ -x $systemd ] || continue
		is "$(read_systemd "$line")" "$PWD/$name"$'\n'"$PWD/a:b/$name" "systemd, of $line"
	done
	expect 0 format disk.img --auto --dry-run --header a,b --json
	valid format
	is "$(json '.plan | "\(.crypttab) \(.crypttab_reason)"')" \
		"null the header's path holds a comma, at which systemd ends an option; with another name it can stand there"
	for name in 'a${b}' 'a$$' $'a\nb'; do
		mv disk.img "$name"
		expect 0 format "$name" --auto --dry-run
		[[ $output == *"In /etc/crypttab:"*"no line: the device's path holds "*"with another name it can stand there."* ]]
		mv "$name" disk.img
	done
	expect 0 format disk.img --auto --dry-run --json --header there
	is "$(json '.plan | "\(.crypttab) \(.crypttab_reason)"')" "luks-disk.img $PWD/disk.img none luks,header=$PWD/there null"
	[ -x $systemd ] || skip "the rest passed; systemd's generator is not installed (package systemd)"
}
