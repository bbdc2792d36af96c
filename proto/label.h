/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels of workers, and what a job requires of them. A label is KEY=VALUE; KEY alone means KEY=true. A requirement is
 * a text in one of six forms, without further blanks:
 *
 *   KEY  !KEY  KEY=VALUE  KEY!=VALUE  KEY in (A,B)  KEY notin (A,B)
 *
 * src/lang turns what people write into these forms; all others accept only these. The structs here point into the
 * texts that they were read from.
 */
#ifndef TITAN_PROTO_LABEL_H
#define TITAN_PROTO_LABEL_H

#include "base/slice.h"
#include "proto/error.h"
#include "proto/message.h"

enum label_op { LABEL_HAS, LABEL_LACKS, LABEL_IN, LABEL_NOT_IN };

struct label_want {                      /* one requirement */
	struct slice key, values;        /* values are joined with commas; empty for LABEL_HAS and LABEL_LACKS */
	enum label_op op;
};

/* false: the text has none of the six forms */
bool label_want_read(struct slice text, struct label_want *ret);
/* Cut the next value off the values of a requirement. false: there is none left. */
bool label_value_next(struct slice *values, struct slice *ret);

/* The key and the value of a worker's label. */
struct slice label_key(struct slice label);
struct slice label_value(struct slice label);
/* Check the form of a worker's labels, their number, and that no key has two values. */
enum err labels_check(struct slice_list labels, struct error *error);
/* Sort a worker's labels by their keys and drop duplicates; label_find and label_met need that order. */
void labels_order(struct slice_list *labels);
/* Return the worker's label with this key, or NULL. */
const struct slice *label_find(const struct slice_list *labels, struct slice key);
/* Check that a worker with these labels meets the requirement. */
bool label_met(const struct slice_list *labels, const struct label_want *want);

#endif
