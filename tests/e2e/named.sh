# SPDX-License-Identifier: GPL-3.0-or-later
# What commands do with names: a whole fan-out, one job among several, a name that doesn't exist, a job that is waited
# for. And for jobs that wait for people or are held, the command that would change that.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2

# --- names ---
run=$(titan run -e "one; fan*3; one=true; fan='exit \$i'")
until_true 20 run_ended "$run"
exits 'a fan-out as a whole is shown' 0 titan --json show "$run/fan"
is 'with all of its jobs and no other' "$(printf '%s' "$out" | jq -c '[.[0].jobs[].name]')" '["fan[0]","fan[1]","fan[2]"]'
is 'among other jobs too' "$(titan --json show "$run/one" "$run/fan[*]" | jq -c '[.[0].jobs[].name]')" \
	'["one","fan[0]","fan[1]","fan[2]"]'
exits 'a job that there is none of, among others' 4 titan show "$run/one" "$run/two"
like 'is named' "$err" "no job $run/two"
exits 'its output is that of all of its jobs' 0 titan logs "$run/fan"
exits 'dead letters of a run that there is not' 4 titan dlq ls 4711
exits 'or of a job that there is not' 4 titan dlq ls "$run/two"
exits 'a job without any has none' 0 titan dlq ls "$run/one"
is 'a fan-out has those of its jobs' "$(titan --json dlq ls "$run/fan" | jq length)" 2

# --- settings of a graph on one line ---
exits 'a setting that there is not' 2 titan run -e 'a=true zzzzzzzz=1'
words=$(printf '%s' "$err" | sed -n 's/.*the most used are \(.*\) (put.*/\1/p' | sed 's/ and / /; s/,//g')
like 'the most used are named' "$words" 'retry .* label'
missing=
for word in $words; do
	titan help dag | grep -q "$word=" || missing="$missing $word"
done
is 'each of them is in the help' "$missing" ''

# --- cancel waits for what it was told ---
run=$(titan run -e "one; two*2; stays; one='sleep 600'; two='sleep 600'; stays='sleep 600'")
until_true 20 job_is "$run" one running
exits 'cancel -w of a job' 0 titan --timeout 30s cancel -w "$run/one"
is 'waits for that one' "$(job_state "$run" one)" cancelled
exits 'of a fan-out' 0 titan -y --timeout 30s cancel -w "$run/two"
is 'for all of that' "$(titan --json show "$run/two" | jq -c '.[0] | [.jobs[].state]')" '["cancelled","cancelled"]'
ok 'and for nothing else' eval '! run_ended "$run"'
exits 'of the run, for that' 0 titan --timeout 30s cancel -w "$run"
ok 'and it has ended' run_ended "$run"

# --- what holds it up ---
titan lock take door >/dev/null
cat >held.yaml <<'END'
jobs:
  gate: {approval: {message: "good?"}}
  locked: {run: "true", locks: [door]}
  first: {run: sleep 600, concurrency: few}
  second: {run: sleep 600, needs: ["first.done"], concurrency: few}
  third: {run: sleep 600, concurrency: few}
END
run=$(titan run held.yaml)
until_true 20 job_is "$run" gate approval
until_true 20 job_is "$run" first running
like 'a lock: those there are' "$(titan explain "$run/locked")" 'next +titan lock ls$'
like 'a group: how full they are' "$(titan explain "$run/third")" 'next +titan group ls$'
titan hold "$run/third" >/dev/null
like 'a job that is held' "$(titan explain "$run/third")" 'put a hold on this job$'
titan hold "$run" >/dev/null
like 'with its run' "$(titan explain "$run/third")" 'put a hold on the run and this job$'
like 'and one only with its run' "$(titan explain "$run/locked")" "put a hold on the job's run\$"
titan release "$run" >/dev/null
exits 'a gate that waits has nothing to be done again' 8 titan retry "$run/gate"
like 'people have to decide' "$err" "people have to approve or reject it"
like 'which is next' "$err" "titan approve $run/gate"
like 'how many have is said while it waits' "$(titan show "$run/gate")" '^approvals +0$'
titan approve "$run/gate"
until_true 20 job_is "$run" gate succeeded
unlike 'and no more when they have' "$(titan show "$run/gate")" '^approvals +0'
titan -y cancel "$run" >/dev/null

# --- why, in the table of a run ---
run=$(titan run -e "?late -> a; ?no -> b; late='x' approve_timeout=100ms; no='y'; a=true; b=true")
until_true 20 job_is "$run" no approval
titan reject "$run/no" -m never
until_true 20 run_ended "$run"
like 'a gate that nobody answered' "$(titan show "$run")" '^late .*nobody decided on the gate in time$'
like 'one that somebody refused' "$(titan show "$run")" '^no .*refused$'

# --- acts under --json are one value ---
printf 'name: daily\nschedule: {cron: "0 3 * * *"}\njobs: {a: {run: "true"}}\n' >daily.yaml
for act in "tenant set ten --weight 2" "tenant rm ten" "group set few --max 2" "group rm few" "lock drop door" \
	"schedule add daily.yaml" "schedule rm daily"; do
	exits "titan $act" 0 eval "titan --json $act"
	like "says what it is about" "$(printf '%s' "$out" | jq -r .name)" '^(ten|few|door|daily)$'
done
exits 'a template that is wrong changes nothing' 2 titan --format '{nope}' group set few --max 3
is 'nothing' "$(titan --json group ls | jq -c '[.[] | select(.name == "few" and .max == 3)]')" '[]'

# --- lost attempts ---
run=$(titan run -e "kills; kills='sleep 0.2; kill -KILL \$PPID; sleep 600' on_worker_death=kill crash_limit=1 retry=3")
ends_dead() {
	worker_is_up || titan up >/dev/null 2>&1
	job_is "$run" kills failed
}
ok 'a job that takes its worker with it fails' until_true 60 ends_dead
like 'for that, and not for want of retries' "$(titan explain "$run/kills")" 'crash limit is reached'
titan up >/dev/null 2>&1
until_true 20 worker_is_up

# --- as the system lists it ---
is 'the master is called titan' "$(cat "/proc/$(master_pid)/comm")" titan
is 'so is the worker' "$(cat "/proc/$(state_of '.workers[0].pid')/comm")" titan

done_testing
