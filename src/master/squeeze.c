/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Compresses logs in an order that is safe against crashes: write the compressed form under a temporary name, sync it,
 * rename it, sync the directory, and only then unlink the plain form. The last two steps are done for many files
 * together. After each step it pauses for as long as the step took, so that output of running jobs and the store's
 * syncs come first.
 */
#include "master/squeeze.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "master/logfile.h"
#include "proto/limits.h"

#define NAMES_AT_ONCE  256u              /* names read from a directory in one step */
#define RENAMED_MAX 64u               /* files whose new names are synced together */
#define TEMPORARY      ".zst.new"
#define PATIENCE_NS    (200 * NS_PER_MS)
#define PATIENCE_MAX_NS (60 * NS_PER_S)

struct name {
	uint64_t job, epoch;
};

struct squeezing {
	uint64_t run;
	int fd;                          /* descriptor of the run's directory */
	DIR *dir;                        /* the run's directory while its names are being listed */
	struct name *files;
	size_t count, cap, at;
	struct name renamed[RENAMED_MAX];     /* files already renamed; their plain forms still exist */
	size_t renamed_count;
	struct packer *packer;           /* packs the log files[at]; NULL: not begun */
	struct logfile from;
	int to_fd;
	uint64_t done;                   /* bytes of the plain form packed so far */
	struct logpack_facts facts;
	bool complained, busy; /* busy: one of the run's logs is still being written, so it is tried again later */
};

void squeeze_init(struct squeeze *squeeze, int dir_fd,
		  bool (*release_cb)(void *arg, uint64_t run, uint64_t job, uint64_t epoch), void *arg)
{
	*squeeze = (struct squeeze){ .dir_fd = dir_fd, .release_cb = release_cb, .arg = arg, .due_ns = TIME_NEVER,
				     .patience_ns = PATIENCE_NS };
}

static void append(uint64_t **list, size_t *count, size_t *cap, uint64_t run)
{
	if (*count == *cap) {
		*cap = *cap ? *cap * 2 : 64;
		*list = mem_resize(*list, *cap, sizeof(**list));
	}
	(*list)[(*count)++] = run;
}

static void add(struct squeeze *squeeze, uint64_t run)
{
	/* From time to time, remove the entries that were already taken from the front. */
	if (squeeze->run_at > 4096 && squeeze->run_at * 2 > squeeze->run_count) {
		squeeze->run_count -= squeeze->run_at;
		memmove(squeeze->runs, squeeze->runs + squeeze->run_at, squeeze->run_count * sizeof(*squeeze->runs));
		squeeze->run_at = 0;
	}
	append(&squeeze->runs, &squeeze->run_count, &squeeze->run_cap, run);
	squeeze->stats.runs_waiting++;
	/* If no other run waits, begin at once. */
	if (!squeeze->now && squeeze->run_count == squeeze->run_at + 1)
		squeeze->due_ns = clock_mono_ns();
}

void squeeze_add(struct squeeze *squeeze, uint64_t run)
{
	if (logpack_able())
		add(squeeze, run);
}

static bool is_live(const uint64_t *live, size_t count, uint64_t run)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (live[middle] < run)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && live[low] == run;
}

void squeeze_add_all(struct squeeze *squeeze, const uint64_t *live, size_t count)
{
	int fd = logpack_able() ? openat(squeeze->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *end;
		uint64_t run = strtoull(entry->d_name, &end, 10);

		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && *end == '\0' && !is_live(live, count, run))
			add(squeeze, run);
	}
	if (dir)
		closedir(dir);
}

/* ---- one file ---- */

static void end_file(struct squeeze *squeeze, struct squeezing *now)
{
	packer_free(now->packer);
	now->packer = NULL;
	logfile_free(&now->from);
	if (now->to_fd >= 0)
		close(now->to_fd);
	now->to_fd = -1;
	now->at++;
	squeeze->stats.files_waiting--;
}

/* Leave the log uncompressed: only disk space is lost. */
static void give_up(struct squeeze *squeeze, struct squeezing *now, int result)
{
	char name[LOGFILE_NAME], temporary[LOGFILE_NAME];

	logfile_name(&now->from, "", name);
	logfile_name(&now->from, TEMPORARY, temporary);
	now->busy |= result == -EBUSY;
	if (result < 0 && result != -ENOENT && result != -EBUSY && !now->complained) {
		log_warn_limited("the log %s, and perhaps other logs of its run, can't be compressed: %s", name, strerror(-result));
		now->complained = true;
	}
	if (now->to_fd >= 0)
		unlinkat(squeeze->dir_fd, temporary, 0);
	end_file(squeeze, now);
}

static int begin_file(struct squeeze *squeeze, struct squeezing *now)
{
	const struct name *file = &now->files[now->at];
	char name[LOGFILE_NAME];
	struct stat info;

	logfile_init(&now->from, now->run, file->job, file->epoch);
	now->done = 0;
	now->facts = (struct logpack_facts){ .size = 0 };
	if (!squeeze->release_cb(squeeze->arg, now->run, file->job, file->epoch))
		return -EBUSY;
	logfile_name(&now->from, "", name);
	now->from.fd = openat(squeeze->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (now->from.fd < 0 || fstat(now->from.fd, &info) < 0)
		return -errno;
	now->from.size = (uint64_t)info.st_size;
	now->from.known = true;
	logfile_name(&now->from, TEMPORARY, name);
	now->to_fd = openat(squeeze->dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (now->to_fd < 0)
		return -errno;
	now->packer = packer_new(now->to_fd);
	return 0;
}

static int end_pack(struct squeeze *squeeze, struct squeezing *now)
{
	char temporary[LOGFILE_NAME], name[LOGFILE_NAME];
	int result;

	now->facts.size = now->done;
	result = packer_end(now->packer, &now->facts);
	if (result == 0 && fdatasync(now->to_fd) < 0)
		result = -errno;
	logfile_name(&now->from, TEMPORARY, temporary);
	logfile_name(&now->from, ".zst", name);
	if (result == 0 && renameat(squeeze->dir_fd, temporary, squeeze->dir_fd, name) < 0)
		result = -errno;
	if (result < 0)
		return result;
	squeeze->stats.files++;
	squeeze->stats.bytes_before += now->from.size;
	squeeze->stats.bytes_after += packer_size(now->packer);
	now->renamed[now->renamed_count++] = now->files[now->at];
	end_file(squeeze, now);
	return 0;
}

/* Compress one more frame. */
static int pack_some(struct squeeze *squeeze, struct squeezing *now)
{
	struct arena arena = { 0 };
	struct slice records = { 0 };
	int result = logfile_records(&now->from, now->done, &arena, &records);

	/* An incomplete end isn't part of the log, whether or not the log has been opened since. */
	if (result == -EIO) {
		records.len = 0;
		result = 0;
	}
	if (result == 0 && records.len > 0)
		result = packer_add(now->packer, records);
	if (result == 0) {
		logfile_learn(records, &now->facts);
		now->done += records.len;
		/* Start writing to disk now, so that the final sync is short. */
		sync_file_range(now->to_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	}
	arena_free(&arena);
	if (result == 0 && (records.len == 0 || now->done == now->from.size))
		result = end_pack(squeeze, now);
	return result;
}

/* ---- one run ---- */

/* Sync the directory with the new names, then unlink the plain forms. */
static void names_sync(struct squeeze *squeeze, struct squeezing *now)
{
	bool synced = fsync(now->fd) == 0;

	if (!synced)
		log_warn_limited("the logs of run %llu can't be compressed: %s", (unsigned long long)now->run, strerror(errno));
	for (size_t i = 0; i < now->renamed_count; i++) {
		const struct name *file = &now->renamed[i];
		char name[LOGFILE_NAME];

		if (!synced || file->job == 0)
			continue;
		if (!squeeze->release_cb(squeeze->arg, now->run, file->job, file->epoch)) {
			now->busy = true;
			continue;
		}
		snprintf(name, sizeof(name), "%llu.%llu", (unsigned long long)file->job, (unsigned long long)file->epoch);
		unlinkat(now->fd, name, 0);
	}
	now->renamed_count = 0;
}

static void end_run(struct squeeze *squeeze)
{
	struct squeezing *now = squeeze->now;

	squeeze->now = NULL;
	if (now->busy) {
		append(&squeeze->later, &squeeze->later_count, &squeeze->later_cap, now->run);
		squeeze->stats.runs_waiting++;
	}
	if (now->dir)
		closedir(now->dir);
	if (now->fd >= 0)
		close(now->fd);
	squeeze->stats.files_waiting -= now->count - now->at;
	mem_free(now->files);
	mem_free(now);
}

static void begin_run(struct squeeze *squeeze)
{
	struct squeezing *now = mem_zalloc(sizeof(*now));
	char name[LOGFILE_NAME];
	int fd;

	now->run = squeeze->runs[squeeze->run_at++];
	if (squeeze->run_at == squeeze->run_count)
		squeeze->run_at = squeeze->run_count = 0;
	squeeze->stats.runs_waiting--;
	squeeze->now = now;
	now->to_fd = -1;
	snprintf(name, sizeof(name), "%llu", (unsigned long long)now->run);
	now->fd = openat(squeeze->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* Most runs without a directory have written no output. */
	fd = now->fd < 0 ? -1 : openat(now->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	now->dir = fd < 0 ? NULL : fdopendir(fd);
	if (now->fd < 0)
		end_run(squeeze);
}

static void take_name(struct squeeze *squeeze, struct squeezing *now, const char *name)
{
	const size_t len = strlen(name);
	struct name file;
	struct stat info;
	char *end;

	if (len > 4 && strcmp(name + len - 4, ".new") == 0) {
		/* remove a temporary file left by a master that died while writing it */
		unlinkat(now->fd, name, 0);
		return;
	}
	file.job = strtoull(name, &end, 10);
	if (name[0] < '0' || name[0] > '9' || file.job == 0 || *end != '.' || end[1] < '0' || end[1] > '9')
		return;
	file.epoch = strtoull(end + 1, &end, 10);
	if (*end != '\0' || fstatat(now->fd, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(info.st_mode) ||
	    info.st_size < LIMIT_LOG_SQUEEZE_MIN)
		return;
	if (now->count == now->cap) {
		now->cap = now->cap ? now->cap * 2 : 64;
		now->files = mem_resize(now->files, now->cap, sizeof(*now->files));
	}
	now->files[now->count++] = file;
	squeeze->stats.files_waiting++;
}

static void list_some(struct squeeze *squeeze, struct squeezing *now)
{
	for (size_t i = 0; i < NAMES_AT_ONCE; i++) {
		const struct dirent *entry = readdir(now->dir);

		if (!entry) {
			closedir(now->dir);
			now->dir = NULL;
			return;
		}
		take_name(squeeze, now, entry->d_name);
	}
}

static void work(struct squeeze *squeeze)
{
	struct squeezing *now = squeeze->now;
	int result;

	if (!now) {
		begin_run(squeeze);
	} else if (now->dir) {
		list_some(squeeze, now);
	} else if (now->renamed_count == RENAMED_MAX || (now->at == now->count && now->renamed_count > 0)) {
		names_sync(squeeze, now);
	} else if (now->at == now->count) {
		end_run(squeeze);
	} else {
		result = now->packer ? pack_some(squeeze, now) : begin_file(squeeze, now);
		if (result < 0)
			give_up(squeeze, now, result);
	}
}

void squeeze_step(struct squeeze *squeeze)
{
	int64_t before_ns = clock_mono_ns(), after_ns;

	/* If no other run waits, continue with the runs that were put off. */
	if (!squeeze->now && squeeze->run_at == squeeze->run_count && squeeze->later_count > 0) {
		for (size_t i = 0; i < squeeze->later_count; i++)
			append(&squeeze->runs, &squeeze->run_count, &squeeze->run_cap, squeeze->later[i]);
		squeeze->later_count = 0;
		squeeze->patience_ns = squeeze->patience_ns < PATIENCE_MAX_NS ? 2 * squeeze->patience_ns : PATIENCE_MAX_NS;
	}
	if (squeeze->now || squeeze->run_count > squeeze->run_at)
		work(squeeze);
	after_ns = clock_mono_ns();
	if (squeeze->now || squeeze->run_count > squeeze->run_at) {
		squeeze->due_ns = after_ns + (after_ns - before_ns);
	} else if (squeeze->later_count > 0) {
		squeeze->due_ns = after_ns + squeeze->patience_ns;
	} else {
		squeeze->due_ns = TIME_NEVER;
		squeeze->patience_ns = PATIENCE_NS;
	}
}

void squeeze_written(struct squeeze *squeeze, uint64_t run, uint64_t job, uint64_t epoch)
{
	struct squeezing *now = squeeze->now;

	if (!now || now->run != run)
		return;
	for (size_t i = 0; i < now->renamed_count; i++)
		if (now->renamed[i].job == job && now->renamed[i].epoch == epoch)
			now->renamed[i].job = 0;         /* keep the plain form, to which more output was written */
	now->busy |= now->packer != NULL || now->renamed_count > 0;
	if (now->packer && now->files[now->at].job == job && now->files[now->at].epoch == epoch)
		give_up(squeeze, now, 0);
}

void squeeze_drop(struct squeeze *squeeze, uint64_t run)
{
	if (!squeeze->now || squeeze->now->run != run)
		return;
	if (squeeze->now->packer)
		give_up(squeeze, squeeze->now, 0);
	squeeze->now->busy = false;
	end_run(squeeze);
}

void squeeze_free(struct squeeze *squeeze)
{
	if (squeeze->now)
		squeeze_drop(squeeze, squeeze->now->run);
	mem_free(squeeze->runs);
	mem_free(squeeze->later);
	squeeze->runs = squeeze->later = NULL;
}
