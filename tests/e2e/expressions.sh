# SPDX-License-Identifier: GPL-3.0-or-later
# Needs and conditions that are expressions; and shapes of graphs that must keep working, each under its name.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 8
state() { job_state last "$1"; }

cat >switch.yaml <<'END'
params: {env: prod, code: "3"}
jobs:
  check: {run: 'exit ${params.code}'}
  lint: {run: "true"}
  c: {run: "false"}
  three: {run: echo three, when: "check.code == 3 && !lint:failed"}
  four: {run: echo four, needs: [check], when: "check.code == 4"}
  behind: {run: echo, needs: [four]}
  further: {run: echo, needs: [behind]}
  dev: {run: echo d, when: "${params.env} == 'dev'"}
  after: {run: echo d, needs: dev}
  x: {run: echo x, needs: "lint && (check:ok || !c)"}
  prod: {run: echo p, when: "${params.env} == 'prod'"}
finally:
  f: {run: echo f, when: "four:skipped && c.code != 0"}
END
titan --timeout 30s run -w switch.yaml >/dev/null 2>&1
is "dynamic branches: the one that the exit code names runs" "$(state three) $(state four) $(state behind)" "succeeded skipped skipped"
is "needs may have && || ! and parentheses" "$(state x)" succeeded
is "a text is compared with a parameter" "$(state prod)" succeeded
is "a final job may have a condition" "$(state f)" succeeded
like "why it was skipped is told" "$(titan show last/four)" "the job's condition was false: check.code == 4"
is "explain has the reason" "$(titan --json explain last/four | jq -r '.[0].reason')" condition
like "what is behind it has its cause" "$(titan show last/behind)" 'because four was skipped: its condition was false$'
like "so has what is behind that" "$(titan show last/further)" 'because behind was skipped, as the condition of four was false$'
next_of() { titan --json explain "last/$1" | jq -r '.[0].next'; }
is "what a failed job decided may come out otherwise" "$(next_of further)" "titan retry $(titan --json show last | jq '.[0] | .run')"
is "what was false from the start would be so again" "$(next_of dev)$(next_of after)" nullnull
titan --timeout 30s run -w -p code=4 -p env=dev switch.yaml >/dev/null 2>&1
is "another parameter takes the other branch" "$(state three) $(state four) $(state behind) $(state prod)" \
	"skipped succeeded succeeded skipped"

cat >join.yaml <<'END'
jobs:
  a: {run: "true"}
  b: {run: "true"}
  slow: {run: 'while [ ! -e "$GO" ]; do sleep 0.05; done', env: {GO: "HERE/go"}}
  two: {run: touch HERE/go, needs: {any: 2, of: [a, b, slow]}}
  all: {run: "true", needs: {all: [a, b, slow]}}
END
sed -i "s,HERE,$PWD,g" join.yaml
exits "two of three go while the third still runs, which they let end" 0 titan --timeout 30s run -w join.yaml
exits "a condition on one line" 1 titan --timeout 30s run -w -e "a -> b -> c; a='exit 5'; b='echo hi' when='a.code == 5'; c=true"
is "is taken" "$(state b) $(state c)" "succeeded succeeded"

exits "sequence" 0 titan --timeout 30s run -w -e "a -> b -> c; a=true; b=true; c=true"
# Each job adds a line to a file when it begins and one when it ends: what a run did, and in which order.
steps=$PWD/steps
said() { printf "'echo + %s >>$steps; echo - %s >>$steps'" "$1" "$1"; } # NAME: the command of that job
in_order() { # FIRST LAST COUNT: each of COUNT began once, all but FIRST behind its end, all but LAST before that began
	[ "$(head -n 2 "$steps" | tr '\n' ' ')" = "+ $1 - $1 " ] && [ "$(tail -n 2 "$steps" | tr '\n' ' ')" = "+ $2 - $2 " ] &&
		[ "$(grep -c '^+' "$steps")" = "$3" ] && [ "$(grep '^+' "$steps" | sort -u | wc -l)" = "$3" ] &&
		[ "$(grep -c '^-' "$steps")" = "$3" ]
}
exits "diamond" 0 titan --timeout 30s run -w -e "a -> {b, c} -> d; a=$(said a); b=$(said b); c=$(said c); d=$(said d)"
ok "begins with the first, ends with the last, and each of its four jobs ran once" in_order a d 4
all_ran() { is "and all of them succeeded" "$(titan --json show last | jq -r '.[0] | [.jobs[].state] | group_by(.) | map("\(length) \(.[0])") | join(" ")')" "$1 succeeded"; }
: >"$steps"
exits "fan-out of 15 and fan-in" 0 titan --timeout 30s run -w -e "a -> b*15 -> c; a=$(said a); b=$(said 'b$i'); c=$(said c)"
ok "15 begin behind the first and end before the last, each once" in_order a c 17
all_ran 17
: >"$steps"
exits "fan-out of 2,000 and fan-in" 0 titan --timeout 120s run -w -e "a -> b*2000 -> c; a=$(said a); b=$(said 'b$i'); c=$(said c)"
ok "2,000 begin behind the first and end before the last, each once" in_order a c 2002
all_ran 2002
: >"$steps"
exits "chain of 500" 0 titan --timeout 120s run -w -e "$(printf 'j%d -> ' $(seq 499))j500; $(for i in $(seq 500); do printf 'j%d=%s; ' "$i" "$(said "$i")"; done)"
ok "is gone through link by link" test "$(cat "$steps")" = "$(seq 500 | sed 's/.*/+ &\n- &/')"
mkdir words
for i in 0 1 2; do echo "a b a" >words/$i; done
exits "MapReduce" 0 titan --timeout 30s run -w -e "map*3 -> reduce; map='wc -w < $PWD/words/\$i > $PWD/words/\$i.n'; reduce='cat $PWD/words/*.n | paste -sd+ | bc'"
is "its result" "$(titan logs last/reduce | tail -n 1)" 9

printf 'jobs:\n  a: {run: x, needs: "b || c"}\n  b: {run: x, when: "a.code == 1"}\n  c: {run: x}\n' >bad.yaml
exits "a cycle through conditions is refused" 2 titan run bad.yaml
like "and named" "$err" 'a -> b -> a'
printf 'jobs:\n  load: {run: x}\n  b: {run: x, needs: "load || laod"}\n' >bad.yaml
exits "an unknown parent is refused" 2 titan run bad.yaml
like "with the one that was meant" "$err" "needs 'laod', which does not exist"
printf 'jobs:\n  a: {run: x}\n  a: {run: y}\n' >bad.yaml
exits "a job that is there twice is refused" 2 titan run bad.yaml
done_testing
