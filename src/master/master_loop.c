/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loop's watchers. They only note what happened: the work is done in a turn, which runs before the loop sleeps. */
#include "master/internal.h"

#include <errno.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "master/logs.h"
#include "master/remote.h"

static void prepare_cb(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
	struct master *master = prepare->data;
	int64_t due_ns;

	(void)events;
	ev_idle_stop(loop, &master->awake);
	remote_pass(master);
	if (master->asked)
		line_run_hurried(master);
	if (turn_wanted(master))
		turn_run(master);
	else if (master->inbox.count == 0)
		arena_reset(&master->inbox.arena);
	/* End even with turns under way if the disk is full: what can't be written was never acknowledged. */
	if (master->ending && !master->closing_all && master->inbox.count == 0 &&
	    (master->commits.depth == 0 || store_is_stuck(master->store))) {
		master->closing_all = true;
		session_close_all(master);
	}
	if (master->closing_all && master->sessions.count == 0)
		ev_break(loop, EVBREAK_ALL);
	/* With TURNS_MAX turns under way the store wakes the loop; a timer in the past would make it spin. */
	due_ns = TIME_NEVER;
	if (master->serving && !master->ending && master->commits.depth < TURNS_MAX && master->options.as_of_ms == 0)
		due_ns = core_next_due(master->core);
	if (due_ns == master->due_ns && (due_ns == TIME_NEVER || ev_is_active(&master->due_timer)))
		return;
	master->due_ns = due_ns;
	ev_timer_stop(loop, &master->due_timer);
	if (due_ns == TIME_NEVER)
		return;
	due_ns -= clock_mono_ns();
	ev_now_update(loop);
	ev_timer_set(&master->due_timer, due_ns > 0 ? (double)due_ns / 1e9 : 0., 0.);
	ev_timer_start(loop, &master->due_timer);
}

/* Only wake up: the turn runs before the loop sleeps. */
static void timer_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	(void)loop;
	(void)timer;
	(void)events;
}

static void idle_cb(struct ev_loop *loop, struct ev_idle *idle, int events)
{
	(void)loop;
	(void)idle;
	(void)events;
}

static void publish_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	master_stay_awake(timer->data);
}

static void store_wake_cb(struct ev_loop *loop, struct ev_async *async, int events)
{
	struct master *master = async->data;

	(void)loop;
	(void)events;
	turns_committed(master);
	history_answers(master);
	copies_answer(master);
	if (master->serving || master->ending)
		return;
	if (master->commits.depth == 0 || store_is_stuck(master->store))
		master_serve(master);
}

static void end_log_pauses(struct master *master)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	master->log_paused = 0;
	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct peer_session *session = value;

		if (session->paused & PAUSE_LOG)
			session_pause(session, PAUSE_LOG, logs_queued_by(master->logs, id) > LOG_SESSION_MAX / 2);
		master->log_paused += (session->paused & PAUSE_LOG) != 0;
	}
}

static void logs_wake_cb(struct ev_loop *loop, struct ev_async *async, int events)
{
	struct master *master = async->data;
	struct log_answer *answer;

	(void)loop;
	(void)events;
	while ((answer = logs_take(master->logs))) {
		struct peer_session *session = session_find(master, answer->conn);

		if (answer->is_read)
			line_log_answered(master);
		if (answer->kind != LOG_FRAMES) {
			prune_logs(master, answer);
		} else if (session) {
			conn_send_frames(session->conn, buf_slice(&answer->frames));
			session->log_reads -= answer->is_read;
			session_log_reads(session);
		}
		log_answer_free(answer);
	}
	if (master->log_paused > 0 && logs_queued(master->logs) < LOG_QUEUE_MAX / 2)
		end_log_pauses(master);
}

static void goods_wake_cb(struct ev_loop *loop, struct ev_async *async, int events)
{
	(void)loop;
	(void)events;
	assets_answer(async->data);
}

/* ---- called on other threads: ev_async_send is all that these may do ---- */

void loop_wake_store(void *arg)
{
	struct master *master = arg;

	ev_async_send(master->loop, &master->store_wake);
}

void loop_wake_logs(void *arg)
{
	struct master *master = arg;

	ev_async_send(master->loop, &master->logs_wake);
}

void loop_wake_goods(void *arg)
{
	struct master *master = arg;

	ev_async_send(master->loop, &master->goods_wake);
}

/* ---- the wall clock ---- */

/* Set a timer in the far future that the kernel cancels when the wall clock is set. */
static void clock_arm(const struct master *master)
{
	struct itimerspec far = { .it_value.tv_sec = INT32_MAX };

	if (timerfd_settime(master->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) < 0)
		log_warn("the master will notice a change of the wall clock late: %s", strerror(errno));
}

static void clock_cb(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct master *master = watcher->data;
	uint64_t times;

	(void)loop;
	(void)events;
	if (read(master->clock_fd, &times, sizeof(times)) < 0 && errno == EAGAIN)
		return;
	log_info("somebody set the wall clock");
	clock_arm(master);
	master_stay_awake(master);
}

static void clock_watch(struct master *master)
{
	master->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (master->clock_fd < 0)
		return;                  /* without this timer, changes of the clock are noticed in the next turn */
	ev_io_init(&master->clock_watcher, clock_cb, master->clock_fd, EV_READ);
	master->clock_watcher.data = master;
	ev_io_start(master->loop, &master->clock_watcher);
	clock_arm(master);
}

/* ---- ending ---- */

static void end_late_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;

	(void)events;
	if (master->ending) {
		log_warn("%zu connections didn't read the last data that was sent to them", master->sessions.count);
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	log_warn("workers are still connected; the master ends without waiting for them");
	master->end_workers = false;
	master_stay_awake(master);
}

static void signal_cb(struct ev_loop *loop, struct ev_signal *signal, int events)
{
	(void)loop;
	(void)events;
	master_end(signal->data, signal->signum == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* ---- starting ---- */

void loop_init(struct master *master)
{
	master->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
	ev_prepare_init(&master->turn_watcher, prepare_cb);
	ev_init(&master->due_timer, timer_cb);
	ev_init(&master->publish_timer, publish_cb);
	ev_init(&master->end_timer, end_late_cb);
	ev_async_init(&master->store_wake, store_wake_cb);
	ev_async_init(&master->logs_wake, logs_wake_cb);
	ev_async_init(&master->goods_wake, goods_wake_cb);
	ev_idle_init(&master->awake, idle_cb);
	ev_signal_init(&master->sigterm, signal_cb, SIGTERM);
	ev_signal_init(&master->sigint, signal_cb, SIGINT);
	master->turn_watcher.data = master;
	master->publish_timer.data = master;
	master->end_timer.data = master;
	master->store_wake.data = master;
	master->logs_wake.data = master;
	master->goods_wake.data = master;
	master->sigterm.data = master;
	master->sigint.data = master;
	ev_prepare_start(master->loop, &master->turn_watcher);
	metrics_start(master);
	quiet_init(master);
	ev_async_start(master->loop, &master->store_wake);
	ev_async_start(master->loop, &master->logs_wake);
	ev_async_start(master->loop, &master->goods_wake);
	ev_signal_start(master->loop, &master->sigterm);
	ev_signal_start(master->loop, &master->sigint);
	clock_watch(master);
	line_init(master);
	pressure_init(master);
	uploads_init(master);
	master->conns = conn_set_new(master->loop);
}
