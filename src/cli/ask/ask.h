/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command's conversation with the master: a connection, signals, deadlines, requests and their answers. */
#ifndef TITAN_CLI_ASK_H
#define TITAN_CLI_ASK_H

#include "cli/session/cli.h"
#include "net/client.h"

enum err cli_connect(struct cli *cli);
/* The connection was lost: try again until there is a master, the deadline, or for_ms are over. */
enum err cli_reconnect(struct cli *cli, int64_t for_ms);
/* Until the command ends, Ctrl-C and SIGTERM make the waiting functions here return ERR_INTERRUPTED. */
enum err cli_catch_signals(struct cli *cli);
enum err cli_pause(struct cli *cli, int64_t ms);         /* ERR_NONE, ERR_INTERRUPTED, ERR_TIMEOUT */

/* Until one of poll's events is on fd (or -1), or then (monotonic; ERR_PENDING), or the deadline. */
enum err cli_wait_for(struct cli *cli, int fd, short events, int64_t until_ns);

/* A second connection of the same command, for requests while the first one gets a subscription's frames. */
void cli_branch(const struct cli *cli, struct cli *ret_branch);
void cli_branch_end(struct cli *branch);

/*
 * One request and its answer. Both structs begin with the id, which is filled in here. The answer's slices
 * are copied to the arena.
 */
enum err cli_call(struct cli *cli, enum opcode op, void *msg, enum opcode answer_op, struct arena *arena,
		  void *ret_answer);
/* The halves of cli_call, for requests of several frames. */
enum err cli_send(struct cli *cli, enum opcode op, void *msg, uint64_t id);
enum err cli_answer(struct cli *cli, uint64_t id, enum opcode answer_op, struct arena *arena, void *ret_answer);
/* An ERROR frame that is about this request, or the whole connection, becomes our error; ERR_NONE otherwise. */
enum err cli_take_error(struct cli *cli, const struct incoming *frame, uint64_t id);
/* The next frame until then (monotonic; ERR_PENDING when nothing came), ERR_TIMEOUT at the deadline. */
enum err cli_receive(struct cli *cli, int64_t until_ns, struct incoming *ret_frame);

#endif
