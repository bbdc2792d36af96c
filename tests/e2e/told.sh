# SPDX-License-Identifier: GPL-3.0-or-later
# What commands print about waiting and errors: why a run stands still, errors as JSON, needs and conditions in tables,
# and requests that can't be met.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2

# --- why nothing happens is the master's reason ---
run=$(titan run -e "gpu; gpu='true' label=nobody-has-this")
timeout 60 "$TITAN" watch "$run" >"$test_dir/watch.out" 2>&1 &
watcher=$!
ok "a run that stands still says why" until_true 30 grep -q "gpu waits: .*nobody-has-this" "$test_dir/watch.out"
like "and what to do" "$(cat "$test_dir/watch.out")" 'next: titan worker ls'
kill "$watcher"
titan cancel "$run" >/dev/null
run=$(titan run -e "later; later='true' delay=1h")
timeout 60 "$TITAN" watch "$run" >"$test_dir/watch.out" 2>&1 &
watcher=$!
ok "a delay is told as such" until_true 30 grep -q "later waits: the job is due in" "$test_dir/watch.out"
kill "$watcher"
unlike "a first delay is no retry" "$(titan status)" 'RETRY'
like "it is one that comes later" "$(titan status)" 'LATER 1'
titan cancel "$run" >/dev/null

# --- errors under --json are one value ---
error_of() { printf '%s\n' "$err" | jq -c "$1"; }
exits "a run that isn't there" 4 titan --json show 4711
is "is an object" "$(error_of '.error | [.code, .status, .next]')" '["NOT_FOUND",4,"titan ls"]'
is "and nothing else" "$(printf '%s\n' "$err" | wc -l)" 1
exits "a word that isn't one" 2 titan --json shw
is "likewise, before it is understood" "$(error_of '.error.code')" '"USAGE"'
printf 'jobs:\n  a: {run: "true", needs: [nope]}\n' >bad.yaml
exits "a pipeline that is wrong" 2 titan --json run bad.yaml
is "has its place" "$(error_of '.error | [.file, .line, .column]')" '["bad.yaml",2,28]'
exits "without --json it is for people" 4 titan show 4711
like "as before" "$err" '^titan: there is no run 4711$'

# --- tables say what was written ---
cat >wants.yaml <<'END'
jobs:
  a: {run: "true"}
  b: {run: exit 3}
  join: {run: "true", needs: {any: 2, of: [a, b, c]}}
  c: {run: "true", needs: [b], when: "b.code == 3"}
END
like "plan shows a join" "$(titan plan wants.yaml)" '^join .*2 of \(a, b, c\)'
like "and a condition" "$(titan plan wants.yaml)" '^c .*when b\.code == 3'
printf 'params: {env: stg}\njobs: {only: {run: x, when: "${params.env} == '"'prod'"'"}}\n' >only.yaml
like "also of one that needs nothing" "$(titan plan only.yaml)" "^only +when 'stg' == 'prod'"
run=$(titan run wants.yaml)
until_true 20 run_ended "$run"
like "so does show" "$(titan show "$run")" '^join .*2 of \(a, b, c\)'
like "with the condition" "$(titan show "$run")" '^c .*when b\.code == 3'
is "in JSON needs are a list" "$(titan --json show "$run" | jq -c '.[0] | .jobs[2].needs')" '["a","b","c"]'
unlike "quiet means no header" "$(titan -q ls)" 'PIPELINE'

# --- explain ---
run=$(titan run -e "?gate -> behind; gate='good?'; behind=true; fan*3; fan='exit \$i'")
until_true 20 job_is "$run" gate approval
like "what waits for a gate: the command is about the gate" "$(titan explain "$run/behind")" "next +titan approve $run/gate\$"
until_true 20 job_is "$run" "fan[2]" failed
exits "a fan-out as a whole" 0 titan explain "$run/fan"
like "those that failed share a row" "$out" '^ *2 .*fan\[1\],[0-9]*/fan\[2\]'
unlike "and not the others" "$out" 'fan\[0\]'
like "are counted" "$err" '^1 of 3 jobs'
is "as a list in JSON" "$(titan --json explain "$run/fan" 2>/dev/null | jq -c '.[].alike')" "[\"$run/fan[1]\",\"$run/fan[2]\"]"
exits "what isn't there isn't" 4 titan explain "$run/fa"
titan cancel "$run" >/dev/null

# --- what can't be ---
printf 'jobs:\n  a: {run: "true", deadline: 2020-01-01T00:00Z}\n' >bad.yaml
exits "a deadline that has passed isn't valid" 2 titan validate bad.yaml
like "and named" "$err" "deadline of job 'a' is in the past"
printf 'jobs:\n  a: {run: "true", deadline: 1m, delay: 2m}\n' >bad.yaml
exits "nor a delay beyond the deadline" 2 titan validate bad.yaml
like "with its place" "$err" 'bad.yaml:2:3: error: .*delay'
printf 'jobs:\n  a: {run: "true", zzzzzzz: 1}\n' >bad.yaml
exits "a key like no other" 2 titan validate bad.yaml
like "has a list of those there are" "$err" 'known here: .*needs, '
printf 'jobs:\n  a: {run: "true", needs: [f]}\nfinally:\n  f: {run: "true"}\n' >bad.yaml
exits "a need of a final job" 2 titan validate bad.yaml
like "isn't told as a cycle" "$err" "'f', a final job"

done_testing
