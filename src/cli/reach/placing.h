/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bringing workers to machines, several at once: log in, look, copy the program, start the worker, wait until it is
 * connected. Each machine goes through these steps by itself; a failure ends only its own way.
 */
#ifndef TITAN_CLI_PLACING_H
#define TITAN_CLI_PLACING_H

#include "cli/reach/probe.h"
#include "cli/reach/program.h"
#include "cli/reach/ssh_call.h"
#include "net/keyfile.h"

enum placing_step {
	PLACING_QUEUED,                  /* not begun */
	PLACING_PROBE,                   /* the probe runs */
	PLACING_ALONE,                   /* the login that the master will make is tried */
	PLACING_LOOK,                    /* is the program there, and does the worker run? */
	PLACING_COPY, PLACING_START,
	PLACING_UP,                      /* the worker was started, and connects */
	PLACING_ACT,                     /* one command, for acts on workers that are there */
	PLACING_DONE, PLACING_FAILED
};

struct placing {
	struct machine machine;
	bool known;                      /* it has a file, so it was added before */
	bool changed_settings;           /* it was added with other settings */
	uint64_t old_pid;                /* of the keeper that is replaced; 0: none is connected */
	bool was_stopped;
	bool restart;                    /* start the worker again, even if nothing has changed */
	const char *act;                 /* for PLACING_ACT: a verb of far */
	enum placing_step step;
	struct ssh_call call;
	char nonce[NONCE_SIZE];
	struct probe probe;
	const struct program *program;
	bool has_program, running, absent;       /* what the look found */
	bool minted;                     /* the key was made just now */
	struct key key;
	int64_t until_ns;                /* when waiting for the worker ends */
	const char *result;              /* a word for what was done */
	uint64_t slots;                  /* once it is connected */
	struct error error;
	struct buf details;              /* lines about a failure */
};

struct placings {
	struct cli *cli;
	struct placing **at;
	size_t count;
	struct program *programs;
	bool dry;
};

/* Make a placing that nothing has begun; it belongs to the arena of the command, and is freed by placings_free. */
struct placing *placings_add(struct placings *placings);
/* Take each as far as it gets. Returns an error only if the command must end, such as ERR_INTERRUPTED. */
enum err placings_run(struct placings *placings);
void placings_free(struct placings *placings);

/* Note which keeper is connected now, so that its successor can be told from it. */
enum err placings_old_pid(struct placings *placings, struct placing *placing);

/* placing_steps.c: begin the next step after one has ended */
void placing_begin(struct placings *placings, struct placing *placing);
void placing_go_on(struct placings *placings, struct placing *placing);
void placing_fail(struct placings *placings, struct placing *placing);

#endif
