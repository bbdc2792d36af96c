/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cuts clients that don't read their answers. While a class has too many unread answers, none of its queries is
 * answered. Then clients that read next to nothing and hold more than an even share are cut, so that the others can go
 * on. Otherwise nothing runs here.
 */
#include "master/internal.h"

#include "base/log.h"

static bool is_over(const struct askers *askers)
{
	return askers->unread >= askers->budget.unread_bytes;
}

static bool any_is_over(const struct master *master)
{
	for (int i = 0; i < ASKERS_CLASSES; i++)
		if (is_over(&master->askers[i]))
			return true;
	return false;
}

static size_t sessions_of(const struct master *master, const struct askers *askers)
{
	size_t cursor = 0, count = 0;
	uint64_t id;
	void *value;

	while (map_next(&master->sessions, &cursor, &id, &value))
		count += ((const struct peer_session *)value)->askers == askers;
	return count;
}

/* Has the client read next to nothing for as long as others may have to wait for it? */
static bool stands_still(struct peer_session *session)
{
	uint64_t sent = conn_sent(session->conn);

	if (conn_queued(session->conn) == 0 || sent - session->sent_before >= STILL_BYTES) {
		session->sent_before = sent;
		session->still_ticks = 0;
		return false;
	}
	return ++session->still_ticks >= STILL_TICKS;
}

static void cut(struct peer_session *session)
{
	struct error error;

	error_set(&error, ERR_BUSY, "the client left %zu bytes of answers unread while other clients waited for memory",
		  session_queued(session));
	log_info_limited("connection %llu is closed: %s", (unsigned long long)session->id, error.text);
	session->master->stats.askers_cut++;
	session->closing = true;
	conn_cut(session->conn, &error);
}

/* Cut all such clients at once: one at a time, the others would wait as long again for each. */
static void cut_the_still(struct master *master, struct askers *askers)
{
	size_t share = askers->unread / (sessions_of(master, askers) + 1), cursor = 0;
	uint64_t id;
	void *value;

	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		if (session->askers == askers && !session->closing && stands_still(session) &&
		    session_queued(session) >= share)
			cut(session);
	}
}

static void tick_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;

	(void)events;
	for (int i = 0; i < ASKERS_CLASSES; i++)
		if (is_over(&master->askers[i]))
			cut_the_still(master, &master->askers[i]);
	master->asked = true;
	if (!any_is_over(master))
		ev_timer_stop(loop, timer);
}

void pressure_init(struct master *master)
{
	ev_init(&master->pressure_timer, tick_cb);
	master->pressure_timer.data = master;
}

void pressure_look(struct master *master)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	if (ev_is_active(&master->pressure_timer) || !any_is_over(master))
		return;
	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		session->still_ticks = 0;
		session->sent_before = session->askers ? conn_sent(session->conn) : 0;
	}
	ev_now_update(master->loop);
	ev_timer_set(&master->pressure_timer, STILL_TICK_S, STILL_TICK_S);
	ev_timer_start(master->loop, &master->pressure_timer);
}
