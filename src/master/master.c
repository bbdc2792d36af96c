/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The master's process: opens everything at the start and closes it at the end. The store's lock is taken first, so
 * that a second master stops before it touches anything. The socket is opened last, so that every peer that can connect
 * is served. Serving begins when what loading decided is durable, or can't become durable because the disk is full. In
 * that case nothing undurable is revealed, and queries are answered as store_room.c allows.
 */
#include "master/master.h"

#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rand.h"
#include "master/goods.h"
#include "master/internal.h"
#include "master/logs.h"
#include "master/bridges.h"
#include "master/moments.h"
#include "master/remote.h"
#include "master/samples.h"
#include "master/share.h"

/* longest delay of a commit while no client waits and no worker's slot is about to run out of jobs */
#define LINGER_NS (2 * NS_PER_MS)
#define PEOPLE_MAX 256                   /* most people who may connect without a token */
#define SOCKET_TRIES 200
#define SOCKET_WAIT_NS (10 * NS_PER_MS)
#define END_S     3.0                    /* seconds that connections have at the end to take their last frames */

/* ---- ending ---- */

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
	share_stop(master);
	remote_stop(master);
	while (map_next(&master->sessions, &cursor, &id, &value))
		session_pause(value, PAUSE_ENDING, true);
	ev_timer_stop(master->loop, &master->publish_timer);
	ev_timer_stop(master->loop, &master->end_timer);
	ev_timer_set(&master->end_timer, END_S, 0.);
	ev_timer_start(master->loop, &master->end_timer);
	master_stay_awake(master);
}

/* ---- starting ---- */

/*
 * Listen at the cluster's socket. A master that was killed releases the store's lock a moment before its listening socket, so a
 * socket that seems to be in use is tried again for a while.
 */
static int socket_listen(const struct master *master, int *ret_fd)
{
	const struct timespec wait = { .tv_nsec = SOCKET_WAIT_NS };
	int result = statedir_socket_listen(&master->options.statedir, ret_fd);

	for (int tries = 1; result == -EADDRINUSE && tries < SOCKET_TRIES; tries++) {
		nanosleep(&wait, NULL);
		result = statedir_socket_listen(&master->options.statedir, ret_fd);
	}
	return result;
}

void master_serve(struct master *master)
{
	char path[PATH_MAX];
	struct core_totals totals;
	int fd, result = socket_listen(master, &fd);

	if (result < 0) {
		statedir_path(&master->options.statedir, "titan.sock", path);
		error_system(&master->failure, -result, "can't listen on %s", path);
		error_next(&master->failure, result == -ENOTSOCK ? "mv %s elsewhere, then titan up" : "ls -ld %s", path);
		master_end(master, "no socket");
		return;
	}
	master->listener = listener_new(master->loop, fd, master, session_accept_cb);
	if (share_open(master, &master->failure) != ERR_NONE) {
		master_end(master, "the master can't listen for other users");
		return;
	}
	if (remote_open(master, &master->failure) != ERR_NONE) {
		master_end(master, "the master can't listen at an address");
		return;
	}
	master->serving = true;
	view_totals(master->core, &totals);
	log_info("serving cluster %s: generation %llu, boot %llu, %llu live runs, %llu live jobs",
		 master->options.statedir.cluster, (unsigned long long)totals.generation,
		 (unsigned long long)totals.boot, (unsigned long long)totals.live_runs,
		 (unsigned long long)totals.live_jobs);
	if (master->options.as_of_ms == 0) {
		prune_start(master);
		bridges_start(master);
	} else {
		then_begin(master);
	}
	if (master->options.ready_fd >= 0 && io_write_all(master->options.ready_fd, "", 1) < 0)
		log_warn("the process that started this master no longer waits for it");
}

static enum err load_row_cb(const struct row *row, void *arg, struct error *error)
{
	struct master *master = arg;
	uint64_t run = row->table == TABLE_run ? (uint64_t)row->run.run : 0;

	if (run != 0 && row->run.ended_ms == 0)
		buf_add(&master->live_runs, &run, sizeof(run));
	if (row->table == TABLE_asset && master->goods)
		goods_row(master->goods, row);
	return core_load_row(master->core, row, error);
}

static enum err artifacts_row_cb(const struct row *row, void *arg, struct error *error)
{
	struct master *master = arg;

	(void)error;
	goods_row(master->goods, row);
	return ERR_NONE;
}

static void warn_of_exposed(const struct statedir *statedir)
{
	char above[PATH_MAX];

	if (statedir_is_exposed(statedir, above))
		log_warn("every user may write to %s, and so replace the state directory in it; try: chmod o-w %s", above, above);
}

/* Fill in the people who may connect without a token: the owner, and those of the configuration. */
static size_t know_people(const struct master *master, struct core_person *people)
{
	const struct people *others = &master->options.people;
	size_t count = 0;

	people[count++] = (struct core_person){ slice_str(master->owner.name), master->owner.roles };
	for (size_t i = 0; i < others->count && count < PEOPLE_MAX; i++)
		people[count++] = (struct core_person){ slice_str(others->at[i].name), others->at[i].roles };
	return count;
}

static enum err open_store(struct master *master, struct error *error)
{
	char path[PATH_MAX], goods[PATH_MAX];
	struct core_person people[PEOPLE_MAX];
	struct store_options options = {
		.path = statedir_path(&master->options.statedir, "titan.db", path), .linger_ns = LINGER_NS,
	};
	struct core_config config = {
		.cluster = slice_str(master->options.statedir.cluster),
		.pid = (uint64_t)getpid(),
		.seed = master->options.seed,
		.heartbeat_ms = master->options.heartbeat_ms,
		.lease_ms = master->options.lease_ms,
		.grace_ms = master->options.grace_ms,
		.of_then = master->options.as_of_ms != 0,
		.boot_id = master->options.as_of_ms != 0 ? 0 : clock_boot_id(),
		.people = people, .owner = slice_str(master->owner.name),
		.teams = master->options.teams, .team_count = master->options.team_count,
	};
	int result = statedir_make(&master->options.statedir);
	enum err err;

	if (result < 0)
		return error_state_dir(error, -result, master->options.statedir.dir);
	warn_of_exposed(&master->options.statedir);
	err = store_open(&options, &master->store, error);
	if (err != ERR_NONE)
		return err;
	if (config.seed == 0)
		rand_system(&config.seed, sizeof(config.seed));
	config.people_count = know_people(master, people);
	master->core = core_new(&config);
	/* Without the contents of assets, on a full disk for example, runs go on nevertheless. */
	if (master->options.as_of_ms == 0 &&
	    goods_open(statedir_path(&master->options.statedir, "goods", goods), loop_wake_goods, master, &master->goods, &master->no_goods) != ERR_NONE)
		log_warn("the contents of assets can't be used: %s", master->no_goods.text);
	err = store_load(master->store, load_row_cb, master, error);
	if (err == ERR_NONE && master->goods)
		err = store_artifacts(master->store, artifacts_row_cb, master, error);
	if (err == ERR_NONE && master->goods)
		goods_sweep(master->goods);
	return err == ERR_STORE_TRUST ? store_hint(options.path, error) : err;
}

static enum err load(struct master *master, struct error *error)
{
	struct master_turn *turn = turn_new(master);
	enum err err;

	master->now = clock_now();
	if (master->options.as_of_ms != 0)
		master->now.wall_ms = master->options.as_of_ms;
	err = core_load_end(master->core, master->now, &turn->outbox, error);
	if (err != ERR_NONE) {
		char path[PATH_MAX];

		turn->next = master->pool;
		master->pool = turn;
		if (err == ERR_STORE_TRUST)
			store_hint(statedir_path(&master->options.statedir, "titan.db", path), error);
		return err;
	}
	store_start(master->store, loop_wake_store, master);
	if (master->options.as_of_ms != 0) {
		turn_free(master, turn);         /* a master of an earlier time writes nothing */
		master_serve(master);
	} else {
		turn_first(master, turn);
	}
	return ERR_NONE;
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
	loop_init(master);
	remote_init(master);
	err = logs_open(statedir_path(&master->options.statedir, "logs", path), loop_wake_logs, master, &master->logs, error);
	if (err != ERR_NONE)
		return err;
	logs_resume(master->logs, (uint64_t *)(void *)master->live_runs.data, master->live_runs.len / sizeof(uint64_t));
	buf_free(&master->live_runs);
	return load(master, error);
}

/* Close everything in an order that lets the last rows and logs get to the disk. */
static void finish(struct master *master)
{
	size_t cursor = 0;
	uint64_t id;
	void *value;

	listener_free(master->listener);
	share_stop(master);
	logs_close(master->logs);
	goods_close(master->goods);
	store_stop(master->store);
	copies_free(master);
	store_close(master->store);
	while (map_next(&master->sessions, &cursor, &id, &value))
		session_free(value);
	map_free(&master->sessions);
	rates_free(&master->rates);
	history_free(master);
	then_free(master);
	turn_pool_free(master);
	publisher_free(master->publisher);
	samples_free(master->samples);
	mem_free(master->samples);
	watches_free(master);
	pruner_free(master->pruner);
	arena_free(&master->scratch);
	if (master->loop) {
		relay_free_all(master);
		moments_free(master);
		bridges_stop(master);
		conn_set_free(master->conns);
		remote_close(master);
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
	char path[PATH_MAX];
	enum err err;

	log_init("master", LOG_LEVEL_INFO);
	log_to_file(statedir_path(&options->statedir, "master.log", path), 0);
	umask(077);
	sigaction(SIGPIPE, &ignore, NULL);
	/* Ignored, so that a write beyond the file size limit fails with an error that names the file. */
	sigaction(SIGXFSZ, &ignore, NULL);
	io_fd_count_limit();
	master->options = *options;
	use_defaults(&master->options);
	master->rates.burst = master->options.request_burst;
	principal_own(&master->owner);
	master->due_ns = TIME_NEVER;
	master->publisher = publisher_new(&master->options);
	master->samples = mem_zalloc(sizeof(*master->samples));
	master->pruner = pruner_new(master);
	err = begin(master, error);
	if (err == ERR_NONE) {
		ev_run(master->loop, 0);
		err = master->failure.code;
		if (err != ERR_NONE && error)
			*error = master->failure;
		log_left_out();
		log_info("ended after %llu turns, %llu inputs and %llu frames; %llu frames were refused, %llu "
			"answers came too late",
			 (unsigned long long)master->stats.turns, (unsigned long long)master->stats.inputs,
			 (unsigned long long)master->stats.frames_in,
			 (unsigned long long)master->stats.refused_frames,
			 (unsigned long long)master->stats.late_frames);
	}
	finish(master);
	mem_free(master);
	return err_exit_status(err);
}
