# SPDX-License-Identifier: GPL-3.0-or-later
# titan run --again submits the graph of an earlier run once more; a command ends with the exit code of the job that
# failed.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
cat >work.yaml <<'END'
name: work
concurrency: {max_jobs: 2}
params: {code: {default: "3"}}
jobs:
  a: {run: "echo a >>${params.code}.out; exit ${params.code}", dir: DIR}
  b: {run: "true", needs: {any: 1, of: [a, c]}}
  c: {run: sleep 600, matrix: {n: [1, 2, 3]}}
END
sed -i "s|DIR|$test_dir|" work.yaml
run=$(titan run -p code=7 work.yaml)
ok "a run goes" until_true 20 job_is "$run" a failed

# --- while it lives, and with what was added to it left out ---
titan run --into "$run" -e "more; more=true" >/dev/null
again=$(titan run --again "$run")
ok "it is submitted again" test "$again" -gt "$run"
names() { titan --json show "$1" | jq -c '.[0] | [.jobs[] | [.name, .needs, .when]]'; }
is "as it was submitted" "$(names "$again")" "$(titan --json show "$run" | jq -c '.[0] | [.jobs[] | select(.name != "more") | [.name, .needs, .when]]')"
is "with its name" "$(titan --json show "$again" | jq -r '.[0] | .name')" work
ok "and its parameters" until_true 20 job_is "$again" a failed
is "each of the two has run" "$(wc -l <7.out)" 2
two_run() { [ "$(titan --json show "$again" | jq '.[0] | [.jobs[] | select(.state == "running")] | length')" = 2 ]; }
titan cancel "$run" >/dev/null
ok "two at a time, as before" until_true 20 two_run
titan cancel "$again" >/dev/null

# --- when it has ended, once by key, over a restart ---
ok "it ends" until_true 20 run_ended "$run"
key=0123456789abcdef0123456789abcdef
first=$(titan run --again "$run" --submit-key $key --name second)
is "it may have another name" "$(titan --json show "$first" | jq -r '.[0] | .name')" second
kill -KILL "$(master_pid)"
start_cluster
is "the same key is the same run" "$(titan run --again "$run" --submit-key $key --name second)" "$first"
exits "with another name it is another content" 2 titan run --again "$run" --submit-key $key --name third
titan cancel "$first" >/dev/null
exits "a run that isn't there" 4 titan run --again 4711
exits "what would change it is refused" 2 titan run --again "$run" --retry 3
like "with what goes along" "$err" 'only --name'

# --- propagate ---
exits "a job's own code" 7 titan run -w --propagate -e "a; a='exit 7'"
exits "without it a failure is 1" 1 titan run -w -e "a; a='exit 7'"
exits "what failed first" 5 titan run -f --propagate -e "a -> b; a='exit 5'; b=true; a:failed -> c; c='exit 6'"
exits "a signal counts from 128" 137 titan run -w --propagate -e "a; a='kill -9 \$\$'"
exits "a good end is 0" 0 titan run -w --propagate -e "a; a=true"
exits "somebody has to wait" 2 titan run --propagate -e "a; a=true"

done_testing
