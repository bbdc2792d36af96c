# SPDX-License-Identifier: GPL-3.0-or-later
# A share of the simulator's schedules, clean; the same seed gives the same hash.
# time-out: 900 s
#
# SIM_SEED, SIM_SCHEDULES: where to begin and how many (a share for CI by default).
set -u

sim=${TITAN_SIM:?path of titan-sim}
seed=${SIM_SEED:-1}
schedules=${SIM_SCHEDULES:-6000}
out=$(mktemp "${TMPDIR:-/tmp}/titan-sim.XXXXXX") || exit 1
trap 'rm -f "$out"' EXIT

# What a sanitizer finds in a schedule has its seed, as a broken invariant has.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:abort_on_error=1:handle_abort=0"
export UBSAN_OPTIONS="${UBSAN_OPTIONS-}:halt_on_error=1:abort_on_error=1"
"$sim" --seed "$seed" --schedules "$schedules" --moves >"$out" 2>&1
status=$?
tail -n 100 "$out" | sed 's/^/# /'
[ $status = 0 ] && echo "ok 1 - $schedules schedules from seed $seed are clean" ||
	echo "not ok 1 - $schedules schedules from seed $seed are clean"
first=$("$sim" --seed 77 --schedules 50 | tail -n 1)
second=$("$sim" --seed 77 --schedules 50 | tail -n 1)
[ -n "$first" ] && [ "$first" = "$second" ] && echo "ok 2 - the same seed gives the same hash" ||
	echo "not ok 2 - the same seed gives the same hash"
other=$("$sim" --seed 78 --schedules 50 | tail -n 1)
[ "$first" != "$other" ] && echo "ok 3 - another seed gives another" || echo "not ok 3 - another seed gives another"
echo 1..3
