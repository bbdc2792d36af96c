/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph on one line:
 *
 *   fetch -> {unpack, lint -> check} -> enc*8 -> notify!; lint:failed -> mail;
 *   fetch='curl -O x'; enc='ffmpeg $i' retry=3 timeout=5m dir=/data prio=60 mode=once env=LANG=C; ...
 *
 * a -> b: b needs a. {..} stands for its chains: their first jobs need what is before it, what is behind
 * it needs their last ones. name*8 and name*{x,y} fan out. a:failed, a:done: what the next one wants of a
 * (ok by default). name! runs whatever became of what it needs. ?name is a gate: people approve it, and
 * what is assigned to it is what they are asked. Statements end with ; or a line, # begins a comment.
 * Pure: no I/O; its memory is bounded by the text's length and the limits. A pipeline in YAML becomes the
 * same struct (pipeline.h).
 */
#ifndef TITAN_LANG_DAGLINE_H
#define TITAN_LANG_DAGLINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "lang/demand.h"
#include "proto/spec.h"

struct dag_spot {                        /* the place of an error */
	size_t at, len;
};

struct dag_need {
	uint32_t parent;                 /* index of a node */
	enum trigger trigger;
};

struct dag_matrix;
struct dag_expr;
struct dag_sub;

enum dag_jitter { JITTER_UNSAID, JITTER_ON, JITTER_OFF };

struct dag_node {                        /* a name: one job, or the jobs of a fan-out */
	struct slice name;
	struct slice command;            /* of a gate: what people are asked */
	struct slice_list words;         /* instead of a command: executed as they are */
	bool fan;                        /* its jobs are called name[0], name[1].. */
	uint32_t width;                  /* how many jobs */
	struct slice_list items;         /* of name*{x,y} */
	const struct dag_matrix *matrix; /* what its jobs differ in, if they come of one (pipeline_matrix.c) */
	uint64_t first;                  /* index of its first job in the run */
	bool old;                        /* a job, or a fan-out, of the run that all is added to */
	uint64_t old_first;              /* of that: place of its first in dagline.parents */
	struct dag_need *needs;          /* by rising parent */
	size_t need_count;
	const struct dag_expr *needs_expr;       /* what they come to; NULL: each must be met */
	const struct dag_expr *when_expr;        /* NULL: it has no condition */
	struct slice when, needs_text;   /* both as one would write them */
	struct slice_list env;
	struct slice dir;
	struct rec_job_settings plain;   /* of proto/spec.def, those that need no reader of their own */
	uint64_t kind;                   /* enum job_kind, as said; else KIND_UNSAID */
	uint64_t retry_max, backoff_ms;
	uint64_t priority;               /* + 1; 0: not given */
	uint64_t mode;                   /* enum exec_mode + 1; 0: not given */
	bool retry_said;                 /* retry_max was given: 0 is none, whatever the defaults are */
	uint64_t backoff_max_ms;         /* 0: not given */
	enum dag_jitter jitter;
	uint64_t retry_on;               /* bits of enum retry_on; 0: not given */
	struct u64_list retry_codes;     /* ascending */
	uint64_t crash_limit;            /* 0: not given */
	uint64_t continue_on;            /* bits of enum continue_on */
	uint64_t worker_death;           /* enum worker_death + 1; 0: not given */
	uint64_t log_max;                /* as in a job_spec */
	uint64_t loop_max;               /* passes; 0: it is no loop */
	struct slice loop_code, loop_until;      /* until when: as the core has it, as one would write it */
	uint64_t loop_on_max;            /* enum loop_on_max */
	uint64_t deadline_ms;            /* from submission */
	int64_t deadline_at_ms;
	struct slice_list labels;
	struct demand placing;
	struct slice_list concurrency;   /* groups, NAME or NAME=LIMIT each */
	struct slice_list locks;         /* NAME or NAME=shared each */
	uint64_t group_parallel;         /* most jobs of the fan-out at once; 0: no bound */
	bool group_fail_fast;
	bool final;                      /* behind all others, also what is added later */
	bool always;                     /* it runs in any case */
	bool deadline_of_run;            /* it says none itself */
	bool gate;                       /* people decide; it has no command */
	uint64_t gate_count;             /* how many; 0: one */
	struct slice_list gate_from;
	enum gate_expiry gate_expiry;
	struct slice sub_path;           /* its work is the pipeline in this file; empty: it has a command */
	struct dag_spot sub_spot;
	struct slice_list sub_given;     /* NAME=VALUE, for the params of that */
	struct dag_sub *subs;            /* once they are loaded: one, or one for each of its jobs */
	uint32_t sub_count;
};

/* How many jobs one that needs this has for it. */
static inline uint64_t dag_need_width(const struct dag_node *node)
{
	return node->width;
}

struct dag_found {                       /* jobs of a run by their name */
	bool fan;
	uint64_t width;
};

struct dag_old {                         /* the run that a graph is added to */
	uint64_t run;
	/* ERR_NOT_FOUND: it has no such job, nor a fan-out. */
	enum err (*find_cb)(void *arg, struct slice name, struct dag_found *ret, struct error *error);
	struct slice (*near_cb)(void *arg, struct slice name);   /* a name there that is like this one; or empty */
	void *arg;
};

struct dagline {
	struct dag_node **nodes;         /* in the order of their first mention */
	size_t node_count;
	uint64_t job_count;
	struct slice_list parents;       /* of the run that it is added to: needs of job_count + i */
};

struct dag_sub {                         /* a sub-run */
	struct slice name;
	uint64_t max_jobs;
	struct slice concurrency;
	struct dagline dag;
};

/* Slices of the result point into text or the arena. ret_spot is set on failure alone. */
enum err dagline_parse(struct slice text, struct arena *arena, struct dagline *ret, struct dag_spot *ret_spot,
		       struct error *error);

/* The same of what is added to a run; old: NULL, or all names that it doesn't define are looked for there. */
enum err dagline_parse_into(struct slice text, const struct dag_old *old, struct arena *arena, struct dagline *ret,
			    struct dag_spot *ret_spot, struct error *error);

/* Line and column of the spot, from 1. */
void dagline_place(struct slice text, const struct dag_spot *spot, uint64_t *ret_line, uint64_t *ret_column);
/* For people: "SOURCE:1:9: error: TEXT", the line, and a caret under the spot. Escaped. */
void dagline_explain(struct slice text, const char *source, const struct dag_spot *spot,
		     const struct error *error, struct buf *out);

struct job_defaults {                    /* for what a node doesn't say itself */
	struct slice_list env;           /* stands before the node's own */
	struct slice dir;
	uint64_t retry_max, timeout_ms, deadline_ms, priority;
	enum exec_mode mode;
};

/* The job with this index (0 .. job_count - 1) as it is submitted. */
void dagline_job(const struct dagline *dag, uint64_t index, const struct job_defaults *defaults,
		 struct arena *arena, struct rec_job_spec *ret_spec);
/* The jobs of a sub-run as they are submitted, one behind the other. */
struct slice dag_sub_bytes(const struct dag_sub *sub, const struct job_defaults *defaults, struct arena *arena);
/* A command as argv where no shell is needed, else as a script. */
void job_command(struct slice command, struct arena *arena, struct rec_job_spec *spec);

#endif
