# SPDX-License-Identifier: GPL-3.0-or-later
# Running jobs are not disturbed when the master, the link or the keeper is killed, and aren't run again.
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

submit_held
keeper=$(state_of '.workers[0].pid')
kill -KILL "$keeper"
until_true 5 process_gone "$keeper"
start_cluster
new_keeper() { [ "$(state_of '.workers[0].pid')" != "$keeper" ] && worker_is_up; }
ok "after kill -9 of the keeper a new one comes up" until_true 20 new_keeper
ok "it adopts the job" until_true 10 job_is "$run" j running
is "which was not started again" "$(wc -l <"$test_dir/starts")" 1
exits "the run is cancelled" 0 titan -y cancel "$run"
ok "and the adopted process ended" until_true 20 no_job_process
ok "the run is cancelled" until_true 20 run_is "$run" cancelled
rm -f "$hold"

done_testing
