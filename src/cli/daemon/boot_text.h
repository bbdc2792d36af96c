/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What titan up --boot writes: a unit of systemd, or a line of a crontab. Both run the same words. A path can have any
 * characters, so each word is quoted as its reader wants it; what can't be quoted is refused.
 */
#ifndef TITAN_CLI_BOOT_TEXT_H
#define TITAN_CLI_BOOT_TEXT_H

#include "base/buf.h"
#include "base/slice.h"
#include "base/statedir.h"
#include "proto/error.h"

#define BOOT_NAME_SIZE 192

/* The name under which this cluster is known to systemd and cron: its own, and a part of its directory's checksum. */
void boot_name(const struct statedir *statedir, char ret_name[BOOT_NAME_SIZE]);
/* The unit that runs words at the start and stop_words at the end of the machine; both lists end with NULL. */
enum err boot_unit(const char *cluster, const char *const *words, const char *const *stop_words, struct buf *out, struct error *error);
/* The line of a crontab, with its newline. */
enum err boot_cron_line(const char *name, const char *const *words, struct buf *out, struct error *error);
/*
 * Copy a crontab without this cluster's line, and with the new line in its place if there is one. All other bytes stay. Returns
 * whether the line was there.
 */
bool boot_cron_replace(struct slice table, const char *name, struct slice line, struct buf *out);

#endif
