# SPDX-License-Identifier: GPL-3.0-or-later
# Scripts name their interpreter: sh, bash, python3 or the path of another one. It gets the script as a file.
. "$(dirname "$0")/lib.sh"

printf '#!/bin/sh\n# An interpreter of a language that reads no option: it prints the names of its arguments and the first line.\nset -eu\necho "$#"; head -n 1 "$1"\n' >"$test_dir/odd"
chmod +x "$test_dir/odd"
cat >jobs.yaml <<END
params: {v: "it's \$(touch $test_dir/ran) \"x\""}
defaults: {shell: bash}
jobs:
  bash:
    run: |
      echo \${params.v}
      set -o | awk '/^(errexit|nounset|pipefail) / { print \$1, \$2 }'
      a=(one two); echo "\${a[1]}"
  pipe: {run: "false | true; echo no"}
  sh: {shell: sh, run: "echo yes; echo \$none; echo no"}
  odd: {shell: $test_dir/odd, run: "line 'one' \$x\nline two"}
  missing: {shell: $test_dir/nowhere, run: x, continue_on: [failed]}
  command: {command: [echo, plain]}
  words: {run: echo without syntax}
END

start_cluster --slots 4
exits "scripts run" 1 titan --timeout 60s run -w jobs.yaml
is "bash has -eu -o pipefail" "$(titan logs last/bash)" "it's \$(touch $test_dir/ran) \"x\"
errexit on
nounset on
pipefail on
two"
is "so a failure in a pipe ends it" "$(job_state last pipe) $(titan logs last/pipe)" "failed "
is "sh has -eu" "$(job_state last sh) $(titan logs last/sh | head -n 1)" "failed yes"
is "another interpreter gets the name of a file" "$(titan logs last/odd)" "1
line 'one' \$x"
is "a command is started as it is" "$(titan logs last/command)" plain
is "a script without syntax, too" "$(titan logs last/words)" "without syntax"
ok "nothing in a value has run" test ! -e "$test_dir/ran"
is "an interpreter that isn't there fails the job" "$(job_state last missing)" failed
like "and is named" "$(titan show last/missing)" "not started: No such file or directory: $test_dir/nowhere, the interpreter of its script"
like "also by explain" "$(titan explain last/missing)" "$test_dir/nowhere, the interpreter"
is "show tells it" "$(titan --json show last/odd | jq -r '.[0].interpreter')" "$test_dir/odd"
titan graph --yaml last >again.yaml
is "a run written as a pipeline has it" "$(grep -c 'shell: bash' again.yaml)" 3
exits "on one line" 0 titan --timeout 60s run -w -e "a='a=(x y); echo \"\${a[1]}\"' shell=bash"
is "too" "$(titan logs last/a)" y
exits "a name of something else" 2 titan run -e "a='x' shell=perl"
like "is refused" "$err" 'shell must be sh, bash, python3 or the absolute path'

# The interpreter is looked for where the job's PATH says.
mkdir -p "$test_dir/bin"
printf '#!/bin/sh\necho "own python: $(cat "$1")"\n' >"$test_dir/bin/python3"
chmod +x "$test_dir/bin/python3"
exits "the PATH of the job says which python3" 0 titan --timeout 60s run -w -e "a='print(1)' shell=python3 env=PATH=$test_dir/bin:/usr/bin:/bin"
is "runs" "$(titan logs last/a)" 'own python: print(1)'

# --- standard input ---
cat >input.yaml <<'END'
params: {word: "$(touch ran); x"}
jobs:
  sorted: {command: [sort, -r], stdin: "one\ntwo\n"}
  script: {run: "cat; echo", stdin: "${params.word}"}
  shell: {shell: bash, run: 'mapfile -t a; echo "${#a[@]}"', stdin: "1\n2\n3\n", retry: 1}
  many: {matrix: {m: [a, b]}, run: cat, stdin: "m is ${matrix.m}"}
  none: {run: "cat; echo nothing"}
END
exits "jobs have a text on their standard input" 0 titan --timeout 60s run -w input.yaml
is "a command" "$(titan logs last/sorted | tr '\n' ' ')" "two one "
is "a script, which finds a value as it is" "$(titan logs last/script)" '$(touch ran); x'
is "a script with an interpreter" "$(titan logs last/shell)" 3
is "each job of a matrix" "$(titan logs 'last/many[0]') $(titan logs 'last/many[1]')" "m is a m is b"
is "without one it is empty" "$(titan logs last/none)" nothing
is "nothing in the text has run" "$(ls ran 2>/dev/null)" ""
is "show tells it" "$(titan --json show last/sorted | jq -r '.[0].stdin_text')" "$(printf 'one\ntwo\n')"
titan graph --yaml last >again.yaml
exits "a run written as a pipeline has it" 0 titan --timeout 60s run -w again.yaml
is "with its lines" "$(titan logs last/sorted | tr '\n' ' ')" "two one "
exits "on one line" 0 titan --timeout 60s run -w -e "a='cat; echo' stdin='b c'"
is "too" "$(titan logs last/a)" 'b c'
head -c 70000 /dev/zero | tr '\0' x >long
printf 'jobs: {a: {run: cat, stdin: "%s"}}' "$(cat long)" >long.yaml
exits "a text that is too long" 2 titan run long.yaml
like "is refused" "$err" 'has more than 64 KiB; let the job read a file'
done_testing
