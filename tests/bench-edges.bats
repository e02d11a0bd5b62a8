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
	expect 0 "$DMCT" bench --json --engine cpu --time 0.5 --threads 1,300 aes-xts-plain64/512@4096
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
	is "$(json '[.multi_buffer[] | select(.available) | . as $m | [.curve[] | select(.size / 4096 >= $m.pays_from_sectors and .gain < 1.0999)] | length] | add')" 0
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
