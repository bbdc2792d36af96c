# SPDX-License-Identifier: GPL-3.0-or-later
# Gates with fields: who approves gives their values, which are checked, kept with the decision, and used by later jobs.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 2 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
as() { # PERSON ARGUMENT...
	TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$1.key" "${@:2}"
}
for person in anna bert cid; do
	titan token add $person --role approver,viewer -o $person.key
done
gate_waits() { titan --json approvals | jq -r '.[].job' | grep -qx "$1"; }
decided() { titan --json approvals --all "$1" | jq -r ".[] | select(.person == \"$2\") | .given | join(\"|\")"; } # JOB PERSON

cat >gate.yaml <<'YAML'
jobs:
  build: {run: "true"}
  ok:
    needs: [build]
    approval:
      message: which version?
      fields: {ver: {enum: ["1.2", "1.3"]}, note: {text: true, optional: true}, n: number}
  deploy:
    needs: [ok]
    env: {NOTE: "${jobs.ok.outputs.note}"}
    run: printf '%s|%s|%s' ${jobs.ok.outputs.ver} ${jobs.ok.outputs.n} "$NOTE"
YAML
exits "validate takes fields" 0 titan validate gate.yaml
run=$(titan run gate.yaml)
ok "the gate waits" until_true 30 gate_waits "$run/ok"
is "approvals lists the fields" "$(titan --json approvals | jq -r '.[0].fields | join("; ")')" 'ver enum 1.2|1.3; note? text; n number'
like "also for people" "$(titan show "$run/ok")" 'fields +ver enum 1\.2\|1\.3'
digest=$(titan --json approvals | jq -r '.[0].digest')

# What is wrong is told, and nothing is decided.
exits "without the fields" 2 as anna approve "$run/ok"
like "the first one that is missing is told" "$err" 'field ver isn.t given; it must be 1\.2 or 1\.3'
like "with the command that gives all" "$err" "titan approve $run/ok --set ver=VALUE --set n=NUMBER"
exits "a value that isn't in the list" 2 as anna approve "$run/ok" --set ver=1.4 --set n=1
like "is told" "$err" "field ver must be 1\.2 or 1\.3, not '1\.4'"
exits "no number" 2 as anna approve "$run/ok" --set ver=1.2 --set n=1.
like "is told, too" "$err" "field n must be a number, such as 3 or 0\.5, not '1\.'"
exits "a field that isn't there" 2 as anna approve "$run/ok" --set ver=1.2 --set n=1 --set vre=x
like "is told with those that are" "$err" "the gate has no field 'vre'; its fields are ver, note, n"
exits "the same field twice" 2 as anna approve "$run/ok" --set ver=1.2 --set n=1 --set n=2
like "is refused" "$err" 'field n is given twice'
exits "a word without a value" 2 as anna approve "$run/ok" --set ver
like "is refused, too" "$err" "'ver' isn't a field and its value"
exits "with --digest the master says the same" 2 as anna approve "$run/ok" --digest "$digest" --set n=1
like "as without" "$err" 'field ver isn.t given'
exits "several gates are checked before the question" 2 as anna -y approve "$run" --set ver=1.4 --set n=1
like "and none is approved" "$err" "no gate was approved, because of $run/ok: field ver must be"
ok "nothing was decided" gate_waits "$run/ok"
is "by anybody" "$(titan --json approvals --all | jq length)" 0

evil="it's \"x\" \$(touch $test_dir/ran)
* end"
exits "right values" 0 as anna approve "$run/ok" -m fine --set n=-0.5 --set note="$evil" --set ver=1.3
exits "open the gate" 0 titan --timeout 60s wait "$run"
is "and later jobs have them" "$(titan logs "$run/deploy")" "1.3|-0.5|$evil"
ok "as data" test ! -e "$test_dir/ran"
is "show has them as outputs" "$(titan --json show "$run/ok" | jq -r '.[0].outputs[0, 2]' | tr '\n' ' ')" 'ver=1.3 n=-0.5 '
like "and with the decision" "$(titan show "$run/ok")" 'approved with ver=1\.3, note='
is "approvals --all has them" "$(titan --json approvals --all "$run/ok" | jq -r '.[0].given[0, 2]' | tr '\n' ' ')" 'ver=1.3 n=-0.5 '
like "history, too" "$(titan --json history --verb approve | jq -r '.[0].after')" '^succeeded, n=-0\.5, note='

# A field that was left out is an empty text; a new round has values of its own.
run=$(titan run gate.yaml)
ok "the gate waits again" until_true 30 gate_waits "$run/ok"
exits "without the optional field" 0 as anna approve "$run/ok" --set ver=1.2 --set n=7
exits "the run ends" 0 titan --timeout 60s wait "$run"
is "the job has an empty text" "$(titan logs "$run/deploy")" '1.2|7|'
titan -q -y retry "$run/ok" >/dev/null
ok "asked anew" until_true 30 gate_waits "$run/ok"
is "the gate has no outputs" "$(titan --json show "$run/ok" | jq -r '.[0].outputs | length')" 0
exits "other values" 0 as anna approve "$run/ok" --set ver=1.3 --set n=8
exits "count now" 0 titan --timeout 60s wait "$run"
is "for the job that runs again" "$(titan logs "$run/deploy" | tail -n 1)" '1.3|8|'

# Two people: the values must be the same.
sed 's/message: which version?/count: 2/' gate.yaml >two.yaml
run=$(titan run two.yaml)
ok "a gate for two waits" until_true 30 gate_waits "$run/ok"
exits "the first vote" 0 as anna approve "$run/ok" --set ver=1.2 --set n=1
exits "another version is refused" 2 as bert approve "$run/ok" --set ver=1.3 --set n=1
like "with the values of the first vote" "$err" 'an earlier vote gave ver=1\.2, n=1, and all votes must give the same values'
exits "a person may correct a vote that is alone" 0 as anna approve "$run/ok" --set ver=1.3 --set n=1
pid=$(master_pid)
kill -KILL "$pid"
ok "the master is killed" until_true 20 process_gone "$pid"
start_cluster --slots 2 --listen "$address"
exits "the votes are kept over a restart" 2 as bert approve "$run/ok" --set ver=1.2 --set n=1
like "with their values" "$err" 'an earlier vote gave ver=1\.3, n=1'
exits "the same values open the gate" 0 as cid approve "$run/ok" --set n=1 --set ver=1.3
exits "so the run goes on" 0 titan --timeout 60s wait "$run"
is "with the values" "$(titan logs "$run/deploy")" '1.3|1|'
is "each decision has them" "$(decided "$run/ok" anna) $(decided "$run/ok" cid)" 'ver=1.3|n=1 ver=1.3|n=1'

# Other decisions have no values; a gate without fields takes none; a run as a pipeline keeps its fields.
run=$(titan run gate.yaml)
ok "a gate waits" until_true 30 gate_waits "$run/ok"
titan graph "$run" --yaml >again.yaml
like "the run as a pipeline has the fields" "$(cat again.yaml)" 'ver: \{enum: \["1\.2", "1\.3"\]\}'
exits "a rejection needs no values" 0 titan reject "$run/ok" -m no
run=$(titan run again.yaml)
ok "the pipeline asks, too" until_true 30 gate_waits "$run/ok"
is "for the same" "$(titan --json approvals "$run" | jq -r '.[0].fields | join("; ")')" 'ver enum 1.2|1.3; note? text; n number'
titan -q -y cancel "$run" >/dev/null
run=$(titan run -e '?ok; ok=fine?')
ok "a gate without fields waits" until_true 30 gate_waits "$run/ok"
exits "it takes no values" 2 as anna approve "$run/ok" --set ver=1
like "which is told" "$err" 'the gate has no fields'

# All optional: nobody needs to give them, and then the gate may be approved when it expires.
cat >expires.yaml <<'YAML'
jobs:
  ok: {approval: {timeout: 1s, on_timeout: approve, fields: {note: {text: true, optional: true}}}}
  after: {needs: [ok], run: "echo got ${jobs.ok.outputs.note}."}
YAML
run=$(titan run expires.yaml)
exits "a gate with optional fields expires" 0 titan --timeout 60s wait "$run"
is "and puts out empty texts" "$(titan logs "$run/after")" 'got .'

wrong() { # NAME FIELDS PATTERN
	printf 'jobs:\n  ok: {approval: {timeout: 1h%s}}\n' "$2" >bad.yaml
	exits "$1 is refused" 2 titan validate bad.yaml
	like "... with its reason" "$err" "$3"
	like "... at its place" "$err" 'bad\.yaml:2:[0-9]+: error'
}
wrong "a field of two kinds" ', fields: {a: {text: true, number: true}}' 'one of enum, text and number'
wrong "a field of no kind" ', fields: {a: {optional: true}}' 'needs one of enum'
wrong "another word" ', fields: {a: string}' 'must be text, number or a list'
wrong "an unknown key" ', fields: {a: {enumm: [x]}}' "unknown key 'enumm'"
wrong "an empty list" ', fields: {a: []}' 'must have 1 to'
wrong "a value that is there twice" ', fields: {a: [x, x]}' "'x' is named twice"
wrong "a value with a bar" ', fields: {a: ["x|y"]}' "without '.'"
wrong "a wrong name" ', fields: {"a b": text}' 'name of a field'
wrong "an approval by time with a field that is needed" ', on_timeout: approve, fields: {a: text}' 'make all its fields optional'
printf 'jobs:\n  ok: {approval: {fields: {a: text}}}\n  b: {needs: [ok], run: "echo ${jobs.ok.outputs.b}"}\n' >bad.yaml
exits "an output that is no field" 2 titan validate bad.yaml
like "is told" "$err" "gate 'ok' has no field 'b'"
done_testing
