# SPDX-License-Identifier: GPL-3.0-or-later
# A watched run whose connection is lost: after reconnecting the master sends what was missed, and no more.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
far=$test_dir/far
mkdir -m 700 -p "$far/default"

through() {
	python3 "$e2e_dir/proxy.py" "$far/default/titan.sock" "$TITAN_STATE/default/titan.sock" cut -1 -1 >"$test_dir/proxy" &
	standing=$!
	until_true 10 grep -q ready "$test_dir/proxy"
}
resumed() { titan metrics --json | jq -r .subscribers_resumed; }

start_cluster --slots 4
run=$(titan run -e "?go -> fan -> ?then -> last; go='go?'; then='and then?'; fan*300; fan=true; last=true")
through
TITAN_STATE=$far timeout 120 "$TITAN" --json watch "$run" >"$test_dir/watch.out" 2>&1 &
watcher=$!
ok "a run is watched" until_true 30 grep -q '"approval"' "$test_dir/watch.out"
kill "$standing" && wait "$standing" 2>/dev/null
titan approve "$run/go" >/dev/null
ok "meanwhile it goes on" until_true 60 job_is "$run" then approval
is "nobody was told" "$(grep -c 'fan\[' "$test_dir/watch.out")" 0
through
ok "after the connection is back it is told" until_true 60 grep -q '"then".*"approval"' "$test_dir/watch.out"
is "all of it, once" "$(grep -c '"fan\[.*"succeeded"' "$test_dir/watch.out") $(resumed)" "300 1"
titan approve "$run/then" >/dev/null
wait "$watcher"
is "and is watched to its end" $? 0
kill "$standing" && wait "$standing" 2>/dev/null

done_testing
