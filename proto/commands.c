/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of commands.def. A row there is all that needs to be written about a command. */
#include "proto/commands.h"

#include <string.h>

const struct option_info global_options[] = {
#define GLOBAL(ident, letter, word, argument, help) { OPT_##ident, letter, word, argument, help },
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text)
#define OPTION(command, ident, letter, word, argument, help)
#define EXAMPLE(command, line)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END
	{ OPT_none, 0, NULL, NULL, NULL }
};

#define GLOBAL(ident, letter, word, argument, help)
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) \
	static const struct option_info options_##ident[] = {
#define OPTION(command, ident, letter, word, argument, help) \
	{ OPT_##command##_##ident, letter, word, argument, help },
#define EXAMPLE(command, line)
#define END(ident) { OPT_none, 0, NULL, NULL, NULL } };
#include "proto/commands.def"
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END

#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) \
	static const char *const examples_##ident[] = {
#define OPTION(command, ident, letter, word, argument, help)
#define EXAMPLE(command, line) line,
#define END(ident) NULL };
#include "proto/commands.def"
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END

const struct command_info command_table[COMMAND_COUNT] = {
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) \
	[COMMAND_##ident] = { COMMAND_##ident, verb, GROUP_##group, ROLE_##role, pattern, least, most, help, \
			      text, options_##ident, examples_##ident },
#define OPTION(command, ident, letter, word, argument, help)
#define EXAMPLE(command, line)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END
};

const char *const command_groups[GROUP_COUNT] = {
	[GROUP_CLUSTER] = "Cluster",
	[GROUP_RUN] = "Run",
	[GROUP_CONTROL] = "Control",
	[GROUP_HUMAN] = "Human",
	[GROUP_LOOK] = "Look",
	[GROUP_REST] = "Rest",
};

const struct command_info *command_find(const char *verb)
{
	for (int id = 1; id < COMMAND_COUNT; id++)
		if (strcmp(command_table[id].verb, verb) == 0)
			return &command_table[id];
	return NULL;
}
