# SPDX-License-Identifier: GPL-3.0-or-later
# The disk of the logs stops answering: only output waits, and no worker is lost.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip_all "there is no strace"
strace -f -qq -o /dev/null -e trace=pwritev -e inject=pwritev:delay_enter=1000 true 2>/dev/null ||
	skip_all "strace can't trace here"
exec 2>"$test_dir/stderr"
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# Each write to a log, and nothing of the store's, takes ten seconds.
strace -f -qq -o "$test_dir/trace" -e trace=pwritev -e inject=pwritev:delay_enter=10000000 \
	"$TITAN" master --heartbeat 500ms --lease 2s --grace 3s 2>>"$test_dir/master.log" &
serves() { titan status; }
until_true 20 serves
workers=6
for i in $(seq $workers); do
	"$TITAN" worker start --name "w$i" --slots 2 2>>"$test_dir/worker.log" &
done
all_up() { [ "$(state_of '[.workers[] | select(.state == "up")] | length')" = $workers ]; }
ok "$workers workers are up" until_true 20 all_up

graph="go"
for i in $(seq $workers); do graph="$graph; go -> f$i; f$i='head -c 30000000 /dev/zero' worker=w$i"; done
flood=$(titan run -e "$graph; go=true")
stuck() { [ "$(titan --json metrics | jq -r .queue_log_bytes)" -gt $((16 * 1048576)) ]; }
ok "more output waits than ever fitted a queue" until_true 20 stuck
began=$(date +%s)
for _ in 1 2 3; do
	exits "a job without output runs" 0 titan --timeout 20s run -w -e "a*6; a='true'"
	sleep 2
done
ok "in no time" test $(($(date +%s) - began)) -lt 15
ok "longer than a silent worker would have been waited for" test $(($(date +%s) - began)) -ge 6
is "no worker is lost" "$(state_of "[.workers[] | .state] | sort | unique | join(\" \")")" up
is "none was" "$(grep -cE 'unreachable|lost' "$test_dir/master.log")" 0
ok "and the output still waits" stuck
exits "who has much to say can be cancelled" 0 titan -y cancel "$flood"
for pid in $(pgrep -f "$test_dir/trace"); do [ "$pid" = $$ ] || kill -KILL "$pid" 2>/dev/null; done

done_testing
