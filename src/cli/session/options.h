/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was typed, taken apart by the command table, and the settings that come of it: flags first, then
 * TITAN_* of the environment, then titan.conf, then defaults. This is the only place that decides between them.
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
	const char *value;               /* NULL for one without an argument */
};

struct invocation {                      /* points into argv; lists in the arena */
	const struct command_info *command;      /* NULL: no verb was given */
	struct given_option *options;            /* in the order given */
	size_t option_count;
	const char **args;
	size_t arg_count;
	const struct conf_files *conf;           /* what titan.conf says, for whatever isn't typed; NULL: nothing */
};

/*
 * Options stand before or behind arguments, "--" ends them; those of a command stand behind its verb.
 * No word is abbreviated. Errors are ERR_USAGE and say what was meant where that can be guessed.
 */
enum err invocation_parse(int argc, char *const *argv, struct arena *arena, struct invocation *ret,
			  struct error *error);
bool option_given(const struct invocation *invocation, enum option_id id);
const char *option_value(const struct invocation *invocation, enum option_id id);   /* the last one, or NULL */

/* The option's argument as a number between least and most, or as a span of time; *value stays when not given. */
enum err option_number(const struct invocation *invocation, enum option_id id, uint64_t least, uint64_t most,
		       uint64_t *value, struct error *error);
/* The place of the value among the words of the option's ARGUMENT, a|b|c; *value stays when it isn't given. */
enum err option_choice(const struct invocation *invocation, enum option_id id, uint64_t *value, struct error *error);
enum err option_span(const struct invocation *invocation, enum option_id id, int64_t *value_ms,
		     struct error *error);
enum err parse_number(const char *text, const char *what, uint64_t least, uint64_t most, uint64_t *ret_value,
		      struct error *error);
enum err parse_span(const char *text, const char *what, int64_t *ret_ms, struct error *error);

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct settings {
	const char *cluster;             /* NULL: the default one */
	const char *socket, *token;      /* inside a job, unless another cluster is named: the way to its master; else NULL */
	const char *own_run;             /* then: what self means */
	enum style style;
	const char *format;              /* for STYLE_FORMAT */
	enum colour_when colour;
	bool quiet, yes, no_input;
	int64_t timeout_ms;              /* -1: none */
};

enum err settings_read(const struct invocation *invocation, struct settings *ret, struct error *error);

#define SETTING_NAME_SIZE 64

/* What is said: by the option, or else the variable of the key, or else titan.conf; NULL: by none. ret_what: which, for errors. */
const char *setting_value(const struct invocation *invocation, enum option_id id, enum conf_key key,
			  char ret_what[SETTING_NAME_SIZE]);
/* Likewise a number between least and most; *value stays when nothing is said. */
enum err setting_number_value(const struct invocation *invocation, enum option_id id, enum conf_key key, uint64_t least,
			      uint64_t most, uint64_t *value, struct error *error);

/* A setting that is a time and not none; as it was where it isn't given. */
enum err interval_read(const struct invocation *invocation, enum option_id id, enum conf_key key, int64_t *ret_ms,
		       struct error *error);
/* Is this process a guardian of a worker that has become a newer version? It lives, whatever became of its titan.conf. */
bool settings_renewed(void);

/* Intervals of a master; 0 where nothing is said. */
struct intervals {
	int64_t heartbeat_ms, lease_ms, grace_ms;
};

enum err intervals_read(const struct invocation *invocation, struct intervals *ret, struct error *error);

#endif
