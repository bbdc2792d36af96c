# SPDX-License-Identifier: GPL-3.0-or-later
# Values of parameters, matrices and items are data: a job prints them as they are, whatever they contain, and nothing in them
# runs. Places where that can't be are refused by titan validate.
. "$(dirname "$0")/lib.sh"

evil="it's \"x\" \$(touch $test_dir/ran) \`touch $test_dir/ran\`; touch $test_dir/ran #
* \${params.other} \\ end"
cat >values.yaml <<'END'
params: {v: {required: true}, a-b: {default: "1 2"}}
jobs:
  script:
    run: |
      printf '%s|' ${params.v} "${params.v}" # ${params.v}
      cat <<TEXT
      ${params.v}
      TEXT
      x=${params.v}
      printf '%s|%s|' "$x" "$(printf '%s' ${params.v})"
      printf '%s\n' ${params.a-b}
  direct: {run: "printf %s ${params.v}"}
  list: {command: [printf, "%s", "${params.v}"]}
  env: {env: {V: "${params.v}"}, run: 'printf "%s" "$V"; true'}
  inner: {pipeline: inner.yaml, params: {v: "${params.v}"}}
END
printf 'params: {v: {required: true}}\njobs: {deep: {run: "printf %%s ${params.v}; true", matrix: {m: [a, "$(touch %s/ran)"]}, env: {M: "${matrix.m}"}}}\n' \
	"$test_dir" >inner.yaml
cat >matrix.yaml <<END
jobs:
  m: {matrix: {x: [plain, "\$(touch $test_dir/ran)'; touch $test_dir/ran"]}, run: "printf '%s|' \${matrix.x} a\${matrix.x}; true"}
END

start_cluster --slots 4
run=$(titan -q run -p v="$evil" values.yaml)
exits "a run with a hostile value" 0 titan --timeout 60s wait "$run"
is "a script gets it whole at each place" "$(titan logs "$run/script")" "$evil|$evil|$evil
$evil|$evil|1 2"
is "a command without a shell, too" "$(titan logs "$run/direct")" "$evil"
is "and one that is a list" "$(titan logs "$run/list")" "$evil"
is "and a variable" "$(titan logs "$run/env")" "$evil"
is "and a sub-run" "$(titan logs "$run/inner" | grep -c 'it.s "x"')" 2
like "the script has variables" "$(titan --json show "$run/script" | jq -r '.[0].script // .[0].command')" 'printf .%s[|]. "\$\{TITAN_P_v\}" "\$\{TITAN_P_v\}"'
exits "a matrix with hostile values" 0 titan --timeout 60s run -w matrix.yaml
is "keeps them" "$(titan logs "last/m[1]")" "\$(touch $test_dir/ran)'; touch $test_dir/ran|a\$(touch $test_dir/ran)'; touch $test_dir/ran|"
exits "items of a line" 0 titan --timeout 60s run -w -e "m*{\"\$(touch $test_dir/ran); x\"}; m='printf %s \"\$i\"; true'"
is "are data, too" "$(titan logs "last/m[0]")" "\$(touch $test_dir/ran); x"
ok "nothing in a value has run" test ! -e "$test_dir/ran"

titan graph "$run" --yaml >again.yaml
again=$(titan -q run again.yaml)
exits "a run written as a pipeline" 0 titan --timeout 60s wait "$again"
is "has the same values" "$(titan logs "$again/script")" "$(titan logs "$run/script")"
again=$(titan -q run --again "$run")
exits "the run is submitted again" 0 titan --timeout 60s wait "$again"
is "with the same values" "$(titan logs "$again/script")" "$(titan logs "$run/script")"

printf 'params: {v: a}\njobs:\n  a: {run: "ssh h '"'"'rm ${params.v}'"'"'"}\n' >quoted.yaml
exits "single quotes are refused" 2 titan validate quoted.yaml
is "at their place" "$err" "quoted.yaml:3:23: error: no value can be put in between single quotes
    3 |   a: {run: \"ssh h 'rm \${params.v}'\"}
      |                       ^~~~~~~~~~~ a program in the quotes can read it from env:; plain text can end its quotes: 'a '\${params.x}' b'"
{
	printf 'params: {v: '
	head -c 131065 /dev/zero | tr '\0' x
	printf '}\njobs:\n  a: {run: "echo ${params.v}; true"}\n'
} >long.yaml
exits "a value over 128 KiB is refused" 2 titan validate long.yaml
like "and a file is proposed" "$err" 'write the value to a file'
done_testing
