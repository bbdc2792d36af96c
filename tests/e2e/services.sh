# SPDX-License-Identifier: GPL-3.0-or-later
# Services of pipelines: they are started again when they end, stopped when the other jobs of the run have ended, and a
# crash loop is told.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
run_named() { titan --json ls | jq "[.[] | select(.name == \"$1\")][0].run"; }
field() { titan --json show "$1" | jq -r ".[0].$2"; }
field_is() { [ "$(field "$1" "$2")" = "$3" ]; }
restarted() { [ "$(field "$1" restarts)" != null ] && [ "$(field "$1" restarts)" -ge "$2" ]; }
attempts() { titan --json show "$1" | jq '.[0].attempts | length'; }

cat >web.yaml <<EOF2
name: web
jobs:
  api:
    service: {backoff: 100ms}
    run: 'trap "echo told; rm -f $test_dir/up; exit 0" TERM; echo up; touch $test_dir/up; while :; do sleep 0.1; done'
  work:
    run: 'until [ -e $test_dir/up ]; do sleep 0.1; done; until [ -e $test_dir/go ]; do sleep 0.1; done'
finally:
  last: {run: '[ ! -e $test_dir/up ] && echo down'}
EOF2
exits "a pipeline with a service is validated" 0 titan validate web.yaml
exits "and run" 0 titan -q run web.yaml
run=$out
ok "the service runs" until_true 30 job_is "$run" api running
is "it is a service" "$(field "$run/api" kind)" service
ok "and is up" until_true 30 test -e up
pid=$(pgrep -f "$test_dir/up; while" | head -n 1)
kill -9 "$pid"
ok "killed, it is started again" until_true 60 restarted "$run/api" 1
ok "and runs" until_true 30 job_is "$run" api running
is "the kill was no failure of the job" "$(titan --json dlq ls | jq length)" 0
like "explain says so" "$(titan explain "$run/api")" 'started again 1 time'
touch go
ok "the run ends with its other jobs" until_true 60 run_is "$run" succeeded
is "the service has succeeded, and final jobs followed it" "$(job_state "$run" api)/$(job_state "$run" last)" succeeded/succeeded
like "it was told to end" "$(titan logs "$run/api")" 'told'
like "explain says why it ended" "$(titan explain "$run/api")" "isn't needed any longer"
is "each start is an attempt" "$(attempts "$run/api")" 2
rm -f go up

cat >loop.yaml <<EOF2
name: loop
jobs:
  bad:
    service: {backoff: 1ms..2ms, crash_loop: {n: 3, in: 10m}}
    run: 'echo cannot; exit 3'
  work: {run: 'until [ -e $test_dir/go ]; do sleep 0.1; done'}
EOF2
exits "a service that can't stay up" 0 titan -q run loop.yaml
run=$out
ok "is in a crash loop" until_true 60 field_is "$run/bad" crash_loop true
like "explain says so" "$(titan explain "$run/bad")" 'crash loop.*every 5 minutes'
like "so do the events" "$(titan events "$run")" 'crash_loop'
like "and the list of jobs" "$(titan ls "$run")" 'crash loop'
like "its last words can be read" "$(titan logs "$run/bad")" 'cannot'
kill -9 "$(master_pid)"
start_cluster --slots 4
is "a crash of the master forgets nothing" "$(field "$run/bad" crash_loop)" true
touch go
ok "the run doesn't wait for it" until_true 60 run_is "$run" succeeded
rm -f go

exits "a run of nothing but a service" 0 titan -q run -e "s; s='sleep 1000' kind=service"
run=$out
ok "goes on" until_true 30 job_is "$run" s running
exits "until it is cancelled" 0 titan -y cancel "$run"
ok "and then isn't started again" until_true 30 job_is "$run" s cancelled

printf 'jobs:\n  a: {run: x, service: true}\n  b: {run: y, needs: a}\n' >wait.yaml
exits "a job can't wait for the end of a service" 2 titan validate wait.yaml
like "and validate says why" "$err" "ends only when the other jobs"
printf 'jobs:\n  a: {run: x, service: {restart: sometimes}}\n' >wrong.yaml
exits "a wrong word is refused" 2 titan validate wrong.yaml
like "with the right ones" "$err" 'always, on_failure or never'

done_testing
