# SPDX-License-Identifier: GPL-3.0-or-later
# run --again --edit, schedule edit and dlq requeue --edit: an editor on a graph, errors, and changes of others meanwhile.
. "$(dirname "$0")/lib.sh"

export XDG_RUNTIME_DIR=$test_dir/runtime TMPDIR=$test_dir/runtime
mkdir -p "$XDG_RUNTIME_DIR"
start_cluster --slots 2
unset VISUAL
editor() { # SCRIPT: makes an editor that gets the file as $1
	printf '#!/bin/sh\n%s\n' "$1" >"$test_dir/editor"
	chmod +x "$test_dir/editor"
}
export EDITOR=$test_dir/editor

run=$(titan -q run -w -e 'a -> b*2; a="echo old; pwd"; b="echo $i"' --name work --env K=v)
cd "$XDG_RUNTIME_DIR" || exit 1
editor 'stat -c "%a %n" "$1" "${1%/*}" >'"$test_dir"'/seen; cp "$1" '"$test_dir"'/shown; sed -i "s/echo old/echo new/; s/fan_out: 2/fan_out: 3/" "$1"'
exits "an edited graph is submitted" 0 titan run --again "$run" --edit -w
new=$(printf '%s\n' "$out" | grep -oE '[0-9]+' | head -n 1)
is "as a run of its own" "$new" $((run + 1))
like "that does what was written" "$(titan logs "$new/a")" '^new'
like "in the directory of the first" "$(titan logs "$new/a")" "^$test_dir\$"
is "with the jobs that were written" "$(titan --json show "$new" | jq '.[0].jobs | length')" 4
is "under its name" "$(titan --json ls | jq -r '.[0].name')" work
like "the variables were in the text" "$(cat "$test_dir/shown")" 'K: v'
like "only this user can read the file" "$(cat "$test_dir/seen")" '^600 .*/work.yaml$'
like "or see it" "$(cat "$test_dir/seen")" '^700 '
is "nothing is left" "$(ls -A "$XDG_RUNTIME_DIR")" ""

editor ':'
exits "an unchanged text does nothing" 1 titan run --again "$run" --edit
like "which is said" "$err" "wasn't changed, so nothing was done"
is "no run was made" "$(titan --json ls | jq '.[0].run')" "$new"
editor 'exit 3'
exits "an editor that fails does nothing" 1 titan run --again "$run" --edit
like "and its status is shown" "$err" 'status 3'
editor 'echo "  bad: [" >>"$1"'
exits "an error is refused" 2 titan run --again "$run" --edit
like "with its line" "$err" '^work.yaml:[0-9]+:[0-9]+: error: '
editor 'sed -i "s/needs: \[a\]/needs: [x]/" "$1"'
exits "also one of the graph" 2 titan run --again "$run" --edit
like "with its place" "$err" "^work.yaml:.*needs 'x'"
is "and nothing is left of it" "$(ls -A "$XDG_RUNTIME_DIR")" ""
editor 'sed -i "s/echo old/echo \"$2\"/" "$1"'
exits "the variable may have options" 0 env VISUAL="$test_dir/swap --with 'two words'" sh -c "printf '#!/bin/sh\nsed -i \"s/echo old/echo \$2/\" \"\$3\"\n' >$test_dir/swap; chmod +x $test_dir/swap; $TITAN -q run -w --again $run --edit"
like "which are kept apart" "$(titan logs "$(printf '%s\n' "$out" | head -n 1)/a")" '^two words'
exits "an editor that isn't there" 4 env EDITOR=no-such-editor "$TITAN" run --again "$run" --edit
exits "--edit needs --again" 2 titan run --edit -e 'a=true'

# --- schedules ---
printf 'name: nightly\nschedule: {cron: "0 3 * * *"}\njobs: {a: {run: "true"}}\n' >"$test_dir/nightly.yaml"
titan -q schedule add "$test_dir/nightly.yaml"
editor 'sed -i "s/0 3/0 4/" "$1"'
exits "a schedule is edited" 0 titan schedule edit nightly
is "and stored" "$(titan --json schedule show nightly | jq -r .cron)" "0 4 * * *"
editor "sed -i 's/0 4/0 5/' \"\$1\"; sed 's/0 3/0 6/' $test_dir/nightly.yaml >$test_dir/other.yaml; $TITAN -q schedule add $test_dir/other.yaml"
exits "a change of somebody else meanwhile is noticed" 8 titan schedule edit nightly
like "and named" "$err" "schedule 'nightly' was changed meanwhile"
is "and stays" "$(titan --json schedule show nightly | jq -r .cron)" "0 6 * * *"
editor "sed -i 's/0 6/0 7/' \"\$1\"; $TITAN -q schedule rm nightly"
exits "so is its end" 8 titan schedule edit nightly
like "which is another thing" "$err" 'was removed meanwhile'
titan -q schedule add "$test_dir/nightly.yaml"
editor 'sed -i "s/name: nightly/name: daily/" "$1"'
exits "another name is another schedule" 2 titan schedule edit nightly
editor 'sed -i "/^schedule:/,/^  cron/d" "$1"'
exits "a schedule keeps its times" 2 titan schedule edit nightly
exits "no schedule of that name" 4 titan schedule edit none

# --- dead letters ---
run=$(titan -q run -w -e 'ok -> bad -> after; fan*2; ok=true; bad="exit 3"; after=true; fan="exit 1"' --name etl 2>/dev/null | head -n 1)
letters() { titan --json dlq ls | jq -r '[.[].job] | sort | join(" ")'; }
is "there are dead letters" "$(letters)" "$run/bad $run/fan[0] $run/fan[1]"
editor 'sed -i "s/exit 3/echo fixed; true/" "$1"'
exits "one is edited and run again" 0 titan dlq requeue "$run/bad" --edit
new=$(printf '%s\n' "$out" | head -n 1)
ok "in a run of its own" titan wait "$new"
is "without the others" "$(titan --json show "$new" | jq -r '[.[0].jobs[].name] | join(" ")')" bad
is "with what was written" "$(titan logs "$new/bad")" fixed
is "and is no dead letter any more" "$(letters)" "$run/fan[0] $run/fan[1]"
editor 'sed -i "s/exit 1/true/" "$1"; cp "$1" '"$test_dir/member"
exits "a member of a fan-out, too" 0 titan --json dlq requeue "$run/fan[1]" --edit
is "as data" "$(printf '%s\n' "$out" | jq .job_count)" 1
like "under another name" "$(cat "$test_dir/member")" 'fan-1:'
editor "sed -i 's/exit 1/true/' \"\$1\"; $TITAN -q dlq discard '$run/fan[0]'"
last=$(titan --json ls | jq '.[0].run')
exits "what somebody else did meanwhile is noticed" 8 titan dlq requeue "$run/fan[0]" --edit
like "and said" "$err" 'somebody requeued or discarded'
is "and nothing is submitted" "$(titan --json ls | jq '.[0].run')" "$last"
exits "one at a time" 2 titan dlq requeue "$run" all --edit
exits "and only to requeue" 2 titan dlq discard "$run/bad" --edit

done_testing
