#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The openssl engine beside `openssl speed`, on the same sizes. scripts/bench-openssl compares more exactly.
load lib/common

setup() {
	need openssl
	"$DMCT" --version | grep -q 'openssl: yes' || skip "this program was built without OpenSSL"
	openssl speed -help 2>&1 | grep -q -- -bytes || skip "this openssl speed takes no -bytes"
}

# agree SPEC SIZE SPEED_OPTIONS...: within a factor of two; on a machine that others use, one of five tries.
agree() {
	local spec=$1 size=$2 try ours theirs
	shift 2
	for try in 1 2 3 4 5; do
		theirs=$(openssl speed -mr -seconds 1 -bytes "$size" "$@" 2>/dev/null | sed -n 's/^+F:[0-9]*:[^:]*://p')
		[ -n "$theirs" ] || skip "openssl speed $* gives nothing"
		ours=$("$DMCT" bench -q --json --engine openssl --time 0.5 --size "$size" "$spec" |
			jq '.results[] | select(.direction == "encrypt") | .median')
		echo "$spec of $size bytes, try $try: ours $ours, openssl speed $theirs"
		awk -v a="$ours" -v b="$theirs" 'BEGIN { exit !(a < 2 * b && b < 2 * a) }' && return
	done
	return 1
}

@test "XTS: openssl speed says the same of 8 KiB and 16 KiB" {
	agree aes-xts-plain64/512 8192 -evp aes-256-xts
	agree aes-xts-plain64/512 16384 -evp aes-256-xts
}

@test "CBC: openssl speed says the same of 1 KiB and 16 KiB" {
	agree aes-cbc-plain64/256 1024 -evp aes-256-cbc
	agree aes-cbc-plain64/256 16384 -evp aes-256-cbc
}

@test "AES-GCM with its tag: openssl speed -aead says the same of 16 KiB" {
	agree aes-gcm-random/256+aead 16384 -aead -evp aes-256-gcm
}

@test "how many times as fast AES-128 is as AES-256 in CBC: both say the same" {
	# 10 rounds against 14, one block after the other: 1.4, whoever measures.
	local out ours a b
	for _ in 1 2 3 4 5; do
		out=$("$DMCT" bench -q --json --engine openssl --time 0.5 --size 16384 aes-cbc-plain64/256 aes-cbc-plain64/128)
		ours=$(jq '[.results[] | select(.direction == "encrypt") | .median] | .[1] / .[0]' <<<"$out")
		a=$(openssl speed -mr -seconds 1 -bytes 16384 -evp aes-256-cbc 2>/dev/null | sed -n 's/^+F:[0-9]*:[^:]*://p')
		b=$(openssl speed -mr -seconds 1 -bytes 16384 -evp aes-128-cbc 2>/dev/null | sed -n 's/^+F:[0-9]*:[^:]*://p')
		echo "ours $ours, openssl speed $(awk -v a="$a" -v b="$b" 'BEGIN { print b / a }')"
		awk -v r="$ours" -v a="$a" -v b="$b" 'BEGIN { q = r / (b / a); exit !(q > 0.75 && q < 1.33) }' && return
	done
	false
}
