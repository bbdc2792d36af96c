# SPDX-License-Identifier: GPL-3.0-or-later
# titan graph draws runs, files and lines as lanes, and writes them for Graphviz and as data.
# time-out: 300 s
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8

line="a -> {b, c} -> d; a=true; b=true; c=true; d=true"
is "a line is drawn without a master" "$(titan graph -e "$line" | sed 's/ *$//')" "◌       a
├─┐
◌ │     b ← a
│ ◌     c ← a
├─┘
◌       d ← b, c"
is "in ASCII" "$(LC_ALL=C titan graph -e "a -> b; a=true; b=true" | sed 's/ *$//')" ".     a
.     b < a"
like "a fan-out is one row" "$(titan graph -e "a -> e*20 -> z; a=true; e=true; z=true")" '[+] e\[20\] +← a'
is "for programs nothing is folded" "$(titan graph --json -e "a -> e*20; a=true; e=true" | jq length)" 21
is "needs have their results" "$(titan graph --json -e 'a:failed -> b; a=true; b=true' | jq -c '.[1].needs')" '["a:failed"]'
is "as columns" "$(titan graph --plain -e "$line" | tail -n 1)" "d		b,c"
cat >p.yaml <<END
name: rel-1
jobs:
  a: {run: "true"}
  b: {run: "true", needs: {a: failed}}
END
dot=$(titan graph --dot p.yaml)
like "Graphviz: the name is in quotes" "$dot" '^digraph "rel-1" [{]$'
like "Graphviz: an edge" "$dot" 'n0 -> n1 \[color=red, label=failed\];'
exits "no such file" 4 titan graph nothing.yaml
exits "an invalid line" 2 titan graph -e 'a ->'
exits "neither" 2 titan graph
exits "both" 2 titan graph p.yaml -e "$line"
exits "two formats" 2 titan --json graph --dot p.yaml

start_cluster --slots 2
run=$(titan run -e "a -> e*12 -> z; a=true; e='[ \$i != 7 ]'; z=true")
exits "a run" 1 titan --timeout 60s wait "$run"
drawn=$(titan graph "$run")
like "has states" "$drawn" '^✓ +a +OK '
like "and counts" "$drawn" '[+] e\[12\] +FAIL +✓11 ✗1 '
like "and failed jobs" "$drawn" ' e\[7\] +(FAIL|DEAD) +exit 1'
is "as data" "$(titan graph --json "$run" | jq -r '.[] | select(.name == "e[7]") | .state')" failed
exits "no such run" 4 titan graph 99999

exits "100,000 jobs are drawn soon" 0 timeout 120 "$TITAN" graph -e "a -> {x*60000, y*40000}; a=true; x=true; y=true"
is "in a few rows" "$(printf '%s\n' "$out" | grep -cE '[+] [xy]\[')" 2

done_testing
