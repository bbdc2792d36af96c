/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A master that shows the store as it was at an earlier time. It has a copy of the store that was put back to that
 * time, answers queries by the same code as any master, and changes nothing. It ends when no client has been connected
 * for a while.
 */
#include "master/internal.h"

#include <stdio.h>

#include "base/mem.h"

#define SHOWN_MAX 1024                   /* most different lists of runs that people may see; they are kept until the end */
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

enum err then_asks_for(struct peer_session *session, const struct msg_hello *msg, struct error *error)
{
	struct master *master = session->master;
	const struct u64_list *runs = &msg->person_decides;
	struct shown_to *shown = master->then_shown;
	size_t count = 0;

	for (; shown; shown = shown->next, count++)
		if (shown->all == msg->person_sees_all && shown->count == runs->n &&
		    (runs->n == 0 || memcmp(shown->runs, runs->at, runs->n * sizeof(*runs->at)) == 0))
			break;
	if (!shown && count >= SHOWN_MAX)
		return error_set(error, ERR_BUSY, "too many people look at this time; try again in a minute");
	if (!shown) {
		shown = mem_zalloc(sizeof(*shown) + runs->n * sizeof(*runs->at));
		shown->all = msg->person_sees_all;
		shown->count = runs->n;
		if (runs->n > 0)
			memcpy(shown->runs, runs->at, runs->n * sizeof(*runs->at));
		shown->next = master->then_shown;
		master->then_shown = shown;
	}
	session->shown_to = shown;
	snprintf(session->principal.name, sizeof(session->principal.name), "%.*s", (int)msg->person.len, (const char *)msg->person.data);
	session->principal.id = principal_number(session->principal.name, &master->owner);
	return ERR_NONE;
}

void then_free(struct master *master)
{
	while (master->then_shown) {
		struct shown_to *shown = master->then_shown;

		master->then_shown = shown->next;
		mem_free(shown);
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
