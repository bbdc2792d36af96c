# SPDX-License-Identifier: GPL-3.0-or-later
# Deadlines and time-outs in the queue: a job that is out of time ends, and its process with it; timers survive the
# master.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1

cat >late.yaml <<'EOF'
deadline: 1h
jobs:
  blocker: {run: exec sleep 300, deadline: 3s}
  queued: {run: "true", dispatch_timeout: 1s, priority: 10}
  after: {run: "true", needs: [queued]}
  dated: {run: "true", deadline: 2020-01-01T00:00Z}
  bounded: {run: "true", needs: [blocker], always: true}
EOF
exits "a pipeline with deadlines" 0 titan --json run late.yaml
run=$(printf '%s' "$out" | jq .run)
is "a date that has passed ends a job at once" "$(job_state "$run" dated)" timed_out
ok "it runs" until_true 20 job_is "$run" blocker running
like "explain says when its deadline is" "$(titan explain "$run/blocker")" "the job's deadline is in"
is "show says until when" "$(titan --json show "$run/blocker" | jq -r '.[0] | .deadline | length > 10')" true
ok "what nobody takes leaves the queue" until_true 20 job_is "$run" queued timed_out
is "with what needs it" "$(job_state "$run" after)" skipped
like "explain says why" "$(titan explain "$run/queued")" 'no worker took the job in time'
ok "what runs is ended at its deadline" until_true 20 job_is "$run" blocker timed_out
ok "its process is gone" until_true 20 no_job_process
like "and explained" "$(titan explain "$run/blocker")" "the job's deadline passed"
is "in JSON too" "$(titan --json show "$run/blocker" | jq -r '.[0] | .stop_cause')" deadline
ok "the run's deadline holds for the others" until_true 20 job_is "$run" bounded succeeded

printf 'jobs:\n  a: {run: "true", deadline: tomorrow}\n' >bad.yaml
exits "a deadline that is no time is refused" 2 titan validate bad.yaml
like "with line, column and what is expected" "$err" 'bad.yaml:2:.*expected .*time span'

# a blocker, a priority job next, a delayed job last
order=$test_dir/order
exits "a blocker, a priority job next, a delayed job last" 0 titan --timeout 60s run -w -e "blocker; plain; urgent; delayed;
	blocker='sleep 0.3; echo blocker >>$order' prio=100; plain='echo plain >>$order';
	urgent='echo urgent >>$order' prio=90; delayed='echo delayed >>$order' delay=1s prio=99"
is "in this order" "$(tr '\n' ' ' <"$order")" "blocker urgent plain delayed "

# past-due timers fire once after a restart
once=$test_dir/once
exits "something that is due in two seconds" 0 titan --json run -e "a; b; a='echo a >>$once' delay=2s; b='sleep 300' deadline=2s"
run=$(printf '%s' "$out" | jq .run)
ok "one of them runs" until_true 20 job_is "$run" b running
kill -9 "$(master_pid)"
sleep 3
start_cluster --slots 1
ok "past-due timers fire once after a restart" until_true 60 run_ended "$run"
is "the delayed one ran" "$(cat "$once")" a
is "the late one timed out" "$(job_state "$run" b)" timed_out
ok "without a process" until_true 20 no_job_process

done_testing
