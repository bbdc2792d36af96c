/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files called titan.conf: where they are, and which of them may be believed. */
#ifndef TITAN_CLI_CONF_FILES_H
#define TITAN_CLI_CONF_FILES_H

#include "cli/session/cli.h"
#include "lang/conf.h"

/*
 * A project's, the user's and the system's, those that there are, in this order. What is wrong with one is told at its place;
 * cli->error has no text then. Of other errors it has.
 */
enum err conf_read_files(struct cli *cli, struct conf_files *files);
/* That of the cluster at cli->statedir, which comes before all others. */
enum err conf_read_cluster(struct cli *cli, struct conf_files *files);

#endif
