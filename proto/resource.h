/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a worker offers and a job asks for, by name: cpus in thousandths, memory in bytes, gpus and whatever
 * else is counted. On the wire each is a text, NAME=N; here a list, sorted by name. Plain values: nothing to free.
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
	uint64_t amount;                 /* offered, or asked for */
	uint64_t used;                   /* of what is offered */
};

struct resource_list {
	size_t n;
	struct resource at[LIMIT_RESOURCES_MAX];
};

/* The texts, in any order. Refused: a name twice, a bad name or number, too many. */
enum err resources_read(struct slice_list texts, struct resource_list *ret, struct error *error);
/* Add one, by name; ERR_DUPLICATE if it is there. */
enum err resources_add(struct resource_list *list, struct slice name, uint64_t amount, struct error *error);

/* Has the worker as much as is asked for, when nothing is in use? */
bool resources_could(const struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
/* And now, beside what is in use? */
bool resources_fit(const struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
/* What isn't offered isn't counted. Giving back more than is in use stops the program. */
void resources_take(struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
void resources_give(struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count);
const struct resource *resource_find(const struct resource *list, size_t count, const char *name);

/* NAME=N as the wire has it, and as people write it: cpus=0.5, memory=4G, gpus=1. */
void resource_put(const struct resource *resource, struct buf *out);
void resource_show(const char *name, uint64_t amount, struct buf *out);
/* As people write them: 2, 0.5; 512M, 4G, 1073741824. False: it isn't one. */
bool resource_parse_cpus(struct slice text, uint64_t *ret_thousandths);
bool resource_parse_size(struct slice text, uint64_t *ret_bytes);
bool resource_is_name(struct slice name);                /* of one that is titan's own, too */
bool resource_is_own(struct slice name);                 /* cpus, memory, gpus: they have keys of their own */

#endif
