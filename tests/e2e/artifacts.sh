# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs leave files: patterns choose them, they are seen when the job has succeeded, and what can't be kept fails the job by name.
# time-out: 240 s
. "$(dirname "$0")/lib.sh"

detail() { titan --json show "$1" | jq -r ".[0] | $2"; } # JOB FILTER
paths() { titan --plain artifact ls "$1" | cut -f 1 | tr '\n' ' '; }
run_of() { # OUT SCRIPT
	printf 'name: left\njobs:\n  a:\n    artifacts: {out: %s}\n    run: |\n' "$1" >job.yaml
	printf '%s\n' "$2" | sed 's/^/      /' >>job.yaml
	run=$(titan -q run --private job.yaml)
	titan --timeout 60s wait "$run" >/dev/null 2>&1
}

start_cluster --slots 4

# --- which files, and how they come back ---
run_of '[dist, "logs/**/*.txt", "!dist/tmp", {glob: "maybe/*", optional: true}]' 'mkdir -p dist/tmp dist/.hidden logs/a/b other
echo one >dist/one; echo two >dist/.hidden/two; echo no >dist/tmp/no; echo text >logs/a/b/x.txt; echo no >logs/a/b/x.log; echo no >other/no
printf "#!/bin/sh\necho runs\n" >dist/tool; chmod 755 dist/tool; ln -s one dist/link; chmod 640 dist/one'
is "a job with artifacts succeeds" "$(job_state "$run" a)" succeeded
is "what was chosen is there" "$(paths "$run/a")" \
	"dist dist/.hidden dist/.hidden/two dist/link dist/one dist/tool logs logs/a logs/a/b logs/a/b/x.txt "
is "the run lists the job" "$(titan --plain artifact ls "$run" | cut -f 1,2,3)" "$(printf '%s/a\t4\t33' "$run")"
is "also as JSON" "$(titan --json artifact ls "$run" | jq -r '.[0] | "\(.job) \(.name) \(.run) \(.file_count)"')" "$run/a a $run 4"
like "show says so" "$(titan show "$run/a")" 'artifacts +4 files, 33 bytes'
is "kinds are told" "$(titan --json artifact ls "$run/a" | jq -r '[.[] | select(.path | startswith("dist/")) | .kind] | join(" ")')" \
	"directory file link file program"
exits "all is fetched" 0 titan artifact get "$run/a" -o all
is "with what was in it" "$(cat all/dist/one all/dist/.hidden/two all/logs/a/b/x.txt)" "$(printf 'one\ntwo\ntext')"
is "programs can be executed" "$(all/dist/tool)" runs
is "links are links" "$(readlink all/dist/link)" one
exits "one file is fetched" 0 titan artifact get "$run/a" dist/one -o one
is "as it is" "$(cat one)" one
exits "or printed" 0 titan artifact get "$run/a" dist/.hidden/two -o -
is "on standard output" "$out" two
exits "or a directory" 0 titan artifact get "$run/a" dist/ -o dist
ok "with what is in it" diff -r --no-dereference dist all/dist
exits "it isn't replaced" 2 titan artifact get "$run/a" dist -o dist
exits "another path isn't there" 4 titan artifact get "$run/a" dist/none
like "which is said" "$err" "'dist/none' isn't among the files of $run/a"
exits "a job that left nothing" 4 titan artifact ls "$(titan -q run -w -e 'b=true')/b"
like "is told" "$err" 'left no files'
exits "a run isn't enough to get" 2 titan artifact get "$run"
run_of '[{glob: "maybe/*", optional: true}]' 'true'
is "what is optional may lack" "$(job_state "$run" a) $(titan --json artifact ls "$run/a")" "succeeded []"

# --- where, and under which identity ---
mkdir work
printf 'jobs:\n  a: {dir: %s/work, artifacts: {out: x}, run: "echo in >x"}\n' "$test_dir" >dir.yaml
run=$(titan -q run -w dir.yaml)
is "patterns are below the job's directory" "$(titan artifact get "$run/a" x -o -)" in
printf 'jobs:\n  a: {fan_out: 3, artifacts: {out: x}, run: "echo $TITAN_INDEX >x"}\n' >fan.yaml
run=$(titan -q run -w --private fan.yaml)
is "each job of a fan-out has its own" "$(titan --plain artifact ls "$run" | cut -f 1 | tr '\n' ' ')" "$run/a[0] $run/a[1] $run/a[2] "
is "by its index" "$(titan artifact get "$run/a[2]" x -o -)" 2
printf 'jobs:\n  a: {shell: python3, artifacts: {out: x}, run: "open(\\"x\\", \\"w\\").write(\\"py\\")"}\n  b: {command: [touch, y], artifacts: {out: y}}\n' >how.yaml
run=$(titan -q run -w --private how.yaml)
is "scripts of other interpreters, and commands" "$(titan artifact get "$run/a" x -o -) $(paths "$run/b")" "py y "

# --- the process is as without artifacts ---
run_of '[x]' 'touch x; exit 3'
is "a failure stays as it is" "$(detail "$run/a" .outcome)" "exit 3"
exits "and leaves nothing" 4 titan artifact ls "$run/a"
run_of '[x]' 'touch x; kill -KILL $$'
is "so does a signal" "$(detail "$run/a" .outcome)" "SIGKILL"
printf 'jobs:\n  a: {artifacts: {out: x}, command: [%s/nothing]}\n' "$test_dir" >none.yaml
run=$(titan -q run -w none.yaml 2>/dev/null)
is "a command that isn't there" "$(detail "$run/a" .outcome)" "exit 127"
like "is named in the log" "$(titan logs -q "$run/a")" "can't start $test_dir/nothing"
run_of '[x]' 'trap "" HUP USR1; kill -HUP 0; kill -USR1 0; touch x'
is "signals to the group are for the job alone" "$(job_state "$run" a)" succeeded
printf 'jobs:\n  a: {artifacts: {out: x}, run: "touch x %s/began; sleep 600"}\n' "$test_dir" >long.yaml
run=$(titan -q run --private long.yaml)
ok "a job runs" until_true 20 test -e began
titan -q cancel "$run"
exits "and is cancelled" 1 titan --timeout 60s wait "$run"
is "as without artifacts" "$(job_state "$run" a)" cancelled

# --- what can't be kept ---
wrong() { # NAME OUT SCRIPT PATTERN
	run_of "$2" "$3"
	is "$1: the job fails" "$(job_state "$run" a)" failed
	is "... with an outcome of its own" "$(detail "$run/a" .outcome)" "bad artifacts"
	like "... and the reason by name" "$(detail "$run/a" .artifact_fault)" "$4"
	exits "... and leaves nothing" 4 titan artifact ls "$run/a"
}
wrong "no match" '["dist/**", "more/*"]' 'mkdir dist; touch dist/x' "^no file matches 'more/\*'"
wrong "all left out" '["*.c", "!x.c"]' 'touch x.c' "^no file matches '\*\.c'"
wrong "a link that leaves" '[x]' 'ln -s ../../../etc/passwd x' '^\./x: the link leaves'
wrong "an absolute link" '[x]' 'ln -s /etc/passwd x' '^\./x: the link leaves'
wrong "a pipe" '["*"]' 'mkfifo pipe' '^\./pipe: it is no regular file'
like "it is in the job's log, too" "$(titan logs -q "$run/a")" "the artifacts can't be kept: ./pipe"
like "explain says it" "$(titan explain "$run/a" 2>&1)" "artifacts couldn't be kept"

# --- mistakes in the file ---
bad() { # NAME YAML PATTERN
	printf 'jobs:\n  a: {run: x, artifacts: %s}\n' "$2" >bad.yaml
	exits "$1 is refused" 2 titan validate bad.yaml
	like "... by name" "$out$err" "$3"
}
bad "an absolute pattern" '{out: /etc/passwd}' 'relative to the job'
bad "one that leaves" '{out: ../x}' 'relative to the job'
bad "an unknown key" '{outs: x}' 'did you mean|out'
bad "only what is left out" '{out: "!x"}' 'none chooses any'

# --- rights ---
export XDG_CONFIG_HOME=$test_dir/config
titan -q -y down
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"     # all here run as one user
start_cluster --slots 2 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
for person in anna:submitter bert:submitter vera:viewer; do
	titan -q token add "${person%:*}" --role "${person#*:}" -o "${person%:*}.key"
done
by() { # PERSON ARGUMENT...
	local person=$1
	shift
	TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key "$person.key" "$@"
}
printf 'jobs:\n  a: {artifacts: {out: x}, run: "echo of anna >x"}\n' >anna.yaml
run=$(by anna run -q -w --private anna.yaml)
is "anna fetches what her job left" "$(by anna artifact get "$run/a" x -o -)" "of anna"
is "so does who sees all" "$(by vera artifact get "$run/a" x -o -)" "of anna"
by bert artifact get "$run/a" x -o - >stolen 2>said
is "bert doesn't" "$(cat stolen)" ""
like "which is said" "$(cat said)" "$run"

# --- they go with their run ---
exits "runs are pruned" 0 titan -y prune --keep 0
exits "then the files can't be read" 4 titan artifact ls "$run/a"
done_testing
