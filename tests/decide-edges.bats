#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The decision at its edges: the same bytes anywhere, what is not described is not known, and --explain's arithmetic.

# shellcheck disable=SC2016 # the dollars in single quotes are jq's

load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	LAPTOP=$FIXTURES/decisions/laptop-aesni-nvme.json
}

@test "saved results decide the same bytes in any directory, locale, time zone, umask, environment and for any user" {
	# A path that means something here, and something else in the next directory.
	jq '.device.path = "disk.img"' "$LAPTOP" >saved.json
	expect 0 "$DMCT" recommend --json --from saved.json
	first=$output
	is "$(json .crypttab)" "luks-disk.img disk.img none luks"
	truncate -s 64M disk.img
	mkdir elsewhere
	ln -s /dev/null elsewhere/disk.img
	for word in LC_ALL=de_DE.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu COLUMNS=20 HOME=/nonexistent TMPDIR=/nonexistent; do
		expect 0 env "$word" "$DMCT" recommend --json --from saved.json
		is "$output" "$first" "$word"
	done
	cd elsewhere
	umask 0777
	expect 0 env -i "$DMCT" recommend --json --from - <../saved.json
	umask 0022
	is "$output" "$first" "elsewhere"
	nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	if [ "$(id -u)" = 0 ] && "${nobody[@]}" test -x "$DMCT" 2>/dev/null; then
		expect 0 "${nobody[@]}" "$DMCT" recommend --json --from - <../saved.json
		is "$output" "$first" "nobody's decision"
	fi
}

@test "the path of a described device is where it was: its target, as it was saved" {
	jq '.device.path = "disk.img" | .device.target = "/srv/a b.img"' "$LAPTOP" >saved.json
	expect 0 "$DMCT" recommend --json --from saved.json
	is "$(json .crypttab)" 'luks-disk.img /srv/a\040b.img none luks'
	is "$(json '.cryptsetup_argv | last')" disk.img
}

@test "what is not described is not known: no memory, no CPU, no kernel, nothing at all" {
	jq 'del(.memory)' "$LAPTOP" >saved.json
	expect 0 "$DMCT" recommend --json --from saved.json
	is "$(json '"\(.choice.spec) \(.pbkdf.threads)"')" "aes-xts-plain64/512@4096 4"
	is "$(json .pbkdf.memory_bound_by)" "the policy's limit; how much memory there is is not known"
	jq 'del(.cpu, .kernel, .memory, .device_speed)' "$LAPTOP" >saved.json
	expect 0 "$DMCT" recommend --json --from saved.json
	is "$(json '"\(.choice.spec) \(.pbkdf.threads) \(.pbkdf.memory)"')" "aes-xts-plain64/512@4096 1 1073741824"
	jq '.kernel.drivers[1] = 3' "$LAPTOP" >saved.json
	expect 1 "$DMCT" recommend --from saved.json
	says 'kernel.drivers\[1\] is no object'
}

@test "JSON has every number that the decision went by" {
	expect 0 "$DMCT" recommend --json --from "$FIXTURES/decisions/rpi4-sdcard.json"
	valid recommend
	is "$(json '.arithmetic | "\(.threads) \(.noise_floor) \(.model_error) \(.crossing_ns > 2000 and .crossing_ns < 3000)"')" "1 0.05 0.2 true"
	# Each speed is that of reads and writes in their proportion.
	is "$(json '.read_share as $r | [.candidates[].sector_sizes[] | select(.expected_bytes_per_second)
		| (1 / ($r / .decrypt_bytes_per_second + (1 - $r) / .encrypt_bytes_per_second) - .expected_bytes_per_second)
		| fabs < 1] | "\(length) \(all)"')" "7 true"
	is "$(json '.candidates[] | select(.spec | startswith("xchacha12")) | .sector_sizes[] | select(.sector_size == 4096)
		| "\(.allowed) \(.expected_bytes_per_second) \(.reason | contains("torn"))"')" "false null true"
	is "$(json '.device_speed | "\(.cpus) \(.cpus_worth)"')" "4 4"
	is "$(json '.device | "\(.path) \(.logical_block) \(.physical_block) \(.start)"')" "/dev/mmcblk0p3 512 512 536870912"
	expect 0 "$DMCT" recommend --json --from "$FIXTURES/decisions/hdd-work-queues.json"
	valid recommend
	is "$(json '.flag_figures | map("\(.flag) \(.times_with_one * 100 | round) \(.times_with_several) \(.set)") | join(", ")')" \
		"perf-no_read_workqueue 137 1 true, perf-no_write_workqueue 137 1 false"
}

@test "--explain: by sector size, what was taken off, how far off it may be, and what each protects" {
	expect 0 "$DMCT" recommend --explain --from "$FIXTURES/decisions/rpi4-sdcard.json"
	output=$(tr -s ' \n' ' ' <<<"$output")
	for words in "Modules: adiantum nhpoly1305 chacha aes" "By sector size: 512: 63.5 MB/s; 1024: not measured; 2048: not measured; 4096: 66.5 MB/s." \
		"By sector size: 512: 132 MB/s; 1024: not allowed; 2048: not allowed; 4096: not allowed." \
		"Taken off each request: 2564 ns of crossing into the kernel." "may be off by 20 %, for all candidates alike" \
		"xchacha20,aes-adiantum-plain64/256: Hides data at rest; any change scrambles the whole sector" \
		"more than 5 % above the other's high end" "may be off by 20 % more, for all alike"; do
		[[ $output == *"$words"* ]] || { echo "no \"$words\""; return 1; }
	done
}
