# SPDX-License-Identifier: GPL-3.0-or-later
# Fan-outs share a row where their members are alike; failed members have a row each; --all and programs get each job.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip_all "no jq"

start_cluster --slots 3
cat >fans.yaml <<'END'
name: fans
jobs:
  prep: {run: "true"}
  good: {run: "true", matrix: {at: [a, b, c, d, e, f, g, h, i, j]}, needs: [prep]}
  mixed: {run: 'test "$TITAN_INDEX" != 3', matrix: {at: [a, b, c, d, e, f, g, h, i, j]}, needs: [prep]}
  later: {run: "true", matrix: {at: [a, b, c, d, e, f, g, h, i, j]}, delay: 1h}
  few: {run: "true", matrix: {at: [a, b, c]}}
  end: {run: "true", needs: [good, later]}
END
run=$(titan -q run fans.yaml)
until_true 30 job_is "$run" 'mixed[3]' failed
all_but_later() { [ "$(titan --json show "$run" | jq '[.[0].jobs[] | select(.state == "succeeded")] | length')" = 23 ]; }
ok "what can run has run" until_true 30 all_but_later

shown=$(titan show "$run")
rows_of() { printf '%s\n' "$shown" | grep -c "^$1"; }
is "more than eight members share a row" "$(rows_of good)" 1
like "which says what became of them" "$shown" '^good\[\*\] .* 10 jobs: 10 OK$'
like "or why they wait, if they all do" "$shown" '^later\[\*\] .*LATER .* 10 jobs: 10 LATER; '
like "and counts them by state" "$shown" '^mixed\[\*\] .* 10 jobs: 9 OK, 1 DEAD$'
like "one that failed has a row as well" "$shown" '^mixed\[3\] .*exit 1'
is "and no other" "$(rows_of mixed)" 2
is "a few have a row each" "$(rows_of few)" 3
like "who needs a fan-out says so" "$shown" '^end .* good\[\*\],later\[\*\] '
is "--all lists each" "$(titan show --all "$run" | grep -c '^good')" 10
is "so does naming them" "$(titan show "$run/good" | grep -c '^good')" 10
is "and --plain" "$(titan --plain show "$run" | grep -c '^good')" 10
is "and JSON" "$(titan --json show "$run" | jq '.[0].jobs | length')" 35
ok "the name is a selector" titan show "$run/good[*]"

plan=$(titan plan fans.yaml 2>/dev/null)
like "a plan counts them" "$plan" '^good\[\*\] \(10\) +prep '
is "once" "$(printf '%s\n' "$plan" | grep -c '^good')" 1
is "or lists each" "$(titan plan --all fans.yaml 2>/dev/null | grep -c '^good')" 10
is "and for programs" "$(titan --json plan fans.yaml 2>/dev/null | jq length)" 35
is "so does run -n" "$(titan run -n fans.yaml 2>/dev/null | grep -c '^good')" 1

is "a graph draws one node" "$(titan graph "$run" | grep -c '+ good\[10\]')" 1
is "or each" "$(titan graph --all "$run" | grep -cE '^[^a-z]+good\[[0-9]')" 10
is "reasons are told once" "$(titan explain "$run" 2>/dev/null | grep -c 'LATER')" 1
is "or for each job" "$(titan explain --all "$run" 2>/dev/null | grep -c 'LATER')" 10
is "also of those that succeeded" "$(titan explain --all "$run" 2>/dev/null | grep -c ' OK ')" 23

# --- dead letters ---
bad=$(titan -q run -e "many*11; one; many='exit \$((TITAN_INDEX % 2 + 1))'; one=false")
dead() { [ "$(titan --json dlq ls "$bad" | jq length)" = "$1" ]; }
ok "twelve jobs are dead letters" until_true 60 dead 12
exits "many of one fan-out share a line" 0 titan dlq ls "$bad"
is "which is one" "$(printf '%s\n' "$out" | grep -c "^$bad/many")" 1
like "and says how they ended" "$out" "^$bad/many\[\*\] +failed +11 jobs: 6 exit 1, 5 exit 2 "
like "one alone has its own" "$out" "^$bad/one +failed +exit 1 "
is "--all lists each" "$(titan dlq ls --all "$bad" | grep -c "^$bad/many\[[0-9]")" 11
is "so does naming them" "$(titan dlq ls "$bad/many[*]" | grep -c "^$bad/many\[[0-9]")" 11
is "and --plain" "$(titan --plain dlq ls "$bad" | grep -c "^$bad/many\[[0-9]")" 11
exits "the limit is one of lines" 0 titan dlq ls "$bad" --limit 2
is "so this isn't cut" "$err" ""
exits "and this is" 0 titan dlq ls "$bad" --limit 1
is "with counts of lines and of dead letters" "$err" "1 of 2 lines shown; in all there are 12 dead letters: titan dlq ls $bad --limit 4"
is "for programs it is one of dead letters" "$(titan --json dlq ls "$bad" --limit 3 2>/dev/null | jq length)" 3
exits "a command for one dead letter says how many there are" 2 titan dlq show "$bad/many"
like "and names one" "$err" "stands for 11 dead letters, .*such as $bad/many\[10\]"
exits "the line's name is a selector" 0 titan -y dlq discard "$bad/many[*]"
ok "of all its dead letters" until_true 10 dead 1

# --- watch ---
command -v tmux >/dev/null || done_testing
titan -q cancel -y "$run" >/dev/null
open_terminal
keys "titan run -f -e \"wide*14; wide='until test -e $test_dir/on; do sleep 0.05; done'\" -j 14" Enter
ok "three members of a fan-out run" until_true 30 sees 'wide\[[0-9]+\] local'
titan worker start --name big --slots 11 </dev/null >big.log 2>&1 &
ok "more than fit the screen share a line" until_true 60 sees 'wide\[\*\] 14 jobs, the longest'
touch on
ok "the end is told" until_true 60 sees 'OK ok=14'
done_testing
