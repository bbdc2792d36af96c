/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph being uploaded in one frame or several: its parts, the promised and received numbers of jobs, and a digest of
 * its content that doesn't depend on how it was cut into chunks.
 */
#ifndef TITAN_MASTER_UPLOAD_H
#define TITAN_MASTER_UPLOAD_H

#include "base/sha256.h"
#include "core/core.h"

struct peer_session;

struct upload {
	uint64_t id;                     /* id of the client's request, on its connection */
	uint8_t key[16];
	struct slice name;               /* name of the run, copied */
	uint64_t declared;               /* number of jobs that the client promised */
	uint64_t count;                  /* number of jobs that have arrived */
	uint32_t max_jobs;
	struct slice tenant;             /* the run's tenant, copied; empty: the owner's own tenant */
	struct slice concurrency;        /* the run's concurrency group, copied */
	struct slice context;            /* what the jobs share: a run_context record, copied; or empty */
	struct slice revision;           /* revision that the replaced schedule must have, copied; empty: any */
	struct buf schedule;             /* the run's schedule: a schedule_spec record, or empty */
	uint64_t into;                   /* the run to which the jobs are added; 0: a new run */
	struct slice_list parents;       /* jobs of that run on which the new ones depend; in arena */
	struct arena arena;
	uint64_t bytes;
	struct graph_part *parts;
	size_t part_count, part_cap;
	struct slice contents;           /* what the jobs name, as input records; in arena */
	bool contents_known;             /* the graph was submitted before, so its contents were checked */
	bool checking;                   /* the graph is complete, and the thread of the goods looks for its contents */
	bool refused;                    /* the sender was told of the refusal; the rest of the upload is ignored */
	/* The fields from here to moved_ns are used by uploads.c. */
	struct peer_session *session;
	bool counted;                    /* the upload is in the list of all uploads */
	struct upload *prev, *following; /* neighbours in that list */
	uint64_t charged;
	int64_t began_ns, moved_ns;
	struct sha256 digest;
	struct upload *next;             /* the next upload of the same connection */
};

/* Begin an upload. A wrong key, name or job count is refused at once. */
enum err upload_begin(uint64_t id, struct slice key, struct slice name, uint64_t declared,
		      struct upload **ret_upload, struct error *error);
enum err upload_share(struct upload *upload, struct slice tenant, struct slice concurrency, struct error *error);
enum err upload_context(struct upload *upload, struct slice context, struct error *error);
void upload_schedule(struct upload *upload, const struct rec_schedule_spec *spec, struct slice revision);
void upload_into(struct upload *upload, uint64_t run, struct slice_list parents);
enum err upload_add(struct upload *upload, struct slice jobs, uint64_t count, struct error *error);
/* If all jobs have come, return the digest. */
enum err upload_finish(struct upload *upload, uint8_t ret_digest[32], struct error *error);
/* Free the parts of a refused upload now; the upload itself is freed later. */
void upload_drop(struct upload *upload);
void upload_free(struct upload *upload);         /* frees the upload, which may be NULL */

#endif
