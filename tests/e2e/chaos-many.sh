# SPDX-License-Identifier: GPL-3.0-or-later
# Many workers on one machine, each with a key of its own over TLS: all are up, all get jobs, and what each costs is told.
# time-out: 1200 s
#
# CHAOS_WORKERS: how many (12).
. "$(dirname "$0")/lib.sh"

workers=${CHAOS_WORKERS:-12}
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"
"$TITAN" master --listen 127.0.0.1:0 2>master.log &
until_true 30 titan status || skip_all "no master"
address=$(sed -n 's/.*listening on //p' master.log | tail -n 1)
master=$(master_pid)
memory_kib() { awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup" 2>/dev/null; }
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat" 2>/dev/null; }
sum() { local pid total=0 one; for pid in $2; do one=$($1 "$pid"); total=$((total + ${one:-0})); done; echo "$total"; }
before=$(memory_kib "$master")

guardians=
for k in $(seq "$workers"); do
	titan token add "w$k" --worker -o "w$k.key" >/dev/null || break
	TITAN_STATE=$test_dir/far "$TITAN" worker start -H "$address" --key "w$k.key" --slots 2 >"w$k.log" 2>&1 &
	guardians="$guardians $!"
done
up() { [ "$(state_of '[.workers[] | select(.state == "up")] | length')" = "$workers" ]; }
ok "$workers workers are up" until_true 300 up
with_children() { for pid in $1; do echo "$pid"; with_children "$(pgrep -P "$pid" | tr '\n' ' ')"; done; }
processes=$(with_children "$guardians")
of_master=$(cpu_ticks "$master")
of_workers=$(sum cpu_ticks "$processes")
began=$(date +%s%3N)
run=$(titan run -e "a*$((workers * 20)); a=true")
exits "a run with 20 jobs for each ends" 0 titan --timeout 300s wait "$run"
used=$(titan --json show "$run" | jq '[.[0].jobs[].worker] | unique | length')
note "$used of $workers workers had jobs of it, in $(($(date +%s%3N) - began)) ms"
ok "at least half of the workers had some" test "$used" -ge $((workers / 2))
of_master=$(cpu_ticks "$master")
of_workers=$(sum cpu_ticks "$processes")
began=$(date +%s%3N)
# A few heartbeats of an idle cluster: the only pause here, for a measurement, not for a result.
sleep "${CHAOS_IDLE_S:-6}"
took=$(($(date +%s%3N) - began))
permille() { awk -v t="$1" -v ms=$took -v hz="$(getconf CLK_TCK)" -v n="$workers" 'BEGIN { printf "%.2f", t / hz * 1e6 / ms / n }'; }
worker_kib=$(($(sum memory_kib "$processes") / workers))
master_kib=$((($(memory_kib "$master") - before) / workers))
busy=$(($(sum cpu_ticks "$processes") - of_workers))
served=$(($(cpu_ticks "$master") - of_master))
cost="a worker takes $worker_kib KiB and $(permille $busy) thousandths of a core idle, and of the master $master_kib KiB and $(permille $served)"
note "$cost"
ok "a worker takes less than 16 MiB" test "$worker_kib" -lt $((16384 + ${MEMORY_SLACK_MIB:-0} * 1024))
ok "and less than 256 KiB of the master" test "$master_kib" -lt $((256 + ${MEMORY_SLACK_MIB:-0} * 1024))
ok "an idle one takes less than a fiftieth of a core" awk -v a="$(permille $busy)" 'BEGIN { exit !(a < 20) }'
amount "$workers workers: $worker_kib KiB each, $(permille $busy) permille of a core idle"
# shellcheck disable=SC2086
kill -INT $guardians
for guardian in $guardians; do until_true 60 process_gone "$guardian"; done
done_testing
