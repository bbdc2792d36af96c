# SPDX-License-Identifier: GPL-3.0-or-later
# Failed jobs are run again in a new round together with what depended on them, and nothing else is.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
log=$test_dir/log
tries_of() { grep -c "^$1\$" "$log"; }

exits "a run fails in the middle" 1 titan run -w -e "a -> b -> c; d; a='echo a >>$log';
	b='echo b >>$log; test -e $test_dir/repaired'; c='echo c >>$log'; d='echo d >>$log'"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "what depended on it is skipped" "$(job_state "$run" c)" skipped
like "why it failed is explained" "$(titan explain "$run/b")" 'exit 1, 1 try'
like "and why another was skipped" "$(titan explain "$run/c")" 'because b failed'
exits "a retry of a run that fails again" 0 titan retry "$run"
exits "is a failure again" 1 titan --timeout 20s wait "$run"
touch "$test_dir/repaired"
exits "once the cause is gone" 0 titan --json retry "$run"
is "the failed and the skipped one have a new round" "$(printf '%s' "$out" | jq '.[0].changed')" 2
exits "the run succeeds" 0 titan --timeout 20s wait "$run"
is "it is the same run" "$(run_state "$run")" succeeded
is "the failed one ran three times" "$(tries_of b)" 3
is "what it needs ran once" "$(tries_of a)" 1
is "what depends on it ran once, after it" "$(tries_of c)$(tail -n 1 "$log")" 1c
is "what had nothing to do with it ran once" "$(tries_of d)" 1

exits "nothing is left to be retried" 0 titan --json retry "$run"
is "and nothing is" "$(printf '%s' "$out" | jq '.[0].changed')" 0
exits "a job with all that depends on it" 0 titan retry "$run/b"
exits "succeeds" 0 titan --timeout 20s wait "$run"
is "it ran again" "$(tries_of b)" 4
is "and so did what depends on it" "$(tries_of c)" 2
exits "the same with --from" 0 titan retry --from b "$run"
exits "succeeds" 0 titan --timeout 20s wait "$run"
is "both ran" "$(tries_of b)$(tries_of c)" 53
exits "a job and nothing else" 0 titan retry --only b "$run"
exits "succeeds" 0 titan --timeout 20s wait "$run"
is "only that ran" "$(tries_of b)$(tries_of c)" 63
exits "all of them" 0 titan retry --all "$run"
exits "succeed" 0 titan --timeout 20s wait "$run"
is "once more each" "$(tries_of a)$(tries_of b)$(tries_of c)$(tries_of d)" 2742

# By outcome: what the policy covers is tried again by itself, with its wait, and nothing else is.
cat >"$test_dir/policies.yaml" <<EOF
jobs:
  busy:
    run: 'echo busy >>$log; [ \$(grep -c "^busy\$" $log) -ge 3 ] || exit 75'
    retry: {max: 5, backoff: 20ms..40ms, jitter: false, codes: [75, 11]}
  broken: {run: 'echo broken >>$log; exit 2', retry: {max: 5, backoff: 10ms, codes: [75]}}
  killed: {run: 'echo killed >>$log; [ \$(grep -c "^killed\$" $log) -ge 2 ] || kill -KILL \$\$', retry: {max: 1, backoff: 10ms, on: [signal]}}
  slow:
    run: 'echo slow >>$log; [ \$(grep -c "^slow\$" $log) -ge 2 ] || sleep 600'
    timeout: 300ms
    retry: {max: 1, backoff: 10ms, on: [timeout]}
  late: {run: 'echo late >>$log; sleep 600', timeout: 200ms, retry: {max: 3, backoff: 10ms}}
EOF
exits "a pipeline of policies" 1 titan run -w "$test_dir/policies.yaml"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "a listed code is retried until it ends well" "$(job_state "$run" busy)$(tries_of busy)" succeeded3
is "another one isn't" "$(job_state "$run" broken)$(tries_of broken)" failed1
is "a signal is, where it is listed" "$(job_state "$run" killed)$(tries_of killed)" succeeded2
is "a time-out is, where it is listed" "$(job_state "$run" slow)$(tries_of slow)" succeeded2
is "and isn't, where nothing was said" "$(job_state "$run" late)$(tries_of late)" timed_out1
printf 'defaults: {retry: {max: 3, backoff: 10ms, codes: [75]}}\njobs:\n  seven: {run: "echo seven >>%s; exit 7"}\n' "$log" >"$test_dir/codes.yaml"
exits "a pipeline whose defaults list a code" 1 titan run -w "$test_dir/codes.yaml"
is "a job that exits with another one runs once" "$(tries_of seven)" 1
until_true 10 no_job_process
ok "what was out of time has left no process" no_job_process
exits "a policy that contradicts itself" 2 titan run -e "a=true backoff=2m..5s"
like "is refused with its place" "$err" 'shorter than the first'
run=$(titan -q run -e "a=false retry=1 backoff=1h")
until_true 20 job_is "$run" a delayed
like "why a job waits for its retry is explained" "$(titan explain "$run/a")" 'due in 1h.*1 failure, 1 retry allowed'
exits "and it can be cancelled" 0 titan cancel --wait "$run"

exits "two scopes at once are refused" 2 titan retry --all --failed "$run"
exits "and a scope for a job" 2 titan retry --all "$run/b"
exits "a job that isn't there" 4 titan retry "$run/nope"
exits "a run that isn't there" 4 titan retry 999
done_testing
