# SPDX-License-Identifier: GPL-3.0-or-later
#
# The dashboard on a real master: pictures in a file, and a terminal (tmux, with a server of this test's own): states
# as they change, suspending, a killed master, a crash. The terminal is restored each time.
. "$(dirname "$0")/lib.sh"

ok 'the cluster starts' titan up --slots 2
lines=$(yes true | head -n 20 | titan -q run --lines)
titan wait "$lines" >/dev/null 2>&1
like 'a group of lines has a name' "$(titan dash "$lines" --view dag --dump-screen - --exit-after idle)" '\+ jobs\[20\] +OK'

run=$(titan -q run -e 'a -> {b, c*12} -> d; a=true; b=true; c="test $i != 3"; d=true')
titan wait "$run" >/dev/null 2>&1

exits 'Home as a file' 0 titan dash --dump-screen - --exit-after=idle --size 80x24
is 'has 24 rows' "$(printf '%s\n' "$out" | wc -l)" 24
like 'with the cluster, live' "$out" '^titan default rw LIVE +wrk 1/1'
like 'the run that failed' "$out" "^> $run +a +.* FAIL .*100%"
like 'and what needs a person' "$out" 'NEEDS YOU \(1\)'

exits 'the graph as a file' 0 titan dash --view dag --dump-screen - --exit-after=idle
like 'folds the twelve' "$out" '\+ c\[12\] +FAIL'
like 'shows the one that failed' "$out" 'c\[3\] +DEAD +exit 1'
like 'and who waited for it' "$out" ' d +SKIP +because of c\[3\]'
like 'with lines' "$out" '├─┘|`-|\+-'"'"

exits 'in ASCII alone' 0 titan dash --ascii --view dag --dump-screen - --exit-after=idle
is 'and nothing else' "$(printf '%s' "$out" | LC_ALL=C tr -d '\11\12\40-\176' | wc -c)" 0
exits 'a fixed clock gives the same picture' 0 titan dash --clock 2030-01-01T00:00:00Z --view dag --dump-screen one --exit-after=idle
titan dash --clock 2030-01-01T00:00:00Z --view dag --dump-screen two --exit-after=idle
ok 'byte for byte' cmp one two
like 'what is of another day shows its date' "$(titan dash --clock 2030-01-01T00:00:00Z --view workers --dump-screen - --exit-after=idle)" \
	'local .* [A-Z][a-z][a-z] 20[0-9][0-9]( |$)'
exits 'a wrong size is refused' 2 titan dash --size big --dump-screen - --exit-after=idle
exits 'no terminal is said so' 2 titan dash
like 'with what to do instead' "$err" 'titan status'

command -v tmux >/dev/null 2>&1 || done_testing

dash_pid() { terminal_pid dash; }
# The shell in the terminal is interactive: it has job control, and says so when the dashboard has gone.
open_terminal

ok 'a shell in a terminal' until_true 10 sees 'shell>'
printf '#!/bin/sh\ntail -n 1 | sed "s/^/paged /"\nread -r line </dev/tty\n' >pager
chmod +x pager
keys "PAGER=$PWD/pager titan dash" Enter
ok 'the dashboard opens' until_true 10 sees 'titan default rw LIVE'
second=$(titan -q run -e 'slow; slow="sleep 600"')
ok 'a new run appears as it starts' until_true 10 sees "$second +slow +. RUN"
keys 3
ok 'the graph of the selected run' until_true 10 sees "^DAG a #$run"
keys 1
until_true 10 sees NEEDS
keys k
keys c
ok 'cancel asks' until_true 10 sees "Cancel run $second slow: 1 job that"
keys Enter
ok 'and the default is no' until_true 10 sees 'nothing was cancelled'
is 'nothing happened' "$(job_state "$second" slow)" running
keys c
until_true 10 sees "Cancel run $second"
keys y
ok 'y cancels' until_true 10 job_is "$second" slow cancelled
ok 'and the screen says so' until_true 10 sees "$second +slow +. CANC"

gate=$(titan -q run -e '?gate -> behind; gate="good enough?"; behind=true')
until_true 10 sees "$gate +gate"
keys 1 g
ok 'Home says that it asks' until_true 10 sees "APPR +$gate"
ok 'and how many have approved' until_true 10 sees "APPR +$gate/gate +0 of 1 approved"
keys 3
ok 'the graph of the newest run' until_true 10 sees "^DAG gate #$gate"
keys r
ok 'a gate is shown when it is to be rejected' until_true 10 sees 'good enough\?'
ok 'with what stands behind it' sees 'unblocks behind'
keys Escape
ok 'Esc leaves it' until_true 10 sees 'nothing was decided'
keys a
until_true 10 sees 'unblocks behind'
keys -l 'looks fine'
keys Enter
ok 'it asks once more' until_true 10 sees 'y  approve'
keys y
ok 'and approves' until_true 10 job_is "$gate" behind succeeded
like 'with the reason' "$(titan approvals --all "$gate")" 'looks fine'
keys 1

back=$(titan -q run -e 'make -> ?ship; make=true; ship="ship it?"')
until_true 10 sees "APPR +$back"
keys g 3
ok 'another gate asks' until_true 10 sees 'ship +APPR'
keys j p
until_true 10 sees 'ship it\?'
keys -l 'mak'
keys Enter
keys -l 'too early'
keys Enter
until_true 10 sees 'y  push back'
keys y
ok 'a push back to an unknown job is refused in the dialog' until_true 10 sees "run $back has no job 'mak'"
ok 'which has what was typed' until_true 10 sees 'back to> mak'
keys -l 'e'
keys Enter
ok 'and asks again' until_true 10 sees 'y  push back'
keys y
pushed_back() { titan approvals --all "$back" | grep -q 'too early'; }
ok 'the corrected one is carried out' until_true 10 pushed_back
titan cancel "$back" -y >/dev/null 2>&1
keys 1

long=$(titan -q run -e 'long; long="seq 1 100000; sleep 600"')
until_true 10 sees "$long +long +. RUN"
keys 1 g 3
until_true 10 sees "^DAG long #$long"
keys l
ok 'a log opens at its end' until_true 10 sees '^[0-9:]+   100000$'
keys g
ok 'g goes to its first line' until_true 10 sees '^[0-9:]+   1$'
keys /
keys -l '99999'
keys Enter
ok 'a search goes over all of it' until_true 10 sees '/99999 1 of 1'
ok 'and shows the match' until_true 10 sees '^[0-9:]+   99999$'
pane set-option -s set-clipboard on
keys y
copied() { pane show-buffer 2>/dev/null | grep -qx 99999; }
ok 'y copies what is shown' until_true 10 copied
keys o
# The pager of this shell prints what it gets, and waits for a key.
ok 'o opens the log in the pager' until_true 10 sees '^paged 100000$'
keys Enter
ok 'after which the dashboard is back' until_true 10 sees "^LOG $long/long"
titan cancel "$long" -y >/dev/null 2>&1
keys Escape Escape
keys 1

keys C-z
ok 'Ctrl-Z gives the shell back' until_true 10 sees '[Ss]topped'
keys 'stty -a | grep -ow -- "-*icanon"' Enter
ok 'with its terminal as it was' until_true 10 sees '^icanon'
keys fg Enter
ok 'fg brings it back' until_true 10 sees 'titan default rw LIVE'

kill -KILL "$(master_pid)"
ok 'without a master it stays, and says since when' until_true 10 sees 'STALE [0-9]+s, retry in [0-9]+s'
ok 'with what it knew' sees "$second +slow +. CANC"
titan up >/dev/null 2>&1
ok 'and goes on by itself when there is one' until_true 30 sees 'titan default rw LIVE'

pane resize-window -x 50 -y 20
ok 'too small a window is said so' until_true 10 sees 'need 60x16, have 50x20'
pane resize-window -x 150 -y 40
ok 'a wide one shows the graph beside the list' until_true 10 sees "RUNS.*DAG|DAG .*#"
keys ':'
keys -l 'version'
ok 'a command can be typed' until_true 10 sees '^:version'
keys Enter
ok 'it runs, and a pane has what it prints' until_true 10 sees '^titan [0-9]'
ok 'within the dashboard' sees 'titan default rw LIVE'
keys Escape
gone() { ! sees "$1"; }
ok 'Escape closes the pane' until_true 10 gone '^titan [0-9]'
close_pane() {
	keys Escape
	until_true 10 gone 'Esc closes'
}
type_command() {
	keys ':'
	until_true 10 sees '^:'
	keys -l -- "$1"
	keys Enter
}
wild=$(titan -q run -w -e 'wild="printf \"a\\\\033[2Jb\\\\033]0;c\\\\007d\\\\n\""')
type_command "logs $wild"
ok 'escapes of a job are shown, not obeyed' until_true 10 sees '^a\\x1b\[2Jb\\x1b\]0;c\\x07d'
close_pane
long=$(titan -q run -e 'long="sleep 600"')
type_command "watch $long"
ok 'a command that takes its time leaves the dashboard alive' until_true 10 sees "^#$long start"
ok 'and says that it runs' sees 'runs: Ctrl-C ends it'
keys C-c
ok 'Ctrl-C ends it' until_true 10 sees 'exit status 130'
close_pane
type_command "watch $long"
until_true 10 sees 'runs: Ctrl-C ends it'
until_true 10 sees "^#$long start"
keys Escape
ok 'Escape ends it with the pane' until_true 10 gone "^#$long start"
no_child() { ! pgrep -P "$(dash_pid)" >/dev/null; }
ok 'no process is left' until_true 10 no_child
type_command 'cancel all'
ok 'a question is asked in the pane' until_true 10 sees '\? \[y/N\]'
keys n Enter
ok 'and answered there' until_true 10 sees 'nothing was changed'
is 'no is no' "$(job_state "$long" long)" running
titan -q -y cancel all
close_pane
type_command '\x'
until_true 10 sees 'one line per field is on'
close_pane
type_command "ls $long"
ok 'settings of the console hold for what follows' until_true 10 sees '^PIPELINE +long'
close_pane
type_command '\watch i=1'
ok '\watch repeats the last command' until_true 10 sees 'every 1s: ls'
keys Escape
ok 'until its pane is closed' until_true 10 gone 'every 1s'
ok 'with the dashboard as it was' until_true 10 sees '^1 Home +2 Runs'
type_command '!echo from the shell'
ok 'the shell has the terminal' until_true 10 sees '^-- press Enter --'
ok 'for itself' sees '^from the shell'
keys Enter
ok 'then the dashboard is back' until_true 10 sees 'titan default rw LIVE'
type_command "ls 'a"
ok 'a line that ends within quotes is refused' until_true 10 sees "a quote or a brace isn't closed"
close_pane
keys ':'
keys -l 'wait all'
keys Escape
ok 'Escape forgets a command' until_true 10 gone '^:wait'
keys ':'
until_true 10 sees '^:'
keys -l 'show 4711'
keys Enter
ok 'a command that fails says so' until_true 10 sees 'exit status 4: Esc closes'
ok 'with its error' sees '^titan: there is no run 4711'
keys Escape
ok 'and the dashboard is back again' until_true 10 gone '4711'
keys q
ok 'q leaves' until_true 10 sees 'shell>'
keys 'echo status $?; stty -a | grep -ow -- "-*icanon"' Enter
ok 'with status 0' until_true 10 sees '^status 0'
ok 'and the terminal as it was' until_true 10 sees '^icanon'

keys 'clear; titan dash' Enter
ok 'opened again' until_true 10 sees 'titan default rw LIVE'
kill -SEGV "$(dash_pid)"
keys 'echo; stty -a | grep -ow -- "-*icanon"' Enter
ok 'a crash gives the terminal back too' until_true 10 sees '^icanon'
done_testing
