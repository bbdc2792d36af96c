/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The link: one thread with a loop between the keeper's socket and the master's. It has no state that would be missed:
 * everything can be rebuilt from the keeper's and the master's. Without a master it tries to connect for ever; without
 * its keeper it ends.
 *
 * HELLO and heartbeats tell the master that the worker lives, which the keeper must prove: each is sent only when the
 * keeper has answered every PING and LEASE so far. Every lease asks the keeper, so an idle keeper wakes up once per
 * heartbeat.
 */
#include "worker/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/dial.h"
#include "net/keyfile.h"
#include "net/transport_tls.h"
#include "proto/limits.h"

#define KEEPER_FD     3
#define RETRY_FIRST_S 0.2
#define RETRY_MAX_S   5.
#define RETRY_DENIED_S 30.
#define WELCOME_NS    (10 * NS_PER_S)
#define ATTEMPT_MIN_NS NS_PER_S
#define SLOW_WELCOMES_MAX 4

/* --- the connection --- */

/*
 * The master loses patience with a silent worker some time after the lease, so the waits between attempts to connect, and
 * the time for each, are no longer than leases. Before the first WELCOME the lease isn't known.
 */
static int64_t lease_or_default_ns(const struct link *link)
{
	return link->lease_ns > 0 ? link->lease_ns : LIMIT_LEASE_MS * NS_PER_MS;
}

static double retry_max_s(const struct link *link)
{
	double lease_s = (double)lease_or_default_ns(link) / (double)NS_PER_S;

	return lease_s < RETRY_FIRST_S ? RETRY_FIRST_S : lease_s < RETRY_MAX_S ? lease_s : RETRY_MAX_S;
}

static int64_t attempt_ns(const struct link *link)
{
	int64_t two_ns = 2 * lease_or_default_ns(link);

	return two_ns < ATTEMPT_MIN_NS ? ATTEMPT_MIN_NS : two_ns < WELCOME_NS ? two_ns : WELCOME_NS;
}

static void retry_later(struct link *link)
{
	double jitter = 0.75 + (double)rand_below(&link->rand, 1000) / 2000.;
	double most_s = retry_max_s(link);

	link->retry_s = link->retry_s > 0. ? 2. * link->retry_s : RETRY_FIRST_S;
	if (link->retry_s > most_s)
		link->retry_s = link->retry_s >= 2. * RETRY_DENIED_S ? RETRY_DENIED_S : most_s;
	ev_timer_stop(link->loop, &link->retry);
	/* The master can't be dialled if it comes through bridges; it makes a new bridge by itself. */
	if (link_is_bridged(link) && link->bridge_fd < 0)
		return;
	ev_timer_set(&link->retry, link->retry_s * jitter, 0.);
	ev_timer_start(link->loop, &link->retry);
}

static void frame_cb(struct conn *conn, const struct frame *frame, void *owner)
{
	struct link *link = owner;

	if (link->conn == conn)
		link_frame(link, frame);
}

/* Close the connection to the master and forget everything that belongs to it. */
static void drop_connection(struct link *link)
{
	link->conn = NULL;
	if (link->leaving)
		ipc_put(&link->keeper, IPC_LEFT, NULL, 0);
	link->welcome = link->hello_owed = link->beat_owed = false;
	callers_drop(link);
	link_stage_online(link, false);
	buf_clear(&link->started);
	buf_clear(&link->done);
	ev_timer_stop(link->loop, &link->heartbeat);
}

static void closed_cb(struct conn *conn, const struct error *why, void *owner)
{
	struct link *link = owner;

	if (link->conn != conn)
		return;
	if (link->welcome || link->retry_s == 0. || (why && why->code == ERR_DENIED))
		log_warn_limited("the connection to the master was lost%s%s", why ? ": " : "", why ? why->text : "");
	drop_connection(link);
	if (link->ending)
		link_end(link);
	/* A refused key stays refused until a person acts, so try again only seldom. */
	if (why && why->code == ERR_DENIED)
		link->retry_s = RETRY_DENIED_S;
	retry_later(link);
}

static const struct conn_ops conn_ops = { .frame_cb = frame_cb, .closed_cb = closed_cb };

static bool keeper_answers(const struct link *link)
{
	return link->answered >= link->asked;
}

static void ask_keeper(struct link *link, enum ipc_type type, const void *body, size_t size)
{
	link->asked++;
	ipc_put(&link->keeper, type, body, size);
}

static void say_hello(struct link *link)
{
	link->hello_owed = false;
	link->hello_ns = clock_mono_ns();
	link_inventory(link);
}

/* Begin to connect to a master on another machine; NULL: error has the reason. */
static struct transport *connect_remote(struct link *link, struct error *error)
{
	struct transport *transport;
	struct key key;
	int fd;

	/* Read the key's file each time, so that a new key takes effect without a restart of the worker. */
	if (keyfile_read(link->options->key_path, &key, error) != ERR_NONE ||
	    dial_start(link->options->address, link->dials++, &fd, error) != ERR_NONE ||
	    transport_tls_connect(fd, key.identity, key.secret, &transport, error) != ERR_NONE)
		return NULL;
	/* TCP itself repeats packets ever more seldom: after an outage a new attempt connects sooner. */
	tcp_limit_unanswered(fd, attempt_ns(link) / NS_PER_MS);
	return transport;
}

static struct transport *connect_master(struct link *link, struct error *error)
{
	int fd, result;

	if (link_is_bridged(link))
		return link_bridge_take(link, error);
	if (link->options->address && link->options->address[0])
		return connect_remote(link, error);
	result = statedir_socket_connect(&link->options->statedir, &fd);
	if (result == 0)
		return transport_unix(fd);
	error_set(error, ERR_UNREACHABLE, "can't reach a master: %s", strerror(-result));
	return NULL;
}

static void connect_now(struct link *link)
{
	struct transport *transport;
	struct error error = { 0 };
	double look_s;

	/* The keeper hasn't answered since an earlier connection, so don't tell the master that this worker lives. */
	if (!keeper_answers(link)) {
		retry_later(link);
		return;
	}
	transport = connect_master(link, &error);
	if (!transport) {
		if (link->retry_s == 0. && error.code != ERR_NONE)
			log_info("%s; trying again", error.text);
		retry_later(link);
		return;
	}
	link->hello_ns = clock_mono_ns();
	link_forget_contexts(link);
	link->conn = conn_open(link->conns, transport, &conn_ops, link);
	/*
	 * The peer's identity is checked: the same user owns the socket, or the peer knows the key. So it may send
	 * frames of full size.
	 */
	conn_set_max_body(link->conn, LIMIT_FRAME_MAX);
	link->hello_owed = true;
	ask_keeper(link, IPC_PING, NULL, 0);
	if (keeper_answers(link))
		say_hello(link);
	ev_timer_stop(link->loop, &link->heartbeat);
	look_s = (double)attempt_ns(link) / (double)NS_PER_S / 4.;
	ev_timer_set(&link->heartbeat, look_s, look_s);
	ev_timer_start(link->loop, &link->heartbeat);
}

static void retry_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	connect_now(timer->data);
}

/* A new bridge has come, so the master has lost the connection before it, if there was one. */
static void bridge_come_cb(struct link *link)
{
	struct conn *old = link->conn;

	if (!link->listed)
		return;
	if (old) {
		drop_connection(link);
		conn_cut(old, NULL);
	}
	connect_now(link);
}

void link_lease(struct link *link, int64_t sent_ns)
{
	const struct ipc_lease lease = { sent_ns + link->lease_ns };

	/* The master echoes times that this link has sent; a time in the future is invalid. */
	if (!link->welcome || sent_ns > clock_mono_ns())
		return;
	link->echo_ns = clock_mono_ns();
	ask_keeper(link, IPC_LEASE, &lease, sizeof(lease));
}

/* List the jobs whose processes can't be killed, in the arena of the present frame. */
static struct u64_list stuck_jobs(struct link *link)
{
	struct u64_list list = { 0 };
	uint64_t *at;

	if (link->stuck_count == 0)
		return list;
	list.at = at = arena_alloc(&link->arena, link->stuck_count * sizeof(*at));
	for (const struct held *held = link->first; held && list.n < link->stuck_count; held = held->next)
		if (held->stuck)
			at[list.n++] = held->job;
	return list;
}

void link_beat(struct link *link)
{
	struct msg_heartbeat msg;

	if (!link->welcome)
		return;
	link->beat_owed = !keeper_answers(link);
	if (link->beat_owed)
		return;
	system_look(&link->load);
	msg = (struct msg_heartbeat){
		.sent_ns = clock_mono_ns(), .cpu_permille = link->load.cpu_permille,
		.mem_permille = link->load.mem_permille, .running = link->numbers.running,
		.queued = link->numbers.queued, .gpu_permille = link->load.gpu_permille,
		.load_permille = link->load.load_permille, .start_us = link->start_us, .stuck = stuck_jobs(link),
		.leaving = link->leaving,
	};
	conn_send(link->conn, OP_HEARTBEAT, &msg);
}

void link_end(struct link *link)
{
	ev_break(link->loop, EVBREAK_ALL);
}

void link_say_leaving(struct link *link)
{
	link->leaving = true;
	/* An older master doesn't know this word, and would never answer it. */
	if (link->welcome && !link->older_master)
		link_beat(link);
	else
		ipc_put(&link->keeper, IPC_LEFT, NULL, 0);
}

void link_say_end(struct link *link)
{
	const struct msg_heartbeat msg = { .sent_ns = clock_mono_ns(), .ending = true };

	if (link->conn && link->welcome)
		conn_send(link->conn, OP_HEARTBEAT, &msg);
	else
		link_end(link);
	link->ending = true;
}

void link_keeper_answered(struct link *link)
{
	link->answered++;
	if (!keeper_answers(link))
		return;
	if (link->keeper_silent) {
		log_info("the keeper responds again");
		/* Nothing was sent to the master meanwhile, so its silence is measured from now. */
		link->echo_ns = clock_mono_ns();
		link->keeper_silent = false;
	}
	if (link->hello_owed)
		say_hello(link);
	if (link->beat_owed)
		link_beat(link);
}

/*
 * Has the master had enough time for its WELCOME? One that doesn't even end the handshake isn't reached, for instance
 * because this machine has a new address. One that does may be slow, so each such attempt gets twice the time.
 */
static bool attempt_is_over(struct link *link, int64_t now_ns)
{
	int64_t most_ns = attempt_ns(link);
	struct identity identity;
	bool reached = conn_identity(link->conn, &identity) == 0;

	if (reached)
		most_ns = most_ns << link->slow_welcomes < WELCOME_NS ? most_ns << link->slow_welcomes : WELCOME_NS;
	if (now_ns - link->hello_ns <= most_ns)
		return false;
	if (reached && link->slow_welcomes < SLOW_WELCOMES_MAX)
		link->slow_welcomes++;
	return true;
}

static void heartbeat_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct link *link = timer->data;
	int64_t now_ns = clock_mono_ns();
	struct error error;

	(void)loop;
	(void)events;
	if (!link->conn)
		return;
	/*
	 * Keep the connection, so that output still flows; without heartbeats the master counts the worker as silent.
	 */
	if (!keeper_answers(link)) {
		if (!link->keeper_silent)
			log_warn("the keeper (process %" PRIu64 ") doesn't respond: the link sends no heartbeats until it does",
				 link->keeper_pid);
		link->keeper_silent = true;
		link->beat_owed = link->welcome;
		return;
	}
	if (link->welcome ? now_ns - link->echo_ns > link->lease_ns : attempt_is_over(link, now_ns)) {
		/* Not after sending what is queued: nothing gets through, and all of it is sent again. */
		error_set(&error, ERR_TIMEOUT, "the master sends nothing; the link connects again");
		conn_cut(link->conn, &error);
		return;
	}
	link_beat(link);
	link_stage_trim(link);
}

void link_welcomed(struct link *link, uint64_t heartbeat_ms)
{
	link_lease(link, link->hello_ns);
	link_stage_online(link, true);
	ship_reset(link);
	for (struct held *held = link->first; held; held = held->next) {
		held->done_sent = false;
		/* The attempt may have started between HELLO and now. */
		if (held->phase == PHASE_RUNNING && held->started.job)
			buf_add(&link->started, &held->started, sizeof(held->started));
		link_send_done(link, held);
	}
	ev_timer_stop(link->loop, &link->heartbeat);
	ev_timer_set(&link->heartbeat, (double)heartbeat_ms / 1e3, (double)heartbeat_ms / 1e3);
	ev_timer_start(link->loop, &link->heartbeat);
	link_beat(link);
}

/* --- the loop --- */

static void keeper_read_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	struct link *link = io->data;
	bool was_listed = link->listed;

	(void)events;
	if (!link_keeper_read(link)) {
		ev_break(loop, EVBREAK_ALL);
		return;
	}
	if (link->listed && !was_listed)
		connect_now(link);
}

static void keeper_write_cb(struct ev_loop *loop, struct ev_io *io, int events)
{
	(void)events;
	ev_io_stop(loop, io);
}

static void prepare_cb(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
	struct link *link = prepare->data;
	int result;

	(void)events;
	ship_pump(link);
	link_send_items(link);
	result = ev_is_active(&link->keeper_write) ? 0 : ipc_flush(&link->keeper);
	if (result > 0)
		ev_io_start(loop, &link->keeper_write);
	else if (result < 0)
		ev_break(loop, EVBREAK_ALL);
}

static void loop_init(struct link *link)
{
	ev_io_init(&link->keeper_read, keeper_read_cb, KEEPER_FD, EV_READ);
	ev_io_init(&link->keeper_write, keeper_write_cb, KEEPER_FD, EV_WRITE);
	ev_timer_init(&link->retry, retry_cb, 0., 0.);
	ev_timer_init(&link->heartbeat, heartbeat_cb, 0., 0.);
	ev_prepare_init(&link->prepare, prepare_cb);
	link->keeper_read.data = link->keeper_write.data = link->retry.data = link->heartbeat.data = link;
	link->prepare.data = link;
	ev_io_start(link->loop, &link->keeper_read);
	ev_prepare_start(link->loop, &link->prepare);
}

static bool read_hex(const char *hex, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sscanf(hex + 2 * i, "%2hhx", &bytes[i]) != 1)
			return false;
	return true;
}

static bool read_instance(struct link *link)
{
	const char *hex = getenv("TITAN_LINK_INSTANCE"), *pid = getenv("TITAN_LINK_PID"), *before = getenv("TITAN_LINK_BEFORE");

	if (!hex || !pid || strlen(hex) != 2 * sizeof(link->instance) || !read_hex(hex, link->instance, sizeof(link->instance)))
		return false;
	link->before_len = before ? strlen(before) / 2 : 0;
	if (link->before_len > sizeof(link->before) || (before && !read_hex(before, link->before, link->before_len)))
		return false;
	link->keeper_pid = strtoull(pid, NULL, 10);
	return true;
}

/* After an update the path has a mark at its end; then another version is there, which does. */
static void find_program(struct link *link)
{
	static const char mark[] = " (deleted)";
	ssize_t len = readlink("/proc/self/exe", link->program, sizeof(link->program) - 1);

	link->program[len > 0 ? len : 0] = '\0';
	if (len > (ssize_t)strlen(mark) && strcmp(link->program + len - strlen(mark), mark) == 0)
		link->program[(size_t)len - strlen(mark)] = '\0';
}

int link_run(const struct worker_options *options, struct error *error)
{
	struct link *link = mem_zalloc(sizeof(*link));
	uint64_t seed;
	int status = err_exit_status(ERR_SYSTEM);

	link->options = options;
	link->keeper.fd = KEEPER_FD;
	link->attempts_fd = link->inotify_fd = link->bridge_fd = -1;
	host_id(link->machine);
	find_program(link);
	link->boot = clock_boot_id();
	link->view = host_view();
	rand_system(&seed, sizeof(seed));
	rand_seed(&link->rand, seed);
	io_set_cloexec(KEEPER_FD, true);
	io_fd_count_limit();
	link->loop = ev_loop_new(EVFLAG_AUTO);
	if (!read_instance(link)) {
		error_set(error, ERR_USAGE, "titan link can't be run by hand; the keeper of a worker starts it");
		status = err_exit_status(ERR_USAGE);
	} else if (!link->loop) {
		error_set(error, ERR_SYSTEM, "can't make an event loop");
	} else if (ship_open(link, error) && callers_open(link, error) && link_bridge_open(link, bridge_come_cb, error)) {
		link->conns = conn_set_new(link->loop);
		loop_init(link);
		link_stage_open(link);
		ev_run(link->loop, 0);
		link_stage_close(link);
		callers_drop(link);
		conn_set_free(link->conns);
		status = 0;
	}
	gpu_helper_end(&link->load.gpu_helper);
	link_free_table(link);
	link_forget_contexts(link);
	if (link->loop)
		callers_close(link);
	link_bridge_close(link);
	ship_close(link);
	ipc_close(&link->keeper);
	arena_free(&link->arena);
	buf_free(&link->started);
	buf_free(&link->done);
	buf_free(&link->strings);
	buf_free(&link->inputs);
	if (link->loop)
		ev_loop_destroy(link->loop);
	mem_free(link);
	return status;
}

int link_main(void)
{
	const char *name = getenv("TITAN_LINK_NAME"), *cluster = getenv("TITAN_LINK_CLUSTER");
	const char *dir = getenv("TITAN_LINK_DIR"), *slots = getenv("TITAN_LINK_SLOTS");
	const char *gid = getenv("TITAN_LINK_GID"), *uid = getenv("TITAN_LINK_UID"), *place = getenv("TITAN_LINK_PLACE");
	struct worker_options options = { .name = name, .ready_fd = -1 };
	struct error error = { 0 };
	int status;

	log_init("link", LOG_LEVEL_INFO);
	if (!name || !cluster || !dir || !slots || strlen(dir) >= sizeof(options.statedir.dir) ||
	    strlen(cluster) >= sizeof(options.statedir.cluster)) {
		log_error("titan link can't be run by hand; the keeper of a worker starts it");
		return err_exit_status(ERR_USAGE);
	}
	memcpy(options.statedir.dir, dir, strlen(dir) + 1);
	memcpy(options.statedir.cluster, cluster, strlen(cluster) + 1);
	options.slots = (uint32_t)strtoul(slots, NULL, 10);
	options.labels = getenv("TITAN_LINK_LABELS");
	options.resources = getenv("TITAN_LINK_RESOURCES");
	options.pool = getenv("TITAN_LINK_POOL");
	options.address = getenv("TITAN_LINK_ADDRESS");
	options.key_path = getenv("TITAN_LINK_KEY");
	options.job_uid = uid ? (uint32_t)strtoul(uid, NULL, 10) : getuid();
	options.job_gid = gid ? (uint32_t)strtoul(gid, NULL, 10) : getgid();
	options.job_place = place && place[0] ? place : NULL;
	worker_log_to_file(&options);
	status = link_run(&options, &error);
	log_left_out();
	if (error.code)
		log_error("%s", error.text);
	return status;
}
