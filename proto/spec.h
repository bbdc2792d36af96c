/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds.def and spec.def as enums and tables: the kinds of a job, and its settings. */
#ifndef TITAN_PROTO_SPEC_H
#define TITAN_PROTO_SPEC_H

#include "proto/message.h"

enum job_kind {
	KIND_UNSAID,
#define KIND(NAME, name, text) KIND_##NAME,
#include "proto/kinds.def"
#undef KIND
	KIND_COUNT
};

#define KIND_BIT(kind) (1u << (kind))
/* Sets of kinds to which a setting applies. */
enum {
	FOR_SERVICE = KIND_BIT(KIND_SERVICE),
	/* a service has either a command or a script */
	FOR_COMMAND = KIND_BIT(KIND_COMMAND) | FOR_SERVICE,
	FOR_SCRIPT = KIND_BIT(KIND_SCRIPT) | FOR_SERVICE,
	FOR_WORK = FOR_COMMAND | FOR_SCRIPT,
	/* kinds of jobs whose process is meant to end */
	FOR_TASK = KIND_BIT(KIND_COMMAND) | KIND_BIT(KIND_SCRIPT),
	FOR_SUBRUN = KIND_BIT(KIND_SUBRUN),
	FOR_RUNNING = FOR_TASK | FOR_SUBRUN,
	/* kinds of jobs that may ask people: gates, and jobs with a process before they run */
	FOR_PEOPLE = KIND_BIT(KIND_GATE) | FOR_TASK,
	FOR_ANY = KIND_BIT(KIND_COUNT) - KIND_BIT(KIND_COMMAND),
	FOR_ENDING = FOR_ANY - FOR_SERVICE,
	IN_DEFAULTS = 1u << 31,
};

enum setting_shape { SHAPE_OWN, SHAPE_TEXT, SHAPE_SPAN, SHAPE_TIME };

struct setting {
	const char *field;               /* name of the field in struct rec_job_spec */
	const char *yaml;                /* key in a pipeline: "timeout", "approval.timeout"; "": none */
	const char *line;                /* word in a one-line graph; "": none */
	enum setting_shape shape;
	unsigned kinds;                  /* kinds of jobs to which the setting applies, as bits of KIND_BIT */
	const char *fallback;            /* the default as text; "": depends on other settings */
	const char *text;
	size_t offset;
	size_t plain;                    /* plain setting: offset in struct rec_job_settings */
	enum field_type type;
};

extern const struct setting setting_table[];
extern const size_t setting_count;

/* Return the kind that the job states, or else the one that its other fields imply. */
enum job_kind spec_kind(const struct rec_job_spec *spec);
const char *job_kind_name(enum job_kind kind);           /* returns the kind's name; "unsaid" for KIND_UNSAID */
const char *job_kind_text(enum job_kind kind);

bool setting_is_said(const struct setting *setting, const struct rec_job_spec *spec);
/* Return a setting that the job has although its kind can't use it; NULL: there is none. */
const struct setting *setting_without_use(const struct rec_job_spec *spec, enum job_kind kind);

#define SHELL_WORDS_MAX 4

/* Is this a value of the setting shell: sh, bash, python3, or the absolute path of an interpreter? */
bool shell_is_good(struct slice shell);
/* Does this interpreter read the language of sh? No shell means sh. */
bool shell_reads_sh(struct slice shell);
/* Write the interpreter and its options, which the name of a script's file follows; return their number. */
size_t shell_words(struct slice shell, struct slice ret_words[SHELL_WORDS_MAX]);

#define DIR_PRIVATE "private"            /* the value of `dir` that means an empty directory of the attempt's own */

/* Add to a specification the directory and variables of the context that it doesn't set itself; lists are in arena. */
void spec_complete(struct rec_job_spec *spec, const struct rec_run_context *context, struct arena *arena);

/*
 * The functions below are for plain settings, those whose shape isn't SHAPE_OWN. Each is a field of a
 * job_settings record, so code that reads, keeps, sends and shows them needn't know any by name.
 */
void settings_of(const struct rec_job_spec *spec, struct rec_job_settings *ret);
/* Copy the settings that are set into the specification. */
void settings_give(const struct rec_job_settings *settings, struct rec_job_spec *spec);
/* Take settings of these kinds from the defaults where the job doesn't set them. */
void settings_fill(struct rec_job_settings *settings, const struct rec_job_settings *defaults, unsigned kinds);
bool settings_any(const struct rec_job_settings *settings);
bool setting_plain_said(const struct setting *setting, const struct rec_job_settings *settings);
/* Return where the text of a setting of SHAPE_TEXT is. */
struct slice *setting_text(const struct setting *setting, struct rec_job_settings *settings);
/* Return the value of a plain setting that isn't a text. */
int64_t setting_number(const struct setting *setting, const struct rec_job_settings *settings);
void setting_set_number(const struct setting *setting, struct rec_job_settings *settings, int64_t value);
/* Write a value as people do: a text, 5m, 2026-11-18T14:02:30Z. */
void setting_print(const struct setting *setting, const struct rec_job_settings *settings, struct buf *out);

/* Read VARIABLE=[../]JOB/OUTPUT; *ret_up: the job is in the run that is so many levels around. */
bool take_read(struct slice text, struct slice *ret_variable, unsigned *ret_up, struct slice *ret_job, struct slice *ret_output);

/* Read JOB=DIR, as in artifacts_in; DIR may be empty. */
bool in_read(struct slice text, struct slice *ret_job, struct slice *ret_dir);

/* Is this def:PREFIX or cluster:PREFIX, as in kv_read and kv_write? */
bool values_grant_good(struct slice text);

#endif
