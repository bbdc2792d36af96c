/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs that are copied to other machines: titan-static, which lies beside titan. */
#ifndef TITAN_CLI_PROGRAM_COPY_H
#define TITAN_CLI_PROGRAM_COPY_H

#include "base/slice.h"
#include "cli/session/cli.h"

struct program {
	char processor[65];              /* as uname -m says */
	char path[PATH_MAX];
	char hash[65];
	struct slice bytes;              /* mapped for as long as this process lives */
	bool shared;                     /* it is titan itself, which needs its libraries there */
	struct program *next;
};

/* Find the program for a processor. Each is read once; they belong to the arena of the command. */
enum err program_find(struct cli *cli, const char *processor, const char *destination, struct program **list,
		      const struct program **ret);

#endif
