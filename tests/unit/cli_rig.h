/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A rig for tests of commands: a session whose output is kept, and a fake master whose threads serve a real socket. The
 * master answers queries from tables of rows; callbacks of the test answer subscriptions, acts and submits. Include
 * once per program.
 */
#ifndef TITAN_CLI_RIG_H
#define TITAN_CLI_RIG_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/statedir.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/session/cli.h"
#include "cli/session/session.h"
#include "net/client.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "proto/states.h"
#include "scratch.h"

#define RIG_RUNS        16
#define RIG_JOBS        256
#define RIG_CONNECTIONS 64

/* A connection to the fake master, served by a thread of its own. */
struct rig_peer {
	pthread_t thread;
	int fd;
	struct buf in;
	struct arena arena;              /* memory of the last message that the fake master received */
};

static struct rig {
	char home[SCRATCH_SIZE];
	struct statedir statedir;
	int listen_fd;
	pthread_t thread;
	struct rig_peer peers[RIG_CONNECTIONS];
	size_t peer_count;

	/* state of the fake master: set it before a command starts, or under the lock */
	pthread_mutex_t lock;
	struct rec_run_row runs[RIG_RUNS];       /* the newest first */
	size_t run_count;
	struct rec_job_row jobs[RIG_JOBS];       /* jobs of each run in the order of their index */
	size_t job_count;
	size_t page;                     /* most rows in one answer of the fake master; 0: all rows */
	struct slice log;                /* of every job */
	unsigned repeat; /* answer the list of runs this many times, each time with larger run numbers; 0: once */
	struct msg_query asked;          /* the last query about runs; the name in it is copied to asked_name */
	char asked_name[160];

	/* The test's answers to requests. Return false to close the connection. */
	bool (*subscribed_cb)(struct rig_peer *peer, const struct msg_subscribe *msg, int nth);
	bool (*acted_cb)(struct rig_peer *peer, const struct msg_act *msg);
	bool (*submitted_cb)(struct rig_peer *peer, const struct msg_submit *msg, int nth);
	int subscriptions, submits, questions;
	volatile bool over;              /* the test is over: threads must stop waiting */

	struct session session;
	struct buf out, err;             /* output of the command: stdout and stderr */
} rig;

/* ---- the master's side ---- */

static inline void rig_say(struct rig_peer *peer, enum opcode op, const void *msg)
{
	struct buf bytes = { 0 };
	size_t sent = 0;

	message_encode(&bytes, op, msg);
	while (sent < bytes.len) {
		ssize_t got = send(peer->fd, bytes.data + sent, bytes.len - sent, MSG_NOSIGNAL);

		if (got < 0)
			break;           /* the command has closed its connection to the fake master */
		sent += (size_t)got;
	}
	buf_free(&bytes);
}

static inline void rig_refuse(struct rig_peer *peer, uint64_t id, enum err code, const char *text)
{
	const struct msg_error msg = { .id = id, .code = code, .text = slice_str(text), .next = slice_str("titan ls") };

	rig_say(peer, OP_ERROR, &msg);
}

static inline bool rig_frame(struct rig_peer *peer, struct frame *ret)
{
	struct error error;
	size_t size;

	buf_clear(&peer->in);
	while (frame_read(buf_slice(&peer->in), LIMIT_FRAME_MAX, ret, &size, &error) != FRAME_WHOLE) {
		ssize_t got = recv(peer->fd, buf_reserve(&peer->in, 1), 1, 0);

		if (got != 1)
			return false;
		peer->in.len++;
	}
	arena_reset(&peer->arena);
	ret->body = arena_copy(&peer->arena, ret->body);
	return true;
}

static inline size_t rig_room(uint64_t limit)
{
	size_t page = rig.page ? rig.page : SIZE_MAX;

	return limit && limit < page ? (size_t)limit : page;
}

static inline void rig_answer_runs(struct rig_peer *peer, const struct msg_query *query)
{
	struct msg_snapshot answer = { .id = query->id, .turn = 1 };
	struct rec_run_row rows[RIG_RUNS];
	size_t room = rig_room(query->limit), count = rig.run_count * (rig.repeat ? rig.repeat : 1);

	rig.asked = *query;
	snprintf(rig.asked_name, sizeof(rig.asked_name), "%.*s", (int)query->name.len, query->name.len ? (const char *)query->name.data : "");
	rig.asked.name = slice_str(rig.asked_name);
	for (size_t i = 0; i < count; i++) {
		struct rec_run_row row = rig.runs[i % rig.run_count];

		row.run += (count - 1 - i) / rig.run_count * rig.run_count;
		if (query->cursor && row.run >= query->cursor)
			continue;
		if (answer.runs.n == (room < RIG_RUNS ? room : RIG_RUNS)) {
			answer.cursor = rows[answer.runs.n - 1].run;
			break;
		}
		rows[answer.runs.n++] = row;
	}
	answer.runs.at = rows;
	rig_say(peer, OP_SNAPSHOT, &answer);
}

static inline void rig_answer_jobs(struct rig_peer *peer, const struct msg_query *query)
{
	struct msg_snapshot answer = { .id = query->id, .turn = 1 };
	struct rec_job_row rows[RIG_JOBS];
	size_t room = rig_room(query->limit), known = 0;

	for (size_t i = 0; i < rig.run_count; i++)
		known += rig.runs[i].run == query->run;
	if (known == 0) {
		rig_refuse(peer, query->id, ERR_NOT_FOUND, "no such run");
		return;
	}
	for (size_t i = 0; i < rig.job_count; i++) {
		if (rig.jobs[i].run != query->run || rig.jobs[i].index < query->cursor)
			continue;
		if (answer.jobs.n == room) {
			answer.cursor = rig.jobs[i].index;
			break;
		}
		rows[answer.jobs.n++] = rig.jobs[i];
	}
	answer.jobs.at = rows;
	rig_say(peer, OP_SNAPSHOT, &answer);
}

static inline void rig_answer_job(struct rig_peer *peer, const struct msg_query *query)
{
	struct msg_snapshot answer = { .id = query->id, .turn = 1 };

	for (size_t i = 0; i < rig.job_count; i++) {
		if (rig.jobs[i].run != query->run || !slice_eq(rig.jobs[i].name, query->job))
			continue;
		answer.jobs.at = &rig.jobs[i];
		answer.jobs.n = 1;
		rig_say(peer, OP_SNAPSHOT, &answer);
		return;
	}
	rig_refuse(peer, query->id, ERR_NOT_FOUND, "no such job");
}

static inline void rig_answer_query(struct rig_peer *peer, const struct msg_query *query)
{
	const struct msg_snapshot nothing = { .id = query->id, .turn = 1 };

	rig.questions++;
	if (query->what == QUERY_RUNS)
		rig_answer_runs(peer, query);
	else if (query->what == QUERY_JOBS)
		rig_answer_jobs(peer, query);
	else if (query->what == QUERY_JOB || query->what == QUERY_EXPLAIN)
		rig_answer_job(peer, query);
	else
		rig_say(peer, OP_SNAPSHOT, &nothing);
}

/* Answer a log query with the whole rest of the log from the offset on, or with the part before the offset. */
static inline void rig_answer_log(struct rig_peer *peer, const struct msg_log_read *read)
{
	uint64_t len = rig.log.len, end = read->offset < len ? read->offset : len;
	uint64_t start = read->back ? end - (read->back < end ? read->back : end) : end;
	uint64_t stop = read->back ? end : rig.page && len - start > rig.page ? start + rig.page : len;
	struct rec_output piece = {
		.job = read->job, .epoch = read->epoch, .run = read->run, .stream = 1, .offset = start,
		.data = start < stop ? slice_make(rig.log.data + start, stop - start) : (struct slice){ 0 },
	};
	const struct msg_log_data answer = {
		.id = read->id, .offset = stop, .pieces = { .at = &piece, .n = start < stop }, .end = stop == len, .start = start,
		.kept = len,
	};

	rig_say(peer, OP_LOG_DATA, &answer);
}

static inline void rig_welcome(struct rig_peer *peer)
{
	const struct msg_welcome msg = {
		.version = PROTOCOL_VERSION, .cluster = slice_str("default"), .generation = 1, .boot = 1, .turn = 1,
		.heartbeat_ms = 5000, .lease_ms = 20000, .role = ROLE_ADMIN, .pid = 1,
	};

	rig_say(peer, OP_WELCOME, &msg);
}

static inline bool rig_take_act(struct rig_peer *peer, const struct msg_act *act)
{
	const struct msg_ok ok = { .id = act->id, .count = 1 };

	if (rig.acted_cb)
		return rig.acted_cb(peer, act);
	rig_say(peer, OP_OK, &ok);
	return true;
}

static inline bool rig_serve_frame(struct rig_peer *peer, const struct frame *frame)
{
	union {
		struct msg_query query;
		struct msg_subscribe subscribe;
		struct msg_act act;
		struct msg_submit submit;
		struct msg_log_read log_read;
		struct msg_hello hello;
	} msg;
	struct error error;
	bool goes_on = true;
	enum opcode op = (enum opcode)frame->opcode;

	if (op != OP_HELLO && op != OP_QUERY && op != OP_SUBSCRIBE && op != OP_ACT && op != OP_SUBMIT && op != OP_LOG_READ)
		return false;
	if (message_decode(op, frame->body, &peer->arena, &msg, &error) != ERR_NONE)
		abort();
	pthread_mutex_lock(&rig.lock);
	if (op == OP_HELLO)
		rig_welcome(peer);
	else if (op == OP_QUERY)
		rig_answer_query(peer, &msg.query);
	else if (op == OP_LOG_READ)
		rig_answer_log(peer, &msg.log_read);
	else if (op == OP_ACT)
		goes_on = rig_take_act(peer, &msg.act);
	else if (op == OP_SUBSCRIBE)
		goes_on = rig.subscribed_cb && rig.subscribed_cb(peer, &msg.subscribe, rig.subscriptions++);
	else
		goes_on = rig.submitted_cb && rig.submitted_cb(peer, &msg.submit, rig.submits++);
	pthread_mutex_unlock(&rig.lock);
	return goes_on;
}

static inline void *rig_serve_cb(void *arg)
{
	struct rig_peer *peer = arg;
	struct frame frame;

	while (rig_frame(peer, &frame) && rig_serve_frame(peer, &frame))
		;
	shutdown(peer->fd, SHUT_RDWR);
	buf_free(&peer->in);
	arena_free(&peer->arena);
	return NULL;
}

static inline void *rig_accept_cb(void *arg)
{
	struct pollfd ready = { .fd = rig.listen_fd, .events = POLLIN };

	(void)arg;
	for (;;) {
		struct rig_peer *peer = &rig.peers[rig.peer_count];
		int fd = poll(&ready, 1, -1) == 1 ? accept(rig.listen_fd, NULL, NULL) : -1;

		if (rig.over)
			return NULL;
		if (fd < 0)
			continue;
		if (rig.peer_count == RIG_CONNECTIONS)
			abort();
		*peer = (struct rig_peer){ .fd = fd };
		if (pthread_create(&peer->thread, NULL, rig_serve_cb, peer) != 0)
			abort();
		rig.peer_count++;
	}
}

/* ---- the command's side ---- */

static inline int rig_take(void *arg, const void *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

static inline void rig_setup_cb(void *data)
{
	sigset_t all, before;

	(void)data;
	rig = (struct rig){ .listen_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };
	rig.session = (struct session){
		.out = { .write_cb = rig_take, .arg = &rig.out }, .err = { .write_cb = rig_take, .arg = &rig.err }, .in_fd = -1,
	};
	scratch_new("cli", rig.home);
	unsetenv("TITAN_CLUSTER");
	unsetenv("TITAN_SOCKET");
	setenv("HOME", rig.home, 1);
	if (setenv("TITAN_STATE", rig.home, 1) != 0 || statedir_find(NULL, &rig.statedir) != 0 || statedir_make(&rig.statedir) != 0 ||
	    statedir_socket_listen(&rig.statedir, &rig.listen_fd) != 0)
		abort();
	/* Block all signals in this thread, so that the command's thread gets them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&rig.thread, NULL, rig_accept_cb, NULL) != 0)
		abort();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static inline void rig_teardown_cb(void *data)
{
	(void)data;
	rig.over = true;
	shutdown(rig.listen_fd, SHUT_RDWR);
	pthread_join(rig.thread, NULL);
	close(rig.listen_fd);
	for (size_t i = 0; i < rig.peer_count; i++) {
		shutdown(rig.peers[i].fd, SHUT_RDWR);
		pthread_join(rig.peers[i].thread, NULL);
		close(rig.peers[i].fd);
	}
	buf_free(&rig.out);
	buf_free(&rig.err);
	if (io_remove_tree(AT_FDCWD, rig.home) != 0)
		abort();
}

/*
 * Run a command line such as "wait 4 --json" (words divided by blanks) and return its exit status. Clears the output of
 * the command before.
 */
static inline int rig_run(const char *line)
{
	char words[512], *argv[32], *rest = words;
	int argc = 0, status;

	snprintf(words, sizeof(words), "titan %s", line);
	for (char *word; (word = strsep(&rest, " ")) != NULL && argc < 31;)
		if (word[0] != '\0')
			argv[argc++] = word;
	argv[argc] = NULL;
	buf_clear(&rig.out);
	buf_clear(&rig.err);
	status = session_run(&rig.session, argc, argv);
	if (getenv("RIG_SHOW"))
		printf("# %s: %d\n%s%s", line, status, buf_cstr(&rig.out), buf_cstr(&rig.err));
	return status;
}

/* Make a struct cli as session_run makes it for a command without options, for functions that take one. */
static inline void rig_cli_begin(struct cli *cli)
{
	static struct lost_output output;
	static struct invocation invocation;

	output = (struct lost_output){ 0 };
	invocation = (struct invocation){ 0 };
	*cli = (struct cli){
		.session = &rig.session, .output = &output, .invocation = &invocation, .settings = { .timeout_ms = -1 },
		.statedir = rig.statedir, .signal_fd = -1, .deadline_ns = TIME_NEVER,
	};
}

static inline void rig_cli_end(struct cli *cli)
{
	client_close(cli->client);
	arena_free(&cli->arena);
}

static inline const char *rig_out(void)
{
	return buf_cstr(&rig.out);
}

static inline const char *rig_err(void)
{
	return buf_cstr(&rig.err);
}

/* ---- rows ---- */

/* Add a run with this many jobs in the state. The test may raise other counts afterwards. */
static inline struct rec_run_row *rig_add_run(uint64_t number, enum run_state state)
{
	static uint64_t counts[RIG_RUNS][STATE_COUNT];
	struct rec_run_row *run = &rig.runs[rig.run_count];

	if (rig.run_count == RIG_RUNS)
		abort();
	memset(counts[rig.run_count], 0, sizeof(counts[0]));
	*run = (struct rec_run_row){
		.run = number, .name = slice_str("r"), .state = state, .submitted_ms = 1000, .owner = slice_str("anna"),
		.ended_ms = run_state_terminal(state) ? 5000 : 0, .counts = { counts[rig.run_count], STATE_COUNT },
	};
	rig.run_count++;
	return run;
}

/* Add the next job to the run that was added last. Its serial number is 100 * RUN + INDEX. */
static inline struct rec_job_row *rig_add_job(const char *name, enum job_state state)
{
	struct rec_run_row *run = &rig.runs[rig.run_count - 1];
	struct rec_job_row *job = &rig.jobs[rig.job_count];

	if (rig.job_count == RIG_JOBS)
		abort();
	rig.job_count++;
	*job = (struct rec_job_row){
		.job = 100 * run->run + run->jobs, .run = run->run, .index = run->jobs, .name = slice_str(name), .state = state, .epoch = 1,
		.outcome = state == STATE_FAILED || state == STATE_SUCCEEDED ? OUTCOME_EXIT : OUTCOME_NONE,
		.code = state == STATE_FAILED, .tries = state_terminal(state), .ended_ms = state_terminal(state) ? 5000 : 0,
	};
	run->jobs++;
	run->counts.at[state]++;
	return job;
}

#endif
