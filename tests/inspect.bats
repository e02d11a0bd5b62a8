#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# inspect: what a header says, agreed with cryptsetup; damage, weaknesses and hostile headers; and never a byte written.

load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'a key\n' >key
}

# made FILE ARGUMENT...: a volume by cryptsetup, with a cheap password hash.
made() {
	truncate -s "${size:-40M}" "$1"
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "${@:2}" "$1" key
}

# looks STATUS FILE ARGUMENT...: inspect --json ends so, is valid, and has left the file as it was, times included.
looks() {
	local before after
	before="$(sha256sum <"$2") $(stat -c '%y %z' "$2")"
	expect "$1" "$DMCT" inspect "$2" --json "${@:3}" </dev/null || return
	after="$(sha256sum <"$2") $(stat -c '%y %z' "$2")"
	is "$after" "$before" "the file's hash and times" || return
	valid inspect
}

# found ID...: those findings, in any order, and no others.
found() {
	is "$(json '[.findings[].id] | sort | unique | join(" ")')" "$(printf '%s\n' "$@" | sort -u | paste -sd ' ')" findings
}

# edit FILE FILTER: the metadata of both copies of a LUKS2 header as the filter has them, with their checksums.
edit() {
	local text at sum
	text=$(dd if="$1" bs=4096 skip=1 count=3 status=none | tr -d '\0' | jq -c "$2")
	for at in 4 0; do
		{ printf '%s' "$text" && head -c 12288 /dev/zero; } | head -c 12288 | dd of="$1" bs=4096 seek=$((at + 1)) conv=notrunc status=none
		zero "$1" $((at * 4096 + 448)) 64
		sum=$(dd if="$1" bs=4096 skip=$at count=4 status=none | sha256sum | cut -d ' ' -f 1)
		# shellcheck disable=SC2001 # each pair of digits
		printf '%b' "$(sed 's/../\\x&/g' <<<"$sum")" | dd of="$1" bs=1 seek=$((at * 4096 + 448)) conv=notrunc status=none
	done
}

# zero FILE OFFSET LENGTH
zero() {
	dd if=/dev/zero of="$1" bs="$3" oflag=seek_bytes seek="$2" count=1 conv=notrunc status=none
}

@test "LUKS2 by cryptsetup: what luksDump says, nothing written, exit status 0" {
	made v.img --type luks2 -c aes-xts-plain64 -s 512 --sector-size 4096 --label mine --subsystem theirs
	printf second >key2
	cryptsetup luksAddKey -q --key-file key --pbkdf argon2id --pbkdf-memory 65536 --pbkdf-parallel 2 \
		--pbkdf-force-iterations 4 v.img key2
	cryptsetup config v.img --key-slot 1 --priority prefer
	printf '{"type":"mine","keyslots":["0"]}' | cryptsetup token import v.img
	looks 0 v.img --no-measure
	dump=$(cryptsetup luksDump --dump-json-metadata v.img)
	is "$(json .header.uuid)" "$(cryptsetup luksUUID v.img)"
	is "$(json '[.header.type, .header.label, .header.subsystem, .header.tokens] | join(" ")')" "luks2 mine theirs 1"
	is "$(json '[.volume.spec, .volume.key_bits, .volume.sector_size, .volume.strength_bits] | join(" ")')" \
		"aes-xts-plain64/512@4096 512 4096 256"
	is "$(json .volume.data_offset)" "$(jq -r '.segments["0"].offset' <<<"$dump")"
	is "$(json .header.metadata_size)" $(($(jq -r .config.json_size <<<"$dump") + 4096))
	is "$(json .header.keyslots_size)" "$(jq -r .config.keyslots_size <<<"$dump")"
	is "$(json '[.header.copies[] | .name, .offset, .valid] | join(" ")')" "primary 0 true secondary 16384 true"
	is "$(json '.header.copies[0].sequence - .header.copies[1].sequence')" 0
	is "$(json '.header.keyslots[0] | [.slot, .pbkdf.type, .pbkdf.hash, .pbkdf.iterations, .pbkdf.memory] | tostring')" \
		'[0,"pbkdf2","sha256",1000,null]'
	is "$(json '.header.keyslots[1] | [.slot, .priority, .pbkdf.type, .pbkdf.iterations, .pbkdf.memory, .pbkdf.threads] | tostring')" \
		'[1,"prefer","argon2id",4,67108864,2]'
	found pbkdf2-weak
	is "$(json .recommendation)" null
	# As anybody who may read it.
	dir=$(mktemp -d)
	chmod 755 "$dir"
	cp --sparse=always v.img "$dir"
	chmod 644 "$dir/v.img"
	run as_user "$DMCT" inspect "$dir/v.img" --no-measure
	rm -r "$dir"
	is "$status" 0
	[[ $output == *"LUKS2 in"*"aes-xts-plain64/512@4096"*"256 bits"* ]]
}

@test "LUKS1 by cryptsetup: payload offset, hash, eight keyslots, one header" {
	made v.img --type luks1 -c aes-cbc-essiv:sha256 -s 256 --hash sha1
	looks 0 v.img --no-measure
	is "$(json '[.header.type, .header.uuid, (.header.copies | length)] | join(" ")')" "luks1 $(cryptsetup luksUUID v.img) 1"
	is "$(json '[.volume.spec, .volume.strength_bits] | join(" ")')" "aes-cbc-essiv:sha256/256@512 256"
	is "$(json .volume.data_offset)" $((512 * $(cryptsetup luksDump v.img | awk '/Payload offset/ {print $3}')))
	is "$(json '.header.keyslots[0].pbkdf.hash')" sha1
	found luks1 cbc cbc-512 pbkdf2-weak hash-outdated
}

@test "the cipher is measured beside what would be recommended, and the time to unlock from trials" {
	made v.img --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	"$DMCT" bench --json --engine cpu --tier portable --sector-size 512,4096 --time 0.5 --quiet \
		aes-xts-plain64/512 aes-cbc-essiv:sha256/256 | jq '.results |= map(.engine = "afalg" | .size = (.spec | split("@")[1] | tonumber))' >saved
	looks 0 v.img --from saved
	is "$(json .volume.basis)" afalg
	[ "$(json .volume.encrypt_bytes_per_second)" -gt 1000000 ]
	[ "$(json .recommendation.choice.strength_bits)" -ge 128 ]
	is "$(json '[.header.keyslots[].unlock_ms] | tostring')" "[null]"
	looks 0 v.img --time 0.2
	[ "$(json .recommendation.choice.strength_bits)" -ge 128 ]
	[ "$(json '.header.keyslots[0].unlock_ms // 0')" -lt 1000 ]
	is "$(json .volume.basis)" "$(json .recommendation.choice.basis)"
}

@test "a damaged first or second copy: named, exit status 8, not mended, and the other one is read" {
	made v.img --type luks2 --sector-size 4096
	uuid=$(cryptsetup luksUUID v.img)
	for where in 0 7 100 5000 16376; do
		cp --sparse=always v.img d.img
		printf '\377' | dd of=d.img bs=1 seek=$where conv=notrunc status=none
		looks 8 d.img --no-measure
		found primary-damaged pbkdf2-weak
		is "$(json '[.header.copies[].valid] | tostring')" '[false,true]' "at $where"
		is "$(json '[.header.loaded, .header.uuid] | join(" ")')" "true $uuid"
		[ "$(json '.header.copies[0].reason | length')" -gt 10 ]
		cp --sparse=always v.img d.img
		printf '\377' | dd of=d.img bs=1 seek=$((16384 + where)) conv=notrunc status=none
		looks 8 d.img --no-measure
		found secondary-damaged pbkdf2-weak
		is "$(json '[.header.copies[].valid] | tostring')" '[true,false]' "at $where"
		# cryptsetup mends it at sight; and then all is well.
		cryptsetup isLuks d.img && cryptsetup luksDump d.img >/dev/null
		looks 0 d.img --no-measure
	done
	# The first 16 KiB gone, as a partition table or a careless mkswap leaves it.
	cp --sparse=always v.img d.img
	zero d.img 0 16384
	looks 8 d.img --no-measure
	is "$(json '[.header.copies[].found] | tostring')" '[false,true]'
	is "$(json .header.uuid)" "$uuid"
	# Neither: said, with what may help.
	cp --sparse=always v.img d.img
	zero d.img 4200 100
	zero d.img $((16384 + 4200)) 100
	looks 8 d.img --no-measure
	found primary-damaged secondary-damaged
	is "$(json '[.header.loaded, .volume] | tostring')" '[false,null]'
	json '.findings[0].fix' | grep -q luksHeaderRestore
}

@test "copies of different age: the newer one counts, and it is said" {
	made v.img --type luks2 --sector-size 4096
	cp --sparse=always v.img old.img
	cryptsetup config v.img --label newer
	dd if=old.img of=v.img bs=16384 skip=1 seek=1 count=1 conv=notrunc status=none
	looks 0 v.img --no-measure
	found copies-differ pbkdf2-weak
	is "$(json .header.label)" newer
	is "$(json '.header.copies[0].sequence - .header.copies[1].sequence')" 1
}

@test "a detached header, alone and with its data" {
	truncate -s 20M data.img
	truncate -s 16M header
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --sector-size 512 --header header data.img key
	looks 0 header --no-measure
	is "$(json '[.header.detached, .volume.data_offset] | tostring')" '[true,0]'
	found detached pbkdf2-weak
	looks 0 data.img --no-measure --header header
	is "$(json '[.header.path, .device.path, .header.detached] | tostring')" '["header","data.img",true]'
	found detached pbkdf2-weak sector-512
	expect 4 "$DMCT" inspect data.img
	says 'no LUKS volume'
	expect 4 "$DMCT" inspect header --header data.img
	says 'data.img holds no LUKS header'
}

@test "weak and odd volumes: each has its finding and a fix" {
	made v.img --type luks2 -c aes-xts-plain64 -s 256 --sector-size 512
	looks 0 v.img --no-measure
	found xts-128 sector-512 pbkdf2-weak
	is "$(json .volume.strength_bits)" 128
	size=3T made big.img --type luks2 -c aes-xts-plain -s 512 --sector-size 4096
	expect 0 "$DMCT" inspect big.img --json --no-measure
	valid inspect
	is "$(json '.findings[] | select(.id == "plain-iv") | .severity')" error
	made v.img --type luks2 -c aes-cbc-plain64 -s 128 --sector-size 4096
	looks 0 v.img --no-measure
	found cbc-predictable-iv pbkdf2-weak
	made v.img --type luks2 -c aes-cbc-plain -s 256 --sector-size 4096
	looks 0 v.img --no-measure
	found cbc-predictable-iv plain-iv pbkdf2-weak cipher-unknown
	truncate -s 40M v.img
	cryptsetup luksFormat -q --pbkdf argon2i --pbkdf-memory 32768 --pbkdf-force-iterations 4 --sector-size 4096 v.img key
	looks 0 v.img --no-measure
	found argon2i argon2-memory-small
	made v.img --type luks2 --sector-size 4096
	cryptsetup luksErase -q v.img
	looks 0 v.img --no-measure
	found no-keyslot
	is "$(json '.findings | map(select(.severity != "info" and .fix == null)) | length')" 0
	made v.img --type luks2 --sector-size 4096
	truncate -s 8M v.img
	looks 8 v.img --no-measure
	found data-outside pbkdf2-weak
}

@test "cut short: a header, keyslots or data that the device ends before are damage, in LUKS1 and LUKS2" {
	made v1.img --type luks1
	made v2.img --type luks2 --sector-size 4096
	# Of each length what is beyond the end.
	while read -r type length ids; do
		head -c "$length" "v$type.img" >cut.img
		looks 8 cut.img --no-measure
		for id in $ids; do
			is "$(json "[.findings[] | select(.id == \"$id\")] | length")" 1 "$type $length $id"
		done
		is "$(json .header.type)" "luks$type"
		# No advice to change what is not whole.
		is "$(json '[.findings[] | select(.severity != "error" and .fix != null)] | length')" 0
		! json '.findings[].fix' | grep -Eq 'repair|convert|reencrypt|luksConvertKey' || return 1
	done <<-END
		1 60 primary-damaged
		1 592 keyslot-outside data-outside
		1 100000 keyslot-outside data-outside
		1 1000000 data-outside
		1 2097152 data-outside
		2 60 primary-damaged secondary-damaged
		2 4096 primary-damaged secondary-damaged
		2 16000 primary-damaged secondary-damaged
		2 20000 secondary-damaged keyslot-outside data-outside
		2 32768 keyslot-outside data-outside
		2 16777215 data-outside
	END
	head -c 592 v1.img >cut.img
	looks 8 cut.img --no-measure
	is "$(json '.header.keyslots[0] | [.area_offset, .area_size, .area_damaged_sectors] | tostring')" '[4096,256000,500]'
}

@test "keyslots whose area is blank, or overwritten in part: named; what is sound is not" {
	made v.img --type luks2 --sector-size 4096
	cryptsetup luksAddKey -q --key-file key --pbkdf pbkdf2 --pbkdf-force-iterations 1000 v.img key
	looks 0 v.img --no-measure
	is "$(json '[.header.keyslots[].area_damaged_sectors] | tostring')" '[0,0]'
	cp --sparse=always v.img d.img
	zero d.img 32768 258048
	looks 8 d.img --no-measure
	found keyslot-damaged pbkdf2-weak
	is "$(json '[.header.keyslots[].area_damaged_sectors] | tostring')" '[500,0]'
	json '.findings[0].message' | grep -q 'Keyslot 0: .* 256000 bytes from byte 32768, was blanked'
	# Text over three sectors of the other, and 0xff over one.
	cp --sparse=always v.img d.img
	yes | dd of=d.img bs=512 count=3 seek=600 iflag=fullblock conv=notrunc status=none
	tr '\0' '\377' </dev/zero | dd of=d.img bs=512 count=1 seek=700 iflag=fullblock conv=notrunc status=none
	looks 8 d.img --no-measure
	is "$(json '[.header.keyslots[].area_damaged_sectors] | tostring')" '[0,4]'
	made w.img --type luks1
	zero w.img 4096 258048
	looks 8 w.img --no-measure
	is "$(json '[.findings[] | select(.id == "keyslot-damaged")] | length')" 1
}

@test "requirements and versions of LUKS that are not known: named, and no advice to change the header" {
	made v.img --type luks2 --sector-size 4096
	cp --sparse=always v.img d.img
	edit d.img '.config.requirements = {mandatory: ["something-new", "and-more"]}'
	looks 0 d.img --no-measure
	found requirement-unknown pbkdf2-weak
	is "$(json .header.reencryption)" null
	is "$(json .header.requirements_unknown)" '"something-new", "and-more"'
	json '.findings[0].message' | grep -q 'requires "something-new", "and-more", which is not known'
	! json '.findings[].fix' | grep -Eq 'repair|reencrypt|luks' || return 1
	expect 6 "$DMCT" reencrypt d.img --auto --dry-run --key-file key
	says 'something-new'
	# Both copies of a version that there is not yet; then one of them.
	for at in 6 16390; do printf '\0\3' | dd of=d.img bs=1 seek=$at conv=notrunc status=none; done
	expect 4 "$DMCT" inspect d.img --no-measure
	says 'd.img has the mark of LUKS with version 3; only versions 1 and 2 are known'
	cp --sparse=always v.img d.img
	printf '\0\3' | dd of=d.img bs=1 seek=6 conv=notrunc status=none
	looks 8 d.img --no-measure
	found primary-damaged pbkdf2-weak
	json '.findings[0] | .message + .fix' | grep -q 'of version 3, not 2.*If a newer program made it'
	made w.img --type luks1
	printf '\0\7' | dd of=w.img bs=1 seek=6 conv=notrunc status=none
	expect 4 "$DMCT" inspect w.img --no-measure
	says 'with version 7'
}

@test "costs that cannot be, or that nobody waits for; metadata that libcryptsetup refuses, with its reason" {
	made v.img --type luks2 --sector-size 4096
	argon='{type: "argon2id", time: 4, memory: 65536, cpus: 4, salt: .keyslots["0"].kdf.salt}'
	while IFS='|' read -r status id said filter; do
		cp --sparse=always v.img d.img
		edit d.img "$filter"
		looks "$status" d.img --no-measure
		is "$(json "[.findings[] | select(.id == \"$id\")] | length > 0")" true "$filter: $id"
		json ".findings[] | select(.id == \"$id\") | .message" | grep -q -- "$said"
	done <<-END
		8|pbkdf-impossible|-1 iterations|.keyslots["0"].kdf.iterations = -1
		8|pbkdf-impossible|4000000000 iterations|.keyslots["0"].kdf.iterations = 4000000000
		0|pbkdf-costly|2000000000|.keyslots["0"].kdf.iterations = 2000000000
		8|digest-impossible|-5 iterations|.digests["0"].iterations = -5
		8|pbkdf-impossible|0 iterations|.keyslots["0"].kdf = ($argon | .time = 0)
		8|pbkdf-impossible|-1 KiB|.keyslots["0"].kdf = ($argon | .memory = -1)
		8|pbkdf-impossible|0 threads|.keyslots["0"].kdf = ($argon | .cpus = 0)
		0|pbkdf-costly|2000000000|.keyslots["0"].kdf = ($argon | .time = 2000000000)
		0|pbkdf-unknown|scrypt|.keyslots["0"].kdf.type = "scrypt"
		8|primary-damaged|Illegal area offset: 64|.keyslots["0"].area.offset = "64"
		8|secondary-damaged|segments|del(.segments)
		8|primary-damaged|Keyslot type luks2 validation failed on keyslot 0|.keyslots["0"].kdf = ($argon | .salt = "\u0000")
		8|primary-damaged|libcryptsetup says no more|.segments["0"].encryption = ""
		8|primary-damaged|JSON area|null
	END
	made w.img --type luks1
	zero w.img 164 4
	looks 8 w.img --no-measure
	is "$(json '[.findings[] | select(.id == "digest-impossible")] | length')" 1
}

@test "a copy by luksHeaderBackup is known as one; what to do is said with --header" {
	made v2.img --type luks2 --sector-size 4096
	made v1.img --type luks1
	for type in 1 2; do
		cryptsetup luksHeaderBackup v$type.img --header-backup-file saved$type
		chmod 644 saved$type
		looks 0 saved$type --no-measure
		is "$(json '[.header.backup, .header.detached] | tostring')" '[true,true]'
		found header-backup pbkdf2-weak
		json '.findings[] | select(.id == "header-backup") | .fix' | grep -q "header saved$type; .*luksHeaderRestore DEVICE"
		json '.findings[] | select(.id == "pbkdf2-weak") | .fix' | grep -q "luksConvertKey DEVICE --header saved$type -S 0"
	done
	looks 0 v2.img --no-measure --header saved2
	is "$(json '[.header.backup, .header.detached] | tostring')" '[false,true]'
	json '.findings[] | select(.id == "pbkdf2-weak") | .fix' | grep -q 'luksConvertKey v2.img --header saved2 -S 0'
	# A byte less is no such copy.
	truncate -s -1 saved2
	looks 8 saved2 --no-measure
	is "$(json .header.backup)" false
}

@test "a re-encryption that is not finished" {
	made v.img --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 4096
	cryptsetup reencrypt --init-only -q --key-file key -c aes-xts-plain64 -s 512 --pbkdf pbkdf2 \
		--pbkdf-force-iterations 1000 v.img
	looks 0 v.img --no-measure
	is "$(json '[.header.requirements[], .header.reencryption] | join(" ")')" "online-reencrypt clean"
	found reencrypt-interrupted pbkdf2-weak
	json '.findings[] | select(.id == "reencrypt-interrupted") | .fix' | grep -q 'dmcrypt-tune reencrypt v.img'
}

@test "what is no LUKS volume, or cannot be looked at" {
	truncate -s 8M e.img
	expect 4 "$DMCT" inspect e.img
	says 'e.img is no LUKS volume: nothing was found'
	mkfs.ext4 -q e.img
	expect 4 "$DMCT" inspect e.img --json
	says 'it holds ext4'
	is "$(json .error.code)" 4
	: >empty
	expect 4 "$DMCT" inspect empty
	expect 4 "$DMCT" inspect no-such-thing
	expect 4 "$DMCT" inspect ./no-such-thing
	expect 4 "$DMCT" inspect .
	mkfifo pipe
	expect 4 timeout 10 "$DMCT" inspect pipe
	expect 4 "$DMCT" inspect /dev/null
	expect 1 "$DMCT" inspect
	expect 1 "$DMCT" inspect e.img --policy none
	expect 1 "$DMCT" inspect e.img --sysroot /
	made v.img --type luks2
	chmod 600 v.img
	expect 2 as_user "$DMCT" inspect "$PWD/v.img"
}

@test "hostile headers: sizes, JSON and bytes of every kind end with a status, soon" {
	made v.img --type luks2
	made w.img --type luks1
	head -c 32768 v.img >base2
	head -c 4096 w.img >base1
	RANDOM=7
	for i in {1..25}; do
		for base in base1 base2; do
			cp $base h.img
			truncate -s 20M h.img
			for _ in {1..4}; do
				# Mostly where numbers and the beginning of the JSON stand, in both copies.
				at=$((RANDOM % (i % 2 ? 600 : 5200)))
				[ $base = base1 ] || at=$((at + RANDOM % 2 * 16384))
				printf '%b' "\\x$(printf %x $((RANDOM % 256)))" | dd of=h.img bs=1 seek=$at conv=notrunc status=none
			done
			run timeout 20 "$DMCT" inspect h.img --json --no-measure
			[[ $status == 0 || $status == 4 || $status == 8 ]] || { echo "$i $base: $status $output"; return 1; }
		done
	done
	# Sizes that lead out of the file, and a file that ends in the middle.
	for bytes in 'ff ff ff ff ff ff ff ff' '00 00 00 00 00 00 00 00' '00 00 00 00 00 40 00 00' '00 00 00 00 00 00 40 01'; do
		cp base2 h.img
		printf '%b' "\\x${bytes// /\\x}" | dd of=h.img bs=1 seek=8 conv=notrunc status=none
		run "$DMCT" inspect h.img --json --no-measure
		is "$status" 8 "with a size of $bytes"
	done
	for length in 6 100 592 4096 8192 16384 20000; do
		head -c $length base2 >h.img
		run "$DMCT" inspect h.img --json --no-measure
		[[ $status == 4 || $status == 8 ]] || { echo "$length bytes: $status $output"; return 1; }
	done
}
