/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph on its way in, in one frame or many: its parts, how much was promised and has come, and the
 * digest of its content, which doesn't depend on where it was cut.
 */
#ifndef TITAN_MASTER_UPLOAD_H
#define TITAN_MASTER_UPLOAD_H

#include "base/sha256.h"
#include "core/core.h"

struct session;

struct upload {
	uint64_t id;                     /* of the request, on its connection */
	uint8_t key[16];
	struct slice name;               /* its own copy */
	uint64_t declared;               /* jobs */
	uint64_t count;                  /* have come */
	uint32_t max_jobs;
	struct slice tenant;             /* its own copy; empty: the owner is it */
	struct slice concurrency;        /* its own copy */
	struct buf schedule;             /* a schedule_spec record, or nothing */
	uint64_t into;                   /* the run that it is added to; 0: one begins */
	struct slice_list parents;       /* jobs of that run, in arena */
	struct arena arena;
	uint64_t bytes;
	struct graph_part *parts;
	size_t part_count, part_cap;
	bool refused;                    /* its sender was told; the rest of it is thrown away */
	/* Of uploads.c: */
	struct session *session;
	bool counted;                    /* it is in the list of all */
	struct upload *prev, *following; /* its neighbours there */
	uint64_t charged;
	int64_t began_ns, moved_ns;
	struct sha256 digest;
	struct upload *next;             /* of its connection */
};

/* What is wrong with it, if anything, is said at once: key, name, declared count. */
enum err upload_begin(uint64_t id, struct slice key, struct slice name, uint64_t declared,
		      struct upload **ret_upload, struct error *error);
enum err upload_share(struct upload *upload, struct slice tenant, struct slice concurrency, struct error *error);
void upload_into(struct upload *upload, uint64_t run, struct slice_list parents);
enum err upload_add(struct upload *upload, struct slice jobs, uint64_t count, struct error *error);
/* Complete? Then the digest. */
enum err upload_finish(struct upload *upload, uint8_t ret_digest[32], struct error *error);
void upload_drop(struct upload *upload);         /* refused: its parts are freed now, itself later */
void upload_free(struct upload *upload);         /* NULL is fine */

#endif
