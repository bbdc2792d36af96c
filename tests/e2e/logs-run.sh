# SPDX-License-Identifier: GPL-3.0-or-later
# The output of a whole run: in order of time, each line marked with its job; followed while the run goes on; and of
# very many jobs.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"

start_cluster --slots 3
# Each job waits for the line of the one before, so their order in time is known.
cat >job.yaml <<END
jobs:
  a: {run: "echo a1; while [ ! -e $test_dir/b ]; do sleep 0.05; done; printf 'a2'"}
  b: {run: "while [ ! -e $test_dir/go ]; do sleep 0.05; done; echo b1; echo b2 >&2; while [ ! -e $test_dir/c ]; do sleep 0.05; done; echo b3; exit 3"}
  end: {run: "echo last", needs: {a: ok, b: done}}
END
run=$(titan run job.yaml | grep -oE "[0-9]+" | head -n 1)
titan logs -f "$run" >followed 2>said &
follower=$!
in_followed() { grep -qx "$1" followed; }
ok "the first line is seen while the run goes on" until_true 30 in_followed 'a   | a1'
: >go
ok "those of another job too" until_true 30 in_followed 'b   | b2'
ok "on both streams" until_true 30 in_followed 'b   | b1'
: >b
a_ended() { job_is "$run" a succeeded; }
ok "one job has ended" until_true 30 a_ended
: >c
wait $follower
is "what follows ends with the run" $? 0
ok "the run has ended" until_true 30 run_ended "$run"
is "with the last line of the job that came last" "$(tail -n 1 followed)" 'end | last'
is "each line was printed once" "$(sort followed | tr '\n' ',')" "a   | a1,a   | a2,b   | b1,b   | b2,b   | b3,end | last,"
is "afterwards they are in order of time" "$(titan logs "$run" | grep -v b2 | tr '\n' ',')" "a   | a1,b   | b1,a   | a2,b   | b3,end | last,"
is "those of failed jobs" "$(titan logs --failed --stdout "$run" | tr '\n' ',')" "b1,b3,"
is "those of two jobs" "$(titan logs --stdout "$run/b" "$run/end" | tr '\n' ',')" "b   | b1,b   | b3,end | last,"
is "the last two" "$(titan logs --tail 2 "$run" | tr '\n' ',')" "b   | b3,end | last,"
is "those that match" "$(titan logs --grep '^(a1|last)$' "$run" | tr '\n' ',')" "a   | a1,end | last,"
is "those of the last hour" "$(titan logs --since 1h "$run" | wc -l)" 6
is "none of tomorrow" "$(titan logs --since "$(date -d tomorrow +%F)" "$run")" ""
is "as JSON" "$(titan logs --json "$run" | jq -r 'select(.name == "end") | [.run, .try, .stream, .text] | join(" ")')" "$run 1 stdout last"
is "as columns" "$(titan logs --plain "$run" | grep -c "	$run/b	stdout	b1$")" 1
exits "no such job" 4 titan logs "$run/a" "$run/nope"
exits "two runs can't be followed" 2 titan logs -f "$run" 99

run=$(titan run -e "x*1500; x='echo hello \$TITAN_INDEX'")
exits "many jobs" 0 titan --timeout 200s wait "$run"
is "each has its line" "$(titan logs "$run" | awk '$1 == "x[" $4 "]" && NF == 4' | sort -u | wc -l)" 1500
is "some of them" "$(titan logs "$run/x[7-9]" | sort | tr '\n' ',')" "x[7] | hello 7,x[8] | hello 8,x[9] | hello 9,"
ok "in order of time" sort -c <(titan logs --plain "$run" | cut -f1)
is "the last of them" "$(titan logs --tail 5 --plain "$run")" "$(titan logs --plain "$run" | tail -n 5)"

done_testing
