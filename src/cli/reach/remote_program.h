/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The programs that are copied to other machines: titan-static, which is installed beside titan. */
#ifndef TITAN_CLI_REMOTE_PROGRAM_H
#define TITAN_CLI_REMOTE_PROGRAM_H

#include "base/slice.h"
#include "cli/session/cli.h"

struct remote_program {
	char processor[65];              /* the processor for which the program is built, as uname -m prints it */
	char path[PATH_MAX];
	char hash[65];
	struct slice bytes;              /* content of the program's file, mapped as long as this process lives */
	bool shared; /* the program is titan itself, which needs its shared libraries on the other machine */
	struct remote_program *next;
};

/* Find the program for a processor. Each program is read once and allocated in the command's arena. */
enum err remote_program_find(struct cli *cli, const char *processor, const char *destination,
			      struct remote_program **list, const struct remote_program **ret);

#endif
