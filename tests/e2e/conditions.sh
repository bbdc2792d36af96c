# SPDX-License-Identifier: GPL-3.0-or-later
# Conditions over what jobs put out: when, needs and until, over restarts, and what explain says.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
state() { job_state last "$1"; }

cat >build.yaml <<'END'
params: {env: prod, changed: "yes", count: "12"}
jobs:
  build:
    run: titan output changed=${params.changed} count=${params.count} version=v1.20.3
    outputs: [changed, count, version]
  broken: {run: exit 3, outputs: [never]}
  each: {run: 'titan output n=$i', fan_out: 3, outputs: [n]}
  deploy: {run: echo deploy, when: jobs.build.outputs.changed == "yes" and jobs.broken.state == failed}
  many: {run: echo many, when: jobs.build.outputs.count > 9}
  few: {run: echo few, when: jobs.build.outputs.count <= 9}
  sum: {run: echo sum, when: jobs.build.outputs.count + 1 == 13}
  one: {run: echo one, when: 'jobs.build.outputs.version glob "v1.*" and not jobs.build.outputs.version glob "v1.2"'}
  listed: {run: echo listed, when: 'jobs.build.outputs.changed in ["yes", "true"]'}
  all: {run: echo all, when: '"2" in jobs.each.outputs.n and size(jobs.each.outputs.n) == 3'}
  lacks: {run: echo lacks, when: has(jobs.broken.outputs.never)}
  unequal: {run: echo unequal, when: jobs.broken.outputs.never != "x"}
  code: {run: echo code, when: 'jobs.broken.exit in [3, 4]'}
  state: {run: echo state, when: 'jobs.broken.state in [failed, timed_out] && params.env == "prod"'}
  pattern: {run: echo pattern, when: 'params.env matches "^prod|test$"'}
  needy: {run: echo needy, needs: "many or jobs.few.state == ok"}
END
exits "the pipeline is valid" 0 titan validate build.yaml
titan --timeout 60s run -w build.yaml >/dev/null 2>&1
is "a text is compared with an output, and a state" "$(state deploy)" succeeded
is "numbers are compared as numbers" "$(state many) $(state few) $(state sum)" "succeeded skipped succeeded"
is "glob and in take outputs" "$(state one) $(state listed)" "succeeded succeeded"
is "a fan-out's outputs are a list" "$(state all)" succeeded
is "has tells that an output isn't there" "$(state lacks)" skipped
is "and != is the opposite of ==" "$(state unequal)" succeeded
is "exit codes and states stand in lists" "$(state code) $(state state)" "succeeded succeeded"
is "matches takes parameters" "$(state pattern)" succeeded
is "needs have the same words" "$(state needy)" succeeded
like "explain names the part and the value" "$(titan explain last/few)" 'jobs\.build\.outputs\.count <= 9 is false: jobs\.build\.outputs\.count is "12"'
like "and an output that isn't there" "$(titan explain last/lacks)" 'has\(jobs\.broken\.outputs\.never\) is false: jobs\.broken\.outputs\.never is not there'
titan --timeout 60s run -w -p changed=no -p count=nothing build.yaml >/dev/null 2>&1
is "other values decide otherwise" "$(state deploy) $(state listed)" "skipped skipped"
is "a text that is no number is neither more nor less" "$(state many) $(state few)" "skipped skipped"
titan graph last --yaml >again.yaml
exits "the graph as YAML is a pipeline with the same conditions" 0 titan validate again.yaml
like "which has them as they were written" "$(cat again.yaml)" 'jobs\.build\.outputs\.count > 9'

cat >loop.yaml <<'END'
jobs:
  poll:
    run: |
      echo x >>polls
      titan output ready=$([ $(wc -l <polls) -ge 3 ] && echo yes || echo no) seen=$(wc -l <polls)
    outputs: [ready, seen]
    loop: {until: 'outputs.ready == "yes" and outputs.seen >= 2', max: 9}
  after: {run: echo after, when: jobs.poll.outputs.seen == 3}
END
exits "a loop ends by what its pass put out" 0 titan --timeout 60s run -w loop.yaml
is "after the pass that said so" "$(wc -l <polls)" 3
is "and the outputs of the last pass are those of the job" "$(titan --json show last/poll | jq -r '.[0].outputs | join(" ")') $(state after)" "ready=yes seen=3 succeeded"

# The master dies between the end of the job that puts out and that of another one in the same condition.
cat >late.yaml <<END
jobs:
  first: {run: titan output v=7, outputs: [v]}
  second: {run: 'until [ -e $PWD/go ]; do sleep 0.05; done; titan output v=8', outputs: [v]}
  less: {run: echo less, when: jobs.first.outputs.v < jobs.second.outputs.v}
  more: {run: echo more, when: jobs.first.outputs.v > jobs.second.outputs.v}
END
run=$(titan -q run late.yaml)
first_done() { job_is "$run" first succeeded && job_is "$run" second running; }
ok "one of two jobs has ended" until_true 60 first_done
pid=$(master_pid)
kill -KILL "$pid"
ok "the master is killed" until_true 20 process_gone "$pid"
start_cluster --slots 4
is "the condition waits" "$(job_state "$run" less)" waiting
touch go
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "and has both values" "$(job_state "$run" less) $(job_state "$run" more)" "succeeded skipped"

done_testing
