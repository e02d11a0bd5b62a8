# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What every bats file loads. DMCT is the program, DMCT_SRC the source tree: set by `make check`; the defaults let one
# file be run by hand (`bats tests/probe.bats`) after a build in build/.
bats_require_minimum_version 1.5.0

DMCT_SRC=${DMCT_SRC:-$(cd "$BATS_TEST_DIRNAME/.." && pwd)}
DMCT=${DMCT:-$DMCT_SRC/build/dmcrypt-tune}
# shellcheck disable=SC2034 # for the tests
FIXTURES=$DMCT_SRC/tests/fixtures

# expect STATUS COMMAND...: runs it, with $output and $stderr apart, and shows both when the status is another.
expect() {
	local want=$1
	shift
	run --separate-stderr "$@"
	# shellcheck disable=SC2154 # stderr is bats's
	if [ "$status" -ne "$want" ]; then
		printf 'exit status %s, not %s, of: %s\nstdout: %s\nstderr: %s\n' "$status" "$want" "$*" "$output" "$stderr"
		return 1
	fi
}

# onto_full COMMAND...: with a standard output that takes nothing.
onto_full() {
	"$@" >/dev/full
}

# json FILTER: what jq reads in $output.
json() {
	jq -r "$1" <<<"$output"
}

# is ACTUAL EXPECTED [WHAT]
is() {
	[ "$1" = "$2" ] || { printf '%s: "%s", not "%s"\n' "${3:-value}" "$1" "$2"; return 1; }
}

# says PATTERN: $stderr holds the extended regular expression.
says() {
	grep -Eq -- "$1" <<<"$stderr" || { printf 'stderr does not say "%s": %s\n' "$1" "$stderr"; return 1; }
}

# valid SCHEMA: $output is a valid document of schemas/SCHEMA.json.
valid() {
	"$DMCT_SRC/tests/lib/validate" "$DMCT_SRC/schemas/$1.json" <<<"$output"
}

# as_user COMMAND...: as an ordinary user, also where the suite runs as root; other files it needs must be readable. The
# program itself is taken from a copy, since a checkout below /root is closed to others.
as_user() {
	local dir status=0 i words=("$@")
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
		return
	fi
	dir=$(mktemp -d)
	cp "$DMCT" "$dir/dmcrypt-tune"
	chmod 755 "$dir" "$dir/dmcrypt-tune"
	for i in "${!words[@]}"; do
		[ "${words[i]}" != "$DMCT" ] || words[i]=$dir/dmcrypt-tune
	done
	setpriv --reuid=65534 --regid=65534 --clear-groups -- "${words[@]}" || status=$?
	rm -r "$dir"
	return $status
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed (${2:-package $1})"
}

# german COMMAND...: runs it under a locale with a decimal comma, made here, since few machines have one installed.
german() {
	local dir=$BATS_FILE_TMPDIR/locale
	need localedef "package locales"
	if [ ! -d "$dir/de_DE.UTF-8" ]; then
		mkdir -p "$dir"
		localedef -i de_DE -f UTF-8 "$dir/de_DE.UTF-8" 2>/dev/null ||
			skip "no sources of the locale de_DE (package locales)"
	fi
	LOCPATH=$dir LC_ALL=de_DE.UTF-8 "$@"
}
