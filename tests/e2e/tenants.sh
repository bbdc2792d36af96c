# SPDX-License-Identifier: GPL-3.0-or-later
# Tenants share by weight, a tenant at its limit keeps no other waiting, and both are kept over kill -9.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
exits "nothing is set without saying what" 2 titan tenant set ana
like "which is told" "$err" 'weight'
exits "a weight has bounds" 2 titan tenant set ana --weight 1001
exits "a word is missing" 2 titan tenant set
exits "an unknown word" 2 titan tenant give ana
exits "a tenant is set" 0 titan tenant set ana --weight 3
exits "and limited" 0 titan tenant set ben --max-jobs 1 --max-queued 30
field() { titan --json tenant ls | jq -r ".[] | select(.name == \"$1\") | $2"; }
is "the list has the weight" "$(field ana .weight)" 3
is "and the limit" "$(field ben .max_jobs)" 1
exits "what isn't given stays" 0 titan tenant set ben --weight 2
is "as it was" "$(field ben .max_jobs)" 1

held=$(titan run --tenant ben -e "a*3; a='until [ -e $test_dir/gate ]; do sleep 0.05; done'")
running() { [ "$(titan --json show "$1" | jq '.[0] | [.jobs[] | select(.state == "running")] | length')" = "$2" ]; }
ok "one of its jobs is out" until_true 10 running "$held" 1
exits "others go past a tenant at its limit" 0 titan --timeout 20s run -w --tenant cem -e "a*5; a=true"
is "which still has one job out" "$(field ben .active_jobs)" 1
is "and two that wait" "$(field ben .queued_jobs)" 2
is "the reason is its tenant" "$(titan --json explain "$held/a[2]" | jq -r '.[0].reason')" tenant_limit
like "with its place in words" "$(titan explain "$held/a[2]")" "tenant ben.*1 of the tenant's jobs comes first"
is "a run says whose it is" "$(titan --json show "$held" | jq -r '.[0] | .tenant')" ben
exits "a queue over its limit is refused" 75 titan run --tenant ben -e "a*40; a=true"
like "with the reason" "$err" 'queued'

pid=$(master_pid)
kill -KILL "$pid"
ok "the master is gone" until_true 10 process_gone "$pid"
titan up >/dev/null 2>&1
ok "and back" until_true 10 worker_is_up
is "weights are there again" "$(field ana .weight)" 3
is "limits too" "$(field ben .max_jobs)" 1
is "and whose run it is" "$(titan --json show "$held" | jq -r '.[0] | .tenant')" ben
ok "the job that was out still counts" until_true 10 running "$held" 1
exits "with a higher limit more go" 0 titan tenant set ben --max-jobs 2
ok "at once" until_true 10 running "$held" 2
touch gate
exits "and it ends" 0 titan --timeout 20s wait "$held"

cat >tenant.yaml <<'END'
tenant: dora
jobs: {a: {run: "true"}}
END
exits "a pipeline names its tenant" 0 titan --timeout 20s run -w tenant.yaml
is "which its run has" "$(titan --json show last | jq -r '.[0] | .tenant')" dora
printf 'tenant: "no name"\njobs: {a: {run: "true"}}\n' >bad.yaml
exits "by a name" 2 titan validate bad.yaml
like "or it is told where" "$err" 'bad.yaml:1'
exits "what was set can be taken back" 0 titan tenant rm ben
exits "once" 4 titan tenant rm ben
done_testing
