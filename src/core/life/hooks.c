/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of hooks (hooks.def) as code. job.c calls these functions without knowing the parts of core behind them. To
 * see which part reacts to a transition of a job, read the table.
 */
#include "core/life/internal.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/queue/queue.h"
#include "core/time/time.h"

void hooks_leave(struct core *core, struct job *job, enum job_state to)
{
	enum job_state from = job->state;
	bool ends = state_terminal(to), ended = state_terminal(from);

#define LEAVE(when, call) \
	if (when) \
		call;
#include "core/life/hooks.def"
#undef LEAVE
}

void hooks_enter(struct core *core, struct job *job, enum job_state from, enum job_event event)
{
	enum job_state to = job->state;
	bool ends = state_terminal(to);

#define ENTER(when, call) \
	if (when) \
		call;
#include "core/life/hooks.def"
#undef ENTER
}

void hooks_ended(struct core *core, const struct job *job)
{
#define ENDED(when, call) \
	if (when) \
		call;
#include "core/life/hooks.def"
#undef ENDED
}

bool hooks_begin(struct core *core, struct job *job)
{
	switch (job->kind) {
#define BEGIN(KIND, call) \
	case KIND: \
		call; \
		return true;
#include "core/life/hooks.def"
#undef BEGIN
	default:
		return false;
	}
}
