/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command's conversation with the master: requests, deadlines, signals, a lost connection. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "proto/limits.h"

#define RETRY_FIRST_MS 50
#define RETRY_LONGEST_MS 1000
#define IN_JOB_MS 30000                  /* a master and a link that start again take less */
#define ANSWER_MS 60000                  /* a master that takes longer is stopped, or its disk is full */

static enum err connect_once(struct cli *cli)
{
	if (cli->client != NULL)
		return ERR_NONE;
	if (cli->settings.socket != NULL)
		return client_open_job(cli->settings.socket, cli->settings.token, &cli->client, &cli->error);
	return client_open(&cli->place, &cli->client, &cli->error);
}

/* A job has nobody beside it who would start the master, or try again: it waits for a while. */
enum err cli_connect(struct cli *cli)
{
	return cli->settings.socket != NULL && cli->client == NULL ? cli_reconnect(cli, IN_JOB_MS) : connect_once(cli);
}

enum err cli_catch_signals(struct cli *cli)
{
	sigset_t signals;

	if (cli->signal_fd >= 0)
		return ERR_NONE;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &signals, &cli->signals_before) != 0)
		return error_system(&cli->error, errno, "can't block signals");
	cli->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (cli->signal_fd < 0)
		return error_system(&cli->error, errno, "can't watch for signals");
	return ERR_NONE;
}

static int poll_ms(int64_t until_ns)
{
	int64_t left = until_ns - clock_mono_ns();

	if (until_ns == TIME_NEVER || left / NS_PER_MS > 3600 * 1000)
		return 3600 * 1000;
	return left <= 0 ? 0 : (int)(left / NS_PER_MS + 1);
}

enum err cli_wait_for(struct cli *cli, int fd, short events, int64_t until_ns)
{
	int64_t until = until_ns < cli->deadline_ns ? until_ns : cli->deadline_ns;
	struct pollfd fds[] = { { .fd = fd, .events = events }, { .fd = cli->signal_fd, .events = POLLIN } };

	if (cli->output->lost) {
		cli->error = cli->output->why;
		return cli->error.code;
	}
	for (;;) {
		int ready = poll(fds, 2, poll_ms(until));

		if (ready < 0 && errno != EINTR)
			return error_system(&cli->error, errno, "can't wait for input");
		if (ready > 0 && fds[1].revents != 0)
			return error_set(&cli->error, ERR_INTERRUPTED, "interrupted");
		if (ready > 0)
			return ERR_NONE;
		if (clock_mono_ns() >= cli->deadline_ns)
			return error_set(&cli->error, ERR_TIMEOUT, "the time given with --timeout is over");
		if (clock_mono_ns() >= until_ns)
			return ERR_PENDING;
	}
}

enum err cli_pause(struct cli *cli, int64_t ms)
{
	enum err err = cli_wait_for(cli, -1, 0, clock_mono_ns() + ms * NS_PER_MS);

	return err == ERR_PENDING ? ERR_NONE : err;
}

enum err cli_reconnect(struct cli *cli, int64_t for_ms)
{
	int64_t until = clock_mono_ns() + for_ms * NS_PER_MS;
	int64_t pause = RETRY_FIRST_MS;
	enum err err;

	client_close(cli->client);
	cli->client = NULL;
	for (;;) {
		struct error last;

		err = connect_once(cli);
		if (!err_again(err) || clock_mono_ns() >= until)
			return err;
		last = cli->error;
		err = cli_pause(cli, pause);
		if (err != ERR_NONE)
			return err;
		cli->error = last;
		pause = pause * 2 < RETRY_LONGEST_MS ? pause * 2 : RETRY_LONGEST_MS;
	}
}

enum err cli_receive(struct cli *cli, int64_t until_ns, struct incoming *ret_frame)
{
	for (;;) {
		enum err err = client_receive(cli->client, 0, ret_frame, &cli->error);

		if (err != ERR_PENDING)
			return err;
		err = cli_wait_for(cli, client_fd(cli->client), client_events(cli->client), until_ns);
		if (err != ERR_NONE)
			return err;
	}
}

static enum err cli_decode(struct cli *cli, const struct incoming *frame, struct arena *arena, void *ret_msg)
{
	return message_decode(frame->op, arena_copy(arena, frame->body), arena, ret_msg, &cli->error);
}

enum err cli_take_error(struct cli *cli, const struct incoming *frame, uint64_t id)
{
	struct arena arena = { 0 };
	struct msg_error msg;
	enum err err = cli_decode(cli, frame, &arena, &msg);

	if (err == ERR_NONE && (msg.id == 0 || msg.id == id)) {
		err = err_known((unsigned)msg.code) && msg.code != ERR_NONE ? (enum err)msg.code : ERR_INTERNAL;
		error_set(&cli->error, err, "%.*s", (int)msg.text.len, (const char *)msg.text.data);
		error_next(&cli->error, "%.*s", (int)msg.next.len, (const char *)msg.next.data);
	}
	arena_free(&arena);
	return err;
}

enum err cli_send(struct cli *cli, enum opcode op, void *msg, uint64_t id)
{
	memcpy(msg, &id, sizeof(id));
	return client_send(cli->client, op, msg, &cli->error);
}

enum err cli_answer(struct cli *cli, uint64_t id, enum opcode answer_op, struct arena *arena, void *ret_answer)
{
	int64_t until = clock_mono_ns() + ANSWER_MS * NS_PER_MS;
	enum err err = client_flush(cli->client, &cli->error);

	/* A master that refused and closed has said why: its last word is still to be read. */
	if (err != ERR_NONE && err != ERR_UNREACHABLE)
		return err;
	for (;;) {
		struct incoming frame;

		err = cli_receive(cli, until, &frame);
		if (err == ERR_PENDING) {
			error_set(&cli->error, ERR_TIMEOUT, "the master doesn't answer; is it stopped, or its disk full?");
			return error_next(&cli->error, "titan status");
		}
		if (err != ERR_NONE)
			return err;
		if (frame.op == OP_ERROR) {
			err = cli_take_error(cli, &frame, id);
			if (err != ERR_NONE)
				return err;
		} else if (frame.op == answer_op) {
			uint64_t answered;

			err = cli_decode(cli, &frame, arena, ret_answer);
			if (err != ERR_NONE)
				return err;
			memcpy(&answered, ret_answer, sizeof(answered));
			if (answered == id)
				return ERR_NONE;
		}
	}
}

enum err cli_call(struct cli *cli, enum opcode op, void *msg, enum opcode answer_op, struct arena *arena,
		  void *ret_answer)
{
	uint64_t id = client_next_id(cli->client);
	enum err err = cli_send(cli, op, msg, id);

	return err != ERR_NONE ? err : cli_answer(cli, id, answer_op, arena, ret_answer);
}

void cli_branch(const struct cli *cli, struct cli *ret_branch)
{
	*ret_branch = *cli;
	ret_branch->client = NULL;
	ret_branch->arena = (struct arena){ 0 };
	ret_branch->error = (struct error){ 0 };
}

void cli_branch_end(struct cli *branch)
{
	client_close(branch->client);
	branch->client = NULL;
	arena_free(&branch->arena);
}

enum err cli_query(struct cli *cli, struct msg_query query, struct arena *arena, struct msg_snapshot *ret)
{
	return cli_call(cli, OP_QUERY, &query, OP_SNAPSHOT, arena, ret);
}

enum err cli_query_run(struct cli *cli, uint64_t run, struct arena *arena, struct rec_run_row *ret)
{
	struct msg_snapshot snapshot;
	enum err err = cli_query(cli, (struct msg_query){ .what = QUERY_RUNS, .run = run, .cursor = run + 1, .limit = 1 },
				 arena, &snapshot);

	for (size_t i = 0; err == ERR_NONE && i < snapshot.runs.n; i++) {
		if (snapshot.runs.at[i].run == run) {
			*ret = snapshot.runs.at[i];
			return ERR_NONE;
		}
	}
	/* Asked for by its number, the master says whether it was pruned. */
	if (err == ERR_NONE || err == ERR_NOT_FOUND)
		err = cli_query(cli, (struct msg_query){ .what = QUERY_JOBS, .run = run, .limit = 1 }, arena, &snapshot);
	if (err == ERR_NONE || err == ERR_NOT_FOUND) {
		err = error_set(&cli->error, ERR_NOT_FOUND, "there is no run %llu", (unsigned long long)run);
		error_next(&cli->error, "titan ls");
	}
	return err;
}

/* The answer to a name that no job has. */
static enum err refuse_name(struct cli *cli, const struct selector *selector, struct arena *arena)
{
	struct buf first = { 0 };
	struct msg_snapshot snapshot;
	unsigned long long run = selector->run;
	int len = (int)selector->job.len;
	const char *name = (const char *)selector->job.data;
	enum err err;

	buf_addf(&first, "%.*s[0]", len, name);
	err = cli_query(cli, (struct msg_query){ .what = QUERY_JOB, .run = selector->run, .job = buf_slice(&first) }, arena,
			&snapshot);
	if (err == ERR_NONE && snapshot.jobs.n > 0)
		error_set(&cli->error, ERR_NOT_FOUND, "%llu/%.*s is a fan-out: one of its jobs is expected, such as %llu/%s", run,
			  len, name, run, buf_cstr(&first));
	else if (err == ERR_NONE || err == ERR_NOT_FOUND)
		error_set(&cli->error, ERR_NOT_FOUND, "no job %llu/%.*s", run, len, name);
	buf_free(&first);
	return cli->error.code == ERR_NOT_FOUND ? error_next(&cli->error, "titan show %llu", run) : err;
}

enum err cli_query_job(struct cli *cli, const struct selector *selector, struct arena *arena,
		       struct rec_job_row *ret)
{
	struct msg_query query = { .what = QUERY_JOB, .run = selector->run, .job = selector->job };
	struct msg_snapshot snapshot;
	struct rec_run_row run;
	enum err err = cli_query(cli, query, arena, &snapshot);

	if (err == ERR_NONE && snapshot.jobs.n > 0) {
		*ret = snapshot.jobs.at[0];
		return ERR_NONE;
	}
	if (err == ERR_NONE || err == ERR_NOT_FOUND)
		err = cli_query_run(cli, selector->run, arena, &run);
	return err == ERR_NONE ? refuse_name(cli, selector, arena) : err;
}

enum err cli_query_jobs(struct cli *cli, uint64_t run, size_t limit, struct arena *arena,
			struct rec_job_row **ret_jobs, size_t *ret_count)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = run };
	struct rec_job_row *jobs = NULL;
	size_t count = 0, room = 0;

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, arena, &page);

		if (err != ERR_NONE)
			return err;
		if (count + page.jobs.n > room) {
			struct rec_job_row *bigger;

			room = (count + page.jobs.n) * 2;
			bigger = arena_zalloc(arena, room, sizeof(*bigger));
			if (count > 0)
				memcpy(bigger, jobs, count * sizeof(*jobs));
			jobs = bigger;
		}
		if (page.jobs.n > 0)
			memcpy(jobs + count, page.jobs.at, page.jobs.n * sizeof(*jobs));
		count += page.jobs.n;
		query.cursor = page.cursor;
	} while (query.cursor != 0 && count < limit);
	*ret_jobs = jobs;
	*ret_count = count < limit ? count : limit;
	return ERR_NONE;
}

static enum err select_last(struct cli *cli, uint64_t *ret_run)
{
	struct arena arena = { 0 };
	struct msg_snapshot snapshot = { 0 };
	struct msg_query query = { .what = QUERY_RUNS, .limit = 1 };
	enum err err = cli_connect(cli);

	/* A job gets pages without rows, too: the runs of others are left out. */
	while (err == ERR_NONE && snapshot.runs.n == 0) {
		err = cli_query(cli, query, &arena, &snapshot);
		query.cursor = snapshot.cursor;
		if (query.cursor == 0)
			break;
	}
	if (err == ERR_NONE && snapshot.runs.n == 0) {
		err = error_set(&cli->error, ERR_NOT_FOUND, "there is no run yet");
		error_next(&cli->error, "titan run -e \"hello; hello='echo hello'\"");
	}
	if (err == ERR_NONE)
		*ret_run = snapshot.runs.at[0].run;
	arena_free(&arena);
	return err;
}

enum err cli_select(struct cli *cli, const char *text, struct selector *ret)
{
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct selector selector = { 0 };
	enum err err;

	if (len == 4 && memcmp(text, "last", 4) == 0) {
		err = select_last(cli, &selector.run);
		if (err != ERR_NONE)
			return err;
	} else if (len == 4 && memcmp(text, "self", 4) == 0) {
		if (cli->settings.own_run == NULL || !text_parse_u64(slice_str(cli->settings.own_run), &selector.run))
			return error_set(&cli->error, ERR_USAGE, "self is the run of the job that asks, and nobody asks from a job here");
	} else {
		bool digits = text_parse_u64(slice_make(text, len), &selector.run) && selector.run <= INT64_MAX;

		if (!digits || selector.run == 0) {
			error_set(&cli->error, ERR_USAGE, "'%s' is neither a run (4127, last, self) nor a job (4127/load)", text);
			return error_next(&cli->error, "titan help selectors");
		}
	}
	if (slash != NULL) {
		selector.job = slice_str(slash + 1);
		if (selector.job.len == 0 || selector.job.len > LIMIT_NAME_MAX_LEN + 24)
			return error_set(&cli->error, ERR_USAGE, "'%s': a job's name is expected behind the /", text);
	}
	*ret = selector;
	return ERR_NONE;
}

bool selector_names(const struct selector *selector, struct slice name)
{
	struct slice wanted = selector->job;

	if (wanted.len > 3 && memcmp(wanted.data + wanted.len - 3, "[*]", 3) == 0)
		wanted.len -= 3;
	else if (wanted.len == 0 || slice_eq(wanted, name))
		return true;
	return name.len > wanted.len && name.data[wanted.len] == '[' && memcmp(name.data, wanted.data, wanted.len) == 0;
}

enum err cli_select_run(struct cli *cli, const char *text, uint64_t *ret_run)
{
	struct selector selector;
	enum err err = cli_select(cli, text, &selector);

	if (err != ERR_NONE)
		return err;
	if (selector.job.len > 0)
		return error_set(&cli->error, ERR_USAGE, "'%s' is a job; a run is expected here", text);
	*ret_run = selector.run;
	return ERR_NONE;
}
