/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Workers that can't start jobs. Such a worker rests (gets no jobs for a while), longer each time, and its row shows an
 * alarm.
 */
#include "core/place/place.h"

#include "core/place/internal.h"
#include "core/time/time.h"

void worker_refused(struct core *core, struct worker *worker, uint64_t code)
{
	int64_t rest_ms = LIMIT_REFUSED_REST_MS;

	worker->refused_code = code > 0 && code < UINT32_MAX ? (uint32_t)code : UINT32_MAX;
	worker_touch(core, worker);
	if (worker->resting)
		return;                  /* the worker rests already: this job was sent before the rest began */
	for (uint32_t i = 0; i < worker->refusals && rest_ms < LIMIT_REFUSED_REST_MAX_MS; i++)
		rest_ms *= 2;
	if (rest_ms > LIMIT_REFUSED_REST_MAX_MS)
		rest_ms = LIMIT_REFUSED_REST_MAX_MS;
	worker->refusals++;
	worker->refused_until_ns = core->now.mono_ns + rest_ms * NS_PER_MS;
	worker->resting = true;
	core->serving++;
	timer_add(core, TIMER_REST, worker->number, ++worker->rest_stamp, rest_ms);
}

void worker_rested(struct core *core, struct worker *worker)
{
	worker->resting = false;
	core->serving++;
	worker_touch(core, worker);
}

/*
 * Note that a worker started a job. If the worker is resting, that job had been sent before the rest began: the alarm
 * stays, but the next rest is short again.
 */
void worker_has_started(struct core *core, struct worker *worker)
{
	worker->refusals = 0;
	if (worker->resting || worker->refused_code == 0)
		return;
	worker->refused_code = 0;
	worker_touch(core, worker);
}

void worker_renewed(struct core *core, struct worker *worker)
{
	if (worker->resting)
		timer_stale(core);
	worker->resting = false;
	worker->refused_code = 0;
	worker->refusals = 0;
	core->serving++;
}
