/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses and prints what a job demands of its worker: resources, labels, pool, affinity. */
#include "lang/demand.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

enum err demand_amount(const char *name, struct slice text, uint64_t *ret, struct error *error)
{
	uint64_t amount = 0;
	bool right;

	if (strcmp(name, RESOURCE_CPUS) == 0)
		right = resource_parse_cpus(text, &amount);
	else if (strcmp(name, RESOURCE_MEMORY) == 0)
		right = resource_parse_size(text, &amount);
	else
		right = text_parse_u64(text, &amount);
	if (right && amount > 0 && amount <= RESOURCE_AMOUNT_MAX) {
		*ret = amount;
		return ERR_NONE;
	}
	if (strcmp(name, RESOURCE_CPUS) == 0)
		return error_set(error, ERR_INVALID, "expected a number of cpus, such as 2 or 0.5");
	if (strcmp(name, RESOURCE_MEMORY) == 0)
		return error_set(error, ERR_INVALID, "expected an amount of memory, such as 512M or 4G");
	return error_set(error, ERR_INVALID, "expected a number of at least 1");
}

enum err demand_add(struct slice_list *list, struct arena *arena, struct slice name, struct slice amount,
		   struct error *error)
{
	struct resource resource = { .amount = 0 };
	struct buf text = { 0 };
	struct slice *texts;
	enum err err;

	if (!resource_is_name(name))
		return error_set(error, ERR_INVALID, "the name of a resource may have letters, digits and _ . -, at "
			"most %d",
				 RESOURCE_NAME_SIZE - 1);
	memcpy(resource.name, name.data, name.len);
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].len > name.len && list->at[i].data[name.len] == '=' &&
		    memcmp(list->at[i].data, name.data, name.len) == 0)
			return error_set(error, ERR_DUPLICATE, "%s is given twice", resource.name);
	if (list->n == LIMIT_RESOURCES_MAX)
		return error_set(error, ERR_TOO_LARGE, "at most %d resources are allowed", LIMIT_RESOURCES_MAX);
	err = demand_amount(resource.name, amount, &resource.amount, error);
	if (err != ERR_NONE)
		return err;
	texts = arena_zalloc(arena, list->n + 1, sizeof(*texts));
	if (list->n > 0)
		memcpy(texts, list->at, list->n * sizeof(*texts));
	resource_put(&resource, &text);
	texts[list->n] = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	*list = (struct slice_list){ texts, list->n + 1 };
	return ERR_NONE;
}

enum err demand_affinity(struct slice word, uint64_t *ret, struct error *error)
{
	if (slice_eq(word, slice_str("parent")))
		*ret = AFFINITY_PARENT;
	else if (slice_eq(word, slice_str("sticky")))
		*ret = AFFINITY_STICKY;
	else
		return error_set(error, ERR_INVALID, "affinity must be parent or sticky");
	return ERR_NONE;
}

void demand_default(struct demand *placing, const struct demand *defaults)
{
	if (placing->asks.n == 0)
		placing->asks = defaults->asks;
	if (placing->prefer.n == 0)
		placing->prefer = defaults->prefer;
	if (placing->requires.n == 0)
		placing->requires = defaults->requires;
	if (placing->prefer_worker.len == 0)
		placing->prefer_worker = defaults->prefer_worker;
	if (placing->only_worker.len == 0)
		placing->only_worker = defaults->only_worker;
	if (placing->pool.len == 0) {
		placing->pool = defaults->pool;
		placing->pool_hard = defaults->pool_hard;
	}
	if (placing->affinity == AFFINITY_NONE) {
		placing->affinity = defaults->affinity;
		placing->affinity_hard = defaults->affinity_hard;
	}
}

bool demand_any(const struct demand *placing)
{
	return placing->asks.n || placing->prefer.n || placing->requires.n || placing->prefer_worker.len || placing->only_worker.len ||
	       placing->pool.len || placing->affinity;
}

void demand_spec(const struct demand *placing, struct rec_job_spec *spec)
{
	spec->asks = placing->asks;
	spec->prefer = placing->prefer;
	spec->requires = placing->requires;
	spec->prefer_worker = placing->prefer_worker;
	spec->only_worker = placing->only_worker;
	spec->pool = placing->pool;
	spec->pool_hard = placing->pool_hard;
	spec->affinity = placing->affinity;
	spec->affinity_hard = placing->affinity_hard;
}

/* --- showing --- */

static struct slice shown(struct slice text, const uint64_t *used, struct arena *arena)
{
	const struct slice_list one = { &text, 1 };
	struct resource_list list = { 0 };
	struct buf out = { 0 };
	struct error error;
	struct slice copy;

	/* A text from a newer master that can't be parsed is shown unchanged. */
	if (resources_read(one, &list, &error) != ERR_NONE)
		return text;
	resource_show(list.at[0].name, used ? *used : list.at[0].amount, &out);
	if (used) {
		struct buf whole = { 0 };

		resource_show(list.at[0].name, list.at[0].amount, &whole);
		buf_addf(&out, "/%s", buf_cstr(&whole) + strlen(list.at[0].name) + 1);
		buf_free(&whole);
	}
	copy = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

struct slice_list demand_shown_used(struct slice_list texts, struct u64_list used, struct arena *arena)
{
	struct slice_list list = { .at = arena_zalloc(arena, texts.n + 1, sizeof(*list.at)), .n = texts.n };

	for (size_t i = 0; i < texts.n; i++)
		list.at[i] = shown(texts.at[i], i < used.n ? &used.at[i] : NULL, arena);
	return list;
}

struct slice_list demand_shown(struct slice_list texts, struct arena *arena)
{
	return demand_shown_used(texts, (struct u64_list){ 0 }, arena);
}
