# SPDX-License-Identifier: GPL-3.0-or-later
# The master dies, or its disk fails, at each step of compressing a log: one good copy stays, and the next master goes on.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip_all "there is no strace"
strace -f -qq -o /dev/null -e trace=fsync -e inject=fsync:error=EIO:when=1..2 true 2>/dev/null ||
	skip_all "strace can't trace here"
exec 2>"$test_dir/stderr"
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

logs=$TITAN_STATE/default/logs
serves() { titan status; }
gone() { process_gone "$master"; }
up_or_gone() { serves || gone; }
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
stop() { kill -TERM "$(master_pid)" 2>/dev/null; wait "$master"; }
packed() { [ -n "$(find "$logs/$1" -name '*.zst')" ] && [ -z "$(find "$logs/$1" -name '*.[0-9]*' ! -name '*.zst')" ]; }
wanted=$(seq 1 300000 | cksum)
log_of() { titan logs "$1" 2>&1 | cksum; }

start
"$TITAN" worker start --name local --slots 2 2>>"$test_dir/worker.log" &
until_true 20 worker_is_up
run=$(titan run -e "a; a='seq 1 300000'")
titan --timeout 20s wait "$run"
until_true 20 packed "$run" || skip_all "built without zstd"
stop

# The k-th piece that was written, the new name, the directory's sync. Counted in the thread of the logs alone.
for fault in sync_file_range:signal=KILL:when=2 sync_file_range:signal=KILL:when=7 renameat:signal=KILL:when=1 \
	fsync:signal=KILL:when=2 fsync:signal=KILL:when=3; do
	start -e "trace=${fault%%:*}" -e "inject=$fault"
	until_true 20 worker_is_up
	run=$(timeout 20 "$TITAN" run -e "a; a='seq 1 300000'")
	ok "killed at ${fault#*KILL:} of ${fault%%:*}" until_true 20 gone || stop
	wait "$master" 2>/dev/null
	start
	ok "the run has ended" until_true 20 run_ended "$run"
	is "its log is whole" "$(log_of "$run")" "$wanted"
	ok "and compressed in the end" until_true 20 packed "$run"
	is "and whole" "$(log_of "$run")" "$wanted"
	is "nothing else lies there" "$(find "$logs/$run" -type f | wc -l)" 1
	stop
done

failures=0
for fault in renameat:error=EIO:when=1+ fsync:error=EIO:when=3+; do
	start -e "trace=${fault%%:*}" -e "inject=$fault"
	until_true 20 worker_is_up
	run=$(titan run -e "a; a='seq 1 300000'")
	exits "with ${fault%%:*} failing a run ends" 0 titan --timeout 20s wait "$run"
	said() { grep -cE "can't be compressed.*: Input/output error" "$test_dir/master.log"; }
	before=$failures
	more_said() { failures=$(said); [ "$failures" -gt "$before" ]; }
	ok "it is said that its log can't be compressed" until_true 20 more_said
	is "the plain one stays" "$(find "$logs/$run" -name '*.[0-9]*' ! -name '*.zst*' | wc -l)" 1
	is "and is whole" "$(log_of "$run")" "$wanted"
	stop
	start
	ok "the next master compresses it" until_true 20 packed "$run"
	is "and it is whole" "$(log_of "$run")" "$wanted"
	stop
done
done_testing
