# SPDX-License-Identifier: GPL-3.0-or-later
# Many rows are pruned under load: the passes of the master's loop stay short, and runs that others submit meanwhile
# are committed and run.
#
# CHAOS_PRUNE_ROWS: jobs of the run that goes (20000)
# time-out: 600 s
. "$(dirname "$0")/lib.sh"

rows=${CHAOS_PRUNE_ROWS:-20000}

start_cluster --slots 2
seq "$rows" | sed 's/.*/true/' >"$test_dir/lines"
ok "a run of $rows jobs" titan run -q --name big --lines <"$test_dir/lines"
exits 'is cancelled' 0 titan -y cancel 1
ok 'and ends' until_true 60 run_ended 1
# What the submit and the cancel of that many cost isn't meant.
titan -y down >/dev/null 2>&1
start_cluster --slots 2
(
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		titan run -q -w -e 'live; live=true' >/dev/null || echo "status $?"
	done
) >"$test_dir/live" 2>&1 &
live=$!
exits 'it is pruned' 0 titan -y --json prune --keep 0 --dead
is 'whole' "$(printf '%s' "$out" | jq '.job_count >= '"$rows")" true
wait "$live"
is 'what was submitted meanwhile ran' "$(cat "$test_dir/live")" ''
stall=$(titan --json metrics | jq -c .stall)
note "passes of the loop: $stall"
note "commits: $(titan --json metrics | jq -c .commit)"
# With few rows, beside other tests, it is the machine that is measured.
[ -n "${CHAOS_PRUNE_ROWS:-}" ] && most_us=8192 || most_us=131072
ok 'the loop held up nobody' test "$(printf '%s' "$stall" | jq .p99_us)" -le $most_us
ok 'in pieces' test "$(titan --json metrics | jq .commits)" -ge $((rows / 500))
amount "$rows rows, 99 % of passes under $(printf "%s" "$stall" | jq .p99_us) us"
exits 'the store' 0 titan fsck
done_testing
