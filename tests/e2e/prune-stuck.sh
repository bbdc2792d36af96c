# SPDX-License-Identifier: GPL-3.0-or-later
# Logs that can't be removed, of as many runs as may be pruned at once: the person who prunes is told, and pruning goes
# on when the logs can be removed.
. "$(dirname "$0")/lib.sh"

most=256                                 # LIMIT_PRUNE_RUNS

ended() { [ "$(titan --json ls -a | jq 'map(select(.state == "succeeded")) | length')" = $((most + 4)) ]; }
going() { titan --json metrics | jq .runs_pruning; }

start_cluster --slots 8
for ((i = 0; i < most + 4; i++)); do
	titan run -q -e 'a; a=true' >/dev/null
done
ok 'all have ended' until_true 60 ended
logs=$TITAN_STATE/default/logs
for ((i = 1; i <= most + 4; i++)); do
	rm -rf "$logs/$i"
	ln -s nowhere "$logs/$i"
done
exits 'all but one can not go' 71 titan -y --timeout 60s prune --keep 1
like 'it says how far it came' "$err" '256 runs were pruned; the prune stopped because the logs of 256 runs can.t be removed'
like 'and where to look' "$err" "ls -l $logs"
is 'they are gone but for their logs' "$(going)" $most
exits 'nor can others meanwhile' 71 titan -y --timeout 60s prune --keep 1
find "$logs" -type l -delete
exits 'when they can be removed, the rest goes' 0 titan -y --timeout 60s prune --keep 1
like 'as it was asked' "$err" 'pruned: 3 runs of 3 jobs'
nothing_left() { [ "$(going)" = 0 ]; }
ok 'and nothing is left' until_true 20 nothing_left
done_testing
