/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by complete_names.c and complete_keys.c. */
#ifndef TITAN_CLI_COMPLETE_INTERNAL_H
#define TITAN_CLI_COMPLETE_INTERNAL_H

#include "cli/ask/complete_names.h"
#include "proto/message.h"

#define NAMES_MAX 200                    /* most words offered: a person reads no more */

struct naming {
	const struct complete_source *source;
	struct completion *completion;
	struct arena arena;
	struct error error;
	int64_t until_ns;
	size_t count;
};

/*
 * Offer front and name as one word if it begins with the typed text. Names come from outside, so they are checked. front: such
 * as a run before its job.
 */
void naming_offer(struct naming *naming, const char *front, struct slice name, const char *help);
/* Send a request with this id and wait for its answer, a message that begins with the id. A refusal is ERR_NOT_FOUND. */
enum err naming_call(struct naming *naming, enum opcode op, const void *request, uint64_t id, enum opcode answer, void *ret);
enum err naming_ask(struct naming *naming, struct msg_query query, struct msg_snapshot *ret);
/* Find the number of the run in RUN/JOB: a number, or last. */
enum err naming_find_run(struct naming *naming, struct slice word, uint64_t *ret_run);

/* complete_keys.c: keys of values, or first their namespaces */
enum err naming_add_keys(struct naming *naming);

#endif
