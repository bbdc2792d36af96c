# SPDX-License-Identifier: GPL-3.0-or-later
# The master's wall clock jumps by an hour or ten years, back and forth: no interval ends early, no worker is taken for
# lost, and jobs run on.
# time-out: 900 s
#
# CHAOS_JUMPS: how many (6), CHAOS_SEED: which way.
. "$(dirname "$0")/lib.sh"

library=$(find /usr/lib -name 'libfaketime*.so.1' 2>/dev/null | sort | tail -n 1)
[ -n "$library" ] || skip_all "no libfaketime"
nm "$TITAN" 2>/dev/null | grep -qE "__(asan|tsan)_init" && skip_all "a sanitizer doesn't like to be preloaded"
jumps=${CHAOS_JUMPS:-6}
RANDOM=${CHAOS_SEED:-1}
clock=$test_dir/clock
echo "+0" >"$clock"
LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$clock FAKETIME_NO_CACHE=1 FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 \
	"$TITAN" master --lease 2s --grace 4s 2>"$test_dir/master.log" &
until_true 20 titan status || skip_all "no master with libfaketime"
"$TITAN" worker start --name local --slots 2 2>"$test_dir/worker.log" &
until_true 20 worker_is_up
cat >"$test_dir/waits.yaml" <<'END'
name: waits
jobs:
  later: { run: "true", delay: 30m }
  again: { run: "false", retry: { max: 3, backoff: 30m } }
  gate: { approval: { message: "go on?", timeout: 30m } }
  late: { run: "sleep 600", timeout: 30m }
END
waits=$(titan run "$test_dir/waits.yaml") || note "no pipeline"
as_before() {
	[ "$(titan --json show "$waits" | jq -c '.[0] | [.jobs[].state] | sort')" = '["approval","delayed","delayed","running"]' ]
}
ok "a delay, a backoff, a gate and a time-out wait for half an hour each" until_true 20 as_before
done=0
early=0
master=$(master_pid)
for number in $(seq "$jumps"); do
	case $((RANDOM % 4)) in
	0) echo "+3600" ;;
	1) echo "-3600" ;;
	2) echo "+315360000" ;;
	3) echo "-315360000" ;;
	esac >"$clock"
	run=$(titan --timeout 20s run -w -e "a -> b; a='true'; b='true'" 2>/dev/null) && run_is "$run" succeeded || note "after jump $number a run didn't end"
	as_before || early=$((early + 1))
	[ $early != 1 ] || note "jump $number, $(cat "$clock"): $(titan --json show "$waits" | jq -c '.[0] | [.jobs[] | [.name, .state, .outcome]]')"
	[ "$(state_of '.workers[0].state')" = up ] || early=$((early + 1))
	run_is "$run" succeeded && done=$((done + 1))
done
is "of $jumps jumps none had anything fire early, or lost the worker" $early 0
is "behind each a run was run" $done "$jumps"
is "it is the same master" "$(master_pid)" "$master"
like "and it saw the jumps" "$(titan --json ls -a | jq -r '[.[].submitted[0:4]] | unique | length > 1')" true
amount "$done jumps"
titan -y cancel "$waits" >/dev/null 2>&1

done_testing
