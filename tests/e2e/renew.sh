# SPDX-License-Identifier: GPL-3.0-or-later
# A running guardian is replaced by a newer version of the program: its process, keeper and jobs go on, and how they
# end is known.
. "$(dirname "$0")/lib.sh"

program=$test_dir/bin/titan
mkdir "$test_dir/bin"
replace() { # FILE: as an installation does, by rename
	cp "$1" "$program.new" && chmod 755 "$program.new" && mv "$program.new" "$program"
}
replace "$TITAN"
TITAN=$program
start_cluster --slots 2
hold=$test_dir/hold
: >"$hold"
run=$(titan -q run -e "j; j='echo start >>$test_dir/starts; while [ -e $hold ]; do sleep 0.05; done; exit 4' retry=0")
until_true 10 job_is "$run" j running || note "it never ran"
guardian=$(guardian_pid)
keeper=$(state_of '.workers[0].pid')

replace "$TITAN"
like "a running guardian's program was replaced" "$(readlink "/proc/$guardian/exe")" '\(deleted\)$'
echo 'color: never' >"$TITAN_STATE/default/titan.conf"
kill -HUP "$guardian"
runs_new() { [ "$(readlink "/proc/$guardian/exe")" = "$program" ]; }
ok "SIGHUP makes it the new one" until_true 10 runs_new
is_guardian() { [ "$(cat "/proc/$guardian/comm")" = titan-guardian ]; }
ok "which is the guardian" until_true 10 is_guardian
like "though titan.conf became wrong meanwhile" "$(cat "$TITAN_STATE/default/worker-local.log")" "titan.conf:1:1: error: key 'color' isn't allowed"
rm "$TITAN_STATE/default/titan.conf"
is "of the same keeper" "$(guardian_pid) $(state_of '.workers[0].pid')" "$guardian $keeper"
exits "a second worker is refused as before" 75 titan worker start --name local

kill -KILL "$keeper"
new_keeper() { [ "$(state_of '.workers[0].pid')" != "$keeper" ] && worker_is_up; }
ok "it starts a killed keeper again" until_true 20 new_keeper
is "as the new version" "$(readlink "/proc/$(state_of '.workers[0].pid')/exe")" "$program"
rm "$hold"
exits "the job ends" 1 titan --timeout 30s wait "$run"
is "with its own status, started once" \
	"$(titan --json show "$run" | jq -c '.[0] | .jobs[0] | [.outcome, .tries, .crashes]') $(wc -l <"$test_dir/starts")" '["exit 4",1,0] 1'

# What can't run doesn't get the place.
cp "$program" "$test_dir/good"
printf 'no program\n' >"$program.new" && chmod 755 "$program.new" && mv "$program.new" "$program"
kill -HUP "$guardian"
says_so() { grep -q "the guardian isn't replaced" "$TITAN_STATE"/*/worker-local.log; }
ok "a broken program is refused" until_true 10 says_so
replace "$test_dir/good"
ok "the worker is up" worker_is_up
is "below the same guardian" "$(guardian_pid)" "$guardian"
exits "which ends with titan down" 0 titan -y down
ok "as a process" until_true 10 process_gone "$guardian"

done_testing
