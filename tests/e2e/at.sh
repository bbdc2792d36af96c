# SPDX-License-Identifier: GPL-3.0-or-later
# --at: status, ls, show and explain of an earlier time print what they printed at that time, except for connections
# and load.
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip_all "no jq"
start_cluster --slots 2
moments=0
# What isn't kept, and what goes on with the time, is left out of both.
durable() {
	jq -S 'def strip: if type == "object" then with_entries(select(.key | IN("pid", "turn", "age_ms", "span_ms", "why", "why_code", "reason", "next", "advice", "detail") | not) | .value |= strip)
		elif type == "array" then map(strip) else . end; strip
		| if type == "object" and has("workers") then .workers |= map({name, slots, pool, standing}) else . end'
}
record() { # NAME RUN: what the commands say now
	titan --json status | durable >"$test_dir/$1.status"
	titan --json ls | durable >"$test_dir/$1.ls"
	titan --json show "$2" | durable >"$test_dir/$1.show"
	titan --json explain "$2/last" | durable >"$test_dir/$1.explain"
	eval "turn_$1=$(titan --json status | jq .master.turn)"
	moments=$((moments + 1))
}
same() { # NAME RUN WHEN
	exits "status of $1" 0 titan --json status --at "$3"
	is "is what it was" "$(printf '%s' "$out" | durable | diff "$test_dir/$1.status" - | head -n 6)" ""
	is "runs of $1 are" "$(titan -q --json ls --at "$3" 2>&1 | durable | diff "$test_dir/$1.ls" - | head -n 6)" ""
	is "jobs of $1 are" "$(titan -q --json show "$2" --at "$3" 2>&1 | durable | diff "$test_dir/$1.show" - | head -n 6)" ""
	is "the explained job of $1 is" "$(titan -q --json explain "$2/last" --at "$3" 2>&1 | durable | diff "$test_dir/$1.explain" - | head -n 6)" ""
}

old=$(titan run -w -e "one -> two; one='true'; two='true'" --name old)
run=$(titan run --name steps -e "first -> second -> last; first='until [ -e $test_dir/go ]; do sleep 0.05; done'; second='until [ -e $test_dir/on ]; do sleep 0.05; done'; last='true'")
ok "the first job runs" until_true 20 job_is "$run" first running
titan tenant set blue --weight 3 >/dev/null
titan hold "$run" >/dev/null
record held "$run"
titan release "$run" >/dev/null
touch "$test_dir/go"
ok "the second job runs" until_true 20 job_is "$run" second running
titan priority "$run/last" 70 >/dev/null
record second "$run"
touch "$test_dir/on"
ok "the run ends" until_true 20 run_ended "$run"
record ended "$run"
titan run -w -e "later='true'" --name later >/dev/null

same held "$run" "turn:$turn_held"
same second "$run" "turn:$turn_second"
same ended "$run" "turn:$turn_ended"
is "three moments were compared" "$moments" 3
exits "a time in words" 0 titan ls --at 0s
like "names the time and what isn't kept" "$err" "as of .*turn [0-9]+; titan doesn't keep which workers were connected"
exits "explain says what isn't known" 0 titan explain "$run/first" --at "turn:$turn_held"
exits "nothing can be changed there" 0 titan --json status --at "turn:$turn_held"
is "the worker's load isn't told" "$(printf '%s' "$out" | jq -c '.workers[0] | [.name, .state, .pid]')" '["local",null,null]'

exits "before what is kept" 4 titan ls --at 2001-01-01
like "the error names the earliest time" "$err" "earliest time that can be shown is 20"
exits "a time that is none" 2 titan ls --at nonsense
exits "a time to come" 2 titan ls --at 2199-01-01
like "is refused" "$err" "in the future"
exits "a turn that is none" 2 titan ls --at turn:x

# A run that was pruned since is there, as far as it is known; one that began later isn't.
titan -y prune --keep 1 >/dev/null 2>&1
is "a run that was pruned since is listed" "$(titan -q --json ls --at "turn:$turn_ended" | jq -c "[.[] | select(.run == $old) | .name]")" '["old"]'
exits "the real cluster goes on" 0 titan run -w -e "after='true'"
is "and has only its own master" "$(titan --json ls | jq 'map(.name) | index("after") != null')" true
# The masters of then end by themselves when nobody has asked for a minute; this test doesn't wait for that.
of_then() { grep -lzs "^TITAN_STATE=$TITAN_STATE/default/past/" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
none_of_then() { [ -z "$(of_then)" ]; }
ok "there is a master for each time" [ "$(of_then | wc -l)" -ge 3 ]
for pid in $(of_then); do kill "$pid" 2>/dev/null; done
ok "which ends when it is told to" until_true 20 none_of_then
is "and leaves nothing but the lock" "$(find "$TITAN_STATE/default/past" -type f | sed 's|.*/||')" lock
done_testing
