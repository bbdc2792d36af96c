/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every command can run many times in one process, and prints the same as the program. A cluster is started; each
 * command runs here, then as a program, then here again, with the same arguments.
 */
#include "cli/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "greatest.h"
#include "proto/commands.h"

#define WORDS_MAX 8
#define TRIES 20 /* for commands that print times: a second may pass between two runs, so the comparison is repeated */

/* COUNTED: numbers, times and the blanks beside them may differ between two runs of the command. */
enum { SAME, COUNTED, EXCEPTED };

static const struct row {
	enum command_id id;
	int how;
	const char *words[WORDS_MAX];
} rows[] = {
	/* Excepted because they start processes that stay, or take over the terminal. */
	{ COMMAND_up, EXCEPTED, { NULL } }, { COMMAND_down, EXCEPTED, { NULL } }, { COMMAND_demo, EXCEPTED, { NULL } },
	{ COMMAND_master, EXCEPTED, { NULL } }, { COMMAND_dash, EXCEPTED, { NULL } }, { COMMAND_repl, EXCEPTED, { NULL } },
	{ COMMAND_status, COUNTED, { NULL } }, { COMMAND_status, COUNTED, { "--json" } },
	{ COMMAND_worker, COUNTED, { "ls" } }, { COMMAND_worker, SAME, { "rm", "nobody" } },
	{ COMMAND_backup, SAME, { "no/such/directory/x" } }, { COMMAND_restore, SAME, { "nothing" } },
	{ COMMAND_fsck, COUNTED, { NULL } }, { COMMAND_audit, SAME, { "verify", "--head", "12" } }, { COMMAND_prune, SAME, { "--older", "1d", "-y" } },
	{ COMMAND_cordon, SAME, { "nobody" } }, { COMMAND_uncordon, SAME, { "nobody" } }, { COMMAND_drain, SAME, { "nobody" } },
	{ COMMAND_pool, SAME, { "ls" } }, { COMMAND_pool, SAME, { "set", "slow", "draining" } },
	{ COMMAND_topic, SAME, { "ls" } }, { COMMAND_topic, SAME, { "rm", "nothing" } },
	{ COMMAND_run, COUNTED, { "-e", "echo hi", "-w" } }, { COMMAND_run, SAME, { "-n", "-e", "a -> b; a=x; b=y" } },
	{ COMMAND_run, SAME, { "-e", "a -> a; a=x" } }, { COMMAND_run, COUNTED, { "--again", "1", "-w", "--json" } },
	{ COMMAND_validate, SAME, { "graph.yaml" } }, { COMMAND_validate, SAME, { "wrong.yaml" } },
	{ COMMAND_graph, SAME, { "graph.yaml", "--json" } }, { COMMAND_graph, SAME, { "9" } },
	{ COMMAND_plan, SAME, { "graph.yaml" } }, { COMMAND_plan, SAME, { "graph.yaml", "--json" } },
	{ COMMAND_watch, SAME, { "1" } }, { COMMAND_wait, SAME, { "1" } }, { COMMAND_wait, SAME, { "2", "--timeout", "10ms" } },
	{ COMMAND_logs, SAME, { "1/a" } }, { COMMAND_logs, SAME, { "1/nobody" } },
	{ COMMAND_progress, SAME, { "50" } }, { COMMAND_output, SAME, { "a=1" } }, { COMMAND_run, SAME, { "./nothing" } },
	{ COMMAND_cancel, SAME, { "1" } }, { COMMAND_retry, SAME, { "1/nobody" } },
	{ COMMAND_dlq, SAME, { "ls" } }, { COMMAND_dlq, SAME, { "show", "1/a" } },
	{ COMMAND_schedule, SAME, { "ls" } }, { COMMAND_schedule, SAME, { "show", "nobody" } },
	{ COMMAND_hold, SAME, { "2/b" } }, { COMMAND_priority, SAME, { "2/b", "70" } }, { COMMAND_release, SAME, { "2/b" } },
	{ COMMAND_undo, SAME, { "9999" } }, { COMMAND_undo, SAME, { "none" } },
	{ COMMAND_group, SAME, { "set", "g", "--max", "2" } }, { COMMAND_group, SAME, { "ls" } },
	{ COMMAND_lock, SAME, { "ls" } }, { COMMAND_lock, SAME, { "drop", "nobody" } },
	{ COMMAND_artifact, SAME, { "ls", "1" } }, { COMMAND_artifact, SAME, { "get", "1/a" } },
	{ COMMAND_asset, SAME, { "get", "none" } }, { COMMAND_kv, SAME, { "ls", "cluster:" } }, { COMMAND_kv, SAME, { "get", "cluster:none" } }, { COMMAND_kv, SAME, { "get", "none" } },
	{ COMMAND_tenant, SAME, { "set", "t", "--weight", "3" } }, { COMMAND_tenant, COUNTED, { "ls" } },
	{ COMMAND_token, SAME, { "ls" } }, { COMMAND_token, SAME, { "rm", "nobody" } }, { COMMAND_cluster, SAME, { "ls" } },
	{ COMMAND_history, COUNTED, { NULL } }, { COMMAND_history, COUNTED, { "--run", "1", "--json" } },
	{ COMMAND_events, SAME, { "1", "--kind", "run" } },
	{ COMMAND_approvals, COUNTED, { NULL } }, { COMMAND_approve, SAME, { "1/a" } }, { COMMAND_reject, SAME, { "1/a" } },
	{ COMMAND_pushback, SAME, { "1/a", "--to", "a", "-m", "no" } }, { COMMAND_settle, SAME, { "1/a", "done", "-m", "so" } },
	{ COMMAND_ls, SAME, { "1" } }, { COMMAND_ls, COUNTED, { NULL } }, { COMMAND_ls, SAME, { "1", "--format", "{run} {state}" } },
	{ COMMAND_show, SAME, { "1" } }, { COMMAND_show, SAME, { "1/a" } }, { COMMAND_show, SAME, { "999" } },
	{ COMMAND_metrics, COUNTED, { NULL } }, { COMMAND_explain, SAME, { "2/b" } }, { COMMAND_explain, SAME, { "1/a", "--json" } },
	{ COMMAND_analyze, COUNTED, { "1" } }, { COMMAND_diff, SAME, { "1", "1" } },
	{ COMMAND_config, SAME, { NULL } }, { COMMAND_doctor, COUNTED, { NULL } },
	{ COMMAND_wire, SAME, { "dump", "graph.yaml" } }, { COMMAND_completion, SAME, { "bash" } },
	{ COMMAND_completion, SAME, { "words", "cance" } },
	{ COMMAND_help, SAME, { NULL } }, { COMMAND_help, SAME, { "run" } }, { COMMAND_version, SAME, { NULL } },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static char program[4096], state_dir[4096];

struct said {
	int status;
	struct buf out, err;
};

static int take(void *arg, const void *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

static size_t words_of(const struct row *row, char **argv)
{
	size_t count = 0;

	argv[count++] = program;
	argv[count++] = (char *)(uintptr_t)command_table[row->id].verb;
	for (size_t i = 0; i < WORDS_MAX && row->words[i]; i++)
		argv[count++] = (char *)(uintptr_t)row->words[i];
	argv[count] = NULL;
	return count;
}

static void said_free(struct said *said)
{
	buf_free(&said->out);
	buf_free(&said->err);
}

static struct said run_here(const struct row *row)
{
	struct said said = { 0 };
	struct session session = {
		.out = { .write_cb = take, .arg = &said.out }, .err = { .write_cb = take, .arg = &said.err }, .in_fd = -1,
	};
	char *argv[WORDS_MAX + 3];
	size_t count = words_of(row, argv);

	said.status = session_run(&session, (int)count, argv);
	return said;
}

static bool read_back(int fd, struct buf *ret)
{
	ssize_t got;

	while ((got = pread(fd, buf_reserve(ret, 65536), 65536, (off_t)ret->len)) > 0)
		ret->len += (size_t)got;
	close(fd);
	return got == 0;
}

static int spawn(char *const *argv, int out_fd, int err_fd)
{
	pid_t pid = fork();
	int status = -1, null_fd;

	if (pid == 0) {
		null_fd = open("/dev/null", O_RDWR);
		dup2(null_fd, STDIN_FILENO);
		dup2(out_fd >= 0 ? out_fd : null_fd, STDOUT_FILENO);
		dup2(err_fd >= 0 ? err_fd : null_fd, STDERR_FILENO);
		execv(program, argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct said run_program(const struct row *row)
{
	struct said said = { 0 };
	int out_fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), err_fd = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *argv[WORDS_MAX + 3];

	words_of(row, argv);
	said.status = spawn(argv, out_fd, err_fd);
	if (!read_back(out_fd, &said.out) || !read_back(err_fd, &said.err))
		said.status = -1;
	return said;
}

/* Replace each number by one digit, and each sequence of blanks or of bar characters by one. */
static void count_away(struct buf *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < text->len; i++) {
		uint8_t byte = text->data[i];

		if (byte >= '0' && byte <= '9')
			byte = '0';
		if (kept > 0 && text->data[kept - 1] == byte && strchr("0 #-.", byte))
			continue;
		text->data[kept++] = byte;
	}
	text->len = kept;
}

static bool equal(const struct row *row, struct said *a, struct said *b)
{
	if (row->how == COUNTED) {
		count_away(&a->out);
		count_away(&b->out);
		count_away(&a->err);
		count_away(&b->err);
	}
	return a->status == b->status && slice_eq(buf_slice(&a->out), buf_slice(&b->out)) &&
	       slice_eq(buf_slice(&a->err), buf_slice(&b->err));
}

/*
 * Run a command here, as the program, and here again, and compare the outputs. The last two happen after the act was
 * done once.
 */
static bool agree(const struct row *row)
{
	struct said first = run_here(row);
	bool same = false;

	said_free(&first);
	for (int i = 0; i < TRIES && !same; i++) {
		struct said one = run_program(row), other = run_here(row);

		same = equal(row, &one, &other);
		if (!same && i == TRIES - 1)
			printf("# program: status %d\n%s%s# here: status %d\n%s%s", one.status, buf_cstr(&one.out),
			       buf_cstr(&one.err), other.status, buf_cstr(&other.out), buf_cstr(&other.err));
		said_free(&one);
		said_free(&other);
	}
	return same;
}

TEST every_command_has_a_row(void)
{
	for (int id = 1; id < COMMAND_COUNT; id++) {
		bool has = false;

		for (size_t i = 0; i < ROWS; i++)
			has |= rows[i].id == (enum command_id)id;
		ASSERTm(command_table[id].verb, has);
	}
	PASS();
}

TEST commands_say_here_what_the_program_says(void)
{
	sigset_t before, after;

	sigprocmask(SIG_SETMASK, NULL, &before);
	for (size_t i = 0; i < ROWS; i++) {
		char name[64];

		if (rows[i].how == EXCEPTED)
			continue;
		snprintf(name, sizeof(name), "%s %s", command_table[rows[i].id].verb, rows[i].words[0] ? rows[i].words[0] : "");
		ASSERTm(name, agree(&rows[i]));
		sigprocmask(SIG_SETMASK, NULL, &after);
		for (int number = 1; number < 32; number++)
			ASSERT_EQm(name, sigismember(&before, number), sigismember(&after, number));
	}
	PASS();
}

static int refuse(void *arg, const void *data, size_t len)
{
	(void)data, (void)len;
	++*(int *)arg;
	return -EPIPE;
}

TEST lost_output_ends_the_command_and_is_told_once(void)
{
	struct said said = { 0 };
	int asked = 0;
	struct session session = {
		.out = { .write_cb = refuse, .arg = &asked }, .err = { .write_cb = take, .arg = &said.err }, .in_fd = -1,
	};
	char *argv[] = { program, (char[]){ "logs" }, (char[]){ "1" "/a" }, NULL };

	ASSERT_EQ(err_exit_status(ERR_SYSTEM), session_run(&session, 3, argv));
	ASSERT_EQ(1, asked);
	ASSERT_STR_EQ("titan: can't write to standard output: Broken pipe\n", buf_cstr(&said.err));
	said_free(&said);
	PASS();
}

static enum complete_of completion_of;
static bool completion_jobs;

static const char *completed(const char *one, const char *two, const char *three)
{
	static char text[8192];
	const char *words[] = { one, two, three };
	struct completion completion;
	char *end = text;

	session_complete(words, three ? 3 : two ? 2 : 1, &completion);
	/* keep the completions and drop the help text behind each */
	for (const char *at = buf_cstr(&completion.words); *at; at = strchr(at, '\n') + 1)
		end += sprintf(end, "%.*s\n", (int)strcspn(at, "\t\n"), at);
	*end = '\0';
	completion_of = completion.of;
	completion_jobs = completion.jobs;
	completion_free(&completion);
	return text;
}

TEST words_are_completed_from_the_table(void)
{
	ASSERT_STR_EQ("approvals\napprove\n", completed("app", NULL, NULL));
	ASSERT_STR_EQ("ls\n", completed("pool", "l", NULL));
	ASSERT_STR_EQ("auto\nalways\n", completed("--color", "a", NULL));
	ASSERT(strstr(completed("run", "--wa", NULL), "--wait\n") != NULL);
	ASSERT(strstr(completed("-C", "x", "can"), "cancel\n") != NULL);
	ASSERT_STR_EQ("", completed("run", "--", "--wa"));
	ASSERT_STR_EQ("--color=auto\n--color=always\n", completed("--color=a", NULL, NULL));
	ASSERT_STR_EQ("auto\nalways\nnever\n", completed("--color", "=", NULL));
	ASSERT_STR_EQ("done\n", completed("settle", "1/a", "d"));
	ASSERT_STR_EQ("", completed("pool", "ls", "a"));
	ASSERT_STR_EQ("", completed("nosuch", "x", NULL));
	PASS();
}

TEST arguments_say_what_only_others_know(void)
{
	static const struct {
		const char *one, *two, *three;
		enum complete_of of;
		bool jobs;
	} rows[] = {
		{ "run", "", NULL, COMPLETE_FILES, false }, { "cancel", "4", NULL, COMPLETE_LIVE_RUNS, true },
		{ "cancel", "4", "5", COMPLETE_LIVE_RUNS, true }, { "retry", "", NULL, COMPLETE_FAILED_RUNS, true },
		{ "approve", "", NULL, COMPLETE_GATES, true }, { "approve", "1/a", "", COMPLETE_GATES, true },
		{ "run", "./work", "", COMPLETE_FILES, false }, { "reject", "1/a", "", COMPLETE_NONE, false },
		{ "cordon", "w1", "w", COMPLETE_WORKERS, false }, { "pool", "set", "", COMPLETE_POOLS, false },
		{ "pool", "ls", "", COMPLETE_NONE, false }, { "schedule", "add", "", COMPLETE_FILES, false },
		{ "schedule", "fire", "", COMPLETE_SCHEDULES, false }, { "lock", "drop", "", COMPLETE_LOCKS, false },
		{ "-C", "", NULL, COMPLETE_CLUSTERS, false }, { "--cluster=a", NULL, NULL, COMPLETE_CLUSTERS, false },
		{ "show", "1", NULL, COMPLETE_RUNS, true }, { "dlq", "show", "", COMPLETE_DEAD, true },
		{ "version", "", NULL, COMPLETE_NONE, false }, { "restore", "", NULL, COMPLETE_FILES, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		completed(rows[i].one, rows[i].two, rows[i].three);
		ASSERT_EQ_FMTm(rows[i].one, (int)rows[i].of, (int)completion_of, "%d");
		ASSERT_EQm(rows[i].one, rows[i].jobs, completion_jobs);
	}
	PASS();
}

/* ---- the cluster ---- */

static bool write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool done = fd >= 0 && io_write_all(fd, text, strlen(text)) == 0;

	if (fd >= 0)
		close(fd);
	return done;
}

static int titan(const char *one, const char *two, const char *three, const char *four)
{
	char *argv[] = { program, (char *)(uintptr_t)one, (char *)(uintptr_t)two, (char *)(uintptr_t)three,
			 (char *)(uintptr_t)four, NULL };

	return spawn(argv, -1, -1);
}

/* Make the cluster's content: run 1 has ended; in run 2 a gate waits for people, and job b needs the gate. */
static bool begin(void)
{
	const char *parent = getenv("TMPDIR");

	snprintf(state_dir, sizeof(state_dir), "%s/titan-session.XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(state_dir) || chdir(state_dir) != 0)
		return false;
	setenv("TITAN_STATE", state_dir, 1);
	setenv("LC_ALL", "C", 1);
	unsetenv("TITAN_SOCKET");
	unsetenv("TITAN_CLUSTER");
	return write_file("graph.yaml", "name: g\njobs:\n  a: {run: echo a}\n  b: {run: echo b, needs: a}\n") &&
	       write_file("wrong.yaml", "name: g\njobs:\n  a: {runs: echo a}\n") && titan("up", NULL, NULL, NULL) == 0 &&
	       titan("run", "-w", "graph.yaml", NULL) == 0 &&
	       titan("run", "-e", "?ok -> b; ok='Go?'; b='true'", NULL) == 0;
}

static void end(void)
{
	char *argv[] = { (char[]){ "rm" }, (char[]){ "-rf" }, state_dir, NULL };

	titan("down", "-y", NULL, NULL);
	if (chdir("/") == 0 && fork() == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	wait(NULL);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	const char *build = getenv("TITAN_BUILDDIR"), *slash = strrchr(argv[0], '/');
	char place[4000];

	GREATEST_MAIN_BEGIN();
	if (build)
		snprintf(place, sizeof(place), "%s/titan", build);
	else
		snprintf(place, sizeof(place), "%.*s/../../titan", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
	if (!realpath(place, program)) {
		printf("no program at %s\n", place);
		return 1;
	}
	RUN_TEST(every_command_has_a_row);
	RUN_TEST(words_are_completed_from_the_table);
	RUN_TEST(arguments_say_what_only_others_know);
	if (!begin()) {
		printf("no cluster in %s\n", state_dir);
		end();
		return 1;
	}
	RUN_TEST(commands_say_here_what_the_program_says);
	RUN_TEST(lost_output_ends_the_command_and_is_told_once);
	end();
	GREATEST_MAIN_END();
}
