# SPDX-License-Identifier: GPL-3.0-or-later
# time-out: 400 s
# The console: on a terminal, with floods of notices, pastes and a killed master; and as the reader of a script.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
unset NO_COLOR
export TITAN SHELL=/bin/sh XDG_STATE_HOME=$test_dir/xdg
at_console() { python3 "$e2e_dir/repl.py" "$@"; }

start_cluster --slots 4
slow=$(titan -q run -e 'slow="sleep 600"')
cat >"$test_dir/editor" <<'END'
#!/bin/sh
echo '!echo it was edited' >"$2"
END
chmod +x "$test_dir/editor"

ok 'commands are typed without the word titan' at_console commands
ok 'graphs and YAML take as many lines as they need' at_console graphs
ok 'Tab completes, and ? says what may follow' at_console completion "$slow"
ok 'each command with a backslash does what it says' at_console backslashes "$test_dir"
ok 'Ctrl-C ends what runs, and not the console' at_console interrupt "$slow"
ok '200 pasted lines are all run' at_console paste

ok 'lines are remembered' at_console remembered
history=$XDG_STATE_HOME/titan/history
is 'by the user alone' "$(stat -c %a "$history")" 600
unlike 'without secrets' "$(cat "$history")" 'abc123|hidden|show 1$'
is 'each once' "$(grep -cx version "$history")" 1

# Runs that fail as fast as they can: each is a sub-run of one run.
cat >"$test_dir/bad.yaml" <<'END'
name: bad
jobs: {bad: {run: "exit 3"}}
END
cat >"$test_dir/storm.yaml" <<'END'
name: storm
jobs:
  sub: {pipeline: bad.yaml, matrix: {n: [NUMBERS]}}
END
sed -i "s/NUMBERS/$(seq -s, 300)/" "$test_dir/storm.yaml"
if titan validate "$test_dir/storm.yaml" >"$test_dir/validate.out" 2>&1; then
	(until_true 60 test -e "$test_dir/go" && titan -q run "$test_dir/storm.yaml") >/dev/null 2>&1 &
	ok 'a storm of news loses no key and leaves the line whole' at_console storm "$test_dir/go"
	wait $!
else
	note "$(cat "$test_dir/validate.out")"
	ok 'a storm can be made' false
fi
titan cancel -y storm >/dev/null 2>&1

ok 'a master that dies is found again, and the line stays' at_console lost "$(master_pid)"
until_true 30 worker_is_up

for gate in one two; do
	(until_true 60 test -e "$test_dir/$gate" && titan -q run -e '?qa') >/dev/null 2>&1 &
done
ok 'a gate that asks is told, and counted in the prompt' at_console gate "$test_dir/one" "$test_dir/two"
wait

exits 'a script has no prompt' 0 sh -c 'printf "version\n# comment\n\nstatus -q\n" | "$1" repl' sh "$TITAN"
unlike 'at all' "$out$err" '>'
like 'and prints what its commands print' "$out" '^titan [0-9]'
exits 'a script stops at its first error' 4 sh -c 'printf "version\n\nshow 4711\nversion\n" | "$1" repl' sh "$TITAN"
is 'before what comes behind' "$(printf '%s\n' "$out" | grep -c '^titan')" 1
like 'and says in which line' "$err" 'stopped at line 3.*exit status 4'
exits 'with -k it goes on' 4 sh -c 'printf "show 4711\nversion\nshow 1/nosuch" | "$1" repl -k' sh "$TITAN"
is 'to the end' "$(printf '%s\n' "$out" | grep -c '^titan')" 1
like 'and says each line' "$err" 'line 3 ended with exit status'
exits 'a graph over several lines' 0 sh -c 'printf "run -q --wait -e a -> {b,\nc}; a=true; b=true; c=true\n" | "$1" repl' sh "$TITAN"
exits 'input of a command' 0 sh -c 'printf "validate <<E\njobs: {a: {run: \"true\"}}\nE\n" | "$1" repl' sh "$TITAN"
exits 'a quote that nobody closes' 2 sh -c 'printf "version\nls \"a\n" | "$1" repl' sh "$TITAN"
like 'has its line' "$err" 'line 2'
{ echo version; until_true 60 grep -q titan "$test_dir/piece"; echo version; } | titan repl >"$test_dir/piece"
is 'each command runs as soon as it is whole' "$(grep -c titan "$test_dir/piece")" 2

done_testing
