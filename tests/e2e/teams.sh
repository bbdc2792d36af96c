# SPDX-License-Identifier: GPL-3.0-or-later
# Teams of titan.conf: gates name them, their present members approve, and unknown or empty teams are refused.
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
mkdir -p "$TITAN_STATE/default" "$XDG_CONFIG_HOME/titan"
chmod 700 "$TITAN_STATE" "$TITAN_STATE/default"
conf=$TITAN_STATE/default/titan.conf
echo 'teams: {release: [anna, bert], empty: []}' >"$conf"
start_cluster --slots 1 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
as() { # PERSON ARGUMENT...
	TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$1.key" "${@:2}"
}
for person in anna bert cid; do
	titan token add $person --role approver,viewer -o $person.key
done
gate_waits() { titan --json approvals | jq -r '.[].job' | grep -qx "$1"; }
restart() {
	titan -y down >/dev/null 2>&1
	titan up --listen "$address" >/dev/null
}

cat >gate.yaml <<'END'
jobs:
  a: {run: "true"}
  ok: {needs: [a], approval: {count: 2, from: [@release, cid]}}
END
exits "validate takes a team without quotes" 0 titan validate gate.yaml
run=$(titan run gate.yaml)
ok "a gate that names a team waits" until_true 30 gate_waits "$run/ok"
like "approvals says who is in it" "$(titan approvals)" '@release \(anna, bert\), cid'
is "JSON has the gate's words" "$(titan --json approvals | jq -r '.[0].from | join(" ")')" '@release cid'
is "and all people" "$(titan --json approvals | jq -r '.[0].approvers | join(" ")')" 'anna bert cid'
like "show says it" "$(titan show "$run/ok")" 'who may *@release \(anna, bert\), cid'
like "and explain" "$(titan explain "$run/ok")" '@release \(anna, bert\), cid may'
exits "somebody else may not approve" 3 titan approve "$run/ok"
exits "a member may" 0 as anna approve "$run/ok"

# The configuration of now counts, for those who come; a vote that was counted stays.
echo 'teams: {release: [bert]}' >"$conf"
exits "a member may still approve again before the master is restarted" 0 as anna approve "$run/ok"
ok "the master is restarted" restart
run2=$(titan run -e 'a -> ?ok; a=true; ok='fine?' from=@release')
ok "the one-line form names a team, too" until_true 30 gate_waits "$run2/ok"
exits "a former member may not approve" 3 as anna approve "$run2/ok"
like "explain has the present members" "$(titan explain "$run2/ok")" '@release \(bert\) may'
exits "the vote of before counts" 0 as cid approve "$run/ok"
exits "so the gate is open" 0 titan --timeout 60s wait "$run"
exits "the present member may" 0 as bert approve "$run2/ok"

# The team goes while a gate waits.
run=$(titan run -e 'a -> ?ok; a=true; ok='fine?' from=@release')
ok "a gate waits" until_true 30 gate_waits "$run/ok"
rm "$conf"
ok "the team is removed" restart
like "explain says that nobody may" "$(titan explain "$run/ok")" 'nobody may approve: titan.conf has no members for @release'
like "and approvals" "$(titan approvals)" '@release \(nobody\)'
exits "a team that isn't there is refused at submit" 2 titan run -e '?ok; ok='fine?' from=@release'
like "which says that there is none" "$err" 'there is no team @release; titan.conf has no teams'
echo 'teams: {release: [bert], empty: []}' >"$conf"
ok "it comes back" restart
exits "and its member opens the gate" 0 as bert approve "$run/ok"
exits "a wrong name is refused" 2 titan run -e '?ok; ok='fine?' from=@relaese'
like "with the known ones" "$err" 'there is no team @relaese; the teams of titan.conf are @release, @empty'
exits "an empty team is refused" 2 titan run -e '?ok; ok='fine?' from=@empty'
like "because nobody could approve" "$err" '1 must approve, but only 0 may: @empty \(nobody\)'
exits "a gate inside a sub-run is checked, too" 2 titan run - <<'END'
jobs:
  sub: {pipeline: {jobs: {ok: {approval: {from: [@relaese]}}}}}
END

# What can be checked without a master.
exits "config shows the teams" 0 titan --json config teams
cp "$conf" "$XDG_CONFIG_HOME/titan/titan.conf"
sed -i 's/@release/@nosuch/' gate.yaml
exits "validate knows the teams of the user's file" 2 titan validate gate.yaml
like "and names them" "$err" "gate 'ok' names team @nosuch, which isn't in titan.conf; the teams there: @release, @empty"
exits "plan, too" 2 titan plan gate.yaml
echo 'teams: {a: [b, @a]}' >"$XDG_CONFIG_HOME/titan/titan.conf"
exits "a team in a team is refused" 2 titan config
like "which says why" "$err" 'a team has people as members, not teams'
rm "$XDG_CONFIG_HOME/titan/titan.conf"
echo 'teams: {release: [eve]}' >.titan.conf
exits "a project's file can't set teams" 3 titan ls
rm .titan.conf
done_testing
