#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format on a terminal and on block devices: prompts, questions, signals, partitions, mounts, room.

load lib/common
load lib/format

# dialogue ARGUMENT...: `format ARGUMENT...` on a terminal of its own, talked to by the expect script on standard
# input, which finds the exit status in $status after `finish`. Prints what the terminal showed.
dialogue() {
	type -P expect >/dev/null || skip "expect is not installed (package expect)"
	{
		cat <<-'END'
			# Characters of a script are bytes, in whatever locale.
			encoding system iso8859-1
			set timeout 20
			proc await {pattern} {
				expect {
					-re $pattern {}
					timeout { puts "timeout: no $pattern"; exit 99 }
					eof { puts "end of output: no $pattern"; exit 98 }
				}
			}
			proc finish {} {
				global status
				expect eof
				set status [lindex [wait] 3]
			}
			# The settings of the terminal that the program was started on.
			proc echoes {} { expr {[lsearch [exec stty -a < $::spawn_out(slave,name)] echo] >= 0} }
			spawn -noecho {*}$argv
		END
		cat
	} >dialogue.exp
	run env expect -f dialogue.exp "$DMCT" format "$@" "${COSTS[@]}"
}

@test "on a terminal: passphrase twice, unseen, then YES; nothing else is taken for it" {
	dialogue disk.img --auto --label tty <<-'END'
		await "Passphrase for disk.img: "
		if {[echoes]} { exit 97 }
		send "pass w\303\266rd \r"
		await "again: "
		send "pass w\303\266rd \r"
		await "Type YES"
		if {![echoes]} { exit 96 }
		send "YES\r"
		finish
		exit $status
	END
	is "$status" 0 "status ($output)"
	[[ $output != *"pass w"* ]]
	printf 'pass w\303\266rd ' >typed
	opens disk.img typed

	dialogue disk.img --auto --overwrite --key-file key <<-'END'
		await "Type YES"
		send "yes\r"
		finish
		exit $status
	END
	is "$status" 6 "status ($output)"
	[[ $output == *"not YES. Nothing was written"* ]]
	opens disk.img typed
}

@test "on a terminal: differing, empty, too long, end of input, signals; the echo is back each time" {
	local what
	for what in differ empty long end INT TERM HUP QUIT USR1 ABRT RTMIN; do
		cp --sparse=always disk.img before.img
		dialogue disk.img --auto --yes <<-END
			set what $what
			$(
				cat <<-'INNER'
					await "Passphrase for"
					switch $what {
						differ { send "one\r"; await "again"; send "two\r" }
						empty { send "\r" }
						long { send "[string repeat x 600]\r" }
						end { send "\004" }
						INT { send "\003" }
						QUIT { send "\034" }
						default { exec bash -c "kill -$what [exp_pid]" }
					}
					await {dmcrypt-tune: [^\r]*}
					after 100
					if {[catch echoes seen] == 0 && !$seen} { exit 97 }
					finish
					exit $status
				INNER
			)
		END
		case $what in
		differ | empty | end) is "$status" 2 "status of $what ($output)" ;;
		long) is "$status" 1 "status of $what ($output)" ;;
		INT) is "$status" 130 "status ($output)" ;;
		TERM) is "$status" 143 "status ($output)" ;;
		HUP) is "$status" 129 "status ($output)" ;;
		QUIT) is "$status" 131 "status ($output)" ;;
		USR1) is "$status" 138 "status ($output)" ;;
		ABRT) is "$status" 134 "status ($output)" ;;
		RTMIN) is "$status" $((128 + $(kill -l RTMIN))) "status ($output)" ;;
		esac
		cmp disk.img before.img
	done
}

@test "a passphrase of 512 bytes at the prompt" {
	head -c 512 /dev/zero | tr '\0' q >typed
	dialogue disk.img --auto --yes <<-'END'
		await "Passphrase for"
		send "[string repeat q 512]\r"
		await "again"
		send "[string repeat q 512]\r"
		finish
		exit $status
	END
	is "$status" 0 "status ($output)"
	opens disk.img typed
}

@test "--key-file - on a terminal, and the terminal's own name: asked for as at the prompt, unseen, up to the newline" {
	local file
	printf 'typed key' >typed
	for file in - /dev/tty; do
		dialogue disk.img --auto --yes --overwrite --key-file $file <<-'END'
			await "Passphrase for disk.img: "
			if {[echoes]} { exit 97 }
			send "typed key\r"
			await "again: "
			send "typed key\r"
			finish
			exit $status
		END
		is "$status" 0 "status ($output)"
		[[ $output != *"typed key"* ]]
		opens disk.img typed
	done
}

@test "a symbolic link turned to another disk while the prompt waits: the first disk is formatted" {
	local first second loop
	truncate -s 17M other.img
	attach disk.img
	first=$loop
	attach other.img
	second=$loop
	ln -s "$first" link
	dialogue link --auto --key-file key <<-END
		await "Type YES"
		exec ln -sfn $second link
		send "YES\r"
		finish
		exit \$status
	END
	is "$status" 0 "status ($output)"
	opens "$first" key
	[[ $output == *"$first is a LUKS2 volume now"*"cryptsetup open $first NAME"* ]]
	is "$(tr -d '\0' <"$second" | wc -c)" 0 "bytes on the other disk"
}

@test "an image file that is replaced, moved away or of another size while the prompt waits: 4, both stay as they are" {
	local how
	for how in "mv other.img disk.img" "mv disk.img away.img" "rm disk.img" "truncate -s 17000000 disk.img"; do
		rm -f ./*.img
		truncate -s 17M disk.img other.img
		exec 7<disk.img
		dialogue disk.img --auto --key-file key <<-END
			await "Type YES"
			exec sh -c "$how"
			send "YES\r"
			finish
			exit \$status
		END
		is "$status" 4 "status of $how ($output)"
		[[ $output =~ ("deleted or replaced while the program ran"|"it has 17000000 bytes now and had 17825792")". Nothing was written" ]]
		is "$(cat /dev/fd/7 ./*.img | tr -d '\0' | wc -c)" 0 "bytes written"
		exec 7<&-
	done
}

@test "a disk that becomes another, or is taken, while the prompt waits: nothing is written" {
	local loop
	attach disk.img
	dialogue "$loop" --auto --key-file key <<-END
		await "Type YES"
		exec truncate -s 18M disk.img
		exec losetup -c $loop
		send "YES\r"
		finish
		exit \$status
	END
	is "$status" 4 "status ($output)"
	[[ $output == *"changed while the program ran"* ]]
	dialogue "$loop" --auto --key-file key <<-END
		await "Type YES"
		exec dd if=/dev/urandom of=$loop bs=4k count=1 conv=fsync status=none
		send "YES\r"
		finish
		exit \$status
	END
	is "$status" 4 "status ($output)"
	[[ $output == *"somebody wrote to it"* ]]
	is "$(head -c 16M disk.img | tail -c +4097 | tr -d '\0' | wc -c)" 0 "bytes written"
}

@test "block devices: mounted, a partition of it mounted, locked, read-only" {
	local loop
	need sfdisk fdisk
	truncate -s 64M disk.img
	printf 'label: gpt\nsize=20M\nsize=24M\n' | sfdisk -q disk.img
	attach disk.img -P
	partx -a "$loop" 2>/dev/null || true
	[ -b "${loop}p2" ] || skip "no partitions on loop devices here"
	mkfs.ext4 -q "${loop}p2"
	mounted mnt "${loop}p2"
	expect 5 format "$loop" --auto --yes --overwrite --key-file key
	says "in use: ${loop#/dev/}p2: mount .*mnt"
	expect 5 format "${loop}p2" --auto --yes --overwrite --key-file key
	says "in use: mount .*mnt"
	# Its neighbour is free.
	expect 0 format "${loop}p1" --auto --yes --key-file key --json
	is "$(json .device.kind)" partition
	opens "${loop}p1" key
	umount mnt
	exec 8<"$loop"
	flock 8
	expect 5 format "${loop}p1" --auto --yes --overwrite --key-file key
	says "lock of the disk"
	exec 8<&-
	expect 6 format "$loop" --auto --yes --key-file key
	says "gpt partition table.*partition 1 crypto_LUKS.*partition 2 ext4"
	expect 0 format "$loop" --auto --yes --overwrite --key-file key
	is "$(wipefs -n -i -O TYPE "$loop" | sort -u)" crypto_LUKS "all that wipefs finds"
	[ ! -e "/sys/block/${loop#/dev/}/${loop#/dev/}p1" ]
	release
	attach disk.img -r
	expect 4 format "$loop" --auto --yes --overwrite --key-file key
	says "read-only"
}

@test "a mount in another namespace is noticed, though not visible" {
	local pid loop
	mkfs.ext4 -q disk.img
	attach disk.img
	mkdir mnt
	unshare -m --propagation private sh -c "mount $loop mnt && touch mounted && exec sleep 20" &
	pid=$!
	until [ -e mounted ]; do sleep 0.05; kill -0 $pid || skip "no mount namespace can be made here (unshare -m)"; done
	expect 5 format "$loop" --auto --yes --overwrite --key-file key
	says "not visible here"
	kill $pid
}

@test "users that cannot be seen, or too few open files: 7, nothing written" {
	local loop
	# Without namespaces of its own: any process may lower this limit.
	expect 7 bash -c 'ulimit -n 31; exec "$@"' - "$DMCT" format disk.img --auto --yes --key-file key "${COSTS[@]}" </dev/null
	says "only 31 files.*ulimit -n"
	unshare -m true 2>/dev/null || skip "no mount namespace can be made here (unshare -m)"
	mkfs.ext4 -q disk.img
	attach disk.img
	mounted mnt "$loop"
	cp disk.img before.img
	truncate -s 17M free.img
	expect 7 hidden 'mount -t tmpfs none /sys' free.img
	says "Who uses free.img cannot be seen here .*/sys/class/block"
	expect 5 hidden 'mount -t tmpfs none /sys' "$loop"
	says "in use: mount"
	cmp disk.img before.img
	# Sanitizers read their options, and look for leaks, in /proc.
	! ldd "$DMCT" | grep -q "lib[at]san" || return 0
	expect 7 hidden 'umount -l /proc' disk.img
	says "/proc is not mounted"
	cmp disk.img before.img
}

# hidden COMMAND DEVICE: formats DEVICE in a mount namespace of its own, after COMMAND.
hidden() {
	unshare -m sh -c "$1 && exec \"\$@\"" - "$DMCT" format "$2" --auto --yes --overwrite --key-file key "${COSTS[@]}" </dev/null
}

@test "4096-byte logical blocks" {
	local loop
	attach disk.img -b 4096
	[ "$(blockdev --getss "$loop")" -eq 4096 ] || skip "no loop devices of 4096-byte blocks here"
	expect 0 format "$loop" --auto --yes --key-file key --json
	is "$(json .plan.crypttab)" "luks-$(json .uuid) UUID=$(json .uuid) none luks" crypttab
	is "$(header '.segments["0"].sector_size' "$loop")" 4096
	opens "$loop" key
}

@test "a file system without room for the header: 6, nothing changed" {
	mounted small -t tmpfs -o size=8M tmpfs
	truncate -s 17M small/disk.img
	ln -sf small/disk.img disk.img
	refused 6 "no room" disk.img --auto --yes --key-file key
	refused 6 "no room" disk.img --auto --dry-run --key-file key
	is "$(stat -L -c %b disk.img)" 0 "blocks taken"
}

@test "no libgcc_s, which Argon2's threads need at their end: 7 before any write; PBKDF2 goes" {
	local library
	[ "$(id -u)" -eq 0 ] || skip "hiding a library needs root"
	library=$(ldconfig -p | sed -n 's/.*libgcc_s.so.1 .* => //p' | head -1)
	[ -n "$library" ] || skip "no libgcc_s.so.1 listed"
	unshare -m true 2>/dev/null || skip "no mount namespace can be made here (unshare -m)"
	! ldd "$DMCT" | grep -q libgcc_s || skip "the program itself was built with libgcc_s"
	without 7 "$library" "${COSTS[@]}"
	says libgcc_s
	without 0 "$library" "${PBKDF2[@]}"
	opens disk.img key
}

# without STATUS LIBRARY ARGUMENT...: `format disk.img ARGUMENT...` with an empty file in the library's place.
without() {
	local want=$1 hide=$2
	shift 2
	expect "$want" unshare -m sh -c "mount --bind /dev/null $hide && exec \"\$@\"" - \
		"$DMCT" format disk.img --auto --yes --key-file key "$@" </dev/null
}
