# SPDX-License-Identifier: GPL-3.0-or-later
# Lists: which rows they have, in which order, what they say about rows left out, and why each row's job or run waits.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1
busy=$(titan run --name busy -e "busy; busy='until test -e $test_dir/on; do sleep 0.05; done'")
ok "the only slot is taken" until_true 20 job_is "$busy" busy running
first=$(titan run --name nightly -e "one=true")
second=$(titan run --name build -e "two -> three; two=true; three=true")
ids() { titan --format '{run}' ls "$@" | tr '\n' ' '; }

# --- why ---
why_of() { titan --json ls "$1" | jq -r '.[0] | "\(.reason): \(.why)"'; }
like "a run tells what its job waits for" "$(why_of "$second")" '^all_slots_busy: two: the only slot that the job could use is busy'
is "a run that goes on waits for nothing" "$(why_of "$busy")" "null: null"
titan -q hold "$first"
is "a run on hold says so" "$(why_of "$first")" "held: a person put a hold on the run"
titan -q release "$first"
like "so does show, for each job" "$(titan show "$second")" 'three .*the job waits for two \(ready\)'
like "in the words of explain" "$(titan show "$second/two")" "why +$(titan --json explain "$second/two" | jq -r '.[0].why' | cut -d';' -f1)"
touch on
exits "all end" 0 titan --timeout 60s wait "$busy" "$first" "$second"
is "then nothing waits" "$(why_of "$second")" "null: null"
like "ls says when it ended" "$(titan ls "$second")" 'ENDED +WHY'
like "today without a date" "$(titan ls "$second")" ' [0-2][0-9]:[0-5][0-9]:[0-5][0-9] '

# --- which runs ---
is "the newest first" "$(ids)" "$second $first $busy "
is "a pattern of the name" "$(ids --name 'b*')" "$second $busy "
is "a name alone is a pattern" "$(ids --name nightly)" "$first "
is "none" "$(ids --name 'x*')" ""
submitted=$(titan --json ls "$first" | jq -r '.[0].submitted')
is "since is the time of the submit, or later" "$(ids --since "$submitted")" "$second $first "
is "until is before it" "$(ids --until "$submitted")" "$busy "
is "both" "$(ids --since "$submitted" --until "$(titan --json ls "$second" | jq -r '.[0].submitted')")" "$first "
is "so long ago" "$(ids --since 1d)" "$second $first $busy "
is "in the future" "$(ids --since 2100-01-01)" ""
is "sorted" "$(ids --sort name)" "$second $busy $first "
is "the other way" "$(ids --sort -name)" "$first $busy $second "
exits "a list that is cut says so" 0 titan ls --limit 2
is "with the next command" "$err" "there are more than these 2 runs: titan ls --limit 8"
exits "one that isn't, doesn't" 0 titan ls --limit 3
is "at all" "$err" ""
exits "a time that is none" 2 titan ls --since soon
exits "a column that is none" 2 titan ls --sort size
exits "a limit of none" 2 titan ls --limit 0


# --- the other lists ---
for name in x y z; do
	titan -q run -w --name "$name-run" -e "$name=false" >/dev/null 2>&1
done
letters() { titan --format '{name}' dlq ls "$@" | tr '\n' ' '; }
is "dead letters, too" "$(letters --sort name)" "x y z "
is "by the name of their run" "$(letters --name 'y*')" "y "
is "by the time when they died" "$(letters --until "$(titan --json dlq ls --name y-run | jq -r '.[0].died')")" "x "
exits "cut" 0 titan dlq ls --limit 2
like "as they say" "$err" '^2 of 3 dead letters shown: titan dlq ls --limit 8'
exits "only ls has such options" 2 titan dlq show --limit 1 "$first/one"
is "workers" "$(titan --format '{name}' worker ls --name 'lo*' --sort -name)" local
is "none of that name" "$(titan --json worker ls --name 'x*')" "[]"
exits "schedules" 0 titan schedule ls --sort name --limit 3
exits "approvals" 0 titan approvals --sort name --limit 3
exits "and decisions" 0 titan approvals --all --since 1h

done_testing
