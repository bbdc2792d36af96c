# SPDX-License-Identifier: GPL-3.0-or-later
# Dead letters: a job that failed for good is listed with the reason, also after its run and its master are gone, and
# can be requeued or discarded once.
. "$(dirname "$0")/lib.sh"

letters() { titan --json dlq ls "$@" 2>/dev/null | jq -c '[.[].job]'; }
reason_of() { titan --json dlq ls | jq -r ".[] | select(.job == \"$1\") | .reason"; }

start_cluster --slots 4
exits 'no letters' 0 titan --json dlq ls
is 'are none' "$out" '[]'

exits 'a run with bad ends of every kind' 1 titan run -w -e "load -> report; none; slow; codes; fine;
	load='test -e $test_dir/repaired' retry=1 backoff=10ms prio=70 env=A=b; report='echo report >>$test_dir/log';
	none=/nowhere/at/all; slow='sleep 600' timeout=200ms retry_on=timeout retry=1 backoff=10ms;
	codes='exit 3' retry=5 backoff=10ms retry_on=signal; fine=true"
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is 'has a letter for each of them' "$(titan --json dlq ls "$run" | jq -c '[.[].name] | sort')" '["codes","load","none","slow"]'
is 'retries that are used up are a reason' "$(reason_of "$run/load")" max_retries_exceeded
is 'a command that is not there is another' "$(reason_of "$run/none")" spawn_failed
is 'time' "$(reason_of "$run/slow")" timed_out
is 'and an end that the policy leaves alone' "$(reason_of "$run/codes")" not_retried
is 'the time-out was tried again' "$(titan --json show "$run/slow" | jq '.[0] | .tries')" 2
exits 'one of them in full' 0 titan --json dlq show "$run/load"
is 'has the job' "$(printf '%s' "$out" | jq -c '[.reason, .tries, .retry_max, .priority, (.env[:1]), .outcome, .run]')" \
	"[\"max_retries_exceeded\",2,1,70,[\"A=b\"],\"exit 1\",$run]"
like 'in words as well' "$(titan dlq show "$run/load")" "command +test -e $test_dir/repaired"
is 'plain output has a line for each' "$(titan --plain dlq ls "$run" | wc -l)" 4
like 'show says DEAD' "$(titan show "$run")" 'load +. DEAD'
is 'and its data says that it failed and is dead' \
	"$(titan --json show "$run/load" | jq -c '.[0] | [.state, .dead]')" '["failed",true]'
like 'ls says how many there are' "$(titan ls)" '4 dead letters'

exits 'a letter that is not there' 4 titan dlq show "$run/fine"
exits 'nor can be requeued' 4 titan dlq requeue "$run/fine"
exits 'a run without a job has no letter to show' 2 titan dlq show "$run"
exits 'an unknown word' 2 titan dlq purge
exits 'several at once need a yes' 2 titan dlq discard "$run"
like 'and are counted' "$err" 'discard 4 dead letters'
is 'none of them is gone' "$(titan --json dlq ls | jq length)" 4

exits 'one is discarded' 0 titan --json dlq discard "$run/none"
is 'once' "$(printf '%s' "$out" | jq -c '[.[] | [.job, .changed]]')" "[[\"$run/none\",1]]"
exits 'a second time there is none' 4 titan dlq discard "$run/none"
is 'its job is as it was' "$(titan --json show "$run/none" | jq -c '.[0] | [.state, .dead]')" '["failed",false]'
like 'and its run has one fewer' "$(titan ls)" '3 dead letters'

pid=$(master_pid)
kill -KILL "$pid"
until_true 20 process_gone "$pid"
start_cluster
is 'the others survive the master' "$(titan --json dlq ls | jq -c '[.[].name] | sort')" '["codes","load","slow"]'

touch "$test_dir/repaired"
exits 'one is requeued' 0 titan --json dlq requeue "$run/load"
is 'with what depended on it' "$(printf '%s' "$out" | jq '.[0].changed')" 2
ok 'which then runs' until_true 20 job_is "$run" report succeeded
is 'once' "$(cat "$test_dir/log")" report
is 'its letter is gone' "$(titan --json dlq ls | jq -c '[.[].name] | sort')" '["codes","slow"]'
until_true 20 run_ended "$run"
exits 'a retry takes its letter as well' 0 titan retry "$run/codes"
ok 'and gives a new one' until_true 20 sh -c "'$TITAN' --json dlq ls | jq -e '.[] | select(.name == \"codes\" and .round == 1)'"
until_true 20 run_ended "$run"
exits 'all of a run' 0 titan -y --json dlq requeue "$run"
is 'are requeued' "$(printf '%s' "$out" | jq -c '[.[] | [.run, .changed]]')" "[[$run,2]]"
until_true 20 run_ended "$run"
exits 'all there are' 0 titan -y --json dlq discard all
is 'are discarded' "$(letters)" '[]'

cat >"$test_dir/go-on.yaml" <<'EOF'
jobs:
  flaky: {run: exit 9, continue_on: [failed]}
  after: {needs: [flaky], run: "true"}
  gate: {approval: {count: 1}, continue_on: [denied]}
EOF
run=$(titan -q run "$test_dir/go-on.yaml")
ok 'a forgiven failure' until_true 20 job_is "$run" after succeeded
is 'still says that it failed' "$(job_state "$run" flaky)" failed
exits 'a forgiven denial' 0 titan reject "$run/gate" -m no
exits 'is no failure of the run either' 0 titan --timeout 20s wait "$run"
is 'which has succeeded' "$(run_state "$run")" succeeded
is 'and says what was forgiven' "$(titan --json ls --limit 1 | jq '.[0].forgiven_jobs')" 2
is 'nobody has to look at it: there is no letter' "$(letters "$run")" '[]'
like 'show says so' "$(titan show "$run")" 'flaky .*counts as a good end'
like 'and explain' "$(titan explain "$run/flaky")" 'counts as a good end'
like 'the job says when it goes on' "$(titan show "$run/flaky")" 'goes on when +failed'
exits 'followed, its status is 0 too' 0 titan run -f -e "a -> b; a=false continue_on=failed; b=true"

run=$(titan -q run -e "flaky=false")
ok 'a failure that nothing forgives' until_true 20 run_ended "$run"
is 'has a letter' "$(letters "$run")" "[\"$run/flaky\"]"
# shellcheck disable=SC2046
exits 'a thousand targets are no limit' 0 titan -q -y dlq discard $(yes "$run/flaky" | head -n 1001)
unlike 'nobody says so' "$err" 'at most'
is 'the letter is gone' "$(letters "$run")" '[]'

"$TITAN" worker start --name special --slots 2 --label gpu --label fast --gpus 1 --resource license=2 >worker.log 2>&1 </dev/null &
special_is() { [ "$(titan --json worker ls | jq -r '.[] | select(.name == "special") | [.state, (.resources[] | select(test("^(gpus|license)=")))] | join(" ")')" = "$1" ]; }
ok 'a worker with labels and resources connects' until_true 20 special_is 'up gpus=0/1 license=0/2'
cat >"$test_dir/asks.yaml" <<EOF
jobs:
  asks:
    run: "echo \$TITAN_WORKER >>$test_dir/asked; until [ -e $test_dir/go ]; do sleep 0.05; done; exit 1"
    worker: {labels: [gpu, fast], gpus: 1}
    resources: {license: 2}
EOF
touch "$test_dir/go"
run=$(titan -q run "$test_dir/asks.yaml")
ok 'a job that asks for labels and resources fails' until_true 20 run_ended "$run"
is 'its letter has the labels' "$(titan --json dlq show "$run/asks" | jq -c '.labels | sort')" '["fast","gpu"]'
is 'and the resources' "$(titan --json dlq show "$run/asks" | jq -c '.asks | sort')" '["gpus=1","license=2"]'
ok 'which are free again' until_true 20 special_is 'up gpus=0/1 license=0/2'
rm "$test_dir/go"
exits 'requeued' 0 titan dlq requeue "$run/asks"
ok 'it asks for the same' until_true 20 special_is 'up gpus=1/1 license=2/2'
touch "$test_dir/go"
ok 'until it fails again' until_true 20 run_ended "$run"
is 'on the same worker' "$(tr '\n' ' ' <"$test_dir/asked")" 'special special '
exits 'and is discarded' 0 titan -q dlq discard "$run/asks"

echo 'jobs: {work: {run: "exit 1"}}' >"$test_dir/inner.yaml"
echo 'jobs: {sub: {pipeline: inner.yaml}}' >"$test_dir/outer.yaml"
run=$(titan -q run "$test_dir/outer.yaml")
exits 'a sub-run fails, and so does its job' 1 titan --timeout 20s wait "$run"
was=$(titan --json show "$run/sub" | jq '.[0] | .child')
like 'both have letters' "$(letters)" "$was/work.*$run/sub"
exits 'requeueing all letters refuses that of the sub-run, which nobody waits for' 1 titan -y dlq requeue all
like 'and says so' "$err" "run $was was the sub-run of $run/sub"
exits 'the others are requeued all the same' 1 titan --timeout 20s wait "$run"
unlike 'in another sub-run' "$(titan --json show "$run/sub" | jq '.[0] | .child')" "^$was\$"

exits 'what is left is discarded' 0 titan -q -y dlq discard all
run=$(titan -q run -e "first; open; first=false; open='sleep 600'")
ok 'of two runs' until_true 20 job_is "$run" first failed
other=$(titan -q run -e "second; second=false")
ok 'the second fails' until_true 20 run_ended "$other"
titan -q run --into "$run" -e "third; third=false" >/dev/null
ok 'and then a job that the first was given since' until_true 20 job_is "$run" third failed
exits 'a dry run asks nothing' 0 titan --json dlq discard -n all
is 'and counts what each run has' "$(printf '%s' "$out" | jq -c '[.[] | [.run, .changed]]')" "[[$run,2],[$other,1]]"
exits 'each run is discarded once' 0 titan -y --json dlq discard all
is 'with all that it has, which is still there' "$(printf '%s' "$out" | jq -c '[.[] | [.run, .changed]]')" "[[$run,2],[$other,1]]"
done_testing
