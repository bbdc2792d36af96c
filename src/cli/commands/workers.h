/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The subcommands of titan worker. */
#ifndef TITAN_CLI_WORKERS_H
#define TITAN_CLI_WORKERS_H

#include "cli/session/cli.h"
#include "cli/show/records.h"

extern const struct table place_set_table;

/*
 * Does this command become a worker? Without a verb it does so only if a guardian replaces itself by another version.
 */
bool worker_starts(const struct invocation *invocation);
int workers_list(struct cli *cli);
int workers_show(struct cli *cli);
int workers_add(struct cli *cli);
int workers_start_again(struct cli *cli);
int workers_restart(struct cli *cli);
int workers_upgrade(struct cli *cli);
int workers_stop(struct cli *cli);
/* remove workers, from their machines too if titan worker add put them there; others as workers_forget does */
int workers_remove(struct cli *cli);
int workers_logs(struct cli *cli);
int workers_check_net(struct cli *cli);
/* Join all labels of the command line, or otherwise those of titan.conf, with commas; NULL: none. */
enum err worker_labels(struct cli *cli, const char **ret_labels);
/*
 * worker_join.c: turn the token for joining, which is the key of the remote cluster, into this worker's own key: the one that an
 * earlier start has kept, or a new one.
 */
enum err worker_join(struct cli *cli, const char *name);
const char *worker_join_name(struct cli *cli);   /* the name of a worker that joins without --name: that of its machine */
int workers_forget(struct cli *cli);             /* removes the workers named after the first argument */

#endif
