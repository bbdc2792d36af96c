# SPDX-License-Identifier: GPL-3.0-or-later
# The master is killed with -9 while many jobs wait and some run: it serves again soon, running jobs are adopted and
# not run again, their output is complete, and the order of jobs is kept. And a master with hardly any descriptors left
# waits instead of spinning.
# time-out: 900 s
#
# CHAOS_WAITING: jobs that wait (2000), CHAOS_RUNNING: that run (10), CHAOS_SERVE_MS: how soon it must serve (10000).
. "$(dirname "$0")/lib.sh"

waiting=${CHAOS_WAITING:-2000}
running=${CHAOS_RUNNING:-10}
serve_ms=${CHAOS_SERVE_MS:-10000}
lines=50
starts=$test_dir/starts
order=$test_dir/order

start_cluster --slots "$running"
# Each writes its lines in the time that the master is away, and says when it starts.
seq "$running" | sed "s|.*|echo & >>$starts; i=0; while [ \$i -lt $lines ]; do echo line \$i; i=\$((i + 1)); sleep 0.1; done; while ! test -e $test_dir/go; do sleep 0.1; done|" >"$test_dir/long"
long=$(titan run --lines --name long --priority 90 <"$test_dir/long")
ok "$running jobs run" until_true 60 eval '[ "$(state_of .counts.running)" = $running ]'
# Behind them, one after the other on its slot: the last words of what waits show the order.
seq "$waiting" | sed "s|.*|echo & >>$order|" >"$test_dir/waiting"
queue=$(titan run --lines --name queue <"$test_dir/waiting")
is "$waiting jobs wait" "$(state_of .counts.ready)" "$waiting"

pid=$(master_pid)
kill -KILL "$pid"
until_true 5 process_gone "$pid"
began=$(date +%s%N)
titan up --slots "$running" >"$test_dir/up.out" 2>&1 &
up=$!
# That waits for the worker, too, which comes back in its own time.
until_true 60 titan status
took_ms=$((($(date +%s%N) - began) / 1000000))
wait "$up" || note "$(cat "$test_dir/up.out")"
note "with $waiting waiting and $running running it served after $took_ms ms"
ok "it serves within $serve_ms ms" test "$took_ms" -le "$serve_ms"
is "all that waited waits" "$(state_of .counts.ready)" "$waiting"
adopted() { [ "$(state_of '.workers[0].busy')" = "$running" ] && [ "$(state_of .counts.running)" = "$running" ]; }
ok "all that ran is adopted" until_true 60 adopted
touch "$test_dir/go"
exits "and ends well" 0 titan --timeout 200s wait "$long"
is "each was started once" "$(sort -n "$starts" | uniq -c | awk '$1 != 1' | wc -l) $(wc -l <"$starts")" "0 $running"
whole=0
titan --json show "$long" | jq -r '.[0] | .jobs[].name' >"$test_dir/names"
while read -r name; do
	[ "$(titan logs "$long/$name" | grep -c '^line')" != $lines ] || whole=$((whole + 1))
done <"$test_dir/names"
is "their output is whole" $whole "$running"
exits "what waited runs" 0 titan --timeout 600s wait "$queue"
is "each once" "$(sort -n "$order" | uniq -c | awk '$1 != 1' | wc -l) $(wc -l <"$order")" "0 $waiting"
# Jobs of several slots overlap: nobody may be further from his place than what is sent ahead.
is "in the order in which they were submitted" "$(awk -v slack=$((running * 64 + 64)) '{ d = $1 - NR; if (d < 0) d = -d; if (d > slack) bad++ } END { print bad + 0 }' "$order")" 0
amount "$waiting waiting, $running running, served after $took_ms ms"
titan -y down >/dev/null 2>&1

# A table of 64 descriptors, and more connections than that.
(
	ulimit -n 64
	exec "$TITAN" master 2>"$test_dir/master.log"
) &
until_true 20 titan status
pid=$(master_pid)
ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
cat >"$test_dir/hold.py" <<'END'
import os, socket, sys, time
os.chdir(os.path.dirname(sys.argv[1]))
held = []
for _ in range(200):
    s = socket.socket(socket.AF_UNIX)
    s.setblocking(False)
    try:
        s.connect(os.path.basename(sys.argv[1]))
    except OSError:
        pass
    held.append(s)
time.sleep(float(sys.argv[2]))
END
before=$(ticks)
python3 "$test_dir/hold.py" "$TITAN_STATE/default/titan.sock" 3
after=$(ticks)
note "$((after - before)) ticks in 3 s with a full table"
ok "with a full table the master doesn't spin" test $((after - before)) -lt 100
ok "it lives" kill -0 "$pid"
ok "and serves when there is room" until_true 20 titan status
amount "64 descriptors: $((after - before)) ticks in 3 s"
kill -TERM "$pid"
until_true 20 process_gone "$pid"

done_testing
