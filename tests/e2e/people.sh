# SPDX-License-Identifier: GPL-3.0-or-later
# Acts of people: gates wait for approval, a rejection needs a reason, and people hold jobs and set priorities.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
gates() { titan --json approvals | jq -r '.[].job'; }
gate_waits() { gates | grep -qx "$1"; }
me=$(id -un)

is "no gate and no job waits for a person" "$(titan --json approvals)" "[]"
run=$(titan run -e "a -> ?qa -> b; a=true; b=true; qa='Is it good?' approve_timeout=1h")
ok "a gate waits for its job and then for people" until_true 10 gate_waits "$run/qa"
is "it is asked" "$(titan --json approvals | jq -r '.[0] | "\(.approvals) \(.approvals_needed) \(.question)"')" "0 1 Is it good?"
is "the run waits for approval" "$(run_state "$run")" approval
like "ls says so" "$(titan ls)" 'qa: 0 of 1 people have approved'
like "and status" "$(titan status)" 'titan approvals'
is "nothing behind it runs" "$(job_state "$run" b)" waiting
like "show says what is awaited" "$(titan show "$run")" '0 of 1 people have approved'
exits "a look at it says pending" 8 titan --timeout 0 wait "$run"
reason_of() { titan --json explain "$1" | jq -r '.[0].reason'; }
is "the gate's reason is approval" "$(reason_of "$run/qa")" approval
like "and the next command is told" "$(titan explain "$run/qa")" "titan approve $run/qa"
is "what is behind it waits for a dependency" "$(reason_of "$run/b")" waits_for_dependency
like "which is named" "$(titan explain "$run/b")" 'qa'
is "a job that has ended says so" "$(reason_of "$run/a")" ended
exits "a run is explained by its jobs" 0 titan explain "$run"
like "those that wait" "$out" 'approval$'
exits "nor a job that isn't there" 4 titan explain "$run/nope"
exits "all gates of a run are approved only with a yes" 2 titan approve "$run"
like "which is said" "$err" "titan -y approve $run"
exits "a job that is no gate can't" 2 titan approve "$run/b"
like "which is said" "$err" 'is no gate'
exits "a gate is approved" 0 titan approve "$run/qa" -m 'looked at it'
exits "and the run goes on to its end" 0 titan --timeout 20s wait "$run"
is "nothing waits any more" "$(gates)" ""
exits "what is decided isn't decided again" 1 titan approve "$run/qa"
exits "a job that never was can't be approved" 4 titan approve "$run/nope"
exits "nor held" 4 titan hold "$run/nope"
exits "nor cancelled" 4 titan cancel "$run/nope"
exits "what is no gate isn't one after the end" 2 titan approve "$run/b"
like "which is said" "$err" 'is no gate'

run=$(titan run -e "?qa -> b; b=true")
ok "another one waits" until_true 10 gate_waits "$run/qa"
exits "a rejection wants a reason" 2 titan reject "$run/qa"
is "and did nothing without" "$(job_state "$run" qa)" approval
exits "with one it is taken" 0 titan reject "$run/qa" -m 'too slow'
exits "the run is denied" 3 titan --timeout 20s wait "$run"
is "the gate too" "$(job_state "$run" qa)" denied
is "what depends on it is skipped" "$(job_state "$run" b)" skipped
exits "it may be asked again" 0 titan retry "$run"
ok "and is" until_true 10 gate_waits "$run/qa"
exits "a gate survives its master" 0 titan approve "$run/qa"
exits "and succeeds" 0 titan --timeout 20s wait "$run"

cat >two.yaml <<END
jobs:
  two: {approval: {count: 2, message: both of you}}
  mine: {approval: {from: [$me, bert]}}
  other: {approval: {from: [somebody]}}
  late: {approval: {timeout: 200ms, on_timeout: reject}}
  quiet: {approval: {timeout: 200ms, on_timeout: approve}}
END
run=$(titan run two.yaml)
ok "a gate for two waits" until_true 10 gate_waits "$run/two"
ok "one whose time is over is denied" until_true 10 job_is "$run" late denied
ok "or approved, where it says so" until_true 10 job_is "$run" quiet succeeded
exits "one of the two approves" 0 titan approve "$run/two"
is "it waits for the other" "$(titan --json approvals | jq -r ".[] | select(.name == \"two\") | .approvals")" 1
exits "the same voice again" 0 titan approve "$run/two"
is "changes nothing" "$(job_state "$run" two)" approval
titan token add bert --role approver >bert.key 2>/dev/null
exits "who submitted it may not approve it, while another could" 3 titan approve "$run/mine"
like "who is named" "$err" 'bert must'
titan token rm bert 2>/dev/null
exits "alone they may" 0 titan approve "$run/mine"
like "which is said for ever" "$(titan show "$run/mine")" 'approved \(SELF\)'
exits "who isn't asked may not approve" 3 titan approve "$run/other"
is "and didn't" "$(job_state "$run" other)" approval
titan -y cancel "$run" >/dev/null
ok "a gate can be cancelled" until_true 10 job_is "$run" two cancelled

# With one slot taken, what comes next is decided by people.
release=$test_dir/release
busy=$(titan run -e "busy; busy='until test -e $release; do sleep 0.05; done'")
ok "the only slot is taken" until_true 10 job_is "$busy" busy running
first=$(titan run -e "one; one='echo first >>$test_dir/order'")
second=$(titan run -e "two; two='echo second >>$test_dir/order'")
third=$(titan run -e "three; three='echo third >>$test_dir/order'")
exits "a run is held" 0 titan hold "$first"
is "and says so" "$(titan --json show "$first" | jq '.[0] | .held')" true
is "which is why its job waits" "$(reason_of "$first/one")" held
is "another waits for the slot" "$(reason_of "$second/two")" all_slots_busy
like "also in a list" "$(titan ls)" 'a person put a hold on the run'
exits "another one gets a priority" 0 titan --json priority "$third" 90
is "its job has it" "$(titan --json show "$third/three" | jq '.[0] | .priority')" 90
exits "no such priority" 2 titan priority "$third" 101
touch "$release"
exits "the others end" 0 titan --timeout 20s wait "$second" "$third"
is "in the order of their priorities" "$(tr '\n' ' ' <"$test_dir/order")" "third second "
is "the held one still waits" "$(job_state "$first" one)" ready
exits "it is released" 0 titan release "$first"
exits "and ends" 0 titan --timeout 20s wait "$first"
run=$(titan run -e "a -> b; a='until test -e $test_dir/on; do sleep 0.05; done'; b=true")
exits "a single job is held" 0 titan hold "$run/b"
touch "$test_dir/on"
ok "what it needs goes on" until_true 10 job_is "$run" a succeeded
like "it doesn't, and says why" "$(titan show "$run")" 'a person put a hold on this job'
exits "it is released" 0 titan release "$run/b"
exits "and the run succeeds" 0 titan --timeout 20s wait "$run"
exits "what has ended can't be held" 1 titan hold "$run"
exits "a run that isn't there" 4 titan hold 999
exits "a retry of what didn't fail" 0 titan retry "$run"
like "says that it did nothing" "$err" 'nothing changed, because no job was scheduled to run again'
run=$(titan run -e "later; later=true delay=1h")
ok "what waits for its time" until_true 10 job_is "$run" later delayed
like "isn't shown as tried again" "$(titan show "$run")" 'WAIT'
like "and hours are told as such" "$(titan explain "$run/later")" 'due in (1h00m|59m)'
titan -y cancel "$run" >/dev/null
run=$(titan run -e "missing; missing=/no/such/program")
exits "what can't be started" 1 titan --timeout 10s wait "$run"
like "names the program" "$(titan show "$run/missing")" 'No such file or directory: /no/such/program'

# What was tried once of several times, as it ended otherwise.
printf 'jobs:\n  a: {run: exit 4, retry: {max: 3, codes: [3]}}\n  b: {run: "true", deadline: 2020-01-01T00:00:00Z}\n' >other.yaml
run=$(titan run other.yaml)
exits "a code that isn't retried fails" 1 titan --timeout 10s wait "$run"
like "its attempts aren't used up" "$(titan explain "$run/a")" "doesn't cover this kind of failure \\(exit 4, 1 try"
like "what never ran had no process" "$(titan explain "$run/b")" "the job ran out of time before it started: the job's deadline passed"
like "the run says why, too" "$(titan show "$run")" "b .*TIME.*the job's deadline passed"

# All of a fan-out.
run=$(titan run -e "later -> e*4; later=true delay=1h; e=true")
exits "a fan-out is many jobs: without a yes nothing is done" 2 titan hold "$run/e"
like "but they are counted and named" "$err" 'hold of 4 jobs \(e\[0\], e\[1\]'
like "and the whole command is said" "$err" "try: titan -y hold $run/e"
exits "with it all are held" 0 titan -y --json hold "$run/e"
is "and counted" "$(printf %s "$out" | jq '.[0].changed')" 4
exits "also by a star" 0 titan -y --json release "$run/e[*]"
is "and counted" "$(printf %s "$out" | jq '.[0].changed')" 4
exits "one of them is one" 0 titan hold "$run/e[2]"
exits "cancelled together" 0 titan -y cancel "$run/e"
is "they are" "$(job_state "$run" 'e[3]')" cancelled
like "before they ran" "$(titan explain "$run/e[3]")" 'somebody cancelled the job before it started'
titan hold "$run/later"
is "what waits for its time and is held back isn't due" "$(titan --json explain "$run/later" | jq -r '.[0].reason')" held
titan -y cancel "$run" >/dev/null

# What the master would refuse is refused before, with its place.
printf 'jobs:\n  g: {approval: {from: [ana, ana]}}\n' >twice.yaml
exits "somebody is named twice" 2 titan validate twice.yaml
like "which has a place" "$err" "twice.yaml:2:30: error: 'ana' is named twice"
printf 'jobs:\n  g: {run: "true", timeout: 4000d}\n' >long.yaml
exits "a span of over ten years" 2 titan validate long.yaml
printf 'jobs:\n  g: {run: "true", not_before: "2026-02-30T00:00:00Z"}\n' >date.yaml
exits "a day that isn't" 2 titan validate date.yaml
printf 'params: {p: {required: true, default: x}}\njobs:\n  g: {run: "true"}\n' >both.yaml
exits "required, and a default" 2 titan validate -p p=1 both.yaml
printf 'params: {p: x}\njobs:\n  g: {run: "true"}\n' >param.yaml
exits "a parameter is given twice" 2 titan validate -p p=7 -p p=8 param.yaml
done_testing
