/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the rules by which a master prunes ended runs. */
#ifndef TITAN_CLI_PRUNE_H
#define TITAN_CLI_PRUNE_H

#include "cli/session/options.h"
#include "master/master.h"

/* Defaults of the rules. */
#define PRUNE_EVERY_MS 60000
#define PAST_MS        (INT64_C(7) * 24 * 3600 * 1000)
#define PAST_BYTES     (256 << 20)
#define ACTS_MS        (INT64_C(400) * 24 * 3600 * 1000)

/* Read a master's standing rules: from its options, else the environment, else titan.conf. */
enum err prune_rules_read(const struct invocation *invocation, struct prune_rules *ret, struct error *error);

#endif
