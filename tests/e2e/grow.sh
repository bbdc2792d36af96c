# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs are added to a live run, whatever the states of their parents; they are added once, whatever is killed
# meanwhile; and the run can be shown and retried like any other.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
hold=$test_dir/hold
: >"$hold"
held="while [ -e $hold ]; do sleep 0.05; done"
jobs() { titan --json show "$1" | jq -r '.[0] | [.jobs[].name] | join(" ")'; }
run=$(titan run -e "{good, bad, enc*3, slow} -> end; bad -> gone; good='echo G'; bad=false; gone=true; enc='echo \$i'; slow='$held'; end=true")
ok "one job runs, others have ended" until_true 20 job_is "$run" gone skipped
ok "the fan-out has too" until_true 20 job_is "$run" 'enc[2]' succeeded
other=$(titan run -e "between; between=true")

# Parents in every state.
exits "jobs are added on one line" 0 titan run --into "$run" -e \
	"good -> after-good -> deep; bad -> after-bad; bad:failed -> on-bad; slow -> after-slow; enc -> join; after-good='cat </dev/null; echo A'; deep=true; after-bad=true; on-bad=true; after-slow=true; join=true"
is "the number of the run is what comes out" "$out" "$run"
ok "what needs a good one runs" until_true 20 job_is "$run" deep succeeded
is "against a failed one it is skipped at once" "$(job_state "$run" after-bad)" skipped
like "and its cause is told" "$(titan explain "$run/after-bad")" 'bad'
ok "on a failed one it runs" until_true 20 job_is "$run" on-bad succeeded
ok "a fan-out is a parent as a whole" until_true 20 job_is "$run" join succeeded
is "behind one that runs it waits" "$(job_state "$run" after-slow)" waiting
like "explain names what it waits for" "$(titan explain "$run/after-slow")" 'slow'

cat >"$test_dir/more.yaml" <<'YAML'
jobs:
  check:
    run: exit 3
    needs: [good, "bad:failed"]
    continue_on: failed
  pick:
    run: echo picked
    needs: check
    when: check.code == 3 && bad.code == 1
  never:
    run: echo never
    when: bad && slow
  most:
    run: echo most
    needs: {any: 2, of: [enc, gone]}
  wide:
    run: echo $TITAN_INDEX
    needs: {slow: done}
    matrix: {n: [1, 2, 3], max_parallel: 1}
YAML
exits "a file that needs what the run hasn't got" 2 titan run --into "$other" --dry-run "$test_dir/more.yaml"
like "a name that neither has is an error at its place" "$err" 'more.yaml:4:13: error: job .check. needs .good., which does not exist'
exits "a dry run knows the run's jobs" 0 titan --json run --into "$run" --dry-run "$test_dir/more.yaml"
is "and shows them as needs" "$(printf %s "$out" | jq -rc '.[] | select(.name == "most") | .needs')" '["enc[0]","enc[1]","enc[2]","gone"]'
exits "a file is added" 0 titan run --into "$run" "$test_dir/more.yaml"
ok "an exit code of a job of before decides" until_true 20 job_is "$run" pick succeeded
ok "so does a condition" until_true 20 job_is "$run" never skipped
ok "and two of a fan-out" until_true 20 job_is "$run" most succeeded
is "the fan-out waits" "$(job_state "$run" 'wide[2]')" waiting

# What is refused.
exits "a name that is taken" 2 titan run --into "$run" -e "good; good=true"
like "says whose it is" "$err" "^titan: run $run already has a job 'good'"
exits "a name that nobody has" 2 titan run --into "$run" -e "godo -> x; x=true"
like "names the nearest one" "$err" "run $run has 'good'"
exits "what is there can't wait for what comes" 2 titan run --into "$run" -e "x -> good; x=true"
like "and is told so" "$err" "'good' is already in run $run"
exits "nothing new is nothing" 2 titan run --into "$run" -e "good -> slow"
exits "a tenant of its own" 2 titan run --into "$run" --tenant t -e "x; x=true"
exits "no such run" 4 titan run --into 999 -e "x; x=true"
exits "a cycle among what comes" 2 titan run --into "$run" -e "x -> y -> x; x=true; y=true"
exits "the other run has ended" 1 titan run --into "$other" -e "x; x=true"
like "and what can be done is said" "$err" "titan retry $other"

# By key, through kill -9 of the master; and large.
key=00112233445566778899aabbccddee01
exits "by key" 0 titan run --into "$run" --submit-key $key -e "good -> keyed; keyed=true"
for i in 1 2 3 4; do titan run --into "$run" --submit-key $key -e "good -> keyed; keyed=true" >"$test_dir/same.$i" & done
seq 1 3000 | sed 's/.*/true/' | titan run --into "$run" --lines --name part --submit-key 00112233445566778899aabbccddee02 >/dev/null
wait
before=$(jobs "$run")
pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
start_cluster
is "nothing is lost, nothing is there twice" "$(jobs "$run")" "$before"
is "the same again is added once" "$(titan run --into "$run" --submit-key $key -e "good -> keyed; keyed=true")" "$run"
is "also of the large one" "$(seq 1 3000 | sed 's/.*/true/' |
	titan run --into "$run" --lines --name part --submit-key 00112233445566778899aabbccddee02)" "$run"
is "it was" "$(jobs "$run")" "$before"
exits "the same key with others is refused" 2 titan run --into "$run" --submit-key $key -e "slow -> keyed; keyed=true"
is "one that waits still waits" "$(job_state "$run" after-slow)" waiting
exits "more comes after it" 0 titan run --into "$run" -e "after-slow -> last; last='echo L'"

# A job that adds a job each time, 10 times, while the master is killed.
cat >"$test_dir/chain" <<SH
n=\$1
[ "\$n" = 10 ] || TITAN_STATE=$TITAN_STATE "$TITAN" run --into "\$TITAN_RUN" --submit-key "\$(printf %032d "\$n")" \\
	-e "chain\$n -> chain\$((n + 1)); chain\$((n + 1))='sh $test_dir/chain \$((n + 1))' retry=9 backoff=50ms"
SH
exits "a job that adds jobs" 0 titan run --into "$run" --retry 9 -e "chain1; chain1='sh $test_dir/chain 1'"
ok "adds them" until_true 20 job_is "$run" chain3 succeeded
pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
start_cluster
ok "to the end" until_true 60 job_is "$run" chain10 succeeded

rm "$hold"
exits "it ends, failed as it was" 1 titan --timeout 60s wait "$run"
is "what waited ran" "$(job_state "$run" last)$(job_state "$run" 'wide[2]')" succeededsucceeded
is "each job once" "$(jobs "$run" | tr ' ' '\n' | sort | uniq -d | wc -l)" 0
is "output of what was added is there" "$(titan logs "$run/last" | grep -c L)" 1
exits "what has ended refuses" 1 titan run --into "$run" -e "x; x=true"
like "and says what to do" "$err" "has ended"
is "but not what was added before" "$(titan run --into "$run" --submit-key $key -e "good -> keyed; keyed=true")" "$run"
like "a job that came late is explained from history" "$(titan explain "$run/after-bad")" 'bad'

# All of it is a graph that can be submitted again.
: >"$hold"
again=$(titan run -e "a; a='$held'")
exits "a job of its own and one of the run's are needed" 0 titan run --into "$again" -e "a -> y; x -> y; x=true; y=true"
rm "$hold"
exits "it ends" 0 titan --timeout 60s wait "$again"
exits "it is submitted once more, with what was added" 0 titan run --wait --again "$again"

# Another round goes over all of it, and the run takes jobs again.
: >"$hold"
exits "a job of it is done again" 0 titan retry "$run/slow"
exits "it grows again" 0 titan run --into "$run" -e "last -> more; more=true"
rm "$hold"
exits "it fails again" 1 titan --timeout 60s wait "$run"
ok "with what was added" job_is "$run" more succeeded

# Final jobs wait for what is added, also after kill -9, until they begin.
: >"$hold"
cat >"$test_dir/final.yaml" <<YAML
jobs:
  a: {run: "true"}
  b: {run: "$held"}
finally:
  clean: {run: "while [ ! -e $test_dir/clean ]; do sleep 0.05; done"}
YAML
run=$(titan run "$test_dir/final.yaml")
ok "the run is under way" until_true 20 job_is "$run" b running
exits "jobs come" 0 titan run --into "$run" -e "a -> x -> y; clean -> behind; x='$held'; y=true; behind=true"
pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
start_cluster
like "its final job waits for them as well" "$(titan explain "$run/clean")" 'the job waits for b .* and for 2 added to the run'
rm "$hold"
ok "and runs when they have ended" until_true 20 job_is "$run" clean running
is "they have" "$(job_state "$run" x)$(job_state "$run" y)" succeededsucceeded
exits "what would come too late for it is refused" 1 titan run --into "$run" -e "z; z=true"
like "and told why" "$err" "its final job clean is"
exits "what comes behind it isn't" 0 titan run --into "$run" -e "behind -> z; z=true"
: >"$test_dir/clean"
exits "it ends well" 0 titan --timeout 60s wait "$run"
is "with what came last" "$(job_state "$run" z)" succeeded

# Who follows a run sees what is added, and stays until that has ended.
: >"$hold"
titan run --name followed -f -e "a; a='$held'" >"$test_dir/followed" 2>&1 &
follower=$!
ok "the run is followed" until_true 20 grep -q followed "$test_dir/followed"
run=$(titan --json ls | jq -r '[.[] | select(.name == "followed")][0].run')
ok "it runs" until_true 20 job_is "$run" a running
exits "jobs come" 0 titan run --into "$run" -e "a -> added-later -> last; added-later='echo L'; last=true"
rm "$hold"
wait "$follower"
is "the follower stayed to the end" "$?" 0
like "and told what was added" "$(cat "$test_dir/followed")" 'added-later'
is "all three ended" "$(titan --json show "$run" | jq -c '.[0] | [.jobs[].state] | unique')" '["succeeded"]'

# A cancelled run takes nothing.
: >"$hold"
run=$(titan run -e "a -> b; a='trap \"\" TERM; $held'; b=true")
ok "it runs" until_true 20 job_is "$run" a running
exits "jobs come" 0 titan run --into "$run" -e "a -> c; c=true"
titan -y cancel "$run" >/dev/null
is "they are cancelled with it" "$(job_state "$run" c)" cancelled
exits "and no more come" 1 titan run --into "$run" -e "d; d=true"
like "for it was cancelled" "$err" "was cancelled|has ended"
rm "$hold"

done_testing
