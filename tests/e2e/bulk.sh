# SPDX-License-Identifier: GPL-3.0-or-later
# Selectors that stand for several runs or jobs, and acts on them: counted, confirmed, reported in one form.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
one=$(titan run --name one -e "bad; bad='exit 3'")
two=$(titan run --name two -e "bad='exit 4'; good=true")
fine=$(titan run --name fine -e "good=true")
gpu=$(titan run --name gpu -e "far='sleep 600' label=gpu; near='sleep 600'")
later=$(titan run --name later -e "a='sleep 600' delay=1h")
for run in "$one" "$two" "$fine"; do
	until_true 20 run_ended "$run"
done
until_true 20 job_is "$gpu" near running
ids() { titan --json ls "$@" | jq -c '[.[].run]'; }

# --- ls and show ---
is "a range" "$(ids "$two-$gpu")" "[$gpu,$fine,$two]"
is "all" "$(ids all | jq length)" 5
is "jobs in a state: their runs, each once" "$(ids state=failed)" "[$two,$one]"
is "several words are all of it" "$(ids state=failed,name=bad,run=two)" "[$two]"
is "labels" "$(ids label=gpu)" "[$gpu]"
is "what is of runs alone finds what has ended" "$(ids run=fine)" "[$fine]"
is "several selectors" "$(ids "$one" state=running)" "[$one,$gpu]"
exits "a word that isn't known" 2 titan ls colour=red
like "has a list" "$err" 'state, label, name or worker'
exits "a state that isn't one" 2 titan ls state=broken
exits "nothing like it" 4 titan show state=denied
exits "a range that runs backwards" 2 titan ls 9-3
is "show has only those jobs" \
	"$(titan --json show state=failed | jq -c '[.[] | [.run, [.jobs[].name]]]')" "[[$two,[\"bad\"]],[$one,[\"bad\"]]]"
is "and whole runs in a list" "$(titan --json show "$one" "$fine" | jq -c '[.[].name]')" '["one","fine"]'
is "one alone is a list as well" "$(titan --json show "$one" | jq -r '.[0] | .name')" one
like "for people one under the other" "$(titan show "$one" "$two")" "^$two two"

# --- a dry run changes nothing, so it asks nothing ---
exits "a retry" 0 titan retry -n FAIL
like "says what it would do" "$err" 'dry run: 2 jobs would be scheduled to run again; nothing was changed'
like "and lists it" "$out" "^$two/bad +1"
exits "a cancel" 0 titan --json cancel --dry-run all
is "counts the jobs of each run" "$(printf '%s' "$out" | jq -c '[.[] | [.run, .changed, .dry_run]]')" \
	"[[$later,1,true],[$gpu,2,true]]"
exits "a hold" 0 titan hold -n "$gpu" "$later/a"
like "of jobs, too" "$err" 'dry run: 3 jobs would be held back'
exits "a release" 0 titan release -n "$gpu"
like "of what isn't held" "$err" 'dry run: 0 jobs would be let go'
exits "a priority" 0 titan priority -n "$gpu" 90
is "nothing of it was done" "$(titan --json show "$gpu/near" | jq -r '.[0] | .priority, .held, .state' | tr '\n' ' ')" "50 false running "
is "not even a retry" "$(run_state "$two")" failed
exits "a cordon" 0 titan --json cordon -n local
is "which would change the worker" "$(printf '%s' "$out" | jq -c .)" '[{"name":"local","changed":1,"dry_run":true}]'
is "doesn't" "$(titan --json worker ls | jq -r '.[0].standing')" null
exits "a worker that isn't there" 4 titan drain -n nobody
exits "a pool" 0 titan pool set -n default draining
like "is told" "$err" 'dry run: 1 pool would be changed'
exits "what isn't there" 4 titan cancel -n "$gpu/nobody"

# --- acts want a yes ---
exits "a retry of what wasn't named stops" 2 titan retry state=failed
like "with the count and the first" "$err" "retry of 2 jobs \\($two/bad, $one/bad\\)"
is "and does nothing" "$(job_state "$one" bad)" failed
exits "with -y it is done" 0 titan -y --json retry state=failed
is "in a list of one shape" "$(printf '%s' "$out" | jq -c '[.[] | [.job, .run, .name]]')" \
	"[[\"$two/bad\",$two,\"bad\"],[\"$one/bad\",$one,\"bad\"]]"
ok "they run again" until_true 20 run_is "$two" failed
exits "runs and jobs are retried differently" 2 titan -y retry "$one" "$two/bad"
exits "all that live are held" 0 titan -y hold all
is "those that wait, too" "$(titan --json show "$later" | jq -r '.[0] | .held')" true
exits "and released" 0 titan -y release "$gpu-$later"
is "again" "$(titan --json show "$later" | jq -r '.[0] | .held')" false
exits "a cancel of a range stops" 2 titan cancel "$one-$later"
like "and counts what lives" "$err" "cancel of 2 runs \\($later, $gpu\\)"
exits "one job of all" 0 titan -y cancel label=gpu
ok "is cancelled" until_true 20 job_is "$gpu" far cancelled
is "and no other" "$(job_state "$gpu" near)" running
exits "cancel has the shape of the others" 0 titan --json cancel "$later"
is "one of them is a list as well" "$(printf '%s' "$out" | jq -c '[.[] | [.target, .changed, .run, .job]]')" "[[\"$later\",1,$later,null]]"
exits "the rest" 0 titan -y cancel --wait all
ok "has ended" run_ended "$gpu"
exits "then nothing is left" 4 titan -y cancel all
like "that hasn't ended" "$err" "still live"

done_testing
