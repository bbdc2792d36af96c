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

# Labels have values, and jobs say what they must be like.
for at in 'near a ssd' 'far b hdd'; do
	set -- $at
	"$TITAN" worker start --name "$1" --slots 1 --label "zone=$2" --label "disk=$3" >>worker.log 2>&1 </dev/null &
done
ok "workers with values connect" until_true 10 eval 'worker_up near && worker_up far'
where() { titan --timeout 20s run -w "$@" >/dev/null && titan logs last/a; }
cat >values.yaml <<'END'
jobs:
  a: {run: echo $TITAN_WORKER, labels: [disk=ssd, '!spot', 'zone in (a, c)']}
END
is "a pipeline asks for values" "$(where values.yaml)" near
is "one line does" "$(where -e "a; a='echo \$TITAN_WORKER' label='zone notin (a,c)' label=zone")" far
is "so does an option" "$(where --label 'zone != a' --label disk -e "a; a='echo \$TITAN_WORKER'")" far
cat >matrix.yaml <<'END'
jobs:
  a: {run: echo $TITAN_WORKER, matrix: {zone: [a, b]}, labels: ["zone in (${matrix.zone}, none)"]}
END
exits "a matrix fills them in" 0 titan --timeout 20s run -w matrix.yaml
is "job by job" "$(titan logs 'last/a[0]') $(titan logs 'last/a[1]')" "near far"
is "worker ls takes the same words" "$(titan worker ls --label 'zone notin (b)' --label zone --json | jq -r '.[].name')" near
none=$(titan run -e "a; a=true label=disk=ssd label=zone=b label=gpu=a100")
like "explain names what nobody has, and who comes nearest" "$(titan explain "$none/a")" \
	"no connected worker meets the label requirement gpu=a100; worker .* comes nearest, but doesn't meet"
is "jobs are selected by what they require" "$(titan ls 'label=gpu=a100' --json | jq -r '.[].run' | sort -u)" "$none"
exits "and by a key alone" 0 titan cancel -y label=gpu
exits "a wrong word is pointed at" 2 titan run -e "a; a=true label='zone im (a,b)'"
like "with what was meant" "$err" "did you mean 'zone in"
exits "in an option too" 2 titan run --label 'disk==ssd' -e "a; a=true"
exits "a worker has one value for a key" 2 titan worker start --name x --label zone=a --label zone=b
like "and is told so" "$err" "label zone has two values"
exits "no escape gets to the terminal" 2 titan run --label "$(printf '\033[31m')" -e "a; a=true"
unlike "as it is" "$err" "$(printf '\033')"
for worker in near far; do titan drain "$worker" >/dev/null; done
kill $(jobs -p) 2>/dev/null
wait
done_testing
