/* SPDX-License-Identifier: GPL-3.0-or-later */
/* commands.def as tables: all commands and options, for the parser, the help, the manual and the completions. */
#ifndef TITAN_PROTO_COMMANDS_H
#define TITAN_PROTO_COMMANDS_H

#include <stddef.h>

#include "proto/message.h"

enum command_id {
	COMMAND_none,
#define GLOBAL(ident, letter, word, argument, help)
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) COMMAND_##ident,
#define OPTION(command, ident, letter, word, argument, help)
#define EXAMPLE(command, line)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END
	COMMAND_COUNT
};

enum option_id {
	OPT_none,
#define GLOBAL(ident, letter, word, argument, help) OPT_##ident,
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text)
#define OPTION(command, ident, letter, word, argument, help) OPT_##command##_##ident,
#define EXAMPLE(command, line)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END
	OPT_COUNT
};

enum command_group { GROUP_CLUSTER, GROUP_RUN, GROUP_CONTROL, GROUP_HUMAN, GROUP_LOOK, GROUP_REST, GROUP_COUNT };

struct option_info {
	enum option_id id;               /* number of the option; OPT_none ends a list */
	char letter;                     /* letter of the short form; 0: none */
	const char *word;
	const char *argument;            /* name of the option's argument; NULL: it takes none */
	const char *help;
};

struct command_info {
	enum command_id id;
	const char *verb;
	enum command_group group;
	enum role role;
	const char *pattern;             /* the command's arguments, as a pattern */
	int least, most;                 /* number of arguments; most < 0: any number */
	const char *help;                /* help of the command in one line */
	const char *text;                /* further help text, or empty */
	const struct option_info *options;
	const char *const *examples;     /* command lines, up to NULL */
};

extern const struct option_info global_options[];
extern const struct command_info command_table[COMMAND_COUNT];   /* the commands, indexed by id; entry 0 is unused */
extern const char *const command_groups[GROUP_COUNT];

const struct command_info *command_find(const char *verb);       /* find a command by its verb; NULL if there is none */

#endif
