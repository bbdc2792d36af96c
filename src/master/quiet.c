/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gives memory back to the system after a peak: when much was freed and little was done for a second. It frees unused
 * turns, shrinks the core's arrays, and lets the allocator return empty pages. That stops the loop for some
 * milliseconds, so it isn't done while there is work.
 */
#include "master/internal.h"

#include <malloc.h>

#include "base/log.h"
#include "base/mem.h"

#define QUIET_S        1.
#define QUIET_INPUTS   1000              /* the master is idle if it got at most this many inputs in QUIET_S seconds */
#define FREED_ENOUGH   ((size_t)16 << 20)
#define INBOX_KEEP     1024
#define JOB_BYTES      256               /* estimate of a job's memory, with its edges and specification */

void quiet_give_back(struct master *master)
{
	int64_t began_ns = clock_mono_ns();

	turn_pool_drop(master);
	if (master->inbox.count == 0 && master->inbox.cap > INBOX_KEEP) {
		mem_free(master->inbox.inputs);
		master->inbox.inputs = NULL;
		master->inbox.cap = 0;
	}
	core_shrink(master->core);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	log_info("the master gave unused memory back to the system in %lld ms", (long long)((clock_mono_ns() - began_ns) / NS_PER_MS));
}

static void quiet_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;
	bool quiet = master->stats.inputs - master->quiet.inputs <= QUIET_INPUTS && master->commits.depth == 0 &&
		     master->inbox.count == 0;

	(void)events;
	master->quiet.inputs = master->stats.inputs;
	if (!quiet)
		return;
	ev_timer_stop(loop, timer);
	master->quiet.freed = 0;
	quiet_give_back(master);
}

void quiet_init(struct master *master)
{
	ev_init(&master->quiet.timer, quiet_cb);
	master->quiet.timer.data = master;
}

void quiet_freed(struct master *master, size_t bytes)
{
	master->quiet.freed += bytes;
	if (master->quiet.freed < FREED_ENOUGH || ev_is_active(&master->quiet.timer))
		return;
	master->quiet.inputs = master->stats.inputs;
	ev_timer_set(&master->quiet.timer, QUIET_S, QUIET_S);
	ev_timer_start(master->loop, &master->quiet.timer);
}

void quiet_freed_jobs(struct master *master, uint64_t jobs)
{
	quiet_freed(master, jobs * JOB_BYTES);
}
