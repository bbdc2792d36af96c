/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The guardian above a keeper, and the file in which it records how orphaned jobs ended. */
#include "worker/ends.h"

#include <sys/prctl.h>

#include "proto/limits.h"

#include "keeper_rig.h"

#include "greatest.h"

GREATEST_MAIN_DEFS();

/* ---- the file ---- */

static const uint8_t this_boot[16] = "this boot", other_boot[16] = "other boot";

static int open_scratch(char *dir)
{
	strcpy(dir, "/tmp/titan-ends-XXXXXX");
	return mkdtemp(dir) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static struct process_end end_of(int64_t pid, uint64_t status)
{
	struct process_end end = { .pid = pid, .begun_ns = 5 * NS_PER_S, .status = status };

	memcpy(end.boot_id, this_boot, sizeof(end.boot_id));
	return end;
}

TEST ends_are_found_by_process_time_and_boot(void)
{
	const struct process_end first = end_of(7, 256), second = end_of(8, 9);
	int64_t at = 5 * NS_PER_S;
	char dir[64];
	struct process_end found;
	int fd = open_scratch(dir);

	ASSERT_FALSE(ends_find(fd, this_boot, 7, at, at, &found));
	ASSERT_EQ(0, ends_add(fd, &first));
	ASSERT_EQ(0, ends_add(fd, &second));
	ASSERT(ends_find(fd, this_boot, 7, at - 1, at + 1, &found));
	ASSERT_EQ(256, found.status);
	ASSERT(ends_find(fd, this_boot, 8, at, at + TREE_TICK_NS, &found));
	ASSERT_EQ(9, found.status);
	ASSERT_FALSE(ends_find(fd, this_boot, 9, at, at, &found));
	ASSERT_FALSE(ends_find(fd, other_boot, 7, at, at, &found));
	ASSERT_FALSE(ends_find(fd, this_boot, 7, at + 2 * TREE_TICK_NS, at + NS_PER_S, &found));
	ASSERT_FALSE(ends_find(fd, this_boot, 7, 0, at - 2 * TREE_TICK_NS, &found));
	ASSERT_EQ(0, ends_clear(fd));
	ASSERT_FALSE(ends_find(fd, this_boot, 7, at, at, &found));
	close(fd);
	io_remove_tree(AT_FDCWD, dir);
	PASS();
}

/* Half a record, as a power cut leaves it, and a damaged one cost no other record. */
TEST half_a_record_costs_no_other(void)
{
	const struct process_end first = end_of(7, 256), second = end_of(8, 9);
	int64_t at = 5 * NS_PER_S;
	char dir[64], path[96], byte = 'x';
	struct stat st;
	struct process_end found;
	int fd = open_scratch(dir), file;

	snprintf(path, sizeof(path), "%s/ends", dir);
	ASSERT_EQ(0, ends_add(fd, &first));
	ASSERT_EQ(0, stat(path, &st));
	ASSERT_EQ(0, ends_add(fd, &second));
	ASSERT_EQ(0, truncate(path, st.st_size + st.st_size / 2));
	ASSERT(ends_find(fd, this_boot, 7, at, at, &found));
	ASSERT_FALSE(ends_find(fd, this_boot, 8, at, at, &found));
	ASSERT_EQ(0, ends_add(fd, &second));
	ASSERT(ends_find(fd, this_boot, 8, at, at, &found));
	file = open(path, O_WRONLY);
	ASSERT_EQ(1, pwrite(file, &byte, 1, 30));
	close(file);
	ASSERT_FALSE(ends_find(fd, this_boot, 7, at, at, &found));
	ASSERT(ends_find(fd, this_boot, 8, at, at, &found));
	close(fd);
	io_remove_tree(AT_FDCWD, dir);
	PASS();
}

SUITE(file)
{
	RUN_TEST(ends_are_found_by_process_time_and_boot);
	RUN_TEST(half_a_record_costs_no_other);
}

/* ---- the process ---- */

static struct rig *rig;
static struct buf text;

static void setup_cb(void *data)
{
	(void)data;
	rig = rig_new(4);
	rig->guarded = true;
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

static const char *below(const char *name)
{
	static char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", rig->options.statedir.dir, name);
	return path;
}

static bool kill_keeper(void)
{
	pid_t keeper = rig_guarded_keeper(rig);

	if (keeper <= 0 || kill(keeper, SIGKILL) < 0 || !rig_accept(rig))
		return false;
	rig_lease(rig);
	return rig_guarded_keeper(rig) != keeper;
}

static void go(void)
{
	if (io_write_file(AT_FDCWD, below("go"), "", 0, 0600) < 0)
		abort();
}

/* Start a job that waits for a signal to go, and then runs this command. */
static bool start_waiting(uint64_t job, const char *then, pid_t *ret_pid)
{
	struct ipc_started started;
	char script[512];

	snprintf(script, sizeof(script), "while ! test -e %.200s; do sleep 0.01; done; %s", below("go"), then);
	rig_sh(rig, job, 1, script);
	if (!rig_started(rig, job, &started))
		return false;
	*ret_pid = (pid_t)started.pid;
	return true;
}

/* Was the process reaped? Then the guardian needn't remember it. */
static bool is_reaped(pid_t pid)
{
	for (int i = 0; i < RIG_WAIT_MS / 5; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return true;
		usleep(5000);
	}
	return false;
}

/* For a job below an init, the guardian sees an exit status as shells report it. */
static bool ended_with(const struct ipc_exited *exited, enum outcome outcome, uint64_t code)
{
	if (outcome == OUTCOME_SIGNAL && rig_containment == CONTAIN_PIDS)
		return exited->done.outcome == OUTCOME_EXIT && exited->done.code == 128 + code;
	return exited->done.outcome == outcome && exited->done.code == code;
}

TEST an_adopted_jobs_status_is_learned(void)
{
	struct ipc_exited exited;
	pid_t well, badly, killed;

	ASSERT(start_waiting(1, "echo done", &well));
	ASSERT(start_waiting(2, "exit 3", &badly));
	ASSERT(start_waiting(3, "kill -9 $$", &killed));
	ASSERT(kill_keeper());
	go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 0));
	ASSERT(exited.done.run_ns > 0 && exited.done.cpu_us > 0 && exited.done.rss_kib > 0);
	ASSERT_STR_EQ("done\n", rig_output(rig, exited.space, "out", &text));
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 3));
	ASSERT(rig_exited(rig, 3, &exited));
	ASSERT(ended_with(&exited, OUTCOME_SIGNAL, SIGKILL));
	ASSERT(is_reaped(well) && is_reaped(badly) && is_reaped(killed));
	ASSERT(kill_keeper());
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 3));
	PASS();
}

TEST an_end_without_a_keeper_is_learned_by_the_next(void)
{
	struct ipc_exited exited;
	pid_t job, keeper = rig_guarded_keeper(rig);

	ASSERT(start_waiting(1, "exit 5", &job));
	/* Stop the guardian, so that it starts no other keeper. */
	kill(rig->keeper, SIGSTOP);
	kill(keeper, SIGKILL);
	go();
	for (char state = 'R'; state != 'Z';) {
		struct tree_stat stat;

		ASSERT(tree_stat(job, &stat));
		state = stat.state;
	}
	kill(rig->keeper, SIGCONT);
	ASSERT(rig_accept(rig));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5));
	PASS();
}

/*
 * The main process ended after a stop request, and the rest of its tree has its grace: only the keeper knew of the
 * request.
 */
TEST an_end_that_only_the_keeper_saw_is_learned(void)
{
	struct ipc_started started;
	struct ipc_exited exited;
	char script[512], ready[PATH_MAX];

	snprintf(ready, sizeof(ready), "%s", below("ready"));
	snprintf(script, sizeof(script), "(trap '' TERM; while :; do sleep 0.05; done) & trap 'exit 5' TERM; echo >%.200s; "
		 "while :; do sleep 0.05; done", ready);
	rig_sh(rig, 1, 1, script);
	ASSERT(rig_started(rig, 1, &started));
	ASSERT(rig_file_appears(ready));
	rig_stop(rig, 1, 1, 60000);
	ASSERT(is_reaped((pid_t)started.pid));
	ASSERT(kill_keeper());
	ASSERT(rig_exited(rig, 1, &exited));
	/* Whether the next keeper knows of the stop request depends on what reached the spool before the kill. */
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5) || ended_with(&exited, OUTCOME_STOPPED, 5));
	PASS();
}

TEST what_was_recorded_outlives_the_guardian(void)
{
	struct ipc_exited exited;
	pid_t job;

	ASSERT(start_waiting(1, "exit 6", &job));
	kill(rig_guarded_keeper(rig), SIGKILL);
	ASSERT(rig_accept(rig));
	/* Stop this keeper, so that it doesn't see the end. */
	kill(rig_guarded_keeper(rig), SIGSTOP);
	go();
	ASSERT(is_reaped(job));
	rig_kill_guarded(rig);
	ASSERT(rig_start(rig));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 6));
	PASS();
}

TEST without_guardian_and_keeper_an_end_is_unknown(void)
{
	struct ipc_exited exited;
	pid_t job;

	ASSERT(start_waiting(1, "exit 5", &job));
	rig_kill_guarded(rig);
	ASSERT(rig_start(rig));
	go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	PASS();
}

TEST a_keeper_takes_its_killed_guardians_place(void)
{
	struct ipc_exited exited;
	pid_t first, second, keeper = rig_guarded_keeper(rig);

	ASSERT(start_waiting(1, "exit 5", &first));
	ASSERT(start_waiting(2, "exit 6", &second));
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	rig->keeper = keeper;
	ASSERT(rig_accept(rig));
	rig_lease(rig);
	ASSERT(tree_is_guardian(keeper));
	ASSERT(kill_keeper());
	go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5));
	ASSERT(rig_exited(rig, 2, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 6));
	PASS();
}

/* A keeper whose jobs would die with it never becomes a guardian. */
TEST a_keeper_of_jobs_that_die_with_it_stays_one(void)
{
	struct ipc_exited exited;
	char path[PATH_MAX];
	pid_t job, keeper = rig_guarded_keeper(rig);

	snprintf(path, sizeof(path), "%s", below("worker/w1"));
	rig->spawn_flags = SPAWN_DIES;
	ASSERT(start_waiting(1, "exit 5", &job));
	kill(rig->keeper, SIGKILL);
	rig_wait_keeper(rig);
	rig->keeper = keeper;
	for (int i = 0; i < RIG_WAIT_MS / 5 && !worker_signal(path, 0); i++)
		usleep(5000);
	ASSERT(worker_signal(path, 0));
	ASSERT_FALSE(tree_is_guardian(keeper));
	go();
	/* The last of the orphaned jobs has ended. */
	for (int i = 0; i < RIG_WAIT_MS / 5 && !tree_is_guardian(keeper); i++)
		usleep(5000);
	ASSERT(rig_accept(rig));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5));
	PASS();
}

TEST what_cant_say_its_version_takes_no_guardians_place(void)
{
	struct ipc_exited exited;
	pid_t job, keeper = rig_guarded_keeper(rig);

	/* The test program doesn't know --version, so the link can't start. */
	ASSERT(start_waiting(1, "exit 5", &job));
	kill(rig->keeper, SIGHUP);
	kill(keeper, SIGKILL);
	ASSERT(rig_accept(rig));
	go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5));
	PASS();
}

TEST what_dies_with_its_keeper_is_lost_with_it(void)
{
	struct ipc_exited exited;
	pid_t job;

	rig->spawn_flags = SPAWN_DIES;
	ASSERT(start_waiting(1, "exit 5", &job));
	ASSERT(kill_keeper());
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_EXIT_UNKNOWN, exited.done.outcome);
	ASSERT(is_reaped(job));
	PASS();
}

TEST an_adopted_job_that_is_stopped_leaves_nothing(void)
{
	struct ipc_exited exited;
	pid_t job;

	ASSERT(start_waiting(1, "exit 5", &job));
	ASSERT(kill_keeper());
	rig_stop(rig, 1, 1, 5000);
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	ASSERT_EQ(128 + SIGTERM, exited.done.code);
	ASSERT(is_reaped(job));
	PASS();
}

TEST a_record_that_cant_be_written_is_tried_again(void)
{
	char path[PATH_MAX];
	struct ipc_exited exited;
	struct tree_stat stat;
	pid_t job;

	snprintf(path, sizeof(path), "%s", below("worker/w1/ends"));
	ASSERT(start_waiting(1, "exit 5", &job));
	ASSERT(kill_keeper());
	ASSERT_EQ(0, mkdir(path, 0700));
	go();
	do
		ASSERT(tree_stat(job, &stat));
	while (stat.state != 'Z');
	/* After another kill of the keeper, the next one waits for the job too. */
	ASSERT(kill_keeper());
	ASSERT(tree_stat(job, &stat));
	ASSERT_EQ(0, rmdir(path));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5));
	PASS();
}

TEST a_keeper_that_dies_at_once_is_started_ever_later(void)
{
	int64_t begun_ns = clock_mono_ns();

	for (int i = 0; i < 5; i++)
		ASSERT(kill_keeper());
	/* Restarts at once, after 50 ms, 100, 200 and 400. */
	ASSERT(clock_mono_ns() - begun_ns >= 750 * NS_PER_MS);
	PASS();
}

TEST a_second_guardian_is_refused(void)
{
	struct error error = { 0 };
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(guardian_run(&rig->options, &error) == err_exit_status(ERR_BUSY) && strstr(error.text, "w1") ? 42 : 1);
	waitpid(pid, &status, 0);
	ASSERT(WIFEXITED(status));
	ASSERT_EQ(42, WEXITSTATUS(status));
	PASS();
}

static bool is_free(const char *path)
{
	for (int i = 0; i < RIG_WAIT_MS / 5 && worker_is_served(path); i++)
		usleep(5000);
	return !worker_is_served(path);
}

TEST it_stays_for_what_its_keeper_left(void)
{
	struct ipc_exited exited;
	pid_t job, guardian = rig->keeper;
	char path[PATH_MAX];
	int status;

	snprintf(path, sizeof(path), "%s", below("worker/w1"));
	ASSERT(start_waiting(1, "exit 5", &job));
	rig_left(rig);
	kill(guardian, SIGTERM);
	/* The worker's name is free when the keeper has ended: another guardian can start while this one still waits. */
	ASSERT(is_free(path));
	ASSERT(rig_start(rig));
	ASSERT_EQ(0, waitpid(guardian, &status, WNOHANG));
	go();
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT(ended_with(&exited, OUTCOME_EXIT, 5));
	ASSERT_EQ(guardian, waitpid(guardian, &status, 0));
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	PASS();
}

TEST one_that_only_ends_jobs_keeps_their_results(void)
{
	struct ipc_exited exited;
	char path[PATH_MAX];
	pid_t job;
	int status;

	snprintf(path, sizeof(path), "%s", below("worker/w1"));
	ASSERT(start_waiting(1, "exit 5", &job));
	ASSERT(worker_is_served(path));
	rig_kill_guarded(rig);
	ASSERT(is_free(path));
	ASSERT(worker_left_processes(path) > 0);
	rig->options.end_jobs = true;
	rig_fork(rig);
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ASSERT_EQ(0, worker_left_processes(path));
	rig->options.end_jobs = false;
	ASSERT(rig_start(rig));
	ASSERT(rig_exited(rig, 1, &exited));
	ASSERT_EQ(OUTCOME_STOPPED, exited.done.outcome);
	PASS();
}

TEST it_is_told_by_a_signal_from_outside(void)
{
	char path[PATH_MAX];
	int status;

	snprintf(path, sizeof(path), "%s", below("worker/w1"));
	ASSERT(worker_signal(path, SIGINT));
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	ASSERT_FALSE(worker_signal(path, SIGINT));
	PASS();
}

TEST it_ends_as_its_keeper_does(void)
{
	pid_t keeper = rig_guarded_keeper(rig);
	int status;

	kill(rig->keeper, SIGTERM);
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status));
	ASSERT_EQ(0, WEXITSTATUS(status));
	ASSERT(is_reaped(keeper));
	rig->options.slots = LIMIT_SLOTS_MAX + 1;
	rig_fork(rig);
	status = rig_wait_keeper(rig);
	ASSERT(WIFEXITED(status));
	ASSERT_EQ(err_exit_status(ERR_INVALID), WEXITSTATUS(status));
	PASS();
}

static void run_all(void)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(an_adopted_jobs_status_is_learned);
	RUN_TEST(an_end_without_a_keeper_is_learned_by_the_next);
	RUN_TEST(what_dies_with_its_keeper_is_lost_with_it);
	if (rig_containment != CONTAIN_SUBREAPER)
		return;
	RUN_TEST(an_end_that_only_the_keeper_saw_is_learned);
	RUN_TEST(what_was_recorded_outlives_the_guardian);
	RUN_TEST(without_guardian_and_keeper_an_end_is_unknown);
	RUN_TEST(a_keeper_takes_its_killed_guardians_place);
	RUN_TEST(a_keeper_of_jobs_that_die_with_it_stays_one);
	RUN_TEST(what_cant_say_its_version_takes_no_guardians_place);
	RUN_TEST(an_adopted_job_that_is_stopped_leaves_nothing);
	RUN_TEST(a_record_that_cant_be_written_is_tried_again);
	RUN_TEST(a_keeper_that_dies_at_once_is_started_ever_later);
	RUN_TEST(a_second_guardian_is_refused);
	RUN_TEST(it_stays_for_what_its_keeper_left);
	RUN_TEST(one_that_only_ends_jobs_keeps_their_results);
	RUN_TEST(it_is_told_by_a_signal_from_outside);
	RUN_TEST(it_ends_as_its_keeper_does);
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
	RUN_SUITE(file);
	RUN_SUITE(with_subreaper);
	if (rig_can_contain(CONTAIN_CGROUP))
		RUN_SUITE(with_cgroup);
	if (rig_can_contain(CONTAIN_PIDS))
		RUN_SUITE(with_pids);
	GREATEST_MAIN_END();
}
