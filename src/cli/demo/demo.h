/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Between the parts of titan demo: the stage (daemons, directory) and the check of what came of it. */
#ifndef TITAN_CLI_DEMO_H
#define TITAN_CLI_DEMO_H

#include <sys/types.h>

#include "cli/session/cli.h"

struct demo {
	struct cli *cli;
	char parent[PATH_MAX];           /* of the directory */
	char dir[PATH_MAX];              /* everything is in it; goes at the end */
	pid_t master, worker;            /* 0: not running */
	bool pulled;                     /* the master was killed */
	uint64_t run;
};

/* A directory, a master, a worker. */
enum err demo_stage(struct demo *demo);
enum err demo_start_master(struct demo *demo);
void demo_kill_master(struct demo *demo);
/* Ends the daemons in order. ERR_INVALID when something still runs. */
enum err demo_leave(struct demo *demo);
/* Whatever is left: killed, removed. Always the last call; it may find nothing to do. */
void demo_clear(struct demo *demo);

extern const char demo_graph[];
/* Did every job end as it had to, was each line written once, are the logs there? Says what isn't so. */
enum err demo_check(struct demo *demo);

#endif
