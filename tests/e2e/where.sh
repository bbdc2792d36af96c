# SPDX-License-Identifier: GPL-3.0-or-later
# Expressions: --where of lists and of commands that change jobs.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
cat >mixed.yaml <<'END'
name: mixed
jobs:
  fine: {run: "true"}
  three: {run: "printf x >>three.tries; exit 3"}
  four: {run: "printf x >>four.tries; exit 4"}
END
titan run -w mixed.yaml >/dev/null 2>&1
titan run -w --name other -e "a=true" >/dev/null 2>&1

names() { titan --json "$@" | jq -r '.[].name' | sort | xargs; }
jobs_of() { titan --json show "$@" | jq -r '.[].jobs[].name' | sort | xargs; }

is "ls lists the runs for which the expression is true" "$(names ls --where 'failed > 0')" mixed
is "by several fields" "$(names ls --where 'name glob "o*" and state == succeeded and submitted > now - 1h')" other
is "by a pattern" "$(names ls --where 'name matches "^(mixed|other)$"')" "mixed other"
is "with a limit that counts only those" "$(names ls --limit 1 --where 'job_count == 3')" mixed
is "sorted" "$(titan --json ls --sort name --where 'age < 1d' | jq -r '.[].name' | xargs)" "mixed other"
is "none" "$(names ls --where 'job_count > 99')" ""
is "workers" "$(names worker ls --where 'slots == 4 and busy < slots')" local
is "workers that don't match" "$(names worker ls --where 'slots > 4')" ""
is "dead letters" "$(names dlq ls --where 'exit == 3')" three
is "show takes jobs" "$(jobs_of 1 --where 'state == failed')" "four three"
is "by their exit code" "$(jobs_of 1 --where 'exit in [0, 4]')" "fine four"
is "of several runs" "$(titan --json show all --where 'not exit == 0' | jq -r '.[].jobs[].name' | sort | xargs)" "four three"

said=$(titan ls --where 'stat == failed' 2>&1)
is "a wrong name is an error of usage" "$?" 2
like "with its place" "$said" "^--where:1:1: error: there is no field 'stat' here"
like "and a suggestion" "$said" "\^~~~ did you mean 'state'\?"
like "types are checked" "$(titan ls --where 'age > 5' 2>&1)" "^--where:1:7: error: a time span can't be compared with a number"
like "a wrong pattern has a caret in it" "$(titan ls --where 'name matches "a(b"' 2>&1)" "^--where:1:18: error: wrong pattern: missing closing parenthesis"
is "as JSON, too" "$(titan --json ls --where 'age > 5' 2>&1 | jq -c '[.error.file, .error.line, .error.column]')" '["--where",1,7]'
said=$(titan help expressions)
like "operators are listed" "$said" 'a matches "'
like "functions are listed" "$said" 'has\(a\)'
like "names of pipelines are listed" "$said" 'jobs\.JOB\.outputs\.NAME'

run=$(titan run -e "long1='sleep 600'; long2='sleep 600'; short='sleep 600'")
three_run() { [ "$(jobs_of "$run" --where 'state == running')" = 'long1 long2 short' ]; }
ok "three jobs run" until_true 60 three_run
is "a dry run of cancel" "$(titan --json cancel -n "$run" --where 'name glob "long*"' | jq -r '.[].name' | sort | xargs)" "long1 long2"
titan -y cancel --wait "$run" --where 'name glob "long*"' >/dev/null 2>&1
is "cancel --where takes only those jobs" "$(jobs_of "$run" --where 'state == running')" short
said=$(titan -q -y hold "$run" --where 'state == cancelled' 2>&1)
is "hold looks at live jobs only" "$?" 4
like "and says so" "$said" "no live job of these runs meets the expression of --where"
titan -q -y cancel "$run"
titan -q -y retry 1 --where 'exit == 4'
is "retry takes one of the failed jobs" "$?" 0
titan wait 1 >/dev/null 2>&1
is "and leaves the other" "$(cat three.tries) $(cat four.tries)" "x xx"

done_testing
