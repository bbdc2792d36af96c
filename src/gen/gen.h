/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan-gen: generates texts from the tables, for files that are kept in the tree and compared by a lint. It
 * isn't installed.
 */
#ifndef TITAN_GEN_GEN_H
#define TITAN_GEN_GEN_H

#include "base/buf.h"

/*
 * Copy a manual page and make its generated parts anew: those between .\" BEGIN part argument and .\" END. Return NULL,
 * or a message if the page is wrong.
 */
const char *gen_page(struct slice page, struct buf *out);

/* Write one line of mdoc text, escaped so that no word is taken for a macro. */
void gen_text(const char *text, struct buf *out);
void gen_sentence(const char *text, struct buf *out);    /* writes the text with a capital letter and a full stop */

void gen_synopsis(const char *verb, struct buf *out);
/* Lists a command's options; empty verb: the options of every command. */
void gen_options(const char *verb, struct buf *out);
void gen_examples(const char *verb, struct buf *out);
void gen_commands(struct buf *out);
void gen_exits(struct buf *out);

void gen_states(struct buf *out);
void gen_flags(struct buf *out);
void gen_events(struct buf *out);
void gen_moves(struct buf *out);
void gen_dead(struct buf *out);           /* lists the reasons of dead letters */
void gen_reasons(struct buf *out);        /* lists the reasons why a job is in its present state */
void gen_diagram(struct buf *out);
void gen_before(struct buf *out);         /* writes proto/before.def: the messages as they are now */
void gen_dot(struct buf *out);

void gen_settings(struct buf *out);
void gen_conf(struct buf *out);           /* lists the settings of titan.conf */

void gen_messages(struct buf *out);
void gen_rights(struct buf *out);
void gen_sight(struct buf *out);
void gen_records(struct buf *out);
void gen_enums(struct buf *out);         /* lists the numbers that fields hold */
void gen_errors(struct buf *out);
void gen_limits(struct buf *out);

/* Write the schema of a command's JSON. False: the command prints none, or a column isn't a known field. */
bool gen_schema(const char *name, struct buf *out);
void gen_schema_names(struct buf *out);   /* the names that gen_schema knows, one in a line */
void gen_columns(const char *verb, struct buf *out);     /* lists the columns of --plain */

#endif
