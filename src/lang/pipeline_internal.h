/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of the YAML parser: typed values, the keys of a job, needs. */
#ifndef TITAN_LANG_PIPELINE_INTERNAL_H
#define TITAN_LANG_PIPELINE_INTERNAL_H

#include "lang/pipeline.h"
#include "lang/pipeline_matrix.h"
#include "lang/pipeline_tree.h"

struct pipe_job {
	struct dag_node *node;
	struct dag_name *name;           /* NULL: this is the section of defaults */
	const struct tree_node *needs, *when;
	const struct dag_values *params; /* the parameters that its texts may use: the pipeline's, and those of its template */
	size_t param_count;
	struct dag_matrix *matrix;       /* NULL: none */
	struct slice_list env;           /* environment variables of the job itself, which follow the pipeline's */
	struct slice_list made;          /* variables that were made of ${..} in its script */
	size_t wanted_by;                /* index of the last job found to need this one, plus 1; 0: none */
	bool final;
};

/* Values of parameters. */
struct pipe_given {
	struct slice_list values;        /* NAME=VALUE each */
	struct slice_list taken;         /* NAME=JOB/OUTPUT each: the value is an output of a job */
	struct slice_list unknown;       /* names of those whose value isn't known */
};

struct pipe {
	struct dag_reader reader;        /* holds names and edges, and the place of an error */
	struct pipe_given given;
	bool check_only;                 /* as in struct pipeline_source */
	pipeline_include_cb *include_cb;
	void *include_arg;
	struct pipeline_texts texts;
	const struct tree_node *templates;
	/* The key template of the job for which parameters of a template are read at present; NULL: those of the pipeline are read. */
	const struct tree_node *using_template;
	bool axes_unknown;               /* the matrix of the job that is being read is wrong */
	struct dag_matrix words;         /* the parameters, and the axes of the job that is being read */
	size_t text_bytes;               /* bytes of all texts after values were inserted */
	struct dag_node defaults;
	struct slice_list env;
	struct pipe_job *jobs;
	size_t job_count, job_room;
	struct slice name;
	uint64_t max_jobs;
	struct slice tenant;
	struct slice concurrency;        /* NAME or NAME=LIMIT */
	struct rec_schedule_spec schedule;
	struct slice_list outputs;       /* the outputs of the pipeline, NAME=TEXT each */
	struct dag_node results;         /* has the outputs of jobs that these use as takes */
};

/* One key of a map. Keys are read in the order of their table, not of the text. */
struct pipe_key {
	const char *word;
	enum err (*read)(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
};

/* A kind of map and the keys that it may have. */
struct pipe_section {
	const char *what;
	const struct pipe_key *keys;
	size_t count;
	/* prefix of plain settings in proto/spec.def that are also keys of this section; NULL: none */
	const char *prefix;
};

#define PIPE_SECTION(what, keys, prefix) { what, keys, sizeof(keys) / sizeof((keys)[0]), prefix }

extern const struct pipe_section pipe_section_pipeline, pipe_section_job, pipe_section_retry, pipe_section_kv, pipe_section_artifacts, pipe_section_loop,
	pipe_section_approval, pipe_section_concurrency, pipe_section_schedule, pipe_section_worker, pipe_section_log,
	pipe_section_matrix, pipe_section_fan, pipe_section_defaults, pipe_section_service, pipe_section_crash_loop, pipe_section_field;

/* NULL: no such key. */
const struct pipe_key *pipe_key_find(const struct pipe_section *section, struct slice word);
/* Find the plain setting with this key; NULL: none. */
const struct setting *pipe_setting_find(const struct pipe_section *section, struct slice word);

/* pipeline_unknown.c */
/* Make the error about a key that this kind of map doesn't have, with the key that its author may have meant. */
enum err pipe_unknown_key(struct pipe *pipe, const struct tree_node *node, const struct pipe_section *section);

enum err pipe_fail(struct pipe *pipe, const struct tree_node *node, enum err code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Keep an error among the faults and go on. *first becomes the error, if it has none yet. */
void pipe_note(struct pipe *pipe, enum err err, enum err *first);
/* Read all keys of a map. On errors the map is read to its end; returns the first error. */
enum err pipe_map(struct pipe *pipe, const struct tree_node *map, const struct pipe_section *section, struct pipe_job *job);
/* Refuse a node of another kind; what: the expected thing, for the error. */
enum err pipe_expect(struct pipe *pipe, const struct tree_node *node, enum tree_kind kind, const char *what);

/* Does the node's text use a value that isn't known? */
bool pipe_is_guess(const struct pipe *pipe, const struct tree_node *node);
/* Read a text and put parameters in; an axis of a matrix is refused. */
enum err pipe_text(struct pipe *pipe, const struct tree_node *node, const char *what, struct slice *ret);
/*
 * Like pipe_text, with a prefix before the text. In a job with a matrix the text is only checked; values are inserted
 * later, for each job.
 */
enum err pipe_template(struct pipe *pipe, const struct tree_node *node, const char *what, struct slice prefix,
		       struct slice *ret);
/* Check the ${..} of a text without putting values in. */
enum err pipe_check_refs(struct pipe *pipe, const struct tree_node *node, const char *what);
struct dag_spot pipe_part_spot(const struct pipe *pipe, const struct tree_node *node, size_t at, size_t len);
enum err pipe_number(struct pipe *pipe, const struct tree_node *node, uint64_t least, uint64_t most, uint64_t *ret);
enum err pipe_span(struct pipe *pipe, const struct tree_node *node, uint64_t *ret_ms);
enum err pipe_bool(struct pipe *pipe, const struct tree_node *node, bool *ret);
enum err pipe_time(struct pipe *pipe, const struct tree_node *node, int64_t *ret_ms);
/* Read one text, or a list of texts. */
typedef enum err pipe_item_read(struct pipe *pipe, const struct tree_node *node, struct slice *ret);
enum err pipe_list(struct pipe *pipe, const struct tree_node *node, const char *what, size_t most,
		   pipe_item_read *item_read, struct slice_list *ret);
enum err pipe_name_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret);
enum err pipe_value_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret); /* a text that isn't empty */
bool pipe_is_variable(struct slice name);                /* is this a valid name of an environment variable? */

/* pipeline.c */
enum err pipe_read_params(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_fan_out(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
/* Read the graph of a sub-run that is written inside its job (node), below the key pipeline. */
enum err pipe_read_inner(struct pipe *outer, struct dag_node *node, const struct tree_node *value);

/* Read parameters with their defaults, and give them the values of pipe->given. */
enum err pipe_param_values(struct pipe *pipe, const struct tree_node *map, struct dag_values **ret, size_t *ret_count);

/* pipeline_include.c */
/* Lay the maps of the included files under those of the pipeline. */
enum err pipe_include(struct pipe *pipe, struct tree_node *root);
enum err pipe_read_include(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_template.c */
enum err pipe_read_templates(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_template(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_with(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
/* If the job uses a template, *value becomes the whole job, and pipe->words also has the template's parameters. */
enum err pipe_use_template(struct pipe *pipe, struct pipe_job *job, const struct tree_node **value);

/* pipeline_axes.c */
enum err pipe_read_matrix(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_job.c */
/* Read a job; the node's key is its name. */
enum err pipe_read_job(struct pipe *pipe, const struct tree_node *value, bool final);
enum err pipe_read_env(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_deadline(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_defaults(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_shell.c */
/* Is the text one ${jobs.x.outputs.y}, or a parameter that stands for an output, and nothing else? */
bool pipe_is_output(const struct pipe *pipe, const struct tree_node *node);
/* The text [../]JOB/OUTPUT of an output, seen from a graph inside this one. */
struct slice pipe_taken_up(struct pipe *pipe, struct slice taken);
/* Read such a text: the job takes that output into this variable. */
enum err pipe_read_take(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, struct slice variable);
/*
 * Read such a text as a parameter: *ret becomes NAME=JOB/OUTPUT. inside: the parameter belongs to the job's sub-run, from which
 * the output is one level further away, NAME=../JOB/OUTPUT.
 */
enum err pipe_read_taken(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, bool inside, struct slice *ret);
enum err pipe_read_run(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* Read the output that a reference stands for. */
enum err pipe_read_ref(struct pipe *pipe, const struct tree_node *node, const struct matrix_ref *ref, struct dag_take *ret);

/* pipeline_text.c: texts with outputs of jobs in them; user: gets the takes by which those jobs are checked */
bool pipe_has_outputs(const struct pipe *pipe, const struct tree_node *node);
/* lead: stands before the text. */
enum err pipe_read_text(struct pipe *pipe, struct dag_node *user, const struct tree_node *node, const char *what, struct slice lead,
			struct slice *ret);
/* Read a map of outputs, NAME: TEXT each. */
enum err pipe_read_computed(struct pipe *pipe, struct dag_node *user, const struct tree_node *value, struct slice_list *ret);

/* pipeline_form.c */
enum err pipe_read_fields(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
/* Has the gate a field that can't be left out? */
bool pipe_fields_needed(const struct dag_node *node);

/* pipeline_code.c */
/* Return the index of the word that the program of this command takes as code, as in [sh, -c, TEXT]; 0: there is none. */
size_t pipe_code_word(struct slice_list words);
/* Refuse a value that is a part of this word, the code of this program. */
enum err pipe_check_code(struct pipe *pipe, const struct tree_node *node, struct slice program, struct slice word);

/* pipeline_schedule.c */
enum err pipe_read_schedule(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_files.c */
enum err pipe_read_files(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_retry.c */
enum err pipe_read_retry(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_crash_limit(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_continue_on(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_worker_death(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_log(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
void pipe_default_failure(struct dag_node *node, const struct dag_node *defaults);

/* pipeline_loop.c */
enum err pipe_read_loop(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_check_loop(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *value);

/* pipeline_service.c */
enum err pipe_read_service(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_share.c: concurrency and locks of a job, concurrency of the pipeline */
enum err pipe_read_concurrency(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_kv(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_locks(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_artifacts(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_outputs(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_run_concurrency(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_sub.c */
enum err pipe_read_sub(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_sub_params(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

/* pipeline_place.c: where a job runs */
enum err pipe_read_worker(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_cpus(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_memory(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_gpus(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_resources(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_labels(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_prefer(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_requires(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_prefer_worker(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_pool(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);
enum err pipe_read_affinity(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value);

#define PIPE_PLACE_KEYS \
	{ "worker", pipe_read_worker }, { "cpus", pipe_read_cpus }, { "memory", pipe_read_memory }, \
	{ "gpus", pipe_read_gpus }, { "resources", pipe_read_resources }, { "prefer", pipe_read_prefer }, { "labels", pipe_read_labels }, { "requires", pipe_read_requires }, \
	{ "prefer_worker", pipe_read_prefer_worker }, { "pool", pipe_read_pool }, { "affinity", pipe_read_affinity }

/* pipeline_needs.c */
struct dag_expr;
/* Read a condition. own: the condition is about the job's own end. */
enum err pipe_read_expr(struct pipe *pipe, const struct pipe_job *job, const struct tree_node *node, const char *what, bool own,
			struct dag_expr **ret);
/* Make edges and conditions, once all jobs are known. */
enum err pipe_join(struct pipe *pipe);

#endif
