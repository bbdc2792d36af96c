/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a daemon is started, and what the user is told if it doesn't start. The daemon is this test program again,
 * because /proc/self/exe is what gets started; main then plays the part that its first argument names.
 */
#include "cli/daemon/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/statedir.h"
#include "greatest.h"
#include "scratch.h"

static char home[SCRATCH_SIZE];
static struct statedir statedir;
static struct error error;
static struct buf facts;

/* ---- the daemon's parts ---- */

/* Write to the log what the daemon was started with: arguments, descriptors, directory, signals. */
static void tell_facts(int argc, char **argv)
{
	char dir[4096];
	sigset_t blocked;
	struct sigaction action;
	DIR *fds = opendir("/proc/self/fd");

	printf("argv:");
	for (int i = 0; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\nfds:");
	for (struct dirent *entry; fds && (entry = readdir(fds)) != NULL;)
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(fds))
			printf(" %s", entry->d_name);
	printf(".\nsession: %s\n", getsid(0) == getpid() ? "own" : "another's");
	printf("directory: %s\n", getcwd(dir, sizeof(dir)));
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	printf("blocked:%s%s.\n", sigismember(&blocked, SIGTERM) ? " TERM" : "", sigismember(&blocked, SIGINT) ? " INT" : "");
	sigaction(SIGPIPE, NULL, &action);
	printf("SIGPIPE: %s\n", action.sa_handler == SIG_DFL ? "default" : "not default");
	printf("TITAN_STATE: %s\n", getenv("TITAN_STATE"));
	fflush(stdout);
	if (fds)
		closedir(fds);
}

static int play(int argc, char **argv)
{
	const char *verb = argv[3];

	if (strcmp(verb, "ready") == 0) {
		tell_facts(argc, argv);
		if (write(3, "r", 1) != 1)
			return 1;
		pause();
	}
	if (strcmp(verb, "busy") == 0) {
		fprintf(stderr, "some line before\ntitan: another one is there\n   try: titan status\n\n");
		return err_exit_status(ERR_BUSY);
	}
	if (strcmp(verb, "bare") == 0) {
		fprintf(stderr, "no line end");
		return err_exit_status(ERR_STORE);
	}
	if (strcmp(verb, "killed") == 0)
		raise(SIGKILL);
	return 42;               /* silent */
}

/* ---- tests ---- */

static void setup_cb(void *data)
{
	(void)data;
	scratch_new("daemon", home);
	if (setenv("TITAN_STATE", home, 1) != 0 || statedir_find("blue", &statedir) != 0 || statedir_make(&statedir) != 0)
		abort();
	error = (struct error){ 0 };
}

static void teardown_cb(void *data)
{
	(void)data;
	buf_free(&facts);
	if (io_remove_tree(AT_FDCWD, home) != 0)
		abort();
}

static enum err start(const char *verb, pid_t *ret_pid)
{
	const char *const more[] = { "--name", "w1", NULL };

	return daemon_start(&statedir, verb, "x.log", more, ret_pid, &error);
}

static const char *log_text(void)
{
	char path[4096];

	buf_clear(&facts);
	if (io_read_file(AT_FDCWD, statedir_path(&statedir, "x.log", path), 65536, &facts) != 0)
		return "";
	return buf_cstr(&facts);
}

static bool start_ready(void)
{
	pid_t pid = 0;

	if (start("ready", &pid) != ERR_NONE || pid <= 0)
		return false;
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) == pid;
}

static void write_log(const char *text)
{
	char path[4096];
	int fd = open(statedir_path(&statedir, "x.log", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || io_write_all(fd, text, strlen(text)) != 0)
		abort();
	close(fd);
}

TEST daemon_gets_its_verb_its_cluster_and_the_words_behind(void)
{
	ASSERT(start_ready());
	ASSERT(strstr(log_text(), "argv: titan -C blue ready --ready-fd 3 --name w1\n") != NULL);
	PASS();
}

/*
 * Start the daemon from a shell that holds a lock on descriptor 9 ("flock 9; titan up"): the daemon must not inherit
 * it.
 */
TEST daemon_holds_no_inherited_descriptor(void)
{
	static const int inherited[] = { 5, 9, 60, 200 };

	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
		ASSERT_EQ(inherited[i], dup2(STDERR_FILENO, inherited[i]));
	ASSERT(start_ready());
	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
		close(inherited[i]);
	ASSERT(strstr(log_text(), "fds: 0 1 2 3.\n") != NULL);
	PASS();
}

TEST daemon_has_its_ready_descriptor_whatever_was_free(void)
{
	ASSERT_EQ(3, dup2(STDERR_FILENO, 3));
	ASSERT(start_ready());
	ASSERT(strstr(log_text(), "fds: 0 1 2 3.\n") != NULL);
	close(3);
	ASSERT(start_ready());
	ASSERT(strstr(log_text(), "fds: 0 1 2 3.\n") != NULL);
	PASS();
}

/*
 * Start the daemon with a closed stream (titan up <&-): its log or its pipe then gets a number below 3, which must not
 * be lost when the daemon replaces its streams.
 */
TEST daemon_has_its_log_where_its_starter_had_a_closed_stream(int closed)
{
	int kept = fcntl(closed, F_DUPFD_CLOEXEC, 10);
	bool started;

	close(closed);
	started = start_ready();
	dup2(kept, closed);
	close(kept);
	ASSERT(started);
	ASSERT(strstr(log_text(), "fds: 0 1 2 3.\n") != NULL);
	PASS();
}

TEST daemon_leads_a_session_of_its_own_and_holds_no_directory(void)
{
	ASSERT(start_ready());
	ASSERT(strstr(log_text(), "session: own\n") != NULL);
	ASSERT(strstr(log_text(), "directory: /\n") != NULL);
	PASS();
}

TEST daemon_begins_with_signals_as_at_first(void)
{
	sigset_t term, before;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigaddset(&term, SIGINT);
	sigprocmask(SIG_BLOCK, &term, &before);
	signal(SIGPIPE, SIG_IGN);
	ASSERT(start_ready());
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	ASSERT(strstr(log_text(), "blocked:.\n") != NULL);
	ASSERT(strstr(log_text(), "SIGPIPE: default\n") != NULL);
	PASS();
}

TEST daemon_finds_its_state_by_an_absolute_path(void)
{
	char wanted[SCRATCH_SIZE + 32];

	setenv("TITAN_STATE", "somewhere/relative", 1);
	ASSERT(start_ready());
	snprintf(wanted, sizeof(wanted), "TITAN_STATE: %s\n", home);
	ASSERT(strstr(log_text(), wanted) != NULL);
	PASS();
}

TEST start_that_fails_tells_the_last_line_and_its_next_command(void)
{
	ASSERT_EQ(ERR_BUSY, start("busy", NULL));
	ASSERT_STR_EQ("the busy didn't start: another one is there", error.text);
	ASSERT_STR_EQ("titan status", error.next);
	PASS();
}

TEST start_that_fails_without_a_next_command_names_the_log(void)
{
	char path[4096], wanted[4200];

	ASSERT_EQ(ERR_STORE, start("bare", NULL));
	ASSERT_STR_EQ("the bare didn't start: no line end", error.text);
	snprintf(wanted, sizeof(wanted), "tail %s", statedir_path(&statedir, "x.log", path));
	ASSERT_STR_EQ(wanted, error.next);
	PASS();
}

TEST start_that_fails_tells_nothing_of_an_earlier_start(void)
{
	write_log("titan: of yesterday\n   try: titan old\n");
	ASSERT_EQ(ERR_INTERNAL, start("silent", NULL));
	ASSERT_STR_EQ("the silent didn't start: it ended with exit status 42", error.text);
	ASSERT_EQ(0, strncmp(error.next, "tail /", 6));
	ASSERT_EQ(ERR_INTERNAL, start("killed", NULL));
	ASSERT_STR_EQ("the killed didn't start: signal 9 ended it", error.text);
	PASS();
}

TEST start_follows_no_link_to_a_log_elsewhere(void)
{
	char path[4096];

	ASSERT_EQ(0, symlink("/dev/null", statedir_path(&statedir, "x.log", path)));
	ASSERT_EQ(ERR_SYSTEM, start("ready", NULL));
	ASSERT(strstr(error.text, "can't open ") != NULL);
	PASS();
}

SUITE(cli_daemon)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(daemon_gets_its_verb_its_cluster_and_the_words_behind);
	RUN_TEST(daemon_holds_no_inherited_descriptor);
	RUN_TEST(daemon_has_its_ready_descriptor_whatever_was_free);
	RUN_TESTp(daemon_has_its_log_where_its_starter_had_a_closed_stream, STDIN_FILENO);
	RUN_TESTp(daemon_has_its_log_where_its_starter_had_a_closed_stream, STDOUT_FILENO);
	RUN_TESTp(daemon_has_its_log_where_its_starter_had_a_closed_stream, STDERR_FILENO);
	RUN_TEST(daemon_leads_a_session_of_its_own_and_holds_no_directory);
	RUN_TEST(daemon_begins_with_signals_as_at_first);
	RUN_TEST(daemon_finds_its_state_by_an_absolute_path);
	RUN_TEST(start_that_fails_tells_the_last_line_and_its_next_command);
	RUN_TEST(start_that_fails_without_a_next_command_names_the_log);
	RUN_TEST(start_that_fails_tells_nothing_of_an_earlier_start);
	RUN_TEST(start_follows_no_link_to_a_log_elsewhere);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	if (argc > 5 && strcmp(argv[1], "-C") == 0)
		return play(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(cli_daemon);
	GREATEST_MAIN_END();
}
