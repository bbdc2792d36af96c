/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of resources are short and sorted by name, so two lists are walked side by side. */
#include "proto/resource.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

static const char *const own_names[] = { RESOURCE_CPUS, RESOURCE_MEMORY, RESOURCE_GPUS };

bool resource_is_own(struct slice name)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(own_names[0]); i++)
		if (slice_eq(name, slice_str(own_names[i])))
			return true;
	return false;
}

bool resource_is_name(struct slice name)
{
	return name.len < RESOURCE_NAME_SIZE && text_is_name(name);
}

enum err resources_add(struct resource_list *list, struct slice name, uint64_t amount, struct error *error)
{
	struct resource resource = { .amount = amount };
	size_t at = list->n;
	int order;

	if (!resource_is_name(name))
		return error_set(error, ERR_INVALID, "the name of a resource may have letters, digits and _ . -, at "
			"most %d",
				 RESOURCE_NAME_SIZE - 1);
	if (amount > RESOURCE_AMOUNT_MAX)
		return error_set(error, ERR_TOO_LARGE, "the amount of resource %.*s is too large", (int)name.len,
				 (const char *)name.data);
	if (list->n == LIMIT_RESOURCES_MAX)
		return error_set(error, ERR_TOO_LARGE, "more than %d resources", LIMIT_RESOURCES_MAX);
	memcpy(resource.name, name.data, name.len);
	for (; at > 0 && (order = strcmp(list->at[at - 1].name, resource.name)) >= 0; at--)
		if (order == 0)
			return error_set(error, ERR_DUPLICATE, "resource %s is given twice", resource.name);
	memmove(&list->at[at + 1], &list->at[at], (list->n - at) * sizeof(list->at[0]));
	list->at[at] = resource;
	list->n++;
	return ERR_NONE;
}

enum err resources_read(struct slice_list texts, struct resource_list *ret, struct error *error)
{
	struct resource_list list = { 0 };
	enum err err = ERR_NONE;

	for (size_t i = 0; i < texts.n && err == ERR_NONE; i++) {
		const struct slice text = texts.at[i];
		const uint8_t *equals = text.len ? memchr(text.data, '=', text.len) : NULL;
		size_t name_len = equals ? (size_t)(equals - text.data) : 0;
		uint64_t amount;

		if (!equals || !text_parse_u64(slice_make(equals + 1, text.len - name_len - 1), &amount))
			return error_set(error, ERR_INVALID, "a resource must have the form NAME=N");
		err = resources_add(&list, slice_make(text.data, name_len), amount, error);
	}
	if (err == ERR_NONE)
		*ret = list;
	return err;
}

/* Find the resource of this name from *at on, and move *at there. */
static const struct resource *walk(const struct resource *list, size_t count, size_t *at, const char *name)
{
	while (*at < count) {
		int order = strcmp(list[*at].name, name);

		if (order >= 0)
			return order == 0 ? &list[*at] : NULL;
		++*at;
	}
	return NULL;
}

const struct resource *resource_find(const struct resource *list, size_t count, const char *name)
{
	size_t at = 0;

	return walk(list, count, &at, name);
}

bool resources_could(const struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count)
{
	size_t at = 0;

	for (size_t i = 0; i < ask_count; i++) {
		const struct resource *offer = walk(offers, offer_count, &at, asks[i].name);

		if (asks[i].amount > (offer ? offer->amount : 0))
			return false;
	}
	return true;
}

bool resources_fit(const struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count)
{
	size_t at = 0;

	for (size_t i = 0; i < ask_count; i++) {
		const struct resource *offer = walk(offers, offer_count, &at, asks[i].name);

		if (asks[i].amount > 0 &&
		    (!offer || offer->used > offer->amount || asks[i].amount > offer->amount - offer->used))
			return false;
	}
	return true;
}

void resources_take(struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count)
{
	size_t at = 0;

	for (size_t i = 0; i < ask_count; i++)
		if (walk(offers, offer_count, &at, asks[i].name))
			offers[at].used += asks[i].amount;
}

void resources_give(struct resource *offers, size_t offer_count, const struct resource *asks, size_t ask_count)
{
	size_t at = 0;

	for (size_t i = 0; i < ask_count; i++) {
		if (!walk(offers, offer_count, &at, asks[i].name))
			continue;
		CHECK(offers[at].used >= asks[i].amount);
		offers[at].used -= asks[i].amount;
	}
}

/* --- texts --- */

void resource_put(const struct resource *resource, struct buf *out)
{
	buf_addf(out, "%s=%" PRIu64, resource->name, resource->amount);
}

static void show_size(uint64_t bytes, struct buf *out)
{
	static const char units[] = "TGMK";

	for (unsigned i = 0; i < 4; i++) {
		uint64_t unit = UINT64_C(1) << (40 - 10 * i);

		if (bytes < unit || (bytes % unit != 0 && bytes / unit < 10 && i < 3))
			continue;
		buf_addf(out, "%s%" PRIu64 "%c", bytes % unit ? "~" : "", bytes / unit, units[i]);
		return;
	}
	buf_addf(out, "%" PRIu64, bytes);
}

void resource_show(const char *name, uint64_t amount, struct buf *out)
{
	buf_addf(out, "%s=", name);
	if (strcmp(name, RESOURCE_MEMORY) == 0) {
		show_size(amount, out);
	} else if (strcmp(name, RESOURCE_CPUS) == 0) {
		buf_addf(out, "%" PRIu64, amount / 1000);
		if (amount % 1000 == 0)
			return;
		buf_addf(out, ".%03" PRIu64, amount % 1000);
		while (out->len > 0 && out->data[out->len - 1] == '0')
			out->len--;
	} else {
		buf_addf(out, "%" PRIu64, amount);
	}
}

bool resource_parse_cpus(struct slice text, uint64_t *ret_thousandths)
{
	const uint8_t *dot = text.len ? memchr(text.data, '.', text.len) : NULL;
	size_t whole_len = dot ? (size_t)(dot - text.data) : text.len;
	uint64_t whole, part = 0;

	if (!text_parse_u64(slice_make(text.data, whole_len), &whole) || whole > RESOURCE_AMOUNT_MAX / 1000)
		return false;
	if (dot) {
		size_t digits = text.len - whole_len - 1;

		if (digits < 1 || digits > 3 || !text_parse_u64(slice_make(dot + 1, digits), &part))
			return false;
		for (; digits < 3; digits++)
			part *= 10;
	}
	*ret_thousandths = whole * 1000 + part;
	return true;
}

bool resource_parse_size(struct slice text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	const char *unit = text.len > 1 ? memchr(units, text.data[text.len - 1], 4) : NULL;
	uint64_t scale = unit ? UINT64_C(1) << (10 * (unit - units + 1)) : 1;
	uint64_t value;

	if (!text_parse_u64(slice_make(text.data, text.len - (unit != NULL)), &value) ||
	    value > RESOURCE_AMOUNT_MAX / scale)
		return false;
	*ret_bytes = value * scale;
	return true;
}
