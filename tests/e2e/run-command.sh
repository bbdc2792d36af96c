# SPDX-License-Identifier: GPL-3.0-or-later
#
# titan run -- CMD and titan run SCRIPT: a single command as a run. Messages and where they go, arguments that stay as
# they are, the exit status, and which word is a script and which a pipeline.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 4
mkdir programs "a dir"
# shellcheck disable=SC2016
printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >args && chmod +x args
printf '#!/bin/sh\necho "$0"; pwd\n' >"a dir/where.sh" && chmod +x "a dir/where.sh"
printf 'echo no first line\n' >plain.sh && chmod +x plain.sh
printf 'jobs: {a: {run: echo of a pipeline}}\n' >pipe.yaml
cp pipe.yaml pipe.yml
printf '#!/bin/sh\nexit 5\n' >programs/five && chmod +x programs/five
export PATH="$PWD/programs:$PATH"
output() { titan run -q -w --propagate "$@" 2>&1; }

# --- what is printed, and where ---
exits "a command is submitted" 0 titan run -- echo hello
like "and its run's number printed" "$out" '^[0-9]+$'
titan --timeout 60s wait "$out" >/dev/null
is "it has run" "$(titan logs "$out")" hello
is "its job and its run are called as it" "$(titan --json show "$out" | jq -r '.[0] | .name + " " + .jobs[0].name')" "echo echo"
exits "with -f" 0 titan run -f -- sh -c 'echo to out; echo to err >&2'
is "its output comes" "$out" "to out"
like "what it says on standard error there, beside the run's number" "$(echo "$err" | tr '\n' ' ')" '^run [0-9]+ to err $'
exits "with -w" 0 titan run -w -- echo hello
like "only the number is printed" "$out" '^[0-9]+$'
exits "with -w --propagate" 0 titan run -w --propagate -- echo hello
is "the output" "$out" hello
exits "with -q" 0 titan run -q -w --propagate -- echo hello
is "nothing else at all" "$out$err" hello
exits "without an end of line" 0 titan run -q -f -- printf 'no end'
is "it is printed as it is" "$(cat "$test_dir/exits.out" | od -c | head -1)" "$(printf 'no end' | od -c | head -1)"
# shellcheck disable=SC2016
is "bytes are untouched" "$(output -- printf 'x\033[2J\000y\377\n' | od -An -tx1)" "$(printf 'x\033[2J\000y\377\n' | od -An -tx1)"
is "all of a long output comes" "$(output -- seq 200000 | md5sum)" "$(seq 200000 | md5sum)"
exits "as JSON" 0 titan --json run -w -- echo hello
is "there is one value" "$(printf '%s' "$out" | jq -r .state)" succeeded
exits "and with -f one for each change" 0 titan --json run -f -- echo hello
like "without the output" "$out" '^\{"run":[0-9]+,"state":"succeeded"\}$'
unlike "of the job" "$out" '^hello'
is "--dry-run shows the job" "$(titan --json run -n -- echo a b | jq -r '.[0].command')" "echo a b"

# --- exit status ---
exits "-f fails as a job does" 1 titan run -f -- sh -c 'exit 7'
like "and says how" "$err" '^#[0-9]+ sh FAIL exit=7'
exits "--propagate takes the code" 7 titan run -f --propagate -- sh -c 'exit 7'
exits "also with -w" 7 titan run -w --propagate -- sh -c 'echo before; exit 7'
is "after the output" "$out" before
exits "255 is a code" 255 titan run -w --propagate -- sh -c 'exit 255'
# shellcheck disable=SC2016
for signal in TERM:143 KILL:137 INT:130 SEGV:139; do
	# shellcheck disable=SC2016
	exits "SIG${signal%:*} is 128 and its number" "${signal#*:}" titan run -w --propagate -- sh -c "kill -${signal%:*} \$\$"
done
exits "a command that isn't there" 127 titan run -w --propagate -- no-such-command
like "is named, with the reason" "$err" 'no-such-command FAIL not started: No such file or directory'
exits "a file that isn't executable" 126 titan run -w --propagate -- ./pipe.yaml
like "too" "$err" 'not started: Permission denied'
exits "and a directory" 126 titan run -w --propagate -- "$test_dir"
exits "without --propagate it failed as any job" 1 titan run -f -- no-such-command
exits "a retried command" 3 titan run -f --propagate --retry 1 -- sh -c 'echo once more; exit 3'
is "is shown each time" "$(printf '%s\n' "$out" | grep -c 'once more')" 2
exits "a time-out of the command line" 124 titan --timeout 300ms run -f -- sleep 600
like "leaves it running" "$err" 'still running: titan watch [0-9]+'
titan -q cancel last

# --- words stay as they are ---
# shellcheck disable=SC2016
is "quotes, spaces, dollars, stars" "$(output -- ./args 'a  b' "x'y" '"' '$HOME' '`id`' '*' '$(id)' '' '\n' ';' '&' '|' '#')" \
	"<a  b><x'y><\"><\$HOME><\`id\`><*><\$(id)><><\\n><;><&><|><#>"
is "newlines" "$(output -- ./args $'a\nb')" $'<a\nb>'
is "words that look like options" "$(output -- ./args -f --json -- -w)" "<-f><--json><--><-w>"
is "bytes that aren't UTF-8" "$(output -- ./args $'\xff\xfe' | od -An -tx1)" "$(printf '<\xff\xfe>' | od -An -tx1)"
is "words of percent signs and braces" "$(output -- ./args '%s%n' '{}' '${i}')" '<%s%n><{}><${i}>'
exits "a command of the submitter's PATH is found" 5 titan run -w --propagate -- five
exits "too many bytes" 2 titan run -- ./args "$(head -c 100000 /dev/zero | tr '\0' x)" "$(head -c 100000 /dev/zero | tr '\0' y)"
like "are refused with the way out" "$err" 'put it into a script'
exits "an empty command" 2 titan run -- ''
like "is refused" "$err" 'the command behind -- is empty'
exits "no command" 2 titan run --
like "too" "$err" 'there is no command behind --'

# --- scripts ---
is "a script is found by its slash" "$(output ./args a b)" "<a><b>"
is "or as an executable file" "$(output args a b)" "<a><b>"
is "all words behind it are its own" "$(output args -x --long=1 -- -f 2>/dev/null)" "<-x><--long=1><--><-f>"
exits "if one could be titan's" 0 titan run args -f
like "that is said" "$err" '^-f goes to args; options of titan run stand before the script$'
is "it runs here, under its full name" "$(output "a dir/where.sh")" "$PWD/a dir/where.sh"$'\n'"$PWD"
is "where --dir says" "$(output --dir / "./a dir/where.sh")" "$PWD/a dir/where.sh"$'\n'/
like "or in an empty directory" "$(output --private "a dir/where.sh" | tail -n 1)" '/attempts/[0-9]+$'
is "a script without a first line is one of the shell" "$(output plain.sh)" "no first line"
is "its job is called as it" "$(titan --json show last | jq -r '.[0].jobs[0].name')" plain.sh
exits "a script that isn't there" 4 titan run ./nothing --x
like "isn't submitted" "$err" "can't run ./nothing: No such file or directory"
exits "a directory" 2 titan run ./programs
like "is no script" "$err" 'programs is a directory'
chmod -x plain.sh
exits "a file that isn't executable" 2 titan run plain.sh
like "is none" "$err" 'neither a pipeline, .*, nor an executable script'
like "the way out is said" "$err" 'chmod \+x plain.sh'
exits "a command without --" 4 titan run ls
like "is suggested with it" "$err" 'try: titan run -- ls'
exits "the name of a pipeline without its end" 4 titan run pipe
like "is suggested with it" "$err" 'try: titan run pipe.yaml'
exits "something that is nowhere" 4 titan run no-such-thing

# --- pipelines ---
for file in pipe.yaml pipe.yml ./pipe.yaml "$PWD/pipe.yml"; do
	exits "$file is a pipeline" 0 titan run -w "$file"
	is "which ran" "$(titan logs "$out/a")" "of a pipeline"
done
exits "a pipeline takes no words" 2 titan run pipe.yaml word
like "but parameters" "$err" "unexpected argument 'word'; a pipeline has parameters instead"
chmod +x pipe.yaml
exits "an executable file with the name of a pipeline" 2 titan run ./pipe.yaml
like "could be both, and both are named" "$err" 'may be a pipeline .by its name. or a script .it is executable.'
like "with a way for each" "$err" 'titan run - <./pipe.yaml .* titan run -- ./pipe.yaml'
run=$(titan run -w - <pipe.yaml)
is "a pipeline from standard input" "$(titan logs "$run/a")" "of a pipeline"
printf '# first\n\n---\nparams: {x: {default: 1}}\njobs: {a: {run: "echo ${params.x}"}}\n' >param.yaml
run=$(titan run -w -p x=seven - <param.yaml)
is "takes parameters" "$(titan logs "$run/a")" seven
run=$(printf '{"jobs": {"a": {"run": "echo json"}}}' | titan run -w -)
is "may be JSON" "$(titan logs "$run/a")" json
run=$(printf '# a line\n{a, b} -> c; a="echo 1"; b=true; c=true; a:failed -> d; d=true\n' | titan run -w -)
is "so may a graph on one line" "$(titan logs "$run/a")" 1
run=$(printf 'a:failed -> b; a=true; b=true\n' | titan run -w -)
is "also if it begins with a result" "$(job_state "$run" b)" skipped
exits "which takes no parameters" 2 sh -c 'echo "a=true" | "$TITAN" run -p x=1 -'
printf 'jobs: {a: {run: 1, nonsense: 2}}\n' >wrong.txt
exits "an error in it has its place" 2 sh -c '"$TITAN" run - <wrong.txt'
like "in what was read" "$err" '^stdin:1:20: error'
exits "one source alone" 2 titan run --lines -- echo
like "counts" "$err" 'not several'

# --- into a live run, and inside a job ---
live=$(titan run -e 'hold="sleep 600"')
exits "a command is added to a live run" 0 titan run --into "$live" --name more -- echo added
ok "under its name" until_true 30 job_is "$live" more succeeded
titan -q cancel "$live"
run=$(titan run -w -- "$TITAN" run -q -w --propagate -- echo from inside)
is "a job runs a command, too" "$(titan logs "$run")" "from inside"

# --- through a kill of the master ---
titan run -f -- sh -c 'echo begin; until [ -e go ]; do sleep 0.05; done; echo end' >followed 2>followed.err &
follower=$!
ok "the output comes as it is written" until_true 30 grep -q begin followed
kill -KILL "$(master_pid)"
start_cluster
touch go
wait $follower
is "a follower lives through the end of the master" "$? $(tr '\n' ' ' <followed)" "0 begin end "

# --- on a terminal ---
if command -v tmux >/dev/null 2>&1; then
	open_terminal
	ok 'a shell in a terminal' until_true 20 sees 'shell>'
	keys 'titan run -f -- printf "a\033[2Jb\nlast\n"' Enter
	ok "what it writes can't drive the terminal" until_true 30 sees '^a.*\[2Jb'
	keys 'clear; titan run -w --propagate -- sh -c "echo here; sleep 600"' Enter
	ok "it is seen at once" until_true 30 sees '^here'
	keys C-c
	ok "Ctrl-C leaves it running" until_true 30 sees 'still running: titan watch [0-9]+'
	keys 'clear; echo "status $?"' Enter
	titan -q cancel last
fi
done_testing
