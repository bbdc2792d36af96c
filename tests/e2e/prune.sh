# SPDX-License-Identifier: GPL-3.0-or-later
# Ended runs are pruned by number, age and size of their logs; the others stay, also over restarts. If the master dies
# in between, the next one continues.
. "$(dirname "$0")/lib.sh"

amount=${CHAOS_PRUNE_ROWS:-4000}

run() { titan run -q -w -e "$1" >/dev/null; }
ids() { titan --json ls | jq -c '[.[].run] | sort'; }
logs_of() { [ -d "$TITAN_STATE/default/logs/$1" ]; }
all_gone() { for at in "$@"; do logs_of "$at" && return 1; done; true; }
same_key() { titan run -q --submit-key 0123456789abcdef0123456789abcdef -e "a; a='echo one'" --json | jq .run; }
fsck_whole() { titan fsck >"$test_dir/fsck" 2>&1 || { cat "$test_dir/fsck"; false; }; }

start_cluster --slots 4
exits 'a backup of an empty store' 0 titan backup "$test_dir/empty.db"
for i in 1 2 3 4 5 6; do
	run "a -> b; a='echo output of $i'; b='echo more'"
done
run "bad; bad='echo why; exit 3'"
is 'six that succeeded and one that failed' "$(ids)" '[1,2,3,4,5,6,7]'
like 'output is found' "$(titan logs 1/a)" '^output of 1$'

# ---- what is asked ----

exits 'no rule' 2 titan prune
like 'and what there is' "$err" '--older SPAN, --keep N, --size SIZE'
exits 'a number that is none' 2 titan prune --keep many
exits 'dry' 0 titan --json prune --keep 3 -n
is 'says what would go' "$(printf '%s' "$out" | jq -c '[.run_count, .job_count, .kept_dead_letters, .dry_run]')" '[4,8,0,true]'
like 'with the bytes' "$(printf '%s' "$out" | jq .log_bytes)" '^[1-9][0-9]+$'
like 'and names the first' "$err" '"note":" +1 .*, ended 20'
exits 'without a yes' 2 titan prune --keep 3
like 'it counts and stops' "$err" 'pruning 4 runs of 8 jobs'
is 'nothing went' "$(ids)" '[1,2,3,4,5,6,7]'

# ---- by number ----

exits 'all but three' 0 titan -y prune --keep 3
like 'went' "$err" 'pruned: 4 runs of 8 jobs'
is 'and are not listed' "$(ids)" '[5,6,7]'
ok 'their logs went with them' all_gone 1 2 3 4
ok 'those of the others did not' logs_of 5
today=$(date -u +%F)
for command in 'show 2' 'logs 2/a' 'wait 2' 'explain 2/a' 'cancel 2' 'retry 2' 'watch 2'; do
	exits "titan $command" 4 titan $command
	like 'says when it went' "$err" "run 2 was pruned on $today"
done
exits 'one that never was' 4 titan show 99
like 'is another thing' "$err" 'no run 99'
run 'a; a=true'
is 'numbers are not given again' "$(ids)" '[5,6,7,8]'

# ---- letters, logs alone ----

exits 'all that can go' 0 titan -y prune --keep 0
like 'is not what has a letter' "$err" 'kept: 1 run with dead letters'
is 'which stays' "$(ids)" '[7]'
like 'with its output' "$(titan logs 7/bad)" why
exits 'logs alone, of all' 0 titan -y prune --keep 0 --logs-only --dead
exits 'show knows the run' 0 titan --json show 7
exits 'logs says that they went' 4 titan logs 7
like 'and when' "$err" "the output of 7/bad was pruned on $today"
exits 'a new try' 1 titan run -q -w -e "again; again='echo later; exit 1'"
exits 'of the old one' 0 titan retry 7
until_true 10 run_ended 7
like 'has its output' "$(titan logs 7/bad)" why
exits 'letters as well' 0 titan -y prune --keep 0 --dead
is 'takes all' "$(ids)" '[]'
is 'and the letters' "$(titan --json dlq ls | jq length)" 0
ok 'the store is whole' fsck_whole

# ---- size, age, keys, history ----

key=$(same_key)
is 'a key is its run' "$(same_key)" "$key"
until_true 10 run_ended "$key"
for i in 1 2 3; do run "a; a='head -c 100000 /dev/urandom'"; done
first=$(($(ids | jq '.[0]')))
exits 'by the size of logs' 0 titan -y --json prune --size 250K
is 'no more goes than must' "$(printf '%s' "$out" | jq .run_count)" 2
unlike 'the oldest first' "$(ids)" "\\b$first\\b"
other=$(same_key)
ok 'the key of a pruned run makes a new one' test "$other" -gt "$key"
until_true 10 run_ended "$other"
exits 'nothing is as old as that' 0 titan -y --json prune --older 1h
is 'so none goes' "$(printf '%s' "$out" | jq .run_count)" 0
exits 'everything is older than nothing' 0 titan -y --json prune --older 0s --history 0s
ok 'so history goes, too' test "$(printf '%s' "$out" | jq .history_turns)" -gt 5
is 'and all runs' "$(ids)" '[]'

# ---- a master that dies meanwhile ----

exits 'a large run' 0 titan run -q -w -e "a -> b*$amount; a='echo x'; b=true"
exits 'and another one that lives' 0 titan run -q -e "live; live='sleep 1000'"
large=$(ids | jq '.[0]')
live=$(ids | jq '.[1]')
titan -y prune --keep 0 >/dev/null 2>&1 &
asker=$!
until_true 10 eval '! titan show '"$large"' >/dev/null 2>&1'
kill -KILL "$(master_pid)"
wait "$asker"
titan up >/dev/null 2>&1
until_true 10 worker_is_up
exits 'it is gone for good' 4 titan show "$large"
like 'and known as pruned' "$err" "run $large was pruned"
is 'what lives, lives' "$(run_state "$live")" running
until_true 20 all_gone "$large"
ok 'its logs went after the start' all_gone "$large"
ok 'the store is whole' fsck_whole
nothing_left() { [ "$(titan --json metrics | jq .runs_pruning)" = 0 ]; }
ok 'nothing is left of it' until_true 20 nothing_left
exits 'nor of history' 0 titan -y prune --history 0s
exits 'a backup' 0 titan backup "$test_dir/copy.db"
ok 'is hardly larger than that of an empty store' test "$(stat -c %s "$test_dir/copy.db")" -le $(($(stat -c %s "$test_dir/empty.db") + 16384))
exits 'the rest can end' 0 titan -y cancel "$live"
until_true 10 run_ended "$live"

# ---- rules that hold by themselves; found again after years ----

exits 'an old one' 0 titan run -q -w -e "old; old='echo of long ago'"
titan -y down >/dev/null 2>&1
export TITAN_KEEP_RUNS=3 TITAN_KEEP_LOGS=1M TITAN_PRUNE_EVERY=200ms
start_cluster --slots 4
like 'a run that left memory has its output after a restart' "$(titan logs "$(ids | jq max)/old")" '^of long ago$'
for i in 1 2 3 4 5 6; do run 'a; a=true'; done
few_left() { [ "$(ids | jq length)" = 3 ]; }
ok 'as many as the rule keeps' until_true 20 few_left
for i in 1 2; do run "a; a='head -c 700000 /dev/urandom'"; done
log_pruned() { titan logs "$(ids | jq '.[-2]')" 2>&1 >/dev/null | grep -q 'was pruned on'; }
ok 'and as many bytes of logs: the oldest go, the runs stay' until_true 20 log_pruned
ok 'the newest log is there' test "$(titan logs "$(ids | jq max)" | wc -c)" = 700000
ok 'what went is counted' test "$(titan --json metrics | jq .runs_pruned)" -ge 3
is 'and nothing is left half done' "$(titan --json metrics | jq .runs_pruning)" 0
titan -y down >/dev/null 2>&1
export TITAN_KEEP_RUNS=many
exits 'a rule that is none' 2 titan master
like 'says which' "$err" 'TITAN_KEEP_RUNS'
done_testing
