/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts that may hang. A start can block before its exec, perhaps for ever, because its directory, program or
 * interpreter is on a file system whose server is gone. So the keeper waits a moment for each start, then leaves a
 * hanging one alone and checks now and then whether it has ended.
 *
 * The child uses the keeper's memory until its exec. What it uses belongs to the spawner, which no other start gets
 * before this one has ended.
 */
#include "worker/spawn_internal.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/mem.h"

#define PATIENCE_MS 50                   /* a start that takes longer than this counts as hanging */

struct spawner {
	struct spawner *next;            /* next in the list of idle spawners */
	struct spawn_request request;
	struct spawn_work work;
	struct spawn_texts texts;        /* memory of a start that hangs */
};

static struct spawner *idle;

static void spawner_rest(struct spawner *spawner)
{
	buf_free(&spawner->texts.pointers);
	buf_free(&spawner->texts.facts);
	mem_free(spawner->texts.list);
	mem_free(spawner->texts.strings);
	mem_free(spawner->texts.script);
	spawner->texts = (struct spawn_texts){ 0 };
	spawner->next = idle;
	idle = spawner;
}

int spawn_run(const struct spawn_request *request, pid_t *ret_pid, int *ret_status_fd, struct spawner **ret_late)
{
	struct spawner *spawner = idle ? idle : mem_zalloc(sizeof(*spawner));
	int fault;

	if (spawner == idle)
		idle = spawner->next;
	spawner->request = *request;
	*ret_late = NULL;
	*ret_status_fd = -1;
	*ret_pid = spawn_begin(&spawner->work, &spawner->request);
	if (*ret_pid > 0 && !spawn_ended(&spawner->work, PATIENCE_MS)) {
		*ret_late = spawner;
		return 0;
	}
	fault = spawn_result(&spawner->work, ret_status_fd);
	while (fault && *ret_pid > 0 && waitpid(*ret_pid, NULL, 0) < 0 && errno == EINTR)
		;
	spawner_rest(spawner);
	return fault;
}

void spawner_keep(struct spawner *spawner, struct spawn_texts texts)
{
	spawner->texts = texts;
}

bool spawner_ended(struct spawner *spawner)
{
	return spawn_ended(&spawner->work, 0);
}

int spawner_finish(struct spawner *spawner, int *ret_status_fd, bool *ret_tried)
{
	int fault;

	while (!spawn_ended(&spawner->work, -1))
		;
	fault = spawn_result(&spawner->work, ret_status_fd);
	*ret_tried = spawner->work.child.tried;
	spawner_rest(spawner);
	return fault;
}
