# SPDX-License-Identifier: GPL-3.0-or-later
# titan doctor names what is wrong on this machine and what to do, and changes nothing. Only the findings that this
# test causes are checked, not those of the machine that runs it.
. "$(dirname "$0")/lib.sh"

# Whatever the machine of this test lacks isn't the subject: only the findings that the test makes are looked at.
found() { titan --json doctor | jq -r --arg check "$1" '[.[] | select(.check == $check and .verdict != "ok") | .verdict] | unique | join(",")'; }
next_of() { titan --json doctor | jq -r --arg check "$1" '[.[] | select(.check == $check and .verdict != "ok") | .next] | first'; }

is "no master is advice" "$(found master)" advice
like "with the command that starts one" "$(next_of master)" 'titan up'
ok "nothing was made" test ! -e "$TITAN_STATE/default"
start_cluster --slots 2
is "a master that answers is fine" "$(found master)$(found workers)$(found directory)" ''
is "each finding has its fields" "$(titan --json doctor | jq -c 'map(keys) | unique')" '[["check","finding","next","verdict"]]'
is "what isn't fine has a next step" "$(titan --json doctor | jq '[.[] | select(.verdict != "ok" and .next == null)] | length')" 0
like "plain is of four columns" "$(titan --plain doctor | awk -F '\t' '{ print NF }' | sort -u)" '^4$'
titan -q cordon local
is "a cordon is advice" "$(found workers)" advice
like "with its end" "$(next_of workers)" '^titan uncordon local$'
titan -q uncordon local
chmod 755 "$TITAN_STATE/default"
exits "a directory that others may enter" 1 titan doctor
like "is a problem" "$out" 'other users may enter'
like "with its remedy" "$out" "next: chmod 700 $TITAN_STATE/default"
chmod 700 "$TITAN_STATE/default"
exits "few files" 1 bash -c 'ulimit -n 100 && "$0" doctor' "$TITAN"
like "are a problem" "$out" 'at most 100 open files'
TITAN_GRACE=1s TITAN_LEASE=600ms TITAN_HEARTBEAT=150ms TITAN_CLUSTER=short titan up >/dev/null 2>&1
export TITAN_CLUSTER=short
ok "another cluster's worker is there" until_true 20 worker_is_up
kill_worker "$(guardian_pid)"
worker_lost() { [ "$(found workers)" = problem ]; }
ok "a lost worker is a problem" until_true 30 worker_lost
like "with what to do" "$(next_of workers)" 'titan worker rm local'
done_testing
