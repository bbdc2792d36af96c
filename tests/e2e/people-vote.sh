# SPDX-License-Identifier: GPL-3.0-or-later
# Votes on gates: on what was shown, with push backs, and recorded with person, time and reason.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2
gate_waits() { titan --json approvals | jq -r '.[].job' | grep -qx "$1"; }
gate() { titan --json approvals | jq -r ".[] | select(.job == \"$1\") | $2"; }
me=$(id -un)

# HITL: two gates, approve unblocks, reject ends descendants.
run=$(titan run -e "a -> ?one -> b -> ?two -> c -> d; a=true; b='echo b >>$test_dir/ran'; c='echo c >>$test_dir/ran'; d=true")
ok "the first of two gates waits" until_true 10 gate_waits "$run/one"
is "what it unblocks is shown" "$(gate "$run/one" '.unblocks | join(" ")')" b
like "with its command" "$(gate "$run/one" '.will[0]')" 'echo b'
like "and a digest of all that" "$(gate "$run/one" .digest)" '^[0-9a-f]{64}$'
is "which show has, too" "$(titan --json show "$run/one" | jq -r '.[0] | .digest')" "$(gate "$run/one" .digest)"
exits "approving it says how many changed" 0 titan --json approve "$run/one" -m 'fine'
is "as JSON" "$(printf %s "$out" | jq '.[0].changed')" 1
ok "approve unblocks: the second gate waits" until_true 10 gate_waits "$run/two"
is "and what is between has run" "$(cat "$test_dir/ran")" b
exits "the second is rejected" 0 titan reject "$run/two" -m 'not today'
exits "reject ends all descendants" 3 titan --timeout 10s wait "$run"
is "the next" "$(job_state "$run" c)" skipped
is "and what is behind it" "$(job_state "$run" d)" skipped
like "explain says who refused it and why" "$(titan explain "$run/two")" "cause .*$me rejected: not today"
exits "nothing of a run that isn't there is approved" 4 titan approve 999/two
like "which is said of the run" "$err" 'no run 999'
like "show says who decided and why" "$(titan show "$run/two")" "$me rejected: not today"
is "also as JSON" "$(titan --json show "$run/one" | jq -r '.[0] | .decisions | length')" 1
is "the history has both, newest first" \
	"$(titan --json approvals --all | jq -r '[.[] | "\(.name) \(.verdict) \(.message)"] | join(", ")')" \
	"two rejected not today, one approved fine"
is "of one run, too" "$(titan --json approvals --all "$run" | jq length)" 2
run=$(titan run -e '{?first, ?second} -> b; b=true')
ok "of two gates the later one" until_true 10 gate_waits "$run/second"
exits "is decided before" 0 titan approve "$run/second"
exits "the other" 0 titan approve "$run/first"
is "newest first is by time, not by place" "$(titan --json approvals --all "$run" | jq -r '[.[].name] | join(" ")')" \
	'first second'

# HITL: a time-out fails closed, once, whatever the retries.
cat >late.yaml <<END
jobs:
  late: {approval: {timeout: 200ms}}
  next: {run: "true", needs: [late], retry: {max: 3}}
END
run=$(titan run late.yaml)
exits "a time-out fails closed" 3 titan --timeout 10s wait "$run"
is "the gate is denied" "$(job_state "$run" late)" denied
like "explain says that nobody decided" "$(titan explain "$run/late")" 'nobody decided on the gate in time'
is "it is kept once, as nobody's" "$(titan --json approvals --all "$run" | jq -r '[.[] | .person + .verdict] | join(" ")')" expired

# Approval void after the job changed.
run=$(titan run -e "a -> ?qa -> b; a=true; b=true")
ok "a gate waits" until_true 10 gate_waits "$run/qa"
old=$(gate "$run/qa" .digest)
exits "what it was asked about is done again" 0 titan retry "$run/a"
asked_anew() { [ "$(gate "$run/qa" .digest)" != "$old" ] && gate_waits "$run/qa"; }
ok "it asks anew, about something else" until_true 10 asked_anew
exits "an approval of what was shown before is refused" 8 titan approve "$run/qa" --digest "$old"
like "which is said" "$err" "has changed since it was shown; nothing was decided"
is "and nothing was decided" "$(job_state "$run" qa)" approval
exits "a digest is hex" 2 titan approve "$run/qa" --digest xyz
exits "of what is shown now it counts, its beginning will do" 0 titan approve "$run/qa" --digest "$(gate "$run/qa" .digest | cut -c1-16)"
exits "and the run ends well" 0 titan --timeout 10s wait "$run"

# Pushed back.
run=$(titan run -e "build -> test -> ?qa -> ship; build='echo \"\${TITAN_PUSHBACK:-first}\" >>$test_dir/why'; test=true; ship=true")
ok "a gate waits" until_true 10 gate_waits "$run/qa"
exits "a push back says to where" 2 titan pushback "$run/qa" -m 'too slow'
exits "and why" 2 titan pushback "$run/qa" --to build
exits "to something before it" 2 titan pushback "$run/qa" --to ship -m 'too slow'
like "which is said" "$err" "'ship' isn't before the gate"
exits "it is pushed back" 0 titan --json pushback "$run/qa" --to build -m 'too slow'
is "with what is between" "$(printf %s "$out" | jq '.[0].changed')" 3
ok "it asks again" until_true 10 gate_waits "$run/qa"
is "who did it again knew why" "$(tail -n 1 "$test_dir/why")" "too slow"
is "who did it first didn't" "$(head -n 1 "$test_dir/why")" first
like "it is in the history" "$(titan show "$run/qa")" "$me pushed back to build: too slow"
exits "now it is approved" 0 titan approve "$run/qa"
exits "and the run ends well" 0 titan --timeout 10s wait "$run"
exits "a decided gate can't be pushed back" 1 titan pushback "$run/qa" --to build -m late
done_testing
