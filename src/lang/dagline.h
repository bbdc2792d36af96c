/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph on one line:
 *
 *   fetch -> {unpack, lint -> check} -> enc*8 -> notify!; lint:failed -> mail;
 *   fetch='curl -O x'; enc='ffmpeg $i' retry=3 timeout=5m dir=/data prio=60 mode=once env=LANG=C; ...
 *
 * a -> b: b needs a. {..} is a group of chains: the first jobs of its chains need what is before the group, and what
 * is behind the group needs their last jobs. name*8 and name*{x,y} are fan-outs. a:failed, a:done: the result of a that the
 * next job needs (ok if none is written). name! runs whatever became of the jobs it needs. ?name is a gate: people
 * approve it, and the text assigned to it is the question they are asked. A statement ends with ; or the line, and #
 * begins a comment.
 *
 * Pure: no I/O; its memory is bounded by the text's length and the limits. A pipeline in YAML becomes the same struct
 * (pipeline.h).
 */
#ifndef TITAN_LANG_DAGLINE_H
#define TITAN_LANG_DAGLINE_H

#include "base/arena.h"
#include "base/buf.h"
#include "lang/demand.h"
#include "proto/spec.h"

struct dag_spot {                        /* the place of an error: offset and length in bytes */
	size_t at, len;
};

struct dag_need {
	uint32_t parent;                 /* index of the parent's node */
	enum trigger trigger;
};

struct dag_matrix;
struct dag_expr;
struct dag_sub;

struct dag_file {                        /* a file or directory that a job names */
	struct slice src;                /* a path, or an asset as NAME or NAME@VERSION */
	struct slice as;                 /* its name in the job's directory */
	bool writable;
	bool known;                      /* the next three say what it is; src only tells where it came from */
	uint8_t hash[32];
	uint64_t size;
	enum asset_kind kind;            /* 0: not known */
	struct dag_spot spot;
	/* filled in by whoever loads the graph: the path, if it is one; the text with the name, and what that is called */
	const char *path;
	struct slice text;
	const char *text_name;
};

/* Is this the path of a file? Otherwise it is an asset. */
bool dag_file_is_path(struct slice src);

enum dag_jitter { JITTER_UNSAID, JITTER_ON, JITTER_OFF };

struct dag_in {                          /* the files of another job that a job finds in its directory */
	struct slice job;
	struct slice dir;                /* in this directory of its own; empty: as the other job left them */
	struct dag_spot spot;
};

struct dag_take {                        /* an output of another job that a job uses */
	struct slice variable, job, output;      /* variable: empty if it stands in a text, or is used inside a sub-run */
	unsigned up;                     /* the other job is in the run that is so many levels around this one */
	bool found;                      /* the graph around has checked it: it is a parameter of this one */
	struct dag_take *inside;         /* a job of the sub-run that is this job's work uses the output; NULL: none */
	struct dag_spot spot;
};

struct dag_service {                     /* how the process of a service is started again; fields as in job_spec */
	uint64_t restart;
	uint64_t wait_ms, wait_max_ms;
	struct u64_list never;           /* exit codes, ascending */
	uint64_t loop_ends, loop_ms;
};

struct dag_node {                        /* a name in the graph: one job, or all jobs of a fan-out */
	struct slice name;
	struct slice command;            /* shell command of the job; for a gate, the question to people */
	struct slice_list words;         /* argv of the job, used instead of command */
	bool fan;                        /* the node is a fan-out, with jobs named name[0], name[1]... */
	uint32_t width;                  /* number of jobs */
	struct slice_list items;         /* the items of name*{x,y} */
	/* For a matrix, the values by which its jobs differ (pipeline_matrix.c); otherwise NULL. */
	const struct dag_matrix *matrix;
	uint64_t first;                  /* index of the node's first job in the run */
	bool old;                        /* a job or fan-out that is already in the run to which the graph is added */
	uint64_t old_first;              /* for an old node: index of its first job in dagline.parents */
	struct dag_need *needs;          /* ascending by parent */
	size_t need_count;
	const struct dag_expr *needs_expr;       /* expression over the needs; NULL: all needs must be met */
	const struct dag_expr *when_expr;        /* NULL: no condition */
	struct slice when, needs_text;   /* the conditions when and needs as text */
	struct slice_list env;
	struct slice dir;
	struct rec_job_settings plain;   /* plain settings of proto/spec.def, which need no code of their own */
	uint64_t kind;                   /* the enum job_kind that was written; KIND_UNSAID: none */
	struct dag_service service;
	uint64_t retry_max, backoff_ms;
	uint64_t priority;               /* priority + 1, if given; 0: not given */
	uint64_t mode;                   /* enum exec_mode + 1, if given; 0: not given */
	bool retry_said; /* retry_max was written for the job: then 0 means no retries, even if a default allows some */
	uint64_t backoff_max_ms;         /* 0: not given */
	enum dag_jitter jitter;
	uint64_t retry_on;               /* failures that are retried: bits of enum retry_on; 0: not given */
	struct u64_list retry_codes;     /* ascending */
	uint64_t crash_limit;            /* 0: not given */
	uint64_t continue_on;            /* bits of enum continue_on */
	uint64_t worker_death;           /* enum worker_death + 1, if given; 0: not given */
	uint64_t log_max;                /* as in job_spec */
	uint64_t loop_max;               /* most passes of a loop; 0: not a loop */
	struct slice loop_code, loop_until;      /* the condition that ends the loop: compiled, and as text */
	uint64_t loop_on_max;            /* enum loop_on_max */
	uint64_t deadline_ms;            /* time from submission */
	int64_t deadline_at_ms;
	struct slice_list labels;
	struct demand placing;
	struct slice_list concurrency;   /* concurrency groups, each NAME or NAME=LIMIT */
	struct slice_list locks;         /* each NAME or NAME=shared */
	struct slice_list kv_read, kv_write;     /* values that the job may read, and change: def:PREFIX or cluster:PREFIX */
	struct slice_list outputs;       /* names of the values that the job puts out */
	struct slice_list computes;      /* of a noop: NAME=TEXT each, with outputs as in message_text */
	struct slice_list artifacts;     /* patterns of the files that the job leaves, with signs as in job_spec */
	struct dag_in *ins;
	size_t in_count;
	struct dag_take *takes;
	size_t take_count;
	struct dag_file *files;
	size_t file_count;
	struct slice inputs;             /* the files as input records, filled in by whoever submits the graph */
	uint64_t group_parallel;         /* most jobs of the fan-out at once; 0: no limit */
	bool group_fail_fast;
	bool final; /* the job is final: it runs after all other jobs, including those added later */
	bool always;                     /* the job runs whatever the ends of the jobs that it needs */
	bool deadline_of_run;            /* the run's deadline is the job's too */
	bool gate;                       /* the node is a gate: people decide, and there is no command */
	uint64_t gate_count;             /* number of people who must approve the gate; 0: one */
	struct slice_list gate_from;
	struct slice_list gate_fields;   /* definitions as in proto/form.h */
	struct slice message_text;       /* the question, if it has outputs; without the ../ of jobs that a graph around has */
	enum gate_expiry gate_expiry;
	/* The pipeline file that this job runs as a sub-run; empty: it has a command. */
	struct slice sub_path;
	struct dag_spot sub_spot;
	struct slice_list sub_given;     /* parameters of the sub-run, each NAME=VALUE */
	struct slice_list sub_taken;     /* parameters that are outputs of jobs around the sub-run, each NAME=../JOB/OUTPUT */
	struct slice_list sub_unknown;   /* names of parameters that have no value yet, as the pipeline is only being checked */
	bool sub_guessed;                /* the same of the name of the file */
	struct dag_sub *subs;            /* the loaded sub-runs: one, or one for each job of the fan-out */
	uint32_t sub_count;
};

/* Return how many jobs a child of this node depends on. */
static inline uint64_t dag_need_width(const struct dag_node *node)
{
	return node->width;
}

struct dag_found {                       /* jobs of a run found by name */
	bool fan;
	uint64_t width;
};

struct dag_old {                         /* the run to which a graph is added */
	uint64_t run;
	/* Find a job or fan-out in the run; ERR_NOT_FOUND: there is none. */
	enum err (*find_cb)(void *arg, struct slice name, struct dag_found *ret, struct error *error);
	/* The name of a similar job in the run, or empty. */
	struct slice (*near_cb)(void *arg, struct slice name);
	void *arg;
};

struct dagline {
	struct dag_node **nodes;         /* all nodes, in the order of their first mention */
	size_t node_count;
	uint64_t job_count;
	struct slice_list env;           /* variables of all jobs */
	/* Existing jobs of the run to which the graph is added; a need of job_count + i means parents[i]. */
	struct slice_list parents;
};

struct dag_sub {                         /* a sub-run */
	struct slice name;
	uint64_t max_jobs;
	struct slice concurrency;
	struct slice_list outputs;       /* NAME=TEXT each, with outputs of its jobs */
	struct dagline dag;
};

/* Does the job declare this output, compute it, get it of its sub-run, or have it as a field of a gate? True if that isn't known yet. */
bool dag_declares(const struct dag_node *node, struct slice output);
/* Make the error about an output that isn't declared. */
enum err dag_undeclared(const struct dag_node *node, struct slice output, struct error *error);

/* Parse a one-line graph. Slices of the result point into text or the arena. *ret_spot is set on failure only. */
enum err dagline_parse(struct slice text, struct arena *arena, struct dagline *ret, struct dag_spot *ret_spot,
		       struct error *error);

struct dag_faults;
/* The same, with all errors instead of the first. old: as for dagline_parse_into. */
enum err dagline_read(struct slice text, const struct dag_old *old, struct arena *arena, struct dagline *ret,
		      struct dag_faults *faults);
/*
 * The same for a graph that is added to the run old, where names that the graph doesn't define are looked up; NULL: a
 * new run.
 */
enum err dagline_parse_into(struct slice text, const struct dag_old *old, struct arena *arena, struct dagline *ret,
			    struct dag_spot *ret_spot, struct error *error);

/* Return line and column of a spot, both from 1. */
void dagline_place(struct slice text, const struct dag_spot *spot, uint64_t *ret_line, uint64_t *ret_column);
/* Write an error for people, escaped: "SOURCE:1:9: error: TEXT", the line, and a caret under the spot. */
void dagline_explain(struct slice text, const char *source, const struct dag_spot *spot,
		     const struct error *error, struct buf *out);

struct job_defaults {                    /* settings for nodes that don't set them themselves */
	/* variables that override those of the graph; of two values for one name the first counts */
	struct slice_list env;
	struct slice dir;
	struct slice machine, here_dir;  /* machine and directory of the submitter, for jobs that don't name theirs */
	struct slice here_source;
	uint64_t here_boot, here_view, here_device, here_inode; /* which directory here_dir is, as in run_context */
	struct slice_list here_env;
	uint64_t retry_max, timeout_ms, deadline_ms, priority;
	enum exec_mode mode;
	struct slice_list labels;
	struct slice_list asks;          /* resources, as in struct demand */
	struct slice inputs;             /* files, as input records */
	struct slice_list requires;      /* capabilities of the pool */
	struct slice topic;
};

/* Write the settings that all jobs share, as a run_context record, or nothing. dag: the graph of the jobs, or NULL. */
struct slice dag_context(const struct dagline *dag, const struct job_defaults *defaults, struct arena *arena);
/* Make the specification of the job with this index (0 to job_count - 1), without the settings that all jobs share. */
void dagline_job(const struct dagline *dag, uint64_t index, const struct job_defaults *defaults,
		 struct arena *arena, struct rec_job_spec *ret_spec);
/* Write the specifications of a sub-run's jobs, one after another. */
struct slice dag_sub_bytes(const struct dag_sub *sub, const struct job_defaults *defaults, struct arena *arena);
/* Store a command as argv if it needs no shell, otherwise as a script. */
void job_command(struct slice command, struct arena *arena, struct rec_job_spec *spec);

#endif
