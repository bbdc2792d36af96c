# SPDX-License-Identifier: GPL-3.0-or-later
# Between worker and master a proxy that loses, delays, resets and half-opens what is between them, while jobs count
# their own starts: what may start once never starts twice, and within two graces of the end all is as it should be.
# time-out: 1500 s
#
# CHAOS_PARTITIONS: how many (6: one of each kind), CHAOS_SEED: how long each lasts, and when.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
partitions=${CHAOS_PARTITIONS:-6}
RANDOM=${CHAOS_SEED:-1}
starts=$test_dir/starts
mkdir "$starts"
proxy=$e2e_dir/proxy.py
far=$test_dir/far
mkdir -m 700 -p "$far/default"

"$TITAN" master --heartbeat 100ms --lease 500ms --grace 1s 2>"$test_dir/master.log" &
until_true 20 titan status || skip_all "no master"
python3 "$proxy" "$far/default/titan.sock" "$TITAN_STATE/default/titan.sock" partition "$partitions" "${CHAOS_SEED:-1}" 1.5 >"$test_dir/proxy" &
ready() { grep -q ready "$test_dir/proxy"; }
until_true 10 ready || skip_all "no proxy"
TITAN_STATE=$far "$TITAN" worker start --name far --slots 4 2>"$test_dir/worker.log" &
worker=$!
until_true 20 worker_is_up
again=$(counted "$starts" retry $((40 * partitions)))
once=$(counted "$starts" once $((10 * partitions)))
sole=$(counted "$starts" exclusive $((10 * partitions)))
healed() { grep -q healed "$test_dir/proxy"; }
ok "$partitions partitions" until_true $((partitions * 6 + 30)) healed
note "$(grep -c partition "$test_dir/proxy") partitions: $(awk '/partition/ { n[$3]++ } END { for (k in n) printf "%s %d  ", k, n[k] }' "$test_dir/proxy")"
ok "two graces later the worker is up" until_true 2 worker_is_up
ok "everything that may end by itself ends" until_true $((60 + partitions)) nothing_pending
is "what may start once never started twice" "$(started_twice "$starts" once)" 0
is "what is run again ran at least once" "$(started_at_all "$starts" retry)" $((40 * partitions))
is "all of it succeeded" "$(run_state "$again") $(run_state "$sole")" "succeeded succeeded"
idle() { [ "$(state_of '.workers[0].busy')" = 0 ] && no_far_process; }
no_far_process() { ! readlink /proc/[0-9]*/cwd 2>/dev/null | grep -q "^$far/"; }
ok "and no process or slot is left" until_true 20 idle
note "$(state_of '.counts.unknown // 0') jobs may have run and wait for a person"
titan -y cancel "$once" >/dev/null 2>&1
ok "a person settles the rest" until_true 30 run_ended "$once"
amount "$(grep -c 'partition' "$test_dir/proxy")" partitions

kill -TERM "$worker"
until_true 20 process_gone "$worker"
done_testing
