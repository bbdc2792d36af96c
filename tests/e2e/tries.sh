# SPDX-License-Identifier: GPL-3.0-or-later
# The end of each try of a job is known, also in earlier rounds and after the run has ended; and so is its output.
# time-out: 200 s
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
cat >job.yaml <<END
jobs:
  flaky: {run: 'echo x >>$test_dir/tries; echo "try \$(wc -l <$test_dir/tries)"; [ -e $test_dir/fixed ]', retry: {max: 2, backoff: 100ms}}
  once: {run: echo well}
  loop: {run: 'echo x >>$test_dir/passes; [ \$(wc -l <$test_dir/passes) -ge 3 ]', loop: {until: code == 0, max: 5, delay: 10ms}}
END
run=$(titan run job.yaml | grep -oE '[0-9]+' | head -n 1)
exits "the run fails" 1 titan --timeout 60s wait "$run"
tries() { titan --json show "$run/$1" | jq -r "[.[0].attempts[] | \"$2\"] | join(\",\")"; }
is "each try has its outcome" "$(tries flaky '\(.round).\(.try) \(.exit_code) \(.worker)')" "0.1 1 local,0.2 1 local,0.3 1 local"
is "they follow each other" "$(titan --json show "$run/flaky" | jq '[.[0].attempts[] | .started, .ended] | . == sort')" true
is "a job of one try has one" "$(tries once '\(.try) \(.exit_code)')" "1 0"
is "passes of a loop are tries" "$(tries loop '\(.pass).\(.try) \(.exit_code)')" "1.1 1,2.1 1,3.1 0"
like "people see a table" "$(titan show "$run/flaky")" '^ +0 +- +2 +exit 1 +[0-9.]+s +local '
unlike "of one try none" "$(titan show "$run/once")" ROUND
then=turn:$(titan --json status | jq .master.turn)
touch fixed
exits "a new round" 0 titan retry "$run"
exits "ends well" 0 titan --timeout 60s wait "$run"
is "earlier rounds are known" "$(tries flaky '\(.round).\(.try) \(.exit_code)')" "0.1 1,0.2 1,0.3 1,1.1 0"
is "and weren't yet at an earlier time" "$(titan -q --json show --at "$then" "$run/flaky" | jq -c '[.[0].attempts[].round]')" "[0,0,0]"
is "the output of the last try" "$(titan logs "$run/flaky")" "try 4"
is "of all of them" "$(titan logs --try all --plain "$run/flaky" | cut -f4 | tr '\n' ',')" "try 1,try 2,try 3,try 4,"
is "of one that this round hasn't" "$(titan logs --try 2 "$run/flaky")" ""
exits "a try that can't be" 2 titan logs --try 0 "$run/flaky"
exits "nothing is followed that has ended" 2 titan logs -f --try 1 "$run/flaky"
titan -y down >/dev/null 2>&1
titan up --slots 2 >/dev/null 2>&1
is "all that survives a restart" "$(tries flaky '\(.round).\(.try) \(.exit_code)')" "0.1 1,0.2 1,0.3 1,1.1 0"
exits "the store is sound" 0 titan fsck

# While a job waits for its next try, the last one is known.
run=$(titan run -e "waits; waits='exit 7' retry=1 backoff=1h")
delayed() { job_is "$run" waits delayed; }
ok "a job waits for its next try" until_true 30 delayed
is "its last try has an outcome" "$(tries waits '\(.try) \(.exit_code)')" "1 7"
exits "cancel" 0 titan cancel "$run"

# The masters of earlier times end by themselves, a minute after the last question.
of_then() { grep -lzs "^TITAN_STATE=$TITAN_STATE/default/past/" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
of_then | xargs -r kill
none_left() { [ -z "$(of_then)" ]; }
ok "nothing is left" until_true 30 none_left

done_testing
