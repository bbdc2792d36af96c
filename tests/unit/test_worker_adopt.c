/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process a new keeper adopts as one that its spool names: the pid alone proves nothing. */
#include "worker/spool.h"

#include <inttypes.h>
#include <sys/file.h>
#include <sys/prctl.h>

#include "keeper_rig.h"
#include "worker/home.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;

static void setup_cb(void *data)
{
	(void)data;
	rig = rig_new(2);
	if (!rig_start(rig))
		abort();
	rig_lease(rig);
}

static void teardown_cb(void *data)
{
	(void)data;
	rig_free(rig);
}

static const char *below(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", rig->options.statedir.dir, name);
	return path;
}

static void ignore_cb(enum spool_type type, struct slice body, void *owner)
{
	(void)type;
	(void)body;
	(void)owner;
}

/* Write a spool, as of a keeper that is gone, that says that this process runs. */
static bool spool_says(const struct spool_life *life, const struct spool_started *started)
{
	int dir_fd = open(below("worker/w1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct spool *spool = NULL;
	struct error error;
	size_t torn;
	int result;

	if (spool_open(dir_fd, ignore_cb, NULL, &spool, &torn, &error) != ERR_NONE)
		return false;
	spool_rewrite_begin(spool);
	spool_add(spool, SPOOL_LIFE, life, sizeof(*life));
	spool_add(spool, SPOOL_STARTED, started, sizeof(*started));
	result = spool_rewrite_end(spool);
	spool_close(spool);
	close(dir_fd);
	return result == 0;
}

/* Fork a process in a session of its own that no keeper started. */
static pid_t fork_stranger(void)
{
	pid_t stranger;
	int ready[2];
	char byte;

	if (pipe2(ready, O_CLOEXEC) < 0)
		abort();
	fflush(stdout);
	stranger = fork();
	if (stranger == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setsid();
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	close(ready[1]);
	return stranger;
}

static bool lives_and_is_killed(pid_t stranger)
{
	bool lives = waitpid(stranger, NULL, WNOHANG) == 0;

	kill(stranger, SIGKILL);
	waitpid(stranger, NULL, 0);
	return lives;
}

TEST another_boot_adopts_nothing(void)
{
	struct spool_life life = { .boot_id = "another boot" };
	struct spool_started started = { .job = 1, .epoch = 1, .run = 77, .before_ns = 0, .after_ns = INT64_MAX / 2 };
	pid_t stranger = fork_stranger();
	struct ipc_exited exited;

	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	started.pid = stranger;
	ASSERT(spool_says(&life, &started));
	ASSERT(rig_start(rig));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT(lives_and_is_killed(stranger));
	PASS();
}

static void note_life_cb(enum spool_type type, struct slice body, void *owner)
{
	if (type == SPOOL_LIFE && body.len == sizeof(struct spool_life))
		memcpy(owner, body.data, body.len);
}

/* In the same boot: the pid belongs to a process that started at another time than the job. */
TEST process_with_another_start_time_isnt_adopted(void)
{
	struct spool_started started = { .job = 1, .epoch = 1, .run = 77, .before_ns = NS_PER_S, .after_ns = 2 * NS_PER_S };
	struct spool_life life = { .boot_id = "" };
	pid_t stranger = fork_stranger();
	struct ipc_exited exited;
	struct spool *spool;
	struct error error;
	size_t torn;
	int dir_fd;

	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	dir_fd = open(below("worker/w1"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(ERR_NONE, spool_open(dir_fd, note_life_cb, &life, &spool, &torn, &error));
	spool_close(spool);
	close(dir_fd);
	ASSERT(life.boot_id[0] || life.boot_id[1]);
	started.pid = stranger;
	ASSERT(spool_says(&life, &started));
	ASSERT(rig_start(rig));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT(lives_and_is_killed(stranger));
	PASS();
}

/* The guardian's pid is taken from its lock file: if another process has that pid by now, it must get no signal. */
TEST signal_is_for_the_process_that_signed(void)
{
	char home[PATH_MAX + 64], lock[PATH_MAX + 96], text[64];
	pid_t stranger = fork_stranger();
	struct tree_stat stat;
	int fd;

	snprintf(home, sizeof(home), "%s", below("home"));
	snprintf(lock, sizeof(lock), "%s/" HOME_GUARDIAN, home);
	ASSERT_EQ(0, mkdir(home, 0700));
	ASSERT(tree_stat(stranger, &stat));
	for (int64_t off = -1; off <= 1; off++) {
		int len = snprintf(text, sizeof(text), "%d %" PRId64 "\n", (int)stranger, stat.begun_ns + off * NS_PER_S);

		ASSERT_EQ(0, io_write_file(AT_FDCWD, lock, text, (size_t)len, 0600));
		fd = open(lock, O_RDONLY | O_CLOEXEC);
		ASSERT_FALSEm("nobody holds the lock", worker_signal(home, 0));
		ASSERT_EQ(0, flock(fd, LOCK_EX));
		ASSERT_EQ_FMT(off == 0, worker_signal(home, 0), "%d");
		close(fd);
	}
	ASSERT(lives_and_is_killed(stranger));
	PASS();
}

SUITE(worker_adopt)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(another_boot_adopts_nothing);
	RUN_TEST(process_with_another_start_time_isnt_adopted);
	RUN_TEST(signal_is_for_the_process_that_signed);
}

int main(int argc, char **argv)
{
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(worker_adopt);
	GREATEST_MAIN_END();
}
