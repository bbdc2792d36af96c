/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a command talks to the master: requests, deadlines, signals, a lost connection. */
#include "cli/ask/ask.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/session/cli.h"
#include "proto/limits.h"

#define RETRY_FIRST_MS 50
#define RETRY_LONGEST_MS 1000
/* inside a job, how long to wait for the master: longer than a restart of master and link takes */
#define IN_JOB_MS 30000
#define ANSWER_MS 60000 /* longest wait for an answer; a master that takes longer is stopped, or its disk is full */

int64_t cli_now_ms(const struct cli *cli)
{
	return cli->at_ms ? cli->at_ms : clock_wall_ms();
}

static enum err connect_once(struct cli *cli)
{
	if (cli->client != NULL)
		return ERR_NONE;
	if (cli->settings.socket != NULL)
		return client_open_job(cli->settings.socket, cli->settings.token, &cli->client, &cli->error);
	if (cli->remote.address[0])
		return client_open_remote(cli->remote.address, &cli->remote.key, &cli->client, &cli->error);
	return client_open(&cli->statedir, &cli->client, &cli->error);
}

/* Connect to the master. In a job, wait for it: nobody is there to start it, or to run the command again. */
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
			return error_set(&cli->error, ERR_TIMEOUT, "titan waited for as long as --timeout allows, and gave up");
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

	/* If the master closed the connection because it refused the request, its last frame says why: read on. */
	if (err != ERR_NONE && err != ERR_UNREACHABLE)
		return err;
	for (;;) {
		struct incoming frame;

		err = cli_receive(cli, until, &frame);
		if (err == ERR_PENDING) {
			error_set(&cli->error, ERR_TIMEOUT, "the master doesn't respond; is it stopped, or its disk "
				"full?");
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
