/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of the one-line graph: the parser, and what happens once all is read. */
#ifndef TITAN_LANG_DAGLINE_INTERNAL_H
#define TITAN_LANG_DAGLINE_INTERNAL_H

#include "base/map.h"
#include "lang/dagline.h"

#define DAG_DEPTH_MAX 32
#define DAG_EDGES_MAX 1048576            /* between names, as written */
#define DAG_JOB_EDGES_MAX UINT64_C(16777216)

struct dag_edge {
	uint32_t parent, child;
	enum trigger trigger;
	bool said;                       /* the trigger was written */
	size_t at;                       /* where the child is named */
};

struct dag_name {                        /* a node and where it comes from */
	struct dag_node node;            /* first: dagline.nodes points here */
	uint32_t index;
	bool always;
	struct dag_spot spot;
	const struct dag_node *assigned; /* its command was given */
};

struct dag_assignment {
	struct slice name;
	struct dag_spot spot;
	struct dag_node values;
};

struct dag_reader {
	struct slice text;
	size_t at;
	unsigned depth;                  /* of braces */
	struct arena *arena;
	struct name_map names;           /* to struct dag_name */
	struct dag_name **list;
	size_t name_count, name_room;
	struct dag_edge *edges;          /* owned */
	size_t edge_count, edge_room;
	struct dag_assignment *assignments;
	size_t assignment_count, assignment_room;
	bool chains;                     /* something else than assignments was written */
	const struct dag_old *old;       /* NULL: it is no addition */
	struct error old_failed;         /* asking there did */
	struct dag_spot spot;
	struct error *error;
};

enum err dag_fail(struct dag_reader *reader, size_t at, size_t len, enum err code, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* dagline_lex.c: characters */
void dag_skip(struct dag_reader *reader, bool lines);    /* blanks, comments; new lines too if asked */
int dag_peek(const struct dag_reader *reader);           /* -1 at the end */
bool dag_take(struct dag_reader *reader, const char *symbol);
enum err dag_take_name(struct dag_reader *reader, const char *what, struct slice *ret_name);
enum err dag_take_value(struct dag_reader *reader, const char *ends, struct slice *ret_value);

/* dagline.c: statements */
struct dag_name *dag_name_get(struct dag_reader *reader, struct slice name, struct dag_spot spot);
/* False when there are too many. */
bool dag_add_edge(struct dag_reader *reader, const struct dag_edge *edge);

/* dagline_old.c: names of the run that it is added to */
/* Also among those; NULL: nowhere. */
struct dag_name *dag_name_find(struct dag_reader *reader, struct slice text);
bool dag_name_is_old(struct dag_reader *reader, struct dag_name *name);  /* one without a command */
enum err dag_check_old(struct dag_reader *reader);
enum err dag_ask_failed(struct dag_reader *reader);      /* the error of asking, if that is why a name isn't known */
void dag_tell_near(struct dag_reader *reader, struct slice text);
void dag_list_old(struct dag_reader *reader, struct dagline *dag);

/* dagline_assign.c */
enum err dag_read_assignment(struct dag_reader *reader, struct slice name, struct dag_spot spot);

/* dagline_finish.c */
/* After the last statement: assignments find their names, edges are put in order, the graph is checked. */
enum err dag_finish(struct dag_reader *reader, struct dagline *ret);

#endif
