/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Log lines to stderr. Each line is one write, so that lines of several threads and processes don't mix. Lines above a
 * limit are counted; the count is logged with the next line of any kind once the limit allows lines again, so no timer
 * is needed. A log file that is too large is renamed; other processes that write to it notice the rename and open the
 * new file.
 */
#include "base/log.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/text.h"

#define LOG_LINE_MAX 4096
#define SUFFIX_MAX   8                   /* length of a suffix such as ".1", with the NUL */

static const char *log_who = "titan";
static enum log_level log_most = LOG_LEVEL_INFO;
static const char *const level_names[] = { "error", "warn", "info", "debug" };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct log_limit *limits;
static char file_path[PATH_MAX];         /* path of the log file; empty: stderr isn't a file of this daemon */
static size_t file_max;

void log_init(const char *who, enum log_level level)
{
	log_who = who;
	log_most = level;
}

/* ---- the file ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_at_path(const struct stat *file)
{
	struct stat there;

	return lstat(file_path, &there) == 0 && is_same(file, &there);
}

static void put_aside(void)
{
	char from[PATH_MAX + SUFFIX_MAX], to[PATH_MAX + SUFFIX_MAX];

	for (int i = LOG_FILES; i > 0; i--) {
		snprintf(to, sizeof(to), "%s.%d", file_path, i);
		if (i > 1)
			snprintf(from, sizeof(from), "%s.%d", file_path, i - 1);
		else
			snprintf(from, sizeof(from), "%s", file_path);
		/* If the file doesn't exist, or can't be renamed, the next line tries again. */
		(void)rename(from, to);
	}
}

static int open_file(void)
{
	return open(file_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

/* The name now belongs to another file: write there, with stdout as well if it was the same file. */
static void go_to_new_file(const struct stat *old)
{
	struct stat out;
	int fd = open_file();

	if (fd < 0)
		return;
	if (fstat(STDOUT_FILENO, &out) == 0 && is_same(&out, old))
		dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

/*
 * Rename the log file if it is too large, or follow a rename by another process. The lock is taken on a descriptor of
 * this process alone, because inherited descriptors would share the lock.
 */
static void look_at_file(void)
{
	struct stat ours;
	int fd;

	if (file_path[0] == '\0' || fstat(STDERR_FILENO, &ours) != 0)
		return;
	if (is_at_path(&ours)) {
		if ((size_t)ours.st_size < file_max)
			return;
		fd = open_file();
		if (fd < 0)
			return;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && is_at_path(&ours))
			put_aside();
		close(fd);
	}
	if (!is_at_path(&ours))
		go_to_new_file(&ours);
}

void log_to_file(const char *path, size_t max)
{
	struct stat ours;

	pthread_mutex_lock(&lock);
	file_max = max > 0 ? max : LOG_FILE_MAX;
	snprintf(file_path, sizeof(file_path), "%s", path);
	if (fstat(STDERR_FILENO, &ours) != 0 || !S_ISREG(ours.st_mode) || !is_at_path(&ours))
		file_path[0] = '\0';
	look_at_file();
	pthread_mutex_unlock(&lock);
}

/* ---- lines ---- */

static void write_line(enum log_level level, const char *text)
{
	char stamp[CLOCK_TEXT_SIZE];
	struct buf line = { 0 };

	buf_addf(&line, "%s %s %-5s ", clock_format_utc(clock_wall_ms(), stamp), log_who, level_names[level]);
	text_escape(&line, slice_str(text), TEXT_KEEP_NONE);
	buf_add_byte(&line, '\n');
	/* the result is ignored: if stderr is closed, nobody can be told */
	(void)io_write_all(STDERR_FILENO, line.data, line.len);
	buf_free(&line);
	look_at_file();
}

static void refill(struct log_limit *limit)
{
	int64_t now_ns = clock_mono_ns(), more = (now_ns - limit->refilled_ns) / (LOG_REFILL_S * NS_PER_S);

	if (more <= 0)
		return;
	limit->refilled_ns += more * LOG_REFILL_S * NS_PER_S;
	limit->used = limit->used > more ? limit->used - (unsigned)more : 0;
}

static void say_left_out(struct log_limit *limit)
{
	char text[LOG_SAMPLE + 80];

	if (limit->left_out == 0)
		return;
	snprintf(text, sizeof(text), "%llu more messages of this kind were left out, such as: %s", (unsigned long long)limit->left_out,
		 limit->sample);
	limit->left_out = 0;
	write_line(limit->level, text);
}

static void say_all_left_out(bool now)
{
	for (struct log_limit *limit = limits; limit; limit = limit->next) {
		if (limit->left_out == 0)
			continue;
		refill(limit);
		if (!now && limit->used >= LOG_BURST)
			continue;
		limit->used++;
		say_left_out(limit);
	}
}

void log_left_out(void)
{
	pthread_mutex_lock(&lock);
	say_all_left_out(true);
	pthread_mutex_unlock(&lock);
}

void log_write(enum log_level level, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	va_list args;

	if (level > log_most)
		return;
	va_start(args, format);
	if (vsnprintf(text, sizeof(text), format, args) < 0)
		text[0] = '\0';
	va_end(args);
	pthread_mutex_lock(&lock);
	say_all_left_out(false);
	write_line(level, text);
	pthread_mutex_unlock(&lock);
}

/* May this kind of line be logged now? If not, count the line as omitted. */
static bool take_turn(struct log_limit *limit, enum log_level level)
{
	if (!limit->known) {
		limit->known = true;
		limit->level = level;
		limit->refilled_ns = clock_mono_ns();
		limit->next = limits;
		limits = limit;
	}
	refill(limit);
	if (limit->used >= LOG_BURST) {
		limit->left_out++;
		return false;
	}
	limit->used++;
	return true;
}

void log_write_limited(struct log_limit *limit, enum log_level level, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	va_list args;

	if (level > log_most)
		return;
	pthread_mutex_lock(&lock);
	if (take_turn(limit, level)) {
		va_start(args, format);
		if (vsnprintf(text, sizeof(text), format, args) < 0)
			text[0] = '\0';
		va_end(args);
		say_all_left_out(false);
		say_left_out(limit);
		snprintf(limit->sample, sizeof(limit->sample), "%.*s", LOG_SAMPLE - 1, text);
		write_line(level, text);
	}
	pthread_mutex_unlock(&lock);
}
