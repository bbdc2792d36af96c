/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A master that shows the store as it was at an earlier time. It has a copy of the store that was put back to that
 * time, answers queries by the same code as any master, and changes nothing. It ends when no client has been connected
 * for a while.
 */
#include "master/internal.h"

#define LOOK_S 5.0
#define IDLE_LOOKS 12                    /* checks without a connection after which the master ends: a minute */

static void look_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;

	(void)loop;
	(void)events;
	master->then_idle = master->sessions.count == 0 ? master->then_idle + 1 : 0;
	if (master->then_idle >= IDLE_LOOKS) {
		ev_timer_stop(master->loop, timer);
		master_end(master, "no client asks about the earlier time any more");
	}
}

void then_begin(struct master *master)
{
	struct core_totals totals;

	view_totals(master->core, &totals);
	/* Loading began a turn, which isn't written here. */
	master->commits.durable = master->then_turn = totals.turn - 1;
	ev_timer_init(&master->then_timer, look_cb, LOOK_S, LOOK_S);
	master->then_timer.data = master;
	ev_timer_start(master->loop, &master->then_timer);
}
