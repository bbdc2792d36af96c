/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One program, many roles: the word "link" makes it the keeper's other half, everything else is a command. */
#include <string.h>

#include "cli/cli.h"
#include "worker/worker.h"

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "link") == 0)
		return link_main();
	return cli_main(argc, argv);
}
