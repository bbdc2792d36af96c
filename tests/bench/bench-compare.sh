#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two files that bench.sh wrote (-o), figure by figure.    usage: bench-compare.sh OLD NEW
set -eu

[ $# = 2 ] || { echo 'usage: bench-compare.sh OLD NEW' >&2; exit 2; }
jq -rs --slurpfile old "$1" '(reduce $old[] as $o ({}; .[$o.name] = $o)) as $was | .[] |
	[.name, ($was[.name].value // "-"), .value, .unit, ($was[.name].ratio // "-"), (.ratio // "-")] | @tsv' "$2" |
	awk -F'\t' 'BEGIN { printf "%-24s %12s %12s %-5s %7s %7s\n", "", "old", "new", "", "ratio", "ratio" }
		{ printf "%-24s %12s %12s %-5s %7s %7s\n", $1, $2, $3, $4, $5, $6 }'
