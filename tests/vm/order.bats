#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# Virtual time: instructions are counted, so figures repeat, and what is faster than what can be asserted.

load ../lib/common
load guest

# faster RESULTS A B [TIMES]: A's median is over TIMES that of B, both jq conditions on a result.
faster() {
	jq -e "[.results[] | select($2) | .median] as \$a | [.results[] | select($3) | .median] as \$b |
		(\$a | length) == 1 and (\$b | length) == 1 and \$a[0] > ${4:-1} * \$b[0]" "$1" >/dev/null || {
		printf 'not %s times as fast: %s than %s\n' "${4:-1}" "$2" "$3"
		jq -r '.results[] | "\(.spec) \(.engine) \(.tier) \(.direction) \(.median)"' "$1"
		return 1
	}
}

@test "AF_ALG: 4096-byte sectors are faster than 512; AES by the CPU faster than Adiantum and Serpent" {
	"$DMCT" bench --engine afalg --sector-size 512,4096 --time 2 --quiet --save r \
		aes-xts-plain64/512 xchacha12,aes-adiantum-plain64/256 serpent-xts-plain64/512 >/dev/null
	for direction in encrypt decrypt; do
		d=".direction == \"$direction\" and .spec"
		faster r "$d == \"aes-xts-plain64/512@4096\"" "$d == \"aes-xts-plain64/512@512\"" 1.3
		faster r "$d == \"aes-xts-plain64/512@4096\"" "$d == \"serpent-xts-plain64/512@4096\"" 1.5
		faster r "$d == \"aes-xts-plain64/512@4096\"" "$d == \"xchacha12,aes-adiantum-plain64/256@4096\""
	done
}

@test "the engine's tiers: AES instructions beat tables, tables beat bitslicing" {
	"$DMCT" bench --engine cpu --tier all --sector-size 4096 --time 1 --quiet --save r aes-xts-plain64/512 >/dev/null
	d='.direction == "encrypt" and .tier'
	faster r "$d == \"aesni\"" "$d == \"table\"" 2
	faster r "$d == \"aesni\"" "$d == \"portable\"" 2
}

@test "the recommendation repeats: the same choice twice, AES-XTS with 4096-byte sectors where AES is by the CPU" {
	image 24M
	for _ in 1 2; do
		expect 0 "$DMCT" recommend --json --time 1 "$loop"
		is "$(json .choice.spec)" aes-xts-plain64/512@4096
		is "$(json .choice.basis)" dm
	done
}
