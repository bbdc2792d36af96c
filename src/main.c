/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program. With the argument "link" it becomes a worker's link process; "far" is what other machines run through
 * ssh; "collect" runs the process of a job and keeps the files that it leaves; anything else is a command.
 */
#include <string.h>
#include <sys/prctl.h>

#include "cli/commands/collect.h"
#include "cli/session/session.h"
#include "worker/far.h"
#include "worker/worker.h"

int main(int argc, char **argv)
{
	struct session session;

	/* Daemons are executed as /proc/self/exe; without this, ps would show that name. */
	prctl(PR_SET_NAME, "titan");
	if (argc == 2 && strcmp(argv[1], "link") == 0)
		return link_main();
	if (argc >= 2 && strcmp(argv[1], FAR_WORD) == 0)
		return far_main(argc, argv);
	if (argc >= 2 && strcmp(argv[1], COLLECT_WORD) == 0)
		return collect_main(argc, argv);
	session_of_process(&session);
	return session_run(&session, argc, argv);
}
