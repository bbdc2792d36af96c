# SPDX-License-Identifier: GPL-3.0-or-later
# Connections that break after any byte of what either side sends, or pass one byte at a time: a repeated submit with
# its key is one run, and a worker's jobs run once each.
# time-out: 1500 s
#
# CHAOS_BYTE_STEP: every how manieth byte (61).
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
step=${CHAOS_BYTE_STEP:-61}
proxy=$e2e_dir/proxy.py
far=$test_dir/far
real=$TITAN_STATE/default/titan.sock
mkdir -m 700 -p "$far/default"

# through HOW...: a proxy, until stop_proxy
through() {
	python3 "$proxy" "$far/default/titan.sock" "$real" "$@" >"$test_dir/proxy" &
	standing=$!
	until_true 10 grep -q ready "$test_dir/proxy"
}
stop_proxy() { kill "$standing" && wait "$standing" 2>/dev/null; }

start_cluster --slots 4
through drip
exits "each byte alone: a run is submitted, run and read" 0 env TITAN_STATE="$far" "$TITAN" --timeout 60s run -w -e "{a, b} -> c; a='echo one'; b='echo two'; c='echo three'"
like "its output, too" "$(TITAN_STATE=$far "$TITAN" logs 1/c)" three
stop_proxy

# What a submit says and is answered is within these bytes; who asked may say it again by itself.
cuts=0
bad=0
for direction in up down; do
	for at in $(seq 0 "$step" 300); do
		key=$(printf "%032x" $((at * 2 + ${#direction} / 4)))
		[ $direction = up ] && through cut "$at" -1 || through cut -1 "$at"
		first=$(TITAN_STATE=$far timeout 20 "$TITAN" run --submit-key "$key" -e "a; a='echo $key >>$test_dir/ran'" 2>/dev/null)
		stop_proxy
		second=$("$TITAN" run --submit-key "$key" -e "a; a='echo $key >>$test_dir/ran'")
		[ -z "$first" ] || [ "$first" = "$second" ] || bad=$((bad + 1))
		cuts=$((cuts + 1))
	done
done
is "a submit cut behind each of $cuts bytes, and said again, is one run" $bad 0
ok "all of them end" until_true 60 nothing_pending
is "each ran, and once" "$(sort "$test_dir/ran" | uniq -c | awk '$1 != 1' | wc -l) $(wc -l <"$test_dir/ran")" "0 $cuts"
amount "$cuts submits cut"

# A worker behind a connection that ends; the next one passes. Its jobs run meanwhile.
titan -y down >/dev/null 2>&1
"$TITAN" master --heartbeat 100ms --lease 5s --grace 30s 2>"$test_dir/master.log" &
until_true 20 titan status
ends=0
starts=$test_dir/starts
mkdir "$starts"
for direction in up down; do
	for at in $(seq 1 "$step" 400); do
		[ $direction = up ] && through cut "$at" -1 || through cut -1 "$at"
		if [ -z "${worker:-}" ]; then
			TITAN_STATE=$far "$TITAN" worker start --name far --slots 4 2>"$test_dir/worker.log" &
			worker=$!
		else # a new link connects at once, an old one only in its own time
			kill -KILL "$(pgrep -f -P "$(pgrep -P "$worker")" link | head -n 1)" 2>/dev/null
		fi
		run=$(for i in 1 2 3 4; do echo "printf x >>$starts/$direction-$at-$i"; done | titan run --lines)
		titan --timeout 60s wait "$run" >/dev/null 2>&1 || { bad=$((bad + 1)); note "cut $direction behind $at bytes"; }
		ends=$((ends + 1))
		stop_proxy
	done
done
is "whichever byte a worker's connection ends behind, the jobs end" $bad 0
is "no job started twice" "$(find "$starts" -type f -size +1c | wc -l)" 0
is "and each did" "$(find "$starts" -type f | wc -l)" $((4 * ends))
amount "$ends connections of a worker cut"

kill -TERM "$worker"
until_true 20 process_gone "$worker"
done_testing
