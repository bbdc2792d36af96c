# SPDX-License-Identifier: GPL-3.0-or-later
# Memory of many ended jobs is given back to the system when the master is idle.
# MEMORY_SLACK_MIB: what a sanitizer takes for itself, and keeps (0).
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
pid=$(master_pid)
kib() { awk -v what="$1" '$1 == what ":" { print $2 }' "/proc/$pid/status"; }
given_back() { grep -q 'gave unused memory back' "$TITAN_STATE"/default/master.log; }

run=$(titan run -e "first='sleep 600'; a*200000; first -> a; a=true")
peak=$(kib VmHWM)
ok "many jobs end at once" titan -y cancel "$run"
ok "their run ends" eval 'titan --timeout 60s wait $run; [ $? = 1 ]'
ok "their memory is given back when it is quiet" until_true 30 given_back
if [ "${MEMORY_SLACK_MIB:-0}" -gt 0 ]; then
	skip "a sanitizer keeps what was freed"
else
	now=$(kib RssAnon)
	ok "of $(kib VmHWM) KiB, $peak of them when it was submitted, $now are left" [ "$now" -lt $((peak * 2 / 3)) ]
fi
ok "the master goes on" titan --timeout 60s run -w -e "b=true"
done_testing
