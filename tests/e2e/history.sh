# SPDX-License-Identifier: GPL-3.0-or-later
# titan history: acts with person and reason; runs with their ends, including pruned ones; gates that expired.
. "$(dirname "$0")/lib.sh"

me=$(id -un)
history() { titan --json history "$@"; }
entry() { printf '%s' "$out" | jq -c "$1"; }
start_cluster --slots 2

cat >"$test_dir/gate.yaml" <<END
name: release
jobs:
  qa: {approval: {count: 1, message: "Is it good?"}}
  late: {approval: {count: 1, timeout: 100ms}}
END
ok_run=$(titan run -w -e "fine; fine='true'" --name fine)
exits "a run fails" 1 titan run -w -e "bad; bad='exit 3'" --name bad
bad_run=$(titan --json ls | jq -r '.[0].run')
gate_run=$(titan run "$test_dir/gate.yaml")
ok "the gate that nobody decides on expires" until_true 20 job_is "$gate_run" late denied
titan -y approve "$gate_run/qa" -m "looks $(printf '\033[31m')good" >/dev/null
titan cordon local >/dev/null
held=$(titan run -e "h; h='true'" --name held)
titan hold "$held" >/dev/null
titan cancel "$held" >/dev/null
ok "the held run ends" until_true 20 run_ended "$held"
ok "and that of the gate" until_true 20 run_ended "$gate_run"
titan uncordon local >/dev/null

exits "all of it is listed" 0 history
is "the newest act is first" "$(entry '.[0] | [.verb, .target, .before, .after, .person]')" \
	"[\"resume\",\"worker local\",\"cordoned\",\"active\",\"$me\"]"
is "a run is listed with how it ended" "$(entry ".[] | select(.run == $bad_run and .verb == \"submit\") | [.name, .state, .job_count, .person, .act != null]")" \
	"[\"bad\",\"failed\",1,\"$me\",true]"
is "each run once" "$(entry '[.[] | select(.verb == "submit") | .run] | [length, (unique | length)]')" "[4,4]"
is "in the order of time" "$(entry '[.[].time] == ([.[].time] | sort | reverse)')" true
is "an act has its reason" "$(entry '.[] | select(.verb == "approve") | .message | test("good")')" true
is "nobody decided on the other gate" "$(entry '.[] | select(.verb == "expire") | [.person, .target]')" "[null,\"job $gate_run/late\"]"
is "a hold says what it changed" "$(entry '.[] | select(.verb == "hold") | [.before, .after, .run]')" "[\"free\",\"held\",$held]"
count=$(entry length)

exits "one run alone" 0 history --run "$held"
is "with all that was done to it" "$(printf "%s" "$out" | jq -r "[.[].verb] | join(\" \")")" "cancel hold submit"
exits "one kind of act" 0 history --verb cancel
is "alone" "$(entry '[.[].run]')" "[$held]"
exits "the acts of a person" 0 history --by "$me"
is "but not what nobody did" "$(entry length)" "$((count - 1))"
exits "the acts of another" 0 history --by nobody-else
is "are none" "$(entry .)" "[]"
exits "only what is new" 0 history --since "$(date -u -d '+1 hour' +%FT%TZ)"
is "of the future there is none" "$(entry length)" 0
exits "and what is old" 0 history --until 1h
is "of an hour ago neither" "$(entry length)" 0
exits "in the last ten minutes" 0 history --since 10m --until 2199-01-01
is "there is all of it" "$(entry length)" "$count"
exits "no more than was asked for" 0 titan history --limit 2
is "as lines for people" "$(printf '%s\n' "$out" | wc -l)" 3
like "with a word about the others" "$err" "newest 2 entries"
exits "a time that is none" 2 titan history --since yesterdayish
like "is refused with what a time is" "$err" yesterdayish
exits "plain has fixed columns" 0 titan --plain history --run "$bad_run"
like "time, who, act, target, detail" "$out" "^20[0-9-]+T[0-9:.]+Z	$me	submit	run $bad_run	bad, 1 job: failed in [0-9:]+	\$"
exits "nothing reaches the terminal unescaped" 0 titan history --verb approve
unlike "no escape" "$out" "$(printf '\033')"

exits "ended runs are pruned" 0 titan -y prune --keep 1 --dead
exits "and still listed" 0 history
is "with the bare facts, when they went and on whose word" \
	"$(entry ".[] | select(.run == $bad_run and .verb == \"submit\") | [.name, .state, .job_count, .pruned != null, .pruned_by, .ended != null]")" \
	"[\"bad\",\"failed\",1,true,\"$me\",true]"
is "each run is listed once again" "$(entry '[.[] | select(.verb == "submit") | .run] | sort')" "[$ok_run,$bad_run,$gate_run,$held]"
is "the prune is an act" "$(entry '.[0] | [.verb, .person]')" "[\"prune\",\"$me\"]"
exits "a pruned run can be asked for" 0 titan history --run "$ok_run"
like "in words" "$out" "fine, 1 job: succeeded in .*, pruned 20[0-9-]+ by $me"

kill -KILL "$(master_pid)"
exits "a master begins again" 0 titan up
exits "and knows the history" 0 history --run "$bad_run"
is "of the pruned run, too" "$(entry '.[-1] | [.name, .pruned_by]')" "[\"bad\",\"$me\"]"
exits "the facts go with the acts of their time" 0 titan -y prune --acts 0s
forgotten() { [ "$(history | jq '[.[] | select(.pruned != null)] | length')" = 0 ]; }
ok "and are gone then" until_true 20 forgotten
exits "the store is sound" 0 titan fsck
done_testing
