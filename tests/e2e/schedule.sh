# SPDX-License-Identifier: GPL-3.0-or-later
# Schedules through commands: added, shown, fired, paused, kept over a restart, removed; and the texts of their errors.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
field() { titan --json schedule show nightly | jq -r "$1"; }

cat >nightly.yaml <<'EOF'
name: nightly
schedule: {cron: "0 3 * * *", tz: UTC, overlap: skip, catchup: 1h}
jobs:
  a: {run: echo ran}
EOF
exits "a file with a schedule is validated" 0 titan validate nightly.yaml
exits "titan run of it runs it once" 0 titan --timeout 30s run -w nightly.yaml
is "and schedules nothing" "$(titan --json schedule ls | jq length)" 0
exits "it is added" 0 titan schedule add nightly.yaml
is "and listed" "$(titan --json schedule ls | jq -r '.[].name')" nightly
like "its next times are shown" "$(field '.upcoming | join(" ")')" '^([0-9-]+T03:00:00.000Z ?){5}$'
exits "a run of it is begun by hand" 0 titan --json schedule fire nightly
run=$(printf '%s' "$out" | jq .run)
ok "which ends well" until_true 30 run_is "$run" succeeded
is "it carries the schedule's name" "$(titan --json ls | jq -r ".[] | select(.run == $run or .run == $run) | .schedule" | head -n 1)" nightly
is "and is counted" "$(field .fired)/$(field .last_run)" "1/$run"
exits "adding it again replaces it" 0 titan schedule add nightly.yaml
is "and there is one" "$(titan --json schedule ls | jq length)" 1
exits "it is paused" 0 titan schedule pause nightly
is "and has no next time" "$(field .next_time)" null

kill -9 "$(master_pid)"
start_cluster --slots 2
is "after a crash it is still there, and paused" "$(field .paused)/$(field .fired)" true/1
exits "it goes on" 0 titan schedule resume nightly
like "and has a next time" "$(field .next_time)" 'T03:00:00'

cat >often.yaml <<'EOF'
name: often
schedule: {cron: "* * * * *"}
jobs:
  a: {run: echo ran}
EOF
exits "one that comes every minute" 0 titan schedule add often.yaml
ok "comes by itself" until_true 90 sh -c "[ \"\$($TITAN --json schedule show often | jq .fired)\" = 1 ]"
ok "and its run ends well" until_true 30 run_is last succeeded

exits "it is removed" 0 titan schedule rm often
exits "and not there any more" 4 titan schedule show often
exits "nor can it be fired" 4 titan schedule fire often

printf 'schedule: {cron: "0 25 * * *"}\njobs:\n  a: {run: "true"}\n' >bad.yaml
exits "a bad time is refused" 2 titan schedule add bad.yaml
like "with its place" "$err" 'bad.yaml:1:2[0-9]: error: cron: an hour must be from 0 to 23'
printf 'schedule: {cron: "0 2 * * *", tz: Mars/Base}\njobs:\n  a: {run: "true"}\n' >bad.yaml
exits "so is a zone that there isn't" 2 titan schedule add bad.yaml
like "with its name" "$err" 'Mars/Base'
exits "validate refuses it as well" 2 titan validate bad.yaml
like "with its place" "$err" "bad.yaml:1:35: error: time zone 'Mars/Base' isn't installed"
printf 'jobs:\n  a: {run: "true"}\n' >bad.yaml
exits "and a pipeline without times" 2 titan schedule add bad.yaml
like "which says what is missing" "$err" 'has no key schedule: with the times at which runs begin'
exits "an unknown verb is refused" 2 titan schedule explode nightly

done_testing
