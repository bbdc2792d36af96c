# SPDX-License-Identifier: GPL-3.0-or-later
# The master's metrics: counters are exact, times within limits.
. "$(dirname "$0")/lib.sh"

metric() { titan metrics --json | jq -r "$1"; }

exits "without a master there is nothing to ask" 69 titan metrics
start_cluster --slots 2
run=$(yes true | head -n 50 | titan run --lines)
failing=$(titan run -e "a; a='exit 3'")
titan wait "$run" "$failing" >/dev/null 2>&1
is "jobs that came into a state are counted" "$(metric '.jobs_entered | "\(.succeeded) \(.failed)"')" "50 1"
is "and attempts that ended" "$(metric .results)" 51
is "nothing is live" "$(metric '[.jobs[]] | add')" 0
is "a worker is up" "$(metric '.workers.up, .slots' | tr '\n' ' ')" "1 2 "
is "each attempt was timed" "$(metric .job_run.count)" 51
ok "commits were, too" [ "$(metric .commit.count)" -ge 3 ]
ok "and passes of the loop" [ "$(metric .stall.count)" -ge 10 ]
ok "its memory is known" [ "$(metric .resident_bytes)" -gt 1000000 ]
sleeper=$(titan run -e "s; s='sleep 600'")
ok "what runs is seen" until_true 10 job_is "$sleeper" s running
is "now, too" "$(metric '.jobs.running, .slots_busy' | tr '\n' ' ')" "1 1 "
titan -y cancel "$sleeper" >/dev/null

titan metrics --prometheus >"$test_dir/text"
like "each has a type" "$(grep -c '^# TYPE' "$test_dir/text")" '^[234][0-9]$'
like "states are labels" "$(grep '^titan_jobs_entered_total{state="succeeded"}' "$test_dir/text")" ' 50$'
is "buckets end with everything" "$(grep 'job_run_seconds_bucket{le="+Inf"}' "$test_dir/text" | cut -d' ' -f2)" \
	"$(grep '^titan_job_run_seconds_count' "$test_dir/text" | cut -d' ' -f2)"
is "no line is of another form" "$(grep -Ecv '^(# (HELP|TYPE) titan_[a-z_]+ .*|titan_[a-z_]+(\{[a-z]+="[^"]*"\})? [0-9.]+)$' "$test_dir/text")" 0
like "people get a table" "$(titan metrics)" '^commit +[0-9]+ .*half under .* 99 % under '

done_testing
