/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts the files of an attempt under their names into staged/JOB.EPOCH. No process of a job reaches that directory, so nothing there
 * changes meanwhile. Files that the job may not change are further names of those in the cache; programs and files that it may
 * change are copies. Directories belong to the job.
 */
#include "worker/stage_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

#define NAME_SIZE 48

static void name_of(uint64_t job, uint64_t epoch, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "%" PRIu64 ".%" PRIu64, job, epoch);
}

void stage_remove(struct stager *stager, uint64_t job, uint64_t epoch)
{
	char name[NAME_SIZE];

	name_of(job, epoch, name);
	io_remove_tree(stager->staged_fd, name);
}

static int give(const struct stager *stager, int dir_fd, const char *path)
{
	if (stager->options.uid == (uid_t)-1)
		return 0;
	return fchownat(dir_fd, path, stager->options.uid, stager->options.gid, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int make_dir(const struct stager *stager, int dir_fd, const char *path)
{
	if (mkdirat(dir_fd, path, 0777) < 0)
		return errno == EEXIST ? 0 : -errno;
	return give(stager, dir_fd, path);
}

/* Make the directories above a path. */
static int make_above(const struct stager *stager, int dir_fd, const char *path)
{
	char *above = mem_strdup(path);
	int result = 0;

	for (char *slash = strchr(above, '/'); slash && result == 0; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		result = make_dir(stager, dir_fd, above);
		*slash = '/';
	}
	mem_free(above);
	return result;
}

static int put_file(struct stager *stager, int dir_fd, const char *path, const uint8_t hash[SHA256_SIZE], uint64_t size, bool program, bool writable)
{
	const struct cached *cached = cache_find(stager->cache, hash, size);
	const struct cache_place place = {
		.dir_fd = dir_fd, .path = path, .own = program || writable,
		.mode = (mode_t)(writable ? 0644 : 0444) | (program ? 0111 : 0), .uid = stager->options.uid, .gid = stager->options.gid,
	};

	return cached ? cache_put_at(stager->cache, cached, &place) : -ESTALE;
}

static int put_entry(struct stager *stager, int dir_fd, const struct manifest_entry *entry, bool writable)
{
	char *path = mem_text(entry->path), *target;
	int result;

	switch (entry->kind) {
	case ENTRY_DIR:
		result = make_dir(stager, dir_fd, path);
		break;
	case ENTRY_LINK:
		target = mem_text(entry->target);
		result = symlinkat(target, dir_fd, path) < 0 ? -errno : give(stager, dir_fd, path);
		mem_free(target);
		break;
	default:
		result = put_file(stager, dir_fd, path, entry->hash, entry->size, entry->kind == ENTRY_PROGRAM, writable);
	}
	mem_free(path);
	return result;
}

static int put_dir(struct stager *stager, int dir_fd, const char *path, const struct rec_input *input)
{
	const struct cached *cached = cache_find(stager->cache, input->hash.data, input->size);
	struct manifest manifest = { 0 };
	struct arena arena = { 0 };
	struct buf bytes = { 0 };
	struct error error;
	int result = make_dir(stager, dir_fd, path), fd;

	fd = result == 0 ? openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (result == 0 && fd < 0)
		result = -errno;
	if (result == 0)
		result = cached ? cache_read(stager->cache, cached, &bytes) : -ESTALE;
	if (result == 0 && manifest_read(buf_slice(&bytes), &arena, &manifest, &error) != ERR_NONE)
		result = -EBADMSG;
	for (size_t i = 0; result == 0 && i < manifest.count; i++)
		result = put_entry(stager, fd, &manifest.at[i], input->writable);
	if (fd >= 0)
		close(fd);
	arena_free(&arena);
	buf_free(&bytes);
	return result;
}

static int put_input(struct stager *stager, int dir_fd, const struct rec_input *input)
{
	char *path = mem_text(input->path);
	int result = make_above(stager, dir_fd, path);

	if (result == 0 && input->kind == ASSET_DIR)
		result = put_dir(stager, dir_fd, path, input);
	else if (result == 0)
		result = put_file(stager, dir_fd, path, input->hash.data, input->size, input->kind == ASSET_PROGRAM, input->writable);
	mem_free(path);
	return result;
}

int stage_place(struct stager *stager, const struct staging *staging)
{
	char name[NAME_SIZE];
	int fd, result;

	name_of(staging->job, staging->epoch, name);
	io_remove_tree(stager->staged_fd, name);
	result = mkdirat(stager->staged_fd, name, 0700) < 0 ? -errno : 0;
	fd = result == 0 ? openat(stager->staged_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (result == 0 && fd < 0)
		result = -errno;
	for (size_t i = 0; result == 0 && i < staging->input_count; i++)
		result = put_input(stager, fd, &staging->inputs[i]);
	if (fd >= 0)
		close(fd);
	if (result < 0)
		io_remove_tree(stager->staged_fd, name);
	return result;
}
