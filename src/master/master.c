/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The process: what is opened at the start, in which order, and closed at the end. The store's lock comes
 * first, so that of two masters one stops before it touches anything; the socket comes last, so that who
 * can connect is served. It begins to serve only when what loading decided is durable.
 */
#include "master/master.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "master/internal.h"
#include "master/logs.h"

#define LINGER_NS (2 * NS_PER_MS)        /* of a commit, while nobody waits and no slot can run dry */
#define END_S     3.0                        /* connections may take this long to take what is left for them */

/* ---- the loop's callbacks: they only note what came ---- */

static void prepare_cb(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
	struct master *master = prepare->data;
	int64_t due_ns;

	(void)events;
	ev_idle_stop(loop, &master->awake);
	if (turn_wanted(master))
		turn_run(master);
	else if (master->inbox.count == 0)
		arena_reset(&master->inbox.arena);
	if (master->ending && !master->closing_all && master->inbox.count == 0 && master->pipeline.depth == 0) {
		master->closing_all = true;
		session_close_all(master);
	}
	if (master->closing_all && master->sessions.count == 0)
		ev_break(loop, EVBREAK_ALL);
	/* With as many turns under way as there may be, the store wakes us; a timer in the past would spin. */
	due_ns = TIME_NEVER;
	if (master->serving && !master->ending && master->pipeline.depth < TURNS_MAX)
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

/* Being awake is all that is wanted: the turn is run before the loop sleeps. */
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

static void start_serving(struct master *master);

static void store_wake_cb(struct ev_loop *loop, struct ev_async *async, int events)
{
	struct master *master = async->data;

	(void)loop;
	(void)events;
	turn_settled(master);
	history_answers(master);
	copies_answer(master);
	if (!master->serving && !master->ending && master->pipeline.depth == 0)
		start_serving(master);
}

static void end_log_pauses(struct master *master)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	master->log_paused = 0;
	while (map_next(&master->sessions, &cursor, &id, &value)) {
		struct session *session = value;

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
		struct session *session = session_find(master, answer->conn);

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

/* On other threads: ev_async_send is all that they may do. */
static void wake_store(void *arg)
{
	struct master *master = arg;

	ev_async_send(master->loop, &master->store_wake);
}

static void wake_logs(void *arg)
{
	struct master *master = arg;

	ev_async_send(master->loop, &master->logs_wake);
}

/* ---- the wall clock ---- */

/* Far away, and cancelled by whoever sets the clock. */
static void clock_arm(const struct master *master)
{
	struct itimerspec far = { .it_value.tv_sec = INT32_MAX };

	if (timerfd_settime(master->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) < 0)
		log_warn("a wall clock that is set will be seen late: %s", strerror(errno));
}

static void clock_cb(struct ev_loop *loop, struct ev_io *watcher, int events)
{
	struct master *master = watcher->data;
	uint64_t times;

	(void)loop;
	(void)events;
	if (read(master->clock_fd, &times, sizeof(times)) < 0 && errno == EAGAIN)
		return;
	log_info("the wall clock was set");
	clock_arm(master);
	master_stay_awake(master);
}

static void clock_watch(struct master *master)
{
	master->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (master->clock_fd < 0)
		return;                  /* dates are looked at in every turn that something else causes */
	ev_io_init(&master->clock_watcher, clock_cb, master->clock_fd, EV_READ);
	master->clock_watcher.data = master;
	ev_io_start(master->loop, &master->clock_watcher);
	clock_arm(master);
}

/* ---- the end ---- */

void master_end(struct master *master, const char *why)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	if (master->ending)
		return;
	log_info("ending: %s", why);
	master->ending = true;
	listener_free(master->listener);
	master->listener = NULL;
	while (map_next(&master->sessions, &cursor, &id, &value))
		session_pause(value, PAUSE_ENDING, true);
	ev_timer_stop(master->loop, &master->publish_timer);
	ev_timer_stop(master->loop, &master->end_timer);
	ev_timer_set(&master->end_timer, END_S, 0.);
	ev_timer_start(master->loop, &master->end_timer);
	master_stay_awake(master);
}

static void end_late_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;

	(void)events;
	if (master->ending) {
		log_warn("%zu connections didn't take what was left for them", master->sessions.count);
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	log_warn("workers are still connected; ending without them");
	master->end_workers = false;
	master_stay_awake(master);
}

static void signal_cb(struct ev_loop *loop, struct ev_signal *signal, int events)
{
	(void)loop;
	(void)events;
	master_end(signal->data, signal->signum == SIGTERM ? "SIGTERM" : "SIGINT");
}

/* ---- the beginning ---- */

static void start_serving(struct master *master)
{
	char path[PATH_MAX];
	struct core_totals totals;
	int fd, result = place_socket_listen(&master->options.place, &fd);

	if (result < 0) {
		place_path(&master->options.place, "titan.sock", path);
		error_system(&master->failure, -result, "can't listen on %s", path);
		error_next(&master->failure, result == -ENOTSOCK ? "mv %s elsewhere, then titan up" : "ls -ld %s", path);
		master_end(master, "no socket");
		return;
	}
	master->listener = listener_new(master->loop, fd, master, session_accept_cb);
	master->serving = true;
	view_totals(master->core, &totals);
	log_info("serving cluster %s: generation %llu, boot %llu, %llu live runs, %llu live jobs",
		 master->options.place.cluster, (unsigned long long)totals.generation,
		 (unsigned long long)totals.boot, (unsigned long long)totals.live_runs,
		 (unsigned long long)totals.live_jobs);
	prune_start(master);
	if (master->options.ready_fd >= 0 && io_write_all(master->options.ready_fd, "", 1) < 0)
		log_warn("nobody waits for the master to be ready");
}

static enum err load_row_cb(const struct row *row, void *arg, struct error *error)
{
	struct master *master = arg;
	uint64_t run = row->table == TABLE_run ? (uint64_t)row->run.run : 0;

	if (run != 0 && row->run.ended_ms == 0)
		buf_add(&master->live_runs, &run, sizeof(run));
	return core_load_row(master->core, row, error);
}

static enum err open_store(struct master *master, struct error *error)
{
	char path[PATH_MAX];
	struct store_options options = {
		.path = place_path(&master->options.place, "titan.db", path), .linger_ns = LINGER_NS,
	};
	struct core_config config = {
		.cluster = slice_str(master->options.place.cluster),
		.pid = (uint64_t)getpid(),
		.seed = master->options.seed,
		.heartbeat_ms = master->options.heartbeat_ms,
		.lease_ms = master->options.lease_ms,
		.grace_ms = master->options.grace_ms,
		.boot_id = clock_boot_id(),
	};
	int result = place_make(&master->options.place);
	enum err err;

	if (result < 0)
		return error_dir(error, -result, "the state directory", master->options.place.dir);
	err = store_open(&options, &master->store, error);
	if (err != ERR_NONE)
		return err;
	if (config.seed == 0)
		rand_system(&config.seed, sizeof(config.seed));
	master->core = core_new(&config);
	err = store_load(master->store, load_row_cb, master, error);
	return err == ERR_STORE_TRUST ? store_hint(options.path, error) : err;
}

static enum err load(struct master *master, struct error *error)
{
	struct master_turn *turn = turn_new(master);
	enum err err;

	master->now = clock_now();
	err = core_load_end(master->core, master->now, &turn->outbox, error);
	if (err != ERR_NONE) {
		char path[PATH_MAX];

		turn->next = master->pool;
		master->pool = turn;
		if (err == ERR_STORE_TRUST)
			store_hint(place_path(&master->options.place, "titan.db", path), error);
		return err;
	}
	store_start(master->store, wake_store, master);
	turn_first(master, turn);
	return ERR_NONE;
}

static void init_watchers(struct master *master)
{
	master->loop = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
	ev_prepare_init(&master->turn_watcher, prepare_cb);
	ev_init(&master->due_timer, timer_cb);
	ev_init(&master->publish_timer, publish_cb);
	ev_init(&master->end_timer, end_late_cb);
	ev_async_init(&master->store_wake, store_wake_cb);
	ev_async_init(&master->logs_wake, logs_wake_cb);
	ev_idle_init(&master->awake, idle_cb);
	ev_signal_init(&master->sigterm, signal_cb, SIGTERM);
	ev_signal_init(&master->sigint, signal_cb, SIGINT);
	master->turn_watcher.data = master;
	master->publish_timer.data = master;
	master->end_timer.data = master;
	master->store_wake.data = master;
	master->logs_wake.data = master;
	master->sigterm.data = master;
	master->sigint.data = master;
	ev_prepare_start(master->loop, &master->turn_watcher);
	metrics_start(master);
	ev_async_start(master->loop, &master->store_wake);
	ev_async_start(master->loop, &master->logs_wake);
	ev_signal_start(master->loop, &master->sigterm);
	ev_signal_start(master->loop, &master->sigint);
	clock_watch(master);
	master->conns = conn_set_new(master->loop);
}

static void find_owner(struct master *master)
{
	const struct passwd *user = getpwuid(getuid());

	if (user)
		snprintf(master->owner, sizeof(master->owner), "%s", user->pw_name);
	else
		snprintf(master->owner, sizeof(master->owner), "%u", (unsigned)getuid());
}

static void use_defaults(struct master_options *options)
{
	if (options->heartbeat_ms == 0)
		options->heartbeat_ms = LIMIT_HEARTBEAT_MS;
	if (options->lease_ms == 0)
		options->lease_ms = LIMIT_LEASE_MS;
	if (options->grace_ms == 0)
		options->grace_ms = LIMIT_GRACE_MS;
}

static enum err begin(struct master *master, struct error *error)
{
	char path[PATH_MAX];
	enum err err = open_store(master, error);

	if (err != ERR_NONE)
		return err;
	init_watchers(master);
	err = logs_open(place_path(&master->options.place, "logs", path), wake_logs, master, &master->logs, error);
	if (err != ERR_NONE)
		return err;
	logs_resume(master->logs, (uint64_t *)(void *)master->live_runs.data, master->live_runs.len / sizeof(uint64_t));
	buf_free(&master->live_runs);
	return load(master, error);
}

/* In the order that lets the last words reach the disk. */
static void finish(struct master *master)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	listener_free(master->listener);
	logs_close(master->logs);
	store_stop(master->store);
	copies_free(master);
	store_close(master->store);
	while (map_next(&master->sessions, &cursor, &id, &value))
		session_free(value);
	map_free(&master->sessions);
	query_drop_all(master);
	history_free(master);
	turn_pool_free(master);
	publisher_free(master->publisher);
	pruner_free(master->pruner);
	arena_free(&master->scratch);
	if (master->loop) {
		relay_free_all(master);
		conn_set_free(master->conns);
		if (master->clock_fd >= 0)
			close(master->clock_fd);
		ev_loop_destroy(master->loop);
	}
	buf_free(&master->live_runs);
	core_free(master->core);
}

int master_run(const struct master_options *options, struct error *error)
{
	struct master *master = mem_zalloc(sizeof(*master));
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	enum err err;

	log_init("master", LOG_LEVEL_INFO);
	umask(077);
	sigaction(SIGPIPE, &ignore, NULL);
	/* Beyond a limit of the size of files a write fails, and it is said which. */
	sigaction(SIGXFSZ, &ignore, NULL);
	io_fd_count_limit();
	master->options = *options;
	use_defaults(&master->options);
	find_owner(master);
	master->due_ns = TIME_NEVER;
	master->publisher = publisher_new(&master->options);
	master->pruner = pruner_new(master);
	err = begin(master, error);
	if (err == ERR_NONE) {
		ev_run(master->loop, 0);
		err = master->failure.code;
		if (err != ERR_NONE && error)
			*error = master->failure;
		log_info("ended after %llu turns, %llu inputs, %llu frames; %llu refused, %llu too late",
			 (unsigned long long)master->stats.turns, (unsigned long long)master->stats.inputs,
			 (unsigned long long)master->stats.frames_in,
			 (unsigned long long)master->stats.refused_frames,
			 (unsigned long long)master->stats.late_frames);
	}
	finish(master);
	mem_free(master);
	return err_exit_status(err);
}
