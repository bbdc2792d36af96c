# SPDX-License-Identifier: GPL-3.0-or-later
# titan undo: each kind of act that has an inverse, acts that have none, and what was changed since.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
newest() { titan --json history --limit 1 | jq -r '.[0].act'; }
undo() { titan --json undo "$@"; }

exits "nothing was done yet" 4 titan undo
like "that is said" "$err" 'none of your acts can be undone'

# --- runs and jobs ---
run=$(titan run -e "a -> b; a='sleep 600'; b='true'")
job() { titan --json show "$run/$1" | jq -r ".[0].$2"; }
submit=$(newest)
exits "a submit has no inverse" 2 titan undo
like "it says why" "$err" 'submit run [0-9]+\) can.t be undone: .*cancelled'
titan -q hold "$run/b"
is "the job is held" "$(job b held)" true
exits "a dry run" 0 titan undo -n
like "tells what would be" "$err" "would undo act [0-9]+ \(hold job $run/b\): held -> free; nothing"
is "and changes nothing" "$(job b held)" true
exits "a hold is taken back" 0 undo
is "with its states" "$(printf '%s' "$out" | jq -c '[.verb, .target, .before, .after, .changed, .dry_run]')" \
	"[\"hold\",\"job $run/b\",\"held\",\"free\",1,false]"
is "the job is free" "$(job b held)" false
exits "undo is an act, and can be taken back" 0 titan undo
is "the job is held again" "$(job b held)" true
titan -q release "$run/b"
exits "so is a release" 0 titan undo
is "the job is held once more" "$(job b held)" true
titan -q release "$run/b"

titan -q priority "$run/b" 70
exits "a priority" 0 titan undo
is "is what it was" "$(job b priority)" 50
titan -q priority "$run/b" 70
titan -q priority "$run" 20
exits "many priorities" 0 titan undo
is "are what each was" "$(job a priority) $(job b priority)" '50 70'
titan -q hold "$run"
exits "a hold of a run" 0 titan undo
is "is ended" "$(titan --json history --limit 1 | jq -r '.[0] | .verb, .target, .after' | tr '\n' ' ')" "release run $run free "

titan -q priority "$run/b" 10
act=$(newest)
titan -q priority "$run/b" 11
exits "what was changed since" 8 titan undo "$act"
like "stays" "$err" 'somebody changed the same thing since then'
is "as it is" "$(job b priority)" 11
exits "a number that is no act of mine" 4 titan undo 99999
exits "what is no number" 2 titan undo last
exits "an act by its number" 2 titan undo "$submit"

# --- workers, pools, tenants, groups, schedules, locks ---
latest() { titan --json history --limit 1 | jq -r '.[0] | "\(.verb) \(.target): \(.before) \(.after)"'; }
back() { # DESCRIPTION RESULT: take back the newest act
	exits "$1 can be taken back" 0 titan undo
	is "by its inverse" "$(latest)" "$2"
}
titan -q cordon local
back "a cordon" 'resume worker local: cordoned active'
titan -q cordon local
titan -q drain local
back "a drain of what was cordoned" 'pause worker local: draining cordoned'
titan -q uncordon local
back "an uncordon" 'pause worker local: active cordoned'
titan -q uncordon local
titan -q pool set slow draining
exits "a state of a pool can be taken back" 0 titan undo
is "the pool is active" "$(titan --json pool ls | jq -r '.[] | select(.name == "slow") | .state' | grep -v active)" ''
titan -q tenant set t --weight 3 --max-jobs 4
back "a new tenant" 'remove tenant t: weight 3, jobs 4, queued 0 null'
titan -q tenant set t --weight 3 --max-jobs 4
titan -q tenant set t --max-jobs 0 --max-queued 9
back "a change of it" 'put tenant t: weight 3, jobs 0, queued 9 weight 3, jobs 4, queued 0'
titan -q tenant rm t
back "its removal" 'put tenant t: null weight 3, jobs 4, queued 0'
titan -q group set g --max 2
titan -q group set g --max 5
back "a limit of a group" 'put group g: limit 5 limit 2'
titan -q group rm g
back "its removal" 'put group g: null limit 2'
printf 'name: nightly\nschedule: {cron: "0 3 * * *"}\njobs: {a: {run: "true"}}\n' >nightly.yaml
titan -q schedule add nightly.yaml
exits "a schedule that was added has no inverse" 2 titan undo
titan -q schedule pause nightly
exits "a pause can be taken back" 0 titan undo
is "the schedule goes on" "$(titan --json schedule ls | jq '.[0].paused')" false
titan -q lock take mine >/dev/null
exits "a lock that was taken" 0 titan undo
is "is dropped" "$(titan --json lock ls | jq length)" 0
titan -q lock take mine >/dev/null
titan -q lock drop mine
exits "a drop has no inverse" 2 titan undo
like "but an older act has: it is named" "$err" 'titan undo [0-9]+'

# --- what has ended ---
titan -q hold "$run/b"
act=$(newest)
titan -q cancel "$run"
ok "the run ends" until_true 30 run_ended "$run"
exits "a cancel has no inverse" 2 titan undo
like "and the way on is told" "$err" 'titan retry runs them again'
exits "a hold of what has ended needs none" 1 titan undo "$act"
done_testing
