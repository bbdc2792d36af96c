/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides when the connections of a loop move bytes. Everything queued in a pass is written before the loop sleeps,
 * after every other prepare watcher. Owners are called only after the loop has woken up, so that they handle their
 * inboxes before its next sleep. With nothing to do there is no wake-up.
 */
#include "net/conn.h"

#include "base/mem.h"
#include "net/conn_internal.h"

void conn_want(struct conn *conn, enum conn_want want)
{
	conn->wants |= want;
	if (conn->on_todo)
		return;
	conn->on_todo = true;
	conn->todo_next = conn->set->todo;
	conn->set->todo = conn;
}

static void before_sleep_cb(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
	struct conn_set *set = prepare->data;
	struct conn **at = &set->todo;

	(void)events;
	while (*at) {
		struct conn *conn = *at;

		if (conn->wants & WANT_FLUSH) {
			conn->wants &= ~(unsigned)WANT_FLUSH;
			if (conn->state != CONN_DEAD && !conn->blocked)
				conn_flush(conn);
		}
		if (conn->wants) {
			at = &conn->todo_next;
		} else {
			*at = conn->todo_next;
			conn->on_todo = false;
		}
	}
	if (set->todo)
		ev_idle_start(loop, &set->stay_awake);
}

static void serve(struct conn *conn, unsigned wants)
{
	if (wants & WANT_SWEEP) {
		conn->ops->closed_cb(conn, conn->why, conn->owner);
		conn_destroy(conn);
		return;
	}
	if (wants & WANT_FLUSH)
		conn_want(conn, WANT_FLUSH);
	if (wants & WANT_FRAMES && conn->state == CONN_OPEN && !conn->paused)
		conn_deliver_held(conn);
	if (wants & WANT_READ && conn->state == CONN_OPEN && !conn->paused) {
		if (conn->had_turn)
			conn_want(conn, WANT_READ);
		else
			conn_read(conn);
	}
	if (wants & WANT_DRAINED && conn->state == CONN_OPEN && conn->ops->drained_cb)
		conn->ops->drained_cb(conn, conn->owner);
}

static void after_sleep_cb(struct ev_loop *loop, struct ev_check *check, int events)
{
	struct conn_set *set = check->data;
	struct conn *conn = set->todo;

	(void)events;
	ev_idle_stop(loop, &set->stay_awake);
	set->todo = NULL;
	while (conn) {
		struct conn *next = conn->todo_next;
		unsigned wants = conn->wants;

		conn->wants = 0;
		conn->on_todo = false;
		serve(conn, wants);
		conn = next;
	}
}

/* Does nothing: the watcher only has to be active. */
static void stay_awake_cb(struct ev_loop *loop, struct ev_idle *idle, int events)
{
	(void)loop;
	(void)idle;
	(void)events;
}

struct conn_set *conn_set_new(struct ev_loop *loop)
{
	struct conn_set *set = mem_zalloc(sizeof(*set));

	set->loop = loop;
	ev_prepare_init(&set->before_sleep, before_sleep_cb);
	ev_check_init(&set->after_sleep, after_sleep_cb);
	ev_idle_init(&set->stay_awake, stay_awake_cb);
	ev_set_priority(&set->before_sleep, EV_MINPRI);
	ev_set_priority(&set->after_sleep, EV_MINPRI);
	set->before_sleep.data = set;
	set->after_sleep.data = set;
	ev_prepare_start(loop, &set->before_sleep);
	ev_check_start(loop, &set->after_sleep);
	/* The set's watchers alone don't keep the loop running. */
	ev_unref(loop);
	ev_unref(loop);
	return set;
}

void conn_set_free(struct conn_set *set)
{
	struct conn *conn;

	if (!set)
		return;
	for (conn = set->first; conn; conn = conn->next)
		if (conn->state != CONN_DEAD)
			conn_flush(conn);
	while (set->first)
		conn_destroy(set->first);
	ev_ref(set->loop);
	ev_ref(set->loop);
	ev_prepare_stop(set->loop, &set->before_sleep);
	ev_check_stop(set->loop, &set->after_sleep);
	ev_idle_stop(set->loop, &set->stay_awake);
	mem_free(set);
}
