/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spaces: the directories and output files of attempts. Free ones wait in a list with their descriptors open. The
 * change time of the directory shows whether an attempt left anything in it; if that time is too recent to tell, the
 * directory is read.
 */
#include "worker/space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "worker/space_remove.h"

#define DIR_NAME  "attempts"
#define FREE_MAX  256u
#define TICK_NS   (20 * NS_PER_MS)       /* change times may lag by a tick of the kernel */
#define NAME_SIZE 40
#define ID_TRIES  1000u                   /* number of names to try if leftovers have taken some */

static const char *const suffixes[3] = { "", ".out", ".err" };

struct spaces {
	int fd;
	uint64_t next_id;
	struct space *free;
	/* spaces that attempts have given back; each becomes free when the spool has recorded the end of its attempt */
	struct space *resting;
	uint32_t free_count;             /* number of spaces in the lists free and resting together */
	struct map claimed;
	struct remover *remover;
	uint64_t mount;                  /* mount id of the directory of attempts */
	uid_t uid;                       /* owner of directories and files; -1: this process */
	gid_t gid;
};

enum err spaces_open(int worker_fd, const struct job_user *user, struct spaces **ret_spaces, struct error *error)
{
	struct io_identity identity;
	struct spaces *spaces;
	char path[PATH_MAX];
	int fd, result;

	snprintf(path, sizeof(path), "%s%s" DIR_NAME, user ? user->place : "", user ? "/" : "");
	if (!user && mkdirat(worker_fd, DIR_NAME, 0700) < 0 && errno != EEXIST)
		return error_system(error, errno, "can't make the directory of attempts");
	fd = openat(worker_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_system(error, errno, "can't open the directory of attempts");
	result = io_identify(fd, "", &identity);
	if (result < 0) {
		close(fd);
		return error_system(error, -result, "can't read the directory of attempts");
	}
	spaces = mem_zalloc(sizeof(*spaces));
	spaces->fd = fd;
	spaces->mount = identity.mount;
	spaces->uid = user ? user->uid : (uid_t)-1;
	spaces->gid = user ? user->gid : (gid_t)-1;
	spaces->next_id = 1;
	spaces->remover = remover_new(fd);
	*ret_spaces = spaces;
	return ERR_NONE;
}

void space_forget(struct space *space)
{
	if (!space)
		return;
	if (space->dir_fd >= 0)
		close(space->dir_fd);
	if (space->out_fd >= 0)
		close(space->out_fd);
	if (space->err_fd >= 0)
		close(space->err_fd);
	for (int i = 0; i < 2; i++)
		if (space->pipe_fds[i] >= 0)
			close(space->pipe_fds[i]);
	mem_free(space);
}

void spaces_close(struct spaces *spaces)
{
	if (!spaces)
		return;
	remover_free(spaces->remover);
	spaces_rested(spaces);
	while (spaces->free) {
		struct space *space = spaces->free;

		spaces->free = space->next;
		space_forget(space);
	}
	map_free(&spaces->claimed);
	close(spaces->fd);
	mem_free(spaces);
}

static void name_of(uint64_t id, const char *suffix, char out[NAME_SIZE])
{
	snprintf(out, NAME_SIZE, "%llu%s", (unsigned long long)id, suffix);
}

static int64_t change_time(const struct stat *st)
{
	return st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec;
}

static int open_dir(struct spaces *spaces, struct space *space, bool make)
{
	char name[NAME_SIZE];
	struct stat st;
	int result;

	name_of(space->id, "", name);
	if (make && mkdirat(spaces->fd, name, 0700) < 0)
		return -errno;
	space->dir_fd = openat(spaces->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (space->dir_fd < 0 || (make && fchown(space->dir_fd, spaces->uid, spaces->gid) < 0) || fstat(space->dir_fd, &st) < 0)
		return -errno;
	result = io_identify(space->dir_fd, "", &space->was[0]);
	space->clean_ns = change_time(&st);
	return result;
}

static int open_file(struct spaces *spaces, struct space *space, int which, int flags, int *ret_fd)
{
	char name[NAME_SIZE];

	name_of(space->id, suffixes[which], name);
	*ret_fd = openat(spaces->fd, name, flags | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* The job can open its output again, as /dev/stderr. */
	if (*ret_fd < 0 || (flags & O_CREAT && fchown(*ret_fd, spaces->uid, spaces->gid) < 0))
		return -errno;
	return io_identify(*ret_fd, "", &space->was[which]);
}

static int open_files(struct spaces *spaces, struct space *space, int flags)
{
	int result = open_file(spaces, space, 1, flags, &space->out_fd);

	return result < 0 ? result : open_file(spaces, space, 2, flags, &space->err_fd);
}

static struct space *space_new(uint64_t id)
{
	struct space *space = mem_zalloc(sizeof(*space));

	space->id = id;
	space->dir_fd = space->out_fd = space->err_fd = space->pipe_fds[0] = space->pipe_fds[1] = -1;
	return space;
}

struct space *space_claim(struct spaces *spaces, uint64_t id)
{
	struct space *space = space_new(id);

	if (id >= spaces->next_id)
		spaces->next_id = id + 1;
	if (open_files(spaces, space, 0) < 0 || open_dir(spaces, space, false) < 0) {
		space_forget(space);
		return NULL;
	}
	space->clean_ns = 0;
	map_put(&spaces->claimed, id, space);
	return space;
}

void spaces_sweep(struct spaces *spaces)
{
	int fd = fcntl(spaces->fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir)
		return;
	rewinddir(dir);
	while ((entry = readdir(dir))) {
		char *end;
		uint64_t id = strtoull(entry->d_name, &end, 10);

		if (entry->d_name[0] == '.')
			continue;
		if (end > entry->d_name && id < spaces->next_id && map_get(&spaces->claimed, id))
			continue;
		remover_sweep(spaces->remover, entry->d_name);
	}
	closedir(dir);
	map_free(&spaces->claimed);
}

/* Do the space's names still lead to the open files? A job may have moved one away, or mounted something over it. */
static bool is_as_it_was(const struct spaces *spaces, const struct space *space)
{
	for (size_t i = 0; i < 3; i++) {
		const struct io_identity *was = &space->was[i];
		struct io_identity now;
		char name[NAME_SIZE];

		if (i == 0 && space->dir_fd < 0)
			continue;
		name_of(space->id, suffixes[i], name);
		if (io_identify(spaces->fd, name, &now) < 0 || now.device != was->device || now.inode != was->inode ||
		    now.mount != spaces->mount)
			return false;
	}
	return true;
}

/* Stop using a space: remove what is under its names, or put it aside. */
static void discard(struct spaces *spaces, struct space *space)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < 3; i++) {
		name_of(space->id, suffixes[i], name);
		if (i == 0 || unlinkat(spaces->fd, name, 0) < 0)
			(void)remover_take(spaces->remover, name);
	}
	space_forget(space);
}

/* Make a new space. If its names are taken, try the next number. */
static struct space *make(struct spaces *spaces)
{
	struct space *space = NULL;
	int result = -EEXIST;

	for (unsigned tries = 0; tries < ID_TRIES && result == -EEXIST; tries++) {
		space = space_new(spaces->next_id++);
		result = open_files(spaces, space, O_CREAT | O_EXCL);
		if (result == 0)
			result = open_dir(spaces, space, true);
		if (result == 0)
			return space;
		discard(spaces, space);
	}
	errno = -result;
	return NULL;
}

/*
 * Take the next free space and set *ret_result to 0; discard those that a job has disturbed. NULL: none is free, or
 * *ret_result is the error.
 */
static struct space *take_free(struct spaces *spaces, int *ret_result)
{
	struct space *space;

	*ret_result = 0;
	while ((space = spaces->free)) {
		bool same = is_as_it_was(spaces, space);

		*ret_result = same && space->dir_fd < 0 ? open_dir(spaces, space, true) : 0;
		if (*ret_result < 0 && *ret_result != -EEXIST)
			return NULL;
		spaces->free = space->next;
		spaces->free_count--;
		if (same && *ret_result == 0)
			return space;
		log_warn_limited("attempts/%" PRIu64 " is no longer used: a job moved the directory or its files, or mounted something there",
			 space->id);
		discard(spaces, space);
	}
	return NULL;
}

struct space *space_take(struct spaces *spaces)
{
	struct timespec wall;
	int result;
	struct space *space = take_free(spaces, &result);

	if (!space && spaces->free) {
		errno = -result;
		return NULL;
	}
	if (!space)
		space = make(spaces);
	if (!space)
		return NULL;
	space->next = NULL;
	clock_gettime(CLOCK_REALTIME_COARSE, &wall);
	space->taken_ns = wall.tv_sec * NS_PER_S + wall.tv_nsec;
	return space;
}

static const char *const pipe_suffixes[2] = { ".out.pipe", ".err.pipe" };

int space_open_pipes(struct spaces *spaces, struct space *space, bool make)
{
	const int files[2] = { space->out_fd, space->err_fd };
	char name[NAME_SIZE];
	int result = 0;

	/* If one pipe can't be opened, open the other all the same, because it has output in it. */
	for (int i = 0; i < 2; i++) {
		name_of(space->id, pipe_suffixes[i], name);
		if (make && mkfifoat(spaces->fd, name, 0600) < 0 && errno != EEXIST) {
			result = -errno;
			continue;
		}
		space->pipe_fds[i] = openat(spaces->fd, name, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
		/* splice writes at an offset, which O_APPEND would forbid. */
		if (space->pipe_fds[i] < 0 || (make && fchown(space->pipe_fds[i], spaces->uid, spaces->gid) < 0) || fcntl(files[i], F_SETFL, 0) < 0)
			result = -errno;
	}
	return result;
}

int space_open_pipe_end(struct spaces *spaces, const struct space *space, int stream)
{
	char name[NAME_SIZE];
	int fd;

	name_of(space->id, pipe_suffixes[stream], name);
	/*
	 * Open for reading and writing, so that a job without keeper and link waits instead of being killed by SIGPIPE.
	 */
	fd = openat(spaces->fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

void space_close_pipes(struct spaces *spaces, struct space *space)
{
	char name[NAME_SIZE];

	for (int i = 0; i < 2; i++) {
		if (space->pipe_fds[i] < 0)
			continue;
		close(space->pipe_fds[i]);
		space->pipe_fds[i] = -1;
		name_of(space->id, pipe_suffixes[i], name);
		unlinkat(spaces->fd, name, 0);
	}
}

/*
 * The size of an output file. *plain is set to false if a job has changed its mode or links; then the file isn't used
 * again.
 */
static off_t size_of(int fd, bool *plain)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		*plain = false;
		return 0;
	}
	*plain = *plain && st.st_nlink == 1 && (st.st_mode & 07777) == 0600;
	return st.st_size;
}

void space_sizes(struct space *space, uint64_t ret_sizes[2])
{
	space->plain = true;
	ret_sizes[0] = (uint64_t)size_of(space->out_fd, &space->plain);
	ret_sizes[1] = (uint64_t)size_of(space->err_fd, &space->plain);
	space->empty = ret_sizes[0] + ret_sizes[1] == 0;
}

/* Check that the space's directory is empty and its mode unchanged. */
static bool is_clean(struct space *space)
{
	_Alignas(struct dirent64) char entries[1024];
	struct stat st;
	int64_t changed_ns;

	if (fstat(space->dir_fd, &st) < 0 || (st.st_mode & 07777) != 0700 || st.st_nlink == 0)
		return false;
	changed_ns = change_time(&st);
	if (changed_ns == space->clean_ns && changed_ns < space->taken_ns - TICK_NS)
		return true;
	if (lseek(space->dir_fd, 0, SEEK_SET) < 0)
		return false;
	for (;;) {
		ssize_t size = getdents64(space->dir_fd, entries, sizeof(entries));

		if (size < 0)
			return false;
		if (size == 0)
			break;
		for (ssize_t at = 0; at < size;) {
			const struct dirent64 *entry = (const void *)(entries + at);
			const char *name = entry->d_name;

			if (name[0] != '.' || (name[1] && (name[1] != '.' || name[2])))
				return false;
			at += entry->d_reclen;
		}
	}
	space->clean_ns = changed_ns;
	return true;
}

/*
 * Make the files ready for the next attempt: empty, and in append mode, which an attempt may have changed for the
 * keeper's descriptors as well.
 */
static bool files_ready(const struct space *space)
{
	if (!space->plain)
		return false;
	if (!space->empty && (ftruncate(space->out_fd, 0) < 0 || ftruncate(space->err_fd, 0) < 0))
		return false;
	return fcntl(space->out_fd, F_SETFL, O_APPEND) == 0 && fcntl(space->err_fd, F_SETFL, O_APPEND) == 0;
}

void space_release(struct spaces *spaces, struct space *space)
{
	bool usable = spaces->free_count < FREE_MAX && files_ready(space);
	char name[NAME_SIZE];

	if (usable && !is_clean(space)) {
		name_of(space->id, "", name);
		close(space->dir_fd);
		space->dir_fd = -1;
		usable = remover_take(spaces->remover, name) == 0;
	}
	if (!usable) {
		discard(spaces, space);
		return;
	}
	space->next = spaces->resting;
	spaces->resting = space;
	spaces->free_count++;
}

void spaces_rested(struct spaces *spaces)
{
	struct space *space;

	while ((space = spaces->resting)) {
		spaces->resting = space->next;
		space->next = spaces->free;
		spaces->free = space;
	}
}
