/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The daemon's log: limits on repeated lines, and rotated files. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "tests/greatest.h"

static char dir[] = "/tmp/titan-test-log-XXXXXX", path[64];
static int real_stderr = -1;

static void setup_cb(void *data)
{
	int fd;

	(void)data;
	strcpy(dir, "/tmp/titan-test-log-XXXXXX");
	if (!mkdtemp(dir))
		abort();
	snprintf(path, sizeof(path), "%s/master.log", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	real_stderr = dup(STDERR_FILENO);
	if (fd < 0 || real_stderr < 0 || dup2(fd, STDERR_FILENO) < 0)
		abort();
	close(fd);
}

static void teardown_cb(void *data)
{
	(void)data;
	if (dup2(real_stderr, STDERR_FILENO) < 0)
		abort();
	close(real_stderr);
	log_to_file("", 0);
	if (io_remove_tree(AT_FDCWD, dir) != 0)
		abort();
}

/* Read the log file with this suffix; false: there is none. */
static bool read_log(const char *suffix, struct buf *out)
{
	char name[80];

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	buf_clear(out);
	return io_read_file(AT_FDCWD, name, 1 << 20, out) == 0;
}

static size_t count_lines(const struct buf *text)
{
	size_t lines = 0;

	for (size_t i = 0; i < text->len; i++)
		lines += text->data[i] == '\n';
	return lines;
}

/* Do the numbers at the ends of the lines follow one another? */
static bool numbers_go_on(struct buf *text, long *last)
{
	for (char *line = strtok((char *)(uintptr_t)buf_cstr(text), "\n"); line; line = strtok(NULL, "\n")) {
		long number = strtol(strrchr(line, ' ') + 1, NULL, 10);

		if (*last != 0 && number != *last + 1)
			return false;
		*last = number;
	}
	return true;
}

TEST a_kind_of_line_is_written_a_few_times_and_then_counted(void)
{
	struct buf text = { 0 };

	for (int i = 0; i < 100000; i++)
		log_warn_limited("peer %d says much", i);
	ASSERT(read_log("", &text));
	ASSERT(count_lines(&text) >= LOG_BURST && count_lines(&text) < LOG_BURST + 10);
	log_left_out();
	ASSERT(read_log("", &text));
	ASSERT(strstr(buf_cstr(&text), "more messages of this kind were left out, such as: peer "));
	/* A limit on one line doesn't silence other lines. */
	log_info("something else");
	ASSERT(read_log("", &text));
	ASSERT(strstr(buf_cstr(&text), "something else\n"));
	buf_free(&text);
	PASS();
}

TEST a_large_file_is_put_aside_and_few_are_kept(void)
{
	static const char *const suffixes[] = { ".3", ".2", ".1", "" };
	struct buf text = { 0 };
	struct stat file;
	char name[80];
	long last = 0;

	log_to_file(path, 4096);
	for (int i = 1; i <= 500; i++)
		log_info("line %d", i);
	for (size_t i = 0; i < 4; i++) {
		ASSERT(read_log(suffixes[i], &text));
		ASSERT(text.len < 4096 + 200);
		ASSERT(numbers_go_on(&text, &last));
	}
	ASSERT_EQ_FMT(500l, last, "%ld");
	ASSERT(!read_log(".4", &text));
	snprintf(name, sizeof(name), "%s.1", path);
	ASSERT(stat(name, &file) == 0 && (file.st_mode & 0777) == 0600);
	buf_free(&text);
	PASS();
}

TEST two_processes_share_a_file_that_is_put_aside(void)
{
	static const char *const suffixes[] = { ".3", ".2", ".1", "" };
	struct buf text = { 0 };
	size_t lines = 0;
	pid_t pid;
	int status;

	log_to_file(path, 8192);
	fflush(NULL);
	pid = fork();
	for (int i = 1; i <= 150; i++)
		log_info("line %d", i);
	if (pid == 0)
		_exit(0);
	ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
	for (size_t i = 0; i < 4; i++)
		if (read_log(suffixes[i], &text))
			lines += count_lines(&text);
	ASSERT_EQ_FMT((size_t)300, lines, "%zu");
	buf_free(&text);
	PASS();
}

TEST a_file_that_was_taken_away_begins_anew(void)
{
	struct buf text = { 0 };

	log_to_file(path, 0);
	ASSERT_EQ(0, unlink(path));
	log_info("unseen");
	log_info("seen");
	ASSERT(read_log("", &text));
	ASSERT_EQ_FMT((size_t)1, count_lines(&text), "%zu");
	buf_free(&text);
	PASS();
}

TEST a_stderr_of_somebody_elses_is_left_alone(void)
{
	struct buf text = { 0 };
	char other[80];

	snprintf(other, sizeof(other), "%s/other.log", dir);
	log_to_file(other, 100);
	for (int i = 1; i <= 50; i++)
		log_info("line %d", i);
	ASSERT(read_log("", &text));
	ASSERT_EQ_FMT((size_t)50, count_lines(&text), "%zu");
	ASSERT(access(other, F_OK) != 0 && errno == ENOENT);
	buf_free(&text);
	PASS();
}

SUITE(base_log)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(a_kind_of_line_is_written_a_few_times_and_then_counted);
	RUN_TEST(a_large_file_is_put_aside_and_few_are_kept);
	RUN_TEST(two_processes_share_a_file_that_is_put_aside);
	RUN_TEST(a_file_that_was_taken_away_begins_anew);
	RUN_TEST(a_stderr_of_somebody_elses_is_left_alone);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(base_log);
	GREATEST_MAIN_END();
}
