/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The link's thread for the files of attempts: it writes and hashes what the master sends, so that heartbeats and output never wait
 * for a disk. The thread exists from the first attempt with files on, or if there is a cache.
 */
#ifndef TITAN_WORKER_LINK_STAGE_H
#define TITAN_WORKER_LINK_STAGE_H

#include "proto/message.h"

struct link;

void link_stage_open(struct link *link);
void link_stage_close(struct link *link);
/* Stage the files of an attempt; then the keeper is told. */
void link_stage_take(struct link *link, uint64_t job, uint64_t epoch, struct slice inputs);
void link_stage_drop(struct link *link, uint64_t job, uint64_t epoch);
void link_stage_data(struct link *link, const struct msg_goods_data *data);
void link_stage_refused(struct link *link, const struct msg_error *error);
void link_stage_online(struct link *link, bool online);
void link_stage_trim(struct link *link);         /* called now and then */

#endif
