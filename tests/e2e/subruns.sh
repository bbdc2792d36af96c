# SPDX-License-Identifier: GPL-3.0-or-later
# Sub-runs through commands: begun, shown, failed and retried, cancelled, kept over a crash of the master; and faulty
# files.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
child() { titan --json show "$1" | jq -r ".[0] | .jobs[] | select(.name == \"$2\") | .child"; }
wait_for() { until_true 60 process_gone "$1" && wait "$1"; }
has_child() { [ "$(child "$1" "$2")" != null ]; }

mkdir -p parts
cat >parts/inner.yaml <<'EOF2'
name: inner
params:
  word: {required: true}
  flag: none
jobs:
  first: {run: 'echo got ${params.word}'}
  second: {needs: first, run: 'test ! -e ${params.flag}'}
EOF2
cat >outer.yaml <<EOF2
name: outer
params: {word: hello}
jobs:
  before: {run: "true"}
  build: {needs: before, pipeline: parts/inner.yaml, params: {word: "\${params.word}", flag: $test_dir/stop}, retry: 0}
  after: {needs: build, run: echo after}
EOF2
exits "a pipeline with another one is validated" 0 titan validate outer.yaml
like "and planned" "$(titan plan outer.yaml)" 'build .*sub-run inner: 2 jobs'
exits "and run" 0 titan --timeout 60s run -w outer.yaml -p word=moon
run=$(titan --json ls | jq '[.[] | select(.name == "outer")][0].run')
inner=$(child "$run" build)
is "its sub-run ended well, too" "$(run_state "$inner")" succeeded
is "and knows whose it is" "$(titan --json show "$inner" | jq -r '.[0] | .parent')" "$run/build"
like "as ls says" "$(titan ls)" "sub-run of $run/build"
like "parameters went in" "$(titan logs "$inner/first")" 'got moon'
exits "the logs of a job are those of its sub-run" 0 titan logs "$run/build"
like "with the path of the job" "$out" '^build/first +\| got moon'
exits "and those of a run have them, too" 0 titan logs "$run"
like "each with its path" "$out" '^build/first +\| got moon'
like "beside its own jobs" "$out" '^after +\| after'
is "for programs with the address of the job" "$(titan --json logs "$run" | jq -r 'select(.text == "got moon") | .job')" "$inner/first"
unlike "unless they aren't wanted" "$(titan logs --no-sub "$run" 2>&1)" 'got moon'
like "then they are said to be missing" "$(titan logs --no-sub "$run" 2>&1)" "1 job is a sub-run, whose output isn't shown"
like "and found" "$(titan logs --grep moon "$run")" 'build/first'

# --- followed ---
cat >wait.yaml <<EOF2
params: {word: none}
jobs:
  early: {run: 'echo early \${params.word}; until test -e $test_dir/on; do sleep 0.05; done'}
  late: {needs: early, run: 'echo late \${params.word}'}
EOF2
printf 'jobs:\n  part: {pipeline: wait.yaml, params: {word: deep}}\n' >around.yaml
cat >follow.yaml <<EOF2
jobs:
  begin: {run: "until test -e $test_dir/begin; do sleep 0.05; done"}
  outer: {needs: begin, pipeline: around.yaml}
  last: {needs: outer, run: echo the last}
EOF2
run=$(titan -q run follow.yaml)
titan logs -f "$run" >followed 2>&1 &
follower=$!
titan logs -f "$run/outer" >followed-job 2>&1 &
follower_of_job=$!
shows() { grep -q "$1" "$2"; }
touch begin
ok "a follower sees a sub-run that begins later, in a sub-run" until_true 60 shows '^outer/part/early *| early deep' followed
ok "so does the follower of the job alone" until_true 60 shows '^outer/part/early *| early deep' followed-job
touch on
exits "the follower of the job ends with it" 0 wait_for "$follower_of_job"
exits "that of the run, too" 0 wait_for "$follower"
like "with all of its output" "$(cat followed)" '^outer/part/late *\| late deep'
like "also behind the sub-run" "$(cat followed)" '^last *\| the last'
is "each line once" "$(grep -c ' | ' followed)" 3
unlike "the job's has no other" "$(cat followed-job)" 'the last'
rm on
printf 'jobs:\n  many:\n    matrix: {n: [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o]}\n    pipeline: wait.yaml\n    params: {word: "${matrix.n}"}\n' >many.yaml
run=$(titan -q run many.yaml)
titan logs -f "$run" >followed 2>&1 &
follower=$!
ok "many sub-runs at once" until_true 60 shows '| early' followed
kill -9 "$(master_pid)"
start_cluster --slots 2
touch on
exits "are followed to their ends, over a crash of the master" 0 wait_for "$follower"
is "and completely" "$(grep -oE '\| (early|late) [a-o]$' followed | sort -u | wc -l)" 30
is "once" "$(grep -cE '\| (early|late) [a-o]$' followed)" 30

# --- earlier tries ---
cat >again.yaml <<EOF2
jobs:
  build: {pipeline: parts/twice.yaml, retry: 1}
EOF2
cat >parts/twice.yaml <<EOF2
jobs:
  test: {run: 'if test -e $test_dir/tried; then echo the second; else echo the first; touch $test_dir/tried; false; fi'}
EOF2
exits "a job whose sub-run fails once" 0 titan --timeout 60s run -w again.yaml
run=$(titan --json ls | jq '[.[] | select(.name == "again")][0].run')
like "shows its last try" "$(titan logs "$run/build")" 'the second'
unlike "alone" "$(titan logs "$run/build")" 'the first'
like "an earlier one by its number" "$(titan logs --try 1 "$run/build")" '^build/test *\| the first'
unlike "alone" "$(titan logs --try 1 "$run/build")" 'the second'
like "the last one as well" "$(titan logs --try 2 "$run")" '^build/test *\| the second'
unlike "alone" "$(titan logs --try 2 "$run")" 'the first'
is "or all, each with its number" "$(titan logs --try all "$run" | grep -oE 'build try [12]/test try 1.*(first|second)' | grep -oE '^build try [12]|first|second' | paste -sd' ')" "build try 1 first build try 2 second"
is "for programs the run differs" "$(titan --json logs --try all "$run" | jq -r .run | sort -u | wc -l)" 2
unlike "unless sub-runs aren't wanted" "$(titan logs --no-sub --try all "$run" 2>&1)" 'first|second'

touch stop
exits "one whose sub-run fails" 1 titan --timeout 60s run -w outer.yaml
run=$(titan --json ls | jq '[.[] | select(.name == "outer")][0].run')
inner=$(child "$run" build)
is "fails with it" "$(job_state "$run" build)/$(job_state "$run" after)/$(run_state "$inner")" failed/skipped/failed
like "which explain says" "$(titan explain "$run/build")" "run $inner failed"
exits "the sub-run alone isn't run again" 1 titan retry "$inner"
like "but the job that it was for" "$err" "titan retry $run/build"
rm stop
exits "which is" 0 titan retry --failed "$run"
ok "and ends well" until_true 30 run_is "$run" succeeded
unlike "in another run" "$(child "$run" build)" "^$inner\$"

cat >slow.yaml <<'EOF2'
jobs:
  x: {run: "sleep 300"}
  y: {needs: x, run: "true"}
EOF2
printf 'jobs:\n  deep: {pipeline: slow.yaml}\n' >middle.yaml
printf 'jobs:\n  top: {pipeline: middle.yaml}\n' >top.yaml
exits "one within another" 0 titan -q run top.yaml
run=$out
ok "begins" until_true 30 has_child "$run" top
middle=$(child "$run" top)
ok "and what is within that" until_true 30 has_child "$middle" deep
slow=$(child "$middle" deep)
ok "runs" until_true 30 job_is "$slow" x running
kill -9 "$(master_pid)"
start_cluster --slots 2
ok "after a crash of the master all are as they were" until_true 30 job_is "$slow" x running
is "and the same" "$(child "$run" top)/$(child "$middle" deep)" "$middle/$slow"
is "running" "$(job_state "$run" top)/$(job_state "$middle" deep)" running/running
exits "cancelled from above" 0 titan -y cancel "$run"
ok "they end" until_true 30 run_is "$run" cancelled
is "from below" "$(run_state "$slow")/$(run_state "$middle")" cancelled/cancelled
ok "and no process is left" until_true 10 no_job_process

cat >matrix.yaml <<'EOF2'
jobs:
  each:
    matrix: {word: [sun, moon], max_parallel: 1}
    pipeline: parts/inner.yaml
    params: {word: "${matrix.word}"}
  last: {needs: each, run: "true"}
EOF2
exits "one for each value of a matrix" 0 titan --timeout 60s run -w matrix.yaml
run=$(titan --json ls | jq '[.[] | select(.name == "matrix")][0].run')
for at in 0 1; do titan logs "$(child "$run" "each[$at]")/first"; done >words
is "has its own parameters" "$(sort words | tr '\n' ' ')" "got moon got sun "
exits "a run with one can be held" 0 sh -c "$TITAN -q run top.yaml >held"
run=$(cat held)
ok "with what runs below" until_true 30 has_child "$run" top
middle=$(child "$run" top)
exits "by its number" 0 titan -q hold "$run"
is "both are" "$(titan --json show "$run" | jq '.[0] | .held')/$(titan --json show "$middle" | jq '.[0] | .held')" true/true
exits "and let go" 0 titan -q release "$run"
is "both, too" "$(titan --json show "$run" | jq '.[0] | .held')/$(titan --json show "$middle" | jq '.[0] | .held')" false/false
exits "before it is cancelled" 0 titan -y cancel "$run"
ok "and ends" until_true 30 run_is "$run" cancelled

printf 'jobs:\n  a: {pipeline: b.yaml}\n' >a.yaml
printf 'jobs:\n  b: {pipeline: a.yaml}\n' >b.yaml
exits "pipelines within themselves are refused" 2 titan validate a.yaml
like "with the chain" "$err" 'a.yaml -> b.yaml -> a.yaml'
printf 'jobs:\n  a: {pipeline: nowhere.yaml}\n' >bad.yaml
exits "so is a file that there isn't" 4 titan validate bad.yaml
like "at its place" "$err" "bad.yaml:2:17: error: can't open nowhere.yaml"
printf 'jobs:\n  a: {pipeline: parts/inner.yaml}\n' >bad.yaml
exits "a parameter that is missing" 2 titan validate bad.yaml
like "is named" "$err" "parameter 'word' is required"
printf 'jobs:\n  a: {pipeline: parts/inner.yaml, params: {word: x, wort: y}}\n' >bad.yaml
exits "one that there isn't" 2 titan validate bad.yaml
like "as well" "$err" "no parameter 'wort'"
printf 'jobs:\n  a: {pipeline: slow.yaml, run: "true"}\n' >bad.yaml
exits "a command beside it" 2 titan validate bad.yaml
: >empty.yaml
printf 'jobs:\n  a: {pipeline: empty.yaml}\n' >bad.yaml
exits "a file with nothing in it" 2 titan validate bad.yaml
like "is what is wrong" "$err" '^empty.yaml:1:1: error: the pipeline is empty'

done_testing
