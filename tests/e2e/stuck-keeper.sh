# SPDX-License-Identifier: GPL-3.0-or-later
# A heartbeat proves that the keeper lives: a worker whose keeper is stopped becomes unreachable and then lost, another
# worker runs its jobs, and when it comes back its old attempts are ended.
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=100ms TITAN_LEASE=600ms TITAN_GRACE=1200ms
start_cluster --slots 1
keeper=$(state_of '.workers[0].pid')
worker_state_is() { [ "$(state_of ".workers[] | select(.name == \"$1\") | .state")" = "$2" ]; }
hold=$test_dir/hold
: >"$hold"
run=$(titan run -e "j; j='echo \$TITAN_EPOCH >>$test_dir/starts; while [ -e $hold ]; do sleep 0.05; done'")
until_true 10 job_is "$run" j running || note "it never ran"
titan worker start --name other --slots 1 >"$test_dir/other.log" 2>&1 &
other=$!
until_true 10 worker_state_is other up || note "the other worker never came up"

kill -STOP "$keeper"
ok "a worker whose keeper is stopped becomes unreachable" until_true 10 worker_state_is local unreachable
ok "then it is lost" until_true 10 worker_state_is local lost
starts_are() { [ "$(wc -l <"$test_dir/starts")" = "$1" ]; }
ok "the other worker runs its job" until_true 10 starts_are 2
like "its link says why" "$(cat "$TITAN_STATE"/*/worker-local.log)" "the keeper \(process $keeper\) doesn't respond"
kill -CONT "$keeper"
ok "the worker comes back when its keeper goes on" until_true 10 worker_state_is local up
one_left() { [ "$(pgrep -cf "^/bin/sh -c echo .*$test_dir/starts")" = 1 ]; }
ok "and its old attempt is ended" until_true 10 one_left
rm "$hold"
exits "the job ends well, once" 0 titan --timeout 30s wait "$run"
starts_are 2 || note "started $(wc -l <"$test_dir/starts") times"
kill "$other"
wait "$other"

done_testing
