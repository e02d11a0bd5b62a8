#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# What the program says of itself and what the documents say of it are the same.

load lib/common

man_page() {
	cat "$DMCT_SRC/man/dmcrypt-tune.8"
}

# The long options that the man page documents, a line each. Other programs' options stand in examples, not behind Fl.
man_options() {
	man_page | grep -E '^\.(It )?Fl ' | grep -oE ' -[a-z][a-z-]+' | sed 's/^ -/--/' | sort -u
}

# The long options of a help text, a line each.
help_options() {
	"$DMCT" help "$@" | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p' | sort -u
}

commands() {
	"$DMCT" --help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
}

@test "every command and every option of --help stands in the man page" {
	[ "$(commands | wc -l)" -ge 5 ]
	for c in $(commands); do
		man_page | grep -q "^\\.Cm $c\$" || { echo "man page: no command $c"; false; }
		[ "$c" = help ] && continue
		for o in $(help_options "$c"); do
			man_options | grep -qx -- "$o" || { echo "man page: no option $o of $c"; false; }
		done
	done
}

@test "every option of the man page stands in some --help" {
	for c in $(commands | grep -v help); do
		help_options "$c"
	done | sort -u >"$BATS_TEST_TMPDIR/help"
	man_options >"$BATS_TEST_TMPDIR/man"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/man")" -ge 30 ]
	diff "$BATS_TEST_TMPDIR/help" "$BATS_TEST_TMPDIR/man"
}

@test "every command line of the program in README and man page parses" {
	cd "$BATS_TEST_TMPDIR"
	# Their options and commands exist: each --option of such a line is one of its command's.
	{ cat "$DMCT_SRC/README.md"; man_page | sed -n 's/^\.Dl //p'; } |
		grep -oE '(^|\$ |# )(sudo )?dmcrypt-tune [a-z]+.*' | sed -E 's/^[$#] //; s/^sudo //' >lines
	[ "$(wc -l <lines)" -ge 6 ]
	while read -r _ command rest; do
		commands | grep -qx "$command" || { echo "no command $command"; false; }
		for word in $rest; do
			case $word in
			--*) help_options "$command" | grep -qx -- "${word%%=*}" || { echo "no option $word of $command"; false; } ;;
			esac
		done
	done <lines
}

@test "the exit statuses of --help, man page and README are the same" {
	for n in 0 1 2 3 4 5 6 7 8; do
		man_page | grep -q "^\\.It $n\$"
		grep -Eq "^\\| $n \\|" "$DMCT_SRC/README.md"
	done
}

@test "the completion offers the commands, and the options of the command" {
	run bash -c '
		dmcrypt-tune() { "$DMCT" "$@"; }
		export DMCT=$1
		source "$2/completion/dmcrypt-tune"
		offers() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dmcrypt_tune; echo "${COMPREPLY[*]}"; }
		offers dmcrypt-tune rec
		offers dmcrypt-tune format --over
		offers dmcrypt-tune recommend --policy st
	' bash "$DMCT" "$DMCT_SRC"
	is "${lines[0]}" recommend
	is "${lines[1]}" --overwrite
	is "${lines[2]}" strict
}

@test "each schema is a valid schema, and NEWS names this version" {
	need jq
	for schema in probe bench recommend format undo inspect tune reencrypt error; do
		is "$(jq -r '.properties.schema.const' "$DMCT_SRC/schemas/$schema.json")" "dmcrypt-tune.$schema.v1"
	done
	version=$("$DMCT" --version | sed -nE '1s/^dmcrypt-tune (.*)/\1/p')
	grep -q "^dmcrypt-tune $version " "$DMCT_SRC/NEWS"
}
