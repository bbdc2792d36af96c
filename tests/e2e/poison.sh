# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that kill their worker: lost attempts are counted apart from retries and end in a dead letter; a job that must
# die with its worker leaves nothing behind.
. "$(dirname "$0")/lib.sh"

worker_pid() { state_of '.workers[0].pid'; }
new_worker() { # OLD
	titan up >/dev/null 2>&1
	[ "$(worker_pid)" != "$1" ] && worker_is_up
}
all_gone() {
	local pid
	for pid; do
		process_gone "$pid" || return 1
	done
}
crashes_are() { [ "$(titan --json show "$1" | jq '.[0] | .crashes')" = "$2" ]; }

start_cluster --slots 2
run=$(titan -q run -e "kills; kills='sleep 0.2; kill -KILL \$PPID; sleep 600' on_worker_death=kill retry=7 backoff=10ms")
ends_dead() {
	worker_is_up || titan up >/dev/null 2>&1
	job_is "$run" kills failed
}
ok 'a job that kills its worker each time fails' until_true 60 ends_dead
is 'at its crash limit, not for its retries' \
	"$(titan --json dlq show "$run/kills" | jq -c '[.reason, .crashes, .tries, .retry_max]')" '["crash_limit",3,3,7]'
titan up >/dev/null 2>&1
ok 'a worker is up again' until_true 20 worker_is_up

# A tree: the job's own process, one in its session, and one that left it.
job="echo \$\$ >$test_dir/main; sleep 600 & (setsid sleep 600 &); sleep 600"
run=$(titan -q run -e "j; j='$job' on_worker_death=kill crash_limit=2 backoff=10ms")
like 'the job says so' "$(titan show "$run/j")" "worker's death +kill"
for lost in 1 2; do
	three_run() { job_is "$run" j running && [ "$(job_processes | wc -l)" -ge 4 ]; }
	ok "attempt $lost runs with its tree" until_true 30 three_run
	main=$(cat "$test_dir/main")
	tree=$(job_processes)
	keeper=$(worker_pid)
	kill -KILL "$keeper"
	ok 'its own process dies with the worker' until_true 10 process_gone "$main"
	ok 'a new worker comes up' until_true 30 new_worker "$keeper"
	# shellcheck disable=SC2086
	ok 'and nothing of that tree is left' until_true 20 all_gone $tree
	ok 'a crash is counted' until_true 20 crashes_are "$run/j" "$lost"
done
ok 'at its own limit it fails' until_true 20 job_is "$run" j failed
is 'and is a dead letter' "$(titan --json dlq show "$run/j" | jq -r .reason)" crash_limit
ok 'no process is left' until_true 10 no_job_process
exits 'requeued it runs again' 0 titan dlq requeue "$run/j"
ok 'with its crashes forgotten' until_true 20 job_is "$run" j running
is 'none so far' "$(titan --json show "$run/j" | jq '.[0] | .crashes')" 0
exits 'and ends when it is told to' 0 titan cancel --wait "$run"
ok 'with all of its tree' until_true 20 no_job_process
done_testing
