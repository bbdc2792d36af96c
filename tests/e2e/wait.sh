# SPDX-License-Identifier: GPL-3.0-or-later
# The exit statuses of wait, run and Ctrl-C.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
hold=$test_dir/hold
: >"$hold"
run=$(titan run -e "a; a='while [ -e $hold ]; do sleep 0.05; done'")
exits "still pending" 8 titan --timeout 0s wait "$run"
exits "a time-out" 124 titan --timeout 100ms wait "$run"
(
	trap - INT
	exec "$TITAN" wait "$run"
) >"$test_dir/wait.out" 2>&1 &
waiter=$!
sleeping() { grep -qE '^State:.*S' /proc/$waiter/status && [ "$(tr '\0' ' ' </proc/$waiter/cmdline)" != "${0}" ]; }
until_true 5 sleeping
rm "$hold"
wait $waiter
is "a wait that is under way ends with the run" $? 0
exits "a run that had ended" 0 titan wait "$run"
good=$run
bad=$(titan run -e "b; b=false")
exits "one of two failed" 1 titan --timeout 20s wait "$good" "$bad"
exits "no such run" 4 titan wait 4242424
exits "last is the newest run" 1 titan --timeout 20s wait last
is "JSON says how each ended" "$(titan --json wait "$good" "$bad" | jq -c '[.[] | .state]')" '["succeeded","failed"]'

done_testing
