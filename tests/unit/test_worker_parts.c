/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small parts of the worker: environment, load of the machine, /proc, spaces. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "worker/env.h"
#include "worker/keeper.h"
#include "worker/offers.h"
#include "worker/space.h"
#include "worker/system.h"
#include "worker/job_token.h"
#include "worker/tree.h"

#include "greatest.h"
#include "scratch.h"

GREATEST_MAIN_DEFS();

static size_t count_of(char *const *list, const char *name)
{
	size_t count = 0;

	for (; *list; list++)
		count += strncmp(*list, name, strlen(name)) == 0 && (*list)[strlen(name)] == '=';
	return count;
}

TEST began_follows_a_set_clock(void)
{
	struct now now = clock_now();
	struct attempt attempt = { .before_ns = now.boot_ns - 7 * NS_PER_S, .wall_ms = now.wall_ms - 7000 };
	int64_t began_ms = attempt_began_ms(&attempt);

	ASSERT(began_ms >= now.wall_ms - 7001 && began_ms <= now.wall_ms - 7000 + 5000);
	/* The wall clock was ten years ahead or behind when the process started. */
	attempt.wall_ms += INT64_C(315360000000);
	ASSERT(attempt_began_ms(&attempt) <= now.wall_ms - 7000 + 5000);
	attempt.wall_ms -= INT64_C(630720000000);
	ASSERT(attempt_began_ms(&attempt) >= now.wall_ms - 7001);
	/* The process started before the last boot, so only the wall clock can tell its age. */
	attempt.other_boot = true;
	ASSERT_EQ(attempt.wall_ms, attempt_began_ms(&attempt));
	attempt = (struct attempt){ .before_ns = now.boot_ns };
	ASSERT_EQ(0, attempt_began_ms(&attempt));
	PASS();
}

TEST env_order_and_precedence(void)
{
	static const char extra[] = "PATH=/opt\0HOME=/elsewhere\0TITAN_EPOCH=1\0TITAN_OTHER=x\0TITAN_ITEM=y z\0TITAN_INDEX=1\0A=1\0A=2\0nonsense\0=x";
	const struct env_facts facts = { .run = 1, .job = UINT64_MAX, .epoch = 3, .dir = "/d", .mark = "m", .token = "t" };
	char own_path[PATH_MAX] = "";
	struct env env;
	char **list;

	ASSERT(readlink("/proc/self/exe", own_path, sizeof(own_path) - 1) > 0);
	env_init(&env, "w", "c", "/s", NULL);
	list = env_compose(&env, &facts, extra, 10);
	ASSERT_STR_EQ("/opt", env.path);
	ASSERT_EQ(1, count_of(list, "PATH"));
	ASSERT_EQ(1, count_of(list, "HOME"));
	ASSERT_EQ(1, count_of(list, "A"));
	ASSERT_EQ(1, count_of(list, "TITAN_EPOCH"));
	ASSERT_EQ(0, count_of(list, "TITAN_OTHER"));
	ASSERT_EQ(1, count_of(list, "TITAN_ITEM"));
	ASSERT_EQ(1, count_of(list, "TITAN_INDEX"));
	for (char **at = list; *at; at++) {
		ASSERT_NEQ(0, strcmp(*at, "TITAN_EPOCH=1"));
		ASSERT_NEQ(0, strcmp(*at, "nonsense"));
		ASSERT_NEQ('=', (*at)[0]);
		if (strncmp(*at, "TITAN_MARK", 10) == 0)
			ASSERT_STR_EQ("TITAN_MARK=m.18446744073709551615.3", *at);
	}
	list = env_compose(&env, &facts, "", 0);
	ASSERT_EQ('/', env.path[0]);
	/* The last entry is the directory of this program. */
	ASSERT(strrchr(env.path, ':') && strstr(own_path, strrchr(env.path, ':') + 1) == own_path);
	ASSERT_EQ(1, count_of(list, "TMPDIR"));
	ASSERT_EQ(0, count_of(list, "A"));
	env_free(&env);
	PASS();
}

/* A name that is a prefix of another doesn't stand for the other. */
TEST env_compares_whole_names(void)
{
	static const char extra[] = "PATHEXT=1\0LANGUAGE=1\0HOMEBREW_PREFIX=1\0AB=1\0A=2\0TITAN_ITEM=1\0U=1\0TMPDIRS=1";
	static const char *const both[] = { "PATHEXT", "PATH", "LANGUAGE", "LANG", "HOMEBREW_PREFIX", "HOME", "AB", "A",
					    "U", "USER", "TMPDIRS", "TMPDIR", "TITAN_ITEM", "TITAN_JOB" };
	const struct env_facts facts = { .run = 1, .job = 2, .epoch = 3, .dir = "/d", .mark = "m", .token = "t" };
	struct env env;
	char **list;

	env_init(&env, "w", "c", "/s", NULL);
	list = env_compose(&env, &facts, extra, 8);
	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++)
		ASSERT_EQ_FMTm(both[i], (size_t)1, count_of(list, both[i]), "%zu");
	ASSERT(env.path && env.path[0] == '/');
	env_free(&env);
	PASS();
}

TEST tokens_prove_one_attempt(void)
{
	uint8_t secret[JOB_TOKEN_SECRET] = { 1, 2, 3 }, other[JOB_TOKEN_SECRET] = { 1, 2, 4 };
	char token[JOB_TOKEN_TEXT], longer[JOB_TOKEN_TEXT + 4];
	uint64_t job = 0, epoch = 0;

	job_token_write(secret, UINT64_MAX, UINT64_MAX, token);
	ASSERT(strlen(token) < JOB_TOKEN_TEXT - 1);
	job_token_write(secret, 12, 3, token);
	ASSERT(job_token_read(secret, slice_str(token), &job, &epoch));
	ASSERT_EQ(12, job);
	ASSERT_EQ(3, epoch);
	ASSERT_FALSE(job_token_read(other, slice_str(token), &job, &epoch));
	/* Wrong tokens: another job's number, another spelling of it, a part of it, more than it. */
	token[1] = '3';
	ASSERT_FALSE(job_token_read(secret, slice_str(token), &job, &epoch));
	token[1] = '2';
	/* The token of the same job's next attempt is different and therefore refused. */
	ASSERT_EQ('3', token[3]);
	token[3] = '4';
	ASSERT_FALSE(job_token_read(secret, slice_str(token), &job, &epoch));
	token[3] = '3';
	snprintf(longer, sizeof(longer), "0%s", token);
	ASSERT_FALSE(job_token_read(secret, slice_str(longer), &job, &epoch));
	ASSERT_FALSE(job_token_read(secret, slice_make(token, strlen(token) - 1), &job, &epoch));
	snprintf(longer, sizeof(longer), "%s0", token);
	ASSERT_FALSE(job_token_read(secret, slice_str(longer), &job, &epoch));
	ASSERT_FALSE(job_token_read(secret, slice_str(""), &job, &epoch));
	ASSERT_FALSE(job_token_read(secret, slice_str("."), &job, &epoch));
	ASSERT_FALSE(job_token_read(secret, slice_str("12.3"), &job, &epoch));
	PASS();
}

TEST the_secret_is_made_once(void)
{
	char dir[SCRATCH_SIZE];
	uint8_t first[JOB_TOKEN_SECRET], second[JOB_TOKEN_SECRET];
	struct stat st;
	int dir_fd;

	scratch_new("secret", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(0, job_token_secret(dir_fd, first));
	ASSERT_EQ(0, job_token_secret(dir_fd, second));
	ASSERT_EQ(0, memcmp(first, second, sizeof(first)));
	ASSERT_EQ(0, fstatat(dir_fd, "secret", &st, 0));
	ASSERT_EQ(0600, st.st_mode & 07777);
	/* A secret that was cut short is replaced. */
	ASSERT_EQ(0, io_write_file(dir_fd, "secret", "short", 5, 0600));
	ASSERT_EQ(0, job_token_secret(dir_fd, second));
	ASSERT(memcmp(first, second, sizeof(first)) != 0);
	close(dir_fd);
	io_remove_tree(AT_FDCWD, dir);
	PASS();
}

TEST load_of_the_machine(void)
{
	struct system_load load = { 0 };

	ASSERT(system_parse_stat("cpu  10 0 10 80 0 0 0 0 0 0\ncpu0 1\n", &load));
	ASSERT_EQ(200, load.cpu_permille);
	ASSERT(system_parse_stat("cpu  60 0 10 130 0 0 0 0 0 0\n", &load));
	ASSERT_EQ(500, load.cpu_permille);
	ASSERT(system_parse_stat("cpu  60 0 10 130 0 0 0 0 0 0\n", &load));
	ASSERT_EQ(500, load.cpu_permille);
	ASSERT(system_parse_stat("cpu  1 0 1 130 0 0 0 0 0 0\n", &load));
	ASSERT(load.cpu_permille <= 1000);
	ASSERT_FALSE(system_parse_stat("", &load));
	ASSERT_FALSE(system_parse_stat("cpu 1 2 3", &load));
	ASSERT(system_parse_meminfo("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:   250 kB\n", &load));
	ASSERT_EQ(750, load.mem_permille);
	ASSERT_FALSE(system_parse_meminfo("MemTotal: 0 kB\nMemAvailable: 0 kB\n", &load));
	ASSERT_FALSE(system_parse_meminfo("MemTotal: 10 kB\n", &load));
	ASSERT_EQ(750, load.mem_permille);
	ASSERT(system_parse_loadavg("1.50 0.75 0.10 2/345 6789\n", 2, &load));
	ASSERT_EQ(750, load.load_permille);
	ASSERT(system_parse_loadavg("0.05 0.75 0.10 2/345 6789\n", 1, &load));
	ASSERT_EQ(50, load.load_permille);
	ASSERT_FALSE(system_parse_loadavg("", 2, &load));
	ASSERT_FALSE(system_parse_loadavg("1.50", 0, &load));
	ASSERT_EQ(50, load.load_permille);
	system_look(&load);
	ASSERT(load.mem_permille > 0 && load.mem_permille <= 1000);
	PASS();
}

TEST a_control_group_may_bound_what_is_offered(void)
{
	uint64_t value = 7;

	ASSERT(offers_parse_cpu_max("150000 100000\n", &value));
	ASSERT_EQ(1500, value);
	ASSERT(offers_parse_memory_max("1048576\n", &value));
	ASSERT_EQ(1048576, value);
	ASSERT_FALSE(offers_parse_cpu_max("max 100000\n", &value));
	ASSERT_FALSE(offers_parse_cpu_max("150000 0\n", &value));
	ASSERT_FALSE(offers_parse_memory_max("max\n", &value));
	ASSERT_EQ(1048576, value);
	PASS();
}

/* Given resources stay as given; the machine's cpus and memory are added where there is room. */
TEST offers_are_what_is_given_and_what_the_machine_has(void)
{
	char given[LIMIT_RESOURCES_TEXT_MAX] = "", text[LIMIT_RESOURCES_TEXT_MAX];
	struct resource_list offers;
	struct error error;

	ASSERT_EQ(ERR_NONE, offers_find(NULL, &offers, text, &error));
	ASSERT_EQ(2, offers.n);
	ASSERT(resource_find(offers.at, offers.n, RESOURCE_CPUS)->amount >= 1);
	ASSERT(resource_find(offers.at, offers.n, RESOURCE_MEMORY)->amount > 1 << 20);
	ASSERT_EQ(ERR_NONE, offers_find("cpus=1500,license=3", &offers, text, &error));
	ASSERT_EQ(3, offers.n);
	ASSERT_EQ(1500, resource_find(offers.at, offers.n, RESOURCE_CPUS)->amount);
	ASSERT_EQ(3, resource_find(offers.at, offers.n, "license")->amount);
	ASSERT(strncmp(text, "cpus=1500,license=3,memory=", 27) == 0);
	for (int i = 0; i < LIMIT_RESOURCES_MAX; i++) {
		size_t len = strlen(given);

		snprintf(given + len, sizeof(given) - len, "%sr%d=1", i ? "," : "", i);
		ASSERT_EQ_FMT(i < LIMIT_RESOURCES_MAX - 2, offers_find(given, &offers, text, &error) == ERR_NONE, "%d");
	}
	strcpy(given, "cpus=1000,memory=1048576");
	for (int i = 2; i < LIMIT_RESOURCES_MAX + 2; i++) {
		size_t len = strlen(given);

		snprintf(given + len, sizeof(given) - len, ",r%d=1", i);
		ASSERT_EQ_FMT(i < LIMIT_RESOURCES_MAX, offers_find(given, &offers, text, &error) == ERR_NONE, "%d");
	}
	ASSERT_NEQ(ERR_NONE, offers_find("license=3,license=4", &offers, text, &error));
	ASSERT_NEQ(ERR_NONE, offers_find("license", &offers, text, &error));
	PASS();
}

static bool has(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == pid)
			return true;
	return false;
}

TEST children_however_many(void)
{
	const int fds[] = { tree_children_open(), -1 };
	struct pid_list list = { 0 };
	pid_t pids[700];

	for (size_t i = 0; i < 700; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(0);
	}
	for (size_t way = 0; way < 2; way++) {
		tree_children(fds[way], &list);
		ASSERT_EQ_FMT((size_t)700, list.n, "%zu");
		for (size_t i = 0; i < 700; i++)
			ASSERT(has(&list, pids[i]));
	}
	for (size_t i = 0; i < 700; i++)
		waitpid(pids[i], NULL, 0);
	tree_children(fds[0], &list);
	ASSERT_EQ(0, list.n);
	if (fds[0] >= 0)
		close(fds[0]);
	pid_list_free(&list);
	PASS();
}

TEST what_proc_says(void)
{
	char *const envp[] = { "A=TITAN_MARK=m.1.1", "TITAN_MARK=mm.3.4", "TITAN_MARK=m.12.34", NULL };
	char *const argv[] = { "sleep", "600", NULL };
	uint64_t job = 0, epoch = 0;
	struct tree_stat stat, own;
	struct pid_list list = { 0 };
	int ready[2];
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
	pid = fork();
	if (pid == 0) {
		setsid();
		execve("/bin/sleep", argv, envp);
		_exit(127);
	}
	close(ready[1]);
	/* The pipe's write end closes when the child has become the new program. */
	ASSERT_EQ(0, read(ready[0], &byte, 1));
	close(ready[0]);
	ASSERT(tree_mark(pid, "m", &job, &epoch));
	ASSERT_EQ(12, job);
	ASSERT_EQ(34, epoch);
	ASSERT_FALSE(tree_mark(pid, "other", &job, &epoch));
	ASSERT_FALSE(tree_mark(pid, "k", &job, &epoch));
	ASSERT_FALSE(tree_mark(getpid(), "m", &job, &epoch));
	ASSERT(tree_stat(pid, &stat));
	ASSERT(tree_stat(getpid(), &own));
	ASSERT_EQ(getpid(), stat.parent);
	ASSERT_EQ(pid, stat.session);
	ASSERT(stat.begun_ns >= own.begun_ns && own.begun_ns > 0);
	tree_processes(&list);
	ASSERT(has(&list, pid) && has(&list, getpid()));
	pid_list_free(&list);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ASSERT_FALSE(tree_stat(pid, &stat));
	ASSERT_FALSE(tree_mark(pid, "m", &job, &epoch));
	PASS();
}

/* A process can choose its name: fields behind a name with parentheses must be found all the same. */
TEST name_with_a_parenthesis_hides_nothing(void)
{
	struct tree_stat stat;
	int ready[2];
	char byte;
	pid_t pid;

	ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "a) Z 1 1 1");
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ASSERT_EQ(1, read(ready[0], &byte, 1));
	close(ready[0]);
	close(ready[1]);
	ASSERT(tree_stat(pid, &stat));
	ASSERT_EQ(getpid(), stat.parent);
	ASSERT_EQ(getsid(0), stat.session);
	ASSERT(stat.begun_ns > 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	PASS();
}

/*
 * The keeper looks at a hanging start again after a quarter of the time that it has hung, and at the latest when its
 * warning or end is due. A start that has already failed needs no look.
 */
TEST hanging_starts_have_their_times(void)
{
	struct worker_options options = { .start_ns = 60 * NS_PER_S };
	struct attempt later = { .begun_ns = 103 * NS_PER_S }, first = { .begun_ns = 100 * NS_PER_S, .late_next = &later };
	struct keeper keeper = { .options = &options, .late = &first, .now_ns = 100 * NS_PER_S };

	ASSERT_EQ_FMT(100 * NS_PER_S + 10 * NS_PER_MS, late_due(&keeper), "%ld");
	keeper.now_ns = 100 * NS_PER_S + 400 * NS_PER_MS;
	first.start_fault = 1;
	later.begun_ns = 100 * NS_PER_S;
	ASSERT_EQ_FMT(100 * NS_PER_S + 500 * NS_PER_MS, late_due(&keeper), "%ld");
	first.start_fault = 0;
	later.begun_ns = 103 * NS_PER_S;
	keeper.now_ns = 104 * NS_PER_S + 900 * NS_PER_MS;
	ASSERT_EQ_FMT(105 * NS_PER_S, late_due(&keeper), "%ld");
	first.late_told = true;
	keeper.now_ns = 107 * NS_PER_S + 900 * NS_PER_MS;
	ASSERT_EQ_FMT(108 * NS_PER_S, late_due(&keeper), "%ld");
	later.late_told = true;
	keeper.now_ns = 150 * NS_PER_S;
	ASSERT_EQ_FMT(150 * NS_PER_S + 250 * NS_PER_MS, late_due(&keeper), "%ld");
	keeper.now_ns = 159 * NS_PER_S + 900 * NS_PER_MS;
	ASSERT_EQ_FMT(160 * NS_PER_S, late_due(&keeper), "%ld");
	first.start_fault = 1;
	keeper.now_ns = 162 * NS_PER_S + 900 * NS_PER_MS;
	ASSERT_EQ_FMT(163 * NS_PER_S, late_due(&keeper), "%ld");
	later.start_fault = 1;
	ASSERT_EQ(TIME_NEVER, late_due(&keeper));
	options.start_ns = NS_PER_S;
	first.start_fault = 0;
	first.late_told = false;
	keeper.now_ns = 100 * NS_PER_S + 900 * NS_PER_MS;
	ASSERT_EQ_FMT(101 * NS_PER_S, late_due(&keeper), "%ld");
	PASS();
}

TEST spaces_are_used_again_only_when_clean(void)
{
	char dir[SCRATCH_SIZE];
	struct space *first, *second, *third;
	struct spaces *spaces;
	struct error error;
	uint64_t sizes[2];
	int dir_fd;

	scratch_new("space", dir);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_EQ(ERR_NONE, spaces_open(dir_fd, NULL, &spaces, &error));
	first = space_take(spaces);
	second = space_take(spaces);
	ASSERT(first && second && first->id != second->id);
	ASSERT_EQ(3, write(first->out_fd, "abc", 3));
	ASSERT_EQ(0, mkdirat(first->dir_fd, "left", 0700));
	space_sizes(first, sizes);
	ASSERT_EQ(3, sizes[0]);
	ASSERT_EQ(0, sizes[1]);
	space_release(spaces, first);
	third = space_take(spaces);
	ASSERTm("not before its end is written down", third != first);
	space_sizes(third, sizes);
	space_release(spaces, third);
	spaces_rested(spaces);
	third = space_take(spaces);
	ASSERT_EQ(first, third);
	space_sizes(third, sizes);
	ASSERT_EQ(0, sizes[0]);
	ASSERT_EQ(-1, faccessat(third->dir_fd, "left", F_OK, 0));
	/* A file that another process may still write to is never given to the next job. */
	ASSERT_EQ(0, linkat(dir_fd, "attempts/2.out", dir_fd, "elsewhere", 0));
	space_sizes(second, sizes);
	space_release(spaces, second);
	second = space_take(spaces);
	ASSERT_EQ(3, second->id);
	ASSERT_EQ(-1, faccessat(dir_fd, "attempts/2.out", F_OK, 0));
	space_forget(second);
	space_forget(third);
	spaces_close(spaces);
	ASSERT_EQ(ERR_NONE, spaces_open(dir_fd, NULL, &spaces, &error));
	third = space_claim(spaces, 3);
	ASSERT(third);
	ASSERT_EQ(NULL, space_claim(spaces, 77));
	spaces_sweep(spaces);
	ASSERT_EQ(-1, faccessat(dir_fd, "attempts/1.out", F_OK, 0));
	ASSERT_EQ(0, faccessat(dir_fd, "attempts/3.out", F_OK, 0));
	ASSERT_EQ(0, faccessat(dir_fd, "attempts/3", F_OK, 0));
	space_forget(third);
	spaces_close(spaces);
	close(dir_fd);
	io_remove_tree(AT_FDCWD, dir);
	PASS();
}

SUITE(parts_suite)
{
	RUN_TEST(began_follows_a_set_clock);
	RUN_TEST(env_order_and_precedence);
	RUN_TEST(env_compares_whole_names);
	RUN_TEST(tokens_prove_one_attempt);
	RUN_TEST(the_secret_is_made_once);
	RUN_TEST(load_of_the_machine);
	RUN_TEST(a_control_group_may_bound_what_is_offered);
	RUN_TEST(offers_are_what_is_given_and_what_the_machine_has);
	RUN_TEST(children_however_many);
	RUN_TEST(what_proc_says);
	RUN_TEST(name_with_a_parenthesis_hides_nothing);
	RUN_TEST(hanging_starts_have_their_times);
	RUN_TEST(spaces_are_used_again_only_when_clean);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(parts_suite);
	GREATEST_MAIN_END();
}
