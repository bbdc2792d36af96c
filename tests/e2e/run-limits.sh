# SPDX-License-Identifier: GPL-3.0-or-later
#
# titan run with limits and demands for all jobs of a run: --max-jobs, --cpus, --memory, --gpus, --label; and the output of
# many jobs in their order.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 8
titan worker start --name big --label fast --gpus 2 --cpus 4 --memory 4G 2>"$test_dir/big.log" &
big=$!
has_big() { [ "$(state_of '.workers[] | select(.name == "big") | .state')" = up ]; }
ok "there is a second worker" until_true 30 has_big

# --- at most N at once: each job says how many there are while it runs ---
mkdir at
cat >one <<'END'
#!/bin/sh
touch "at/$1"
ls at | wc -l >>"seen"
until [ "$(ls at | wc -l)" -ge "$2" ] || [ -e "enough" ]; do sleep 0.02; done
touch enough
rm "at/$1"
END
chmod +x one
exits "many lines, two at once" 0 sh -c 'seq 20 | sed "s/.*/.\/one & 2/" | "$TITAN" --timeout 120s run --lines -j 2 -w'
is "there are two at once, and never more" "$(sort -n seen | tail -n 1)" 2
is "all ran" "$(wc -l <seen)" 20
rm -f seen enough
exits "so it is with a graph" 0 titan --timeout 120s run -w --max-jobs 3 -e 'one*12; one="./one $i 3"'
is "three at once" "$(sort -n seen | tail -n 1)" 3
printf 'concurrency: {max_jobs: 8}\njobs: {o: {run: "./one ${matrix.i} 2", matrix: {i: [1, 2, 3, 4, 5, 6]}}}\n' >many.yaml
rm -f seen enough
exits "and with a pipeline" 0 titan --timeout 120s run -w -j 2 many.yaml
is "whose own limit it replaces" "$(sort -n seen | tail -n 1)" 2
for bad in 0 -1 x 5000000; do exits "-j $bad" 2 titan run "-j$bad" -e a=true; done
exits "a single command" 2 titan run -j 2 -- true
like "has nothing to limit" "$err" 'this run has only one'
exits "added jobs" 2 titan run --into 1 -j 2 -e a=true
like "neither" "$err" 'the existing run keeps its limit'

# --- what jobs need ---
is "each job needs it" "$(titan --json run -n --cpus 2 --memory 512M --gpus 1 --label fast -e 'a=true; b=true' | jq -c '.[] | [.asks, .labels]' | sort -u)" \
	'[["cpus=2","memory=512M","gpus=1"],["fast"]]'
is "a job's own come first" "$(titan --json run -n --cpus 2 --label x -e 'a=true cpus=4 label=y' | jq -c '.[0] | [.asks, .labels]')" '[["cpus=4"],["y"]]'
is "lines, too" "$(echo true | titan --json run -n --lines --cpus 0.5 | jq -c '.[0].asks')" '["cpus=0.5"]'
is "and commands" "$(titan --json run -n --gpus 1 -- true | jq -c '.[0].asks')" '["gpus=1"]'
is "gates and joins need no worker" "$(titan --json run -n --gpus 1 --label x -e '?g -> n; g="go?"; n="" kind=noop' | jq -c '[.[] | .asks, .labels] | add')" '[]'
run=$(titan run -w --gpus 1 -- true)
is "a job goes where there are gpus" "$(titan --json show "$run" | jq -r '.[0].jobs[0].worker')" big
run=$(titan run -w --label fast -e 'a=true')
is "or where the label is" "$(titan --json show "$run" | jq -r '.[0].jobs[0].worker')" big
printf 'jobs: {s: {pipeline: inner.yaml}}\n' >outer.yaml
printf 'jobs: {a: {run: "true"}}\n' >inner.yaml
run=$(titan run -w --label fast outer.yaml)
is "also in a sub-run" "$(titan --json show "$((run + 1))" | jq -r '.[0].jobs[0].worker')" big
for bad in '--cpus 0' '--cpus many' '--memory lots' '--gpus 0.5' '--gpus 0' '--label a==b' '--label='; do
	# shellcheck disable=SC2086
	exits "$bad" 2 titan run $bad -e a=true
	like "is named" "$err" "${bad%%[ =]*}"
done

# --- output in the order of input ---
# The first jobs end last: each waits for the one after it.
cat >late <<'END'
#!/bin/sh
[ "$1" = 8 ] || until [ -e "done.$(($1 + 1))" ]; do sleep 0.02; done
echo "out $1"
echo "err $1" >&2
touch "done.$1"
END
chmod +x late
lines() { seq 8 | sed 's/.*/.\/late &/' | titan --timeout 120s run --lines "$@" >out 2>err; }
ok "lines" lines --keep-order -w
is "their output is in the order of input" "$(cat out)" "$(seq 8 | sed 's/^/out /')"
is "so is standard error" "$(grep '^err' err)" "$(seq 8 | sed 's/^/err /')"
like "the run's number is on standard error" "$(head -n 1 err)" '^run [0-9]+$'
rm -f done.*
ok "with -f" lines --keep-order -f
is "it is the same" "$(cat out)" "$(seq 8 | sed 's/^/out /')"
seq 300 | sed 's/.*/printf "<%s>\\n" &/' | titan -q run --lines --keep-order -w >out 2>err
is "three hundred come whole" "$(cat out)" "$(seq 300 | sed 's/.*/<&>/')"
is "and quietly" "$(cat err)" ''
exits "jobs of a graph are in its order" 0 titan run -q -w --keep-order -e 'a -> b; a="echo first"; b="echo second"; n*3; n="echo $i"'
is "of their first mention" "$(echo $out)" 'first second 0 1 2'
exits "what fails" 1 titan run -w --keep-order -e 'a="echo a; exit 4"; b="echo b"'
is "keeps its place" "$(echo $out)" 'a b'
like "and is told" "$err" '^#[0-9]+ a FAIL exit=4'
exits "with --propagate" 4 titan run -w --propagate --keep-order -e 'a="exit 4"; b="true"'
exits "what is skipped" 1 titan run -w --keep-order -e 'a -> b; a="false"; b="echo b"'
like "is told, too" "$err" 'b SKIP because of a'

# What comes first is printed while later jobs run.
printf 'echo early\nuntil [ -e go ]; do sleep 0.02; done; echo last\n' | titan run --lines --keep-order -w >out 2>err &
printer=$!
ok "output streams" until_true 30 grep -q early out
touch go
wait $printer
is "to its end" "$? $(echo $(cat out))" "0 early last"
exits "without waiting" 2 titan run --keep-order -e a=true
like "there is nothing to print" "$err" 'needs --wait or --follow'
exits "as JSON" 2 titan --json run -w --keep-order -e a=true
like "it can't be" "$err" 'unchanged'
# shellcheck disable=SC2016
exits "a reader that leaves early" 0 bash -c 'yes "echo line" | head -n 50 | "$TITAN" run --lines --keep-order -w | head -n 1'
kill $big
wait $big
done_testing
