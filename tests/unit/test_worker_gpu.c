/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The load of gpus: files of the kernel, and a helper process that may be slow, wrong or absent. */
#include "worker/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "greatest.h"

static char dir[64];

static void put(const char *name, const char *text, mode_t mode)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

/* Install a program that runs this shell script instead of NVIDIA's. */
static void program(const char *script)
{
	char text[512], path[160];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	put(GPU_HELPER, text, 0755);
	snprintf(path, sizeof(path), "relative:%s", dir);
	setenv("PATH", path, 1);
}

/* Look at the helper until it has ended, at this time of its clock. */
static uint64_t finish(struct gpu_helper *helper, int64_t now_ns)
{
	uint64_t permille = gpu_of_helper(helper, now_ns);

	while (helper->pid != 0) {
		usleep(1000);
		permille = gpu_of_helper(helper, now_ns);
	}
	return permille;
}

TEST percentages_are_read_line_by_line(void)
{
	static const struct { const char *text; int permille; } texts[] = {
		{ "7\n", 70 }, { "7\n93\n0\n", 930 }, { "100", 1000 }, { " 5 %\r\n", 50 }, { "[N/A]\n12\n", 120 }, { "", -1 }, { "[N/A]\n", -1 },
		{ "101\n", -1 }, { "99999999999999999999999\n", -1 }, { "1.5\n", -1 }, { "-3\n", -1 }, { "No devices were found\n", -1 },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t permille = 0;

		ASSERT_EQm(texts[i].text, texts[i].permille >= 0, gpu_parse(texts[i].text, &permille));
		ASSERT_EQm(texts[i].text, texts[i].permille >= 0 ? (uint64_t)texts[i].permille : 0, permille);
	}
	PASS();
}

TEST busiest_card_of_the_kernel_counts(void)
{
	static const char *const folders[] = { "class", "class/drm", "class/drm/card0", "class/drm/card0/device", "class/drm/card20", "class/drm/card20/device" };
	char path[256];

	ASSERT_EQ(0, gpu_of_kernel(dir));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
		ASSERT_EQ(0, mkdir(path, 0755));
	}
	put("class/drm/card0/device/gpu_busy_percent", "41\n", 0644);
	ASSERT_EQ(410, gpu_of_kernel(dir));
	put("class/drm/card20/device/gpu_busy_percent", "97\n", 0644);
	ASSERT_EQ(970, gpu_of_kernel(dir));
	put("class/drm/card20/device/gpu_busy_percent", "900\n", 0644);
	ASSERT_EQ(410, gpu_of_kernel(dir));
	PASS();
}

TEST helper_tells_and_is_asked_again_later(void)
{
	struct gpu_helper helper = { 0 };
	int64_t now_ns = 100 * NS_PER_S;

	program("[ \"$*\" = '--query-gpu=utilization.gpu --format=csv,noheader,nounits' ] && echo 12 && echo 91");
	ASSERT_EQ(0, gpu_of_helper(&helper, now_ns));
	ASSERT(helper.pid > 0);
	ASSERT_EQ(910, finish(&helper, now_ns));
	program("echo 3");
	ASSERT_EQ(910, gpu_of_helper(&helper, now_ns + NS_PER_S));
	ASSERT_EQm("another helper begins only after a while", 0, helper.pid);
	ASSERT_EQ(910, gpu_of_helper(&helper, now_ns + 6 * NS_PER_S));
	ASSERT_EQ(30, finish(&helper, now_ns + 6 * NS_PER_S));
	PASS();
}

TEST helper_that_hangs_is_killed_and_what_it_told_before_expires(void)
{
	struct gpu_helper helper = { 0 };
	int64_t now_ns = 100 * NS_PER_S;
	pid_t pid;

	program("echo 95");
	ASSERT_EQ(950, finish(&helper, now_ns));
	program("echo 50; while :; do :; done");
	now_ns += 10 * NS_PER_S;
	gpu_of_helper(&helper, now_ns);
	pid = helper.pid;
	ASSERT(pid > 0);
	ASSERT_EQ(950, gpu_of_helper(&helper, now_ns + NS_PER_S));
	ASSERT_EQ(pid, helper.pid);
	program("exit 9");               /* the next helper, which begins as soon as this one is gone */
	now_ns += 5 * NS_PER_S;
	ASSERT_EQ(950, finish(&helper, now_ns));
	ASSERT(kill(pid, 0) != 0 && errno == ESRCH);
	ASSERT_EQ(0, finish(&helper, now_ns + 30 * NS_PER_S));
	PASS();
}

TEST wrong_output_tells_nothing(void)
{
	static const char *const scripts[] = { "exit 0", "echo nonsense", "echo 50; exit 3", "kill -9 $$" };

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		struct gpu_helper helper = { 0 };

		program(scripts[i]);
		ASSERT_EQm(scripts[i], 0, finish(&helper, NS_PER_S));
	}
	PASS();
}

TEST endless_output_is_cut(void)
{
	struct gpu_helper helper = { 0 };

	program("i=0; while [ $i -lt 3000 ]; do echo 77; i=$((i + 1)); done");
	ASSERT_EQ(770, finish(&helper, NS_PER_S));
	ASSERT(helper.len <= GPU_TEXT_MAX);
	PASS();
}

TEST without_the_program_nothing_is_started(void)
{
	struct gpu_helper helper = { 0 };

	setenv("PATH", "/nonexistent:relative", 1);
	ASSERT_EQ(0, gpu_of_helper(&helper, NS_PER_S));
	ASSERT_EQ(0, helper.pid);
	program("echo 60");
	gpu_of_helper(&helper, 2 * NS_PER_S);
	ASSERT_EQm("the program isn't looked for all the time", 0, helper.pid);
	ASSERT_EQ(600, finish(&helper, 62 * NS_PER_S));
	unsetenv("PATH");
	helper = (struct gpu_helper){ 0 };
	ASSERT_EQ(0, gpu_of_helper(&helper, NS_PER_S));
	ASSERT_EQ(0, helper.pid);
	PASS();
}

TEST end_leaves_no_helper(void)
{
	struct gpu_helper helper = { 0 };

	program("while :; do :; done");
	gpu_of_helper(&helper, NS_PER_S);
	ASSERT(helper.pid > 0);
	gpu_helper_end(&helper);
	ASSERT_EQ(0, helper.pid);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	char *old = getenv("PATH"), kept[8192];

	snprintf(kept, sizeof(kept), "%s", old ? old : "/usr/bin:/bin");
	snprintf(dir, sizeof(dir), "/tmp/titan-gpu.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	GREATEST_MAIN_BEGIN();
	RUN_TEST(percentages_are_read_line_by_line);
	RUN_TEST(busiest_card_of_the_kernel_counts);
	RUN_TEST(helper_tells_and_is_asked_again_later);
	RUN_TEST(helper_that_hangs_is_killed_and_what_it_told_before_expires);
	RUN_TEST(wrong_output_tells_nothing);
	RUN_TEST(endless_output_is_cut);
	RUN_TEST(without_the_program_nothing_is_started);
	RUN_TEST(end_leaves_no_helper);
	setenv("PATH", kept, 1);
	io_remove_tree(AT_FDCWD, dir);
	GREATEST_MAIN_END();
}
