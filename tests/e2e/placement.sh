# SPDX-License-Identifier: GPL-3.0-or-later
# Which worker gets which job: resources, affinity, pools, cordon and drain, with several workers on one master.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
worker() { # NAME OPTION...: a worker in the background
	local name=$1
	shift
	"$TITAN" worker start --name "$name" "$@" >"$name.log" 2>&1 </dev/null &
}
worker_is() { [ "$(titan --json worker ls | jq -r ".[] | select(.name == \"$1\") | .$2")" = "$3" ]; }
reason_is() { [ "$(titan --json explain "$1" | jq -r '.[0].reason')" = "$2" ]; }

exits "an amount of memory is one" 2 titan worker start --name x --memory lots
exits "a resource has a number" 2 titan worker start --name x --resource license
worker big --slots 4 --cpus 4 --memory 2G --gpus 1 --resource license=2 --pool eu
big=$!
ok "a worker with resources connects" until_true 10 worker_is big state up
like "and shows them" "$(titan worker ls)" 'cpus=0/4,gpus=0/1,license=0/2,memory=0/2G'

gate=$test_dir/go
cat >gpu.yaml <<END
jobs:
  first: {run: "until [ -e $gate ]; do sleep 0.05; done", gpus: 1}
  second: {run: echo \$TITAN_WORKER, resources: {license: 1}, worker: {gpus: 1}, priority: 10}
END
run=$(titan run gpu.yaml)
ok "a gpu job runs" until_true 10 job_is "$run" first running
ok "the other waits for the gpu" until_true 10 reason_is "$run/second" resources_busy
like "which is in use, and no license with it" "$(titan worker ls)" 'gpus=1/1,license=0/2'
exits "while others flow past it" 0 titan --timeout 20s run -w -e 'a*12; a=true'
none=$(titan run -e 'x; x=true gpus=2')
is "what nobody has is told" "$(titan --json explain "$none/x" | jq -r '.[0].reason')" no_worker_resources
touch "$gate"
exits "the gpu is free again: the other one runs" 0 titan --timeout 20s wait "$run"
is "where it is" "$(titan logs "$run/second")" big
like "and nothing is in use then" "$(titan worker ls)" 'gpus=0/1'

exits "a job may want the worker of its parent" 0 titan --timeout 30s run -w \
	-e 'p -> c; p="echo $TITAN_WORKER" worker=big; c="echo $TITAN_WORKER" affinity=parent'
is "and has it" "$(titan logs last/c)" big
cat >never.yaml <<END
jobs:
  p: {run: "true", worker: big}
  c: {run: "true", needs: [p], memory: 100G, affinity: {to: parent, hard: true}}
END
run=$(titan run never.yaml)
ok "one that must have it and asks for more than it has waits for ever" until_true 10 reason_is "$run/c" affinity_never
like "and is told so, in the words of its pipeline" "$(titan explain "$run/c")" "doesn't offer all of: memory=100G:"
exits "until somebody cancels it" 0 titan cancel "$run"

# All of them at once would be twelve; big has four slots and four cpus.
mkdir live
most() { # LINE...: the most of 12 such jobs that were on big at once
	printf 'jobs:\n  job:\n    matrix: {i: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}\n    worker: big\n' >capacity.yaml
	printf '    %s\n' "$@" "run: \"touch $test_dir/live/\${matrix.i}; ls $test_dir/live | wc -l >>$test_dir/most; sleep 0.2; rm $test_dir/live/\${matrix.i}\"" >>capacity.yaml
	: >most
	titan --timeout 60s run -w capacity.yaml >/dev/null && [ "$(wc -l <most)" = 12 ] && sort -n most | tail -n 1
}
ok "12 jobs on a worker of 4 slots: at most 4 run" test "$(most)" -le 4
ok "12 jobs of two cpus each on one of 4: at most 2" test "$(most 'cpus: 2')" -le 2
ok "12 jobs of a gpu each on one that has one: one after another" test "$(most 'gpus: 1')" = 1
like "and the gpu is free when they have ended" "$(titan worker ls)" 'gpus=0/1'

clients=
for client in 1 2 3 4 5; do
	(for n in $(seq 20); do titan run -e 'a; a=true' || echo failed; done >"client.$client" 2>&1) &
	clients="$clients $!"
done
wait $clients
is "20 submits each of five clients are 100 runs" "$(cat client.* | grep -x '[0-9]*' | sort -u | wc -l)" 100
exits "that all succeed" 0 titan --timeout 60s wait $(cat client.*)

# What is in use and what is kept free is said in the words of the pipeline.
cat >kept.yaml <<'Y'
jobs:
  first: {run: "sleep 100", cpus: 0.5, worker: {name: big}, priority: 90}
  large: {run: "true", cpus: 4, worker: {name: big}, priority: 80}
  small: {run: "true", cpus: 0.5, worker: {name: big}, priority: 70}
Y
kept=$(titan run kept.yaml)
ok "a large job finds no room" until_true 10 reason_is "$kept/large" resources_busy
like "and is told of what" "$(titan explain "$kept/large")" 'other jobs use the resources that the job asks for: cpus=4; worker big is reserved for this job'
ok "a small one behind it waits" until_true 10 reason_is "$kept/small" reserved
like "and is told for which" "$(titan explain "$kept/small")" "reserved for job $kept/large, which is larger and comes before this one"
titan cancel -w "$kept" >/dev/null

exits "a worker is cordoned" 0 titan cordon big
exits "twice is as good" 0 titan cordon big
held=$(titan run -e 'x; x=true worker=big')
ok "what must have it waits" until_true 10 reason_is "$held/x" worker_cordoned
pid=$(master_pid)
kill -9 "$pid"
until_true 10 process_gone "$pid"
titan up >/dev/null 2>&1
ok "the worker is back after the master was killed" until_true 20 worker_is big state up
ok "and still cordoned" worker_is big standing cordoned
exits "it is drained" 0 titan drain big
ok "and says so" worker_is big standing draining
exits "it is let go" 0 titan uncordon big
exits "and the job runs" 0 titan --timeout 20s wait "$held"
exits "a pool is closed" 0 titan pool set eu inactive
is "and listed so" "$(titan --json pool ls | jq -r '.[] | select(.name == "eu") | .state')" inactive
held=$(titan run -e 'x; x=true worker=big')
ok "nothing starts in it" until_true 10 reason_is "$held/x" pool_inactive
exits "it is opened" 0 titan pool set eu active
exits "and the job runs" 0 titan --timeout 20s wait "$held"
exits "a pool that nobody names isn't there" 4 titan pool set nowhere active
exits "a worker that is connected can't be forgotten" 75 titan worker rm big
kill "$big"
wait "$big" 2>/dev/null
ok "one that is gone" until_true 10 worker_is big state ended
exits "can" 0 titan worker rm big
exits "once" 4 titan worker rm big
done_testing
