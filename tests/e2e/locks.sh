# SPDX-License-Identifier: GPL-3.0-or-later
# Locks: jobs and people exclude each other, time limits end over kill -9, and whoever waits is told which holder they
# wait for.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 6
state() { titan --json show "$1" | jq -r '.[0] | .jobs[0].state'; }
is_state() { [ "$(state "$1")" = "$2" ]; }
reason() { titan --json explain "$1" | jq -r '.[0].reason'; }
held() { titan --json lock ls | jq -r ".[] | select(.name == \"$1\") | $2"; }
hold="until [ -e $test_dir/gate ]; do sleep 0.05; done"

exits "a person takes a lock" 0 titan lock take db -m "moving it" --owner deploy-1
first=$out
like "and has a number" "$first" '^[0-9]+$'
exits "nobody else may" 75 titan lock take db
like "who is told who has it" "$err" "deploy-1 \(.*\), because 'moving it', has it until the person drops it"
exits "not even to share it" 75 titan lock take db --shared
exits "two scripts of one person are two" 0 titan lock take mine
exits "so the second one may not" 75 titan lock take mine
exits "and either drops it" 0 titan lock drop mine
exits "its owner takes it again" 0 titan lock take db --owner deploy-1 -m "still moving it"
is "with the same number" "$out" "$first"
job=$(titan run -e 'a; a=true lock=db')
ok "a job waits for it" until_true 10 is_state "$job" ready
is "and says so" "$(reason "$job/a")" locked
like "with who has it and why" "$(titan explain "$job/a")" "needs lock db: deploy-1.*still moving it"
is "the list has its owner" "$(held db .owner)" deploy-1
is "and one that waits" "$(held db .waiting)" 1
exits "one that somebody else has can't be dropped by mistake" 4 titan lock drop db
like "who has it is said where" "$err" 'titan lock ls'

pid=$(master_pid)
kill -KILL "$pid"
ok "the master is gone" until_true 10 process_gone "$pid"
titan up >/dev/null 2>&1
ok "and back" until_true 10 worker_is_up
is "the lock is still held" "$(held db .fence)" "$first"
is "and waited for" "$(state "$job")" ready
exits "it is dropped" 0 titan lock drop db --owner deploy-1
exits "and the job runs" 0 titan --timeout 20s wait "$job"

cat >p.yaml <<END
jobs:
  a: {run: "$hold", locks: [{name: cache, mode: shared}, log]}
END
one=$(titan run p.yaml)
ok "a job shares a lock" until_true 10 is_state "$one" running
is "which the list says" "$(held cache .mode) $(held cache .holder)" "shared $one/a"
is "and another one not" "$(held log .mode)" alone
is "it may not run twice at once" "$(titan --json show "$one/a" | jq -r '.[0] | .mode')" exclusive
exits "people share it too" 0 titan lock take cache --shared --ttl 1h
larger=$out
ok "with a larger number" test "$larger" -gt "$first"
alone=$(titan run -e 'a; a=true lock=cache')
ok "one that wants it alone waits" until_true 10 is_state "$alone" ready
late=$(titan run -e 'a; a=true lock=cache=shared')
ok "and keeps out those behind it" until_true 10 is_state "$late" ready
like "which is said" "$(titan explain "$late/a")" "job $alone/a waits to have the lock alone, and comes first"
exits "it is dropped" 0 titan lock drop cache
touch gate
exits "all come to their turn" 0 titan --timeout 20s wait "$one" "$alone" "$late"

exits "for a while" 0 titan lock take db --ttl 2s
job=$(titan run -e 'a; a=true lock=db')
like "until then it waits" "$(titan explain "$job/a")" 'has it for another'
pid=$(master_pid)
kill -KILL "$pid"
ok "the master is gone" until_true 10 process_gone "$pid"
titan up >/dev/null 2>&1
exits "its time is over, over a restart too" 0 titan --timeout 20s wait "$job"
exits "and the lock is free" 0 titan lock take db --owner x --ttl 1s
exits "who waits has it then" 0 titan --timeout 20s lock take db --wait
like "and was told for whom" "$err" 'waiting: lock db: x '
exits "waiting has an end" 124 titan --timeout 300ms lock take db --owner y --wait

printf 'jobs:\n  a: {run: "true", mode: retry, lock: db}\n' >bad.yaml
exits "what may run twice at once has no locks" 2 titan validate bad.yaml
like "which is said where" "$err" 'bad.yaml:2:39: .*exclusive or once'
printf 'jobs:\n  a: {run: "true", locks: [{name: db, mode: half}]}\n' >bad.yaml
exits "a mode is one of two" 2 titan validate bad.yaml
like "which are named" "$err" 'exclusive or shared'
exits "on one line too" 2 titan run -e 'a; a=true lock=db=half'
exits "a name is one" 2 titan lock take 'no name'
exits "a span is one" 2 titan lock take db --ttl soon
exits "a lock of no time would be one for ever" 2 titan lock take nothing --ttl 0s
unlike "and isn't taken" "$(titan lock ls)" nothing
done_testing
