# SPDX-License-Identifier: GPL-3.0-or-later
# titan validate shows all errors of a pipeline at once, each at its place; and it checks a pipeline whose parameters are missing.
fixtures=$(cd "$(dirname "$0")/../fixtures" && pwd)/wrong-pipelines.txt
. "$(dirname "$0")/lib.sh"

# ---- the wrong pipelines ----

taken=$test_dir/taken
sed '/^====/,$d' "$fixtures" >"$taken"
count=0
check_one() {
	count=$((count + 1))
	printf '%s' "$text" >pipeline.yaml
	got=$(titan validate pipeline.yaml 2>&1)
	status=$?
	printf '==== %s\n%s---- said\n%s\n' "$name" "$text" "$got" >>"$taken"
	is "$name: exit status" "$status" 2
	is "$name" "$got
" "$wanted"
}
name= part=
while IFS= read -r line <&3; do
	case $line in
	'==== '*)
		[ -z "$name" ] || check_one
		name=${line#==== } text= wanted= part=text
		;;
	'---- said') part=wanted ;;
	*)
		[ -z "$part" ] || eval "$part=\$$part\$line\$'\\n'"
		;;
	esac
done 3<"$fixtures"
check_one
ok "there are fifty of them" test "$count" -ge 50
[ "${TAKE:-}" != yes ] || cp "$taken" "$fixtures"

# ---- missing parameters ----

cat >needs.yaml <<'END'
params: {ver: {required: true}, zone: {required: true, enum: [eu, us]}}
env: {VER: "${params.ver}"}
jobs:
  a: {run: "echo ${params.ver}", priority: "${params.ver}", timeout: "${params.zone}", worker: "${params.ver}"}
  b: {run: "echo b", needs: [a], when: "'${params.zone}' == 'eu'", dir: "/srv/${params.ver}"}
  c: {pipeline: sub.yaml, params: {zone: "${params.zone}"}}
  d: {pipeline: "${params.ver}.yaml"}
END
printf 'params: {zone: {required: true, enum: [eu, us]}}\njobs:\n  x: {run: "echo ${params.zone}"}\n' >sub.yaml
exits "a pipeline is valid without its parameters" 0 titan validate needs.yaml
exits "it can't be planned without them" 2 titan plan needs.yaml
is "each that is missing is told" "$(grep -c 'is required' <<<"$err")" 2
exits "a given value is checked" 2 titan validate -p ver=x needs.yaml
like "at the place where it is used" "$err" "needs.yaml:4:44: error: expected a number from 0 to 100, not 'x'"
sed -i 's/echo b/echo ${params.vre}/' needs.yaml
exits "a wrong name is found beside missing values" 2 titan validate needs.yaml
is "and nothing else is told" "$err" "needs.yaml:5:18: error: unknown parameter 'vre'; parameters are listed under params
    5 |   b: {run: \"echo \${params.vre}\", needs: [a], when: \"'\${params.zone}' == 'eu'\", dir: \"/srv/\${params.v
      |                  ^~~~~~~~~~~~~ did you mean 'ver'?"
printf 'jobs:\n  a: {pipeline: sub.yaml}\n' >lacks.yaml
exits "a sub-run must be given its parameters" 2 titan validate lacks.yaml
like "which is told" "$err" "'zone' is required"

# ---- several files, standard input, one line ----

printf 'jobs:\n  a: {run: "true"}\n' >right.yaml
printf 'jobs:\n  a: {rnu: "true"}\n' >wrong.yaml
exits "several files" 2 titan validate right.yaml wrong.yaml right.yaml
is "the right ones are told" "$out" "right.yaml: valid, 1 job
right.yaml: valid, 1 job"
like "and the errors of the wrong one" "$err" "^wrong.yaml:2:7: error: unknown key 'rnu'"
exits "a missing file among them" 4 titan validate missing.yaml right.yaml
like "doesn't end the check" "$out" 'right.yaml: valid'
exits "as JSON" 0 titan --json validate right.yaml right.yaml
is "they are a list" "$(printf '%s' "$out" | jq -c 'map(.job_count)')" '[1,1]'
exits "errors as JSON" 2 titan --json validate wrong.yaml
is "have their place" "$(printf '%s' "$err" | jq -c '.error | [.file, .line, .column]')" '["wrong.yaml",2,7]'
exits "standard input may be a pipeline" 0 bash -c '"$TITAN" validate - <right.yaml'
exits "or a graph on one line" 0 bash -c '"$TITAN" validate - <<<"a -> b; a=true; b=true"'
exits "whose errors are all told" 2 bash -c '"$TITAN" validate - <<<"a -> b c; a=true foo=1; d="'
is "each once" "$(grep -c 'error:' <<<"$err")" 3
exits "a plan of one line" 0 titan plan -e 'a -> b*2; a=true; b=true'
like "has its jobs" "$out" 'b\[1\]'
exits "a plan of one line and a file" 2 titan plan -e 'a; a=true' right.yaml
exits "a plan of nothing" 2 titan plan
done_testing
