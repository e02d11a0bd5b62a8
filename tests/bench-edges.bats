#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bench at its edges: memory and threads beyond what the time or the CPUs hold, and sentences about what does not fit.
# shellcheck disable=SC2016 # jq has variables of its own
load lib/common

setup() {
	T=$BATS_TEST_TMPDIR/t
	mkdir -p "$T"
}

@test "buffers that take too long to fill are refused, with what fits; none is filled for the roofline alone" {
	# No memory takes 50 GB/s from one thread.
	expect 1 timeout 20 "$DMCT" bench --engine cpu --time 0.02 --buffer 536870912 aes-xts-plain64/512@4096
	says 'Filling 1 buffer of 512 MiB takes more than half of --time 0.02: about [0-9.]+ (bytes|[KM]iB) in all would fit\. Give it [0-9]+ seconds'
	expect 1 timeout 20 "$DMCT" bench --json --engine cpu --time 0.02 --threads 512 --buffer 1048576 aes-xts-plain64/512@4096
	is "$(json .error.code)" 1
	expect 0 "$DMCT" bench --json --engine cpu --time 0.1 --buffer 33554432 aes-xts-plain64/512@4096
	valid bench
}

@test "more threads than CPUs are held against the roofline of as many as there are CPUs" {
	expect 0 "$DMCT" bench --json --engine cpu --time 0.5 --threads 1,300 --buffer 65536 aes-xts-plain64/512@4096
	valid bench
	[ "$(json '.roofline | length')" -gt 0 ] || skip "the CPU has no AES instructions"
	cpus=$(json .cpu.allowed)
	is "$(json '[.roofline[].threads] | max')" "$cpus"
	is "$(json '[.results[] | select(.threads == 300 and .roofline_share > 0)] | length')" 2
	is "$(json '[.conditions[] | select(.id == "oversubscribed")] | length')" 1
}

@test "multi-buffer: the finding is what the curve shows, where there is one" {
	expect 0 "$DMCT" bench --json --time 0.5 --experiment multi-buffer
	is "$(json '[.multi_buffer[] | select(.available) | .gain == (.curve[] | select(.size == 65536) | .gain)] | all')" true
	is "$(json '[.multi_buffer[] | select(.available) | . as $m | [.curve[] | select($m.pays_from_sectors and .size / 4096 >= $m.pays_from_sectors and .gain < 1.0999)] | length] | add')" 0
	# 128 KiB alone: then it is the most that is known.
	expect 0 "$DMCT" bench --json --time 0.3 --engine cpu --shape both --sector-size 4096 --size 131072 aes-cbc-essiv:sha256/256
	is "$(json '.multi_buffer[0] | .sectors == 32 and .gain == .curve[0].gain')" true
}

@test "sizes that a sector size does not divide: which option says so, and what to do" {
	expect 1 "$DMCT" bench -q --experiment sizes --sector-size 4096
	says 'experiment sizes has requests of 16 bytes: that is not a multiple of the sector size 4096 that --sector-size names; leave the sector size out, or say a --size'
	expect 1 "$DMCT" bench -q --experiment sizes aes-xts-plain64/512@512
	says 'experiment sizes has requests of 16 bytes.* 512 that the spec names'
	expect 1 "$DMCT" bench --size 16 aes-xts-plain64/512@4096
	says '--size: 16 is not a multiple of the sector size 4096 that the spec names'
	expect 1 "$DMCT" bench --size 8192,6144 --sector-size 1024,4096
	says '--size: 6144 is not a multiple of the sector size 4096 that --sector-size names'
}

@test "the example of a value lies within its range" {
	expect 1 "$DMCT" recommend --unlock-slower 0.2
	says 'not a number from 1 to 1000, such as 1\.5\.$'
	expect 1 "$DMCT" bench --time x
	says 'such as 0\.5\.$'
}

@test "--save and --plot replace what this program made, and nobody else's file of that kind" {
	local other
	printf '{"note": "compared with dmcrypt-tune.bench.v1", "results": []}\n' >"$T/notes.json"
	printf '<svg xmlns="http://www.w3.org/2000/svg"><text>mine</text></svg>\n' >"$T/mine.svg"
	printf '\x89PNG\r\n\x1a\nmine' >"$T/mine.png"
	sha256sum "$T"/* >"$T/sums"
	expect 6 timeout 5 "$DMCT" bench --time 30 --engine cpu --save "$T/notes.json"
	says 'notes.json exists and holds something else than results'
	for other in svg png; do
		expect 6 timeout 5 "$DMCT" bench --time 30 --engine cpu --plot "$T/mine.$other"
		says "mine.$other exists and holds something else than ${other^^} pictures that --plot drew; remove it or choose another name"
	done
	expect 6 timeout 5 "$DMCT" recommend --time 30 --save "$T/notes.json"
	sha256sum -c --quiet "$T/sums"
	# As other programs lay JSON out.
	expect 0 "$DMCT" bench -q --json --time 0.1 --engine cpu aes-xts-plain64/512@4096
	jq -c . <<<"$output" >"$T/r.json"
	expect 0 "$DMCT" bench -q --time 0.1 --engine cpu --save "$T/r.json" aes-xts-plain64/256@4096
	is "$(jq -r '.results[0].spec' "$T/r.json")" aes-xts-plain64/256@4096
}

@test "pictures carry this program's mark, and are still pictures" {
	need gnuplot "package gnuplot-nox"
	local kind
	for kind in svg png; do
		for _ in 1 2; do
			expect 0 "$DMCT" bench -q --time 0.1 --engine cpu --plot "$T/p.$kind" aes-xts-plain64/512@4096
		done
		grep -aq 'made by dmcrypt-tune bench' "$T/p.$kind"
	done
	python3 - "$T/p.svg" "$T/p.png" <<-'END'
		import struct, sys, xml.dom.minidom, zlib
		xml.dom.minidom.parse(sys.argv[1])
		data, at, kinds = open(sys.argv[2], "rb").read(), 8, []
		while at < len(data):
		 length, kind = struct.unpack(">I4s", data[at:at + 8])
		 assert zlib.crc32(data[at + 4:at + 8 + length]) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
		 kinds.append(kind)
		 at += 12 + length
		assert kinds[:2] == [b"IHDR", b"tEXt"] and kinds[-1] == b"IEND", kinds
	END
}

@test "a run in which nothing was measured is not saved" {
	expect 0 "$DMCT" probe --json
	[ "$(json .kernel.af_alg.available)" = false ] || skip "this kernel has AF_ALG"
	expect 7 "$DMCT" bench --time 0.1 --engine afalg --save "$T/r.json" aes-xts-plain64/512@4096
	says 'nothing was measured, so that .*r.json was not written'
	[ ! -e "$T/r.json" ]
}

@test "the disk's own speed: read or given, drawn, saved, and used by recommend --from" {
	head -c 8M /dev/urandom >"$T/disk"
	sync "$T/disk"
	expect 0 "$DMCT" bench -q --json --time 0.4 --engine cpu --device "$T/disk" aes-xts-plain64/512@4096
	valid bench
	is "$(json .device.path)" "$T/disk"
	is "$(json '.device_speed | (.bytes_per_second > 0) == (.from == "measured")')" true
	expect 0 "$DMCT" bench -q --time 0.2 --engine cpu --device-speed 550 --save "$T/r.json" aes-xts-plain64/512@4096
	[[ $output == *"The disk alone: 550 MB/s (as --device-speed says)."* ]]
	expect 0 "$DMCT" recommend --json --from "$T/r.json"
	is "$(json '.device_speed | "\(.bytes_per_second) \(.from)"')" "550000000 given"
	expect 1 "$DMCT" bench --device "$T/disk" --device-speed 3
	says '--device and --device-speed contradict each other'
	expect 4 "$DMCT" bench --device "$T/none"
	command -v gnuplot || return 0
	expect 0 "$DMCT" bench -q --time 0.2 --engine cpu --device-speed 550 --plot "$T/p.svg" aes-xts-plain64/512@4096
	grep -Fq "<text>the disk alone, reading: 0.55 GB/s</text>" "$T/p.svg"
}

@test "a signal before the first slice: JSON error, 128 + N" {
	need strace
	strace -qq -o "$T/trace" true || skip "strace cannot trace here"
	expect 143 env ASAN_OPTIONS=detect_leaks=0 strace -qq -o "$T/trace" -e inject=sched_getaffinity:signal=SIGTERM:when=1 \
		"$DMCT" bench --json --time 30 --engine cpu
	is "$(json '"\(.schema) \(.error.code) \(.error.message)"')" "dmcrypt-tune.error.v1 143 Stopped by signal 15 (Terminated)."
}
