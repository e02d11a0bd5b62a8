#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# format --integrity: volumes that keep a tag beside each sector, wiped as they are made.

# shellcheck disable=SC2154 # output, stderr and status are bats's
load ../lib/common
load guest

CHEAP=(--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1)

setup_file() {
	saved
}

# authenticated DEVICE ARGUMENT...: formats as asked for.
authenticated() {
	"$DMCT" format "$1" --yes --key-file key --json --from "$BATS_FILE_TMPDIR/saved" "${CHEAP[@]}" "${@:2}" </dev/null
}

# whole DEVICE [OPTION...]: opens, every byte can be read, takes a file system, and gives data back after having been closed.
whole() {
	cryptsetup open --key-file key "${@:2}" "$1" lab-int || return
	later cryptsetup close lab-int
	dd if=/dev/mapper/lab-int of=/dev/null bs=1M status=none || return
	head -c 1000000 /dev/urandom >data
	mke2fs -q -F -t ext4 -E nodiscard /dev/mapper/lab-int && mkdir -p mnt && mount /dev/mapper/lab-int mnt &&
		cp data mnt && umount mnt && cryptsetup close lab-int || return
	cryptsetup open --key-file key "${@:2}" "$1" lab-int && mount -o ro /dev/mapper/lab-int mnt && cmp data mnt/data &&
		umount mnt && cryptsetup close lab-int
}

@test "each mode and sector size: the header is as planned, all of it can be read, a changed sector is refused" {
	while read -r spec mode key; do
		image 22M
		later cryptsetup close -q lab-int
		expect 0 authenticated "$loop" --cipher "$spec"
		is "$(json '[.written, .verified, .mapped, .wipe.done] | tostring')" '[true,true,true,true]' "$spec"
		is "$(json '.plan.choice | .spec')" "$spec"
		is "$(cryptsetup luksDump --dump-json-metadata "$loop" |
			jq -r '.segments["0"] | "\(.integrity.type) \(.sector_size) \(.offset)"')" \
			"$mode ${spec#*@} 16777216" "$spec"
		is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -r '.digests["0"].type')" pbkdf2
		cryptsetup open --key-file key "$loop" lab-int
		is "$(blockdev --getsize64 /dev/mapper/lab-int)" "$(json .wipe.bytes)" "room, $spec"
		is "$(cmp /dev/zero /dev/mapper/lab-int 2>&1 | grep -c EOF)" 1 "all of $spec reads as zeros"
		is "$(dmsetup table lab-int | awk '{ print $5 }' | cut -d: -f2)" "$key" "key bytes of $spec"
		cryptsetup close lab-int
		is "$(dmsetup ls | grep -c -e dmcrypt-tune -e lab-int)" 0 "mappings left"
		# What lies last on the disk is data, whatever the room that the journal takes.
		head -c 1M /dev/urandom | dd of="$loop" bs=1M seek=21 conv=notrunc,fsync status=none
		cryptsetup open --key-file key "$loop" lab-int
		run dd if=/dev/mapper/lab-int of=/dev/null bs=1M
		[ "$status" -ne 0 ]
		cryptsetup close lab-int
		expect 0 "$DMCT" inspect "$loop" --no-measure --json
		is "$(json .volume.spec)" "$spec"
		release
		rm -f image-22M
	done <<-END
		aes-xts-plain64/512+hmac-sha256@4096 hmac(sha256) 96
		aes-gcm-random/256+aead@4096 aead 32
		chacha20-random/256+poly1305@4096 poly1305 32
		aegis128-random/128+aead@4096 aead 16
		aes-cbc-essiv:sha256/256+hmac-sha256@512 hmac(sha256) 64
	END
}

@test "an image file, a detached header with an offset, and a header on another device: used to the last byte" {
	truncate -s 22M file.img
	expect 0 authenticated file.img --cipher aes-xts-plain64/512+hmac-sha256
	is "$(json '[.written, .verified, .mapped, .wipe.done] | tostring')" '[true,true,true,true]'
	is "$(losetup -a | grep -c file.img)" 0 "loop devices left"
	whole file.img
	image 12M
	expect 0 authenticated "$loop" --cipher aes-gcm-random/256+aead --header head --offset 1M --overwrite
	is "$(json '[.plan.data_offset, .header.bytes] | join(" ")')" "1048576 1048576"
	is "$(blkid -p -o value -s TYPE "$loop")" ""
	whole "$loop" --header head
	data=$loop
	image 20M
	expect 0 authenticated "$data" --cipher aes-xts-plain64/512+hmac-sha256 --header "$loop" --overwrite
	is "$(json .header.kind)" loop
	whole "$data" --header "$loop"
	expect 0 "$DMCT" inspect "$data" --header "$loop" --no-measure
}

@test "--dry-run and what is refused change nothing; --integrity-no-wipe leaves the wipe out, as cryptsetup has it" {
	image 24M
	head -c 24M /dev/urandom >"$loop"
	before=$(sha256sum <"$loop")
	expect 0 authenticated "$loop" --auto --integrity hmac-sha256 --overwrite --dry-run
	is "$(json '[.plan.integrity.mode, .plan.integrity.wipe_bytes, .wipe, .written] | tostring')" '["hmac-sha256",8388608,null,false]'
	json '.plan.reasons[]' | grep -q 'must be written once before use'
	expect 1 authenticated "$loop" --auto --integrity any --overwrite --undo-file undo
	expect 1 authenticated "$loop" --auto --integrity any --overwrite --allow-discards
	expect 1 authenticated "$loop" --auto --type luks1 --integrity any --overwrite
	expect 6 authenticated "$loop" --auto --integrity any
	is "$(sha256sum <"$loop")" "$before"
	expect 0 authenticated "$loop" --cipher aes-xts-plain64/512+hmac-sha256@4096 --integrity-no-wipe --overwrite
	is "$(json '[.mapped, .wipe.done, .wipe.seconds] | tostring')" '[true,false,0]'
	json '.plan.cryptsetup_argv | join(" ")' | grep -q -- '--integrity hmac-sha256 --integrity-no-wipe'
	# What was not written cannot be read, and what is written can.
	cryptsetup open --key-file key "$loop" lab-int
	later cryptsetup close lab-int
	run dd if=/dev/mapper/lab-int of=/dev/null bs=1M
	[ "$status" -ne 0 ]
	head -c 1M /dev/urandom >data
	dd if=data of=/dev/mapper/lab-int bs=1M seek=5 conv=fsync status=none
	cmp -n 1048576 -i 0:5242880 data /dev/mapper/lab-int
}

@test "the same as cryptsetup makes: header fields and room" {
	image 24M
	expect 0 authenticated "$loop" --cipher aes-xts-plain64/512+hmac-sha256@4096
	ours=$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -cS '[.segments, .config, .keyslots["0"].area.encryption, .keyslots["0"].key_size]')
	room=$(json .wipe.bytes)
	json '.plan.cryptsetup_argv | .[0:-1] | map(@sh) | join(" ")' >argv
	bash -c "$(<argv) -q --integrity-no-wipe $loop key"
	is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -cS '[.segments, .config, .keyslots["0"].area.encryption, .keyslots["0"].key_size]')" "$ours"
	cryptsetup open --key-file key "$loop" lab-int
	is "$(blockdev --getsize64 /dev/mapper/lab-int)" "$room"
	cryptsetup close lab-int
}

# slow: $loop lies behind a disk that takes 50 ms for each write ($slow), so that there is time to cut in.
slow() {
	mapping lab-slow "0 $(sectors "$loop") delay $loop 0 0 $loop 0 50"
	slow=/dev/mapper/lab-slow
}

@test "the wipe cut short by signals: the state is told, nothing opens, no mapping is left, formatting again works" {
	image 48M
	# What was on it goes first: a volume that opened would not be what is told.
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$loop" key
	slow
	for signal in INT TERM KILL; do
		env --default-signal=INT,TERM "$DMCT" format $slow --yes --overwrite --key-file key --json --from "$BATS_FILE_TMPDIR/saved" \
			"${CHEAP[@]}" --cipher aes-xts-plain64/512+hmac-sha256@4096 </dev/null >out 2>err &
		pid=$!
		until dmsetup ls | grep -q '^dmcrypt-tune-.*_dif'; do
			sleep 0.1
			kill -0 $pid
		done
		sleep 1
		kill -$signal $pid
		status=0
		wait $pid || status=$?
		case $signal in
		INT) is $status 130 "$(cat err out)" ;;
		TERM) is $status 143 "$(cat err out)" ;;
		KILL) is $status 137 ;;
		esac
		[ $signal = KILL ] || jq -r .error.message out | grep -Eq 'Interrupted after .* [0-9]+ %, had been wiped\. What was on it is lost, and it holds no volume that opens.*Format it again'
		# The kernel removes what a killed process had open a moment later.
		for ((i = 0; i < 100; i++)); do
			dmsetup ls | grep -q dmcrypt-tune || break
			sleep 0.1
		done
		is "$(dmsetup ls | grep -c dmcrypt-tune)" 0 "mappings left by $signal"
		run cryptsetup isLuks "$loop"
		[ "$status" -ne 0 ]
		expect 4 "$DMCT" inspect "$loop" --no-measure
		says 'is no LUKS volume'
		is "$(wipefs -n "$loop" | wc -l)" 0 "signatures after $signal"
	done
	expect 0 authenticated $slow --cipher aes-xts-plain64/512+hmac-sha256@4096 --integrity-no-wipe --overwrite
	dmsetup remove lab-slow
	cryptsetup open --test-passphrase --key-file key "$loop"
}

@test "a disk that fails in the wipe: 8, and what it holds is told; progress on a terminal" {
	image 40M
	slow
	authenticated $slow --cipher aes-xts-plain64/512+hmac-sha256@4096 >out 2>err &
	pid=$!
	until dmsetup ls | grep -q '^dmcrypt-tune-.*_dif'; do
		sleep 0.1
		kill -0 $pid
	done
	sleep 0.5
	dmsetup load lab-slow --table "0 $(sectors "$loop") error"
	dmsetup resume lab-slow
	status=0
	wait $pid || status=$?
	is "$status" 8 "$(cat out err)"
	jq -r .error.message out | grep -q 'failed in its data area: it cannot be wiped.*What was on it is lost, and it holds no volume that opens'
	is "$(dmsetup ls | grep -c dmcrypt-tune)" 0 "mappings left"
	dmsetup remove --retry lab-slow
	things=("${things[@]:1}")
	run cryptsetup isLuks "$loop"
	[ "$status" -ne 0 ]
	slow
	script -qec "$(printf '%q ' "$DMCT" format $slow --yes --overwrite --key-file key --from "$BATS_FILE_TMPDIR/saved" "${CHEAP[@]}" \
		--cipher aes-xts-plain64/512+hmac-sha256@4096)" seen </dev/null >/dev/null
	tr '\r' '\n' <seen | grep -E '[0-9]+ %  wiping, [0-9.]+ .B/s, [0-9]+ min [0-9]+ s left'
	grep -q 'all of it written once' seen
}
