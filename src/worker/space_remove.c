/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread that removes directory trees one after another. A tree is renamed first, so that its old name is free at
 * once. Names of leftovers that an earlier keeper couldn't remove are skipped.
 */
#include "worker/space_remove.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"

#define NAME_SIZE  40
#define NAME_TRIES 1000                  /* number of names to try if leftovers have taken some */
/* Least time between two log lines: a job can make any number of unremovable files. */
#define SAY_EVERY  (10 * NS_PER_S)

struct space_removal {
	struct space_removal *next;
	char name[NAME_SIZE];
};

struct remover {
	int dir_fd;
	uint64_t next_number;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;            /* guards the fields below */
	pthread_cond_t changed;
	struct space_removal *removals;
	int64_t said_ns;
	uint64_t unsaid;
	bool ending;
};

static void say(struct remover *remover, const char *name, int result)
{
	int64_t now_ns = clock_mono_ns();
	uint64_t unsaid;

	pthread_mutex_lock(&remover->lock);
	unsaid = remover->unsaid;
	if (remover->said_ns && now_ns - remover->said_ns < SAY_EVERY) {
		remover->unsaid++;
		pthread_mutex_unlock(&remover->lock);
		return;
	}
	remover->said_ns = now_ns;
	remover->unsaid = 0;
	pthread_mutex_unlock(&remover->lock);
	log_error_limited("can't remove attempts/%s: %s; it stays until the worker's next start and doesn't affect "
		"other jobs%s", name,
		  result == -EXDEV || result == -EBUSY ? "something is mounted there" : strerror(-result),
		  unsaid > 0 ? ". There are more like it" : "");
}

static void *removal_thread(void *data)
{
	struct remover *remover = data;

	pthread_mutex_lock(&remover->lock);
	while (!remover->ending) {
		struct space_removal *removal = remover->removals;
		int result;

		if (!removal) {
			pthread_cond_wait(&remover->changed, &remover->lock);
			continue;
		}
		remover->removals = removal->next;
		pthread_mutex_unlock(&remover->lock);
		result = io_remove_tree(remover->dir_fd, removal->name);
		if (result < 0)
			say(remover, removal->name, result);
		mem_free(removal);
		pthread_mutex_lock(&remover->lock);
	}
	pthread_mutex_unlock(&remover->lock);
	return NULL;
}

struct remover *remover_new(int dir_fd)
{
	struct remover *remover = mem_zalloc(sizeof(*remover));

	remover->dir_fd = dir_fd;
	pthread_mutex_init(&remover->lock, NULL);
	pthread_cond_init(&remover->changed, NULL);
	return remover;
}

void remover_free(struct remover *remover)
{
	pthread_mutex_lock(&remover->lock);
	remover->ending = true;
	pthread_cond_signal(&remover->changed);
	pthread_mutex_unlock(&remover->lock);
	if (remover->has_thread)
		pthread_join(remover->thread, NULL);
	while (remover->removals) {
		struct space_removal *removal = remover->removals;

		remover->removals = removal->next;
		mem_free(removal);
	}
	pthread_cond_destroy(&remover->changed);
	pthread_mutex_destroy(&remover->lock);
	mem_free(remover);
}

/* Rename to a name that isn't taken. 0 or -errno. */
static int rename_away(struct remover *remover, const char *name, char ret_name[NAME_SIZE])
{
	for (int tries = 0; tries < NAME_TRIES; tries++) {
		snprintf(ret_name, NAME_SIZE, "gone.%" PRIu64, remover->next_number++);
		if (renameat2(remover->dir_fd, name, remover->dir_fd, ret_name, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno == EINVAL && renameat(remover->dir_fd, name, remover->dir_fd, ret_name) == 0)
			return 0;        /* the file system doesn't know RENAME_NOREPLACE */
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR && errno != EISDIR)
			return -errno;
	}
	return -EEXIST;
}

int remover_take(struct remover *remover, const char *name)
{
	struct space_removal *removal = mem_zalloc(sizeof(*removal));
	int result = rename_away(remover, name, removal->name);

	if (result < 0) {
		mem_free(removal);
		if (result == -ENOENT)
			return 0;
		say(remover, name, result);
		return result;
	}
	pthread_mutex_lock(&remover->lock);
	removal->next = remover->removals;
	remover->removals = removal;
	pthread_cond_signal(&remover->changed);
	pthread_mutex_unlock(&remover->lock);
	if (!remover->has_thread)
		remover->has_thread = pthread_create(&remover->thread, NULL, removal_thread, remover) == 0;
	return 0;
}

void remover_sweep(struct remover *remover, const char *name)
{
	int result = io_remove_tree(remover->dir_fd, name);

	if (result < 0)
		say(remover, name, result);
}
