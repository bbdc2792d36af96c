/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the rules by which a master prunes. */
#ifndef TITAN_CLI_PRUNE_H
#define TITAN_CLI_PRUNE_H

#include "cli/session/options.h"
#include "master/master.h"

/* Read a master's standing rules: from its options, else the environment, else titan.conf. */
enum err prune_rules_read(const struct invocation *invocation, struct prune_rules *ret, struct error *error);

#endif
