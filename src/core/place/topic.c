/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mappings of topics to pools. A job with a topic runs only in the pool to which the topic itself is mapped, or else the longest
 * pattern that matches; of patterns of one length the first in the order of their bytes counts. Each class knows the pool of its topic, so that a check
 * of a worker compares two names; a change of a mapping finds all pools anew, and the waiting jobs with them.
 */
#include "core/place/place.h"

#include "base/planted.h"
#include "base/text.h"
#include "core/place/internal.h"

bool topic_is_pattern(struct slice text)
{
	char copy[LIMIT_NAME_MAX_LEN];

	if (text.len == 0 || text.len > sizeof(copy))
		return false;
	for (size_t i = 0; i < text.len; i++)
		copy[i] = (char)(text.data[i] == '*' || text.data[i] == '?' ? '_' : text.data[i]);
	return text_is_name(slice_make(copy, text.len));
}

/* Return the place of the pattern in the list, or the place where it belongs. */
static size_t topic_place(const struct core *core, struct slice pattern, bool *ret_there)
{
	size_t at = 0;

	*ret_there = false;
	for (; at < core->topic_count && !*ret_there; at++) {
		struct slice other = slice_str(core->topics[at].pattern);
		int order = memcmp(other.data, pattern.data, other.len < pattern.len ? other.len : pattern.len);

		if (order > 0 || (order == 0 && other.len > pattern.len))
			break;
		*ret_there = order == 0 && other.len == pattern.len;
	}
	return at - *ret_there;
}

const struct topic *topic_find(const struct core *core, struct slice pattern)
{
	bool there;
	size_t at = pattern.len ? topic_place(core, pattern, &there) : 0;

	return pattern.len && there ? &core->topics[at] : NULL;
}

const char *topic_pool(const struct core *core, struct slice topic)
{
	const struct topic *best = topic_find(core, topic);

	if (best && !PLANTED(shortest_pattern_wins))
		return best->pool;
	best = NULL;
	for (size_t i = 0; topic.len > 0 && i < core->topic_count; i++) {
		const struct topic *mapping = &core->topics[i];

		if (text_glob(slice_str(mapping->pattern), topic) &&
		    (!best || (strlen(mapping->pattern) > strlen(best->pattern)) != PLANTED(shortest_pattern_wins)))
			best = mapping;
	}
	return best ? best->pool : NULL;
}

static void topics_changed(struct core *core)
{
	for (size_t i = 0; i < core->class_count && !(core->loaded && PLANTED(mapping_of_a_class_stays)); i++)
		if (core->classes[i] && core->classes[i]->wants && core->classes[i]->wants->spec.topic.len > 0)
			core->classes[i]->wants->topic_pool = topic_pool(core, core->classes[i]->wants->spec.topic);
	core->drain_due = true;
	core->serving++;
}

static void topic_put(struct core *core, struct slice pattern, struct slice pool)
{
	bool there;
	size_t at = topic_place(core, pattern, &there);

	if (there) {
		mem_free(core->topics[at].pool);
	} else {
		GROW(core->topics, core->topic_count, core->topic_cap);
		memmove(core->topics + at + 1, core->topics + at, (core->topic_count - at) * sizeof(*core->topics));
		core->topics[at].pattern = mem_text(pattern);
		core->topic_count++;
	}
	core->topics[at].pool = mem_text(pool);
	topics_changed(core);
}

static void topic_drop(struct core *core, size_t at)
{
	mem_free(core->topics[at].pattern);
	mem_free(core->topics[at].pool);
	core->topic_count--;
	memmove(core->topics + at, core->topics + at + 1, (core->topic_count - at) * sizeof(*core->topics));
	topics_changed(core);
}

enum err topic_set(struct core *core, const struct input_set *input, uint64_t *ret_changed, struct error *error)
{
	struct slice pattern = input->set.name, pool = input->set.text;
	struct row *row;
	bool there;
	size_t at;

	if (!topic_is_pattern(pattern))
		return error_set(error, ERR_INVALID, "a topic, or a pattern of topics, may have letters, digits, _ . - * ?, at most %d",
				 LIMIT_NAME_MAX_LEN);
	if (input->set.verb != SET_PUT && input->set.verb != SET_REMOVE)
		return error_set(error, ERR_INVALID, "unknown change of a topic: %llu", (unsigned long long)input->set.verb);
	if (input->set.verb == SET_PUT && !text_is_name(pool))
		return error_set(error, ERR_INVALID, "the name of a pool may have letters, digits, _ . -, at most %d", LIMIT_NAME_MAX_LEN);
	at = topic_place(core, pattern, &there);
	if (input->set.verb == SET_REMOVE && !there) {
		error_set(error, ERR_NOT_FOUND, "there is no mapping '%.*s'", (int)pattern.len, (const char *)pattern.data);
		return error_next(error, "titan topic ls");
	}
	if (input->set.verb == SET_PUT && !there && core->topic_count == LIMIT_TOPICS_MAX)
		return error_set(error, ERR_FULL, "there are already %d mappings of topics; remove one first", LIMIT_TOPICS_MAX);
	if (input->set.verb == SET_PUT && there && slice_eq(slice_str(core->topics[at].pool), pool))
		return ERR_NONE;
	row = outbox_row(core->outbox, TABLE_topic);
	row->deleted = input->set.verb == SET_REMOVE;
	row->topic = (struct row_topic){ .topic = arena_copy(&core->outbox->arena, pattern), .pool = arena_copy(&core->outbox->arena, pool) };
	if (row->deleted)
		topic_drop(core, at);
	else
		topic_put(core, pattern, pool);
	*ret_changed = 1;
	return ERR_NONE;
}

enum err load_topic(struct core *core, const struct row_topic *row, struct error *error)
{
	if (!topic_is_pattern(row->topic) || !text_is_name(row->pool) || topic_find(core, row->topic) || core->topic_count == LIMIT_TOPICS_MAX)
		return error_set(error, ERR_STORE_TRUST, "a mapping of a topic has a bad name, or is stored twice");
	topic_put(core, row->topic, row->pool);
	return ERR_NONE;
}

void topics_free(struct core *core)
{
	for (size_t i = 0; i < core->topic_count; i++) {
		mem_free(core->topics[i].pattern);
		mem_free(core->topics[i].pool);
	}
	mem_free(core->topics);
}

uint64_t topics_hash(const struct core *core)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < core->topic_count; i++) {
		const struct topic *topic = &core->topics[i];

		hash = hash_u64(hash + hash_bytes(topic->pattern, strlen(topic->pattern), 9) + hash_bytes(topic->pool, strlen(topic->pool), 10));
	}
	return hash;
}
