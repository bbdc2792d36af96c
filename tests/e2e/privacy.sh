# SPDX-License-Identifier: GPL-3.0-or-later
# Who reads what: a submitter its own runs, an approver those in which it decides, a viewer all, and with privacy: open everybody.
. "$(dirname "$0")/lib.sh"

export XDG_CONFIG_HOME=$test_dir/config
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"     # all here run as one user
start_cluster --slots 2 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
as() { local who=$1; shift; TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$who.key" "$@"; }
for who in anna bert; do titan token add "$who" --role submitter -o "$who.key"; done
titan token add carl --role approver -o carl.key
titan token add vera --role viewer -o vera.key
titan token add olga --role operator -o olga.key

gate_waits() { titan --json approvals | jq -r '.[].job' | grep -qx "$1"; }
cd "$test_dir" || exit 1
theirs=$(as bert run -e 'bert-a -> ?bert-gate -> bert-b; bert-a="echo bert-said"; bert-b=true')
failed=$(as bert run -e 'bert-x; bert-x=false')
as bert schedule add bert-daily '@daily' -e 'bert-d; bert-d=true' >/dev/null 2>&1
titan --timeout 60s wait "$failed" >/dev/null 2>&1
ok "bert's gate waits" until_true 30 gate_waits "$theirs/bert-gate"
titan lock take bert-lock --for 1h >/dev/null 2>&1
mine=$(as anna run -e 'a; a="echo anna-said"')
exits "anna's run ends" 0 as anna --timeout 60s wait "$mine"

is "anna lists her own run" "$(as anna --json ls --all | jq -r 'map(.run // .run.run) | join(" ")')" "$mine"
is "reads her log" "$(as anna logs "$mine/a")" anna-said
exits "bert's run isn't there for her" 4 as anna show "$theirs"
like "like one that nobody ever submitted" "$err" "no run $theirs"
none=$(as anna show 999 2>&1 | tr -d 0-9)
is "in the same words" "$(printf '%s' "$err" | tr -d 0-9)" "$none"
for verb in logs explain graph cancel retry wait "undo -n" "run --again"; do
	# shellcheck disable=SC2086
	hidden=$(as anna $verb "$theirs" 2>&1 | tr -d 0-9) none=$(as anna $verb 999 2>&1 | tr -d 0-9)
	is "titan $verb makes no difference either" "$hidden" "$none"
done
for words in "ls --all" status approvals "approvals --all" "dlq ls" "schedule ls" "lock ls" "group ls" "tenant ls" "events" "history" \
	"worker ls" "pool ls" "token ls"; do
	# shellcheck disable=SC2086
	unlike "titan $words has no trace of bert" "$(as anna --json $words 2>&1)" 'bert'
done
unlike "completion offers none" "$(TITAN_STATE=$test_dir/away as anna complete -- titan show "$theirs/" 2>&1)" 'bert'
exits "the figures of the whole cluster aren't hers" 3 as anna metrics
is "her own act is in the history" "$(as anna --json history | jq -r '[.[].person] | unique | join(" ")')" anna

is "carl lists the run in which he decides" "$(as carl --json ls --all | jq -r 'map(.run // .run.run) | join(" ")')" "$theirs"
exits "looks at it" 0 as carl show "$theirs"
exits "not at others" 4 as carl show "$failed"
exits "and decides" 0 as carl approve "$theirs/bert-gate"
for who in vera olga; do
	is "$who lists all" "$(as $who --json ls --all | jq length)" 3
	is "and reads their logs" "$(as $who logs "$theirs/bert-a")" bert-said
done

titan down >/dev/null 2>&1
printf 'trust_submitters: yes\nprivacy: open\n' >"$TITAN_STATE/default/titan.conf"
is "titan config knows that" "$(titan --json config privacy 2>/dev/null | jq -r '.[0].value // .value')" open
exits "the master begins anew" 0 titan up --listen "$address"
is "then anna lists all" "$(as anna --json ls --all | jq length)" 3
is "and reads bert's log" "$(as anna logs "$theirs/bert-a")" bert-said
exits "but changes nothing of his" 3 as anna retry "$failed"
printf 'privacy: perhaps\n' >"$TITAN_STATE/default/titan.conf"
exits "another word is a mistake" 2 titan config
like "with what it may be" "$err" 'own.open'
rm "$TITAN_STATE/default/titan.conf"
done_testing
