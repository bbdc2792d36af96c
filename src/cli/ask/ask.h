/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a command talks to the master: a connection, signals, deadlines, requests and their answers. */
#ifndef TITAN_CLI_ASK_H
#define TITAN_CLI_ASK_H

#include "cli/session/cli.h"
#include "net/client.h"

enum err cli_connect(struct cli *cli);
int64_t cli_now_ms(const struct cli *cli);       /* the time that the command shows: now, unless --at was given */
/* After a lost connection, connect again: try until it succeeds, the deadline has come, or for_ms are over. */
enum err cli_reconnect(struct cli *cli, int64_t for_ms);
/* From now until the command ends, Ctrl-C and SIGTERM make the waiting functions here return ERR_INTERRUPTED. */
enum err cli_catch_signals(struct cli *cli);
enum err cli_pause(struct cli *cli, int64_t ms);         /* returns ERR_NONE, ERR_INTERRUPTED or ERR_TIMEOUT */

/*
 * Wait until fd has one of poll's events (fd -1: only wait). until_ns is monotonic; ERR_PENDING: that time has come.
 * ERR_TIMEOUT: the command's deadline has come.
 */
enum err cli_wait_for(struct cli *cli, int fd, short events, int64_t until_ns);

/* Make a second connection for requests, while the first one gets the frames of a subscription. */
void cli_branch(const struct cli *cli, struct cli *ret_branch);
void cli_branch_end(struct cli *branch);

/*
 * Send a request and wait for its answer. Both structs begin with the request's id, which is filled in here. The
 * answer's slices are copied to the arena.
 */
enum err cli_call(struct cli *cli, enum opcode op, void *msg, enum opcode answer_op, struct arena *arena,
		  void *ret_answer);
/* The two halves of cli_call, for a request that is sent in several frames. */
enum err cli_send(struct cli *cli, enum opcode op, void *msg, uint64_t id);
enum err cli_answer(struct cli *cli, uint64_t id, enum opcode answer_op, struct arena *arena, void *ret_answer);
/* If the frame is an ERROR about this request or about the whole connection, set cli->error. Otherwise ERR_NONE. */
enum err cli_take_error(struct cli *cli, const struct incoming *frame, uint64_t id);
/*
 * Wait for the next frame. until_ns is monotonic; ERR_PENDING: no frame came until then. ERR_TIMEOUT at the deadline.
 */
enum err cli_receive(struct cli *cli, int64_t until_ns, struct incoming *ret_frame);

#endif
