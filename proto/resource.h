/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resources that a worker offers and a job asks for, by name: cpus in thousandths, memory in bytes, gpus and
 * anything else that can be counted. On the wire each is a text NAME=N; here they are a list sorted by name.
 * Plain values: nothing has to be freed.
 */
#ifndef TITAN_PROTO_RESOURCE_H
#define TITAN_PROTO_RESOURCE_H

#include "base/buf.h"
#include "proto/error.h"
#include "proto/limits.h"
#include "proto/message.h"

#define RESOURCE_NAME_SIZE 32
#define RESOURCE_AMOUNT_MAX (UINT64_C(1) << 60)
#define RESOURCE_CPUS "cpus"
#define RESOURCE_MEMORY "memory"
#define RESOURCE_GPUS "gpus"

struct resource {
	char name[RESOURCE_NAME_SIZE];
	uint64_t amount;                 /* amount that a worker offers or a job asks for */
	uint64_t used;                   /* how much of the offered amount is in use */
};

struct resource_list {
	size_t n;
	struct resource at[LIMIT_RESOURCES_MAX];
};

/* Read texts NAME=N in any order. Refuses duplicate names, bad names or numbers, and too many. */
enum err resources_read(struct slice_list texts, struct resource_list *ret, struct error *error);
/* Add one in order of name; ERR_DUPLICATE if the name is there. */
enum err resources_add(struct resource_list *list, struct slice name, uint64_t amount, struct error *error);

/* Does the worker offer as much as is asked for, when nothing is in use? */
bool resources_could(const struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
/* Like resources_could, with what is in use now. */
bool resources_fit(const struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
/*
 * Mark amounts as used, or give them back. Names that aren't offered are ignored. Giving back more than is in
 * use stops the program.
 */
void resources_take(struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
void resources_give(struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
const struct resource *resource_find(const struct resource *list, size_t count, const char *name);

/* Write NAME=N as on the wire; or as people write it: cpus=0.5, memory=4G, gpus=1. */
void resource_put(const struct resource *resource, struct buf *out);
void resource_show(const char *name, uint64_t amount, struct buf *out);
/* Parse amounts as people write them: 2, 0.5; 512M, 4G, 1073741824. False: not a valid amount. */
bool resource_parse_cpus(struct slice text, uint64_t *ret_thousandths);
bool resource_parse_size(struct slice text, uint64_t *ret_bytes);
/* Check whether this is a valid name of a resource. Also true for cpus, memory and gpus. */
bool resource_is_name(struct slice name);
/* Check for cpus, memory and gpus, which are keys of their own in a pipeline. */
bool resource_is_own(struct slice name);

#endif
