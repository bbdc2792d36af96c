/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free spaces wait in a list with their descriptors open. Whether an attempt left something behind is
 * seen by its directory's change time, or by reading it when the time is too fresh to be told apart.
 */
#include "worker/space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/map.h"
#include "base/mem.h"

#define DIR_NAME  "attempts"
#define FREE_MAX  256u
#define TICK_NS   (20 * NS_PER_MS)       /* change times may lag by a tick of the kernel */
#define NAME_SIZE 40

struct removal {
	struct removal *next;
	char name[NAME_SIZE];
};

struct spaces {
	int fd;
	uint64_t next_id;
	uint64_t next_gone;
	struct space *free;
	struct space *resting;           /* free once it is written down that their attempts have ended */
	uint32_t free_count;             /* of both */
	struct map claimed;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;            /* what follows */
	pthread_cond_t changed;
	struct removal *removals;
	bool ending;
};

static void *removal_thread(void *data)
{
	struct spaces *spaces = data;

	pthread_mutex_lock(&spaces->lock);
	while (!spaces->ending) {
		struct removal *removal = spaces->removals;

		if (!removal) {
			pthread_cond_wait(&spaces->changed, &spaces->lock);
			continue;
		}
		spaces->removals = removal->next;
		pthread_mutex_unlock(&spaces->lock);
		/* What can't be removed now is swept at the keeper's next start. */
		(void)io_remove_tree(spaces->fd, removal->name);
		mem_free(removal);
		pthread_mutex_lock(&spaces->lock);
	}
	pthread_mutex_unlock(&spaces->lock);
	return NULL;
}

enum err spaces_open(int worker_fd, struct spaces **ret_spaces, struct error *error)
{
	struct spaces *spaces;
	int fd;

	if (mkdirat(worker_fd, DIR_NAME, 0700) < 0 && errno != EEXIST)
		return error_system(error, errno, "the directory of attempts can't be made");
	fd = openat(worker_fd, DIR_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return error_system(error, errno, "the directory of attempts can't be opened");
	spaces = mem_zalloc(sizeof(*spaces));
	spaces->fd = fd;
	spaces->next_id = 1;
	pthread_mutex_init(&spaces->lock, NULL);
	pthread_cond_init(&spaces->changed, NULL);
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
	pthread_mutex_lock(&spaces->lock);
	spaces->ending = true;
	pthread_cond_signal(&spaces->changed);
	pthread_mutex_unlock(&spaces->lock);
	if (spaces->has_thread)
		pthread_join(spaces->thread, NULL);
	while (spaces->removals) {
		struct removal *removal = spaces->removals;

		spaces->removals = removal->next;
		mem_free(removal);
	}
	spaces_rested(spaces);
	while (spaces->free) {
		struct space *space = spaces->free;

		spaces->free = space->next;
		space_forget(space);
	}
	map_free(&spaces->claimed);
	close(spaces->fd);
	pthread_cond_destroy(&spaces->changed);
	pthread_mutex_destroy(&spaces->lock);
	mem_free(spaces);
}

static void name_of(uint64_t id, const char *suffix, char out[NAME_SIZE])
{
	snprintf(out, NAME_SIZE, "%llu%s", (unsigned long long)id, suffix);
}

/* Out of the way now, removed when there is time. */
static void remove_later(struct spaces *spaces, const char *name)
{
	struct removal *removal = mem_zalloc(sizeof(*removal));

	snprintf(removal->name, sizeof(removal->name), "gone.%llu", (unsigned long long)spaces->next_gone++);
	if (renameat(spaces->fd, name, spaces->fd, removal->name) < 0) {
		mem_free(removal);
		(void)io_remove_tree(spaces->fd, name);
		return;
	}
	pthread_mutex_lock(&spaces->lock);
	removal->next = spaces->removals;
	spaces->removals = removal;
	pthread_cond_signal(&spaces->changed);
	pthread_mutex_unlock(&spaces->lock);
	if (!spaces->has_thread)
		spaces->has_thread = pthread_create(&spaces->thread, NULL, removal_thread, spaces) == 0;
}

static int64_t change_time(const struct stat *st)
{
	return st->st_ctim.tv_sec * NS_PER_S + st->st_ctim.tv_nsec;
}

static int open_dir(struct spaces *spaces, struct space *space, bool make)
{
	char name[NAME_SIZE];
	struct stat st;

	name_of(space->id, "", name);
	if (make && mkdirat(spaces->fd, name, 0700) < 0)
		return -errno;
	space->dir_fd = openat(spaces->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (space->dir_fd < 0 || fstat(space->dir_fd, &st) < 0)
		return -errno;
	space->clean_ns = change_time(&st);
	return 0;
}

static int open_files(struct spaces *spaces, struct space *space, int flags)
{
	char name[NAME_SIZE];

	flags |= O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
	name_of(space->id, ".out", name);
	space->out_fd = openat(spaces->fd, name, flags, 0600);
	if (space->out_fd < 0)
		return -errno;
	name_of(space->id, ".err", name);
	space->err_fd = openat(spaces->fd, name, flags, 0600);
	return space->err_fd < 0 ? -errno : 0;
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
	while ((entry = readdir(dir))) {
		char *end;
		uint64_t id = strtoull(entry->d_name, &end, 10);

		if (entry->d_name[0] == '.')
			continue;
		if (end > entry->d_name && id < spaces->next_id && map_get(&spaces->claimed, id))
			continue;
		(void)io_remove_tree(spaces->fd, entry->d_name);
	}
	closedir(dir);
	map_free(&spaces->claimed);
}

static void unlink_files(struct spaces *spaces, const struct space *space)
{
	char name[NAME_SIZE];

	name_of(space->id, ".out", name);
	unlinkat(spaces->fd, name, 0);
	name_of(space->id, ".err", name);
	unlinkat(spaces->fd, name, 0);
}

struct space *space_take(struct spaces *spaces)
{
	struct space *space = spaces->free;
	struct timespec wall;
	int result;

	if (space) {
		spaces->free = space->next;
		spaces->free_count--;
	} else {
		space = space_new(spaces->next_id++);
		result = open_files(spaces, space, O_CREAT | O_EXCL);
		if (result < 0)
			goto failed;
	}
	space->next = NULL;
	clock_gettime(CLOCK_REALTIME_COARSE, &wall);
	space->taken_ns = wall.tv_sec * NS_PER_S + wall.tv_nsec;
	if (space->dir_fd < 0) {
		result = open_dir(spaces, space, true);
		if (result < 0)
			goto failed;
	}
	return space;
failed:
	unlink_files(spaces, space);
	space_forget(space);
	errno = -result;
	return NULL;
}

static const char *const pipe_suffixes[2] = { ".out.pipe", ".err.pipe" };

int space_open_pipes(struct spaces *spaces, struct space *space, bool make)
{
	const int files[2] = { space->out_fd, space->err_fd };
	char name[NAME_SIZE];
	int result = 0;

	/* What one of them holds counts though the other can't be had. */
	for (int i = 0; i < 2; i++) {
		name_of(space->id, pipe_suffixes[i], name);
		if (make && mkfifoat(spaces->fd, name, 0600) < 0 && errno != EEXIST) {
			result = -errno;
			continue;
		}
		space->pipe_fds[i] = openat(spaces->fd, name, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
		/* What is spliced says where it goes. */
		if (space->pipe_fds[i] < 0 || fcntl(files[i], F_SETFL, 0) < 0)
			result = -errno;
	}
	return result;
}

int space_open_pipe_end(struct spaces *spaces, const struct space *space, int stream)
{
	char name[NAME_SIZE];
	int fd;

	name_of(space->id, pipe_suffixes[stream], name);
	/* For both ways, so that a job whose keeper and link are gone waits instead of being killed by SIGPIPE. */
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

/* *plain becomes false when it isn't as it was made: then it serves nobody else. */
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

/* Empty, and still as it was made. */
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

/* Files for the next one. An attempt may have changed the flags that its descriptors share with ours. */
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
	char name[NAME_SIZE];

	if (!is_clean(space)) {
		name_of(space->id, "", name);
		close(space->dir_fd);
		space->dir_fd = -1;
		remove_later(spaces, name);
	}
	if (spaces->free_count >= FREE_MAX || !files_ready(space)) {
		name_of(space->id, "", name);
		if (space->dir_fd >= 0)
			remove_later(spaces, name);
		unlink_files(spaces, space);
		space_forget(space);
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
