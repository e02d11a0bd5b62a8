#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# A kernel in FIPS mode: approved ciphers and PBKDF2 only, with the reason.

load ../lib/common
load guest

@test "probe says so; recommend takes AES and PBKDF2, and says why" {
	is "$(cat /proc/sys/crypto/fips_enabled)" 1
	expect 0 "$DMCT" probe --json
	is "$(json .kernel.fips)" true
	json '.findings[].id' | grep -qx fips
	image 24M
	expect 0 "$DMCT" recommend --json --time 1 "$loop"
	is "$(json '.choice.cipher | startswith("aes-")')" true
	is "$(json '.pbkdf | "\(.type) \(.memory)"')" "pbkdf2 null"
	json '[.reasons[], .pbkdf.reason] | join(" ")' | grep -q FIPS
	json '.cryptsetup_argv | join(" ")' | grep -q -- '--pbkdf pbkdf2'
	run ! grep -q -- '--pbkdf-memory' <<<"$output"
}

@test "format --auto makes such a volume; Adiantum and Argon2 are refused before any write" {
	image 48M
	expect 0 "$DMCT" format "$loop" --auto --yes --key-file key --json --time 1 --pbkdf-force-iterations 1000 </dev/null
	is "$(cryptsetup luksDump --dump-json-metadata "$loop" | jq -r '.keyslots["0"].kdf.type')" pbkdf2
	used "$loop" lab
	remember "$loop"
	run "$DMCT" format "$loop" --cipher xchacha12,aes-adiantum-plain64/256 --yes --overwrite --key-file key
	[ "$status" -ne 0 ]
	run "$DMCT" format "$loop" --auto --pbkdf argon2id --yes --overwrite --key-file key
	[ "$status" -ne 0 ]
	untouched "$loop"
}
