#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# probe: what it says of this machine, of described ones (tests/fixtures/machines) and of images and devices.
# shellcheck disable=SC2030,SC2031 # tests are functions to bats, and subshells to shellcheck

load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	chmod 755 .
	export LC_ALL=C.UTF-8
}

# machine NAME [DEVICE]: $output is what probe says of a described machine.
machine() {
	expect 0 "$DMCT" --sysroot "$FIXTURES/machines/$1" --json probe "${@:2}"
}

# image FILE: $output is what probe says of it; the file must come out as it went in.
image() {
	local before
	before=$(sha256sum "$1")
	expect 0 "$DMCT" probe --json "$1"
	is "$(sha256sum "$1")" "$before" "contents of $1 after probing"
}

# contents: what was found, one "partition:usage/type@offset" a line.
contents() {
	json '.device.contents[] | "\(.partition // 0):\(.usage)/\(.type)@\(.offset)"'
}

findings() {
	json '[.findings[].id] | join(" ")'
}

# finds ID / lacks ID
finds() {
	[[ " $(findings) " == *" $1 "* ]] || { echo "no $1 in: $(findings)"; return 1; }
}
lacks() {
	[[ " $(findings) " != *" $1 "* ]] || { echo "$1 in: $(findings)"; return 1; }
}

# cipher NAME: "driver priority how"
cipher() {
	json ".kernel.ciphers[] | select(.name == \"$1\") | \"\(.driver) \(.priority) \(.aes)\""
}

@test "this machine: a valid document that agrees with /proc, with a reason for whatever is missing" {
	expect 0 "$DMCT" probe --json
	valid probe
	is "$(json .schema)" dmcrypt-tune.probe.v1
	is "$(json .kernel.release)" "$(uname -r)"
	is "$(json .cpu.arch)" "$(uname -m)"
	is "$(json .cpu.allowed)" "$(nproc)"
	is "$(json .memory.total)" $(($(awk '/^MemTotal:/ { print $2 }' /proc/meminfo) * 1024))
	is "$(json .cpu.known)" true
	is "$(json '[.cpu.tiers[] | select(.usable == (.reason != null))] | length')" 0 "tiers without a reason"
	is "$(json '[.kernel.af_alg, .kernel.dm | select(.available == (.reason != null))] | length')" 0 "reasons"
	is "$(json .kernel.drivers'|length')" "$(grep -c '^name  *:' /proc/crypto)"
	[ "$(json '.findings | map(select(.message == "")) | length')" -eq 0 ]
	# The in-process engine's rule, seen from outside: whatever the kernel lists, the CPU has.
	if [ "$(uname -m)" = x86_64 ]; then
		for feature in aes avx2 vaes avx512f; do
			grep -qw "$feature" /proc/cpuinfo || continue
			[[ " $(json '.cpu.usable | join(" ")') " == *" $feature "* ]]
		done
	fi
}

@test "this machine in words: sections, and no line over 100 columns" {
	expect 0 "$DMCT" probe
	for word in CPU Kernel AF_ALG dm-crypt Memory 'xts(aes)' portable; do
		[[ $output == *"$word"* ]]
	done
	is "$(awk 'length > 100' <<<"$output")" "" "long lines"
	# shellcheck disable=SC2154 # stderr is bats's
	is "$stderr" ""
}

@test "affinity is followed; under a German locale the document is the same" {
	expect 0 taskset -c "$(taskset -pc $$ | sed 's/.*: //; s/[-,].*//')" "$DMCT" probe --json
	is "$(json .cpu.allowed)" 1
	is "$(json .cpu.threads)" 1
	expect 0 german "$DMCT" --sysroot "$FIXTURES/machines/container-cgroup2" --json probe
	is "$(json .cpu.quota)" 0.5
}

@test "described machines: valid, and each with the driver that dm-crypt would get" {
	local m
	for m in aesni-laptop afalg-restricted container-cgroup2 empty-cpuinfo; do
		machine $m
		valid probe
	done
	machine aesni-laptop
	is "$(cipher 'xts(aes)')" "xts-aes-aesni 401 aes"
	is "$(cipher 'essiv(cbc(aes),sha256)')" "essiv(cbc-aes-aesni,sha256-avx2) 400 aes"
	is "$(cipher 'xts(serpent)')" "null null null"
	is "$(findings)" ""
	machine vaes-server
	is "$(cipher 'xts(aes)')" "xts-aes-vaes-avx10_512 800 vaes512"
	is "$(cipher 'essiv(cbc(aes),sha256)')" "null null aes"
	machine afalg-restricted
	is "$(cipher 'xts(aes)')" "xts-aes-vaes-avx512 800 vaes512"
	machine vm-no-aes
	is "$(cipher 'xts(aes)')" "xts(ecb(aes-generic)) 100 generic"
	machine arm64-ce
	is "$(cipher 'xts(aes)')" "xts-aes-ce 300 aes"
	# A device's driver, in which "ce" means something else.
	is "$(cipher 'cbc(aes)')" "cbc-aes-sun8i-ce 400 unknown"
	is "$(cipher 'essiv(cbc(aes),sha256)')" "essiv-cbc-aes-sha256-ce 301 aes"
	machine arm64-pi4
	is "$(cipher 'xts(aes)')" "xts-aes-neonbs 250 simd"
	machine ppc64le
	is "$(cipher 'xts(aes)')" "p8_aes_xts 2000 aes"
	machine s390x
	is "$(cipher 'xts(aes)')" "xts-aes-s390 402 aes"
	machine riscv64
	is "$(cipher 'xts(aes)')" "xts-aes-riscv64-zvkned-zvbb-zvkg 300 aes"
}

@test "described CPUs: exact words of each architecture; unknown is not no" {
	local name arch model aes features
	while IFS='|' read -r name arch model aes features; do
		machine "$name"
		is "$(json '.cpu | "\(.arch)|\(.model)|\(.has_aes)|\(.features | join(" "))"')" \
			"$arch|$model|$aes|$features" "$name"
	done <<-'END'
		aesni-laptop|x86_64|Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz|true|sse2 ssse3 sse4_1 pclmulqdq aes avx avx2
		vm-no-aes|x86_64|Intel Core Processor (Skylake, IBRS)|false|sse2 ssse3 sse4_1
		arm64-ce|aarch64|ARM Neoverse-N1|true|asimd aes pmull sha2
		arm64-pi4|aarch64|ARM Cortex-A72|false|asimd
		arm32|armv7l|ARMv7 Processor rev 5 (v7l)|false|neon
		arm32-on-64|armv8l|ARMv8 Processor rev 1 (v8l)|true|neon aes pmull sha2
		ppc64le|ppc64le|POWER9|true|altivec vcrypto
		s390x|s390x|IBM/S390|true|msa
		riscv64|riscv64|spacemit,x100|true|zvkned
		empty-cpuinfo|null|null|null|
		aesx-token|x86_64|Old CPU with new words|false|sse2 ssse3 avx
	END
	machine aesx-token
	is "$(json '.cpu.usable | join(" ")')" "sse2 ssse3" "AVX without XSAVE"
	finds avx-not-saved
}

@test "odd /proc: a line of a megabyte, a FIFO, a directory, nothing at all" {
	mkdir -p m/proc
	{ printf 'processor\t: 0\nflags\t\t: '; head -c 1048576 /dev/zero | tr '\0' x; echo ' aes sse2 xsave lm aesx'; } >m/proc/cpuinfo
	expect 0 "$DMCT" --sysroot m --json probe
	is "$(json '.cpu.features | join(" ")')" "sse2 aes"
	is "$(json .cpu.arch)" x86_64
	rm m/proc/cpuinfo
	mkfifo m/proc/cpuinfo m/proc/crypto
	mkdir -p m/proc/meminfo m/proc/self
	mkfifo m/proc/self/mountinfo m/proc/self/cgroup
	expect 0 timeout 5 "$DMCT" --sysroot m --json probe
	is "$(json .cpu.has_aes)" null
	is "$(json .memory.total)" null
	expect 0 "$DMCT" --sysroot "$BATS_TEST_TMPDIR" probe
	[[ $output == *"Features:    not known"* ]]
	expect 1 "$DMCT" --sysroot nowhere probe
}

@test "--cpu-disable takes what builds on a feature with it, and names what it knows" {
	expect 0 "$DMCT" --sysroot "$FIXTURES/machines/vaes-server" --json --cpu-disable aes probe
	is "$(json '.cpu.disabled | join(" ")')" "aes vaes"
	is "$(json '.cpu.usable | index("vaes")')" null
	is "$(json '.cpu.features | index("vaes") != null')" true
	is "$(json .cpu.has_aes)" true
	is "$(json '.cpu.tiers[] | select(.name == "aesni") | .usable')" false
	expect 0 "$DMCT" --sysroot "$FIXTURES/machines/vaes-server" --json --cpu-disable avx,gfni probe
	is "$(json '.cpu.usable | join(" ")')" "sse2 ssse3 sse4_1 pclmulqdq aes sha_ni"
	lacks avx-not-saved
	expect 1 "$DMCT" --sysroot "$FIXTURES/machines/arm64-ce" --cpu-disable avx2 probe
	says '"avx2" .*neon, asimd, aes, pmull, sha2, sve'
	expect 1 "$DMCT" --cpu-disable aes,,sse2 probe
}

@test "limits: affinity, CPU quota and memory by cgroups of both versions, up the hierarchy" {
	machine container-cgroup2
	is "$(json '.cpu | "\(.online) \(.allowed) \(.quota) \(.threads)"')" "8 6 0.5 1"
	is "$(json .memory.limit)" 536870912
	is "$(findings)" "low-memory cpu-quota cpu-affinity no-dm-crypt memory-limit"
	machine container-cgroup1
	is "$(json '.cpu | "\(.online) \(.allowed) \(.quota) \(.threads)"')" "4 4 1.5 2"
	is "$(json .memory.limit)" 2147483648
	machine aesni-laptop
	is "$(json '"\(.cpu.quota) \(.memory.limit) \(.memory.swap)"')" "null null 8589930496"
}

@test "findings of machines: AES that the kernel leaves unused, no AES, FIPS, a restricted AF_ALG" {
	machine aes-generic-kernel
	is "$(findings)" aes-unused
	is "$(json '.findings[0].severity')" warning
	[[ $(json '.findings[0].message') == *'xts(ecb(aes-generic))'* ]]
	[[ $(json '.findings[0].fix') == *aesni_intel* ]]
	machine vm-no-aes
	finds no-aes
	lacks aes-unused
	machine empty-cpuinfo
	finds cpu-unknown
	lacks no-aes
	machine fips-host
	is "$(findings)" fips
	is "$(json .kernel.fips)" true
	machine afalg-restricted
	is "$(findings)" af-alg-restricted
	is "$(json .kernel.af_alg.restrict_level)" 1
	machine arm32
	is "$(findings)" "low-memory no-aes"
}

@test "described devices: geometry, users and findings" {
	local m device facts ids
	while IFS='|' read -r m device facts ids; do
		machine "$m" "$device"
		is "$(json '.device | "\(.kind) \(.size) \(.logical_block)/\(.physical_block) \(.optimal_io) \(.zoned) \(.read_only)"')" \
			"$facts" "$device"
		is "$(findings)" "$ids" "$device"
	done <<-'END'
		aesni-laptop|/dev/nvme0n1|disk 512110190592 512/512 null none false|device-in-use
		aesni-laptop|/dev/mapper/vg-root|mapper 499999997952 512/512 null none false|device-in-use
		aesni-laptop|sda|disk 2000398934016 512/4096 33553920 none false|optimal-io-absurd 512e
		aesni-laptop|sdb|disk 16008609792 512/512 null none true|read-only
		vaes-server|nvme0n1|disk 1600321314816 4096/4096 131072 none false|
		vaes-server|sda|disk 18000207937536 512/4096 null host-managed false|zoned 512e
		vaes-server|sdb|disk 18000207937536 512/4096 null host-aware false|zoned 512e
		vaes-server|sdc|disk 4000787030016 512/4096 null none false|alignment-offset 512e
		vaes-server|sdc1|partition 2000000000000 512/4096 null none false|partition-misaligned 512e
		aesni-laptop|sda1|partition 1000000000000 512/4096 33553920 none false|optimal-io-absurd partition-misaligned 512e
		vaes-server|md0|md 960059998208 512/512 null none false|device-in-use
		vm-no-aes|vda|disk 21474837504 512/512 null none false|device-in-use size-not-4k no-aes no-dm-crypt
	END
	machine aesni-laptop nvme0n1
	is "$(json '.device.users[] | "\(.part) \(.kind) \(.what)"')" \
		$'nvme0n1p1 mount /boot/efi\nnvme0n1p2 mount /boot\nnvme0n1p3 holder dm-0 (nvme0n1p3_crypt)'
	valid probe
	is "$(json '.device | "\(.model), \(.serial), \(.number), \(.diskseq)"')" \
		"Samsung SSD 970 EVO Plus 500GB, S4EVNX0N123456, 259:0, 9"
	machine aesni-laptop /dev/dm-2
	is "$(json '.device.users[] | "\(.kind) \(.what)"')" "swap /dev/dm-2"
	machine vaes-server sdd
	is "$(json '.device.users[] | "\(.part) \(.kind) \(.what)"')" "sdd1 holder md0"
	expect 4 "$DMCT" --sysroot "$FIXTURES/machines/vaes-server" probe /dev/sdz
	expect 4 "$DMCT" --sysroot "$FIXTURES/machines/vaes-server" probe ../../../sys
}

@test "what is no device: a sentence and the exit status" {
	expect 4 "$DMCT" probe nowhere.img
	says 'nowhere\.img: there is no such'
	[ ! -e nowhere.img ]
	expect 4 "$DMCT" probe /tmp
	says directory
	expect 4 "$DMCT" probe /dev/null
	says 'character device'
	mkfifo fifo
	expect 4 timeout 5 "$DMCT" probe fifo
	ln -s loop loop
	expect 4 "$DMCT" probe loop
	expect 1 "$DMCT" probe a b
	expect 4 "$DMCT" --json probe nowhere.img
	valid error
	mkdir closed
	truncate -s 1M closed/x.img unreadable.img
	chmod 0 closed unreadable.img
	expect 2 as_user "$DMCT" probe closed/x.img
	expect 0 as_user "$DMCT" --json probe unreadable.img
	is "$(json .device.contents_known)" false
	is "$(json .device.size)" 1048576
	finds contents-unknown
	chmod 700 closed
}

@test "an ordinary user gets the same document, and is told what was not seen" {
	truncate -s 20M x.img
	chmod 644 x.img
	expect 0 as_user "$DMCT" --json probe x.img
	valid probe
	is "$(json .device.contents_known)" true
	finds unprivileged
	[ "$(json .kernel.dm.available)" = false ]
	[ -n "$(json .kernel.dm.reason)" ]
}

@test "blank and unrecognised: 3 TiB of nothing, 0xff, data far from both ends, nothing at all" {
	truncate -s 3T big.img
	expect 0 timeout 10 "$DMCT" probe --json big.img
	is "$(json .device.size)" 3298534883328
	is "$(contents)" ""
	lacks device-has-contents
	head -c 3000000 /dev/zero | tr '\0' '\377' >ff.img
	image ff.img
	is "$(contents)" ""
	finds size-not-4k
	truncate -s 64M far.img
	printf hello | dd of=far.img bs=1 seek=33333333 conv=notrunc status=none
	image far.img
	is "$(contents)" "0:data/unknown@33333333"
	finds device-has-contents
	head -c 6000000 /dev/zero >dense.img
	printf x | dd of=dense.img bs=1 seek=5999999 conv=notrunc status=none
	image dense.img
	is "$(contents)" "0:data/unknown@5999999"
	: >empty.img
	image empty.img
	is "$(json .device.size)" 0
	finds device-too-small
}

@test "a symbolic link is looked through; a name with control characters does not reach the terminal" {
	truncate -s 20M real.img
	ln -s real.img link
	image link
	is "$(json .device.target)" "$PWD/real.img"
	is "$(json .device.path)" link
	cp real.img $'odd\e[31m.img'
	expect 0 "$DMCT" probe $'odd\e[31m.img'
	[[ $output != *$'\e'* ]]
	[[ $output == *'odd?[31m.img'* ]]
}

@test "file systems and swap, with label and UUID" {
	need mkfs.ext4 "package e2fsprogs"
	need mkswap "package util-linux"
	truncate -s 32M ext.img swap.img
	mkfs.ext4 -q -L $'la\e]bel' -U 11111111-2222-3333-4444-555555555555 ext.img
	image ext.img
	is "$(contents)" "0:filesystem/ext4@0"
	is "$(json '.device.contents[0].uuid')" 11111111-2222-3333-4444-555555555555
	expect 0 "$DMCT" probe ext.img
	[[ $output != *$'\e'* ]]
	mkswap -L s swap.img >/dev/null
	image swap.img
	is "$(contents)" "0:other/swap@0"
	# A damaged superblock is content all the same.
	printf '\377' | dd of=ext.img bs=1 seek=2047 conv=notrunc status=none
	image ext.img
	[ -n "$(contents)" ]
}

@test "a GPT with LUKS in partition 2 and data in partition 3, also by its backup alone" {
	need sfdisk "package fdisk"
	need cryptsetup
	truncate -s 96M gpt.img
	printf 'label: gpt\nstart=2048,size=20480\nsize=40960\nsize=20480\n' | sfdisk -q gpt.img
	truncate -s 20M luks.img
	head -c 32 /dev/zero >key
	cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 luks.img key
	dd if=luks.img of=gpt.img bs=512 seek=22528 conv=notrunc,sparse status=none
	printf data | dd of=gpt.img bs=1M seek=35 conv=notrunc status=none
	image gpt.img
	is "$(contents)" $'0:table/gpt@0\n2:crypto/crypto_LUKS@11534336\n3:data/unknown@36700160'
	dd if=/dev/zero of=gpt.img bs=512 count=34 conv=notrunc status=none
	image gpt.img
	is "$(contents)" $'0:table/gpt@100662784\n2:crypto/crypto_LUKS@11534336\n3:data/unknown@36700160' "by the backup"
}

@test "two file systems at once: ambiguous, and each listed" {
	need mkfs.ext4 "package e2fsprogs"
	truncate -s 32M two.img
	mkfs.ext4 -q two.img
	printf -- '-rom1fs-' | dd of=two.img conv=notrunc status=none
	image two.img
	finds contents-ambiguous
	is "$(contents | sort)" $'0:filesystem/ext4@0\n0:filesystem/romfs@0\n0:other/ambiguous@0'
}

@test "metadata at the end: an MD array of version 1.0 on an otherwise blank disk" {
	# The superblock of 4096 bytes stands 8 KiB before the end (Linux include/uapi/linux/raid/md_p.h).
	truncate -s 32M md.img
	{
		printf '\374\116\053\251\1\0\0\0'
		head -c 8 /dev/zero
		printf '0123456789abcdefhost:array'
		head -c 102 /dev/zero
		printf '\360\377\0\0' # in which sector it stands: 65520
	} | dd of=md.img bs=512 seek=65520 conv=notrunc status=none
	image md.img
	is "$(contents)" "0:raid/linux_raid_member@33546240"
	is "$(json '.device.contents[0].label')" host:array
}

@test "a loop device of 4096-byte blocks, its table seen in the image too; who uses which" {
	[ "$(id -u)" -eq 0 ] || skip "needs root for loop devices"
	need losetup "package mount"
	need sfdisk "package fdisk"
	need mkfs.ext4 "package e2fsprogs"
	truncate -s 64M 4k.img
	LOOP=$(losetup -f --show -b 4096 4k.img) || skip "no loop device can be made here"
	printf 'label: gpt\nstart=256,size=8192\n' | sfdisk -q "$LOOP" 2>/dev/null
	truncate -s 20M ext.img
	mkfs.ext4 -q -F ext.img
	dd if=ext.img of="$LOOP" bs=1M seek=1 conv=notrunc status=none
	expect 0 "$DMCT" probe --json "$LOOP"
	valid probe
	is "$(json '.device | "\(.kind) \(.size) \(.logical_block)/\(.physical_block) \(.model)"')" \
		"loop 67108864 4096/4096 $PWD/4k.img"
	is "$(contents)" $'0:table/gpt@0\n1:filesystem/ext4@1048576'
	expect 0 "$DMCT" probe --json 4k.img
	is "$(contents)" $'0:table/gpt@0\n1:filesystem/ext4@1048576'
	is "$(json '.device.users[] | "\(.kind) \(.what)"')" "loop $LOOP"
	finds device-in-use
	losetup -d "$LOOP"
	LOOP=$(losetup -f --show ext.img)
	mkdir "mount point"
	if mount "$LOOP" "mount point"; then
		mount --bind "mount point" /mnt && umount /mnt
		expect 0 "$DMCT" probe --json "$LOOP"
		umount "mount point"
		is "$(json '.device.users[] | "\(.kind) \(.what)"')" "mount $PWD/mount point"
	fi
	expect 0 "$DMCT" probe --json "$LOOP"
	is "$(json '.device.users | length')" 0
	losetup -d "$LOOP"
	LOOP=
}

# shellcheck disable=SC2016 # the inner shell expands
@test "who uses a device is not known where /sys or /proc is hidden; a loop of a file is found all the same" {
	[ "$(id -u)" -eq 0 ] || skip "needs root for loop devices and mounts"
	need losetup "package mount"
	unshare -m true || skip "no mount namespace can be made here"
	truncate -s 32M used.img free.img
	LOOP=$(losetup -f --show used.img) || skip "no loop device can be made here"
	hidden() {
		unshare -m sh -c 'mount -t tmpfs none "$1" && exec "$2" --json probe "$3"' sh "$@"
	}
	expect 0 hidden /sys "$DMCT" used.img
	valid probe
	is "$(json '.device.users[] | "\(.kind) \(.what)"')" "loop $LOOP"
	is "$(json .device.users_known)" false
	finds device-in-use
	finds users-unknown
	expect 0 hidden /sys "$DMCT" free.img
	is "$(json '.device | "\(.users | length) \(.users_known) \(.users_reason)"')" \
		"0 false /sys/class/block: No such file or directory"
	expect 0 hidden /sys "$DMCT" "$LOOP"
	is "$(json .device.users_known)" false
	# LeakSanitizer, and whatever could turn it off, needs /proc itself.
	if ! grep -qa __asan_init "$DMCT"; then
		expect 0 hidden /proc "$DMCT" "$LOOP"
		is "$(json '.device | "\(.users_known) \(.users_reason)"')" \
			"false /proc/self/mountinfo: No such file or directory"
	fi
	expect 0 unshare -m sh -c 'mount -t tmpfs none /sys && exec "$1" probe "$2"' sh "$DMCT" free.img
	[[ $output == *"who uses it could not be seen: /sys/class/block"* ]]
	expect 0 "$DMCT" --json probe "$LOOP"
	is "$(json .device.users_known)" true
	losetup -d "$LOOP"
	LOOP=
}

teardown() {
	umount "$BATS_TEST_TMPDIR/mount point" 2>/dev/null || true
	[ -z "${LOOP:-}" ] || losetup -d "$LOOP" 2>/dev/null || true
}
