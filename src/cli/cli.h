/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a command has at hand: what was typed, where its cluster is, how things are shown, the connection.
 * Data goes to standard output, everything else to standard error. A command returns its exit status.
 */
#ifndef TITAN_CLI_CLI_H
#define TITAN_CLI_CLI_H

#include <signal.h>

#include "base/place.h"
#include "cli/options.h"
#include "cli/records.h"
#include "cli/session.h"
#include "net/client.h"

struct lost_output {                     /* whoever read it is gone, or its disk is full */
	bool lost, told;
	struct error why;
};

struct cli {
	struct session *session;
	struct lost_output *output;
	const struct invocation *invocation;
	struct settings settings;
	struct place place;
	struct look out, err;            /* of standard output and standard error */
	struct arena arena;              /* as long as the command */
	struct client *client;           /* after cli_connect */
	int signal_fd;                   /* after cli_catch_signals; else -1 */
	sigset_t signals_before;         /* blocked until then */
	int64_t deadline_ns;             /* monotonic, by --timeout; TIME_NEVER */
	struct error error;
};

typedef int command_fn(struct cli *cli);
#define GLOBAL(ident, letter, word, argument, help)
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) command_fn cmd_##ident;
#define OPTION(command, ident, letter, word, argument, help)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef END

/* The error on standard error, escaped, or as one JSON value with --json; its exit status. */
int cli_fail(struct cli *cli);
struct error_place {
	const char *file;
	uint64_t line, column;           /* from 1 */
};
void cli_error_json(struct cli *cli, const struct error_place *place);   /* place: of text, or NULL */
/*
 * To standard output; empties the buffer. When that is gone nothing more is printed, whatever waits or asks from then on
 * returns an error, and the command fails. why: what to say of it; NULL: that it can't be written to.
 */
void cli_print(struct cli *cli, struct buf *out);
void cli_print_or(struct cli *cli, struct buf *out, const struct error *why);
void cli_tell(struct cli *cli, struct slice text);       /* to standard error, as it is; also with -q */
/* A line on standard error, escaped, unless -q. */
void cli_note(struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * For commands that go by a cluster's directory. A job knows none, and the default one would be another cluster's:
 * ERR_DENIED inside a job, unless -C or TITAN_STATE names a cluster. may_not: "check the store"; next: the command.
 */
enum err cli_refuse_in_job(struct cli *cli, const char *may_not, const char *next);
/* -y, or a person's yes on the terminal; ERR_USAGE where nobody can be asked, ERR_INTERRUPTED for a no. */
enum err cli_confirm(struct cli *cli, const char *question);
/* What was shown is from the memory of a master that can't write. */
void cli_note_stuck(struct cli *cli);
/* A line, when STATUS says that the store has little room or none. */
void look_alarm_store(const struct cli *cli, const struct msg_snapshot *status, struct buf *out);
bool cli_chatty(const struct cli *cli);                  /* human style, standard output a terminal, no -q */

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

struct selector {
	uint64_t run;
	struct slice job;                /* empty: the whole run */
};

/* "4127", "last", "self", "4127/load"; "last" asks the master. */
enum err cli_select(struct cli *cli, const char *text, struct selector *ret);
enum err cli_select_run(struct cli *cli, const char *text, uint64_t *ret_run);   /* no job allowed */

/* encode and encode[*] are all of a fan-out, as in every act; no job is all of the run. */
bool selector_names(const struct selector *selector, struct slice name);

enum err cli_query(struct cli *cli, struct msg_query query, struct arena *arena, struct msg_snapshot *ret);
/* A run's row; ERR_NOT_FOUND says so with the next command. */
enum err cli_query_run(struct cli *cli, uint64_t run, struct arena *arena, struct rec_run_row *ret);
enum err cli_query_job(struct cli *cli, const struct selector *selector, struct arena *arena,
		       struct rec_job_row *ret);
/* The first jobs of a run, by index; SIZE_MAX: all. */
enum err cli_query_jobs(struct cli *cli, uint64_t run, size_t limit, struct arena *arena,
			struct rec_job_row **ret_jobs, size_t *ret_count);

#endif
