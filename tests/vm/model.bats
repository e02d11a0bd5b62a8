#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What the program predicts of dm-crypt without having it, beside what the dm engine then measures. For guests whose time
# repeats (virtual time, user-mode Linux): rates under plain emulation wander.

load ../lib/common
load guest

specs=(aes-xts-plain64/512 aes-cbc-essiv:sha256/256 xchacha12,aes-adiantum-plain64/256)

# Rows of doc/measuring.md's table: spec, direction, dm measured, and the predictions with their error.
rows() {
	jq -r --arg kernel "$(uname -r)" --arg cpu "$(grep -qw aes /proc/cpuinfo && echo AES || echo 'no AES')" '
		def mb: . / 1e6 * 10 | round / 10;
		.predictions as $p | $p[] | select(.basis == "dm") | . as $dm
		| [$p[] | select(.spec == $dm.spec and .direction == $dm.direction)] as $all
		| def cell($basis): [$all[] | select(.basis == $basis)] | if length == 0 then "-" else
			"\(.[0].bytes_per_second | mb) (\((.[0].bytes_per_second / $dm.bytes_per_second - 1) * 100 | round) %)" end;
		"| \($kernel) | \($cpu) | \(.spec) | \(if .direction == "encrypt" then "write" else "read" end)" +
		" | \(.bytes_per_second | mb) | \(cell("afalg")) | \(cell("cpu")) |"' "$1"
}

# off RESULTS: the predictions from AF_ALG at 4096 that are more than 20 % off what dm measured, and the pairs of specs
# that these two put in another order, where dm tells them apart by more than a twentieth.
off() {
	jq -r '.predictions as $p | [$p[] | select(.spec | endswith("@4096"))] as $p
		| ($p[] | select(.basis == "dm") | . as $dm | $p[]
			| select(.basis == "afalg" and .spec == $dm.spec and .direction == $dm.direction)
			| (.bytes_per_second / $dm.bytes_per_second) as $ratio | select($ratio < 0.8 or $ratio > 1.2)
			| "\(.spec) \(.direction): \($ratio) times what dm measures"),
		($p[] | select(.basis == "dm") | . as $a | $p[]
			| select(.basis == "dm" and .direction == $a.direction and .bytes_per_second * 1.05 < $a.bytes_per_second)
			| . as $b | def by($x): [$p[] | select(.basis == "afalg" and .spec == $x.spec and .direction == $x.direction)][0].bytes_per_second;
			select(by($a) <= by($b)) | "\(.direction): \($a.spec) before \($b.spec) by dm, not by the prediction")' "$1"
}

@test "predicted without dm: within 20 % of dm at 4096, and the specs in the same order" {
	modprobe -q dm-crypt || true
	# A machine that does something else is given a second chance, and a third.
	for seconds in 10 20 40; do
		"$DMCT" bench --quiet --engine dm,afalg,cpu --tier kernel --sector-size 512,4096 --time $seconds --json "${specs[@]}" >r
		jq -r '[.results[] | select(.error) | "\(.spec) \(.engine) \(.direction): \(.error.reason)"] | unique[]' r
		is "$(jq '[.predictions[] | select(.basis == "dm")] | length' r)" 12
		is "$(jq '[.predictions[] | select(.basis == "afalg")] | length' r)" 12
		jq -e '.kernel_costs.handoff_ns > 0 and .kernel_costs.copy_ns_per_kib >= 0' r >/dev/null
		off r >wrong
		[ -s wrong ] || break
	done
	rows r | sed 's/^/# /' >&3
	cat wrong
	[ ! -s wrong ]
}

@test "every interval holds what dm measured, from AF_ALG" {
	modprobe -q dm-crypt || true
	for seconds in 10 20 40; do
		"$DMCT" bench --quiet --engine dm,afalg --sector-size 512,4096 --time $seconds --json "${specs[@]}" >r
		jq -r '.predictions as $p | $p[] | select(.basis == "dm" and (.spec | endswith("@4096"))) | . as $dm | $p[]
			| select(.basis == "afalg" and .spec == $dm.spec and .direction == $dm.direction)
			| select(.low > $dm.bytes_per_second or .high < $dm.bytes_per_second)
			| "\(.spec) \(.direction): \(.low) to \(.high), dm \($dm.bytes_per_second)"' r >wrong
		[ -s wrong ] || break
	done
	cat wrong
	[ ! -s wrong ]
}
