# SPDX-License-Identifier: GPL-3.0-or-later
# What people and jobs did is in the store, in order and as a chain of hashes, also after a kill of the master; fsck
# names a changed row.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
store=$TITAN_STATE/default/titan.db
sql() { python3 -c "
import sqlite3, sys
file = sqlite3.connect(sys.argv[1])
for row in file.execute(sys.argv[2]): print(*row, sep='|')
file.commit()
file.close()" "$store" "$1"; }

start_cluster --slots 1
cat >"$test_dir/begin" <<END
"$TITAN" run -e "inner; inner='true'"
END
run=$(titan run -e "a -> b; a='sh $test_dir/begin'; b='sleep 600'")
until_true 20 job_is "$run" b running
titan priority "$run/b" 70 >/dev/null
exits "a priority of no job is refused" 4 titan priority "$run/nobody" 70
pid=$(master_pid)
kill -KILL "$pid"
exits "a master begins again" 0 titan up
titan cordon local >/dev/null
titan -y down >/dev/null 2>&1

like "the submit is an act, with the key" "$(sql "SELECT verb, target, after, length(key_id), origin FROM act WHERE act = 1")" \
	"^submit\|run $run\|.*2 jobs\|16\|unix$"
like "a job's submit says which job spoke" "$(sql "SELECT verb, origin, by_job > 0 FROM act WHERE act = 2")" "^submit\|job $run/a\|1$"
is "a priority says what was before and is after" \
	"$(sql "SELECT verb, target, before, after FROM act WHERE act = 3")" "priority|job $run/b|50|70"
is "what was refused is none, and what came after the kill follows" \
	"$(sql "SELECT act, verb, before, after FROM act WHERE act = 4")" "4|pause|active|cordoned"
is "the end of the master is the last" "$(sql "SELECT act, verb, target FROM act ORDER BY act DESC LIMIT 1")" "5|shutdown|master"
is "no command stands in them" "$(sql "SELECT count(*) FROM act WHERE before || after || target LIKE '%sleep%'")" 0
exits "fsck finds the chain whole" 0 titan fsck
name=$(sql "SELECT name FROM act WHERE act = 3")
sql "UPDATE act SET name = 'nobody' WHERE act = 3" >/dev/null
exits "and a changed row of it" 74 titan fsck
like "by its number" "$err" "act 3: its row was changed"

sql "UPDATE act SET name = '$name' WHERE act = 3" >/dev/null
exits "as it was it is whole again" 0 titan up
exits "old acts and what turns changed can be removed" 0 titan -y --json prune --history 0s --acts 0s
like "and are counted" "$(printf '%s' "$out" | jq -c '[.past_turns > 5, .acts]')" "true,5"
exits "by size, too" 0 titan -y --json prune --past-size 0
titan -y down >/dev/null 2>&1
is "the latest acts stay, in order" "$(sql "SELECT act, verb FROM act ORDER BY act LIMIT 2" | tr '\n' ' ')" "6|prune 7|prune "
exits "the chain goes on from them" 0 titan fsck
forgot() { # whether a master that takes a turn now and then forgets the acts of before
	titan run -w -e "one; one=true" && rm -f "$test_dir/copy.db" && titan backup "$test_dir/copy.db" &&
		[ "$(store=$test_dir/copy.db sql "SELECT min(act) > 7 FROM act")" = 1 ]
}
TITAN_KEEP_ACTS=0s TITAN_KEEP_PAST=0s TITAN_PRUNE_EVERY=100ms titan up >/dev/null 2>&1
titan uncordon local >/dev/null
ok "a master forgets by its own rules" until_true 20 forgot
