# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs whose processes fork twice, leave their session, clear their environment and ignore SIGTERM: after a cancel none
# of these processes survives, with each containment that this machine has.
# time-out: 900 s
#
# CHAOS_TREES: how many, with each (40).
. "$(dirname "$0")/lib.sh"

trees=${CHAOS_TREES:-40}
cat >"$test_dir/tree" <<'T'
#!/bin/sh
trap '' TERM HUP INT
(setsid env -i sh -c 'trap "" TERM HUP INT; sleep 3600 & exec sleep 3600' &)
(trap '' TERM; setsid env -i sleep 3600 &) &
exec sleep 3600
T
chmod +x "$test_dir/tree"
all_run() { [ "$(state_of .counts.running)" = "$trees" ]; }
many() { [ "$(job_processes | wc -l)" -ge $((4 * trees)) ]; }
worker_is() { [ "$(state_of '.workers[0].state')" = "$1" ]; }

"$TITAN" master --ready-fd 5 5>"$test_dir/ready" >"$test_dir/master.log" 2>&1 &
until_true 10 test -s "$test_dir/ready" || skip_all "no master"
for containment in cgroup pids subreaper; do
	"$TITAN" worker start --slots "$trees" --containment "$containment" >"$test_dir/worker.log" 2>&1 &
	worker=$!
	until_true 10 worker_is up
	if process_gone $worker; then
		note "$containment: $(tail -n 1 "$test_dir/worker.log")"
		continue
	fi
	run=$(yes "$test_dir/tree" | head -n "$trees" | titan run --lines)
	ok "$containment: $trees trees run" until_true 60 all_run
	ok "$containment: of $((4 * trees)) processes" until_true 60 many
	titan -y cancel "$run" >/dev/null
	ok "$containment: cancelled, the run ends" until_true 300 run_is "$run" cancelled
	ok "$containment: and not one survives" until_true 20 no_job_process
	amount "$containment $trees trees"
	kill -TERM $worker
	until_true 20 process_gone $worker
	until_true 20 worker_is unreachable
done

done_testing
