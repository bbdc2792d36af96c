# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs get the files that other jobs left: under their names, in directories, of fan-outs, after a retry; and mistakes by name.
# time-out: 240 s
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
log() { titan logs -q "$1" | tr '\n' ' ' | sed 's/ *$//'; }
runs() { # DESCRIPTION
	run=$(titan -q run flow.yaml)
	exits "$1" 0 titan --timeout 60s wait "$run"
}

cat >flow.yaml <<'END'
name: flow
defaults: {shell: sh}
jobs:
  build:
    dir: private
    artifacts: {out: ["dist/**", top]}
    run: |
      mkdir -p dist/.deep
      echo one >dist/one; echo two >dist/.deep/two; echo top >top
      printf '#!/bin/sh\necho runs\n' >dist/tool; chmod 755 dist/tool; ln -s one dist/link
  same: {dir: private, needs: [build], artifacts: {in: build}, run: "cat dist/one dist/.deep/two dist/link top; dist/tool"}
  there: {dir: private, needs: [build], artifacts: {in: [{job: build, as: from/it}]}, run: "cat from/it/top; ls"}
  here: {needs: [build], artifacts: {in: build}, run: 'cat "$TITAN_FILES/top"; test ! -e top'}
  on: {dir: private, needs: [build], artifacts: {in: build, out: [all, dist/one]}, run: "cat dist/one top >all"}
  last: {dir: private, needs: [same, on], artifacts: {in: [on, {job: build, as: b}]}, run: "cat all b/top; ls"}
END
runs "a flow of files"
is "files stand under their names" "$(log "$run/same")" "one two one top runs"
is "or in a directory" "$(log "$run/there")" "top from"
is "or where TITAN_FILES says" "$(log "$run/here")" "top"
is "what a job got it can leave" "$(log "$run/last")" "one top top all b dist"
exits "the graph is printed" 0 titan graph --yaml "$run"
is "with who gets what" "$(grep -c 'job: build, as: ' <<<"$out")" 2

cat >flow.yaml <<'END'
jobs:
  part: {dir: private, fan_out: 3, artifacts: {out: x}, run: 'echo "part $TITAN_INDEX" >x'}
  all: {dir: private, needs: [part], artifacts: {in: part}, run: "cat part/0/x part/1/x part/2/x"}
  as: {dir: private, needs: [part], artifacts: {in: {job: part, as: p}}, run: "cat p/*/x | wc -l"}
END
runs "a fan-out"
is "has directories by index" "$(log "$run/all")" "part 0 part 1 part 2"
is "also in another" "$(log "$run/as")" 3

run=$(titan -q run -w "$e2e_dir/../../share/examples/parts.yaml")
exits "the example runs" 0 titan artifact get "$run/report" report.txt -o -
like "and leaves a report" "$out" '^count/0: +[0-9]+ lines'
is "of three parts" "$(wc -l <<<"$out")" 3

# --- a new round leaves new files; what failed gives none ---
cat >flow.yaml <<END
jobs:
  a: {dir: private, artifacts: {out: x}, run: "cp $test_dir/say x"}
  b: {dir: private, needs: [a], artifacts: {in: a}, run: "cat x"}
  c: {dir: private, artifacts: {out: y}, run: "touch y; exit 3"}
  d: {dir: private, needs: ["c:failed", a], artifacts: {in: [c, a]}, run: "ls"}
END
echo first >say
run=$(titan -q run flow.yaml)
titan --timeout 60s wait "$run" >/dev/null 2>&1
is "a job gets the files" "$(log "$run/b")" first
is "a job that failed gives none" "$(log "$run/d")" x
echo second >say
exits "a retry" 0 titan -q -y retry "$run/a"
exits "runs again" 1 titan --timeout 60s wait "$run"
is "and leaves other files" "$(titan artifact get "$run/a" x -o -)" second

# --- another machine's worker, and the same name twice ---
titan worker start --name other --slots 2 </dev/null >other.log 2>&1 &
both_up() { [ "$(titan --json worker ls | jq '[.[] | select(.state == "up")] | length')" = 2 ]; }
ok "two workers run" until_true 30 both_up
cat >flow.yaml <<'END'
jobs:
  a: {dir: private, worker: {name: local}, artifacts: {out: x}, run: 'echo "from $TITAN_WORKER" >x'}
  b: {dir: private, worker: {name: other}, needs: [a], artifacts: {in: a}, run: 'cat x; echo "at $TITAN_WORKER"'}
END
runs "jobs at two workers"
is "hand files on" "$(log "$run/b")" "from local at other"
cat >flow.yaml <<'END'
jobs:
  a: {dir: private, artifacts: {out: x}, run: "echo a >x"}
  b: {dir: private, artifacts: {out: x}, run: "echo b >x"}
  c: {dir: private, needs: [a, b], artifacts: {in: [a, b]}, run: "cat x"}
END
run=$(titan -q run flow.yaml)
exits "the same name twice" 1 titan --timeout 60s wait "$run"
like "fails in the stage" "$(titan --json show "$run/c" | jq -r '.[0].outcome')" 'stage|files'

# --- mistakes in the file ---
bad() { # NAME KEYS-OF-B PATTERN
	printf 'jobs:\n  a: {run: x, artifacts: {out: x}}\n  n: {run: x}\n  b: {run: x, %s}\n' "$2" >bad.yaml
	exits "$1 is refused" 2 titan validate bad.yaml
	like "... by name" "$out$err" "$3"
}
bad "a job that isn't needed" 'artifacts: {in: a}' "job 'b' doesn't need 'a'.*|add needs: \[a\]"
bad "a job that leaves nothing" 'needs: [n], artifacts: {in: n}' "job 'n' leaves no artifacts"
bad "a job that isn't there" 'needs: [a], artifacts: {in: c}' "no job 'c'"
bad "a directory that leaves" 'needs: [a], artifacts: {in: {job: a, as: ../x}}' 'relative'
bad "an unknown key" 'needs: [a], artifacts: {in: {job: a, dir: x}}' "job and as"
done_testing
