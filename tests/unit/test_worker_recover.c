/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What survives the death of the link, of the keeper and of the machine. */
#include "proto/limits.h"

#include <dirent.h>
#include <sys/file.h>

#include "keeper_rig.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

static struct rig *rig;
static struct buf text;

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
	buf_free(&text);
}

static bool crash(void)
{
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	return rig_start(rig);
}

static const char *below(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", rig->options.statedir.dir, name);
	return path;
}

/* The attempts that a new link is told of; returns their number. */
static int inventory(struct ipc_inventory *out, int max)
{
	int count = 0;

	while (count < max && rig_wait(rig, IPC_INVENTORY, 0, &out[count], sizeof(*out)) && out[count].job != 0)
		count++;
	return count;
}

static bool dead(uint64_t pid)
{
	for (int i = 0; i < RIG_WAIT_MS / 5; i++) {
		char state = 'Z';
		char path[64];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
		file = fopen(path, "r");
		if (!file)
			return true;
		if (fscanf(file, "%*d %*s %c", &state) != 1)
			state = 'Z';
		fclose(file);
		if (state == 'Z')
			return true;
		usleep(5000);
	}
	return false;
}

/* Has the forked process become the shell that it was started for? */
static bool is_sleeping_shell(uint64_t pid)
{
	struct buf name = { 0 };
	char path[64];
	bool shell;

	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
	shell = io_read_file(AT_FDCWD, path, 64, &name) == 0 && strcmp(buf_cstr(&name), "sh\n") == 0;
	buf_free(&name);
	return shell;
}

TEST a_dead_link_is_started_again(void)
{
	struct ipc_inventory list[8];
	struct ipc_started started;
	struct ipc_exited exited;
	char script[2 * PATH_MAX];

	rig_sh(rig, 1, 1, "echo kept; exit 4");
	ASSERT(rig_exited(rig, 1, &exited));
	snprintf(script, sizeof(script), "while ! test -e %s; do sleep 0.01; done", below("go"));
	rig_sh(rig, 2, 1, script);
	ASSERT(rig_started(rig, 2, &started));
	rig_sh(rig, 3, 1, "sleep 600");
	ASSERT(rig_started(rig, 3, &started));
	rig_sh(rig, 4, 1, "true");
	rig_name(rig, IPC_RECALL, 5, 1);
	while (true) {
		struct ipc_numbers numbers;

		ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
		if (numbers.queued == 1)
			break;
	}
	ASSERT(rig_accept(rig));
	ASSERT_EQ(4, inventory(list, 8));
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(list[i].job == 1 ? PHASE_ENDED : list[i].job == 4 ? PHASE_QUEUED : PHASE_RUNNING,
			  list[i].phase);
	ASSERT(rig_started(rig, 3, &started));
	ASSERT_EQ(77, started.run);
	ASSERT(started.space > 0);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(4, exited.done.code);
	ASSERT_EQ(5, exited.sizes[0]);
	ASSERT_STR_EQ("kept\n", rig_output(rig, exited.space, "out", &text));
	ASSERT_EQ(0, io_write_file(AT_FDCWD, below("go"), "", 0, 0600));
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT(rig_exited(rig, 4, &exited));
	PASS();
}

TEST acknowledged_but_not_shipped(void)
{
	struct ipc_inventory list[8];
	struct ipc_exited exited;

	rig_sh(rig, 1, 1, "echo kept");
	ASSERT(rig_exited(rig, 1, &exited));
	rig_sh(rig, 2, 1, "echo shipped");
	ASSERT(rig_exited(rig, 2, &exited));
	rig_name(rig, IPC_SPOOL_ACK, 1, 1);
	rig_name(rig, IPC_FILES_DONE, 2, 1);
	rig_sh(rig, 3, 1, "true");
	ASSERT(rig_exited(rig, 3, &exited));
	for (int round = 0; round < 2; round++) {
		ASSERT(round ? crash() : rig_accept(rig));
		ASSERT_EQ(2, inventory(list, 8));
		ASSERT(list[0].job != 1 && list[1].job != 1);
		ASSERT(rig_exited(rig, 1, &exited));
		ASSERT_EQ(1, exited.acked);
		ASSERT_STR_EQ("kept\n", rig_output(rig, exited.space, "out", &text));
		ASSERT(rig_exited(rig, 2, &exited));
		ASSERT_EQ(0, exited.acked);
		/* The master has the result, and the space may be used by another attempt by now. */
		ASSERT_EQ(0, exited.space);
		ASSERT_EQ(0, exited.sizes[0]);
		ASSERT_EQ(8, exited.done.out_bytes);
	}
	rig_name(rig, IPC_FILES_DONE, 1, 1);
	rig_name(rig, IPC_SPOOL_ACK, 2, 1);
	rig_name(rig, IPC_SPOOL_ACK, 3, 1);
	rig_lease(rig);
	rig_sh(rig, 4, 1, "true");
	ASSERT(rig_exited(rig, 4, &exited));
	rig_name(rig, IPC_SPOOL_ACK, 4, 1);
	ASSERT(rig_accept(rig));
	ASSERT_EQ(0, inventory(list, 8));
	PASS();
}

/* Does this process have the file open? False also if it is gone. */
static bool has_open(pid_t pid, const char *path)
{
	char dir[32], target[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *fds;

	snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
	fds = opendir(dir);
	while (fds && !found && (entry = readdir(fds))) {
		ssize_t len = readlinkat(dirfd(fds), entry->d_name, target, sizeof(target));

		found = len == (ssize_t)strlen(path) && memcmp(target, path, (size_t)len) == 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

/*
 * Hold the lock like a child of a killed keeper between fork and exec. Not by this process, of which the next keeper is
 * a copy.
 */
static pid_t fork_lock_holder(const char *lock)
{
	pid_t holder;
	int pipes[2];
	char byte;

	if (pipe(pipes) < 0)
		abort();
	fflush(stdout);
	holder = fork();
	if (holder == 0) {
		int fd = open(lock, O_RDWR | O_CLOEXEC);

		if (fd < 0 || flock(fd, LOCK_EX) < 0 || write(pipes[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		abort();
	close(pipes[0]);
	return holder;
}

TEST a_lock_that_is_still_held_is_waited_for(void)
{
	int64_t end_ns = clock_mono_ns() + 10 * NS_PER_S;
	char lock[PATH_MAX + 64];
	pid_t holder;

	snprintf(lock, sizeof(lock), "%s", below("worker/w1/lock"));
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	holder = fork_lock_holder(lock);
	rig_fork(rig);
	while (!has_open(rig->keeper, lock) && clock_mono_ns() < end_ns)
		;
	kill(holder, SIGKILL);
	waitpid(holder, NULL, 0);
	ASSERT(rig_accept(rig));
	rig_lease(rig);
	PASS();
}

TEST a_new_keeper_adopts(void)
{
	struct ipc_inventory list[8];
	struct ipc_started before, after;
	struct ipc_exited exited;
	char script[2 * PATH_MAX];

	snprintf(script, sizeof(script), "echo one; while ! test -e %s; do sleep 0.01; done; echo two",
		 below("go"));
	rig_sh(rig, 1, 9, script);
	ASSERT(rig_started(rig, 1, &before));
	ASSERT(crash());
	ASSERT_EQ(1, inventory(list, 8));
	ASSERT_EQ(PHASE_RUNNING, list[0].phase);
	ASSERT_EQ(9, list[0].epoch);
	ASSERT(rig_started(rig, 1, &after));
	ASSERT_EQ(before.pid, after.pid);
	ASSERT_EQ(before.space, after.space);
	ASSERT_EQ(before.wall_ms, after.wall_ms);
	ASSERT_EQ(0, kill((pid_t)after.pid, 0));
	ASSERT_EQ(0, io_write_file(AT_FDCWD, below("go"), "", 0, 0600));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT(exited.done.run_ns > 0);
	ASSERT_STR_EQ("one\ntwo\n", rig_output(rig, exited.space, "out", &text));
	ASSERT(crash());
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	PASS();
}

TEST an_adopted_one_takes_its_slot(void)
{
	struct ipc_started started;
	struct ipc_numbers numbers = { 0 };

	rig_sh(rig, 1, 1, "sleep 600");
	rig_sh(rig, 2, 1, "sleep 600");
	ASSERT(rig_started(rig, 2, &started));
	ASSERT(crash());
	rig_lease(rig);
	rig_sh(rig, 3, 1, "sleep 600");
	while (numbers.queued != 1)
		ASSERT(rig_wait(rig, IPC_NUMBERS, 0, &numbers, sizeof(numbers)));
	ASSERT_EQ(2, numbers.running);
	rig_stop(rig, 2, 1, 5000);
	ASSERT(rig_started(rig, 3, &started));
	PASS();
}

#define ESCAPE "(trap '' TERM HUP; setsid sh -c 'trap \"\" TERM HUP; echo $$ >%s.new; mv %s.new %s; " \
	       "while :; do sleep 0.05; done' &) ;"

static uint64_t pid_in(const char *path)
{
	struct buf data = { 0 };
	uint64_t pid = 0;

	if (rig_file_appears(path) && io_read_file(AT_FDCWD, path, 64, &data) == 0)
		pid = strtoull(buf_cstr(&data), NULL, 10);
	buf_free(&data);
	return pid;
}

TEST stop_of_an_adopted_tree(void)
{
	struct ipc_started started;
	struct ipc_exited exited;
	char script[5 * PATH_MAX], path[PATH_MAX + 64];
	uint64_t pid;

	snprintf(path, sizeof(path), "%s", below("pid"));
	snprintf(script, sizeof(script), ESCAPE "trap '' TERM; while :; do sleep 0.05; done", path, path, path);
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	pid = pid_in(path);
	ASSERT(pid > 0);
	ASSERT(crash());
	rig_stop(rig, 1, 1, 50);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT(dead(started.pid));
	ASSERT(dead(pid));
	PASS();
}

TEST what_died_meanwhile_is_unknown_and_its_orphans_go(void)
{
	struct ipc_inventory list[8];
	struct ipc_started started;
	struct ipc_exited exited;
	char script[5 * PATH_MAX], path[PATH_MAX + 64];
	uint64_t pid;

	snprintf(path, sizeof(path), "%s", below("pid"));
	snprintf(script, sizeof(script), "echo out; " ESCAPE "exec sleep 600", path, path, path);
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	pid = pid_in(path);
	ASSERT(pid > 0);
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	ASSERT_EQ(0, kill((pid_t)pid, 0));
	kill((pid_t)started.pid, SIGKILL);
	ASSERT(dead(started.pid));
	ASSERT(rig_start(rig));
	ASSERT_EQ(1, inventory(list, 8));
	ASSERT_EQ(PHASE_ENDED, list[0].phase);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT_STR_EQ("out\n", rig_output(rig, exited.space, "out", &text));
	ASSERT(dead(pid));
	PASS();
}

/* One job whose main process dies with its keeper, and one that prevents the kernel from killing it with the keeper. */
TEST what_dies_with_its_keeper_is_not_adopted(void)
{
	struct ipc_inventory list[8];
	struct ipc_started started;
	struct ipc_exited exited;
	char script[5 * PATH_MAX], path[PATH_MAX + 64];
	uint64_t pid;

	snprintf(path, sizeof(path), "%s", below("pid"));
	snprintf(script, sizeof(script), ESCAPE "exec sleep 600", path, path, path);
	rig->spawn_flags = SPAWN_DIES;
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	pid = pid_in(path);
	ASSERT(pid > 0);
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	ASSERT(dead(started.pid));
	ASSERT(rig_start(rig));
	ASSERT_EQ(1, inventory(list, 8));
	ASSERT_EQ(PHASE_ENDED, list[0].phase);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT(dead(pid));
	PASS();
}

TEST what_got_out_of_dying_with_its_keeper_is_killed(void)
{
	const char *const argv[] = { "/usr/bin/setpriv", "--pdeathsig", "clear", "/bin/sh", "-c", "sleep 600 & sleep 600", NULL };
	struct ipc_inventory list[8];
	struct ipc_started started;
	struct ipc_exited exited;

	if (access(argv[0], X_OK) != 0)
		SKIPm("there is no setpriv");
	rig->spawn_flags = SPAWN_DIES;
	rig_spawn_in(rig, 1, 1, argv, NULL, "");
	ASSERT(rig_started(rig, 1, &started));
	for (int i = 0; i < 400 && !is_sleeping_shell(started.pid); i++)
		usleep(5000);
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	ASSERT_EQ(0, kill((pid_t)started.pid, 0));
	ASSERT(rig_start(rig));
	ASSERT_EQ(1, inventory(list, 8));
	ASSERT_EQ(PHASE_ENDED, list[0].phase);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT(dead(started.pid));
	PASS();
}

static void touch(const char *name)
{
	if (io_write_file(AT_FDCWD, below(name), "", 0, 0600) < 0)
		abort();
}

/* A lossless job writes while no keeper lives, into a pipe that it holds open itself. */
TEST a_lossless_one_loses_nothing_with_its_keeper(void)
{
	char script[5 * PATH_MAX], go[2][PATH_MAX + 64], done[PATH_MAX + 64];
	struct ipc_started started;
	struct ipc_exited exited;

	for (int i = 0; i < 2; i++)
		snprintf(go[i], sizeof(go[i]), "%s%d", below("go"), i);
	snprintf(done, sizeof(done), "%s", below("done"));
	snprintf(script, sizeof(script),
		 "echo one; while ! test -e %s; do sleep 0.01; done; echo two; echo err >&2; : >%s;"
		 "while ! test -e %s; do sleep 0.01; done; echo three", go[0], done, go[1]);
	rig->log_max = LOG_LOSSLESS;
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	ASSERT_EQ(LOG_LOSSLESS, started.log_max);
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	touch("go0");
	ASSERT(rig_file_appears(done));
	ASSERT(rig_start(rig));
	ASSERT(rig_started(rig, 1, &started));
	ASSERT_EQ(LOG_LOSSLESS, started.log_max);
	ASSERT(crash());
	touch("go1");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT_EQ(LOG_LOSSLESS, exited.log_max);
	ASSERT_EQ_FMT((uint64_t)14, exited.sizes[0], "%lu");
	ASSERT_EQ_FMT((uint64_t)4, exited.sizes[1], "%lu");
	ASSERT_STR_EQ("one\ntwo\nthree\n", rig_output(rig, exited.space, "out", &text));
	ASSERT_STR_EQ("err\n", rig_output(rig, exited.space, "err", &text));
	PASS();
}

static bool grows_to(const char *path, off_t size, struct stat *ret_info)
{
	for (int i = 0; i < RIG_WAIT_MS / 5; i++) {
		if (stat(path, ret_info) == 0 && ret_info->st_size >= size)
			return true;
		usleep(5000);
	}
	return false;
}

/* A lossless job is stopped until the master has its output; then the space is given back. */
TEST a_lossless_one_waits_for_room(void)
{
	const off_t spool = LIMIT_LOG_SPOOL, all = 3 * spool;
	struct ipc_room room = { .job = 1, .epoch = 1 };
	struct ipc_started started;
	struct ipc_exited exited;
	char path[PATH_MAX + 64], script[64];
	struct stat info;

	rig->log_max = LOG_LOSSLESS;
	snprintf(script, sizeof(script), "head -c %ld /dev/urandom", (long)all);
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	snprintf(path, sizeof(path), "%s/worker/w1/attempts/%lu.out", rig->options.statedir.dir, started.space);
	ASSERT(grows_to(path, spool, &info));
	usleep(100000);
	ASSERT_EQ(0, stat(path, &info));
	ASSERT(info.st_size <= spool + 65536);
	ASSERT_EQ(0, kill((pid_t)started.pid, 0));
	room.synced[0] = (uint64_t)info.st_size;
	rig_send(rig, IPC_ROOM, &room, sizeof(room));
	ASSERT(grows_to(path, 2 * spool, &info));
	ASSERT(info.st_blocks * 512 <= spool + 2 * 65536);
	/* A new keeper recognizes by the hole which bytes aren't needed any more. */
	ASSERT(crash());
	ASSERT(rig_started(rig, 1, &started));
	room.synced[0] = (uint64_t)all;
	rig_send(rig, IPC_ROOM, &room, sizeof(room));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ_FMT((uint64_t)all, exited.sizes[0], "%lu");
	PASS();
}

/* The second pipe can't be made, so the job can't start; the next job in its space works as always. */
TEST half_a_pair_of_pipes_is_left_to_nobody(void)
{
	struct ipc_exited exited;

	ASSERT_EQ(0, mkdir(below("worker/w1/attempts/1.err.pipe"), 0700));
	rig->log_max = LOG_LOSSLESS;
	rig_sh(rig, 1, 1, "echo one");
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_SPAWN, exited.done.outcome);
	rig->log_max = 0;
	rig_sh(rig, 2, 1, "echo two");
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
	ASSERT_STR_EQ("two\n", rig_output(rig, exited.space, "out", &text));
	PASS();
}

TEST results_survive_until_they_are_acknowledged(void)
{
	struct ipc_inventory list[8];
	struct ipc_exited exited;

	for (uint64_t job = 1; job <= 4; job++)
		rig_sh(rig, job, 1, "exit 3");
	for (uint64_t job = 1; job <= 4; job++)
		ASSERT(rig_exited(rig, job, &exited));
	rig_name(rig, IPC_SPOOL_ACK, 2, 1);
	rig_sh(rig, 5, 1, "exit 3");
	ASSERT(rig_exited(rig, 5, &exited));
	ASSERT(crash());
	ASSERT_EQ(4, inventory(list, 8));
	for (uint64_t job = 1; job <= 5; job++) {
		if (job == 2)
			continue;
		ASSERT(rig_exited(rig, job, &exited));
		ASSERT_EQ(OUTCOME_EXIT, exited.done.outcome);
		ASSERT_EQ(3, exited.done.code);
		rig_name(rig, IPC_SPOOL_ACK, job, 1);
	}
	rig_lease(rig);
	rig_sh(rig, 6, 1, "true");
	ASSERT(rig_exited(rig, 6, &exited));
	rig_name(rig, IPC_SPOOL_ACK, 6, 1);
	rig_sh(rig, 7, 1, "true");
	ASSERT(rig_exited(rig, 7, &exited));
	ASSERT(crash());
	ASSERT_EQ(1, inventory(list, 8));
	ASSERT_EQ(7, list[0].job);
	PASS();
}

/* After a reboot a pid proves nothing: the process that has it now is a stranger. */

TEST a_spool_that_grows_is_written_anew(void)
{
	const char *const argv[] = { "/bin/true", NULL };
	struct ipc_inventory list[8];
	struct ipc_exited exited;
	struct ipc_started kept;
	struct stat st;
	off_t largest = 0;

	rig_sh(rig, 100001, 1, "sleep 600");
	ASSERT(rig_started(rig, 100001, &kept));
	for (uint64_t job = 1; job <= 4500; job++) {
		rig_spawn_in(rig, job, 1, argv, NULL, "/");
		if (job > 3) {
			ASSERT(rig_exited(rig, job - 3, &exited));
			rig_name(rig, IPC_SPOOL_ACK, job - 3, 1);
		}
		for (size_t i = 0; i < rig->queued;) {
			if (rig->queue[i].type == IPC_EXITED) {
				i++;
				continue;
			}
			buf_free(&rig->queue[i].body);
			rig->queue[i] = rig->queue[--rig->queued];
		}
		if (job % 100 == 0 && stat(below("worker/w1/spool"), &st) == 0 && st.st_size > largest)
			largest = st.st_size;
	}
	ASSERT(rig_exited(rig, 4500, &exited));
	ASSERT_EQ(0, stat(below("worker/w1/spool"), &st));
	ASSERT(st.st_size < largest);
	ASSERT(largest < 3 << 19);
	ASSERT(crash());
	ASSERT_EQ(4, inventory(list, 8));
	ASSERT_EQ(0, kill((pid_t)kept.pid, 0));
	PASS();
}

static void run_all(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_dead_link_is_started_again);
	RUN_TEST(acknowledged_but_not_shipped);
	RUN_TEST(a_lock_that_is_still_held_is_waited_for);
	RUN_TEST(a_new_keeper_adopts);
	RUN_TEST(an_adopted_one_takes_its_slot);
	/* Pids from inside a namespace mean nothing outside. */
	if (rig_containment != CONTAIN_PIDS) {
		RUN_TEST(stop_of_an_adopted_tree);
		RUN_TEST(what_died_meanwhile_is_unknown_and_its_orphans_go);
		RUN_TEST(what_dies_with_its_keeper_is_not_adopted);
		RUN_TEST(what_got_out_of_dying_with_its_keeper_is_killed);
	}
	RUN_TEST(a_lossless_one_loses_nothing_with_its_keeper);
	RUN_TEST(a_lossless_one_waits_for_room);
	RUN_TEST(half_a_pair_of_pipes_is_left_to_nobody);
	RUN_TEST(results_survive_until_they_are_acknowledged);
	if (rig_containment == CONTAIN_SUBREAPER)
		RUN_TEST(a_spool_that_grows_is_written_anew);
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
	rig_stub(argc, argv);
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(with_subreaper);
	if (rig_can_contain(CONTAIN_CGROUP))
		RUN_SUITE(with_cgroup);
	if (rig_can_contain(CONTAIN_PIDS))
		RUN_SUITE(with_pids);
	GREATEST_MAIN_END();
}
