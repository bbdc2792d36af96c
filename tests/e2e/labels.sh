# SPDX-License-Identifier: GPL-3.0-or-later
# A job runs only on workers with its labels, and one that no worker can serve keeps no other job waiting.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
exits "a label is a name" 2 titan worker start --name x --label 'a b'
"$TITAN" worker start --name special --slots 1 --label gpu --label fast >worker.log 2>&1 </dev/null &
special=$!
worker_up() { [ "$(state_of ".workers[] | select(.name == \"$1\") | .state")" = up ]; }
ok "a worker with labels connects" until_true 10 worker_up special
is "and tells them" "$(state_of '.workers[] | select(.name == "special") | .labels | sort | join(" ")')" "fast gpu"

cat >labels.yaml <<'END'
jobs:
  one: {run: echo $TITAN_WORKER, worker: {labels: [gpu]}}
  both: {run: echo $TITAN_WORKER, worker: {labels: [fast, gpu]}}
  each: {run: echo $TITAN_WORKER, matrix: {kind: [gpu, fast]}, worker: {labels: ["${matrix.kind}"]}}
END
exits "jobs that ask for labels run" 0 titan --timeout 20s run -w labels.yaml
run=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "where they are" "$(for job in one both 'each[0]' 'each[1]'; do titan logs "$run/$job"; done | sort -u)" special
exits "also from one line" 0 titan --timeout 20s run -w -e 'a; a="echo $TITAN_WORKER" label=gpu'
is "there" "$(titan logs last/a)" special

none=$(titan run -e "a; a=true label=nobody-has-this")
exits "jobs without labels go past one that nobody can serve" 0 \
	titan --timeout 20s run -w -e "a*20; a=true"
is "which still waits" "$(job_state "$none" a)" ready
like "and says for what" "$(titan show "$none/a")" 'nobody-has-this'
is "the reason is that no worker has its labels" "$(titan --json explain "$none/a" | jq -r '.[0].reason')" no_worker_labels
like "in words too" "$(titan explain "$none/a")" 'nobody-has-this'

exits "somebody shares a lock" 0 titan lock take db --shared
alone=$(titan run -e "a; a=true label=fast lock=db")
reader=$(titan run -e "a; a=true lock=db=shared")
like "who wants it alone keeps out who would share it" "$(titan explain "$reader/a")" "job $alone/a waits to have the lock alone, and comes first"
kill "$special"
wait "$special" 2>/dev/null
exits "but not while no worker can serve him" 0 titan --timeout 20s wait "$reader"
later=$(titan run -e "a; a=true label=fast")
exits "others go on without the worker" 0 titan --timeout 20s run -w -e "a; a=true"
is "what wants it waits" "$(job_state "$later" a)" ready
"$TITAN" worker start --name special --slots 1 --label fast >worker.log 2>&1 </dev/null &
special=$!
exits "and runs when it is back" 0 titan --timeout 20s wait "$later"
kill "$special"
wait "$special" 2>/dev/null
done_testing
