/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Help texts, made from the tables. */
#ifndef TITAN_CLI_HELP_H
#define TITAN_CLI_HELP_H

#include "cli/show/look.h"
#include "proto/commands.h"

void help_overview(const struct look *look, struct buf *out);
void help_command(const struct look *look, const struct command_info *command, struct buf *out);
bool help_topic(const struct look *look, const char *topic, struct buf *out);    /* false: there is no such topic */
const char *const *help_topics(size_t *ret_count);

#endif
