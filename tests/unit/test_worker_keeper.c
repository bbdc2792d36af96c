/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keeper alone: what a job gets from it, how it ends, and what is left of it. */
#include "keeper_rig.h"

#include <sys/ptrace.h>
#include <sys/resource.h>

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;
static struct buf text;

static void setup_cb(void *data)
{
	(void)data;
	rig = rig_new(2);
	rig->options.stuck_ns = NS_PER_S / 5;
	if (!rig_start(rig))
		abort();
	rig_lease(rig);
}

static pid_t tracer;                     /* a process that holds another one at its exit; 0: none */

static void let_go(void)
{
	if (tracer > 0) {
		kill(tracer, SIGKILL);
		waitpid(tracer, NULL, 0);
	}
	tracer = 0;
}

static void teardown_cb(void *data)
{
	(void)data;
	let_go();
	rig_free(rig);
	buf_free(&text);
}

TEST exit_codes(void)
{
	struct ipc_started started;
	struct ipc_exited exited;

	rig_sh(rig, 1, 5, "exit 0");
	rig_sh(rig, 2, 5, "exit 7");
	ASSERT(rig_started(rig, 1, &started));
	ASSERT_EQ(5, started.epoch);
	ASSERT_EQ(77, started.run);
	ASSERT(started.pid > 1);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(0, exited.done.code);
	ASSERT_EQ(77, exited.run);
	ASSERT(exited.done.run_ns > 0);
	ASSERT(exited.done.started_ms > 0 && exited.done.ended_ms >= exited.done.started_ms);
	ASSERT(exited.done.rss_kib > 0);
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(7, exited.done.code);
	PASS();
}

TEST signals(void)
{
	struct ipc_exited exited;

	rig_sh(rig, 1, 1, "kill -SEGV $$");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_SIGNAL, exited.done.outcome);
	ASSERT_EQ(SIGSEGV, exited.done.code);
	PASS();
}

TEST what_cant_start(void)
{
	const char *const missing[] = { "/no/such/program", NULL }, *const denied[] = { "/etc/passwd", NULL };
	const char *const bare[] = { "no-such-program-anywhere", NULL }, *const none[] = { NULL };
	const char *const fine[] = { "true", NULL };
	struct ipc_exited exited;

	rig_spawn_in(rig, 1, 1, missing, NULL, "");
	rig_spawn_in(rig, 2, 1, denied, NULL, "");
	rig_spawn_in(rig, 3, 1, bare, NULL, "");
	rig_spawn_in(rig, 4, 1, none, NULL, "");
	rig_spawn_in(rig, 5, 1, fine, NULL, "/no/such/directory");
	rig_spawn_in(rig, 6, 1, fine, NULL, "");
	for (uint64_t job = 1; job <= 5; job++) {
		const uint64_t faults[] = { 0, ENOENT, EACCES, ENOENT, EINVAL, ENOENT };

		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(job == 5 ? OUTCOME_NO_DIR : OUTCOME_SPAWN, (enum outcome)exited.done.outcome);
		ASSERT_EQ_FMT((unsigned long long)faults[job], (unsigned long long)exited.done.code, "%llu");
		ASSERT_EQ(0, exited.done.started_ms);
	}
	ASSERT(rig_exited(rig, 6, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(0, exited.done.code);
	PASS();
}

/*
 * A start that fails because the worker lacks something isn't the job's fault: the job is refused, and starts when the
 * worker has it again.
 */
TEST keeper_without_descriptors_refuses_jobs(void)
{
	struct rlimit enough, few;
	const char *const fine[] = { "true", NULL };
	struct ipc_exited exited;

	ASSERT_EQ(0, prlimit(rig->keeper, RLIMIT_NOFILE, NULL, &enough));
	few = (struct rlimit){ 5, enough.rlim_max };
	ASSERT_EQ(0, prlimit(rig->keeper, RLIMIT_NOFILE, &few, NULL));
	for (uint64_t job = 1; job <= 3; job++) {
		rig_spawn_in(rig, job, 1, fine, NULL, "");
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(OUTCOME_REFUSED, exited.done.outcome);
		ASSERT_EQ(EMFILE, (int)exited.done.code);
		ASSERT_EQ(0, exited.done.started_ms);
	}
	ASSERT_EQ(0, prlimit(rig->keeper, RLIMIT_NOFILE, &enough, NULL));
	rig_spawn_in(rig, 4, 1, fine, NULL, "");
	ASSERT(rig_exited(rig, 4, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(0, exited.done.code);
	PASS();
}

TEST script_without_interpreter_line(void)
{
	const char *const argv[] = { "./tool", "a b", NULL };
	char dir[PATH_MAX], path[PATH_MAX + 8];
	struct ipc_exited exited;

	snprintf(dir, sizeof(dir), "%s", rig->options.statedir.dir);
	snprintf(path, sizeof(path), "%s/tool", dir);
	ASSERT_EQ(0, io_write_file(AT_FDCWD, path, "echo \"$1\"; exit 4\n", 18, 0700));
	rig_spawn_in(rig, 1, 1, argv, NULL, dir);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(4, exited.done.code);
	ASSERT_STR_EQ("a b\n", rig_output(rig, exited.space, "out", &text));
	PASS();
}

TEST output_goes_to_files(void)
{
	struct ipc_started started;
	struct ipc_exited exited;

	rig_sh(rig, 1, 1, "echo out; echo bad >&2; cat");
	ASSERT(rig_started(rig, 1, &started));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(started.space, exited.space);
	ASSERT_EQ(4, exited.sizes[0]);
	ASSERT_EQ(4, exited.sizes[1]);
	ASSERT_EQ(8, exited.done.out_bytes);
	ASSERT_STR_EQ("out\n", rig_output(rig, exited.space, "out", &text));
	ASSERT_STR_EQ("bad\n", rig_output(rig, exited.space, "err", &text));
	PASS();
}

TEST a_space_is_clean_again(void)
{
	struct ipc_exited first, second;

	rig_sh(rig, 1, 1, "echo secret; touch file; mkdir dir; touch dir/.x; chmod 0755 .; exec 3>&1; echo 1 >&3");
	ASSERT(rig_exited(rig, 1, &first));
	rig_sh(rig, 2, 1, "ls -A; pwd; stat -c %a .");
	ASSERT(rig_exited(rig, 2, &second));
	ASSERT_NEQ(first.space, second.space);
	ASSERT_STR_EQ("secret\n1\n", rig_output(rig, first.space, "out", &text));
	rig_name(rig, IPC_SPOOL_ACK, 1, 1);
	rig_name(rig, IPC_FILES_DONE, 1, 1);
	for (uint64_t job = 3; job < 6; job++) {
		rig_sh(rig, job, 1, "ls -A; stat -c %a . >&2; ls -A /proc/self/fd >/dev/null; >left");
		ASSERT(rig_exited(rig, job, &second));
		ASSERT_STR_EQ("", rig_output(rig, second.space, "out", &text));
		ASSERT_STR_EQ("700\n", rig_output(rig, second.space, "err", &text));
		rig_name(rig, IPC_FILES_DONE, job, 1);
		rig_name(rig, IPC_SPOOL_ACK, job, 1);
	}
	ASSERTm("they are used again", second.space <= 4);
	PASS();
}

TEST environment_from_nothing(void)
{
	const char *const argv[] = { "/usr/bin/env", NULL };
	const char *const env[] = { "GREETING=hello world", "LANG=de_DE.UTF-8", "TITAN_JOB=forged", "EMPTY=", NULL };
	const char *const wanted[] = { "\nGREETING=hello world\n", "\nLANG=de_DE.UTF-8\n", "\nEMPTY=\n",
				       "\nTITAN_RUN=77\n", "\nTITAN_JOB=12\n", "\nTITAN_EPOCH=9\n",
				       "\nTITAN_WORKER=w1\n", "\nTITAN_CLUSTER=rig\n", "\nSHELL=/bin/sh\n", "\nPATH=/",
				       "\nTMPDIR=/", "\nTITAN_SCRATCH=/", "\nTITAN_MARK=", "\nHOME=", "\nUSER=", "\nLOGNAME=" };
	struct ipc_exited exited;
	struct buf all = { 0 };
	size_t lines = 0;

	rig_spawn_in(rig, 12, 9, argv, env, "");
	ASSERT(rig_exited(rig, 12, &exited));
	buf_add_str(&all, "\n");
	buf_add_str(&all, rig_output(rig, exited.space, "out", &text));
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		ASSERTm(wanted[i], strstr(buf_cstr(&all), wanted[i]));
	ASSERT_EQ(NULL, strstr(buf_cstr(&all), "RIG_CANARY"));
	ASSERT_EQ(NULL, strstr(buf_cstr(&all), "forged"));
	for (const char *at = buf_cstr(&all) + 1; *at; at++)
		lines += *at == '\n';
	ASSERT_EQ_FMT((size_t)18, lines, "%zu");
	buf_free(&all);
	PASS();
}

TEST nothing_else_is_inherited(void)
{
	/* Run the command directly, because a shell sets its own signals. */
	const char *const status[] = { "sed", "-n", "s/\t//; /^NoNew/p; /^Sig[BI]/p", "/proc/self/status", NULL };
	struct ipc_exited exited;

	rig_spawn_in(rig, 2, 1, status, NULL, "");
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_STR_EQ("SigBlk:0000000000000000\nSigIgn:0000000000000000\nNoNewPrivs:1\n",
		      rig_output(rig, exited.space, "out", &text));
	rig_sh(rig, 1, 1, "ls /proc/$$/fd; readlink /proc/$$/fd/0; umask; ulimit -c; ulimit -Sn; "
	       "cut -d' ' -f 5,6 /proc/$$/stat | tr ' ' '\\n' | grep -cx $$");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_STR_EQ("0\n1\n2\n/dev/null\n0077\n0\n400\n2\n", rig_output(rig, exited.space, "out", &text));
	ASSERT_STR_EQ("", rig_output(rig, exited.space, "err", &text));
	PASS();
}

TEST own_directory(void)
{
	struct ipc_exited exited;

	rig_sh(rig, 1, 1, "test \"$(pwd)\" = \"$TMPDIR\" && ls -A && echo x >file");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(0, exited.done.code);
	ASSERT_EQ(0, exited.done.out_bytes);
	PASS();
}

TEST slots_and_lease(void)
{
	struct ipc_numbers numbers = { 0 };
	struct ipc_started started;
	struct ipc_exited exited;

	for (uint64_t job = 1; job <= 3; job++)
		rig_sh(rig, job, 1, "sleep 600");
	ASSERT(rig_started(rig, 1, &started));
	ASSERT(rig_started(rig, 2, &started));
	while (numbers.running != 2 || numbers.queued != 1)
		ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
	rig_stop(rig, 1, 1, 5000);
	ASSERT(rig_started(rig, 3, &started));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT_EQ(128 + SIGTERM, exited.done.code);
	PASS();
}

TEST no_lease_no_start(void)
{
	struct ipc_numbers numbers = { 0 };
	struct ipc_started started;

	rig_free(rig);
	rig = rig_new(2);
	ASSERT(rig_start(rig));
	rig_sh(rig, 1, 1, "true");
	while (numbers.queued != 1)
		ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
	ASSERT_EQ(0, numbers.running);
	rig_lease(rig);
	ASSERT(rig_started(rig, 1, &started));
	PASS();
}

TEST recall_and_stop_of_queued(void)
{
	struct ipc_started started;
	struct ipc_exited exited;

	for (uint64_t job = 1; job <= 4; job++)
		rig_sh(rig, job, 1, "sleep 600");
	ASSERT(rig_started(rig, 2, &started));
	rig_name(rig, IPC_RECALL, 2, 1);
	rig_name(rig, IPC_RECALL, 3, 1);
	rig_stop(rig, 4, 1, 1000);
	ASSERT(rig_exited(rig, 3, &exited));
	ASSERT_EQ(OUTCOME_RECALLED, exited.done.outcome);
	ASSERT(rig_exited(rig, 4, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT_EQ(0, exited.done.started_ms);
	PASS();
}

/* Number of live processes of this test with the environment variable TREE=name. */
static int survivors(const char *name)
{
	char command[256];
	FILE *pipe;
	int count = -1;

	snprintf(command, sizeof(command), "for p in /proc/[0-9]*; do if tr '\\0' '\\n' <$p/environ 2>/dev/null | "
		 "grep -qx TREE=%s.%d; then echo; fi; done 2>/dev/null | wc -l", name, (int)getpid());
	pipe = popen(command, "r");
	if (pipe && fscanf(pipe, "%d", &count) != 1)
		count = -1;
	if (pipe)
		pclose(pipe);
	return count;
}

/* Wait until there are at least this many. */
static bool grows(const char *name, int least)
{
	int64_t end_ns = clock_mono_ns() + RIG_WAIT_MS * NS_PER_MS;

	while (survivors(name) < least) {
		if (clock_mono_ns() > end_ns)
			return false;
		usleep(20000);
	}
	return true;
}

/* Double fork, a session of its own, TERM ignored: such a process survives any signal to the process group. */
#define ESCAPE(n) "(trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; (while :; do sleep 0.05; done) & exec sleep 600' &) ;"

static void spawn_tree(uint64_t job, const char *name, const char *script)
{
	char variable[64];
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const char *const env[] = { variable, NULL };

	snprintf(variable, sizeof(variable), "TREE=%s.%d", name, (int)getpid());

	rig_spawn_in(rig, job, 1, argv, env, "");
}

TEST stop_kills_the_whole_tree(void)
{
	struct ipc_exited exited;
	char path[PATH_MAX + 8], script[5 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/up", rig->options.statedir.dir);
	snprintf(script, sizeof(script), ESCAPE(1) ESCAPE(2) "trap '' TERM; >%s; while :; do sleep 0.05; done",
		 path);
	spawn_tree(1, "stop", script);
	ASSERT(rig_file_appears(path));
	/*
	 * The job has the main process and two processes for each that escapes; the short-lived sleeps aren't counted.
	 */
	ASSERT(grows("stop", 5));
	rig_stop(rig, 1, 1, 50);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT_EQ(128 + SIGKILL, exited.done.code);
	ASSERT_EQ_FMT(0, survivors("stop"), "%d");
	PASS();
}

TEST nothing_outlives_its_main_process(void)
{
	struct ipc_started started;
	struct ipc_exited exited;

	spawn_tree(2, "other", ESCAPE(1) "exec sleep 600");
	ASSERT(rig_started(rig, 2, &started));
	ASSERT(grows("other", 3));
	spawn_tree(1, "leave", ESCAPE(1) ESCAPE(2) "sleep 600 & sleep 0.2; exit 3");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_EQ(3, exited.done.code);
	ASSERT_EQ_FMT(0, survivors("leave"), "%d");
	ASSERT(survivors("other") >= 3);
	PASS();
}

/*
 * Attach a tracer that stops the process only at its exit. Attached, not seized: a seized process also stops at
 * SIGCONT, where other signals don't get through, and continuing from such a stop could continue from the exit.
 */
static bool trace_exit(pid_t pid)
{
	sigset_t all;
	int status;

	sigfillset(&all);
	return ptrace(PTRACE_ATTACH, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid &&
	       ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACEEXIT) == 0 &&
	       ptrace(PTRACE_SETSIGMASK, pid, _NSIG / 8, &all) == 0 && ptrace(PTRACE_CONT, pid, NULL, 0) == 0;
}

/* Hold a process at its exit with a tracer that never continues it: no signal ends it while the tracer lives. */
static void hold_at_exit(pid_t pid)
{
	int pipes[2];
	char byte;

	if (pipe(pipes) < 0)
		abort();
	fflush(stdout);
	tracer = fork();
	if (tracer == 0) {
		/* Close the link's descriptors in this process, so that the keeper sees the ends close. */
		if (dup2(pipes[1], 0) < 0 || close_range(3, ~0u, 0) < 0 || !trace_exit(pid) || write(0, "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1) {
		waitpid(tracer, NULL, 0);
		tracer = 0;
	}
	close(pipes[0]);
}

TEST what_cant_be_killed_keeps_its_slot(void)
{
	const struct ipc_numbers both = { 2, 1 };
	struct ipc_numbers numbers = { 0 };
	struct ipc_started started;
	struct ipc_exited exited;
	struct ipc_attempt stuck;

	rig_sh(rig, 1, 5, "sleep 600");
	ASSERT(rig_started(rig, 1, &started));
	hold_at_exit((pid_t)started.pid);
	if (tracer == 0)
		SKIPm("no process may be traced here");
	rig_stop(rig, 1, 5, 0);
	ASSERT(rig_wait(rig, IPC_STUCK, 1, &stuck, sizeof(stuck)));
	ASSERT_EQ(5, stuck.epoch);
	/* One slot is left. */
	rig_sh(rig, 2, 1, "sleep 600");
	rig_sh(rig, 3, 1, "true");
	while (memcmp(&numbers, &both, sizeof(both)) != 0)
		ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
	rig_stop(rig, 2, 1, 0);
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT(rig_exited(rig, 3, &exited));
	while (numbers.running != 1 || numbers.queued != 0) {
		ASSERT(numbers.running <= 2);
		ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
	}
	/* A new link is also told that the attempt can't be killed. */
	ASSERT(rig_accept(rig));
	ASSERT(rig_wait(rig, IPC_STUCK, 1, &stuck, sizeof(stuck)));
	let_go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	PASS();
}

/*
 * A keeper that is told to end doesn't wait for an unkillable process: the next keeper adopts it, and its slot stays
 * taken.
 */
TEST what_cant_be_killed_is_left_to_the_next_keeper(void)
{
	struct ipc_numbers numbers = { 0 };
	struct ipc_started started;
	struct ipc_exited exited;
	struct ipc_attempt stuck;

	rig_sh(rig, 1, 5, "sleep 600");
	ASSERT(rig_started(rig, 1, &started));
	hold_at_exit((pid_t)started.pid);
	if (tracer == 0)
		SKIPm("no process may be traced here");
	kill(rig->keeper, SIGINT);
	ASSERT(WIFEXITED(rig_wait_keeper(rig)));
	ASSERT_EQ(0, kill((pid_t)started.pid, 0));
	ASSERT(rig_start(rig));
	rig_lease(rig);
	ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
	ASSERT_EQ(1, numbers.running);
	rig_stop(rig, 1, 5, 0);
	ASSERT(rig_wait(rig, IPC_STUCK, 1, &stuck, sizeof(stuck)));
	let_go();
	ASSERT(rig_exited(rig, 1, &exited));
	PASS();
}

TEST a_tree_may_end_by_itself_within_the_grace(void)
{
	struct ipc_exited exited;
	struct ipc_started started;
	char path[PATH_MAX + 8], script[5 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/up", rig->options.statedir.dir);
	snprintf(script, sizeof(script), "sh -c \"trap 'sleep 0.2; echo bye; exit' TERM; >%s; "
		 "while :; do sleep 0.02; done\" & wait", path);
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	ASSERT(rig_file_appears(path));
	rig_stop(rig, 1, 1, 10000);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT_STR_EQ("bye\n", rig_output(rig, exited.space, "out", &text));
	PASS();
}

TEST one_that_hides_dies_with_the_last_that_can_own_it(void)
{
	struct ipc_exited exited;
	char path[PATH_MAX + 8], script[5 * PATH_MAX], command[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/pid", rig->options.statedir.dir);
	snprintf(script, sizeof(script), "(setsid env -i /bin/sh -c 'echo $$ >%s.new; mv %s.new %s; "
		 "exec /bin/sleep 600' &); while ! test -f %s; do sleep 0.01; done", path, path, path, path);
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_exited(rig, 1, &exited));
	snprintf(command, sizeof(command), "kill -0 $(cat %s) 2>/dev/null", path);
	ASSERT_NEQ(0, system(command));
	PASS();
}

TEST quit_ends_everything(void)
{
	struct ipc_exited exited;
	struct ipc_started started;
	const struct ipc_quit quit = { 100 };
	int status;

	for (uint64_t job = 1; job <= 3; job++)
		rig_sh(rig, job, 1, "trap '' TERM; while :; do sleep 0.05; done");
	ASSERT(rig_started(rig, 2, &started));
	rig_send(rig, IPC_QUIT, &quit, sizeof(quit));
	for (uint64_t job = 1; job <= 3; job++) {
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(job == 3 ? OUTCOME_RECALLED : OUTCOME_STOPPED, exited.done.outcome);
	}
	for (uint64_t job = 1; job <= 3; job++)
		rig_name(rig, IPC_SPOOL_ACK, job, 1);
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	PASS();
}

TEST int_is_quit(void)
{
	struct ipc_exited exited;
	struct ipc_started started;
	int status;

	rig_sh(rig, 1, 1, "exec sleep 600");
	ASSERT(rig_started(rig, 1, &started));
	kill(rig->keeper, SIGINT);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	rig_name(rig, IPC_SPOOL_ACK, 1, 1);
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	PASS();
}

TEST term_leaves_what_may_run_on(void)
{
	struct ipc_exited exited;
	struct ipc_started started;
	int status;

	rig_sh(rig, 1, 1, "exec sleep 600");
	ASSERT(rig_started(rig, 1, &started));
	rig->spawn_flags = SPAWN_DIES;
	rig_sh(rig, 2, 1, "exec sleep 600");
	for (uint64_t job = 3; job <= 5; job++)
		rig_sh(rig, job, 1, "exec sleep 600");
	rig_left(rig);
	kill(rig->keeper, SIGTERM);
	for (uint64_t job = 2; job <= 5; job++) {
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT(exited.done.outcome == OUTCOME_STOPPED || exited.done.outcome == OUTCOME_RECALLED);
		rig_name(rig, IPC_SPOOL_ACK, job, 1);
	}
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ASSERT_EQ(0, kill((pid_t)started.pid, 0));
	PASS();
}

TEST a_second_keeper_is_refused(void)
{
	struct error error = { 0 };
	pid_t pid;
	int status = 0;

	pid = fork();
	if (pid == 0) {
		if (!getenv("RIG_LOUD"))
			dup2(open("/dev/null", O_WRONLY), 2);
		_exit(keeper_run(&rig->options, &error) == err_exit_status(ERR_BUSY) && error.code == ERR_BUSY &&
		      strstr(error.text, "w1") && error.next[0] ? 42 : 1);
	}
	waitpid(pid, &status, 0);
	ASSERT(WIFEXITED(status));
	ASSERT_EQ(42, WEXITSTATUS(status));
	PASS();
}

static void run_all(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(exit_codes);
	RUN_TEST(signals);
	RUN_TEST(what_cant_start);
	RUN_TEST(keeper_without_descriptors_refuses_jobs);
	RUN_TEST(script_without_interpreter_line);
	RUN_TEST(output_goes_to_files);
	RUN_TEST(a_space_is_clean_again);
	RUN_TEST(environment_from_nothing);
	RUN_TEST(nothing_else_is_inherited);
	RUN_TEST(own_directory);
	RUN_TEST(slots_and_lease);
	RUN_TEST(no_lease_no_start);
	RUN_TEST(recall_and_stop_of_queued);
	RUN_TEST(stop_kills_the_whole_tree);
	RUN_TEST(nothing_outlives_its_main_process);
	RUN_TEST(what_cant_be_killed_keeps_its_slot);
	if (rig_containment == CONTAIN_SUBREAPER)
		RUN_TEST(what_cant_be_killed_is_left_to_the_next_keeper);
	RUN_TEST(a_tree_may_end_by_itself_within_the_grace);
	if (rig_containment == CONTAIN_SUBREAPER)
		RUN_TEST(one_that_hides_dies_with_the_last_that_can_own_it);
	RUN_TEST(quit_ends_everything);
	RUN_TEST(int_is_quit);
	RUN_TEST(term_leaves_what_may_run_on);
	RUN_TEST(a_second_keeper_is_refused);
}

SUITE(with_subreaper)
{
	rig_containment = CONTAIN_SUBREAPER;
	run_all();
}

SUITE(with_cgroup)
{
	rig_containment = CONTAIN_CGROUP;
	run_all();
}

SUITE(with_pids)
{
	rig_containment = CONTAIN_PIDS;
	run_all();
}

int main(int argc, char **argv)
{
	struct rlimit files;

	rig_stub(argc, argv);
	setenv("RIG_CANARY", "seen", 1);
	/* The keeper raises its own limit of descriptors to the hard limit. */
	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_max <= 400)
		return 77;
	files.rlim_cur = 400;
	if (setrlimit(RLIMIT_NOFILE, &files) < 0)
		return 1;
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(with_subreaper);
	if (rig_can_contain(CONTAIN_CGROUP))
		RUN_SUITE(with_cgroup);
	if (rig_can_contain(CONTAIN_PIDS))
		RUN_SUITE(with_pids);
	GREATEST_MAIN_END();
}
