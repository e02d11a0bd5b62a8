# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Whether cryptsetup, blkid, wipefs and lsblk say of a new volume what `format --json` said ($output).

# header_fields FILE: "CIPHER KEYBITS SECTOR OFFSET UUID LABEL SUBSYSTEM", a "-" for nothing, as cryptsetup reads them.
header_fields() {
	local text
	text=$(cryptsetup luksDump "$1") || return
	if [ "$(awk '/^Version:/ { print $2 }' <<<"$text")" = 1 ]; then
		awk '/^Cipher name:/ { c = $3 } /^Cipher mode:/ { m = $3 } /^MK bits:/ { b = $3 } /^UUID:/ { u = $2 }
			/^Payload offset:/ { o = $3 * 512 } END { print c "-" m, b, 512, o, u, "-", "-" }' <<<"$text"
		return
	fi
	cryptsetup luksDump --dump-json-metadata "$1" | jq -r '"\(.segments["0"].encryption) \(.keyslots["0"].key_size * 8) \(
		.segments["0"].sector_size) \(.segments["0"].offset)"' | tr '\n' ' '
	awk '/^UUID:/ { u = $2 } /^Label:/ { l = $2 } /^Subsystem:/ { s = $2 }
		END { print u, l == "(no" ? "-" : l, s == "(no" ? "-" : s }' <<<"$text"
}

# probed FILE: "TYPE VERSION UUID LABEL SUBSYSTEM PTTYPE" by blkid's low-level probing.
probed() {
	local tag all=
	for tag in TYPE VERSION UUID LABEL SUBSYSTEM PTTYPE; do
		all+="$(blkid -p -o value -s $tag "$1" || true) "
		[ "${all: -2}" != "  " ] && [ "$all" != " " ] || all="${all% }- "
	done
	echo "${all% }"
}

# listed DEVICE: "FSTYPE FSVER LABEL UUID" by lsblk. It asks udev's database alone, so where there is no udev the device
# gets its entry from what udev takes it from, blkid.
listed() {
	local number
	if [ ! -e /run/udev/control ]; then
		read -r number <"/sys/class/block/${1#/dev/}/dev"
		mkdir -p /run/udev/data
		{
			echo "I:1"
			blkid -p -o udev "$1" | sed 's/^/E:/'
		} >"/run/udev/data/b$number"
	fi
	lsblk -dnr -o FSTYPE,FSVER,LABEL,UUID "$1" | sed 's/^ /- /; s/  / - /g; s/  / - /g; s/ $/ -/'
}

# agree DEVICE [HEADER]: all of them, on a volume whose header is in HEADER where that is given.
agree() {
	local at=${2:-$1} version fields signatures
	version=$(json .type)
	version=${version#luks}
	# In the header a MAC's key stands behind the cipher's.
	fields=$(json '"\(.plan.choice.cipher) \(.plan.choice.key_bits + if .plan.integrity.mode == "hmac-sha256" then 256 else 0 end) \(
		.plan.choice.sector_size) \(.plan.data_offset) \(.uuid) \(
		.label // "-") \(.subsystem // "-")"')
	is "$(header_fields "$at")" "$fields" "cryptsetup luksDump" || return
	is "$(probed "$at")" "crypto_LUKS $version $(json '"\(.uuid) \(.label // "-") \(.subsystem // "-")"') -" "blkid -p" || return
	# One set of signatures: LUKS2 has a second header right after the first.
	signatures="0x0 crypto_LUKS $(json .uuid)"
	[ "$version" = 1 ] || signatures+=$'\n'"0x4000 crypto_LUKS $(json .uuid)"
	is "$(wipefs -n -p "$at" | awk -F, '!/^#/ { print $1, $4, $2 }')" "$signatures" "wipefs -n" || return
	[ "$at" = "$1" ] || is "$(probed "$1")$(wipefs -n "$1")" "- - - - - -" "found on the data" || return
	[ -b "$at" ] || return 0
	is "$(listed "$at")" "crypto_LUKS $version $(json '"\(.label // "-") \(.uuid)"')" "lsblk -f" || return
	[ "$at" = "$1" ] || is "$(listed "$1")" "- - - -" "lsblk -f of the data"
}

# The formats that are tried, one a line.
agree_formats() {
	cat <<-'END'
		--auto
		--cipher aes-xts-plain64/512 --sector-size 512
		--cipher aes-xts-plain64/256 --sector-size 4096
		--cipher aes-cbc-essiv:sha256/256 --sector-size 512
		--auto --label boot --subsystem tests --uuid 01234567-89ab-cdef-0123-456789abcdef
		--auto --type luks1
		--auto --type luks1 --offset 2M --uuid 01234567-89ab-cdef-0123-456789abcdef
		--auto --offset 1M --label early
		--auto --offset 36M
		--auto --header head
		--auto --header head --offset 1M --label apart
	END
}
