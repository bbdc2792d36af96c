# SPDX-License-Identifier: GPL-3.0-or-later
# A graph that is written as a pipeline is the same graph: of a run, of a file and of a line, whatever its texts are.
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
start_cluster --slots 4 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)

# The jobs of a run or file as data, without what a run adds to them.
shape() { titan graph "$@" --json | jq -S '[.[] | {name, needs, index}]'; }
# Runs the pipeline and gives the number of the run.
run_file() { titan -q run -w "$1" >"$test_dir/number" 2>&1; head -n 1 "$test_dir/number"; }
# The settings of all jobs, as far as titan shows them.
jobs_of() { for job in $(titan --json show "$1" | jq -r '.[0].jobs[].name'); do
	titan --json show "$1/$job" | jq -S '.[0] | {name, command, priority, mode, labels, asks, timeout_ms, retry_max, when, needs_text, loop_until, env, dir}'
done; }

cat >etl.yaml <<'EOF'
name: etl
params: {who: {default: world}}
env: {GREETING: "hello: there # not a comment"}
concurrency: {max_jobs: 3}
jobs:
  script:
    description: several lines, with a tab
    run: |
      set -e
      if true; then
      	echo "${params.who} says '$GREETING'"
      fi
  words: {command: [printf, '%s|', 'a b', "it's", '"', '$HOME'], needs: [script], retry: {max: 2, backoff: 10ms..1s}}
  fan: {run: 'echo ${matrix.a}-${matrix.b}; true', matrix: {a: [x, y], b: ['1', '2']}, needs: [words], env: {A: '${matrix.a}'}}
  count: {run: 'echo $i', matrix: {n: [a, b, c]}, priority: 70, timeout: 5m}
  either: {run: 'true', needs: {any: 2, of: [words, fan, count]}, when: "'${params.who}' == 'world' && words.code == 0"}
  sub:
    needs: [either]
    pipeline:
      env: {IN: inner}
      jobs: {one: {run: 'echo $IN $i', fan_out: [p, 'q r']}, two: {run: 'true', needs: [one]}}
finally:
  tidy: {run: 'echo tidy; true', needs: ['script:ok']}
EOF
first=$(run_file etl.yaml)
is "the pipeline runs" "$(run_state "$first")" succeeded
exits "a run is written as a pipeline" 0 titan graph "$first" --yaml
printf '%s\n' "$out" >again.yaml
like "a script keeps its lines" "$out" '^    run: \|'
ok "which is valid" titan validate again.yaml
second=$(run_file again.yaml)
is "and runs" "$(run_state "$second")" succeeded
is "both runs have the same graph" "$(shape "$second")" "$(shape "$first")"
is "and the same settings" "$(jobs_of "$second")" "$(jobs_of "$first")"
is "and the same output" "$(titan logs "$second/words")$(titan logs "$second/script")$(titan logs "$second/fan[3]")" \
	"$(titan logs "$first/words")$(titan logs "$first/script")$(titan logs "$first/fan[3]")"
is "its own pipeline is the same again" "$(titan graph "$second" --yaml 2>&1 | sed '/^jobs without/d')" "$(sed '/^jobs without/d' again.yaml)"
is "a file is written as one, with its parameters" "$(titan graph etl.yaml --yaml)" "$(cat again.yaml)"
is "from standard input, too" "$(titan graph - --yaml <etl.yaml)" "$(cat again.yaml)"
like "other values give another one" "$(titan graph etl.yaml -p who=anna --yaml)" 'TITAN_P_who: anna'

titan graph -e "a -> {b*3, m*{x,'y z'}} -> ?q -> c!; a='echo \${params.none} \$i && exit 0'; b=true; m='echo \$i' label=l; q='go on?' count=2; c='sleep 0'" \
	--yaml >line.yaml
is "a line is written as a pipeline" $? 0
is "with the same graph" "$(shape line.yaml)" "$(shape -e "a -> {b*3, m*{x,'y z'}} -> ?q -> c!; a=x; b=x; m=x; q='?'; c=x")"
like "a fan-out is one job" "$(cat line.yaml)" 'fan_out: 3'
run=$(titan -q run -e "m*{x,'y z'}; m='echo \$i \$TITAN_ITEM'")
ok "items" titan wait "$run"
titan graph "$run" --yaml >items.yaml
run=$(run_file items.yaml)
is "keep their values" "$(titan logs "$run/m[1]")" "y z y z"

run=$(titan -q run -e "a='sleep 60' env=TOKEN=s3cret" --env B=2)
grown=$(printf 'jobs: {late: {run: "echo late", needs: [a]}}\n' | titan -q run --into "$run" -)
like "jobs that were added later are there" "$(titan graph "$run" --yaml)" 'late:'
like "and variables of the command line" "$(titan graph "$run" --yaml)" 'B: "2"'
titan -q -y cancel "$run" >/dev/null 2>&1

run=$(titan -q run -e "a='printf \"\\377\"; true'" 2>/dev/null; printf '')
printf 'printf "\377"; true\n' | titan -q run --lines >"$test_dir/number" 2>/dev/null
run=$(head -n 1 "$test_dir/number")
exits "bytes that YAML has no form for are refused" 2 titan graph "$run" --yaml
like "and the job and setting are named" "$err" "no form for the setting 'run' of job '1'"
is "and nothing is printed" "$out" ""

titan token add anna --role viewer -o anna.key
titan token add olga --role operator -o olga.key
as() { TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$1.key" "${@:2}"; }
exits "a viewer isn't shown the variables of others" 3 as anna graph "$first" --yaml
like "and is told why" "$err" "somebody else submitted run $first"
unlike "no value gets out" "$out$err" 'hello'
exits "an operator sees all" 0 as olga graph "$first" --yaml
like "with their values" "$out" 'GREETING: "hello: there'

exits "one format at a time" 2 titan graph "$first" --yaml --dot
exits "and not as data, too" 2 titan graph "$first" --yaml --json
exits "a run that isn't there" 4 titan graph 4711 --yaml
like "is named" "$err" 'no run 4711'
exits "a file with a fault" 2 titan graph -e 'a -> ' --yaml

done_testing
