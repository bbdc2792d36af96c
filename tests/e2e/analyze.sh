# SPDX-License-Identifier: GPL-3.0-or-later
# titan analyze: the critical path, waits by reason, slack, slots, retries and earlier runs.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
rows() { titan --json analyze "$run" | jq -r "$1"; }
waits() { rows ".[] | select(.topic == \"wait\" and .name == \"$1\") | .waited_ms"; }

cat >work.yaml <<'EOF'
name: work
jobs:
  long: {run: "sleep 4"}
  short: {run: "true"}
  flaky: {run: "test -e again || { touch again; sleep 0.2; exit 1; }", retry: {max: 2, backoff: 300ms, jitter: false}, needs: [short]}
  later: {run: "true", delay: 300ms, needs: [short]}
  end: {run: "sleep 0.2", needs: [long, flaky, later]}
EOF
run=$(titan -q run -w work.yaml 2>/dev/null | head -n 1)
is "the run succeeds" "$(run_state "$run")" succeeded
exits "it is analyzed" 0 titan analyze "$run"
like "the path is shown" "$out" 'CRITICAL PATH'
is "the path goes over the longest job" "$(rows '[.[] | select(.topic == "path") | .name] | join(" ")')" "long end"
ok "its share is most of the time" test "$(rows '[.[] | select(.topic == "path") | .share_permille] | add')" -gt 800
ok "which is at most all" test "$(rows '[.[] | select(.topic == "path") | .share_permille] | add')" -le 1000
ok "a job that ran has its time" test "$(rows '.[] | select(.topic == "job" and .name == "long") | .ran_ms')" -ge 3900
is "jobs of the path have no slack" "$(rows '[.[] | select(.topic == "path") | .slack_ms] | unique | join(" ")')" 0
ok "others have some" test "$(rows '.[] | select(.topic == "job" and .name == "later") | .slack_ms')" -ge 300
ok "waits for dependencies" test "$(waits dependency)" -ge 3900
ok "for a delay" test "$(waits delay)" -ge 280
ok "for a retry" test "$(waits retry)" -ge 280
is "a failed try is counted" "$(rows '.[] | select(.topic == "retries") | .count')" 1
ok "with its time" test "$(rows '.[] | select(.topic == "retries") | .ran_ms')" -ge 150
is "the slots of the worker" "$(rows '.[] | select(.topic == "slots") | .count')" 2
ok "are used in part" test "$(rows '.[] | select(.topic == "slots") | .share_permille')" -ge 100
ok "and not more than whole" test "$(rows '.[] | select(.topic == "slots") | .share_permille')" -le 1000
is "no earlier run" "$(rows '[.[] | select(.topic == "earlier")] | length')" 0

for i in 1; do titan -q run -w work.yaml >/dev/null 2>&1; done
run=$(titan -q run -w work.yaml 2>/dev/null | head -n 1)
is "it is compared with the runs before" "$(rows '.[] | select(.topic == "earlier") | .count')" 2
ok "by their median" test "$(rows '.[] | select(.topic == "earlier") | .median_ms')" -ge 3900
like "for people, too" "$(titan analyze "$run")" '2 runs of this name took .* \(median\); this one [+-][0-9]+%'

run=$(titan -q run -w -e 'a*6; a="sleep 0.4"' --max-jobs 1 2>/dev/null | head -n 1)
ok "a run's limit is a reason" test "$(waits limit)" -ge 2000
like "a fan-out is one row" "$(titan analyze "$run")" 'a\[6\]'
is "and each of its jobs one for programs" "$(rows '[.[] | select(.topic == "job")] | length')" 6
run=$(titan -q run -w -e 'a*6; a="sleep 0.4"' 2>/dev/null | head -n 1)
ok "no free slot is another" test "$(waits slots)" -ge 800

run=$(titan -q run -e '?ask -> a -> b; ask="go?"; a=true; b=true')
until_true 30 job_is "$run" ask approval
sleep 0.6
titan -q hold "$run" >/dev/null
titan -q approve "$run/ask" -m fine >/dev/null 2>&1
until_true 30 job_is "$run" ask succeeded
exits "a live run is analyzed, too" 0 titan analyze "$run"
like "so far" "$out" 'so far'
sleep 0.6
titan -q release "$run" >/dev/null
ok "the run ends" titan wait "$run"
ok "a gate is a reason" test "$(waits gate)" -ge 500
ok "and a hold" test "$(waits hold)" -ge 500

is "fits 80 columns" "$(titan analyze "$run" | awk 'length > 80' | wc -l)" 0
is "--plain has its columns" "$(titan --plain analyze "$run" | awk -F '\t' 'NR == 1 {print NF, $1, $2}')" "9 run ask"
exits "a run that isn't there" 4 titan analyze 4711
exits "no run" 2 titan analyze

done_testing
