#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Volumes that there are: inspect, tune and reencrypt on live mappings and block devices.

load ../lib/common
load guest

CHEAP=(--pbkdf pbkdf2 --pbkdf-force-iterations 1000)

setup_file() {
	saved
}

# volume SIZE ARGUMENT...: a volume by cryptsetup on a loop device ($loop).
volume() {
	image "$1"
	cryptsetup luksFormat -q "${CHEAP[@]}" "${@:2}" "$loop" key
}

# opened NAME: the volume on $loop is open under that name.
opened() {
	cryptsetup open --key-file key "$loop" "$1"
	later cryptsetup close "$1"
}

# inspects STATUS WHAT ARGUMENT...: inspect --json ends so, and is valid where that can be told.
inspects() {
	expect "$1" "$DMCT" inspect "${@:2}" --no-measure --json </dev/null
}

@test "inspect: a live mapping by name, by node and by its device; the header read and not written; the key not shown" {
	volume 40M --type luks2 -c aes-xts-plain64 -s 512 --sector-size 4096
	opened lab-vol
	before=$(head -c 16M "$loop" | sha256sum)
	for what in lab-vol /dev/mapper/lab-vol "$loop"; do
		inspects 0 "$what"
		is "$(json '[.mapping.name, .mapping.seen, .mapping.type, .mapping.cipher, .mapping.key_bits, .mapping.sector_size] | join(" ")')" \
			"lab-vol true LUKS2 aes-xts-plain64 512 4096" "$what"
		is "$(json '[.header.uuid, .volume.spec] | join(" ")')" "$(cryptsetup luksUUID "$loop") aes-xts-plain64/512@4096"
		is "$(json .mapping.data_offset)" $((512 * $(dmsetup table lab-vol | awk '{print $8}')))
		is "$(json .mapping.size)" $((512 * $(dmsetup table lab-vol | awk '{print $2}')))
		is "$(json '[.findings[].id] | map(select(. == "mapping-differs")) | length')" 0
	done
	is "$(head -c 16M "$loop" | sha256sum)" "$before" "the header area"
	cryptsetup close lab-vol
	# A key that stands in the table, and flags.
	cryptsetup open --disable-keyring --perf-no_read_workqueue --key-file key "$loop" lab-vol
	key=$(dmsetup table --showkeys lab-vol | awk '{print $5}')
	[ ${#key} -eq 128 ]
	inspects 0 lab-vol
	is "$(json '[.mapping.key_bits, .mapping.key_in_keyring, .mapping.flags[0]] | join(" ")')" "512 false no_read_workqueue"
	run ! grep -q "${key:0:32}" <<<"$output$stderr"
	expect 0 "$DMCT" inspect lab-vol --no-measure
	run ! grep -q "${key:0:32}" <<<"$output"
	# Somebody else sees that it is open, and no more.
	chmod 644 "$loop"
	expect 0 setpriv --reuid=65534 --regid=65534 --clear-groups "$DMCT" inspect "$loop" --no-measure --json
	is "$(json '[.mapping.name, .mapping.seen] | join(" ")')" "lab-vol false"
}

@test "inspect: plain, LUKS1, integrity, and a mapping that is none" {
	image 24M
	cryptsetup open --type plain -c aes-cbc-plain -s 256 --key-file <(head -c 32 /dev/zero) "$loop" lab-plain
	later cryptsetup close lab-plain
	inspects 0 lab-plain
	is "$(json '[.mapping.type, .mapping.cipher, .header] | tostring')" '["PLAIN","aes-cbc-plain",null]'
	json '.findings[].id' | grep -qx plain-iv
	volume 40M --type luks1 -c aes-cbc-essiv:sha256 -s 256
	opened lab-one
	inspects 0 lab-one
	is "$(json '[.mapping.type, .header.type, .volume.spec] | tostring')" '["LUKS1","luks1","aes-cbc-essiv:sha256/256@512"]'
	volume 48M --type luks2 -c aes-xts-plain64 -s 512 --integrity hmac-sha256 --integrity-no-wipe --sector-size 4096
	inspects 0 "$loop"
	is "$(json '[.volume.spec, .volume.integrity, .volume.tag_bytes, .volume.key_bits] | tostring')" \
		'["aes-xts-plain64/512+hmac-sha256@4096","hmac(sha256)",32,768]'
	opened lab-int
	inspects 0 lab-int
	is "$(json '[.mapping.cipher, .mapping.integrity, .header.uuid] | tostring')" \
		"[\"capi:authenc(hmac(sha256),xts(aes))-plain64\",\"aead\",\"$(cryptsetup luksUUID "$loop")\"]"
	mapping lab-zero "0 1000 zero"
	expect 4 "$DMCT" inspect lab-zero
	expect 4 "$DMCT" inspect no-such-mapping
}

@test "tune: flags set on a mounted volume, kept by the header; dry run and refusals change nothing" {
	volume 64M --type luks2 -c aes-xts-plain64 -s 512 --sector-size 4096
	opened lab-vol
	mke2fs -q -F -t ext4 /dev/mapper/lab-vol
	mkdir mnt
	mount /dev/mapper/lab-vol mnt
	later umount mnt
	head -c 2000000 /dev/urandom >data
	cp data mnt
	table=$(dmsetup table lab-vol)
	header=$(head -c 32K "$loop" | sha256sum)
	expect 0 "$DMCT" tune lab-vol --dry-run --json --time 3
	is "$(json '[.dry_run, .applied, .persistent] | tostring')" '[true,false,false]'
	[ "$(json '[.sets[] | select(.read_bytes_per_second > 0 and .write_deep_bytes_per_second > 0)] | length')" -ge 4 ]
	is "$(json '.flags_before | length')" 0
	is "$(dmsetup table lab-vol)" "$table"
	is "$(dmsetup ls | grep -c dmcrypt-tune)" 0 "mappings left"
	printf wrong >wrong
	expect 2 "$DMCT" tune lab-vol --flags no_read_workqueue --key-file wrong
	is "$(dmsetup table lab-vol)" "$table"
	# Without a terminal and a key.
	expect 2 setsid "$DMCT" tune lab-vol --flags no_read_workqueue </dev/null
	(while :; do cat mnt/data >mnt/copy; sync mnt/copy; done) &
	writer=$!
	expect 0 "$DMCT" tune "$loop" --flags no_read_workqueue+no_write_workqueue --key-file key --json
	kill $writer
	wait $writer || true
	is "$(json '[.applied, .persistent] | tostring')" '[true,false]'
	dmsetup table lab-vol | grep -q 'no_read_workqueue no_write_workqueue'
	is "$(dmsetup info -c --noheadings -o suspended lab-vol)" Active
	cmp data mnt/data
	is "$(head -c 32K "$loop" | sha256sum)" "$header" "the header"
	expect 0 "$DMCT" tune lab-vol --flags no_read_workqueue --persistent --key-file key --json
	is "$(json '[.applied, .persistent, .flags[0], .flags_before[1]] | tostring')" '[true,true,"no_read_workqueue","no_write_workqueue"]'
	is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -r '.config.flags | join(" ")')" no-read-workqueue
	cmp data mnt/data
	umount mnt
	cryptsetup close lab-vol
	cryptsetup open --key-file key "$loop" lab-vol
	dmsetup table lab-vol | grep -q '1 no_read_workqueue\|2 .*no_read_workqueue'
	# None again: the header's flag does not bring it back.
	expect 0 "$DMCT" tune lab-vol --flags none --persistent --key-file key
	run ! grep -q workqueue <<<"$(dmsetup table lab-vol)$(cryptsetup luksDump "$loop" | grep ^Flags)"
	mount -o ro /dev/mapper/lab-vol mnt
	cmp data mnt/data
	# What decides by itself ends well, whatever it decides.
	expect 0 "$DMCT" tune lab-vol --key-file key --time 3 --json
	is "$(json '(.applied == (.flags != .flags_before)) | tostring')" true
	is "$(json '.flags | join(" ")')" "$(dmsetup table lab-vol | grep -oE 'no_(read|write)_workqueue|same_cpu_crypt|submit_from_crypt_cpus' | paste -sd ' ')"
}

@test "tune: what is refused, and why" {
	image 24M
	expect 4 "$DMCT" tune "$loop"
	expect 4 "$DMCT" tune no-such-mapping
	mapping lab-zero "0 1000 zero"
	expect 4 "$DMCT" tune lab-zero
	says 'not a dm-crypt mapping: it has a target zero'
	cryptsetup open --type plain -c aes-xts-plain64 -s 512 --key-file <(head -c 64 /dev/zero) "$loop" lab-plain
	later cryptsetup close lab-plain
	expect 6 "$DMCT" tune lab-plain --persistent
	expect 6 "$DMCT" tune lab-plain
	volume 40M --type luks1
	expect 4 "$DMCT" tune "$loop"
	says 'is not open'
	opened lab-one
	expect 6 "$DMCT" tune lab-one --persistent --flags none
	expect 0 "$DMCT" tune lab-one --flags no_read_workqueue --key-file key
	dmsetup table lab-one | grep -q no_read_workqueue
	expect 2 setpriv --reuid=65534 --regid=65534 --clear-groups "$DMCT" tune lab-one
	expect 1 "$DMCT" tune lab-one --flags nonsense
	expect 1 "$DMCT" tune lab-one --policy nonsense
}

# filled: a file system with data on the open volume lab-vol, closed again.
filled() {
	head -c 3000000 /dev/urandom >data
	opened lab-vol
	mke2fs -q -F -t ext4 /dev/mapper/lab-vol
	mkdir -p mnt
	mount /dev/mapper/lab-vol mnt && cp data mnt && umount mnt && cryptsetup close lab-vol
	fill=$(cryptsetup open --key-file key "$loop" lab-vol && sha256sum </dev/mapper/lab-vol && cryptsetup close lab-vol)
}

# intact: every byte of the volume is as it was.
intact() {
	cryptsetup open --key-file key "$loop" lab-vol || return
	is "$(sha256sum </dev/mapper/lab-vol)" "$fill" "the volume's contents" || return
	mount -o ro /dev/mapper/lab-vol mnt && cmp data mnt/data && umount mnt && e2fsck -fn /dev/mapper/lab-vol >/dev/null &&
		cryptsetup close lab-vol
}

# reencrypts [ARGUMENT...]: the volume on $loop, to XTS.
reencrypts() {
	"$DMCT" reencrypt "$loop" --cipher aes-xts-plain64/512 --from "$BATS_FILE_TMPDIR/saved" --yes --quiet --key-file key --json "$@" </dev/null
}

# cut N HOW COMMAND...: the command, killed (kill) or told to stop (int) at its Nth write to the device.
cut() {
	CUT_TARGET=$loop CUT_WRITE=yes CUT_AT=$1 CUT_DO=$2 LD_PRELOAD=/lab/cut.so "${@:3}"
}

# left: what inspect says of the re-encryption; a kill may leave a copy of the header half written.
left() {
	run --separate-stderr "$DMCT" inspect "$loop" --no-measure --json
	[ "$status" -eq 0 ] || [ "$status" -eq 8 ] || return
	json .header.reencryption
}

@test "reencrypt, closed: cbc-essiv to xts, cut short by SIGINT and kill -9, gone on with; every byte is there" {
	volume 80M --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	filled
	expect 0 reencrypts --dry-run
	is "$(json '[.from, .to, .dry_run, .started, .finished] | join(" ")')" \
		"aes-cbc-essiv:sha256/256@512 aes-xts-plain64/512@512 true false false"
	is "$(json .bytes)" $((64 << 20))
	intact
	# As it begins; as the first area is written; with it written half; as the next one's checksums are; and so on.
	while read -r how expected at state; do
		expect "$expected" cut "$at" "$how" reencrypts || return
		[ "$how" = kill ] || json .error.message | grep -q 'Stopped after [0-9.]* % of .*goes on with it' || return
		is "$(left)" "$state" "after $how at $at" || return
	done <<-END
		kill 137 4 null
		kill 137 24 clean
		int 130 20 clean
		kill 137 9 crashed
		kill 137 3 crashed
		int 130 20 clean
		kill 137 6 crashed
	END
	expect 0 reencrypts
	is "$(json '[.resumed, .finished] | join(" ")')" "true true"
	inspects 0 "$loop"
	is "$(json '[.volume.spec, .header.reencryption] | tostring')" '["aes-xts-plain64/512@512",null]'
	is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -r '.segments["0"] | "\(.encryption) \(.sector_size)"')" "aes-xts-plain64 512"
	is "$(blkid -p -o value -s TYPE "$loop") $(wipefs -n -O TYPE --noheadings "$loop" | sort -u)" "crypto_LUKS crypto_LUKS"
	intact
}

# freed TEXT: does what a refusal says, but for unmounting.
freed() {
	local command
	while read -r command; do
		echo "$command" >&2
		# shellcheck disable=SC2086 # words
		timeout 60 $command || return
	done < <(grep -oE 'dmsetup wipe_table [^(]*|cryptsetup close [a-z-]+' <<<"$1")
}

@test "reencrypt, open and killed at its writes: what is left is told; what is told helps; ours and cryptsetup go on; every byte is there" {
	volume 34M --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	cryptsetup open --key-file key "$loop" lab-vol
	head -c 18M /dev/urandom >/dev/mapper/lab-vol
	before=$(sha256sum </dev/mapper/lab-vol)
	cryptsetup close lab-vol
	cp image-34M old.img
	later cryptsetup close -q lab-vol
	held=0 crashed=0
	while read -r at with; do
		cp old.img image-34M
		blockdev --flushbufs "$loop"
		cryptsetup open --key-file key "$loop" lab-vol
		expect 137 cut "$at" kill reencrypts || return
		[ "$(left)" != crashed ] || crashed=$((crashed + 1))
		if dmsetup ls | grep -q lab-vol-; then
			held=$((held + 1))
			expect 5 timeout 60 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key --json </dev/null
			json .error.message | grep -q 'open as lab-vol, and its re-encryption was killed.*hotzone-forward.*unmount it; cryptsetup close lab-vol' || return
			freed "$(json .error.message)" || return
		else
			cryptsetup close lab-vol
		fi
		is "$(dmsetup ls | grep -c lab-vol)" 0 "mappings left after $at" || return
		case $with in
		ours) expect 0 reencrypts || return ;;
		open)
			cryptsetup open --key-file key "$loop" lab-vol
			expect 0 reencrypts || return
			is "$(json '[.mapping, .finished] | join(" ")')" "lab-vol true" || return
			cryptsetup close lab-vol
			;;
		cryptsetup)
			cryptsetup repair -q --key-file key "$loop"
			cryptsetup reencrypt -q --resume-only --key-file key "$loop"
			;;
		begun)
			# The other way round: cryptsetup begins, and is killed.
			cp old.img image-34M
			blockdev --flushbufs "$loop"
			cryptsetup open --key-file key "$loop" lab-vol
			run cut "$at" kill cryptsetup reencrypt -q "${CHEAP[@]}" -c aes-xts-plain64 -s 512 --hotzone-size 8M --key-file key "$loop"
			expect 5 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key --json </dev/null
			freed "$(json .error.message)" || return
			expect 0 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key </dev/null || return
			;;
		esac
		cryptsetup open --key-file key "$loop" lab-vol
		is "$(sha256sum </dev/mapper/lab-vol)" "$before" "contents, killed at $at, then $with" || return
		cryptsetup close lab-vol
		inspects 0 "$loop"
		is "$(json '[.volume.spec, .header.reencryption] | tostring')" '["aes-xts-plain64/512@512",null]'
	done <<-END
		8 ours
		19 ours
		22 open
		23 ours
		26 cryptsetup
		28 open
		31 ours
		34 cryptsetup
		40 ours
		27 begun
	END
	[ $held -ge 6 ] && [ $crashed -ge 3 ] || { echo "held $held, crashed $crashed"; false; }
}

@test "reencrypt, open, mounted, written to and killed: who waits for the area at work gets an error, and all that was synced is there" {
	volume 80M --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	filled
	cryptsetup open --key-file key "$loop" lab-vol
	mount /dev/mapper/lab-vol mnt
	(for ((i = 0; ; i++)); do cp data mnt/other && sync mnt/other || break; done) 2>/dev/null &
	writer=$!
	expect 137 cut 28 kill reencrypts
	is "$(dmsetup info -c --noheadings -o suspended lab-vol-hotzone-forward)" Suspended
	expect 5 timeout 60 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key --json </dev/null
	what=$(json .error.message)
	freed "$(grep -o 'dmsetup wipe_table [^(]*' <<<"$what")"
	kill $writer 2>/dev/null || true
	wait $writer || true
	for ((i = 0; i < 100; i++)); do
		! umount mnt || break
		sleep 0.2
	done
	freed "${what/dmsetup wipe_table/}"
	is "$(dmsetup ls | grep -c lab-vol)" 0 "mappings left"
	expect 0 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key </dev/null
	cryptsetup open --key-file key "$loop" lab-vol
	later cryptsetup close lab-vol
	e2fsck -fp /dev/mapper/lab-vol || [ $? -eq 1 ]
	mount -o ro /dev/mapper/lab-vol mnt
	later umount mnt
	cmp data mnt/data
}

@test "reencrypt killed with a cipher that only the kernel has: the mapping that it leaves is told" {
	modprobe -q adiantum || true
	volume 24M --type luks2 -c aes-xts-plain64 -s 512 --sector-size 4096
	"$DMCT" bench --engine afalg --sector-size 4096 --time 0.5 --quiet --save more aes-xts-plain64/512 xchacha20,aes-adiantum-plain64/256 >/dev/null
	cryptsetup open --key-file key "$loop" lab-vol
	head -c 8M /dev/urandom >/dev/mapper/lab-vol
	before=$(sha256sum </dev/mapper/lab-vol)
	cryptsetup close lab-vol
	expect 137 cut 20 kill "$DMCT" reencrypt "$loop" --cipher xchacha20,aes-adiantum-plain64/256 --from more --yes --quiet --key-file key </dev/null
	left=$(dmsetup ls | awk '/^temporary-cryptsetup/ {print $1}')
	[ -n "$left" ]
	expect 5 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key </dev/null
	says "in use by $left, which a run that was killed has left: dmsetup remove $left"
	dmsetup remove "$left"
	expect 0 "$DMCT" reencrypt "$loop" --yes --quiet --key-file key </dev/null
	is "$(dmsetup ls | grep -c temporary)" 0
	cryptsetup open --key-file key "$loop" lab-vol
	later cryptsetup close lab-vol
	is "$(sha256sum </dev/mapper/lab-vol)" "$before"
}

@test "reencrypt, open and written to: the file system stays mounted; larger sectors only where it has such blocks" {
	volume 80M --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	head -c 3000000 /dev/urandom >data
	opened lab-vol
	mke2fs -q -F -t ext4 -b 1024 /dev/mapper/lab-vol
	expect 6 "$DMCT" reencrypt "$loop" --auto --sector-size 4096 --from "$BATS_FILE_TMPDIR/saved" --yes --key-file key </dev/null
	says 'has blocks of 1024'
	mke2fs -q -F -t ext4 -b 4096 /dev/mapper/lab-vol
	mkdir mnt
	mount /dev/mapper/lab-vol mnt
	later umount mnt
	cp data mnt
	(for ((i = 0; ; i++)); do cp data mnt/other; sync mnt/other; done) &
	writer=$!
	expect 0 "$DMCT" reencrypt "$loop" --cipher aes-xts-plain64/512 --from "$BATS_FILE_TMPDIR/saved" --yes --key-file key --json --quiet </dev/null
	kill $writer
	wait $writer || true
	is "$(json '[.mapping, .finished, .to] | tostring')" '["lab-vol",true,"aes-xts-plain64/512@512"]'
	cmp data mnt/data
	dmsetup table lab-vol | grep -q 'crypt aes-xts-plain64'
	umount mnt
	e2fsck -fn /dev/mapper/lab-vol >/dev/null
	cryptsetup close lab-vol
	expect 6 "$DMCT" reencrypt "$loop" --auto --sector-size 4096 --from "$BATS_FILE_TMPDIR/saved" --yes --key-file key </dev/null
	says 'can only be seen while it is open'
	# Of a size that 4096 does not divide, and with blocks of 4096.
	truncate -s $(((80 << 20) + 1536)) image-80M
	losetup -c "$loop"
	header=$(head -c 16M "$loop" | sha256sum)
	cryptsetup open --key-file key "$loop" lab-vol
	expect 6 "$DMCT" reencrypt "$loop" --auto --sector-size 4096 --from "$BATS_FILE_TMPDIR/saved" --yes --key-file key </dev/null
	says '4096 does not divide the data area'
	is "$(head -c 16M "$loop" | sha256sum)" "$header"
	cryptsetup close lab-vol
	cryptsetup open --key-file key "$loop" lab-vol
	mount -o ro /dev/mapper/lab-vol mnt
	cmp data mnt/data
}
