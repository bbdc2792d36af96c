/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of all commands: one for each row of proto/commands.def. Each returns the exit status. */
#ifndef TITAN_CLI_COMMAND_H
#define TITAN_CLI_COMMAND_H

#include "cli/session/cli.h"

typedef int command_fn(struct cli *cli);
#define GLOBAL(ident, letter, word, argument, help)
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) command_fn cmd_##ident;
#define OPTION(command, ident, letter, word, argument, help)
#define EXAMPLE(command, line)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END

#endif
