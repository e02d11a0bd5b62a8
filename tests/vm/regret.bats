#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# The choice of one second, held against every candidate measured for a minute: scripts/bench-regret in this guest. The
# figures are shown for doc/measuring.md, and asserted only where time repeats (virtual time): elsewhere other guests, or
# the host, make them wander.

load ../lib/common
load guest

# regret ARGUMENT...: bench-regret's lines, shown; its regret is at most 2 %, where that can be asked for.
regret() {
	image 48M
	limit=1000000
	! grep -qw lab.virtual=yes /proc/cmdline || limit=2
	expect 0 "$DMCT_SRC/scripts/bench-regret" --time 60 --limit $limit "$@" "$loop"
	grep -Eq '^regret [0-9.]+ %$' <<<"$output"
	printf '# %s: %s\n' "$(uname -r)" "$(paste -s -d ';' <<<"$output")" >&3
}

@test "what the default policy chooses is within 2 % of the best of its class" {
	regret
}

@test "what is chosen for full strength is, too" {
	regret --policy strict
}
