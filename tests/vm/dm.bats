#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The dm engine: dm-crypt itself on a zero target. Whatever happens, nothing of it is left, and no disk is touched.

load ../lib/common
load guest

specs=(aes-xts-plain64/512 aes-cbc-essiv:sha256/256 xchacha12,aes-adiantum-plain64/256)

# gone: device-mapper has nothing of ours, nor has /dev/mapper, nor any keyring.
gone() {
	is "$(dmsetup ls | grep -c dmcrypt-tune)" 0 "mappings of ours: $(dmsetup ls)" || return
	is "$(find /dev/mapper -name 'dmcrypt-tune*')" "" nodes || return
	is "$(grep dmcrypt-tune /proc/keys)" "" keys
}

@test "bench --engine dm: three specs at 512 to 4096, both directions, all flags, every output checked" {
	modprobe -q dm-crypt || true
	expect 0 "$DMCT" probe --json
	features=$(json '[.kernel.dm.features[] | select(test("workqueue|same_cpu|submit_from|high_pri"))] | length')
	expect 0 "$DMCT" bench --json --engine dm --flags all --time 10 "${specs[@]}"
	# None, each alone, both workqueues.
	is "$(json '.results | length')" $((3 * 4 * 2 * (features + 2)))
	is "$(json '[.results[] | select(.checked == true and .median > 0)] | length')" $((3 * 4 * 2 * (features + 2)))
	is "$(json '[.results[].spec] | unique | length')" 12
	is "$(json '[.results[].flags] | unique | length')" $((features + 2))
	is "$(json '[.results[] | select(.flags == ["no_read_workqueue", "no_write_workqueue"])] | length')" 24
	is "$(json '[.results[] | [.size, .depth, .queue, .threads]] | unique | tostring')" '[[65536,1,"sync",1]]'
	is "$(json '[.results[] | select(.tier == null)] | length')" 0
	gone
}

@test "sector sizes that the check has to tell apart are really set: what each decrypts zeros to differs" {
	expect 0 "$DMCT" bench --json --engine dm --time 1 aes-cbc-plain64/256 aes-xts-plain64/256 serpent-xts-plain64/512
	is "$(json '[.results[] | select(.checked == true)] | length')" 24
	gone
}

@test "several requests in flight, several threads: asynchronous I/O, or a thread each where that is forbidden" {
	expect 0 "$DMCT" bench --json --engine dm --depth 1,8 --threads 1,3 --size 4096,131072 --time 2 aes-xts-plain64/512@4096
	is "$(json '[.results[] | select(.checked)] | length')" 16
	is "$(json '[.results[] | "\(.depth) \(.queue)"] | unique | join(",")')" "1 sync,8 aio"
	gone
	type -P strace >/dev/null && strace -qq -o /dev/null true || skip "strace cannot trace here"
	run --separate-stderr strace -f -qq -o /dev/null -e trace=io_setup -e inject=io_setup:error=EPERM \
		"$DMCT" bench --json --engine dm --depth 8 --time 1 aes-xts-plain64/512@4096
	is "$status" 0
	is "$(json '[.results[] | select(.checked) | "\(.depth) \(.queue)"] | unique | join(",")')" "8 threads"
	gone
}

@test "no block device is opened for writing but our own mappings; no file is written; no keyctl left" {
	type -P strace >/dev/null && strace -qq -o /dev/null true || skip "strace cannot trace here"
	strace -f -qq -y -o trace -e trace=open,openat,openat2,creat,mknod,mknodat,unlink,unlinkat \
		"$DMCT" bench --engine dm --time 1 --quiet aes-xts-plain64/512 >/dev/null
	grep -Ev '= -1 ' trace | grep -E 'O_WRONLY|O_RDWR|O_CREAT|creat\(' | grep -Ev 'O_PATH' >writes
	cat writes
	grep -q 'O_WRONLY|O_DIRECT' writes
	# Each is a terminal, a pipe, device-mapper's control node, or a device that is one of our mappings.
	run ! grep -Ev '= [0-9]+<(/dev/null|/dev/mapper/control|/dev/(pts|tty).*|/dev/mapper/dmcrypt-tune-[0-9]+-[0-9]+)( \(deleted\))?(<.*>)?>' writes
	gone
}

@test "interrupted by each signal: nothing is left, and the status says which" {
	local signal number
	for signal in INT TERM HUP; do
		number=$(kill -l $signal)
		run --separate-stderr timeout --preserve-status -s $signal 1 "$DMCT" bench --engine dm --time 60 --quiet "${specs[@]}"
		is "$status" $((128 + number)) "$signal"
		gone
	done
}

@test "killed: the kernel removes what was there; a second run leaves nothing either" {
	"$DMCT" bench --engine dm --time 60 --quiet "${specs[@]}" >/dev/null 3>&- &
	pid=$!
	for _ in {1..100}; do
		[ "$(dmsetup ls | grep -c "dmcrypt-tune-$pid-")" -lt 3 ] || break
		sleep 0.1
	done
	[ "$(dmsetup ls | grep -c "dmcrypt-tune-$pid-")" -ge 3 ]
	kill -KILL $pid
	wait $pid || true
	# What it was just making, a zero target and a crypt target on it, may have to wait for the second run.
	for _ in {1..50}; do
		[ "$(dmsetup ls | grep -c "dmcrypt-tune-$pid-")" -gt 2 ] || break
		sleep 0.1
	done
	[ "$(dmsetup ls | grep -c "dmcrypt-tune-$pid-")" -le 2 ]
	expect 0 "$DMCT" bench --json --engine dm --time 1 aes-xts-plain64/512@512
	gone
}

# leftover PID START NAMESPACE: a zero target and a crypt target on it, as a killed process might leave them.
leftover() {
	local below key
	dmsetup create "dmcrypt-tune-$1-0" --uuid "DMCRYPT-TUNE-$1-$2-$3-0" --table "0 2048 zero"
	below=$(dmsetup info -c --noheadings -o major,minor "dmcrypt-tune-$1-0")
	key=$(printf '%064d' 0)
	dmsetup create "dmcrypt-tune-$1-1" --uuid "DMCRYPT-TUNE-$1-$2-$3-1" --table "0 2048 crypt aes-cbc-essiv:sha256 $key 0 $below 0"
}

@test "mappings of a dead process are removed; a living one's, another namespace's and what only looks like ours are not" {
	local namespace start dead
	namespace=$(stat -L -c %i /proc/self/ns/pid)
	start=$(sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 20)
	sleep 0 &
	dead=$!
	wait $dead
	leftover $dead 1 "$namespace"
	# Killed before its table was loaded, or while it stood beside the live one.
	dmsetup create "dmcrypt-tune-$dead-2" --uuid "DMCRYPT-TUNE-$dead-1-$namespace-2" --notable
	dmsetup create "dmcrypt-tune-$dead-3" --uuid "DMCRYPT-TUNE-$dead-1-$namespace-3" --notable
	dmsetup load "dmcrypt-tune-$dead-3" --table "0 2048 linear $(dmsetup info -c --noheadings -o major,minor "dmcrypt-tune-$dead-0") 0"
	leftover $$ "$start" "$namespace"
	leftover 1 999999999 "$namespace"
	leftover 4000000 1 12345
	dmsetup create "dmcrypt-tune-$dead-7" --table "0 2048 zero"
	dmsetup create "dmcrypt-tune-$dead-8" --uuid "DMCRYPT-TUNE-$dead-1-$namespace-8" --table "0 2048 error"
	expect 0 "$DMCT" bench --json --engine dm --time 0.5 aes-xts-plain64/512@512
	left=$(dmsetup ls | cut -f 1 | sort | tr '\n' ' ')
	dmsetup ls | cut -f 1 | sort -r | xargs -n 1 dmsetup remove --retry
	is "$left" "$(printf '%s\n' "dmcrypt-tune-$$-0" "dmcrypt-tune-$$-1" dmcrypt-tune-4000000-0 dmcrypt-tune-4000000-1 \
		"dmcrypt-tune-$dead-7" "dmcrypt-tune-$dead-8" | sort | tr '\n' ' ')"
}

@test "not root, no IPC namespace in common, a flag that the target lacks: a reason, and no error of the run" {
	expect 7 setpriv --reuid 65534 --regid 65534 --clear-groups "$DMCT" bench --json --engine dm --time 0.5 aes-xts-plain64/512
	json '.results[0].error.reason' | grep -q root
	is "$(json '[.results[].error.code] | unique | join(" ")')" EACCES
	expect 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$DMCT" bench --json --engine dm,cpu --time 0.5 aes-xts-plain64/512@512
	expect 0 unshare --ipc env -u DM_DISABLE_UDEV "$DMCT" bench --json --engine dm --time 1 aes-xts-plain64/512@512
	is "$(json '[.results[] | select(.checked)] | length')" 2
	expect 0 "$DMCT" probe --json
	if [ "$(json '[.kernel.dm.features[] | select(. == "high_priority")] | length')" = 0 ]; then
		expect 0 "$DMCT" bench --json --engine dm --flags none,high_priority --time 0.5 aes-xts-plain64/512@512
		is "$(json '[.results[] | select(.flags == ["high_priority"]) | .error.code] | unique | join(" ")')" EOPNOTSUPP
	fi
	gone
}

@test "bench without --engine has dm among its engines" {
	expect 0 "$DMCT" bench --json --time 3 --sector-size 512,4096 "${specs[@]}"
	is "$(json '[.results[] | select(.engine == "dm" and .checked)] | length')" 12
	is "$(json '[.results[] | select(.engine == "afalg" and .checked)] | length')" 18
	gone
}

@test "recommend and format rest on dm-crypt; flags that it measured a gain for are in the header, and nothing is left" {
	image 48M
	expect 0 "$DMCT" recommend --json --time 2 --pbkdf-force-iterations 4 "$loop"
	is "$(json .choice.basis)" dm
	json '.reasons[]' | grep -q '^Flags: '
	flags=$(json '[.flags[] | ltrimstr("perf-")] | sort | join(" ")')
	is "$(json '[.cryptsetup_flags_argv[] | select(startswith("--perf-")) | ltrimstr("--perf-")] | sort | join(" ")')" "$flags"
	gone
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --time 2 \
		--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 </dev/null
	is "$(json '[.plan.choice.basis, .verified] | tostring')" '["dm",true]'
	is "$(json '[.plan.flags[] | ltrimstr("perf-")] | sort | join(" ")')" \
		"$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -r '[.config.flags[]? | gsub("-"; "_")] | sort | join(" ")')"
	gone
	used "$loop" lab
}

@test "flags of saved results: set for a gain with one request at a time and no loss with several, as cryptsetup writes them" {
	image 24M
	"$DMCT" bench --engine dm --flags none,no_read_workqueue+no_write_workqueue --depth 1,8 --time 2 --quiet --save s \
		aes-xts-plain64/512@4096 >/dev/null
	jq '.results |= map(. + (if .flags == [] then 100 elif .depth == 1 and .direction == "encrypt" then 150 else 101 end
		| . * 1000000 | {median: ., low: (. - 1000000), high: (. + 1000000), slices: 20}))' s >s2
	printf '%s\n' "$(jq -c . s2)" >s2
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --from s2 \
		--pbkdf-force-iterations 4 --pbkdf-memory 32 --pbkdf-parallel 1 </dev/null
	is "$(json '.plan.flags | join(" ")')" perf-no_write_workqueue
	is "$(cryptsetup luksDump "$loop" | sed -n 's/^Flags:[[:space:]]*//p' | xargs)" no-write-workqueue
	mapfile -t argv < <(json '.plan.cryptsetup_flags_argv[]')
	is "${argv[*]}" "cryptsetup open --persistent --perf-no_write_workqueue $loop luks-${loop##*/}"
	cryptsetup luksFormat --batch-mode --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$loop" key
	"${argv[@]:0:5}" lab --key-file key
	cryptsetup close lab
	is "$(cryptsetup luksDump "$loop" | sed -n 's/^Flags:[[:space:]]*//p' | xargs)" no-write-workqueue
}
