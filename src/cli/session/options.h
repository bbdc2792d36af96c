/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parsed command line, and the settings that follow from it: first options, then TITAN_* of the environment, then
 * titan.conf, then defaults. Only this code decides between these sources.
 */
#ifndef TITAN_CLI_OPTIONS_H
#define TITAN_CLI_OPTIONS_H

#include "base/arena.h"
#include "cli/show/look.h"
#include "lang/conf.h"
#include "proto/commands.h"
#include "proto/error.h"

struct given_option {
	enum option_id id;
	const char *value;               /* NULL for an option without argument */
};

struct invocation {                      /* the parsed words; texts point into argv, lists are in the arena */
	const struct command_info *command;      /* NULL: no command was typed */
	struct given_option *options;            /* options in the order typed */
	size_t option_count;
	const char **args;
	size_t arg_count;
	size_t plain_from;               /* index of the first argument after "--"; SIZE_MAX: there was no "--" */
	const struct conf_files *conf; /* the titan.conf files, for settings that weren't typed; NULL: none */
};

/*
 * Parse argv. Global options may stand before or after arguments, options of a command only after its name. "--" ends
 * the options, and so does the name of a script in a command that takes SCRIPT [ARG...]: all words after it belong to
 * the script. Words can't be abbreviated. Errors are ERR_USAGE, with a suggestion if one can be guessed.
 */
enum err invocation_parse(int argc, char *const *argv, struct arena *arena, struct invocation *ret,
			  struct error *error);
bool option_given(const struct invocation *invocation, enum option_id id);
/* Value of the option's last occurrence, or NULL. */
const char *option_value(const struct invocation *invocation, enum option_id id);

/*
 * Parse the option's argument as a number between least and most, or as a time span. If the option wasn't given, *value
 * stays.
 */
enum err option_number(const struct invocation *invocation, enum option_id id, uint64_t least, uint64_t most,
		       uint64_t *value, struct error *error);
/* Find the index of the typed word in the option's ARGUMENT, a|b|c. If the option wasn't given, *value stays. */
enum err option_choice(const struct invocation *invocation, enum option_id id, uint64_t *value, struct error *error);
enum err option_span(const struct invocation *invocation, enum option_id id, int64_t *value_ms,
		     struct error *error);
/* Parse the option's argument as a point in time (base/when.h). If the option wasn't given, *value_ms stays. */
enum err option_when(const struct invocation *invocation, enum option_id id, int64_t *value_ms, struct error *error);
enum err parse_number(const char *text, const char *what, uint64_t least, uint64_t most, uint64_t *ret_value,
		      struct error *error);
enum err parse_span(const char *text, const char *what, int64_t *ret_ms, struct error *error);

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct settings {
	const char *cluster;             /* name of the cluster; NULL: the default one */
	/* address of a master on another machine, and the file of its key; NULL: not given */
	const char *host, *key_file;
	/* a job's socket and token for its master; NULL outside a job, or if another cluster is named */
	const char *socket, *token;
	const char *own_run;             /* the run of the job that runs this command, which the word self means */
	enum style style;
	const char *format;              /* the template, for STYLE_FORMAT */
	enum colour_when colour;
	bool quiet, yes, no_input;
	int64_t timeout_ms;              /* -1: no timeout */
};

enum err settings_read(const struct invocation *invocation, struct settings *ret, struct error *error);

#define SETTING_NAME_SIZE 64

/*
 * The value of a setting: from the option, else the environment variable, else titan.conf; NULL: not set. ret_what: the
 * source, for error texts.
 */
const char *setting_value(const struct invocation *invocation, enum option_id id, enum conf_key key,
			  char ret_what[SETTING_NAME_SIZE]);
/* Read a setting as a number between least and most. If it isn't set, *value stays. */
enum err setting_number_value(const struct invocation *invocation, enum option_id id, enum conf_key key, uint64_t least,
			      uint64_t most, uint64_t *value, struct error *error);

/* Read a setting as a time span above 0. If it isn't set, *ret_ms stays. */
enum err interval_read(const struct invocation *invocation, enum option_id id, enum conf_key key, int64_t *ret_ms,
		       struct error *error);
/*
 * Is this process a guardian that replaced itself by another version? It must live on even if titan.conf has an error.
 */
bool settings_renewed(void);

/* intervals that were set for a master; 0: not set */
struct intervals {
	int64_t heartbeat_ms, lease_ms, grace_ms;
};

enum err intervals_read(const struct invocation *invocation, struct intervals *ret, struct error *error);

#endif
