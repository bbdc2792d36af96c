# SPDX-License-Identifier: GPL-3.0-or-later
# A core among liars: some fixed seeds are clean.
# time-out: 300 s
#
# LIARS_SEED, LIARS_RUNS: where to begin and how many.
set -u

liars=${TITAN_LIARS:?path of titan-liars}
seed=${LIARS_SEED:-1}
runs=${LIARS_RUNS:-150}
out=$(mktemp "${TMPDIR:-/tmp}/titan-liars.XXXXXX") || exit 1
trap 'rm -f "$out"' EXIT

# What a sanitizer finds, and what never ends, has a seed, too.
export ASAN_OPTIONS="${ASAN_OPTIONS-}:abort_on_error=1:handle_abort=0"
export UBSAN_OPTIONS="${UBSAN_OPTIONS-}:halt_on_error=1:abort_on_error=1"
timeout 280 "$liars" --seed "$seed" --runs "$runs" >"$out" 2>&1
status=$?
tail -n 40 "$out" | sed 's/^/# /'
[ $status = 0 ] && tail -n 1 "$out" | grep -qx "runs=$runs failures=0" && echo "ok 1 - $runs runs from seed $seed are clean" ||
	echo "not ok 1 - $runs runs from seed $seed are clean"
echo 1..1
