# SPDX-License-Identifier: GPL-3.0-or-later
# A job that writes without end and a viewer that never reads cost only a bounded amount of memory; what is dropped is
# counted.
# time-out: 900 s
#
# CHAOS_SECONDS: how long runs flood by a watcher that never reads (3), CHAOS_LINES: lines of the talkative job (300000), CHAOS_MIB: length of the one long line (100),
# MEMORY_SLACK_MIB: what a sanitizer takes for itself (0).
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
lines=${CHAOS_LINES:-300000}
mib=${CHAOS_MIB:-100}
rss_mib() { awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$1/status"; }

start_cluster --slots 2
before=$(rss_mib "$(master_pid)")
run=$(titan run -e "{talk, long}; talk='seq 1 $lines; sleep 1'; long='head -c ${mib}M /dev/zero | tr \"\\0\" x'")
mkfifo "$test_dir/nobody-reads"
titan logs -f "$run/talk" >"$test_dir/nobody-reads" 2>/dev/null &
viewer=$!
exec 9<"$test_dir/nobody-reads"
exits "both jobs end" 0 titan --timeout 300s wait "$run"
ok "the viewer that nobody reads still hangs there" kill "$viewer"
exec 9<&-
wait "$viewer" 2>/dev/null
dropped_in() { grep -oE '[0-9]+ bytes dropped' "$1" | awk '{ sum += $1 } END { print sum + 0 }'; }
titan logs "$run/talk" >"$test_dir/talk" 2>"$test_dir/dropped"
is "every line was kept, or counted" $(($(wc -c <"$test_dir/talk") + $(dropped_in "$test_dir/dropped"))) "$(seq 1 "$lines" | wc -c)"
is "the beginning is there" "$(head -c 50000000 "$test_dir/talk" | cksum)" "$(seq 1 "$lines" | head -c 50000000 | cksum)"
is "and the end" "$(tail -n 1000 "$test_dir/talk" | cksum)" "$(seq 1 "$lines" | tail -n 1000 | cksum)"
kept=$(titan logs "$run/long" 2>"$test_dir/dropped" | wc -c)
dropped=$(dropped_in "$test_dir/dropped")
is "of the long line every byte is kept or counted" $((kept + dropped)) $((mib * 1024 * 1024))
amount "$lines lines, $mib MiB in one"

# Everything that happens is told to a watcher that doesn't read.
python3 "$e2e_dir/holders.py" "$TITAN_STATE/default/titan.sock" deaf 3 >"$test_dir/deaf" &
watcher=$!
deaf() { grep -q 'deaf 3' "$test_dir/deaf"; }
until_true 10 deaf
flooded=0
end=$(($(date +%s) + ${CHAOS_SECONDS:-3}))
while [ "$(date +%s)" -lt $end ]; do
	yes true | head -n 500 | titan run --lines >"$test_dir/flood" && titan --timeout 60s wait "$(cat "$test_dir/flood")" >/dev/null 2>&1 && flooded=$((flooded + 500))
done
ok "the watcher that nobody reads still hangs there" kill "$watcher"
wait "$watcher" 2>/dev/null
amount "$flooded jobs in ${CHAOS_SECONDS:-3} s unread"
for pid in "$(master_pid)" "$(state_of '.workers[0].pid')" "$(pgrep -f -P "$(state_of '.workers[0].pid')" link | head -n 1)"; do
	peak=$(rss_mib "$pid")
	note "peak of process $pid: $peak MiB"
	ok "its memory stayed bounded" test "$peak" -lt $((before + 120 + ${MEMORY_SLACK_MIB:-0}))
done

done_testing
