# SPDX-License-Identifier: GPL-3.0-or-later
# Pools provide capabilities that jobs require; topics of jobs are mapped to pools, and a change moves the jobs that wait.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
for pool in gpu cpu; do
	"$TITAN" worker start --name "w-$pool" --slots 1 --pool "$pool" >>worker.log 2>&1 </dev/null &
done
up() { [ "$(titan --json worker ls | jq '[.[] | select(.state == "up")] | length')" = 3 ]; }
ok "three workers connect" until_true 20 up

# --- capabilities ---
run=$(titan run -e "a; a='echo \$TITAN_WORKER' requires=cuda requires=render")
is "no pool provides anything" "$(titan --json explain "$run/a" | jq -r '.[0].reason')" no_pool_provides
like "explain says what would help" "$(titan explain "$run/a")" 'titan pool set (cpu|default|gpu) --provide cuda,render'
exits "one capability" 0 titan pool set gpu --provide cuda
is "is not enough" "$(job_state "$run" a)" ready
like "and explain names the pool that comes nearest" "$(titan explain "$run/a")" 'pool gpu comes nearest; .*titan pool set gpu --provide cuda,render'
exits "a dry run" 0 titan pool set gpu --provide cuda,render -n
is "changes nothing" "$(titan --json pool show gpu | jq -c .provides)" '["cuda"]'
exits "both" 0 titan pool set gpu --provide render,cuda
exits "are" 0 titan --timeout 20s wait "$run"
is "in that pool" "$(titan logs "$run/a")" w-gpu
is "shown in order" "$(titan --plain pool | awk -F '\t' '$1 == "gpu" { print $7 }')" cuda,render
exits "again it is so already" 0 titan --json pool set gpu --provide cuda,render
is "and nothing changes" "$(printf '%s' "$out" | jq -c '.[0].changed')" 0
exits "a state and capabilities at once" 0 titan pool set gpu inactive --provide cuda
is "are one act" "$(titan --json pool show gpu | jq -c '[.state, .provides]')" '["inactive",["cuda"]]'
exits "which can be undone" 0 titan undo
is "to what it was" "$(titan --json pool show gpu | jq -c '[.state, .provides]')" '["active",["cuda","render"]]'
exits "a pool without workers may provide" 0 titan pool set later --provide tpu
exits "not a name" 2 titan pool set gpu --provide 'a b'
exits "nothing to set" 2 titan pool set gpu
like "is told" "$err" 'give a state, --provide or both'
exits "the pool is active again" 0 titan pool set gpu active --provide cuda,render
run=$(titan run --requires cuda --requires render -e "a; a='echo \$TITAN_WORKER'")
exits "the options of run require both, too" 0 titan --timeout 20s wait "$run"
is "and lead to that pool" "$(titan logs "$run/a")" w-gpu
run=$(titan run --requires cuda --requires render -- sh -c 'echo $TITAN_WORKER')
exits "also for a command" 0 titan --timeout 20s wait "$run"
is "as for a graph" "$(titan logs "$run")" w-gpu
exits "not a name" 2 titan run --requires 'a b' -- true
like "is told there too" "$err" "--requires: 'a b'"
exits "none" 0 titan pool set gpu --provide none
is "is no capability" "$(titan --json pool show gpu | jq -c .provides)" '[]'

# --- topics ---
cat >topic.yaml <<'END_YAML'
jobs:
  a: {run: echo $TITAN_WORKER, topic: render.film}
END_YAML
run=$(titan run topic.yaml)
is "without a mapping the job waits" "$(titan --json explain "$run/a" | jq -r '.[0].reason')" no_pool_mapping
like "explain says which command helps" "$(titan explain "$run/a")" 'titan topic set render.film POOL'
exits "a pattern" 0 titan topic set 'render.*' cpu
exits "moves it at once" 0 titan --timeout 20s wait "$run"
is "to its pool" "$(titan logs "$run/a")" w-cpu
run=$(echo 'echo $TITAN_WORKER' | titan run --lines --topic render.film)
exits "the option of run names the topic, too" 0 titan --timeout 20s wait "$run"
is "of every line" "$(titan logs "$run")" w-cpu
exits "a longer pattern" 0 titan topic set 'render.fil?' gpu
exits "counts more" 0 titan --timeout 20s run -w topic.yaml
is "than a shorter one" "$(titan logs last/a)" w-gpu
is "both are listed" "$(titan --plain topic | tr '\n' ' ')" "$(printf 'render.*\tcpu render.fil?\tgpu ')"
exits "a pool with nobody in it" 0 titan topic set render.film nobody
run=$(titan run topic.yaml)
is "has the reason of pools" "$(titan --json explain "$run/a" | jq -r '.[0].reason')" no_worker_pool
like "and says why" "$(titan explain "$run/a")" 'topic render.film is mapped to pool nobody'
exits "without that mapping" 0 titan topic rm render.film
exits "the job moves" 0 titan --timeout 20s wait "$run"
exits "titan undo puts the mapping back" 0 titan undo -y
like "as it was" "$(titan --plain topic | tr '\t' ' ')" 'render.film nobody'
titan -q topic rm render.film
exits "removed, the shorter pattern counts" 0 titan topic rm 'render.fil?'
exits "for the next job" 0 titan --timeout 20s run -w topic.yaml
is "again" "$(titan logs last/a)" w-cpu
exits "what isn't there" 4 titan topic rm nothing
exits "a bad pattern" 2 titan topic set 'a b' gpu
exits "a bad pool" 2 titan topic set a 'b c'
exits "a topic in a sub-run's job" 2 titan run -e "a; a=x topic='b c'"

# --- restarts keep all of it ---
titan -q pool set gpu --provide cuda
kill -9 "$(master_pid)"
back() { titan -q status >/dev/null 2>&1; }
titan -q up >/dev/null 2>&1
ok "a new master" until_true 20 back
is "knows the mapping" "$(titan --plain topic | tr '\t' ' ')" "render.* cpu"
is "and what the pool provides" "$(titan --json pool show gpu | jq -c .provides)" '["cuda"]'
exits "rm forgets it" 0 titan pool rm gpu
is "for good" "$(titan --json pool show gpu | jq -c .provides)" '[]'
kill $(jobs -p) 2>/dev/null
wait
done_testing
