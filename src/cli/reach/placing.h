/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Puts workers on machines, several at once: log in, look around, copy the program, start the worker, wait until it is
 * connected. Each machine goes through these steps independently; a failure ends only that machine's steps.
 */
#ifndef TITAN_CLI_PLACING_H
#define TITAN_CLI_PLACING_H

#include "cli/reach/probe.h"
#include "cli/reach/remote_program.h"
#include "cli/reach/ssh_call.h"
#include "net/keyfile.h"

enum placing_step {
	PLACING_QUEUED,                  /* not begun */
	PLACING_PROBE,                   /* the probe runs */
	PLACING_ALONE, /* step: try the login as the master will make it, without the person's ssh agent */
	PLACING_LOOK,                    /* step: look whether the program is there, and whether the worker runs */
	PLACING_COPY,
	PLACING_DRAIN,                   /* step: wait until the old worker has given back its prefetched jobs */
	PLACING_START,
	PLACING_UP,                      /* step: the worker was started; wait until it is connected */
	PLACING_ACT,                     /* a single step, for acts on workers that exist: run one command */
	PLACING_DONE, PLACING_FAILED
};

struct placing {
	struct machine machine;
	bool known;                      /* the machine has a file here, so its worker was added before */
	bool changed_settings;           /* the worker was added before with other settings */
	uint64_t old_pid;                /* pid of the keeper that is to be replaced; 0: none is connected */
	bool was_stopped;
	bool drained;                    /* this placing drained the worker, so it must resume it */
	unsigned quiet_looks;            /* queries in a row at which the old worker had no prefetched job */
	bool restart;                    /* start the worker again, even if nothing has changed */
	const char *act;                 /* PLACING_ACT: the verb that far runs on the machine */
	enum placing_step step;
	struct ssh_call call;
	char nonce[NONCE_SIZE];
	struct probe probe;
	bool probed;                     /* the probe ran and was understood */
	bool alone_failed;               /* the person can log in, but the master can't */
	char state[32];                  /* of a worker that was added before: running, stopped, dead or absent */
	const struct remote_program *program;
	bool has_program, running, absent;       /* what the first look at the machine found */
	bool minted;                     /* the worker's key was made by this command */
	struct key key;
	int64_t until_ns;                /* time at which waiting for the worker ends */
	const char *result;              /* one word for what was done with the worker */
	uint64_t slots;                  /* number of the worker's slots, once it is connected */
	struct error error;
	struct buf details;              /* lines with details of a failure */
};

struct placings {
	struct cli *cli;
	struct placing **at;
	size_t count;
	struct remote_program *programs;
	bool dry;
	bool quiet;                      /* say nothing on standard error: the caller tells what was found */
};

/* Make a placing with no step begun. It is allocated in the command's arena, and freed by placings_free. */
struct placing *placings_add(struct placings *placings);
/*
 * Take every machine through its steps, as far as it gets. Returns an error only if the command must end, such as
 * ERR_INTERRUPTED.
 */
enum err placings_run(struct placings *placings);
void placings_free(struct placings *placings);

/*
 * Drain the worker that is to be replaced, if it is connected and no person has cordoned or drained it. Also notes the pid of
 * its keeper (old_pid), to recognize the new keeper later.
 */
enum err placings_drain(struct placings *placings, struct placing *placing);
/* Let the worker get jobs again. */
enum err placings_resume(struct placings *placings, const struct placing *placing);

/* placing_steps.c: begin the machine's next step when one has ended */
void placing_begin(struct placings *placings, struct placing *placing);
void placing_start(struct placings *placings, struct placing *placing);
void placing_go_on(struct placings *placings, struct placing *placing);
void placing_fail(struct placings *placings, struct placing *placing);

#endif
