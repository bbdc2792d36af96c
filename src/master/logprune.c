/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Removes or measures the directories of runs, a few files at a time, in the order of the requests. It
 * reports a directory as removed only when the removal would survive a power cut.
 */
#include "master/logprune.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"

#define SLICE_REMOVE  32                 /* most files removed in one step */
#define SLICE_MEASURE 256
#define PASSES_MAX    8                  /* most passes over a directory to which files are still added */
#define NAME_SIZE     24

struct prune_work {
	uint64_t run;                    /* number of the run to remove; 0: measure all runs */
	uint64_t bytes;
	struct prune_work *next;
};

void logprune_init(struct logprune *prune, int logs_fd, void (*answer_cb)(void *arg, struct log_answer *answer), void *arg)
{
	*prune = (struct logprune){ .logs_fd = logs_fd, .answer_cb = answer_cb, .arg = arg };
}

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
	*dir = NULL;
}

static void work_next(struct logprune *prune)
{
	struct prune_work *work = prune->first;

	prune->first = work->next;
	if (!prune->first)
		prune->last = NULL;
	mem_free(work);
	close_dir(&prune->dir);
	close_dir(&prune->all);
	prune->passes = 0;
}

void logprune_free(struct logprune *prune)
{
	while (prune->first)
		work_next(prune);
	mem_free(prune->sizes);
}

static void work_add(struct logprune *prune, uint64_t run)
{
	struct prune_work *work = mem_zalloc(sizeof(*work));

	work->run = run;
	if (prune->last)
		prune->last->next = work;
	else
		prune->first = work;
	prune->last = work;
}

void logprune_remove(struct logprune *prune, uint64_t run)
{
	work_add(prune, run);
}

void logprune_measure(struct logprune *prune)
{
	work_add(prune, 0);
}

bool logprune_busy(const struct logprune *prune)
{
	return prune->first || prune->done_count > 0;
}

static int open_dir(const struct logprune *prune, const char *name, DIR **ret_dir)
{
	int fd = openat(prune->logs_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		int result = -errno;

		close(fd);
		return result;
	}
	*ret_dir = dir;
	return 0;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* ---- removing ---- */

static void answer_removed(struct logprune *prune)
{
	struct log_answer *answer;

	if (prune->done_count == 0)
		return;
	if (fsync(prune->logs_fd) < 0)
		log_warn("can't sync the directory of logs: %s", strerror(errno));
	answer = mem_zalloc(sizeof(*answer));
	answer->kind = LOG_REMOVED;
	answer->sizes = mem_array(prune->done_count, sizeof(*answer->sizes));
	memcpy(answer->sizes, prune->done, prune->done_count * sizeof(*answer->sizes));
	answer->size_count = prune->done_count;
	prune->done_count = 0;
	prune->answer_cb(prune->arg, answer);
}

/* Report a run as done even if its logs couldn't be removed, so that the requester doesn't wait for ever. */
static void removed(struct logprune *prune, int result)
{
	struct prune_work *work = prune->first;

	if (result < 0)
		log_warn_limited("can't remove the logs of run %" PRIu64 ": %s (the master tries again at its next prune or start)", work->run,
			 strerror(-result));
	prune->done[prune->done_count++] = (struct log_size){ .run = work->run, .bytes = work->bytes, .failed = result < 0 };
	work_next(prune);
	if (prune->done_count == LOGPRUNE_SYNCED)
		answer_removed(prune);
}

static int remove_file(struct logprune *prune, const char *name)
{
	struct stat info;

	if (fstatat(dirfd(prune->dir), name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
		prune->first->bytes += (uint64_t)info.st_size;
	return io_remove_tree(dirfd(prune->dir), name);
}

static void remove_some(struct logprune *prune)
{
	char name[NAME_SIZE];
	struct dirent *entry = NULL;
	int result = 0;

	snprintf(name, sizeof(name), "%" PRIu64, prune->first->run);
	if (!prune->dir)
		result = open_dir(prune, name, &prune->dir);
	for (int files = 0; result == 0 && files < SLICE_REMOVE && (errno = 0, entry = readdir(prune->dir)); files++)
		if (!is_dots(entry->d_name))
			result = remove_file(prune, entry->d_name);
	if (result == 0 && entry)
		return;
	if (result == 0 && errno)
		result = -errno;
	if (result == 0 && unlinkat(prune->logs_fd, name, AT_REMOVEDIR) < 0)
		result = -errno;
	/* Files added while the directory was read may have been missed: read it again. */
	if (result == -ENOTEMPTY && ++prune->passes < PASSES_MAX) {
		rewinddir(prune->dir);
		return;
	}
	removed(prune, result == -ENOENT ? 0 : result);
}

/* ---- measuring ---- */

static void answer_sizes(struct logprune *prune, int result)
{
	struct log_answer *answer = mem_zalloc(sizeof(*answer));

	if (result < 0)
		log_warn("can't measure the size of the logs: %s", strerror(-result));
	answer->kind = LOG_MEASURED;
	answer->sizes = prune->sizes;
	answer->size_count = prune->size_count;
	prune->sizes = NULL;
	prune->size_count = prune->size_cap = 0;
	work_next(prune);
	prune->answer_cb(prune->arg, answer);
}

static bool run_number(const char *name, uint64_t *ret_run)
{
	char *end;
	unsigned long long run;

	errno = 0;
	run = strtoull(name, &end, 10);
	if (name[0] < '1' || name[0] > '9' || *end != '\0' || errno)
		return false;
	*ret_run = run;
	return true;
}

/* Open the next run's directory; false: there are no more, or it can't be read. */
static bool measure_next(struct logprune *prune, int *ret_result)
{
	struct dirent *entry;
	uint64_t run;

	while ((errno = 0, entry = readdir(prune->all))) {
		if (!run_number(entry->d_name, &run) || open_dir(prune, entry->d_name, &prune->dir) < 0)
			continue;
		if (prune->size_count == prune->size_cap) {
			prune->size_cap = prune->size_cap ? prune->size_cap * 2 : 64;
			prune->sizes = mem_resize(prune->sizes, prune->size_cap, sizeof(*prune->sizes));
		}
		prune->sizes[prune->size_count++] = (struct log_size){ .run = run };
		return true;
	}
	*ret_result = -errno;
	return false;
}

/* Is this a second form of a log? While a log is packed or unpacked both forms exist, and only one must be counted. */
static bool is_second_form(const struct logprune *prune, const char *name)
{
	const size_t len = strlen(name);
	char plain[NAME_MAX + 1];
	struct stat info;

	if (len > 4 && strcmp(name + len - 4, ".new") == 0)
		return true;
	if (len <= 4 || strcmp(name + len - 4, ".zst") != 0)
		return false;
	snprintf(plain, sizeof(plain), "%.*s", (int)len - 4, name);
	return fstatat(dirfd(prune->dir), plain, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static void measure_some(struct logprune *prune)
{
	int result = prune->all ? 0 : open_dir(prune, ".", &prune->all);

	for (int files = 0; result == 0 && files < SLICE_MEASURE; files++) {
		struct dirent *entry = prune->dir ? readdir(prune->dir) : NULL;
		struct stat info;

		if (entry && !is_dots(entry->d_name) && !is_second_form(prune, entry->d_name) &&
		    fstatat(dirfd(prune->dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
			prune->sizes[prune->size_count - 1].bytes += (uint64_t)info.st_size;
		if (entry)
			continue;
		close_dir(&prune->dir);
		if (!measure_next(prune, &result)) {
			answer_sizes(prune, result);
			return;
		}
	}
	if (result < 0)
		answer_sizes(prune, result);
}

void logprune_some(struct logprune *prune)
{
	if (!prune->first)
		answer_removed(prune);
	else if (prune->first->run == 0)
		measure_some(prune);
	else
		remove_some(prune);
}
