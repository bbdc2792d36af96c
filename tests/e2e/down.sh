# SPDX-License-Identifier: GPL-3.0-or-later
# Running jobs when their worker is told to end: left to the next worker or ended, whichever of the worker's processes
# still live.
. "$(dirname "$0")/lib.sh"

submit_held() { # sets run and hold
	hold=$test_dir/hold-$RANDOM
	: >"$hold"
	: >"$test_dir/starts"
	run=$(titan -q run -e "j; j='echo start >>$test_dir/starts; while [ -e $hold ]; do sleep 0.05; done; exit 3' retry=0")
	until_true 10 job_is "$run" j running || note "it never ran"
}
job_runs() { [ -n "$(job_processes)" ]; }
ended_once() { # what a job that was left says in the end
	rm "$hold"
	exits "the job that was left ends as it ends" 1 titan --timeout 30s wait "$run"
	is "with its own status, started once" \
		"$(titan --json show "$run" | jq -c '.[0] | .jobs[0] | [.outcome, .tries, .crashes]') $(wc -l <"$test_dir/starts")" '["exit 3",1,0] 1'
}

# --- a signal to the worker ---
start_cluster --slots 4
submit_held
dies=$(titan -q run -e "k; k='echo \$\$ >$test_dir/dies; exec sleep 600' on_worker_death=kill retry=0")
until_true 10 test -s "$test_dir/dies"
guardian=$(guardian_pid)
keeper=$(state_of '.workers[0].pid')
kill -TERM "$guardian"
ok "SIGTERM ends the keeper" until_true 20 process_gone "$keeper"
ok "and the job that dies with its worker" process_gone "$(cat "$test_dir/dies")"
ok "but not the one that may go on" job_runs
ok "and the guardian stays for it" kill -0 "$guardian"
start_cluster --slots 4
is "the next worker has another guardian" "$([ "$(guardian_pid)" = "$guardian" ] || echo other)" other
ok "it adopts the job" until_true 10 job_is "$run" j running
ended_once
ok "then the old guardian ends" until_true 10 process_gone "$guardian"
titan -y cancel "$dies" >/dev/null
ok "no process is left" until_true 20 no_job_process

submit_held
kill -INT "$(guardian_pid)"
ok "SIGINT ends the jobs, too" until_true 20 no_job_process
start_cluster --slots 4
ok "what was ended so begins again" until_true 20 job_is "$run" j running
titan -y cancel --wait "$run" >/dev/null
ok "until it is cancelled" until_true 20 no_job_process

# --- titan down ---
submit_held
guardian=$(guardian_pid)
keeper=$(state_of '.workers[0].pid')
exits "nobody can be asked" 2 titan down
like "which advises a yes" "$err" "titan -y down"
exits "end or leave, not both" 2 titan down --leave-jobs --keep-workers
exits "jobs are left running" 0 titan down --leave-jobs
ok "the job runs" job_runs
ok "without a keeper" process_gone "$keeper"
start_cluster --slots 4
ok "the next worker adopts it" until_true 10 job_is "$run" j running
ended_once
ok "then the old guardian ends" until_true 10 process_gone "$guardian"

submit_held
exits "jobs are left running once more" 0 titan down --leave-jobs
exits "and ended afterwards" 0 titan -y down
ok "no process is left" no_job_process
start_cluster --slots 4
ok "what was ended so begins again" until_true 20 job_is "$run" j running

# --- a worker that was killed ---
for who in keeper both; do
	[ $who = keeper ] && kill -KILL "$(state_of '.workers[0].pid')" || kill_worker "$(guardian_pid)"
	exits "$who killed: titan down ends the job" 0 titan -y down
	ok "no process is left" no_job_process
	start_cluster --slots 4
	ok "it begins again" until_true 20 job_is "$run" j running
done
kill_worker "$(guardian_pid)"
kill -KILL "$(master_pid)"
ok "with master and worker killed a job runs on" job_runs
exits "titan down ends that, too" 0 titan -y down
ok "no process is left" no_job_process
like "its worker's log says so" "$(cat "$TITAN_STATE"/*/worker-local.log)" 'is still running as process'
exits "nothing is left to end" 0 titan down

done_testing
