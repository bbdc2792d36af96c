# SPDX-License-Identifier: GPL-3.0-or-later
# A job with mode once that was lost with its machine: only a person can say what became of it.
# time-out: 120 s
. "$(dirname "$0")/lib.sh"

start_master() {
	"$TITAN" master --heartbeat 200ms --lease 600ms --grace 1200ms >>master.log 2>&1 </dev/null &
	until_true 10 titan --json status
}
start_worker() { # [SLOTS]
	"$TITAN" worker start --name w --slots "${1:-1}" >>worker.log 2>&1 </dev/null &
	until_true 10 worker_is_up
}
# All of it at once, as a machine that loses its power: guardian, keeper, link and jobs.
machine_dies() {
	local keeper=$(state_of '.workers[0].pid')
	local guardian=$(guardian_pid)
	kill -STOP "$guardian"
	# shellcheck disable=SC2046
	kill -KILL "$keeper" "$guardian" $(pgrep -P "$keeper") $(job_processes) 2>/dev/null
	until_true 10 process_gone "$keeper"
}
lost_job() { # sets run to one whose only job nobody knows about
	run=$(titan run --mode once -e "j -> k; j='sleep 300'; k=true")
	until_true 10 job_is "$run" j running || note "it never ran"
	machine_dies
	ok "a once job whose machine died is unknown" until_true 20 job_is "$run" j unknown
}

ok "a master with a short grace is up" start_master
ok "and a worker" start_worker
lost_job
is "it waits for a person" "$(titan --json approvals | jq -r '.[] | "\(.job) \(.state)"')" "$run/j unknown"
like "show says so, too" "$(titan show "$run")" '^j .*a person has to settle the job'
like "explain names the command" "$(titan explain "$run/j")" "titan settle $run/j done"
exits "a word has a reason" 2 titan settle "$run/j" done
exits "and is one of three" 2 titan settle "$run/j" perhaps -m x
exits "of a job that nobody knows about" 8 titan settle "$run/k" done -m x
ok "the worker comes back and knows nothing" start_worker
is "which is no evidence" "$(job_state "$run" j)" unknown
exits "it is settled as done" 0 titan settle "$run/j" done -m 'the file is there'
exits "and what depends on it goes on" 0 titan --timeout 20s wait "$run"
like "who said so is kept" "$(titan show "$run/j")" "$(id -un) said that it is done: the file is there"
like "and explained" "$(titan explain "$run/j")" 'a person settled the job as done'
exits "it is settled once" 1 titan settle "$run/j" failed -m x

lost_job
exits "it is settled as failed" 0 titan settle "$run/j" failed -m 'half of the file'
exits "the run fails" 1 titan --timeout 20s wait "$run"
is "what depends on it is skipped" "$(job_state "$run" k)" skipped

ok "the worker comes back" start_worker
lost_job
exits "a person has it run again" 0 titan --json settle "$run/j" retry -m 'it never began'
is "as JSON" "$(printf %s "$out" | jq '.[0].changed')" 1
ok "the worker comes back" start_worker
ok "and runs it a second time" until_true 20 job_is "$run" j running
is "on that person's word" "$(titan --json approvals --all "$run" | jq -r '.[0].verdict')" retry
titan -y cancel "$run" >/dev/null
ok "it can be cancelled as any other" until_true 20 job_is "$run" j cancelled

lost_job
exits "one that nobody knows about can be cancelled, too" 0 titan cancel "$run"
ok "and is" until_true 20 job_is "$run" j cancelled
unlike "nobody says that its process is gone" "$(titan explain "$run/j")" 'and its process is gone'
like "as nobody knows that" "$(titan explain "$run/j")" "somebody cancelled the job; its worker was lost, so its process may still be running"

# --- many of one fan-out ---
ok "the worker comes back with many slots" start_worker 10
run=$(titan run --mode once -e "j*10 -> k; j='sleep 300'; k=true")
in_state() { [ "$(titan --json show "$run" | jq "[.[0].jobs[] | select(.state == \"$1\")] | length")" = "$2" ]; }
ok "ten once jobs run" until_true 30 in_state running 10
machine_dies
ok "and are unknown" until_true 30 in_state unknown 10
exits "they share a line" 0 titan approvals
is "of a fan-out" "$(printf '%s\n' "$out" | grep -c "^$run/")" 1
like "with their number" "$out" "^$run/j\[\*\] .* 10 jobs: did the job run\?"
exits "its name lists each" 0 titan approvals "$run/j[*]"
is "of them" "$(printf '%s\n' "$out" | grep -c "^$run/j\[[0-9]\]")" 10
is "and so does --plain" "$(titan --plain approvals "$run" | wc -l)" 10
is "and JSON" "$(titan --json approvals "$run" | jq length)" 10
is "programs limit jobs" "$(titan --json approvals --limit 3 2>/dev/null | jq length)" 3
exits "people limit lines" 0 titan approvals --limit 1
is "and one isn't cut" "$err" ""
exits "a list of jobs that is cut" 0 titan approvals "$run/j" --limit 3
is "says of how many" "$err" "3 of 10 decisions shown: titan approvals $run/j --limit 12"
exits "a job that isn't there" 4 titan approvals "$run/x"
exits "what waits has no past" 2 titan approvals --since 1h
like "the error has the next command" "$err" 'titan approvals --all --since 1d'
exits "many are settled only after a yes" 2 titan settle "$run/j[*]" done -m 'the machine said so'
exits "at once" 0 titan -y settle "$run/j[*]" done -m 'the machine said so'
exits "and what depends on them may go on" 0 titan --json show "$run"
is "all of them" "$(printf %s "$out" | jq -r '[.[0].jobs[] | select(.state == "succeeded")] | length')" 10
is "each is a decision" "$(titan --json approvals --all "$run/j" | jq length)" 10
is "of one job, too" "$(titan --json approvals --all "$run/j[3]" | jq -r '.[].verdict')" done
like "a cut list of decisions says of how many" "$(titan approvals --all "$run" --limit 4 2>&1 >/dev/null)" '^4 of 10 decisions shown: '
done_testing
