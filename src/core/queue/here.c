/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that run in the submitter's directory need a worker that shares it. A worker of another machine doesn't, unless both have
 * mounted it from a third. Such a worker, and one of the same machine with other mounts, as in a container, compares the directory
 * and gives the job back if it is another one. This is noted at the class of the job until the worker is started again, so the
 * class is offered to others.
 */
#include "core/queue/queue.h"

#include "base/planted.h"

static size_t place_of(const struct wants *wants, const struct worker *worker)
{
	size_t at = 0;

	while (at < wants->lacking_count && wants->lacking[at] != worker->number)
		at++;
	return at;
}

/* Might the worker have the directory, so that it is worth asking? Workers of the version before don't compare. */
static bool may_share(const struct worker *worker, const struct wants *wants)
{
	return slice_eq(wants->here.machine, slice_str(worker->machine)) ||
	       (wants->here.here_source.len > 0 && worker->protocol == PROTOCOL_VERSION);
}

bool worker_shares(const struct worker *worker, const struct wants *wants)
{
	return wants->here.here_dir.len == 0 || (may_share(worker, wants) && !worker_lacks(worker, wants));
}

bool worker_lacks(const struct worker *worker, const struct wants *wants)
{
	return place_of(wants, worker) < wants->lacking_count;
}

bool here_lacks(struct core *core, const struct worker *worker, const struct job *job)
{
	struct wants *wants = core->classes[job->class_at]->wants;

	if (!wants || wants->here.here_dir.len == 0)
		return false;
	if (place_of(wants, worker) < wants->lacking_count || PLANTED(here_lack_forgotten))
		return true;
	GROW(wants->lacking, wants->lacking_count, wants->lacking_cap);
	wants->lacking[wants->lacking_count++] = worker->number;
	core->serving++;
	return true;
}

void here_ask_again(struct core *core, const struct worker *worker)
{
	for (size_t i = 0; i < core->class_count; i++) {
		struct wants *wants = core->classes[i] ? core->classes[i]->wants : NULL;
		size_t at = wants ? place_of(wants, worker) : 0;

		if (wants && at < wants->lacking_count)
			wants->lacking[at] = wants->lacking[--wants->lacking_count];
	}
}
