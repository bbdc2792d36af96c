# SPDX-License-Identifier: GPL-3.0-or-later
# --at over the network: every person sees of an earlier time what they may see, and nobody more than without --at.
# time-out: 240 s
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip_all "no jq"
export XDG_CONFIG_HOME=$test_dir/config
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"     # all here run as one user
start_cluster --slots 2 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
as() { local who=$1; shift; TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$who.key" "$@"; }
for who in anna bert; do titan token add "$who" --role submitter -o "$who.key"; done
titan token add carl --role approver -o carl.key
titan token add vera --role viewer -o vera.key
titan token add adam --role admin -o adam.key
turn() { titan --json status | jq .master.turn; }
of_then() { grep -lzs "^TITAN_STATE=$TITAN_STATE/default/past/" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
none_of_then() { [ -z "$(of_then)" ]; }
runs_of() { jq -r 'map(.run) | sort | join(" ")'; }

theirs=$(as bert run -e 'bert-a -> ?bert-gate; bert-a=true')
ok "bert's gate waits" until_true 30 job_is "$theirs" bert-gate approval
mine=$(as anna run -e 'first -> last; first=true; last=true')
exits "anna's run ends" 0 as anna --timeout 60s wait "$mine"
then=$(turn)
later=$(as anna run -w -e 'later=true' 2>/dev/null)

exits "a viewer of another machine looks at an earlier time" 0 as vera --json ls --at "turn:$then"
is "and sees the runs of then" "$(printf '%s' "$out" | runs_of)" "$theirs $mine"
like "with a word on what it is" "$err" "as of .*turn [0-9]+; titan doesn't keep"
is "the owner sees the same on the master's machine" "$(titan -q --json ls --at "turn:$then" | jq -S 'map(del(.age_ms, .span_ms))')" \
	"$(printf '%s' "$out" | jq -S 'map(del(.age_ms, .span_ms))')"
is "an administrator of another one, too" "$(as adam -q --json ls --at "turn:$then" | runs_of)" "$theirs $mine"
is "all look at one master" "$(of_then | wc -l)" 1
is "the turn is that of then" "$(as vera -q --json status --at "turn:$then" | jq .master.turn)" "$(titan -q --json status --at "turn:$then" | jq .master.turn)"
is "jobs are as they were" "$(as vera -q --json show "$theirs" --at "turn:$then" | jq -r '.[0].jobs[] | select(.name == "bert-gate") | .state')" approval
exits "they are explained" 0 as vera -q explain "$theirs/bert-gate" --at "turn:$then"

is "anna sees her own run" "$(as anna -q --json ls --at "turn:$then" | runs_of)" "$mine"
is "with its jobs" "$(as anna -q --json show "$mine" --at "turn:$then" | jq -r '.[0].jobs[].state' | sort -u)" succeeded
exits "what came later isn't there yet" 4 as anna -q show "$later" --at "turn:$then"
exits "bert's run isn't there for her" 4 as anna -q show "$theirs" --at "turn:$then"
none=$(as anna -q show 999 --at "turn:$then" 2>&1 | tr -d 0-9)
is "in the words for one that nobody ever submitted" "$(printf '%s' "$err" | tr -d 0-9)" "$none"
for words in "ls --all" status "explain $theirs" "explain $theirs/bert-gate" "show $theirs/bert-gate" "show --all"; do
	# shellcheck disable=SC2086
	unlike "titan $words --at has no trace of bert" "$(as anna -q --json $words --at "turn:$then" 2>&1 | sed "s/'[^']*'//g")" 'bert-a|"bert'
done
is "nor a count of his jobs" "$(as anna -q --json status --at "turn:$then" | jq -c '.jobs // [] | tostring | test("approval\":1")')" false

is "carl sees the run in which he decides" "$(as carl -q --json ls --at "turn:$then" | runs_of)" "$theirs"
exits "his decision" 0 as carl -q approve "$theirs/bert-gate"
exits "ends the run" 0 titan --timeout 60s wait "$theirs"
is "which he sees no more" "$(as carl -q --json ls --all | jq length)" 0
is "not even in the past" "$(as carl -q --json ls --at "turn:$then" | jq length)" 0

exits "before what is kept" 4 as anna ls --at 2001-01-01
like "the error has the earliest time" "$err" "earliest time that can be shown is 20"
exits "a time to come" 2 as anna ls --at 2199-01-01
exits "a time in words" 0 as anna ls --at 0s
as anna -q ls --at "turn:$((then - 1))" >/dev/null 2>&1 &
one=$!
as anna -q ls --at "turn:$((then - 1))" >/dev/null 2>&1 &
exits "two at once get the same master" 0 wait "$one"
exits "both of them" 0 wait $!
# The time that couldn't be shown counts, too.
exits "five times within a minute are too many for one person" 75 as anna ls --at "turn:$((then - 3))"
like "with a word on when" "$err" "anna looks at 4 earlier times already; try again in a minute"
exits "but not for another" 0 as vera -q ls --at "turn:$((then - 3))"
exits "a job doesn't look at the past" 0 titan -q --timeout 60s run -w -e "j='titan ls --at turn:$then; test \$? = 3'"
exits "titan down" 0 titan -y down
ok "ends all of them" none_of_then
done_testing
