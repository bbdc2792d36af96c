# SPDX-License-Identifier: GPL-3.0-or-later
# A process that no signal ends keeps its slot and raises an alarm until it is gone. A tracer that never continues it
# holds the process at its exit.
. "$(dirname "$0")/lib.sh"

# A tracer that never lets it go on holds a process at its exit.
cat >hold.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	pid_t pid = argc > 1 ? atoi(argv[1]) : 0;
	sigset_t all;
	int status;
	/* No stop but the exit: seized, it would stop at SIGCONT, too. */
	sigfillset(&all);
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0 || waitpid(pid, &status, __WALL) != pid ||
	    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXIT) < 0 ||
	    ptrace(PTRACE_SETSIGMASK, pid, _NSIG / 8, &all) < 0 || ptrace(PTRACE_CONT, pid, 0, 0) < 0)
		return 1;
	puts("held");
	fflush(stdout);
	for (;;)
		pause();
}
END
${CC:-cc} -o hold hold.c 2>/dev/null || skip_all "no compiler"
start_cluster --slots 2
run=$(titan run -e "j; j='exec sleep 600'")
ok "a job runs" until_true 10 job_is "$run" j running
held_pid=$(job_processes)
./hold "$held_pid" >held &
holder=$!
hold_is_clear() { [ -s held ] || process_gone "$holder"; }
until_true 60 hold_is_clear
if [ ! -s held ]; then
	note "no process may be traced here"
	done_testing
fi

titan -y cancel "$run" >/dev/null
stuck() { [ "$(state_of '.workers[0].stuck_jobs | length')" = "$1" ]; }
ok "cancelled, it is killed, lives on, and that is noticed" until_true 60 stuck 1
is "which job it is" "$(state_of '.workers[0].stuck_jobs[0]')" "$run/j"
like "status raises an alarm, and says what to ask" "$(titan status)" "^alarm +worker local: 1 killed job still has a process and keeps its slot: $run/j +next: titan explain $run/j\$"
like "so does the list of workers" "$(titan worker ls)" '^alarm '
like "explain says why it doesn't end" "$(titan explain "$run/j")" 'worker local was killed but is still there; the job keeps its slot'
is "it is counted" "$(titan --json metrics | jq .attempts_stuck)" 1
like "the dashboard needs a person" "$(titan dash --dump-screen - --exit-after idle --size 80x24)" 'STUCK +local +1 killed job still has a'
is "its slot is taken" "$(state_of '.workers[0].busy')" 1
others=$(for _ in 1 2 3 4; do echo "mkdir $test_dir/alone && sleep 0.1 && rmdir $test_dir/alone"; done | titan run --lines)
exits "the other slot goes on, one job at a time" 0 titan --timeout 60s wait "$others"

kill -KILL "$(master_pid)"
titan up --slots 2 >/dev/null 2>&1
ok "a new master hears of it" until_true 30 stuck 1
is "and knows the job as it was" "$(job_state "$run" j)" stopping
kill -KILL $holder
ok "when the process goes the job has ended" until_true 20 run_is "$run" cancelled
ok "and the alarm is over" until_true 10 stuck 0
amount "1 process"
unlike "nothing is left of it" "$(titan status)" '^alarm '

done_testing
