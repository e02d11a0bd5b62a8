#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# AF_ALG taken apart: the fixed cost of a request and the cost per byte, the crossing and the cipher, copied and spliced,
# one request at a time and several in flight. Which figure is the larger is not asked where noise could turn it.
# shellcheck disable=SC2016 # jq has variables of its own

load ../lib/common
load guest

specs=(aes-xts-plain64/512 aes-cbc-essiv:sha256/256 xchacha12,aes-adiantum-plain64/256)

# checked COUNT: so many cells, all measured, all outputs right.
checked() {
	is "$(json '.results | length')" "$1" cells
	is "$(json '[.results[] | select(.checked and .median > 0 and .low <= .median and .median <= .high)] | length')" "$1" \
		"checked cells"
}

@test "a line through the sizes for each cipher: three specs, both directions, the error said and bounded" {
	expect 0 "$DMCT" bench --json --engine afalg --time 4 "${specs[@]}"
	checked 36
	is "$(json '[.fits[] | [.spec, .direction, .path] | join(" ")] | sort | join(",")')" \
		"$(for s in "${specs[@]}"; do printf '%s decrypt copy\n%s encrypt copy\n' "$s" "$s"; done | sort | paste -sd ,)"
	is "$(json '[.fits[] | [.sizes, .depth, .threads] | map(tostring) | join(" ")] | unique | join(",")')" "6 1 1"
	is "$(json '[.fits[] | .per_byte_ns > 0 and .per_byte_ns_low <= .per_byte_ns and .per_byte_ns <= .per_byte_ns_high
		and .error >= 0 and .error < 0.5 and .error <= .error_worst] | all')" true
	is "$(json '[.fits[] | (.bytes_per_second * .per_byte_ns / 1e9 - 1) | fabs < 0.001] | all')" true
	# The line is one through these cells: half of their times are as near to it as it says.
	is "$(json '. as $d | [.fits[] | . as $f | [$d.results[] | select(.direction == $f.direction and (.spec | split("@")[0]) == $f.spec)
		| (.size / .median * 1e9) as $t | select(($f.fixed_ns + .size * $f.per_byte_ns - $t | fabs) <= ($f.error + 0.001) * $t)]
		| length >= 3] | all')" true
	echo "# $(json '[.fits[] | "\(.spec) \(.direction) \(.fixed_ns | floor) ns, \(.bytes_per_second / 1e6 | floor) MB/s, \(.error * 100 | floor) %"] | join("; ")')" >&3
	expect 0 "$DMCT" bench -q --engine afalg --time 2 aes-xts-plain64/512
	[[ $output == *"AF_ALG taken apart"*"aes-xts-plain64/512, encryption, copy: "*" sizes)"* ]]
}

@test "the same cipher in-process and through AF_ALG: copy and mode switch told apart by the null cipher" {
	expect 0 "$DMCT" bench --json --engine cpu,afalg --tier kernel --path copy,splice --time 5 \
		--size 16,256,1024,4096,16384,65536 aes-xts-plain64/512
	checked 36
	is "$(json '.crossing | [.available, .basis, .reason] | map(tostring) | join(" ")')" "true null-cipher null"
	is "$(json '[.crossing.paths[].path] | join(" ")')" "copy splice"
	is "$(json '.crossing.sizes | length')" 24
	is "$(json '[.crossing.sizes[] | .in_process_ns > 0 and .kernel_ns > 0 and .share >= 0 and .share <= 1
		and ((.switch_ns + .copy_ns - .crossing_ns) | fabs) <= 1e-6 * .kernel_ns + 0.01] | all')" true
	is "$(json '. as $d | [.crossing.sizes[] | . as $s | $d.results[]
		| select(.engine == "afalg" and .direction == $s.direction and .path == $s.path and .size == $s.size)
		| ($s.kernel_ns * .median / .size / 1e9 - 1) | fabs < 0.001] | all')" true
	# At 16 bytes nearly all is crossing, at 64 KiB most is cipher, whatever the machine does meanwhile.
	is "$(json '.crossing.sizes | map(select(.path == "copy")) | group_by(.direction)
		| map((map(select(.size == 16))[0].share) > (map(select(.size == 65536))[0].share)) | all')" true
	is "$(json '[.crossing.small_from[] | [.spec, .direction, .path] | join(" ")] | length')" 4
	echo "# $(json '[.crossing.paths[] | "\(.path): \(.switch_ns | floor) ns, \(.copy_ns_per_byte * 1000 | floor) ps a byte"] | join("; ")')" >&3
}

@test "several in flight, copied and spliced: each request with its own IV, every output checked" {
	expect 0 "$DMCT" bench --json --engine afalg --depth 1,8 --path both --size 512,4096 --time 4 "${specs[@]}"
	checked 48
	is "$(json '[.results[] | [.depth, .path] | map(tostring) | join(" ")] | unique | join(",")')" \
		"1 copy,1 splice,8 copy,8 splice"
}

@test "requests longer than a pipe, than libkcapi's pieces, than the socket: measured whole, or the reason" {
	local default max
	expect 0 "$DMCT" bench --json --engine afalg --path both --size 65536,65552,131072,1048576 --time 2 aes-cbc-plain64/256
	is "$(json '[.results[] | select(.path == "copy" and .size < 1000000) | .checked] | [length, all] | map(tostring) | join(" ")')" "6 true"
	is "$(json '[.results[] | select(.path == "splice" and .size > 65536) | "\(.error.code) \(.error.reason)"] | unique | join(",")')" \
		"EMSGSIZE a pipe holds 65536 bytes, so that no more can be spliced at once"
	json '.results[] | select(.path == "copy" and .size == 1048576) | .error.reason' | grep -q 'takes [0-9]* bytes at once and not 1048576'
	default=$(cat /proc/sys/net/core/wmem_default) max=$(cat /proc/sys/net/core/wmem_max)
	later sh -c "echo $max >/proc/sys/net/core/wmem_max; echo $default >/proc/sys/net/core/wmem_default"
	echo 4608 >/proc/sys/net/core/wmem_default
	# The buffer of a socket of its own is raised to what is allowed.
	expect 0 "$DMCT" bench --json --engine afalg --size 512,65536 --time 1 aes-xts-plain64/512
	checked 4
	echo 4608 >/proc/sys/net/core/wmem_max
	expect 0 "$DMCT" bench --json --engine afalg --size 512,65536 --time 1 aes-xts-plain64/512
	is "$(json '[.results[] | select(.size == 512) | .checked] | all')" true
	is "$(json '[.results[] | select(.size == 65536) | .error.code] | unique | join(" ")')" EMSGSIZE
}

@test "specs with an integrity mode: every cipher's tags and ciphertext checked; what is recommended of them rests on it" {
	local modes=(aes-gcm-random/256+aead aegis128-random/128+aead chacha20-random/256+poly1305 aes-xts-plain64/512+hmac-sha256
		aes-xts-random/256+hmac-sha256 aes-cbc-essiv:sha256/256+hmac-sha256)
	expect 0 "$DMCT" bench --json --engine afalg --sector-size 512,4096 --time 4 "${modes[@]}"
	checked 24
	expect 7 "$DMCT" bench --json --engine afalg --depth 4 --time 0.5 aes-gcm-random/256+aead@4096
	is "$(json '[.results[].error.reason] | unique | join(" ")')" \
		"specs with an integrity mode are measured one request at a time, and copied"
	# dm-crypt without dm-integrity is not what such a volume runs.
	expect 7 "$DMCT" bench --json --engine dm --time 0.5 aes-xts-plain64/512+hmac-sha256@4096
	is "$(json '[.results[].error.code] | unique | join(" ")')" EOPNOTSUPP
	image 48M
	expect 0 "$DMCT" recommend --json --time 1 --pbkdf-force-iterations 4 --integrity hmac-sha256 "$loop"
	is "$(json '.choice | "\(.basis) \(.strength_bits)"')" "afalg 256"
}
