# SPDX-License-Identifier: GPL-3.0-or-later
# The directory and the environment of a run: every job gets them, however it reaches a worker; they are stored once.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
mkdir -p "$test_dir/run" "$test_dir/own"
log() { titan logs "$1" | tr '\n' ' ' | sed 's/ *$//'; }
ran() { titan --timeout 60s wait "$1" >/dev/null 2>&1; log "$1/$2"; }

cat >env.yaml <<END
env: {A: pipe, B: pipe}
jobs:
  plain: {run: 'pwd; echo \$A \$B \$C'}
  own: {run: 'pwd; echo \$A \$B \$C', env: {A: job, B: job, C: job}, dir: $test_dir/own}
  below: {pipeline: sub.yaml}
END
cat >sub.yaml <<'END'
env: {C: sub}
jobs:
  inner: {run: 'pwd; echo $A $B $C'}
END
run=$(titan run env.yaml --dir "$test_dir/run" --env A=line --env A=second)
is "a job has what its run and its pipeline say" "$(ran "$run" plain)" "$test_dir/run line pipe"
is "and its own beside it" "$(log "$run/own")" "$test_dir/own line job job"
inner=$(titan --json show "$run" | jq -r '.[0] | .jobs[] | select(.name == "below") | .child')
is "a sub-run has the command line's, and its own file's" "$(log "$inner/inner")" "$test_dir/run line sub"

run=$(titan run -e "hold -> after; hold='until [ -e $test_dir/go ]; do sleep 0.05; done'; after='echo \$A; pwd'" \
	--env A=first --dir "$test_dir/run")
ok "a job holds up another" until_true 30 job_is "$run" hold running
titan run --into "$run" -e "added='echo \$A; pwd'" --env A=added --dir "$test_dir/own" >/dev/null
kill -KILL "$(master_pid)"
titan up --slots 4 >/dev/null 2>&1
touch go
is "a job that began after the master's death has them" "$(ran "$run" after)" "first $test_dir/run"
is "what is added has its own" "$(log "$run/added")" "added $test_dir/own"

again=$(titan run --again "$run")
is "a run that is submitted again has them" "$(ran "$again" after)" "first $test_dir/run"
titan retry "$again/after" >/dev/null
is "and a job that is tried again" "$(ran "$again" after)" "first $test_dir/run"

cat >night.yaml <<'END'
name: night
schedule: {cron: "0 3 1 1 *"}
env: {A: night}
jobs: {n: {run: 'echo $A'}}
END
titan schedule add night.yaml >/dev/null 2>&1
titan schedule fire night >/dev/null 2>&1
run=$(titan --json ls | jq '[.[] | select(.name == "night")][0].run')
is "a run of a schedule has its environment" "$(ran "$run" n)" "night"

run=$(titan run -e "bad='exit 3'" --env A=dead --dir "$test_dir/run")
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "a dead letter shows the directory" "$(titan --json dlq show "$run/bad" | jq -r .dir)" "$test_dir/run"
is "and the environment" "$(titan --json dlq show "$run/bad" | jq -r '(.environment // .env)[0]')" "A=dead"

seq 300 | sed 's/.*/true/' >lines
run=$(titan run --lines --env LONG="$(printf '%01000d' 7)" <lines)
titan --timeout 60s wait "$run" >/dev/null 2>&1
titan -y down >/dev/null 2>&1
bytes=$(python3 - "$TITAN_STATE/default/titan.db" "$run" <<'END'
import sqlite3, sys
store = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
print(store.execute("SELECT sum(length(body)) + sum(length(context)) FROM spec WHERE run = ?", (int(sys.argv[2]),)).fetchone()[0])
END
)
is "the store keeps it once, not for each of 300 jobs" "$([ "$bytes" -lt 10000 ] && echo once)" once

done_testing
