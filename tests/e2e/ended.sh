# SPDX-License-Identifier: GPL-3.0-or-later
# A worker that was told to end is shown as ended, by every command; one that was killed isn't.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all "no jq"

start_cluster --slots 1
state_of_worker() { titan --json worker show "$1" | jq -r .state; }
worker_is() { [ "$(state_of_worker "$1")" = "$2" ]; }
begin() { # NAME
	"$TITAN" worker start --name "$1" --slots 1 </dev/null >"$1.log" 2>&1 &
	guardian=$!
	until_true 30 worker_is "$1" up
}

ok "a second worker comes" begin two
kill -TERM $guardian
wait $guardian
ok "SIGTERM ends it in order" until_true 30 worker_is two ended
like "the table says so" "$(titan worker)" '^two +ended '
like "so does status" "$(titan status)" '^two +ended '
like "and the event" "$(titan events --kind worker)" 'worker +ended  two$'
like "doctor has no problem with it" "$(titan --plain doctor)" '^workers	advice	worker two was told to end	'
run=$(titan run -q -e "one='true' worker=two")
like "a job that must run there says why it waits" "$(titan --json explain "$run/one" | jq -r '.[0].why')" 'worker two, which was told to end'
is "metrics count it apart" "$(titan --json metrics | jq '.workers.ended')" 1
like "the dashboard doesn't call for anybody" "$(titan dash --dump-screen - --exit-after idle)" 'NEEDS YOU: nothing'

ok "it comes back" begin two
until_true 30 job_is "$run" one succeeded
is "and takes its job" "$(job_state "$run" one)" succeeded
titan -y down >/dev/null 2>&1
start_cluster --slots 1
ok "titan down ended it, too, which a new master knows" until_true 30 worker_is two ended

ok "once more" begin two
kill_worker $guardian
ok "one that is killed is unreachable" until_true 60 worker_is two unreachable
exits "one that ended is forgotten" 0 titan worker rm -n two
done_testing
