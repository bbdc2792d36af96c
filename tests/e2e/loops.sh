# SPDX-License-Identifier: GPL-3.0-or-later
# Loops through commands: until a pass meets the condition, at their limit, over a crash of the master between two
# passes, with sub-runs of several jobs; and faulty files.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
pass() { titan --json show "$1/$2" | jq -r '.[0] | .pass'; }
pass_is() { [ "$(pass "$1" "$2")" = "$3" ]; }

cat >poll.yaml <<EOF2
name: poll
params: {want: "3"}
jobs:
  poll:
    run: 'echo "pass \$TITAN_ITERATION"; echo \$TITAN_ITERATION >>$test_dir/passes; exit \$TITAN_ITERATION'
    loop: {until: "code == \${params.want}", max: 5}
  after: {needs: poll, run: echo after}
EOF2
exits "a pipeline with a loop is validated" 0 titan validate poll.yaml
exits "and run" 0 titan --timeout 60s run -w poll.yaml
run=$(titan --json ls | jq '[.[] | select(.name == "poll")][0].run')
is "three passes were made" "$(tr '\n' ' ' <passes)" "1 2 3 "
is "the job ended well" "$(job_state "$run" poll)/$(job_state "$run" after)" succeeded/succeeded
like "show says which pass was the last" "$(titan show "$run/poll")" 'pass 3/5, until code == 3'
like "explain too" "$(titan explain "$run/poll")" 'pass 3 of 5'
like "each has a log of its own: this is the last" "$(titan logs "$run/poll")" 'pass 3'

exits "one that comes to nothing ends at its bound" 1 titan --timeout 60s run -w poll.yaml -p want=9
run=$(titan --json ls | jq '[.[] | select(.name == "poll")][0].run')
is "after as many passes as it may have" "$(job_state "$run" poll)/$(pass "$run" poll)" failed/5
like "as a dead letter" "$(titan dlq ls)" 'loop'
sed 's/max: 5/max: 2, on_max: ok/' poll.yaml >fine.yaml
exits "which may count as well done" 0 titan --timeout 60s run -w fine.yaml -p want=9

rm passes
sed 's/max: 5/max: 5, delay: 6s/' poll.yaml >slow.yaml
exits "with a wait between two passes" 0 titan -q run slow.yaml
run=$out
ok "the first ends" until_true 30 job_is "$run" poll delayed
like "explain says when the next begins" "$(titan explain "$run/poll")" 'due in .*: then pass 2 of 5 begins'
kill -9 "$(master_pid)"
start_cluster --slots 2
is "after a crash of the master it still waits" "$(job_state "$run" poll)/$(pass "$run" poll)" delayed/2
ok "the second follows" until_true 60 pass_is "$run" poll 3
kill -9 "$(master_pid)"
start_cluster --slots 2
ok "and the third ends it" until_true 60 run_is "$run" succeeded
is "none was lost or made twice" "$(tr '\n' ' ' <passes)" "1 2 3 "
exits "a retry by a person" 0 titan retry "$run/poll"
ok "begins with the first pass" until_true 30 pass_is "$run" poll 2
exits "a cancel" 0 titan -y cancel "$run"
ok "ends it between two passes" until_true 30 job_is "$run" poll cancelled

cat >body.yaml <<EOF2
jobs:
  first: {run: 'echo \$TITAN_ITERATION >>$test_dir/bodies'}
  second: {needs: first, run: 'test \$TITAN_ITERATION = 2'}
EOF2
printf 'jobs:\n  whole: {pipeline: body.yaml, loop: {until: ok, max: 4}}\n' >whole.yaml
exits "the body of a loop may be a pipeline" 0 titan --timeout 60s run -w whole.yaml
is "each pass is a run of it" "$(tr '\n' ' ' <bodies)" "1 2 "

wrong() { # NAME LOOP WORDS
	printf 'jobs:\n  a: {run: "true", loop: %s}\n' "$2" >bad.yaml
	exits "$1" 2 titan validate bad.yaml
	like "at its place" "$err" "bad.yaml:2:[0-9]*: error: .*$3"
}
wrong "a loop without a bound" '{until: ok}' 'needs until and max'
wrong "without an end" '{max: 3}' 'needs until and max'
wrong "one that asks for what there isn't" '{until: fine, max: 3}' "ok, failed and timed_out"
wrong "or compares it" '{until: exit == 3, max: 3}' "code == 3"
wrong "with a bound out of range" '{until: ok, max: 0}' ''
wrong "with a word that isn't known" '{until: ok, max: 3, on_max: maybe}' 'on_max must be fail or ok'
printf 'jobs:\n  a: {run: "true", mode: once, loop: {until: ok, max: 3}}\n' >bad.yaml
exits "what may start once is no loop" 2 titan validate bad.yaml
like "says so" "$err" "bad.yaml:2:32: error: a job whose mode is once"

done_testing
