#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# tune and reencrypt as far as they go without device-mapper: what is refused, dry runs, and image files re-encrypted,
# cut short and gone on with. Live volumes: tests/vm/volumes.bats.

load lib/common

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	printf 'a key\n' >key
}

# made FILE ARGUMENT...: a volume by cryptsetup, with a cheap password hash.
made() {
	truncate -s "${size:-40M}" "$1"
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "${@:2}" "$1" key
}

# saved: results to decide on, made once, so that nothing is measured.
saved() {
	[ -e "$BATS_FILE_TMPDIR/saved" ] || "$DMCT" bench --json --engine cpu --tier table --sector-size 512,4096 --time 0.3 \
		--quiet aes-xts-plain64/512 aes-cbc-essiv:sha256/256 |
		jq '.results |= map(.engine = "afalg" | .size = (.spec | split("@")[1] | tonumber))' >"$BATS_FILE_TMPDIR/saved"
	cp "$BATS_FILE_TMPDIR/saved" .
}

# reencrypt FILE ARGUMENT...
reencrypt() {
	local key=(--key-file key)
	[[ " $* " != *" --key-file "* ]] || key=()
	timeout 120 "$DMCT" reencrypt "$1" --from saved "${key[@]}" --json --quiet "${@:2}" </dev/null
}

# refuses STATUS PATTERN FILE ARGUMENT...: reencrypt ends so, says so, and the file is as it was.
refuses() {
	local before
	before=$(sha256sum <"$3")
	expect "$1" reencrypt "${@:3}" || return
	says "$2" || return
	is "$(sha256sum <"$3")" "$before" "the file"
}

@test "tune: without device-mapper it says so; options" {
	expect 1 "$DMCT" tune
	expect 1 "$DMCT" tune name --policy none
	expect 1 "$DMCT" tune name --sysroot /
	expect 1 "$DMCT" tune name --key-fd 77
	expect 1 "$DMCT" tune name --flags nonsense
	says '"nonsense" is none'
	expect 1 "$DMCT" tune name --flags all
	# The operand and the header are looked at first.
	expect 4 "$DMCT" tune missing/name
	expect 4 "$DMCT" tune .
	says 'neither a block device nor a regular file'
	: >none.img
	expect 4 "$DMCT" tune none.img
	says 'none.img holds no LUKS header'
	expect 4 "$DMCT" tune name --header missing
	says 'missing cannot be read'
	expect 4 "$DMCT" tune name --header none.img
	says 'none.img holds no LUKS header'
	! grep -q device-mapper /proc/misc || skip "this kernel has device-mapper: tests/vm/volumes.bats"
	truncate -s 20M hdr
	truncate -s 1M data.img
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --header hdr data.img key
	expect 7 "$DMCT" tune data.img --header hdr
	says 'device-mapper'
	expect 7 "$DMCT" tune name --json
	is "$(json .error.code)" 7
	says 'device-mapper'
}

@test "reencrypt: what is refused, and not a byte is written" {
	saved
	made v.img --type luks1
	refuses 6 'LUKS1, which cannot be re-encrypted' v.img --auto --yes
	made v.img --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	refuses 1 'say --auto' v.img --yes
	refuses 6 'no terminal to ask on' v.img --auto
	refuses 6 'none: what is cut short then is lost' v.img --auto --yes --resilience none
	refuses 1 'neither checksum nor journal' v.img --auto --yes --resilience some
	refuses 6 'can only be seen while it is open' v.img --auto --yes --sector-size 4096
	printf wrong >wrong
	refuses 2 'No keyslot opens' v.img --auto --yes --key-file wrong
	printf second >key2
	cryptsetup luksAddKey -q --key-file key --pbkdf pbkdf2 --pbkdf-force-iterations 1000 v.img key2
	refuses 6 'has 2 keyslots' v.img --auto --yes
	printf '\377' | dd of=v.img bs=1 seek=5000 conv=notrunc status=none
	printf '\377' | dd of=v.img bs=1 seek=21384 conv=notrunc status=none
	refuses 6 'damaged header' v.img --auto --yes --drop-keyslots
	: >none.img
	refuses 4 'no LUKS volume' none.img --auto --yes
	expect 4 "$DMCT" reencrypt missing --auto --yes
	# No room for the new keyslot and what protects an area.
	truncate -s 40M v.img
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 -c aes-cbc-essiv:sha256 -s 256 \
		--luks2-keyslots-size 256k --sector-size 4096 v.img key
	refuses 6 'no room in the header|cannot be begun' v.img --auto --yes
}

@test "reencrypt --dry-run: what it takes, with and without a secret; nothing written" {
	saved
	made v.img --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512
	before=$(sha256sum <v.img)
	expect 0 reencrypt v.img --auto --dry-run --device-speed 100
	valid reencrypt
	is "$(json '[.from, .to, .started, .finished, .dry_run] | join(" ")')" \
		"aes-cbc-essiv:sha256/256@512 aes-xts-plain64/512@512 false false true"
	is "$(json '[.bytes, .device_bytes_per_second] | join(" ")')" "$((24 << 20)) 100000000"
	[ "$(json .decrypt_bytes_per_second)" -gt 1000000 ]
	# 24 MiB read and written at 100 MB/s are half a second, and the ciphers come on top.
	[ "$(json .expected_seconds)" -ge 1 ]
	expect 0 "$DMCT" reencrypt v.img --auto --dry-run --from saved </dev/null
	[[ $output == *"every check passed (without a secret)"* && $output == *"The sector size stays 512"* ]]
	is "$(sha256sum <v.img)" "$before"
}

@test "reencrypt an image file: header, keyslot and flags afterwards; again there is nothing to do" {
	saved
	made v.img --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 512 --label mine
	uuid=$(cryptsetup luksUUID v.img)
	cp v.img unreported.img
	expect 8 onto_full reencrypt unreported.img --auto --yes
	says "is re-encrypted, but the report could not be written: No space left on device"
	cryptsetup luksDump unreported.img | grep -q 'cipher: aes-xts-plain64'
	expect 0 reencrypt v.img --auto --yes
	valid reencrypt
	is "$(json '[.started, .finished, .resumed, .uuid] | join(" ")')" "true true false $uuid"
	dump=$(cryptsetup luksDump --dump-json-metadata v.img)
	is "$(jq -r '.segments | to_entries | map("\(.key) \(.value.encryption) \(.value.sector_size) \(.value.size)") | join(",")' <<<"$dump")" \
		"0 aes-xts-plain64 512 dynamic"
	is "$(jq -r '[.keyslots[] | "\(.type) \(.key_size) \(.area.encryption) \(.kdf.type) \(.kdf.iterations)"] | join(",")' <<<"$dump")" \
		"luks2 64 aes-xts-plain64 pbkdf2 1000"
	is "$(cryptsetup luksUUID v.img) $(cryptsetup luksDump v.img | awk '/^Label/ {print $2}')" "$uuid mine"
	cryptsetup open --test-passphrase --key-file key v.img
	is "$(blkid -p -o value -s TYPE v.img)" crypto_LUKS
	before=$(sha256sum <v.img)
	expect 0 reencrypt v.img --auto --yes
	is "$(json '[.started, .finished, .from, .to] | join(" ")')" "false false aes-xts-plain64/512@512 aes-xts-plain64/512@512"
	is "$(sha256sum <v.img)" "$before"
}

@test "reencrypt of a detached header itself, by whatever name: refused, not a byte of it is written" {
	saved
	truncate -s 20M hdr
	truncate -s 24M data.img
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 -c aes-cbc-essiv:sha256 -s 256 \
		--header hdr data.img key
	ln hdr hard
	before=$(sha256sum <hdr)
	for args in hdr "--header hdr hdr" "--header hdr hard" "--header hard hdr"; do
		# shellcheck disable=SC2086 # words
		expect 6 "$DMCT" reencrypt --cipher aes-xts-plain64/512 --from saved --yes --key-file key --device-speed skip $args </dev/null
		says "stands apart from its data"
	done
	is "$(sha256sum <hdr)" "$before"
	# The data, by their own name.
	expect 0 "$DMCT" reencrypt --cipher aes-xts-plain64/512 --from saved --yes --key-file key --device-speed skip --header hdr \
		data.img --quiet </dev/null
	cryptsetup open --test-passphrase --key-file key --header hdr data.img
	expect 0 "$DMCT" inspect data.img --header hdr --no-measure --json
	is "$(json '[.volume.spec, .header.detached] | tostring')" '["aes-xts-plain64/512@4096",true]'
	# Smaller than any header; and with nothing on it.
	truncate -s 3M small.img
	truncate -s 20M hdr2
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 -c aes-cbc-essiv:sha256 -s 256 \
		--header hdr2 small.img key
	expect 0 "$DMCT" reencrypt --cipher aes-xts-plain64/512 --from saved --yes --key-file key --device-speed skip --header hdr2 \
		small.img --quiet --json </dev/null
	is "$(json '[.bytes, .finished] | tostring')" '[3145728,true]'
	: >none.img
	refuses 4 'none.img has 0 bytes.*nothing on it to re-encrypt' none.img --cipher aes-cbc-essiv:sha256/256 --yes --header hdr2
	expect 8 "$DMCT" inspect none.img --header hdr2 --no-measure --json
	is "$(json '[.findings[] | select(.id == "data-outside")] | length')" 1
}

@test "reencrypt cut short: SIGINT ends it clean, kill -9 leaves what can be gone on with; inspect says which" {
	saved
	size=300M made v.img --type luks2 -c aes-cbc-essiv:sha256 -s 256 --sector-size 4096
	cut=0
	for signal in INT KILL INT KILL; do
		# A shell has its background jobs ignore SIGINT.
		env --default-signal=INT "$DMCT" reencrypt v.img --auto --yes --from saved --key-file key --quiet </dev/null >out 2>err &
		pid=$!
		# Until it is at work: the header's sequence number rises with each area.
		for _ in {1..300}; do
			at=$("$DMCT" inspect v.img --no-measure --json 2>/dev/null |
				jq -r 'select(.header.requirements[0]) | .header.copies[0].sequence')
			[[ -n $at && $at -ge $((${last:-0} + 6)) ]] && break
			kill -0 $pid 2>/dev/null || break
		done
		last=${at:-${last:-0}}
		kill -$signal $pid 2>/dev/null || true
		status=0
		wait $pid || status=$?
		[ $status -ne 0 ] || break
		cut=$((cut + 1))
		[ $signal = KILL ] || is $status 130 "status: $(cat err)"
		[ $signal = KILL ] || grep -q 'goes on with it' err
		# Killed, a copy of the header may be half written.
		run --separate-stderr "$DMCT" inspect v.img --no-measure --json
		[ "$status" -eq 0 ] || [[ $signal = KILL && $status -eq 8 ]]
		[[ $(json .header.reencryption) =~ ^(clean|crashed|null)$ ]]
	done
	[ $cut -ge 1 ] || skip "this machine re-encrypts 284 MiB before it can be cut short"
	expect 0 "$DMCT" reencrypt v.img --auto --yes --from saved --key-file key --json --quiet </dev/null
	valid reencrypt
	expect 0 "$DMCT" inspect v.img --no-measure --json
	is "$(json '[.volume.spec, .header.reencryption] | tostring')" '["aes-xts-plain64/512@4096",null]'
	cryptsetup open --test-passphrase --key-file key v.img
}

# plain FILE [SECTOR]: the hash of what the volume in it holds.
plain() {
	rm -f vk
	cryptsetup luksDump -q --dump-volume-key --key-file key --volume-key-file vk "$1" >/dev/null || return
	"$DMCT_SRC/tests/lib/xts-plain" "$1" vk $((16 << 20)) "${2:-4096}"
}

# cut N HOW COMMAND...: the command, cut in at its Nth write or flush of v.img.
cut() {
	CUT_TARGET=v.img CUT_WRITE=yes CUT_AT=$1 CUT_DO=$2 LD_PRELOAD=$CUT ASAN_OPTIONS=verify_asan_link_order=0 "${@:3}" </dev/null
}

# cutting N [HOW]: a re-encryption of v.img, killed there.
cutting() {
	cut "$1" "${2:-kill}" "$DMCT" reencrypt v.img --cipher aes-xts-plain64/512 --yes --from saved --key-file key --quiet
}

# can_cut: the test has what it needs to cut in.
can_cut() {
	need python3
	CUT=${DMCT_BUILD:-$DMCT_SRC/build}/tests/lib/cut.so CHECK=${DMCT_BUILD:-$DMCT_SRC/build}/tests/lib/cut-check
	[[ -e $CUT && -e $CHECK ]] || skip "tests/lib/cut.so and cut-check are not built (make check)"
}

# calls COMMAND...: how many writes and flushes of v.img it makes; it has been run then.
calls() {
	rm -f log
	CUT_LOG=$PWD/log cut 0 none "$@" >/dev/null && "$CHECK" count log
}

# random FILE ARGUMENT...: a small volume full of what reads as random.
random() {
	rm -f "$1"
	truncate -s 16M "$1"
	head -c 2M /dev/urandom >>"$1"
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 -c aes-xts-plain64 -s 256 "${@:2}" "$1" key
}

@test "reencrypt killed at its writes, also at the last of them: gone on with, and every byte is there" {
	saved
	can_cut
	truncate -s 16M old.img
	head -c 12M /dev/urandom >>old.img
	truncate -s 28M old.img
	cryptsetup luksFormat -q --pbkdf pbkdf2 --pbkdf-force-iterations 1000 -c aes-xts-plain64 -s 256 --sector-size 4096 old.img key
	before=$(plain old.img)
	cp old.img v.img
	cutting 0
	is "$(plain v.img)" "$before" "without a cut"
	# Told to stop in the last area, it is finished, and says so.
	cp old.img v.img
	expect 0 cutting 28 int
	[[ $output == *"is re-encrypted"* ]]
	is "$(plain v.img) $("$DMCT" inspect v.img --no-measure --json | jq -r .header.reencryption)" "$before null"
	cuts=0 step=9
	[ "${CUT_ALL:-}" != 1 ] || step=3
	for ((n = 2;; n += step)); do
		cp old.img v.img
		run cutting "$n"
		[ "$status" -ne 0 ] || break
		# A copy of the header may be half written: status 8.
		"$DMCT" inspect v.img --no-measure --json >state || is $? 8 "inspect after $n" || return
		run --separate-stderr "$DMCT" reencrypt v.img --cipher aes-xts-plain64/512 --yes --from saved --key-file key --json --quiet </dev/null
		# shellcheck disable=SC2154 # bats's
		is "$status" 0 "after $n: $(jq -c .header.reencryption state) $stderr" || return
		is "$(plain v.img)" "$before" "contents after $n" || return
		"$DMCT" inspect v.img --no-measure --json >state
		is "$(jq -r '[.volume.spec, .header.reencryption, (.header.requirements | length)] | join(" ")' state)" \
			"aes-xts-plain64/512@4096  0" "after $n" || return
		cryptsetup open --test-passphrase --key-file key v.img || return
		cuts=$((cuts + 1))
	done
	[ $cuts -ge $((36 / step)) ] || { echo "only $cuts cuts"; return 1; }
}

@test "reencrypt killed at its very end: the end is made; other keys' keyslots and tokens stay, and no torn write loses both copies" {
	saved
	can_cut
	random old.img --sector-size 4096
	printf second >key2
	head -c 32 /dev/urandom >other
	cryptsetup luksAddKey -q --key-file key --pbkdf pbkdf2 --pbkdf-force-iterations 1000 old.img key2
	cryptsetup luksAddKey -q --unbound --key-size 256 --volume-key-file other --key-slot 7 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 old.img key2
	cryptsetup config --priority prefer --key-slot 0 old.img
	cryptsetup token add --key-description one --key-slot 0 --token-id 3 old.img
	cryptsetup token add --key-description two --key-slot 1 --token-id 4 old.img
	# So long that half of a copy is not all that counts of it.
	printf '{"type":"lab","keyslots":[],"pad":"%05000d"}' 0 | cryptsetup token import --token-id 5 old.img
	before=$(plain old.img)
	again=("$DMCT" reencrypt v.img --yes --from saved --key-file key --quiet)
	cp old.img v.img
	total=$(calls "${again[@]}" --cipher aes-xts-plain64/512 --drop-keyslots)
	cp v.img whole.img
	# With both old keyslots, with one, with none; and where the second copy is damaged, which makes the first the only one.
	ends=(32 22) torns=(0 1)
	[ "${CUT_ALL:-}" != 1 ] || ends=(33 32 22 12) torns=(0 1 3)
	for n in "${ends[@]}"; do
		cp old.img v.img
		run ! cut $((total - n)) kill "${again[@]}" --cipher aes-xts-plain64/512 --drop-keyslots
		cp v.img left.img
		run --separate-stderr "$DMCT" inspect v.img --no-measure --json
		valid inspect
		is "$(json '[.header.reencryption, .header.reencryption_left, (.header.keyslots | length)] | join(" ")')" \
			"clean true $((n >= 32 ? 5 : n == 22 ? 4 : 3))" "$n before the end"
		json '.findings[] | select(.id == "reencrypt-interrupted") | .severity + .message' | grep -q '^error.*cryptsetup reencrypt must not go on'
		expect 0 "${again[@]}" --dry-run </dev/null
		[[ $output == *"only the header's end is left"* ]]
		expect 2 "$DMCT" reencrypt v.img --dry-run --key-file key2 --from saved </dev/null
		cmp v.img left.img
		for torn in "${torns[@]}"; do
			cp left.img v.img
			run cut "$torn" torn "${again[@]}"
			is "$(plain v.img)" "$before" "contents, $n before the end, torn at $torn" || return
			expect 0 "${again[@]}" --cipher aes-xts-plain64/512 </dev/null || return
			is "$(cryptsetup luksDump --dump-json-metadata v.img | jq -cS '[.keyslots | map_values(.priority)] + [.tokens, .digests[].keyslots, .segments, .config.requirements]')" \
				"$(cryptsetup luksDump --dump-json-metadata whole.img | jq -cS '[.keyslots | map_values(.priority)] + [.tokens, .digests[].keyslots, .segments, .config.requirements]')" || return
		done
	done
	dump=$(cryptsetup luksDump --dump-json-metadata v.img)
	is "$(jq -r '[(.tokens["3"].keyslots | length), (.tokens["4"].keyslots | length), .keyslots[.tokens["3"].keyslots[0]].priority] | join(" ")' <<<"$dump")" "1 0 2"
	cryptsetup open --test-passphrase --key-file key2 --key-slot 7 --unbound v.img
}

@test "reencrypt goes on with what cryptsetup began, also with a key that stays, and cryptsetup with ours; encryption and decryption are left to it" {
	saved
	can_cut
	cs=(cryptsetup reencrypt -q --force-offline-reencrypt --key-file key --pbkdf pbkdf2 --pbkdf-force-iterations 1000)
	random old.img --sector-size 4096
	before=$(plain old.img)
	cp old.img v.img
	total=$(calls "${cs[@]}" -c aes-xts-plain64 -s 512 v.img)
	modes=(journal) ends=(14)
	[ "${CUT_ALL:-}" != 1 ] || modes=(journal checksum) ends=(14 20)
	for mode in "${modes[@]}"; do
		cp old.img v.img
		run ! cut $((total - 34)) kill "${cs[@]}" -c aes-xts-plain64 -s 512 --resilience "$mode" v.img
		expect 0 "$DMCT" reencrypt v.img --from saved --key-file key --dry-run --cipher aes-xts-plain64/256 </dev/null
		tr -s ' \n' ' ' <<<"$output" | grep -q "settled when it began: --cipher has no say any more"
		expect 0 reencrypt v.img --yes
		is "$(json '.resumed, .finished' | paste -sd ' ') $(plain v.img)" "true true $before" "$mode"
	done
	cp old.img v.img
	total=$(calls "$DMCT" reencrypt v.img --cipher aes-xts-plain64/512 --yes --from saved --key-file key --quiet)
	cp old.img v.img
	run ! cutting $((total - 38))
	"${cs[@]}" --resume-only v.img
	is "$(plain v.img)" "$before" "gone on with by cryptsetup"
	# What a disk's cache can leave after a power cut: the first copy says that an area is at work, and its checksums are lost.
	cp old.img v.img
	run ! cutting $((total - 33))
	is "$("$DMCT" inspect v.img --no-measure --json | jq -r '[.header.reencryption, .header.copies[0].sequence - .header.copies[1].sequence] | join(" ")')" "crashed 1"
	# cryptsetup mends what it looks at.
	cp v.img w.img
	at=$(cryptsetup luksDump --dump-json-metadata w.img | jq -r '.keyslots[] | select(.type == "reencrypt").area.offset')
	head -c 65536 /dev/urandom | dd of=v.img bs=4096 seek=$((at / 4096)) conv=notrunc status=none
	expect 0 reencrypt v.img --yes
	is "$(plain v.img)" "$before" "with its checksums lost"
	# The same key with larger sectors: at the end only the sectors tell old from new.
	random old.img --sector-size 512
	before=$(plain old.img 512)
	cp old.img v.img
	total=$(calls "${cs[@]}" --keep-key --sector-size 4096 v.img)
	is "$(plain v.img)" "$before"
	for n in "${ends[@]}"; do
		cp old.img v.img
		run ! cut $((total - n)) kill "${cs[@]}" --keep-key --sector-size 4096 v.img
		expect 0 reencrypt v.img --yes
		is "$(plain v.img)" "$before" "$n before the end with --keep-key"
		cryptsetup open --test-passphrase --key-file key v.img
	done
	# In place, and back again.
	head -c 24M /dev/urandom >v.img
	"${cs[@]}" --encrypt --type luks2 --reduce-device-size 16M --init-only v.img
	refuses 6 'being encrypted or decrypted in place by cryptsetup' v.img --yes
	expect 0 "$DMCT" inspect v.img --no-measure --json
	json '.findings[] | select(.id == "reencrypt-interrupted").fix' | grep -q 'cryptsetup reencrypt --resume-only v.img'
	truncate -s 20M hdr
	truncate -s 4M v.img
	cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --header hdr v.img key
	"${cs[@]}" --decrypt --init-only --header hdr v.img
	refuses 6 'being encrypted or decrypted in place by cryptsetup' v.img --yes --header hdr
}
