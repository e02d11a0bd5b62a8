# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the guests' tests share, beside ../lib/common.bash. They run as root, in a guest that nobody else uses: what is
# needed there and missing is a failure, not a skip.

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'a key\n' >key
	things=()
}

teardown() {
	release
	tidy
}

# A guest's /tmp is its memory.
tidy() {
	cd / && rm -rf "${BATS_TEST_TMPDIR:?}"/*
}

# later COMMAND...: to be done when the test is over, last first.
later() {
	things=("$(printf '%q ' "$@")" "${things[@]}")
}

release() {
	local thing
	for thing in "${things[@]}"; do
		eval "$thing" || true
	done
	things=()
}

# disk NAME: the node of the disk of disks.bash.
disk() {
	local file
	for file in /sys/block/*/serial /sys/block/*/device/vpd_pg80; do
		[ -r "$file" ] || continue
		[ "$(tr -cd 'a-z0-9' <"$file")" = "$1" ] || continue
		file=${file#/sys/block/}
		printf '/dev/%s\n' "${file%%/*}"
		return
	done
	echo "no disk $1 in this guest" >&2
	return 1
}

# image SIZE: a loop device over a new file, whose name goes to $loop.
image() {
	truncate -s "$1" "image-$1"
	loop=$(losetup -f --show "image-$1")
	later losetup -d "$loop"
}

# saved: measurements for `--from`, made once a file, so that only the tests of measuring measure.
saved() {
	"$DMCT" bench --engine afalg --sector-size 512,4096 --time 1 --quiet --save "$BATS_FILE_TMPDIR/saved" \
		aes-xts-plain64/512 >/dev/null
}

# format DEVICE ARGUMENT...: with a cheap password hash and those measurements, as JSON.
format() {
	"$DMCT" format "$1" --auto --yes --key-file key --json --from "$BATS_FILE_TMPDIR/saved" \
		--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 "${@:2}" </dev/null
}

# The bytes at either end of a disk that a refusal must leave alone.
END_BYTES=$((32 << 20))

# where_last DEVICE: where its last 32 MiB begin.
where_last() {
	local size
	size=$(blockdev --getsize64 "$1")
	echo $((size > END_BYTES ? size - END_BYTES : 0))
}

# remember DEVICE: copies the first and the last 32 MiB.
remember() {
	sync
	dd if="$1" of=first bs=1M count=32 conv=sparse status=none
	dd if="$1" of=last bs=1M skip="$(where_last "$1")B" conv=sparse status=none
	truncate -s "$(($(blockdev --getsize64 "$1") - $(where_last "$1")))" last
	truncate -s "$(stat -c %s last)" first
}

# untouched DEVICE: its ends are as `remember` found them.
untouched() {
	# From the disk, not from the cache.
	blockdev --flushbufs "$1" 2>/dev/null || true
	cmp -n "$(stat -c %s first)" first "$1" && cmp -i "0:$(where_last "$1")" last "$1"
}

# refused STATUS PATTERN DEVICE ARGUMENT...: `format` ends so, says so, and the disk's ends are as they were.
refused() {
	remember "$3"
	expect "$1" format "${@:3}" || return
	json .error.message | grep -Eq -- "$2" || {
		printf 'the error is not "%s": %s\n' "$2" "$output"
		return 1
	}
	untouched "$3"
}

# mapping NAME TABLE: a device-mapper device, for this test.
mapping() {
	dmsetup create "$1" --table "$2" || return
	later dmsetup remove --retry "$1"
}

# without_dm COMMAND...: as a root that may not make mappings, so that something else than dm-crypt is measured.
without_dm() {
	setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"
}

sectors() {
	blockdev --getsz "$1"
}

# agrees DEVICE NAME: what `format` printed ($output), the header and the open mapping say the same.
agrees() {
	local uuid cipher bits sector offset header length key at more expected
	read -r uuid cipher bits sector offset < <(
		json '"\(.uuid) \(.plan.choice | "\(.cipher) \(.key_bits) \(.sector_size)") \(.plan.data_offset)"')
	header=$(cryptsetup luksDump --dump-json-metadata "$1" |
		jq -r '"\(.segments["0"].encryption) \(.keyslots["0"].key_size * 8) \(.segments["0"] | "\(.sector_size) \(.offset)")"')
	is "$header" "$cipher $bits $sector $offset" "cipher, key bits, sector size, data offset in the header" || return
	is "$(cryptsetup luksUUID "$1")" "$uuid" uuid || return
	read -r _ length _ at key _ _ more < <(dmsetup table "$2")
	key=${key#:}
	expected="$cipher $((bits / 8)) $((offset / 512))"
	[ "$sector" = 512 ] || expected+=" sector_size:$sector"
	is "$at ${key%%:*} $(sed -E 's/^([0-9]+) .*(sector_size:[0-9]+).*/\1 \2/; t; s/ .*//' <<<"$more")" "$expected" \
		"cipher, key bytes, data offset, sector size of the mapping" || return
	is "$length" $((($(blockdev --getsize64 "$1") - offset) / sector * sector / 512)) "length of the mapping"
}

# used DEVICE NAME: what was formatted opens with cryptsetup, takes a file system and data up to its last byte, and gives
# them back after having been closed.
used() {
	local end
	head -c 1000000 /dev/urandom >data
	head -c 65536 /dev/urandom >data.end
	cryptsetup open --key-file key "$1" "$2" || return
	later cryptsetup close "$2"
	agrees "$1" "$2" || return
	end=$(($(blockdev --getsize64 "/dev/mapper/$2") - 65536))
	mke2fs -q -F -t ext4 -E nodiscard "/dev/mapper/$2" 16M || return
	dd if=data.end of="/dev/mapper/$2" bs=64K seek=${end}B conv=notrunc,fsync status=none || return
	mkdir -p mnt
	mount "/dev/mapper/$2" mnt && cp data mnt && umount mnt && cryptsetup close "$2" || return
	cryptsetup open --key-file key "$1" "$2" && mount -o ro "/dev/mapper/$2" mnt || return
	cmp data mnt/data || return
	umount mnt
	dd if="/dev/mapper/$2" of=read.end bs=64K skip=${end}B status=none
	cmp data.end read.end && cryptsetup close "$2"
}
