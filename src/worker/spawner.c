/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads of the keeper in which processes are started. A start blocks its thread until the exec, perhaps for
 * ever: directory, program or interpreter may lie on a file system whose server is gone. So the keeper waits
 * a moment for the thread, then leaves the hanging start to it; the next start gets another thread.
 *
 * A thread never ends: a job that must die with its keeper dies with the thread that started it
 * (PR_SET_PDEATHSIG).
 */
#include "worker/spawn_internal.h"

#include <errno.h>
#include <signal.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define PATIENCE_NS (50 * NS_PER_MS)     /* a start that takes longer than this counts as hanging */
/* Time between checks whether the process is made, which happens before anything that may hang. */
#define BIRTH_NS    NS_PER_MS

struct spawner {
	struct spawner *next;            /* next in the list of idle threads */
	struct spawn_request request;
	struct spawn_work work;
	struct spawn_result result;
	sem_t go, done;
	atomic_bool late;                /* the keeper no longer waits for this start: SIGCHLD tells it */
	atomic_bool ended;
	struct spawn_texts texts;        /* memory of a start that hangs */
};

static struct spawner *idle;

static void *spawner_main(void *data)
{
	struct spawner *spawner = data;

	for (;;) {
		while (sem_wait(&spawner->go) < 0)
			;
		spawn_work(&spawner->work, &spawner->request, &spawner->result);
		atomic_store(&spawner->ended, true);
		sem_post(&spawner->done);
		if (atomic_load(&spawner->late))
			kill(getpid(), SIGCHLD);
	}
	return NULL;
}

static struct spawner *spawner_new(void)
{
	struct spawner *spawner = mem_zalloc(sizeof(*spawner));
	pthread_t thread;

	sem_init(&spawner->go, 0, 0);
	sem_init(&spawner->done, 0, 0);
	if (pthread_create(&thread, NULL, spawner_main, spawner) == 0) {
		pthread_detach(thread);
		return spawner;
	}
	sem_destroy(&spawner->go);
	sem_destroy(&spawner->done);
	mem_free(spawner);
	return NULL;
}

/* Wait for the start until until_ns. False: it hasn't ended by then. */
static bool wait_until(struct spawner *spawner, int64_t until_ns)
{
	const struct timespec until = { .tv_sec = until_ns / NS_PER_S, .tv_nsec = until_ns % NS_PER_S };
	int result;

	do
		result = sem_clockwait(&spawner->done, CLOCK_MONOTONIC, &until);
	while (result < 0 && errno == EINTR);
	return result == 0;
}

static void spawner_rest(struct spawner *spawner)
{
	buf_free(&spawner->texts.pointers);
	buf_free(&spawner->texts.facts);
	mem_free(spawner->texts.list);
	mem_free(spawner->texts.strings);
	spawner->texts = (struct spawn_texts){ 0 };
	spawner->next = idle;
	idle = spawner;
}

/* Stop waiting for a hanging start. True: it is left to its thread; false: it has just ended. */
static bool leave(struct spawner *spawner)
{
	atomic_store(&spawner->late, true);
	/* If the start ended before the flag was set, no SIGCHLD comes for it. */
	return !atomic_load(&spawner->ended) || !wait_until(spawner, INT64_MAX);
}

int spawn_run(const struct spawn_request *request, pid_t *ret_pid, int *ret_status_fd, struct spawner **ret_late)
{
	struct spawner *spawner = idle ? idle : spawner_new();
	int64_t until_ns = clock_mono_ns() + PATIENCE_NS;
	int fault;

	*ret_late = NULL;
	*ret_status_fd = -1;
	if (!spawner)
		return EAGAIN;
	if (spawner == idle)
		idle = spawner->next;
	spawner->request = *request;
	spawner->result = (struct spawn_result){ .status_fd = -1 };
	atomic_store(&spawner->late, false);
	atomic_store(&spawner->ended, false);
	sem_post(&spawner->go);
	/* Until the process is made, its thread needs our descriptors, so go on waiting. */
	while (!wait_until(spawner, until_ns)) {
		if (atomic_load(&spawner->result.pid) != 0 && leave(spawner)) {
			*ret_pid = atomic_load(&spawner->result.pid);
			*ret_late = spawner;
			return 0;
		}
		if (atomic_load(&spawner->late))
			break;
		until_ns = clock_mono_ns() + BIRTH_NS;
	}
	fault = spawner->result.fault;
	*ret_pid = atomic_load(&spawner->result.pid);
	*ret_status_fd = spawner->result.status_fd;
	while (fault && *ret_pid > 0 && waitpid(*ret_pid, NULL, 0) < 0 && errno == EINTR)
		;
	spawner_rest(spawner);
	return fault;
}

void spawner_keep(struct spawner *spawner, struct spawn_texts texts)
{
	spawner->texts = texts;
}

bool spawner_ended(const struct spawner *spawner)
{
	return atomic_load(&spawner->ended);
}

int spawner_finish(struct spawner *spawner, int *ret_status_fd, bool *ret_tried)
{
	int fault;

	while (sem_wait(&spawner->done) < 0)
		;
	fault = spawner->result.fault;
	*ret_status_fd = spawner->result.status_fd;
	*ret_tried = spawner->result.tried;
	spawner_rest(spawner);
	return fault;
}

void spawn_forget(void)
{
	idle = NULL;
}
