# SPDX-License-Identifier: GPL-3.0-or-later
# A one-line graph runs in order, its jobs report how they ended, and exit statuses are as documented.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
log=$test_dir/order

exits "a diamond is submitted, waited for and succeeds" 0 \
	titan run -w -e "a -> {b, c} -> d; a='echo a >>$log'; b='echo b >>$log'; c='echo c >>$log'; d='echo d >>$log'"
is "every job ran once" "$(sort "$log" | tr '\n' ' ')" "a b c d "
is "parents come first" "$(head -n 1 "$log")$(tail -n 1 "$log")" "ad"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "all of its jobs succeeded" "$(titan --json show "$run" | jq -r '.[0] | [.jobs[].state] | unique | join(",")')" succeeded
is "the run succeeded" "$(run_state "$run")" succeeded
is "ls shows it" "$(titan --json ls | jq -r --argjson run "$run" '.[] | select(.run == $run) | .state')" succeeded

exits "a failing job fails the run" 1 titan run -w -e "ok -> bad -> never; ok=true; bad='exit 7'; never=true"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "its code is kept" "$(titan --json show "$run" | jq -r '.[0] | .jobs[] | select(.name == "bad") | .exit_code')" 7
is "what depends on it is skipped" "$(job_state "$run" never)" skipped
like "and the cause is told" "$(titan show "$run/never")" 'bad'

exits "a handler runs when its job failed, a clean-up always" 1 \
	titan run -w -e "bad:failed -> handler; bad -> cleanup!; bad=false; handler=true; cleanup=true"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "the handler ran" "$(job_state "$run" handler)" succeeded
is "the clean-up ran" "$(job_state "$run" cleanup)" succeeded

exits "a fan-out runs each of its jobs" 0 titan run -w -e "m*8 -> r; m='echo \$i >>$test_dir/fan'; r=true"
is "with its index" "$(sort -n "$test_dir/fan" | tr '\n' ' ')" "0 1 2 3 4 5 6 7 "

run=$(titan -q run -w -e "items*{x,'y z'}; items='echo \$TITAN_INDEX \$TITAN_ITEM; echo \$i'")
is "its item and its place are in the environment" "$(titan logs "$run/items[1]" | tr '\n' /)" "1 y z/y z/"
exits "names that are titan's own can't be given" 2 titan run -e 'a=true' --env TITAN_STATE=/elsewhere
like "which is said" "$err" "TITAN_STATE.*reserved for titan"
exits "nor in the graph" 2 titan run -e 'a=true env=TITAN_X=y'
like "which is said too" "$err" "names that begin with TITAN_ are reserved for titan"

exits "a job that fails twice and has retries succeeds" 0 \
	titan run -w -e "flaky; flaky='echo x >>$test_dir/tries; test \$(wc -l <$test_dir/tries) -ge 3' retry=3 backoff=10ms"
is "it was tried three times" "$(wc -l <"$test_dir/tries")" 3

exits "a job that runs too long is timed out, whoever has its output" 1 \
	titan run -w -e "slow; slow='setsid sleep 100 & echo begun; sleep 100' timeout=200ms"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "and says so" "$(job_state "$run" slow)" timed_out
ok "its process is gone" until_true 5 no_job_process

done_testing
