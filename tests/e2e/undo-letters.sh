# SPDX-License-Identifier: GPL-3.0-or-later
# titan undo puts discarded dead letters back, as they were.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
newest() { titan --json history --limit 1 2>/dev/null | jq '.[0].act'; }
run=$(titan -q run -w -e 'x; y; x="exit 3"; y="exit 4"' 2>/dev/null | head -n 1)
letters() { titan --json dlq ls | jq -c '[.[] | [.job, .reason, .exit_code, .tries]] | sort'; }
before=$(letters)
titan -q dlq discard "$run/x"
exits "a discarded dead letter comes back" 0 titan undo
is "as it was" "$(letters)" "$before"
exits "which is an act, too" 0 titan --json history
like "of its own" "$out" '"reinstate"'
titan -q -y dlq discard "$run"
is "those of a run" "$(letters)" "[]"
exits "come back together" 0 titan undo
is "all of them" "$(letters)" "$before"
titan -q dlq discard "$run/x"
act=$(newest)
titan -q -y dlq discard "$run/y"
exits "each discard by itself" 0 titan undo "$act"
titan -q dlq discard "$run/x"
titan -q retry "$run/x"
ok "a job that runs again" until_true 30 run_ended "$run"
exits "has no letter to put back" 8 titan undo "$act"

done_testing
