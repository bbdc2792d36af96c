# SPDX-License-Identifier: GPL-3.0-or-later
# When the master, the link or the keeper is killed, running jobs go on undisturbed and aren't run again.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
hold=$test_dir/hold
job="echo start >>$test_dir/starts; echo before; while [ -e $hold ]; do sleep 0.05; done; echo after"

submit_held() {
	: >"$hold"
	: >"$test_dir/starts"
	run=$(titan run -e "j; j='$job'")
	until_true 10 job_is "$run" j running || note "it never ran"
}
started_once() { is "it was started once" "$(wc -l <"$test_dir/starts")" 1; }
link_pid() { pgrep -f -P "$(state_of '.workers[0].pid')" 'link' | head -n 1; }

submit_held
pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
start_cluster
ok "after kill -9 of the master the job still runs" until_true 10 job_is "$run" j running
rm "$hold"
exits "and ends well" 0 titan --timeout 30s wait "$run"
started_once
is "its whole output is there" "$(titan logs "$run/j" | tr '\n' ' ')" "before after "

submit_held
link=$(link_pid)
like "the worker has a link" "$link" '^[0-9]+$'
kill -KILL "$link"
other_link() { [ -n "$(link_pid)" ] && [ "$(link_pid)" != "$link" ] && worker_is_up; }
ok "after kill -9 of the link there is another" until_true 20 other_link
is "the job still runs" "$(job_state "$run" j)" running
rm "$hold"
exits "and ends well" 0 titan --timeout 30s wait "$run"
started_once

submit_held
pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
rm "$hold"
ok "a job ends while there is no master" until_true 10 no_job_process
start_cluster
exits "its result was kept for the next one" 0 titan --timeout 30s wait "$run"
started_once

new_keeper() { [ "$(state_of '.workers[0].pid')" != "$keeper" ] && worker_is_up; }
kill_keeper() {
	keeper=$(state_of '.workers[0].pid')
	kill -KILL "$keeper"
	until_true 5 process_gone "$keeper"
}

submit_held
guardian=$(guardian_pid)
is "the process above the keeper is its guardian" "$(cat "/proc/$guardian/comm")" titan-guardian
kill_keeper
ok "after kill -9 of the keeper its guardian starts a new one" until_true 20 new_keeper
is "below the same guardian" "$(guardian_pid)" "$guardian"
ok "it adopts the job" until_true 10 job_is "$run" j running
rm "$hold"
exits "which ends well" 0 titan --timeout 30s wait "$run"
started_once
is "its whole output is there" "$(titan logs "$run/j" | tr '\n' ' ')" "before after "
is "it was tried once and never lost" "$(titan --json show "$run/j" | jq -c '.[0] | [.tries, .crashes]')" '[1,0]'

run=$(titan -q run -e "j; j='while [ ! -e $test_dir/go ]; do sleep 0.05; done; exit 7' retry=0")
ok "a job that will fail runs" until_true 10 job_is "$run" j running
kill_keeper
ok "its keeper is killed" until_true 20 new_keeper
: >"$test_dir/go"
exits "and fails" 1 titan --timeout 30s wait "$run"
is "with its own exit status, at its first try" "$(titan --json show "$run" | jq -c '.[0] | .jobs[0] | [.outcome, .tries, .crashes]')" \
	'["exit 7",1,0]'

# It ends before there is a keeper to see that: the guardian is stopped, so that it starts none meanwhile.
submit_held
guardian=$(guardian_pid)
kill -STOP "$guardian"
kill_keeper
rm "$hold"
ok "a job ends while there is no keeper" until_true 10 no_job_process
kill -CONT "$guardian"
exits "the next keeper learns how" 0 titan --timeout 30s wait "$run"
started_once

submit_held
for _ in 1 2 3; do
	kill_keeper
	ok "a keeper is killed, and there is another" until_true 20 new_keeper
done
exits "the run is cancelled" 0 titan -y cancel "$run"
ok "and the adopted process ended" until_true 20 no_job_process
ok "the run is cancelled" until_true 20 run_is "$run" cancelled
rm -f "$hold"
guardian=$(guardian_pid)
exits "the cluster ends" 0 titan -y down
ok "with its guardian" until_true 10 process_gone "$guardian"

done_testing
