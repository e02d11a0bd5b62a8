#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# AF_ALG taken apart: the fixed cost of a request and the cost per byte, the crossing and the cipher, copied and spliced,
# one at a time and several in flight.

load ../lib/common
load guest

@test "try" {
	run "$DMCT" bench -q --engine afalg --time 4 aes-xts-plain64/512 aes-cbc-essiv:sha256/256 xchacha12,aes-adiantum-plain64/256
	echo "$output" >&3
	run "$DMCT" bench -q --time 4 --engine cpu,afalg --path copy,splice --size 16,64,256,1024,4096,16384,65536,131072 aes-xts-plain64/512
	echo "$output" >&3
	run "$DMCT" bench -q --time 4 --engine afalg --depth 1,8 --path copy,splice --size 4096 aes-xts-plain64/512 aes-cbc-plain64/128 xchacha12,aes-adiantum-plain64/256
	echo "$output" >&3
	run "$DMCT" bench -q --time 2 --engine afalg --size 65552,262144,1048576 --path both aes-xts-plain64/512 
	echo "$output" >&3
}
