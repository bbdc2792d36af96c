/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The titan.conf files: where they are, and which ones are safe to read. */
#ifndef TITAN_CLI_CONF_FILES_H
#define TITAN_CLI_CONF_FILES_H

#include "cli/session/cli.h"
#include "lang/conf.h"

/*
 * Read the files that exist, in this order: the project's, the user's, the system's. A mistake in a file has already
 * been printed on return, and cli->error has no text then; for other errors cli->error has one.
 */
enum err conf_read_files(struct cli *cli, struct conf_files *files);
/* Read the file of the cluster at cli->statedir. Its settings precede those of all other files. */
enum err conf_read_cluster(struct cli *cli, struct conf_files *files);

#endif
