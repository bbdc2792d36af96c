# SPDX-License-Identifier: GPL-3.0-or-later
# Pipelines in YAML: mistakes are reported with their place, and correct pipelines run as they say.
examples=$(cd "$(dirname "$0")/../../share/examples" && pwd)
. "$(dirname "$0")/lib.sh"

cat >good.yaml <<END
name: build
params: {who: {required: true}, level: {enum: [low, high], default: low}}
env: {GREETING: hello}
concurrency: {max_jobs: 3}
jobs:
  start:
    run: echo "\$GREETING \${params.who} \${params.level}"
  make:
    needs: [start]
    matrix: {os: [deb, bsd], bits: ["32", "64"], max_parallel: 1}
    run: |
      test ! -e $test_dir/busy || exit 9
      touch $test_dir/busy
      echo "\${matrix.os}\${matrix.bits}" >>$test_dir/made
      rm $test_dir/busy
  broken: {needs: make, command: [sh, -c, "exit 3"], retry: {max: 1, backoff: 10ms}}
  never: {needs: broken, run: "true"}
  repair: {needs: broken.failed, command: [touch, $test_dir/repaired]}
finally:
  end: {run: echo end >>$test_dir/made}
END

exits "a parameter is required" 2 titan plan good.yaml
like "with its place" "$err" '^good.yaml:2:10: error: .*who.*required'
exits "a pipeline is valid" 0 titan validate -p who=you good.yaml
like "and has so many jobs" "$out" '9 jobs'
exits "its plan" 0 titan --json plan -p who=you good.yaml
is "names all jobs" "$(printf '%s' "$out" | jq -r '[.[].name] | join(" ")')" \
	"start make[0] make[1] make[2] make[3] broken never repair end"
is "with variables for their parameters" "$(printf '%s' "$out" | jq -r '.[0].command')" \
	'echo "$GREETING ${TITAN_P_who} ${TITAN_P_level}"'
exits "a wrong value" 2 titan plan -p who=you -p level=mid good.yaml
like "is told" "$err" 'low, high'
exits "a parameter that isn't there" 2 titan plan -p who=you -p lvl=low good.yaml

printf 'jobs:\n  unpack: {run: x}\n  encode:\n    run: x\n    needs: [unpak]\n' >bad.yaml
exits "an unknown job is refused" 2 titan validate bad.yaml
is "with line, column, caret and suggestion" "$err" "bad.yaml:5:13: error: job 'encode' needs 'unpak', which does not exist
    5 |     needs: [unpak]
      |             ^~~~~ did you mean 'unpack'?"
printf 'jobs:\n  a:\n    rnu: x\n' >bad.yaml
exits "an unknown key is refused" 2 titan validate bad.yaml
like "with its place" "$err" "^bad.yaml:3:5: error: unknown key 'rnu'"
printf 'jobs:\n  a: {run: echo ${params.x}}\n' >bad.yaml
exits "braces in braces" 2 titan validate bad.yaml
like "have an explanation" "$err" 'put a text with'
printf 'jobs:\n  a: {run: "\033[2J"\n' >bad.yaml
exits "what isn't YAML is refused" 2 titan validate bad.yaml
unlike "and isn't echoed as it is" "$err" $'\x1b'
exits "no such file" 4 titan validate nowhere.yaml
exits "a directory" 71 titan validate .
for example in "$examples"/*.yaml; do
	exits "$(basename "$example") is valid" 0 titan validate "$example" \
		$(grep -q 'version: {required' "$example" && echo -p version=1) \
		$(grep -q 'film: {required' "$example" && echo -p film=x.mkv) \
		$(grep -q 'system: {required' "$example" && echo -p system=linux)
done

start_cluster --slots 4
exits "a wrong pipeline isn't submitted" 2 titan run bad.yaml
is "there is no run" "$(titan --json ls | jq length)" 0
exits "a right one runs" 1 titan --timeout 60s run -w -p who='all of you' good.yaml
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "under its name" "$(titan --json show "$run" | jq -r '.[0] | .name')" build
is "its parameters were put in" "$(titan logs "$run/start")" "hello all of you low"
is "each value of the matrix had its job, one at a time, and the end came last" \
	"$(head -n 4 made | sort | tr '\n' ' ')$(tail -n 1 made)" "bsd32 bsd64 deb32 deb64 end"
is "the job that fails was tried twice" "$(titan --json show "$run" | jq '.[0] | .jobs[] | select(.name == "broken") | .tries')" 2
is "its dependent is skipped" "$(job_state "$run" never)" skipped
is "its repair ran" "$(job_state "$run" repair)" succeeded
is "and the final one" "$(job_state "$run" end)" succeeded

cat >chosen.yaml <<'END'
jobs:
  build:
    matrix: {os: [deb, bsd], bits: ["32", "64"], exclude: [{os: bsd, bits: "32"}], include: [{os: mac, bits: "64"}]}
    run: echo ${matrix.os}${matrix.bits}
END
exits "a matrix without a combination and with a job beside" 0 titan --timeout 60s run -w chosen.yaml
is "has these jobs" "$(for i in 0 1 2; do titan logs "last/build[$i]"; done | tr '\n' ' ')" "deb32 deb64 bsd64 "
is "the added one is the last" "$(titan logs 'last/build[3]')" mac64
is "and no other" "$(titan --json show last | jq '.[0].jobs | length')" 4

cat >fast.yaml <<'END'
concurrency: {max_jobs: 1}
jobs:
  m:
    matrix: {n: ["0", "1", "2", "3"], fail_fast: true}
    run: test ${matrix.n} != 0
  other: {run: "true", needs: m.done}
END
exits "the first failure of a matrix ends the rest of it" 1 titan --timeout 20s run -w fast.yaml
is "the others never ran" "$(titan --json show last | jq -r '.[0] | [.jobs[] | select(.name | startswith("m[")) | .state] | join(" ")')" \
	"failed cancelled cancelled cancelled"
is "what waits for its end did" "$(job_state last other)" succeeded

printf 'jobs:\n  a: {run: sleep 1000, delay: 1h}\n' >later.yaml
run=$(titan run later.yaml)
is "a run has its file's name" "$(titan --json show "$run" | jq -r '.[0] | .name')" later
ok "a delayed job is delayed" until_true 10 job_is "$run" a delayed
titan -y cancel "$run" >/dev/null
done_testing
