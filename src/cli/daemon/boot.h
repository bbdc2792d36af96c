/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lets a cluster start with the machine: by a unit of systemd --user, where that runs, else by a line in the user's crontab.
 * Nothing else of the user's is touched, and nothing is written again that is there already.
 */
#ifndef TITAN_CLI_BOOT_H
#define TITAN_CLI_BOOT_H

#include <stdbool.h>

#include "base/statedir.h"
#include "cli/daemon/boot_text.h"

enum boot_way { BOOT_NONE, BOOT_SYSTEMD, BOOT_CRON };

struct boot {
	enum boot_way way;
	char unit[BOOT_NAME_SIZE + 16];  /* of BOOT_SYSTEMD: name of the unit */
	bool lingers;                    /* of BOOT_SYSTEMD: it starts with the machine, not only when its user logs in */
	bool changed;                    /* boot_set or boot_unset has written something */
};

/* Find out how the cluster is started with the machine. What can't be asked counts as absent. */
void boot_find(const struct statedir *statedir, struct boot *ret);
/* Let titan up with these options start the cluster with the machine; options ends with NULL. */
enum err boot_set(const struct statedir *statedir, const char *const *options, struct boot *ret, struct error *error);
/* Don't start the cluster with the machine any more. */
enum err boot_unset(const struct statedir *statedir, struct boot *ret, struct error *error);

#endif
