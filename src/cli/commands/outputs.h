/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows that each command prints, and the fields in them: outputs.def and show/fields.def as tables. */
#ifndef TITAN_CLI_OUTPUTS_H
#define TITAN_CLI_OUTPUTS_H

#include "cli/show/records.h"
#include "proto/commands.h"

enum output_shape { OUTPUT_LIST, OUTPUT_ONE, OUTPUT_WHOLE, OUTPUT_JOB, OUTPUT_RUNS, OUTPUT_PLAN, OUTPUT_LINES, OUTPUT_LAST };
enum shown_type { SHOWN_INT, SHOWN_TEXT, SHOWN_STATE, SHOWN_TIME, SHOWN_BOOL, SHOWN_LIST };

#define OUTPUT(command, words, shape, name) extern const struct table name##_table;
#define OUTPUT_TEXT(command)
#include "cli/commands/outputs.def"
#undef OUTPUT
#undef OUTPUT_TEXT
extern const struct table job_table;             /* rows of the jobs in output of shape RUNS */
extern const struct table attempt_table;         /* rows of the tries in output of shape JOB */

struct output_info {
	enum command_id command;
	const char *words;               /* the words typed after the command's name */
	enum output_shape shape;
	const struct table *table;
};

struct shown_field {
	const char *name;
	enum shown_type type;
	const char *text;
};

extern const struct output_info output_table[];
extern const size_t output_count;

/* Does the command print text, and no data? */
bool output_is_text(enum command_id command);

/* Find a field by its name, also a plain setting of a job. False: there is none. */
bool field_find(const char *name, struct shown_field *ret);

#endif
