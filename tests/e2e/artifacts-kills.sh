# SPDX-License-Identifier: GPL-3.0-or-later
# Kills in the middle of keeping what a job left: of master, link and keeper, after which it goes on; a cancel and a time limit
# end it. The files are there whole, or not at all.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

goods=$TITAN_STATE/default/goods
work=$test_dir/work
mkdir "$work"
head -c 60000000 /dev/urandom >"$test_dir/large"
start_cluster --slots 2

part_bytes() { find "$goods/incoming" -type f -printf '%s\n' 2>/dev/null | sort -n | tail -n 1; }
amid() { local have; have=$(part_bytes); [ "${have:-0}" -gt 1000000 ] && [ "$have" -lt 60000000 ]; }
keeper_pid() { state_of '.workers[0].pid'; }
link_pid() { pgrep -P "$(keeper_pid)" -f 'titan link' | head -n 1; }

# Start a job that leaves a large file, and stop the process that keeps it in the middle of that. middle: yes, or no if it was too fast.
leave() { # FURTHER KEYS
	rm -rf "$work"/* "$goods"/incoming/*
	printf 'jobs:\n  a: {%s dir: %s, artifacts: {out: large}, run: "cp ../large large; echo %s >>large; echo $PPID >../pid"}\n' "$1" "$work" "$RANDOM$RANDOM" >job.yaml
	rm -f pid ended stopped
	(while ! amid; do [ ! -e ended ] || exit 0; done; kill -STOP "$(cat pid)" && touch stopped) &
	watcher=$!
	run=$(titan -q run job.yaml)
	if ! until_true 20 test -e stopped; then run_ended "$run" && touch ended; fi
	touch ended
	wait "$watcher"
	middle=no
	[ ! -e stopped ] || middle=yes
	note "stopped in the middle: $middle, with $(part_bytes) bytes"
}
go_on() { kill -CONT "$(cat pid)" 2>/dev/null; }
kept() { # WHAT
	go_on
	exits "$1: the run ends well" 0 titan --timeout 100s wait "$run"
	is "... the job was started once" "$(titan --json show "$run/a" | jq '.[0].tries')" 1
	exits "... and left its file" 0 titan artifact get "$run/a" large -o got --force
	ok "... whole" cmp got "$work/large"
	is "... and nothing unfinished" "$(find "$goods/incoming" -type f | wc -l)" 0
}

leave ""
kept "without a kill"

leave ""
pid=$(master_pid)
is "nobody sees the files before" "$(titan --json artifact ls "$run" 2>/dev/null)" "[]"
kill -KILL "$pid"
until_true 20 process_gone "$pid"
titan up >/dev/null 2>&1
until_true 30 worker_is_up
kept "a killed master"

leave ""
pid=$(link_pid)
ok "there is a link" test -n "$pid"
kill -KILL "$pid"
until_true 20 process_gone "$pid"
kept "a killed link"

leave ""
pid=$(keeper_pid)
kill -KILL "$pid"
until_true 20 process_gone "$pid"
other_keeper() { local now; now=$(keeper_pid); [ -n "$now" ] && [ "$now" != "$pid" ] && worker_is_up; }
ok "another keeper comes" until_true 30 other_keeper
kept "a killed keeper"

leave ""
exits "a cancel" 0 titan -q cancel "$run"
exits "ends it" 1 titan --timeout 60s wait "$run"
if [ "$middle" = yes ]; then
	is "as a cancel does" "$(job_state "$run" a)" cancelled
	exits "and nothing is seen" 4 titan artifact ls "$run/a"
fi
ok "no process stays" until_true 30 process_gone "$(cat pid)"

leave "timeout: 5s,"
titan --timeout 60s wait "$run" >/dev/null 2>&1
if [ "$middle" = yes ]; then
	is "a time limit ends it" "$(job_state "$run" a)" timed_out
	exits "and nothing is seen" 4 titan artifact ls "$run/a"
fi
ok "no process stays" until_true 30 process_gone "$(cat pid)"

done_testing
