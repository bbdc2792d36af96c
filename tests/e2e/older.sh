# SPDX-License-Identifier: GPL-3.0-or-later
# A master serves its own version of the protocol and the one before: the commands and the worker of the older titan work
# with this master, and the commands and the worker of this titan with the older master.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-older.sh"

is "the older titan speaks the version before" "$((older_version + 1))" "$(titan --json version | jq .protocol)"
is "as it says itself" "$(older --json version | jq .protocol)" "$older_version"

# --- its commands ---
export TITAN_HEARTBEAT=100ms TITAN_LEASE=500ms TITAN_GRACE=2s
start_cluster --slots 2
exits "it submits a graph and waits" 0 older run -w --name graph -e 'a -> b*3 -> c; a="echo out"; b="echo $RANDOM"; c=true'
cat >pipeline.yaml <<'END'
name: ship
jobs:
  build: {run: echo built}
  qa: {approval: {count: 1}, needs: build}
  ship: {run: echo shipped, needs: qa}
  never: {run: exit 3}
END
run=$(older -q run pipeline.yaml)
asked() { older --json approvals | jq -e 'length == 1' >/dev/null; }
ok "its gate asks for approval" until_true 60 asked
exits "it approves" 0 older -y approve "$run/qa" -m good
older --timeout 120s wait "$run" >/dev/null 2>&1
is "and sees how the run ended" "$(older --json show "$run" | jq -r '.[0].state')" failed
is "it reads logs" "$(older logs "$run/ship")" shipped
many=$(seq 20000 | sed 's/.*/true/' | older -q run --lines --label nowhere)
is "it submits a graph of many frames" "$(older --json show "$many" | jq '.[0].jobs_count // .[0].total // (.[0].jobs | length)')" 20000
exits "and cancels it" 0 older -y cancel "$many"
held=$(older -q run -e 'h; h="sleep 600"')
for words in "hold $held" "release $held" "priority $held 70" "cancel $held" "retry $run/never" "tenant set t1 --weight 2" \
	"group set g1 --max 3" "lock take l1 -m reason" "lock drop l1" "cordon local" "uncordon local" "undo"; do
	# shellcheck disable=SC2086
	exits "it does: titan $words" 0 older -y $words
done
# It prints the rows that the commands of today print. Their columns may differ.
rows() { jq -c 'if type == "array" then map([.run, .job, .name, .state, .act, .turn]) else . | type end'; }
older --timeout 60s wait all >/dev/null 2>&1
for words in "ls" "ls --limit 2" "show $run" "show $run/ship" "history" "dlq ls" "events --limit 50" "worker ls" "pool ls" \
	"tenant ls" "group ls" "lock ls" "schedule ls" "token ls" "explain $run/never" "analyze $run"; do
	# shellcheck disable=SC2086
	titan --json $words >now.json 2>/dev/null || continue
	# shellcheck disable=SC2086
	exits "it shows: titan $words" 0 older --json $words
	is "the rows that today's shows" "$(rows <<<"$out")" "$(rows <now.json)"
done
is "a worker's version isn't among what it is sent" "$(older --json worker ls | jq -r '.[0] | has("protocol")')" false
is "today's command has it" "$(protocol_of local)" $((older_version + 1))

# --- its worker ---
"$older_titan" worker start --name elder --slots 2 --label elder >elder.log 2>&1 &
elder=$!
ok "its worker connects" until_true 60 has_worker elder up || note "$(cat elder.log)"
is "with the version before" "$(protocol_of elder)" "$older_version"
like "which the list says" "$(titan worker ls)" '^elder .* older titan'
like "and doctor with the remedy" "$(titan doctor 2>&1)" 'titan worker upgrade elder'
run=$(titan -q run --label elder -e "a -> b; a='echo \$TITAN_WORKER; echo on an elder'; b='$older_titan run -e \"i; i=true\" && $TITAN run -e \"n; n=true\"'")
exits "it runs jobs, which submit more" 0 titan --timeout 120s wait "$run"
like "their output arrives" "$(titan logs "$run/a")" 'on an elder'
exits "and those end too" 0 titan --timeout 120s wait $((run + 1)) $((run + 2))

: >hold
once=$(titan -q run --label elder -e "j; j='echo x >>$test_dir/starts; while [ -e $test_dir/hold ]; do sleep 0.05; done; echo done'")
ok "a long job runs there" until_true 60 job_is "$once" j running
keeper=$(titan --json worker ls | jq '.[] | select(.name == "elder") | .pid')
tree="$keeper $(pgrep -P "$keeper" | tr '\n' ' ')"
# shellcheck disable=SC2086
kill -STOP $tree
is_lost() { has_worker elder lost; }
ok "silent, it is lost" until_true 60 is_lost
# shellcheck disable=SC2086
kill -CONT $tree
ok "and comes back" until_true 60 has_worker elder up || note "$(tail -n 5 elder.log)"
rm hold
exits "where the job runs again" 0 titan --timeout 120s wait "$once"
run=$(titan -q run --label elder -- echo again)
exits "and others do" 0 titan --timeout 120s wait "$run"
is "with what they print" "$(titan logs "$run")" again

# --- today's commands and worker with the older master ---
titan -y down >/dev/null 2>&1
wait "$elder" 2>/dev/null
export TITAN_STATE=$test_dir/before                    # an older master can't read a store that today's has migrated
has_older() { older --json worker ls | jq -e ".[] | select(.name == \"$1\" and .state == \"up\")" >/dev/null; }
exits "the older master starts" 0 older up --slots 2
ok "with its own worker" until_true 60 has_older local
exits "today's commands submit to it and wait" 0 titan run -w -e 'a -> b; a=true; b="echo hello"'
like "and show it" "$(titan --json worker ls | jq -c 'map([.name, .protocol])')" '\["local",null\]'
for name in young other; do "$TITAN" worker start --name $name --slots 1 >$name.log 2>&1 & done
young=$(jobs -p | head -n 1)
ok "a worker of today connects to it" until_true 60 has_older young || note "$(cat young.log)"
ok "and another" until_true 60 has_older other || note "$(cat other.log)"
kill -TERM "$young"
ok "one ends when it is told to" until_true 60 process_gone "$young"
exits "titan up puts today's in its place" 0 titan up --upgrade
ok "which takes today's worker" until_true 60 has_worker other up
is "with its own version" "$(protocol_of other)" $((older_version + 1))
ok "and the older one" until_true 60 has_worker local up
is "with the version before" "$(protocol_of local)" "$older_version"
is "and keeps what ran before" "$(titan --json show 1 | jq -r '.[0].state')" succeeded
exits "all end" 0 titan -y down
wait
done_testing
