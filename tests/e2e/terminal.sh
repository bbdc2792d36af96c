# SPDX-License-Identifier: GPL-3.0-or-later
#
# Commands on a terminal (tmux, with a server of this test's own): Ctrl-C leaves and the job goes on, output of jobs
# can't control the terminal, titan alone starts everything and opens the dashboard, the demo runs.
. "$(dirname "$0")/lib.sh"
command -v tmux >/dev/null 2>&1 || skip_all 'there is no tmux'

prompt_last() { screen | sed '/^ *$/d' | tail -n 1 | grep -q '^shell> *$'; }
types() { # COMMAND: on an empty screen, once the one before has ended
	until_true 20 prompt_last || note "no prompt: $(screen)"
	keys "clear; $1" Enter
}
says_status() { # STATUS
	keys 'echo status $?' Enter
	until_true 10 sees "^status $1\$"
}

open_terminal
ok 'a shell in a terminal' until_true 10 sees 'shell>'

types titan
ok 'titan alone starts what is missing and opens the dashboard' until_true 20 sees '^titan default rw LIVE +wrk 1/1'
keys q
ok 'which q leaves' until_true 10 sees 'shell>'
ok 'with success' says_status 0
ok 'and all goes on' worker_is_up

# Ctrl-C, wherever a command waits for a job.
types "titan run -f -e 'slow=\"echo begin; sleep 600\"'"
ok 'a job that is followed is shown over a bar' until_true 20 sees 'RUN slow local'
ok 'with counts' until_true 10 sees '0% 0/1 ok=0 run=1'
keys C-c
ok 'Ctrl-C says how to come back and how to stop it' until_true 10 sees \
	'^still running: titan watch 1, stop: titan cancel 1$'
ok 'ends with 130' says_status 130
ok 'and leaves no bar behind' eval '! sees "0/1 ok=0"'
for command in 'watch 1' 'wait 1' 'logs -f 1' "run -w -e 'slow=\"sleep 600\"'"; do
	types "titan $command"
	case $command in
	watch*) until_true 10 sees 'RUN slow' ;;
	logs*) until_true 10 sees '^begin' ;;
	run*) until_true 10 sees '^run 2' ;;
	# Nothing is on its screen: its descriptor for signals says that it waits.
	wait*) until_true 10 eval 'ls -l /proc/$(terminal_pid $command)/fd | grep -q signalfd' ;;
	esac || note "$command: $(screen)"
	keys C-c
	ok "$command: Ctrl-C says that it goes on" until_true 10 sees '^(\^C)?still running: titan '
	ok "$command: 130" says_status 130
done
is 'the job goes on' "$(job_state 1 slow)" running
types "titan watch 1"
until_true 10 sees 'RUN slow'
keys C-z
ok 'Ctrl-Z gives the shell back' until_true 10 sees 'Stopped +.*watch 1'
keys fg Enter
ok 'fg goes on' until_true 10 eval 'screen | sed "1,/Stopped/d" | grep -q "RUN slow local"'
is 'below what the shell said' "$(screen | grep -c 'titan watch 1$')" 2
keys C-c
types "titan down"
ok 'down asks with live jobs' until_true 10 sees 'with 2 live jobs: end them, leave them running, or do nothing\? \[e/l/N\]'
keys Enter
ok 'and does nothing by default' until_true 10 sees 'nothing was changed'
ok 'at all' worker_is_up
types "$TITAN down"
until_true 10 sees 'e/l/N'
keys l Enter
ok 'l leaves the jobs running' until_true 20 sees 'running jobs were left running'
ok 'without a master' eval '! titan status'
start_cluster
ok 'and the next worker has them' until_true 20 job_is 1 slow running
is 'as they were' "$(titan --json show 1 | jq '.[0] | .jobs[0].tries')" 1
titan cancel 1 2 --wait

# Output that would clear the screen, set the title and write over a line.
loud=$(titan -q run -e "loud='printf \"one\\033[2Jtwo\\033[31mred\\033[0m\\r\\n\\033]0;stolen\\007\\377unfinished\"; echo oops >&2'")
titan wait "$loud"
types "titan logs $loud"
ok 'control characters are made visible' until_true 10 sees '^one\\x1b\[2Jtwo\\x1b\[31mred\\x1b\[0m\\r$'
ok 'those of a title too' until_true 10 sees '^\\x1b]0;stolen\\x07\\xffunfinished$'
ok 'a stream begins on a line of its own' sees '^oops$'
ok 'and so does the prompt' until_true 10 prompt_last
unlike "the terminal's title is its own" "$(pane display-message -p '#{pane_title}')" stolen
types "titan logs --color always $loud"
ok 'colours may pass' until_true 10 sees 'twored\\r$'
is 'as colours' "$(pane capture-pane -e -p | grep -c "two.\[31mred")" 1
quiet=$(titan -q run -w -e 'quiet=true')
types "titan logs $quiet"
ok 'a job without output is said to have none' until_true 10 sees '^\[the job wrote nothing\]$'

types "titan demo"
ok 'the demo pulls the plug' until_true 30 sees 'PULL THE PLUG'
ok 'shows what runs over a bar' until_true 30 sees ' [0-9]+% [0-9]+/16 ok='
ok 'and loses nothing' until_true 60 sees 'no result was lost, no job was done twice'
ok 'with success' says_status 0
done_testing
