# SPDX-License-Identifier: GPL-3.0-or-later
# A worker that ends in order gives back the jobs that it hasn't started: titan down --leave-jobs and titan up, a SIGTERM, and a
# worker that ends while no master runs. No job with mode: once comes to state unknown, and none runs twice.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=10s TITAN_GRACE=60s
mkdir "$test_dir/ran"
start_cluster --slots 2
jobs=200
run=$(counted "$test_dir/ran" once $jobs 20)
ended() { [ "$(succeeded_of "$run")" -ge "$1" ]; }
unknown() { titan --json show "$run" | jq '[.[0].jobs[] | select(.state == "unknown")] | length'; }
prefetches() { [ "$(titan --json worker ls | jq '.[0].prefetched')" -ge 3 ]; }
local_pid() { titan --json worker show local | jq .pid; }
other_pid() { [ "$(local_pid)" != "$1" ]; }

ok "the worker runs them, and has more that it hasn't started" until_true 120 eval 'ended 30 && prefetches'
exits "titan down --leave-jobs in the middle" 0 titan down --leave-jobs
exits "titan up" 0 titan up --slots 2
is "no job is in state unknown" "$(unknown)" 0
ok "the worker goes on, and has jobs again that it hasn't started" until_true 120 eval 'ended 80 && prefetches'

# The worker is told to end: the master gives it no more jobs, so it hasn't to wait.
pid=$(local_pid)
kill -TERM "$(guardian_pid)"
ok "a worker that is told to end has ended" until_true 30 process_gone "$pid"
ok "and has nothing left at the master that it hasn't started" until_true 30 eval \
	'[ "$(titan --json worker ls | jq ".[0].prefetched")" = 0 ]'
titan up --slots 2 >/dev/null
is "no job is in state unknown" "$(unknown)" 0
ok "the next worker goes on" until_true 120 eval 'ended 120 && prefetches'

# Jobs that are on their way when the worker ends, and a master that can't take anything back.
master=$(master_pid)
pid=$(local_pid)
guardian=$(guardian_pid)
kill -STOP "$master"
kill -TERM "$guardian"
ok "the worker ends while the master stands still" until_true 60 process_gone "$guardian"
kill -KILL "$master"
titan up --slots 2 >/dev/null
ok "all jobs end" until_true 300 run_ended "$run"
is "well" "$(succeeded_of "$run")" $jobs
is "each ran" "$(started_at_all "$test_dir/ran" once)" $jobs
is "none twice" "$(started_twice "$test_dir/ran" once)" 0
done_testing
