# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs put out values: the master keeps them with the job, also over kills, and what is wrong with one fails the job by name.
. "$(dirname "$0")/lib.sh"

detail() { titan --json show "$1" | jq -r ".[0] | $2"; } # JOB FILTER
put_out() { detail "$1" '.outputs | join("|")'; }
run_of() { # NAME OUTPUTS SCRIPT
	printf 'name: %s\njobs:\n  a:\n    outputs: %s\n    run: |\n' "$1" "$2" >job.yaml
	printf '%s\n' "$3" | sed 's/^/      /' >>job.yaml
	run=$(titan -q run job.yaml)
	titan --timeout 60s wait "$run" >/dev/null 2>&1
}

start_cluster --slots 4

run_of right '[ver, notes, none]' 'echo "ver=1.2" >>"$TITAN_OUTPUT"
printf "notes<<END\nit is \"x\" \$(id)\nand more\nEND\n" >>"$TITAN_OUTPUT"
titan output none= ver=1.3'
is "a job with outputs succeeds" "$(job_state "$run" a)" succeeded
is "and they are kept" "$(put_out "$run/a")" 'ver=1.3|notes=it is "x" $(id)
and more|none='
like "people see them" "$(titan show "$run/a")" 'outputs +ver=1\.3'
is "no other row has them" "$(titan --json show "$run" | jq -r '.[0].jobs[0].outputs')" null
pid=$(master_pid)
kill -KILL "$pid"
ok "the master is killed" until_true 20 process_gone "$pid"
start_cluster --slots 4
is "they outlive the master" "$(put_out "$run/a")" 'ver=1.3|notes=it is "x" $(id)
and more|none='

# The job ends while there is no master, and the keeper is killed with the result in its spool.
run=$(titan -q run -e "a='titan output v=kept; until test -e $test_dir/go; do sleep 0.05; done; touch $test_dir/gone' outputs=v")
ok "a job runs" until_true 20 job_is "$run" a running
pid=$(master_pid)
keeper=$(state_of '.workers[0].pid')
kill -KILL "$pid"
ok "without a master" until_true 20 process_gone "$pid"
touch "$test_dir/go"
ok "it ends" until_true 20 test -e "$test_dir/gone"
in_spool() { grep -q kept "$TITAN_STATE"/default/worker/*/spool; }
ok "its outputs are in the spool" until_true 20 in_spool
kill -KILL "$keeper"
ok "the keeper is killed" until_true 20 process_gone "$keeper"
start_cluster --slots 4
exits "the run ends well" 0 titan --timeout 60s wait "$run"
is "with what the job put out" "$(put_out "$run/a")" 'v=kept'

wrong() { # NAME OUTPUTS SCRIPT CODE PATTERN
	run_of wrong "$2" "$3"
	is "$1: the job fails" "$(job_state "$run" a)" failed
	is "... with the line" "$(detail "$run/a" .outcome)" "bad output${4:+, line $4}"
	like "... and the mistake by name" "$(detail "$run/a" .output_fault)" "$5"
	is "... and has no outputs" "$(put_out "$run/a")" ''
}
wrong "a line of another form" '[a]' 'printf "a=1\nwhat?\n" >>"$TITAN_OUTPUT"' 2 '^line 2 of TITAN_OUTPUT: the line is neither'
wrong "a name that isn't declared" '[a]' 'titan output a=1 b=2' 4 '^b, line 4 of TITAN_OUTPUT: .*declare'
wrong "a name that wasn't written" '[a, b]' 'titan output a=1' '' '^b: .*has not written it'
wrong "a value that is too long" '[a]' '{ printf a=; head -c 65537 /dev/zero | tr "\0" x; } >>"$TITAN_OUTPUT"' 1 '^a, line 1 of TITAN_OUTPUT: .*64 KiB'
wrong "too much of one job" '[a, b, c, d, e, f, g, h, i]' 'for n in a b c d e f g h i; do { printf "$n="; head -c 65000 /dev/zero | tr "\0" x; echo; } >>"$TITAN_OUTPUT"; done' 9 '^i, .*512 KiB'
wrong "a directory instead of a file" '[a]' 'mkdir "$TITAN_OUTPUT"' 1 'neither'

run_of failing '[a]' 'titan output a=1; exit 3'
is "a failing job fails by itself" "$(detail "$run/a" .outcome)" "exit 3"
is "and what it put out doesn't count" "$(put_out "$run/a")" ''
printf 'jobs:\n  a: {outputs: [n], retry: {max: 2, backoff: 10ms}, run: "titan output n=$TITAN_EPOCH; test $((TITAN_EPOCH %% 16)) = 2"}\n' >retry.yaml
run=$(titan -q run retry.yaml)
titan --timeout 60s wait "$run" >/dev/null 2>&1
like "of a retried job the try that succeeded counts" "$(put_out "$run/a")" '^n=[0-9]+$'
epoch=$(put_out "$run/a")
titan -q -y retry "$run/a" >/dev/null 2>&1
titan --timeout 60s wait "$run" >/dev/null 2>&1
ok "a new round begins without outputs" test "$(put_out "$run/a")" != "$epoch"

printf 'any\0bytes\n' >bytes
exits "one line, and a file" 0 titan --timeout 60s run -w -e "a='titan output f --file $test_dir/bytes' outputs=f"
like "keeps its bytes" "$(titan --json show last/a | jq -c '.[0].outputs')" '^\["f=any'
exits "without declared outputs" 1 titan --timeout 60s run -w -e "a='titan output x=1'"
like "the job is told" "$(titan logs last/a)" 'declares outputs'
exits "outside a job" 2 titan output x=1
exits "a wrong name is refused" 1 titan --timeout 60s run -w -e "a='titan output \"a b=1\"' outputs=a"
like "at once" "$(titan logs last/a)" "can't be the name of an output"

printf 'jobs:\n  a: {run: x, outputs: [a, "b c", a]}\n' >bad.yaml
exits "a pipeline with a wrong name" 2 titan validate bad.yaml
printf 'jobs:\n  a: {approval: {count: 1}, outputs: [a]}\n' >bad.yaml
exits "a gate puts out nothing" 2 titan validate bad.yaml
like "which is told" "$err" 'outputs'

# ---- outputs that other jobs use ----

evil="it's \"x\" \$(touch $test_dir/ran)
* end"
printf '%s\nmore\n' "$evil" >evil
cat >use.yaml <<'END'
params: {file: {required: true}}
jobs:
  first:
    outputs: [text, my-number]
    run: titan output text --file ${params.file}; titan output my-number=7
  between: {needs: [first], run: "true"}
  use:
    needs: [between]
    env: {N: "${jobs.first.outputs.my-number}"}
    run: |
      printf '%s' ${jobs.first.outputs.text} "${jobs.first.outputs.text}"
      echo "$N $((N + 1))"
  each: {needs: [first], matrix: {m: [a, b]}, run: "echo ${matrix.m}${jobs.first.outputs.my-number}; true"}
  broken: {outputs: x, run: exit 1}
  without: {needs: {broken: failed}, run: "echo before; echo ${jobs.broken.outputs.x}; echo behind"}
END
run=$(titan -q run -p file="$test_dir/evil" use.yaml)
exits "jobs use what others put out" 1 titan --timeout 60s wait "$run"
is "whole, whatever it contains" "$(titan logs "$run/use")" "$evil
more
$evil
more
7 8"
is "in each job of a matrix" "$(titan logs "$run/each[1]")" b7
ok "nothing in it has run" test ! -e "$test_dir/ran"
like "without the output the script ends" "$(titan logs "$run/without")" 'TITAN_O_broken__x: '
unlike "there" "$(titan logs "$run/without")" 'behind'
exits "the run as a pipeline" 0 titan graph "$run" --yaml
printf '%s\n' "$out" >again.yaml
run=$(titan -q run again.yaml)
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "uses them, too" "$(titan logs "$run/each[1]")" b7

# All jobs of a fan-out: an array of their values.
cat >fan.yaml <<'END'
jobs:
  each:
    outputs: v
    fan_out: {items: [a, b, c, d]}
    continue_on: [failed]
    run: |
      test "$TITAN_ITEM" != c || exit 3
      printf 'v<<END\n%s "\\\001\n\303\244 it'"'"'s\nEND\n' "$TITAN_ITEM" >>"$TITAN_OUTPUT"
  one: {fan_out: 1, outputs: v, run: titan output v=x}
  all: {needs: [each], run: "printf %s ${jobs.each.outputs.v}"}
  ones: {needs: [one], env: {ONE: "${jobs.one.outputs.v}"}, run: 'echo "$ONE"'}
  long: {fan_out: 3, outputs: v, run: "head -c 60000 /dev/zero | tr '\\0' x >long; titan output v --file long", dir: private}
  toolong: {needs: [long], run: "echo before; echo ${jobs.long.outputs.v}; echo behind"}
END
run=$(titan -q run fan.yaml)
exits "a job uses what all jobs of a fan-out put out" 1 titan --timeout 60s wait "$run"
is "as an array in the order of the jobs, with null for one without" "$(titan logs "$run/all" | jq -c .)" \
	'["a \"\\\u0001\nä it'"'"'s","b \"\\\u0001\nä it'"'"'s",null,"d \"\\\u0001\nä it'"'"'s"]'
is "also of a single job" "$(titan logs "$run/ones")" '["x"]'
is "an array that is longer than a variable can be is missing" "$(titan logs "$run/toolong" | head -n 1) $(job_state "$run" toolong)" 'before failed'
titan graph "$run" --yaml >again.yaml
run=$(titan -q run again.yaml)
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "the run as a pipeline uses it, too" "$(titan logs "$run/ones")" '["x"]'

# In sub-runs: as parameters of another file, and by the name of the job in a graph that stands inside.
cat >inner.yaml <<'END'
name: inner
params: {v: {required: true}, w: {default: none}, plain: {default: p}}
jobs:
  show: {run: "printf '%s|' ${params.v} ${params.w} ${params.plain}; true"}
  env: {env: {V: "${params.v}"}, run: 'printf "%s" "$V"; true'}
  deep: {pipeline: deep.yaml, params: {x: "${params.v}", y: "${params.plain}"}}
END
printf 'params: {x: {required: true}, y: {required: true}}\njobs: {d: {run: "printf %%s%%s ${params.x} ${params.y}"}}\n' >deep.yaml
cat >outer.yaml <<'END'
params: {file: {required: true}}
jobs:
  a: {outputs: v, run: 'titan output v --file ${params.file}'}
  fan: {fan_out: 2, outputs: v, run: "titan output v=$i; true"}
  sub: {needs: [a, fan], pipeline: inner.yaml, params: {v: "${jobs.a.outputs.v}", w: "${jobs.fan.outputs.v}"}}
  here: {needs: [a], pipeline: {jobs: {b: {outputs: v, run: titan output v=own}, c: {needs: [b], run: "printf %s%s ${jobs.a.outputs.v} ${jobs.b.outputs.v}"}}}}
END
printf "it's \$(touch %s/ran)" "$test_dir" >evil
run=$(titan -q run -p file="$test_dir/evil" outer.yaml)
exits "jobs of sub-runs use outputs of jobs around them" 0 titan --timeout 60s wait "$run"
evil=$(cat evil)
inside() { titan logs "$1" | sed -n "s,^$2 *| ,,p"; } # RUN PATH
are_used() { # RUN
	is "as parameters" "$(inside "$1" sub/show)" "$evil|[\"0\",\"1\"]|p|"
	is "in variables" "$(inside "$1" sub/env)" "$evil"
	is "two levels further in" "$(inside "$1" sub/deep/d)" "${evil}p"
	is "in a graph inside the job" "$(inside "$1" here/c)" "${evil}own"
}
are_used "$run"
titan graph "$run" --yaml >again.yaml
run=$(titan -q run again.yaml)
exits "the run as a pipeline" 0 titan --timeout 60s wait "$run"
are_used "$run"
ok "nothing in it has run" test ! -e "$test_dir/ran"

# ---- outputs of sub-runs, noops, and in questions ----

cat >built.yaml <<'END'
params: {v: {required: true}}
jobs:
  compile: {outputs: [ver, size], run: "titan output ver=${params.v} size=3"}
  each: {fan_out: 2, outputs: n, run: "titan output n=$i; true"}
outputs:
  ver: "${jobs.compile.outputs.ver}"
  tag: 'v${jobs.compile.outputs.ver}-$\{params.v}, $5'
  all: "${jobs.each.outputs.n}"
END
cat >uses.yaml <<'END'
params: {file: {required: true}}
jobs:
  a: {outputs: v, run: 'titan output v --file ${params.file}'}
  build: {needs: [a], pipeline: built.yaml, params: {v: "${jobs.a.outputs.v}"}}
  here: {pipeline: {jobs: {b: {outputs: w, run: titan output w=inside}}, outputs: {w: "${jobs.b.outputs.w}"}}}
  both: {kind: noop, needs: [build, here], outputs: {text: "${jobs.build.outputs.tag} ${jobs.here.outputs.w}", ver: "${jobs.build.outputs.ver}"}}
  use: {needs: [both], run: "printf '%s|' ${jobs.both.outputs.text} ${jobs.both.outputs.ver} ${jobs.build.outputs.all}"}
  ask: {needs: [both], approval: {message: 'deploy ${jobs.both.outputs.ver} for $5 ($\{params.x})?'}}
END
asks() { titan --json approvals | jq -r '.[] | select(.job == "'"$1"'") | .question'; }
asked() { [ -n "$(asks "$1")" ]; }
outputs_go_on() { # RUN
	ok "the gate asks" until_true 60 asked "$1/ask"
	is "with the output in its question" "$(asks "$1/ask")" "deploy $evil for \$5 (\${params.x})?"
	exits "approved" 0 titan approve "$1/ask"
	exits "the run ends well" 0 titan --timeout 60s wait "$1"
	is "a sub-run's outputs are those of its job" "$(titan --json show "$1/build" | jq -r '.[0].outputs[1, 2]')" "tag=v$evil-\${params.v}, \$5
all=[\"0\",\"1\"]"
	is "and later jobs use them, also through a noop" "$(titan logs "$1/use")" "v$evil-\${params.v}, \$5 inside|$evil|[\"0\",\"1\"]|"
}
run=$(titan -q run -p file="$test_dir/evil" uses.yaml)
outputs_go_on "$run"
titan graph "$run" --yaml >again.yaml
run=$(titan -q run again.yaml)
outputs_go_on "$run"
titan -q -y retry "$run/build" >/dev/null
ok "in a new round the gate asks again" until_true 60 asked "$run/ask"
exits "with the outputs of that round" 0 titan approve "$run/ask"
exits "which ends well, too" 0 titan --timeout 60s wait "$run"
ok "nothing in it has run" test ! -e "$test_dir/ran"

# The last pass of a loop counts; what isn't there isn't put out.
cat >loop.yaml <<'END'
jobs:
  sub:
    loop: {until: code == 0, max: 3}
    pipeline:
      jobs: {b: {outputs: n, run: "titan output n=$TITAN_ITERATION; test $TITAN_ITERATION = 2"}}
      outputs: {n: "${jobs.b.outputs.n}"}
  skipped: {pipeline: {jobs: {b: {outputs: n, when: "false", run: titan output n=1}, c: {run: "true"}}, outputs: {n: "${jobs.b.outputs.n}"}}}
  use: {needs: [sub], run: "echo ${jobs.sub.outputs.n}"}
  without: {needs: [skipped], run: "echo before; echo ${jobs.skipped.outputs.n}; echo behind"}
END
run=$(titan -q run loop.yaml)
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "the last pass of a loop counts" "$(titan logs "$run/use")" 2
is "what a sub-run didn't put out is missing" "$(titan logs "$run/without" | head -n 1) $(job_state "$run" without)" 'before failed'

refused() { # NAME PATTERN
	exits "$1 is refused" 2 titan validate bad.yaml
	like "... with its reason" "$err" "$2"
	like "... at its place" "$err" 'bad\.yaml:[0-9]+:[0-9]+: error'
}
printf 'jobs:\n  a: {pipeline: built.yaml, params: {v: "1"}}\n  b: {needs: [a], run: "echo ${jobs.a.outputs.vre}"}\n' >bad.yaml
refused "an output that the other file doesn't have" "the pipeline of job 'a' has no output 'vre'"
printf 'jobs:\n  a: {pipeline: {jobs: {x: {run: y}}, outputs: {v: "${jobs.x.outputs.v}"}}}\n' >bad.yaml
refused "an output of a job that declares none" "job 'x' declares no output 'v'"
printf 'jobs:\n  a: {run: x, outputs: {v: "1"}}\n' >bad.yaml
refused "a map in a job that runs something" 'only a job with kind: noop computes outputs'
printf 'jobs:\n  a: {kind: noop, outputs: [v]}\n' >bad.yaml
refused "a list in a noop" 'a noop writes nothing'
printf 'jobs:\n  a: {pipeline: built.yaml, params: {v: "1"}, outputs: [v]}\n' >bad.yaml
refused "a list in a job with a sub-run" 'are those of that pipeline'
printf 'jobs:\n  a: {outputs: v, run: x}\n  ask: {approval: {message: "is it ${jobs.a.outputs.v}?"}}\n' >bad.yaml
refused "a question about a job that the gate doesn't need" "job 'ask' doesn't need 'a'"

printf 'first=1\n' >VERSION
exits "the example runs" 0 titan --timeout 60s run -w "$e2e_dir/../../share/examples/versions.yaml" -p file="$test_dir/VERSION"
is "and tells the version" "$(titan logs last/tell)" "version first=1, from 1 lines"
done_testing
