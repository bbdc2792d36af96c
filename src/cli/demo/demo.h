/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the parts of titan demo: the stage (daemons, directory) and the check of the result. */
#ifndef TITAN_CLI_DEMO_H
#define TITAN_CLI_DEMO_H

#include <sys/types.h>

#include "cli/session/cli.h"

struct demo {
	struct cli *cli;
	char parent[PATH_MAX];           /* the directory in which dir was made */
	char dir[PATH_MAX];              /* holds everything; removed at the end */
	pid_t master, worker;            /* 0: not running */
	bool pulled;                     /* the demo has already killed the master */
	uint64_t run;
};

/* Make the directory, start a master and a worker. */
enum err demo_stage(struct demo *demo);
enum err demo_start_master(struct demo *demo);
void demo_kill_master(struct demo *demo);
/* End the daemons in order. ERR_INVALID: a process of the demo still runs. */
enum err demo_leave(struct demo *demo);
/* Kill and remove whatever is left, if anything. Always the last call. */
void demo_clear(struct demo *demo);

extern const char demo_graph[];
/* Check that every job ended as expected, wrote its line exactly once and has a log. The error says what is wrong. */
enum err demo_check(struct demo *demo);

#endif
