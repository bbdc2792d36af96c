# SPDX-License-Identifier: GPL-3.0-or-later
# Concurrency groups: runs one after another, and jobs of several runs within one limit, also over kill -9.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 6
field() { titan --json group ls | jq -r ".[] | select(.name == \"$1\") | $2"; }
count() { titan --json show "$1" | jq ".[0] | [.jobs[] | select(.state == \"running\")] | length"; }
running() { [ "$(count "$1")" = "$2" ]; }

cat >deploy.yaml <<END
name: deploy
params: {env: {default: stg}}
concurrency: {max_jobs: 5, group: "deploy-\${params.env}"}
jobs:
  build: {run: "until [ -e $test_dir/gate ]; do sleep 0.05; done", matrix: {part: [a, b]}}
  push: {run: "true", needs: build}
END
first=$(titan run -p env=prod deploy.yaml)
ok "the first deploy runs, both its jobs" until_true 10 running "$first" 2
second=$(titan run -p env=prod deploy.yaml)
other=$(titan run deploy.yaml)
ok "one to another place doesn't wait for it" until_true 10 running "$other" 2
is "the second to the same does" "$(count "$second")" 0
is "and says so" "$(titan --json explain "$second/build[0]" | jq -r '.[0].reason')" concurrency_runs
like "with the run that goes" "$(titan explain "$second/build[0]")" "1 run of the concurrency group deploy-prod is going, and the limit is 1: run $first"
is "the group has one run" "$(field deploy-prod .active_runs)" 1
is "of one at most" "$(field deploy-prod .max)" 1
is "a run says its group" "$(titan --json show "$first" | jq -r '.[0] | .group')" deploy-prod
is "and that it has its place" "$(titan --json show "$first" | jq -r '.[0] | .seated')" true

pid=$(master_pid)
kill -KILL "$pid"
ok "the master is gone" until_true 10 process_gone "$pid"
titan up >/dev/null 2>&1
ok "and back" until_true 10 worker_is_up
is "the place is still taken" "$(field deploy-prod .active_runs)" 1
touch gate
exits "the first ends" 0 titan --timeout 20s wait "$first"
exits "and the second begins and ends" 0 titan --timeout 20s wait "$second"
exits "as does the other" 0 titan --timeout 20s wait "$other"
rm gate

one=$(titan run -e "a*3; a='until [ -e $test_dir/gate ]; do sleep 0.05; done' concurrency=db")
ok "one job of the group is out" until_true 10 running "$one" 1
two=$(titan run -e "b; b='until [ -e $test_dir/gate ]; do sleep 0.05; done' concurrency=db")
is "another run's job waits for it" "$(titan --json explain "$two/b" | jq -r '.[0].reason')" concurrency_jobs
is "with what it names" "$(titan --json show "$two/b" | jq -r '.[0] | .concurrency[0]')" db
exits "with a higher limit" 0 titan group set db --max 3
ok "more go" until_true 10 running "$one" 3
is "which is set" "$(field db .set)" true
is "and one waits" "$(field db .waiting)" 1
exits "a limit that nobody set can't be taken back" 4 titan group rm nowhere
exits "a limit is given" 2 titan group set db
exits "and is at least one" 2 titan group set db --max 0
exits "what was set is taken back" 0 titan group rm db
is "and it is one again" "$(field db .max)" 1
touch gate
exits "all ends" 0 titan --timeout 20s wait "$one"
exits "the last too" 0 titan --timeout 20s wait "$two"

cat >bad.yaml <<'END'
jobs:
  a: {run: "true", concurrency: [db, {group: db, max_jobs: 3}]}
END
exits "a group is named once" 2 titan validate bad.yaml
like "or it is told where" "$err" 'bad.yaml:2:38'
printf 'concurrency: {max_runs: 3}\njobs: {a: {run: "true"}}\n' >bad.yaml
exits "max_runs wants a group" 2 titan validate bad.yaml
like "which is said" "$err" 'max_runs limits the runs of a group, but the pipeline names no group'
printf 'jobs: {a: {run: "true", concurrency: {max: 3}}}\n' >bad.yaml
exits "a key is known" 2 titan validate bad.yaml
like "or named" "$err" "unknown key 'max'"
done_testing
