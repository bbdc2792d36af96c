# SPDX-License-Identifier: GPL-3.0-or-later
# Final jobs and jobs that run in any case (always) run after a cancel and after the deadline of their run, in sub-runs
# too. A second cancel, --all, or a cancel by name ends them.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
log=$test_dir/log
wait_go="until [ -e $test_dir/go ]; do sleep 0.05; done"

cat >"$test_dir/inner.yaml" <<EOF
jobs:
  work: {run: sleep 600}
  next: {needs: work, run: echo next >>$log}
finally:
  inner: {run: echo inner >>$log}
EOF
cat >"$test_dir/outer.yaml" <<EOF
jobs:
  sub: {pipeline: inner.yaml}
  after: {needs: sub, run: echo after >>$log}
  tidy: {needs: sub, always: true, run: echo tidy >>$log}
finally:
  outer: {run: echo outer >>$log}
EOF
run=$(titan -q run "$test_dir/outer.yaml")
until_true 20 job_is "$run" sub running
child=$(titan --json show "$run/sub" | jq '.[0] | .child')
until_true 20 job_is "$child" work running
exits 'a run is cancelled' 0 titan cancel "$run"
like 'what still runs is said' "$err" "2 jobs that run in any case may go on for a while; titan cancel $run again ends them, too"
exits 'it ends as cancelled' 1 titan --timeout 20s wait "$run"
is 'it was cancelled' "$(run_state "$run")" cancelled
is 'final jobs ran, those of the sub-run first' "$(sort "$log" | tr '\n' ' ')$(head -n 1 "$log")" 'inner outer tidy inner'
is 'they succeeded' "$(job_state "$run" outer) $(job_state "$run" tidy) $(job_state "$child" inner)" 'succeeded succeeded succeeded'

stubborn() { # starts a run whose cleaner waits, and cancels it once
	rm -f "$test_dir/go"
	run=$(titan -q run -e "work -> clean!; work='sleep 600'; clean='$wait_go'")
	until_true 20 job_is "$run" work running
	titan -q cancel "$run"
	until_true 20 job_is "$run" clean running
}
stubborn
like 'explain says how long it has' "$(titan explain "$run/clean")" 'was told to end, so the job must end in (9m|10m)'
like 'show says until when' "$(titan --json show "$run/clean" | jq -r '.[0] | .deadline')" '^[0-9]{4}-'
exits 'a second cancel' 0 titan cancel -w "$run"
is 'ends it' "$(job_state "$run" clean)" cancelled
stubborn
exits 'its name' 0 titan cancel -w "$run/clean"
is 'ends it too' "$(job_state "$run" clean)" cancelled
run=$(titan -q run -e "work -> clean!; work='sleep 600'; clean='echo cleaned >>$log'")
until_true 20 job_is "$run" work running
exits 'all of it at once' 0 titan cancel -w --all "$run"
is 'runs nothing more' "$(job_state "$run" clean)" cancelled
unlike 'nothing at all' "$(cat "$log")" cleaned

stubborn
pid=$(master_pid)
kill -KILL "$pid"
until_true 20 process_gone "$pid"
start_cluster --slots 4
ok 'it goes on when the master is killed' until_true 20 job_is "$run" clean running
touch "$test_dir/go"
until_true 20 run_ended "$run"
is 'and ends well' "$(job_state "$run" clean)" succeeded

cat >"$test_dir/late.yaml" <<EOF
deadline: 1s
jobs:
  work: {run: sleep 600}
finally:
  clean: {run: echo late >>$log}
EOF
run=$(titan -q run "$test_dir/late.yaml")
exits 'a run past its deadline' 1 titan --timeout 30s wait "$run"
is 'is out of time' "$(job_state "$run" work)" timed_out
is 'and its final job runs' "$(job_state "$run" clean) $(tail -n 1 "$log")" 'succeeded late'
exits 'so on one line' 1 titan run -w --deadline 1s -e "work -> clean!; work='sleep 600'; clean='echo line >>$log'"
is 'with the deadline of the run' "$(tail -n 1 "$log")" line
cat >"$test_dir/strict.yaml" <<EOF
jobs:
  work: {run: sleep 600, deadline: 1s}
finally:
  clean: {run: echo strict >>$log, deadline: 1s}
EOF
run=$(titan -q run "$test_dir/strict.yaml")
exits 'a deadline that a final job says itself' 1 titan --timeout 30s wait "$run"
is 'ends it' "$(job_state "$run" clean)" timed_out
done_testing
