# SPDX-License-Identifier: GPL-3.0-or-later
# Submitting is idempotent by key, large graphs come in pieces, and everything survives kill -9.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
key=00112233445566778899aabbccddeeff
first=$(titan run --submit-key $key -e "a; a=true")
is "the same key and graph is the same run" "$(titan run --submit-key $key -e "a; a=true")" "$first"
exits "the same key with another graph is refused" 2 titan run --submit-key $key -e "a; a=false"

for i in 1 2 3 4 5 6 7 8; do titan run --submit-key ff$(printf '%030d' 1) -e "x; x=true" >"$test_dir/at-once.$i" & done
wait
is "eight clients at once get one run" "$(cat "$test_dir"/at-once.* | sort -u | wc -l)" 1

# Waiting and queued jobs survive with their order, priority and parents.
hold=$test_dir/hold
: >"$hold"
: >"$hold.y"
blocker=$(titan run -e "{x, y}; x='while [ -e $hold ]; do sleep 0.05; done'; y='while [ -e $hold.y ]; do sleep 0.05; done'")
ok "both slots are taken" until_true 10 job_is "$blocker" y running
low=$(titan run --priority 10 -e "low -> after; low='echo low >>$test_dir/order'; after='echo after >>$test_dir/order'")
high=$(titan run --priority 90 -e "high; high='echo high >>$test_dir/order'")
big=$(seq 1 20000 | sed 's/.*/true/' | titan run --priority 0 --lines)
is "20,000 jobs are one run" "$(titan --json ls | jq -r --argjson run "$big" ".[] | select(.run == \$run) | .job_count")" 20000
pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
start_cluster
is "the key is still known after kill -9" "$(titan run --submit-key $key -e "a; a=true")" "$first"
is "the running jobs still run" "$(job_state "$blocker" x)$(job_state "$blocker" y)" runningrunning
is "the waiting job still waits" "$(job_state "$low" after)" waiting
titan -y cancel "$big" >/dev/null
rm "$hold"
exits "all end well" 0 titan --timeout 60s wait "$low" "$high"
rm "$hold.y"
exits "also the blocker" 0 titan --timeout 60s wait "$blocker"
is "by priority, parents first" "$(tr '\n' ' ' <"$test_dir/order")" "high low after "
ok "the large run was cancelled" until_true 30 run_is "$big" cancelled

done_testing
