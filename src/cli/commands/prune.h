/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words in which people say what is pruned. */
#ifndef TITAN_CLI_PRUNE_H
#define TITAN_CLI_PRUNE_H

#include "cli/session/options.h"
#include "master/master.h"

/* The standing rules of a master: its options, then the environment, then titan.conf. */
enum err prune_rules_read(const struct invocation *invocation, struct prune_rules *ret, struct error *error);

#endif
