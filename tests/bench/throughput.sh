#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Ours beside the machine's limit, in one run: no-op jobs through master, store, link and keeper, with every
# move durable. Figures for people; nothing passes or fails.
#
# usage: throughput.sh TITAN BENCH_SPAWN [JOBS]
set -eu

titan=$1
spawn=$2
jobs=${3:-10000}
dir=$(mktemp -d "${TMPDIR:-/tmp}/titan-bench.XXXXXX")
export TITAN_STATE=$dir/state
trap '"$titan" -y down >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
now_ns() { date +%s%N; }

limit=$("$spawn" 2 2 | tee /dev/stderr | awk '/^spawn_sh/ { print $2 }')
direct=$("$spawn" 2 2 | awk '/^spawn_direct/ { print $2 }')
"$titan" up --slots 2 >/dev/null

rate() { # NAME LIMIT JOBS COMMAND...: the command submits and waits
	local name=$1 of=$2 count=$3 from to
	shift 3
	from=$(now_ns)
	"$@" >/dev/null
	to=$(now_ns)
	awk -v n="$name" -v c="$count" -v ns=$((to - from)) -v of="$of" \
		'BEGIN { r = c * 1e9 / ns; printf "%-14s %8.0f /s  %.2f of the spawn limit\n", n, r, r / of }'
}

lines() { yes "$1" | head -n "$jobs" | "$titan" run --lines -w; }
fan() { "$titan" run -w -e "a -> m*2000 -> z; a=true; m=true; z=true"; }
chain() { "$titan" run -w -e "$(awk 'BEGIN { for (i = 0; i < 500; i++) printf "%sj%d", i ? " -> " : "", i
	for (i = 0; i < 500; i++) printf "; j%d=true", i }')"; }

rate noop_direct "$direct" "$jobs" lines true
rate noop_sh "$limit" "$jobs" lines 'true;'
rate fan_2000 "$direct" 2002 fan
from=$(now_ns)
chain >/dev/null
awk -v ns=$(($(now_ns) - from)) 'BEGIN { printf "chain_500      %8.2f ms a hop\n", ns / 500 / 1e6 }'
from=$(now_ns)
for i in $(seq 200); do "$titan" run -e "a; a=true" >/dev/null; done
awk -v ns=$(($(now_ns) - from)) 'BEGIN { printf "submit_cli     %8.2f ms a command\n", ns / 200 / 1e6 }'
