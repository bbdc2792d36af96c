# SPDX-License-Identifier: GPL-3.0-or-later
# Master, link and keeper are stopped (SIGSTOP) for 0.2 to 5 s, leases scaled to match, while jobs count their own
# starts: what may start once never starts twice, whoever slept through what.
# time-out: 1500 s
#
# CHAOS_STOPS: how many (3), CHAOS_SEED: whom, and for how long.
. "$(dirname "$0")/lib.sh"

stops=${CHAOS_STOPS:-3}
RANDOM=${CHAOS_SEED:-1}
starts=$test_dir/starts
mkdir "$starts"
export TITAN_HEARTBEAT=200ms TITAN_LEASE=1s TITAN_GRACE=2s
start_cluster --slots 4
again=$(counted "$starts" retry $((30 * stops)))
once=$(counted "$starts" once $((60 * stops)))
sole=$(counted "$starts" exclusive $((20 * stops)))
keeper_pid() { state_of '.workers[0].pid'; }
link_pid() { pgrep -f -P "$1" link | head -n 1; }
done=0
for number in $(seq "$stops"); do
	until_true 20 worker_is_up
	case $((number % 3)) in
	0) pid=$(master_pid) ;;
	1) pid=$(link_pid "$(keeper_pid)") ;;
	2) pid=$(keeper_pid) ;;
	esac
	kill -STOP "$pid" || continue
	sleep "$((RANDOM % 5)).$((RANDOM % 8 + 2))"
	kill -CONT "$pid" && done=$((done + 1))
done
is "all of them slept" $done "$stops"
amount "$done stops"
ok "everything that may end by itself ends" until_true 300 nothing_pending
is "what may start once never started twice" "$(started_twice "$starts" once)" 0
is "what is run again ran at least once" "$(started_at_all "$starts" retry)" $((30 * stops))
is "all of it succeeded" "$(run_state "$again") $(run_state "$sole")" "succeeded succeeded"
note "$(state_of '.counts.unknown // 0') jobs may have run and wait for a person"
titan -y cancel "$once" >/dev/null 2>&1
ok "a person settles the rest" until_true 30 run_ended "$once"
idle() { [ "$(state_of '.workers[0].busy')" = 0 ] && no_job_process; }
ok "and no process or slot is left" until_true 20 idle

done_testing
