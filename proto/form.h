/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a gate, which a person who approves it gives. A definition is a text:
 *
 *   NAME enum VALUE|VALUE...    one of these values
 *   NAME text                   any text
 *   NAME number                 such as 3, -1 or 0.5
 *
 * with a ? behind the name of a field that may be left out.
 */
#ifndef TITAN_PROTO_FORM_H
#define TITAN_PROTO_FORM_H

#include "proto/message.h"

enum form_kind { FORM_ENUM, FORM_TEXT, FORM_NUMBER, FORM_KIND_COUNT };

extern const char *const form_kind_names[FORM_KIND_COUNT];

struct form_field {
	struct slice name;
	enum form_kind kind;
	bool optional;
	struct slice values;             /* of FORM_ENUM: VALUE|VALUE... */
};

/* Read a definition. False: it is none. */
bool form_field_read(struct slice text, struct form_field *ret);
/* Can this text be a value of FORM_ENUM? It may not be empty, and have no | and no control characters. */
bool form_choice_good(struct slice value);
/* Return the definition with this name, or NULL. */
const struct slice *form_find(struct slice_list fields, struct slice name);
/* Are the values right, NAME=VALUE each? False: adds to why what is wrong, as a sentence without its end. */
bool form_check(struct slice_list fields, struct slice_list given, struct buf *why);
/* Write the options that give all fields that can't be left out: " --set ver=VALUE --set n=NUMBER". */
void form_options(struct slice_list fields, struct buf *out);
/* Write right values as outputs of the gate, in the order of the fields; one that was left out is empty. */
void form_outputs(struct slice_list fields, struct slice_list given, struct buf *out);

#endif
