/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of the one-line graph: the parser, and the checks at the end. */
#ifndef TITAN_LANG_DAGLINE_INTERNAL_H
#define TITAN_LANG_DAGLINE_INTERNAL_H

#include "base/map.h"
#include "lang/dagline.h"
#include "lang/faults.h"

#define DAG_DEPTH_MAX 32
#define DAG_EDGES_MAX 1048576            /* most edges between names, as written */
#define DAG_JOB_EDGES_MAX UINT64_C(16777216)

struct dag_edge {
	uint32_t parent, child;
	enum trigger trigger;
	bool said;                       /* the trigger was written and isn't the default */
	size_t at;                       /* offset of the child's name in the text */
};

struct dag_name {                        /* a node with its place in the text */
	struct dag_node node;            /* must be first: dagline.nodes points to it */
	uint32_t index;
	bool always;
	struct dag_spot spot;
	const struct dag_node *assigned; /* the node whose assignment gave this one its command */
};

struct dag_assignment {
	struct slice name;
	struct dag_spot spot;
	struct dag_node values;
};

struct dag_reader {
	struct slice text;
	size_t at;
	unsigned depth;                  /* nesting depth of braces */
	struct arena *arena;
	struct name_map names;           /* name to struct dag_name */
	struct dag_name **list;
	size_t name_count, name_room;
	struct dag_edge *edges;          /* allocated by mem, not in the arena */
	size_t edge_count, edge_room;
	struct dag_assignment *assignments;
	size_t assignment_count, assignment_room;
	bool chains;                     /* the text has statements that aren't assignments */
	struct dag_node *around;         /* the job whose work is this graph, which is written inside it; NULL: none */
	const struct dag_old *old;       /* the run to which the graph is added; NULL: a new run */
	struct error old_failed;         /* the error of looking up a name in that run */
	struct dag_spot spot;
	struct error *error;
	struct dag_faults *faults;       /* of a titan.conf NULL: it is read to its first error */
	bool noted;                      /* the latest error is in faults, or follows from one that is */
	/* The latest value that stands in for a parameter that isn't known: errors within this place mean nothing. */
	struct dag_spot guessed;
};

/* Note that the node uses an output. */
void dag_take_add(struct dag_reader *reader, struct dag_node *node, const struct dag_take *take);
/* Check the outputs of jobs that are outputs of the whole graph: the takes of results. After dag_finish. */
enum err dag_check_results(struct dag_reader *reader, const struct dag_node *results);
enum err dag_fail(struct dag_reader *reader, size_t at, size_t len, enum err code, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/*
 * Put an error that was just made among the faults, unless a caller below has done so. Returns err; or ERR_NONE if the
 * error only comes from a guessed value.
 */
enum err dag_note(struct dag_reader *reader, enum err err);

/* dagline_lex.c: characters */
void dag_skip(struct dag_reader *reader, bool lines);    /* skip blanks and comments; with lines also newlines */
int dag_peek(const struct dag_reader *reader);           /* the next character; -1: end of the text */
bool dag_take(struct dag_reader *reader, const char *symbol);
enum err dag_take_name(struct dag_reader *reader, const char *what, struct slice *ret_name);
enum err dag_take_value(struct dag_reader *reader, const char *ends, struct slice *ret_value);

/* dagline.c: statements */
struct dag_name *dag_name_get(struct dag_reader *reader, struct slice name, struct dag_spot spot);
/* Add an edge between two names. False: there are too many. */
bool dag_add_edge(struct dag_reader *reader, const struct dag_edge *edge);

/* dagline_old.c: names in the run to which the graph is added */
/* Find a name in the graph, or in the run to which it is added; NULL: in neither. */
struct dag_name *dag_name_find(struct dag_reader *reader, struct slice text);
/* Is this the name of an existing job of that run, which has no command here? */
bool dag_name_is_old(struct dag_reader *reader, struct dag_name *name);
enum err dag_check_old(struct dag_reader *reader);
/* If a name is unknown because the look-up failed, return that error. */
enum err dag_ask_failed(struct dag_reader *reader);
void dag_tell_near(struct dag_reader *reader, struct slice text);
void dag_list_old(struct dag_reader *reader, struct dagline *dag);

/* dagline_assign.c */
enum err dag_read_assignment(struct dag_reader *reader, struct slice name, struct dag_spot spot);

/* dagline_finish.c */
/* Called after the last statement: find the names of assignments, sort the edges, check the graph. */
enum err dag_finish(struct dag_reader *reader, struct dagline *ret);

#endif
