# SPDX-License-Identifier: GPL-3.0-or-later
# Values inside jobs: the run's are shared by its jobs, others need a grant; each acknowledged increment of a job counts once over
# a kill -9 of the master; values go with their run.
# time-out: 240 s
. "$(dirname "$0")/lib.sh"

start_cluster --slots 6
kv() { titan kv "$@"; }
run_of() { titan run -q -w "$1" 2>"$1.err"; }

cat >hand.yaml <<END
name: hand
jobs:
  a: {run: '$TITAN kv set answer 42'}
  b: {run: '[ "\$($TITAN kv get run:answer)" = 42 ] && $TITAN kv incr answer >/dev/null', needs: a}
END
run=$(run_of hand.yaml)
ok "jobs hand values on" run_is "$run" succeeded
is "a person reads them by the run" "$(kv get "run/$run:answer")" 43
is "or by a selector" "$(kv get run/last:answer)" 43
is "and lists them" "$(titan --json kv ls "run/$run:" | jq -r '.[].key')" "run/$run:answer"
exits "the values of a run that has ended stay as they are" 1 kv set "run/$run:answer" 44
like "which is said" "$err" "has ended"

cat >denied.yaml <<END
name: denied
jobs:
  cluster: {run: '$TITAN kv set cluster:x 1'}
  read: {run: '$TITAN kv get cluster:x'}
  def: {run: '$TITAN kv incr def:n'}
  other: {run: '$TITAN kv get run/$run:answer'}
  outside: {run: '$TITAN kv set cluster:other/x 1', kv: {write: ["cluster:mine/"]}}
  only_read: {run: '$TITAN kv set cluster:x 1', kv: {read: ["cluster:"]}}
END
run=$(titan run -q denied.yaml)
ok "a run without grants ends" until_true 60 run_ended "$run"
is "and each of its jobs was refused" "$(titan --json show "$run" | jq -r '[.[0].jobs[] | select(.state == "failed" and .exit_code == 3)] | length')" 6
like "with the grant that it lacks" "$(titan logs "$run/cluster")" "kv: \{write: \['cluster:'\]\}"
exits "nothing was changed" 4 kv get cluster:x

cat >granted.yaml <<END
name: granted
jobs:
  a: {run: '$TITAN kv set cluster:mine/x 1 && $TITAN kv get cluster:mine/x', kv: {write: ["cluster:mine/"]}}
  b: {run: '$TITAN kv get cluster:mine/x && $TITAN kv ls cluster:mine/', kv: {read: ["cluster:mine/"]}, needs: a}
  c: {run: '$TITAN kv incr def:count', kv: {write: ["def:"]}}
END
first=$(run_of granted.yaml)
ok "granted jobs may" run_is "$first" succeeded
second=$(run_of granted.yaml)
ok "in each run of the name" run_is "$second" succeeded
is "which share the definition's values" "$(kv get def/granted:count)" 2
is "show says what was granted" "$(titan --json show "$second/b" | jq -c '.[0].kv_read')" '["cluster:mine/"]'
titan graph --yaml "$second" >again.yaml
exits "and a pipeline written from the run is the same" 0 titan validate again.yaml
like "with its grants" "$(cat again.yaml)" 'cluster:mine/'
sed 's/cluster:mine/run:mine/g' granted.yaml >wrong.yaml
exits "another namespace can't be granted" 2 titan validate wrong.yaml
like "which is said" "$err" "must be def: or cluster:"

# Six jobs count through a kill -9 of the master: their commands wait for it and send the same request again.
cat >storm.yaml <<END
name: storm
jobs:
  count:
    fan_out: {count: 6}
    run: 'i=0; while [ \$i -lt 25 ]; do $TITAN kv incr n >>$test_dir/acked || exit 9; i=\$((i + 1)); done'
END
grep -q 'fan_out: {count' "$TITAN_SRCDIR/man/titan.yaml.5" || sed -i 's/fan_out: {count: 6}/matrix: {i: [1, 2, 3, 4, 5, 6]}/' storm.yaml
run=$(titan run -q storm.yaml)
some() { [ "$(cat acked 2>/dev/null | wc -l)" -ge 10 ]; }
ok "jobs count" until_true 60 some
pid=$(master_pid)
kill -KILL "$pid"
ok "the master is killed" until_true 10 process_gone "$pid"
titan up >/dev/null 2>&1
ok "the run ends" until_true 150 run_ended "$run"
is "well" "$(run_state "$run")" succeeded
is "each acknowledged increment is there, and none twice" "$(kv get "run/$run:n")" "$(wc -l <acked)"
is "all were acknowledged" "$(wc -l <acked)" 150
is "with numbers of their own" "$(sort -nu acked | wc -l)" 150

titan -q -y prune --keep 0 >/dev/null
ok "values go with their run" until_true 30 bash -c "'$TITAN' kv get run/$run:n 2>&1 | grep -q pruned"
is "those of the definition stay" "$(kv get def/granted:count)" 2

done_testing
