# SPDX-License-Identifier: GPL-3.0-or-later
# A master that was stopped for longer than the grace doesn't take that silence for its workers' fault.
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=100ms TITAN_LEASE=400ms TITAN_GRACE=1s
start_cluster --slots 1
hold=$test_dir/hold
: >"$hold"
run=$(titan run -e "j; j='echo start >>$test_dir/starts; while [ -e $hold ]; do sleep 0.05; done'")
ok "a job runs" until_true 10 job_is "$run" j running

for round in 1 2 3; do
	pid=$(master_pid)
	kill -STOP "$pid"
	sleep 1.5
	kill -CONT "$pid"
	ok "after pause $round the worker is up" until_true 20 worker_is_up
	is "the job still runs" "$(job_state "$run" j)" running
done
rm "$hold"
exits "it ends well" 0 titan --timeout 30s wait "$run"
is "it was started once" "$(wc -l <"$test_dir/starts")" 1

done_testing
