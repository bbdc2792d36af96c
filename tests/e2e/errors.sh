# SPDX-License-Identifier: GPL-3.0-or-later
# Bad input of any kind gets a clear error and a documented exit status, and changes nothing.
. "$(dirname "$0")/lib.sh"

exits "without a master, commands say so" 69 titan ls
like "and name the command that starts one" "$err" 'titan up'
exits "an unknown command" 2 titan statsu
like "has a suggestion" "$err" 'status'
exits "an unknown option" 2 titan run --lnies
like "has a suggestion" "$err" 'lines'
exits "no abbreviations" 2 titan stat
exits "a cluster's name is no path" 2 titan -C ../evil status
exits "help" 0 titan --help
like "lists the commands" "$out" 'run'
exits "help of a command" 0 titan run --help
exits "the version" 0 titan version
exits "a command that needs an argument" 2 titan show

start_cluster
exits "a graph with a cycle" 2 titan run -e "a -> b -> a; a=true; b=true"
like "is named" "$err" 'a.*b.*a'
exits "an unfinished graph" 2 titan run -e "a -> {b, c"
like "has a caret" "$err" '\^'
exits "a job without a command" 2 titan run -e "a -> b; a=true"
like "is named" "$err" "'?b'?"
exits "an assignment to a job that isn't there" 2 titan run -e "fetch; fech=true"
like "has a suggestion" "$err" 'fetch'
exits "an empty graph" 2 titan run -e ""
exits "no commands on standard input" 2 titan run --lines
exits "two graphs for one run" 2 titan run -e "a; a=true" graph.yaml
like "are told to be several" "$err" '--again RUN and -, not several'
exits "an unknown run" 4 titan show 12345
exits "an unknown job" 4 titan show 1/nope
exits "a run that is no number" 2 titan show bogus
exits "a negative limit" 2 titan ls --limit -3
exits "a name that would move the cursor" 2 titan run --name $'evil\x1b[2J' -e "a; a=true"
unlike "isn't echoed as it is" "$err" $'\x1b'
exits "an unreadable span" 2 titan --timeout soon wait 1
mkfifo silent.yaml fed.yaml
for command in run validate plan; do
	exits "$command with a pipe that nobody writes into ends" 2 timeout 30 "$TITAN" $command silent.yaml
	like "$command says that it is one" "$err" 'silent.yaml is a pipe, and no program has it open for writing'
done
sleep 600 >silent.yaml &
writer=$!
exits "a pipe whose writer writes nothing is waited for as long as --timeout says" 124 titan --timeout 500ms plan silent.yaml
kill "$writer"
printf 'jobs: {a: {run: "true"}}\n' >fed.yaml &
exits "a pipe that is written into is read" 0 titan plan fed.yaml
like "to its end" "$out" '^a '
exits "so is one of a shell" 0 bash -c '"$0" plan <(sleep 0.1; echo "jobs: {b: {run: \"true\"}}")' "$TITAN"
like "to its end" "$out" '^b '
exits "a directory is no pipeline" 2 titan run "$test_dir"
is "nothing was submitted by all this" "$(titan --json ls | jq length)" 0

run=$(titan run -e "a; a='printf \"x\\033[2Jy\"'")
titan --timeout 20s wait "$run" >/dev/null
is "output that isn't for a terminal is untouched" "$(titan logs "$run/a")" $'x\x1b[2Jy'

# Garbage on the socket closes that connection and nothing else.
if command -v python3 >/dev/null; then
	python3 - "$TITAN_STATE/default/titan.sock" <<'P'
import os, random, socket, sys
os.chdir(os.path.dirname(sys.argv[1]))
random.seed(7)
for i in range(200):
    s = socket.socket(socket.AF_UNIX)
    s.connect(os.path.basename(sys.argv[1]))
    try:
        s.sendall(bytes([2, random.randrange(256), 0, 0]) + random.randbytes(random.randrange(64)) if i % 2 else random.randbytes(80))
    except OSError:
        pass
    s.close()
P
	is "200 garbage connections leave the master as it was" "$(state_of '.workers | length')" 1
fi

"$TITAN" master >"$test_dir/second.out" 2>&1 </dev/null
is "a second master is refused" $? 75
like "and is told why" "$(cat "$test_dir/second.out")" 'has the store'

done_testing
