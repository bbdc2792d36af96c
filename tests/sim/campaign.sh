#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Fresh schedules on every core until so many core-minutes of the simulator are used: prints how often each move of a
# job was made, the seeds that failed, and the sums. Ends with 1 when a seed failed, or a move that can be made was made
# less than LEAST times.
#
# usage: campaign.sh TITAN-SIM MINUTES SEED LEAST [PROCESSES]
set -eu

sim=${1:?usage: campaign.sh TITAN-SIM MINUTES SEED LEAST [PROCESSES]}
minutes=$2
seed=$3
least=$4
processes=${5:-$(nproc)}
chunk=2000
dir=$(mktemp -d "${TMPDIR:-/tmp}/titan-campaign.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT

# Each has seeds of its own, far apart; the processor time is that of its children.
share() { # NUMBER
	local number=$1 at=$((seed + $1 * 1000000000)) used=0 limit own=$BASHPID
	limit=$(awk -v m="$minutes" -v p="$processes" 'BEGIN { printf "%.0f", m * 60 / p }')
	while [ "$used" -lt "$limit" ]; do
		"$sim" --seed "$at" --schedules $chunk --moves --keep-going >"$dir/chunk.$number" 2>&1 || true
		cat "$dir/chunk.$number" >>"$dir/out.$number"
		at=$((at + chunk))
		used=$(awk -v ticks="$(getconf CLK_TCK)" '{ print int(($16 + $17) / ticks) }' "/proc/$own/stat")
		echo "$used" >"$dir/used.$number"
	done
}

for ((i = 0; i < processes; i++)); do share "$i" & done
wait
grep -hE '^seed [0-9]+ fails|^again:' "$dir"/out.* || true
awk -v least="$least" -v used="$(cat "$dir"/used.* | awk "{ sum += \$1 } END { print sum }")" '
	/^not driven:/ { listed = 1 }
	/^moves=/ { listed = 0; if ($5 != "listed_and_made=0") { made++ } }
	/^schedules=/ { split($1, n, "="); schedules += n[2]; split($2, n, "="); failures += n[2] }
	/^events=/ { split($1, n, "="); events += n[2] }
	NF == 4 && $4 ~ /^[0-9]+$/ && !listed { count[sprintf("%-12s %-18s %-12s", $1, $2, $3)] += $4 }
	END {
		for (move in count) {
			print move, count[move] | "sort"
			moves++
			rare += count[move] < least
		}
		close("sort")
		printf "core_minutes=%.1f schedules=%d events=%d failures=%d moves=%d under_%d=%d listed_and_made=%d\n",
			used / 60, schedules, events, failures, moves, least, rare, made
		exit failures > 0 || rare > 0 || made > 0
	}' "$dir"/out.*
