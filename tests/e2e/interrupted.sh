# SPDX-License-Identifier: GPL-3.0-or-later
# Repeated starts are reported: of a job that its worker stopped when its lease ended, and of a job over titan down and
# titan up.
. "$(dirname "$0")/lib.sh"

export TITAN_HEARTBEAT=100ms TITAN_LEASE=600ms TITAN_GRACE=60s
start_cluster --slots 2
hold=$test_dir/hold
starts_are() { [ "$(wc -l <"$1")" = "$2" ]; }
counts() { titan --json show "$1" | jq -c '.[0] | [.tries, .crashes, .interrupted]'; }
submit() { # NAME MODE
	titan run --mode "$2" -e "j; j='echo >>$test_dir/$1; while [ -e $hold ]; do sleep 0.05; done'"
}

: >"$hold"
sole=$(submit sole exclusive)
until_true 10 job_is "$sole" j running || note "it never ran"
master=$(master_pid)
kill -STOP "$master"
ok "an exclusive job is killed at its lease" until_true 20 no_job_process
kill -CONT "$master"
ok "and started again" until_true 20 starts_are sole 2
until_true 10 job_is "$sole" j running
is "show counts both starts, and no crash" "$(counts "$sole/j")" '[2,0,1]'
like "explain says it" "$(titan explain "$sole/j")" '1 earlier attempt was ended by its worker'

more=$(submit more retry)
until_true 10 job_is "$more" j running || note "it never ran"
titan -y down >/dev/null 2>&1
start_cluster --slots 2
ok "over down and up a job is started again" until_true 20 starts_are more 2
until_true 10 job_is "$more" j running
is "which show says, too" "$(counts "$more/j")" '[2,0,1]'
rm "$hold"
exits "both end well" 0 titan --timeout 30s wait "$sole" "$more"
is "how often they started is kept" "$(counts "$sole/j") $(counts "$more/j")" '[3,0,2] [2,0,1]'
like "explain says it of one that has ended" "$(titan explain "$sole/j")" '2 earlier attempts were ended by their workers'

done_testing
