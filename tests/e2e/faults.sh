# SPDX-License-Identifier: GPL-3.0-or-later
# The master's disk fails, or is full for a while, at each write and each sync in turn. The master ends, or waits,
# instead of acknowledging what may be lost; the next master has everything that was acknowledged.
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip_all "there is no strace"
strace -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO:when=1..2 true 2>/dev/null ||
	skip_all "strace can't trace here"
# The shell tells here of each child that was aborted.
exec 2>"$test_dir/stderr"
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

serves() { titan --json status; }
gone() { ! kill -0 "$1" 2>/dev/null; }
up_or_gone() { serves || gone "$master"; }

# start [STRACE'S ARGUMENTS...]: a master, when it serves
start() {
	if [ $# -gt 0 ]; then
		strace -f -qq -o "$test_dir/trace" "$@" "$TITAN" master 2>>"$test_dir/master.log" &
	else
		"$TITAN" master 2>>"$test_dir/master.log" &
	fi
	master=$!
	until_true 20 up_or_gone
}

stop() {
	kill -TERM "$(master_pid)" 2>/dev/null
	wait "$master"
}

runs() { titan --json ls --all | jq '[.[].run] | length'; }

answered_or_gone() { gone "$client" || gone "$master"; }
# Adds to $acked for each graph that is accepted, until the master has gone.
submit_until_gone() {
	for _ in 1 2 3 4 5 6 7 8; do
		"$TITAN" run -e "a; a='true'" >/dev/null &
		client=$!
		until_true 20 answered_or_gone
		# Not TERM: a shell on its way to become the client would run this script's trap.
		gone "$master" && kill -KILL "$client"
		wait "$client" && acked=$((acked + 1))
		gone "$master" && return 0
	done
	return 1
}

start
acked=0
timeout 10 "$TITAN" run -e "a; a='true'" >/dev/null 2>&1 && acked=1
stop
is "without faults the master ends well" $? 0

for fault in fdatasync:error=EIO pwrite64:error=EIO; do
	for nth in 1 2 3 4 5; do
		start -e "trace=${fault%%:*}" -e "inject=$fault:when=$nth+"
		submit_until_gone || stop
		wait "$master"
		status=$?
		ok "with $fault from number $nth on it has ended, and not well" test "$status" -ne 0
		start
		like "the next one has $acked runs, or one more" "$(runs)" "^($acked|$((acked + 1)))\$"
		acked=$(runs)
		stop
	done
done

# What was asked before the master knew that it has no room waits with that turn.
says_full() { [ "$(timeout 1 "$TITAN" --json status | jq .store.stuck)" = true ]; }
full_or_gone() { says_full || gone "$client"; }
start -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=20..80
status=1
for _ in $(seq 30); do
	timeout 60 "$TITAN" run -e "a; a='true'" >/dev/null 2>"$test_dir/run.err" &
	client=$!
	until_true 20 full_or_gone
	says_full && { wait "$client"; status=$?; break; }
	wait "$client" && acked=$((acked + 1))
done
is "what was handed over before the disk was full waits for room" "$status" 0
exits "the master serves" 0 titan status
acked=$((acked + 1))
accepts() { titan run -e "a; a='true'"; }
ok "and takes new graphs when there is room" until_true 20 accepts
acked=$((acked + 1))
stop
is "it ends well" $? 0
start
is "the next one has all of them" "$(runs)" "$acked"

stop
start -e trace=pwrite64 -e inject=pwrite64:error=ENOSPC:when=60+
status=0
while [ "$status" = 0 ]; do
	timeout 2 "$TITAN" run -e "a; a='true'" >/dev/null 2>&1
	status=$?
	[ "$status" = 0 ] && acked=$((acked + 1))
done
is "while there is no room nothing is acknowledged" "$status" 124
ok "titan status answers, and says that nothing can be written" until_true 10 says_full
exits "a question of a job is refused instead of kept waiting" 75 titan explain 1/a
exits "so is a hold" 75 titan hold 1
exits "so is a priority" 75 titan priority 1 5
exits "so is a retry" 75 titan -y retry 1
exits "so is a cancel" 75 titan -y cancel 1
exits "so is a graph" 75 titan run -e "a; a='true'"
kill -KILL "$(pgrep -P "$master")"
wait "$master"
start
like "the next one has what was acknowledged, and perhaps what wasn't" "$(runs)" "^($acked|$((acked + 1)))\$"
stop

amount "EIO 10, ENOSPC 2"
done_testing
