# SPDX-License-Identifier: GPL-3.0-or-later
# Master, link and keeper are killed with -9 in turn, while jobs count their own starts: what may start once
# never starts twice, everything ends, and the state can be loaded every time.
# time-out: 1200 s
#
# CHAOS_KILLS: how many kills (9), CHAOS_SEED: which of the three, and after how long.
. "$(dirname "$0")/lib.sh"

kills=${CHAOS_KILLS:-9}
RANDOM=${CHAOS_SEED:-1}
starts=$test_dir/starts
mkdir "$starts"
note "seed ${CHAOS_SEED:-1}, $kills kills"

# Each start adds a byte to a file of the job's own; a short sleep makes kills meet running jobs.
job() { echo "printf x >>$starts/$1-$2; sleep 0.0$((RANDOM % 9))"; }
submit() { # MODE COUNT
	for i in $(seq "$2"); do job "$1" "$i"; done | titan run --lines --mode "$1"
}
pending() { [ "$(state_of '[.jobs | to_entries[] | select(.key | IN("waiting", "ready", "delayed", "assigned", "running", "stopping")) | .value] | add // 0')" -gt 0 ]; }
nothing_pending() { ! pending; }
keeper_pid() { state_of '.workers[0].pid'; }
victim() {
	case $((RANDOM % 3)) in
	0) master_pid ;;
	1) pgrep -f -P "$(keeper_pid)" link | head -n 1 ;;
	2) keeper_pid ;;
	esac
}

start_cluster --slots 4
again=$(submit retry $((60 * kills)))
once=$(submit once $((60 * kills)))
for i in $(seq "$kills"); do
	until_true 20 worker_is_up
	sleep "0.$((RANDOM % 5))$((RANDOM % 9))"
	pid=$(victim)
	[ -z "$pid" ] || [ "$pid" = null ] || kill -KILL "$pid" 2>/dev/null
	until_true 5 process_gone "${pid:-0}"
	titan up --slots 4 >"$test_dir/up.out" 2>&1 || note "$(cat "$test_dir/up.out")"
done
until_true 20 worker_is_up
ok "everything that may end by itself ends" until_true 300 nothing_pending
is "what may start once never started twice" "$(find "$starts" -name 'once-*' -size +1c | wc -l)" 0
is "what is run again ran at least once" "$(find "$starts" -name 'retry-*' -size +0c | wc -l)" $((60 * kills))
is "all of it succeeded" "$(titan --json ls | jq -r --argjson run "$again" '.[] | select(.id == $run) | .ok')" $((60 * kills))
unknown=$(state_of '.jobs.unknown // 0')
note "$unknown jobs may have run and wait for a person"
titan -y cancel "$once" >/dev/null 2>&1
ok "a person settles the rest" until_true 30 run_ended "$once"
is "the state loads once more" "$(titan -y down --keep-workers >/dev/null 2>&1; titan up >/dev/null && echo good)" good

done_testing
