# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that are lost with a worker are completed by another; jobs that wait, for any reason, still do after kill -9 of
# the master.
. "$(dirname "$0")/lib.sh"

start_master() {
	"$TITAN" master --heartbeat 200ms --lease 600ms --grace 1200ms >>master.log 2>&1 </dev/null &
	until_true 20 titan status
}
worker() { # NAME OPTION...: a worker in the background
	local name=$1
	shift
	"$TITAN" worker start --name "$name" "$@" >"$name.log" 2>&1 </dev/null &
}
worker_is() { [ "$(titan --json worker ls | jq -r ".[] | select(.name == \"$1\") | .state")" = "$2" ]; }
field_is() { [ "$(titan --json show "$1" | jq ".[0] | .$2")" = "$3" ]; }

ok "a master with a short grace is up" start_master
worker first --slots 2
first=$!
ok "a worker connects" until_true 20 worker_is first up
cat >backup.yaml <<'END'
jobs:
  job:
    prefer_worker: first
    on_worker_death: kill
    retry: {max: 0, backoff: 10ms}
    run: '[ "$TITAN_WORKER" = second ] || exec sleep 600; echo "$TITAN_WORKER"'
END
run=$(titan run backup.yaml)
ok "it has a job" until_true 20 job_is "$run" job running
worker second --slots 2 --label fast
ok "another one connects" until_true 20 worker_is second up
kill_worker "$first"
exits "worker killed, a backup completes" 0 titan --timeout 60s wait "$run"
is "where it is" "$(titan logs "$run/job")" second
is "a lost attempt is none of the retries, of which there are none" "$(titan --json show "$run/job" | jq -c '.[0] | [.tries, .crashes]')" '[2,1]'

cat >kinds.yaml <<END
jobs:
  running: {run: "until [ -e $test_dir/go ]; do sleep 0.05; done; echo \$TITAN_WORKER", worker: {labels: [fast]}, priority: 61}
  pending: {run: "true", needs: [running, "gated:denied"], priority: 62}
  delayed: {run: "true", delay: 1h, priority: 63}
  gated: {approval: {count: 1}, priority: 64}
  ready: {run: "true", worker: {labels: [nobody]}, priority: 65}
  tried: {run: "exit 3", retry: {max: 5, backoff: 1h}, priority: 66}
END
run=$(titan run kinds.yaml)
ok "one of them runs" until_true 20 job_is "$run" running running
ok "one has been tried" until_true 20 field_is "$run/tried" tries 1
ok "and waits for the next time" until_true 20 job_is "$run" tried delayed
# All that show says, but what is of this moment; a time that is waited for may be a moment off, it isn't kept as a date.
told() {
	for name in running pending delayed gated ready tried; do
		titan --json show "$run/$name" | jq -cS '.[0] | del(.span_ms, .cpu_us, .rss_kib, .out_bytes, .due, .why, .attempts[].span_ms)'
	done
}
due() { titan --json show "$run/$1" | jq '.[0] | .due[:19] + "Z" | fromdateiso8601'; }
near() { [ $(($1 - $2)) -ge -1 ] && [ $(($1 - $2)) -le 1 ]; }
before=$(told)
delayed=$(due delayed)
tried=$(due tried)
is "each waits for something else" "$(printf '%s\n' "$before" | jq -r .state | tr '\n' ' ')" "running waiting delayed approval ready delayed "
pid=$(master_pid)
kill -KILL "$pid"
ok "the master is dead" until_true 10 process_gone "$pid"
ok "another one is up" start_master
ok "what ran is adopted" until_true 20 worker_is second up
is "pending, delayed, gated and running jobs all survive kill -9, with priority, parents, labels and attempts" \
	"$(told)" "$before"
ok "the delay is over when it would have been" near "$(due delayed)" "$delayed"
ok "so is the wait of what was tried" near "$(due tried)" "$tried"
touch go
ok "what ran ends" until_true 20 job_is "$run" running succeeded
is "where its label is" "$(titan logs "$run/running")" second
exits "the gate is decided" 0 titan reject "$run/gated" -m no
ok "and what needs both" until_true 20 job_is "$run" pending succeeded
done_testing
