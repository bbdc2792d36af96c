/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes the members of a fan-out, which are neighbours with names such as enc[0] and enc[1], as one job. A text in which the
 * members differ becomes a template with ${matrix.vN}; its different parts become the values of axis N.
 */
#include "lang/pipeline_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "lang/yaml_text.h"

/* ---- the variables that each member has ---- */

static bool is_variable(struct slice entry, const char *name)
{
	size_t len = strlen(name);

	return entry.len > len && memcmp(entry.data, name, len) == 0 && entry.data[len] == '=';
}

static struct slice value_of(struct slice entry)
{
	const uint8_t *equals = memchr(entry.data, '=', entry.len);

	return equals ? slice_make(equals + 1, (size_t)(entry.data + entry.len - equals - 1)) : entry;
}

/* Remove the variables that a fan-out gives its members. Return the member's item; without items that is its number. */
static struct slice strip_env(struct slice_list *env)
{
	struct slice item = { 0 };

	if (env->n > 0 && is_variable(env->at[env->n - 1], "i"))
		env->n--;
	if (env->n > 1 && is_variable(env->at[env->n - 1], "TITAN_ITEM") && is_variable(env->at[env->n - 2], "TITAN_INDEX")) {
		item = value_of(env->at[env->n - 1]);
		env->n -= 2;
	}
	return item;
}

/* ---- texts that may differ ---- */

#define TEXTS_ALONE 4

struct texts {                           /* all texts of a job that may have ${matrix.NAME} */
	struct slice *at[TEXTS_ALONE];
	struct slice_list lists[5];
	size_t count;
};

static void texts_of(struct rec_job_spec *job, struct texts *ret)
{
	const struct slice_list lists[] = { job->argv, job->env, job->labels, job->concurrency, job->locks };

	*ret = (struct texts){ .at = { &job->script, &job->dir, &job->description, &job->stdin_text } };
	memcpy(ret->lists, lists, sizeof(lists));
	ret->count = TEXTS_ALONE;
	for (size_t i = 0; i < 5; i++)
		ret->count += lists[i].n;
}

static struct slice *text_at(const struct texts *texts, size_t at)
{
	if (at < TEXTS_ALONE)
		return texts->at[at];
	at -= TEXTS_ALONE;
	for (size_t i = 0; i < 5; i++) {
		if (at < texts->lists[i].n)
			return &texts->lists[i].at[at];
		at -= texts->lists[i].n;
	}
	return NULL;
}

static struct slice_list copy_list(struct slice_list list, struct arena *arena)
{
	struct slice_list copy = { arena_alloc(arena, (list.n + 1) * sizeof(*copy.at)), list.n };

	if (list.n > 0)
		memcpy(copy.at, list.at, list.n * sizeof(*copy.at));
	return copy;
}

/* ---- templates ---- */

static bool inside_character(struct slice text, size_t at)
{
	return at < text.len && (text.data[at] & 0xc0) == 0x80;
}

/* Find the longest start and end that all texts have in common, without cutting a UTF-8 character. */
static void common_ends(const struct slice *texts, uint64_t count, size_t least, size_t *ret_prefix, size_t *ret_suffix)
{
	struct slice first = texts[0];
	size_t prefix = first.len, suffix;

	for (uint64_t i = 1; i < count; i++) {
		size_t same = 0;

		while (same < prefix && same < texts[i].len && texts[i].data[same] == first.data[same])
			same++;
		prefix = same;
	}
	while (prefix > least && (inside_character(first, prefix) || inside_character(texts[count - 1], prefix)))
		prefix--;
	suffix = first.len - prefix;
	for (uint64_t i = 1; i < count; i++) {
		size_t same = 0, most = texts[i].len - prefix;

		while (same < suffix && same < most && texts[i].data[texts[i].len - 1 - same] == first.data[first.len - 1 - same])
			same++;
		suffix = same;
	}
	while (suffix > 0 && inside_character(first, first.len - suffix))
		suffix--;
	*ret_prefix = prefix;
	*ret_suffix = suffix;
}

static size_t find_axis(const struct write_fan *fan, const struct slice *values)
{
	for (size_t i = 0; i < fan->axis_count; i++) {
		uint64_t same = 0;

		while (same < fan->count && slice_eq(fan->axes[i][same], values[same]))
			same++;
		if (same == fan->count)
			return i;
	}
	return SIZE_MAX;
}

/* An empty text may have no address, to which nothing can be added. */
static struct slice part(struct slice text, size_t at, size_t len)
{
	return text.len > 0 ? slice_make(text.data + at, len) : text;
}

/*
 * Return the template of texts that differ: their common start and end with ${matrix.vN} between. The parts between become
 * the values of axis N, which is a new axis unless one has the same values.
 */
static struct slice make_template(struct writer *writer, struct write_fan *fan, const struct slice *texts)
{
	struct slice *values = arena_alloc(writer->arena, (size_t)fan->count * sizeof(*values));
	struct slice start, end, copy;
	size_t prefix, suffix, axis;
	struct buf text = { 0 };

	common_ends(texts, fan->count, 0, &prefix, &suffix);
	for (uint64_t i = 0; i < fan->count; i++)
		values[i] = part(texts[i], prefix, texts[i].len - prefix - suffix);
	axis = find_axis(fan, values);
	if (axis == SIZE_MAX) {
		axis = fan->axis_count++;
		fan->axes[axis] = values;
	}
	start = write_escape(part(texts[0], 0, prefix), writer->arena);
	end = write_escape(part(texts[0], texts[0].len - suffix, suffix), writer->arena);
	buf_add_slice(&text, start);
	buf_addf(&text, "${matrix.v%zu}", axis + 1);
	buf_add_slice(&text, end);
	copy = arena_copy(writer->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static void fill_template(struct writer *writer, const struct rec_job_spec *members, struct write_fan *fan)
{
	struct slice *texts = arena_alloc(writer->arena, (size_t)fan->count * sizeof(*texts));
	struct texts own;

	texts_of(&fan->job, &own);
	fan->axes = arena_alloc(writer->arena, own.count * sizeof(struct slice *));
	for (size_t at = 0; at < own.count; at++) {
		struct slice *text = text_at(&own, at);
		bool differs = false;

		for (uint64_t i = 0; i < fan->count; i++) {
			struct rec_job_spec member = members[i];
			struct texts others;

			strip_env(&member.env);
			texts_of(&member, &others);
			/* A member with more or fewer texts doesn't fit the template: the caller's comparison finds that. */
			texts[i] = others.count == own.count ? *text_at(&others, at) : *text;
			differs = differs || !slice_eq(texts[i], texts[0]);
		}
		*text = differs ? make_template(writer, fan, texts) : write_escape(*text, writer->arena);
	}
}

/*
 * Make the commands of all members comparable. Where they are different scripts, or have different numbers of words, each
 * becomes an argument of sh, since a template puts no text into a script.
 */
static const struct rec_job_spec *unify_commands(struct writer *writer, const struct rec_job_spec *members, uint64_t count)
{
	struct rec_job_spec *copies;
	bool same = true;

	for (uint64_t i = 1; i < count; i++)
		same = same && members[i].argv.n == members[0].argv.n && slice_eq(members[i].script, members[0].script);
	/* Scripts for an interpreter of their own have no other form. */
	if (same || members[0].interpreter.len > 0)
		return members;
	copies = arena_alloc(writer->arena, (size_t)count * sizeof(*copies));
	for (uint64_t i = 0; i < count; i++) {
		struct slice *words = arena_zalloc(writer->arena, 3, sizeof(*words));

		copies[i] = members[i];
		if (members[i].argv.n > 0 && !write_join(writer, &members[i], &copies[i].script))
			return members;
		words[0] = slice_str("sh");
		words[1] = slice_str("-c");
		words[2] = copies[i].script;
		copies[i].argv = (struct slice_list){ words, 3 };
		copies[i].script = (struct slice){ 0 };
	}
	return copies;
}

void write_fan_make(const struct rec_job_spec *members, uint64_t count, struct writer *writer, struct write_fan *ret)
{
	struct write_fan fan = { .count = count };
	bool numbered = true;

	members = unify_commands(writer, members, count);
	fan.job = members[0];
	fan.job.name.len = spec_stem(members[0].name);
	fan.job.argv = copy_list(members[0].argv, writer->arena);
	fan.job.env = copy_list(members[0].env, writer->arena);
	fan.job.labels = copy_list(members[0].labels, writer->arena);
	fan.job.concurrency = copy_list(members[0].concurrency, writer->arena);
	fan.job.locks = copy_list(members[0].locks, writer->arena);
	fan.items = (struct slice_list){ arena_alloc(writer->arena, (size_t)count * sizeof(struct slice)), (size_t)count };
	strip_env(&fan.job.env);
	for (uint64_t i = 0; i < count; i++) {
		struct slice_list env = members[i].env;
		char number[24];

		snprintf(number, sizeof(number), "%" PRIu64, i);
		fan.items.at[i] = strip_env(&env);
		numbered = numbered && (fan.items.at[i].len == 0 || slice_eq(fan.items.at[i], slice_str(number)));
	}
	if (numbered)
		fan.items.n = 0;
	fill_template(writer, members, &fan);
	*ret = fan;
}

/* ---- the key ---- */

static void write_values(struct writer *writer, const struct write_fan *fan)
{
	for (uint64_t i = 0; i < fan->count; i++) {
		buf_addf(writer->out, "\n%*s- {", (int)writer->indent, "");
		for (size_t axis = 0; axis < fan->axis_count; axis++) {
			buf_addf(writer->out, "%sv%zu: ", axis > 0 ? ", " : "", axis + 1);
			yaml_word(writer->out, write_escape(fan->axes[axis][i], writer->arena));
		}
		buf_add_byte(writer->out, '}');
	}
	buf_add_byte(writer->out, '\n');
}

static void write_items(struct writer *writer, const struct write_fan *fan)
{
	for (size_t i = 0; i < fan->items.n; i++) {
		buf_addf(writer->out, "\n%*s- ", (int)writer->indent, "");
		yaml_word(writer->out, write_escape(fan->items.at[i], writer->arena));
	}
	buf_add_byte(writer->out, '\n');
}

void write_fan(struct writer *writer, const struct write_fan *fan)
{
	bool map = fan->job.group_parallel > 0 || fan->job.group_fail_fast, list = fan->axis_count > 0 || fan->items.n > 0;

	if (map) {
		write_map(writer, "fan_out");
		if (fan->job.group_parallel > 0)
			write_number(writer, "max_parallel", fan->job.group_parallel);
		if (fan->job.group_fail_fast)
			write_true(writer, "fail_fast");
	}
	if (list)
		buf_addf(writer->out, "%*s%s:", (int)writer->indent, "", map ? "items" : "fan_out");
	if (fan->axis_count > 0)
		write_values(writer, fan);
	else if (fan->items.n > 0)
		write_items(writer, fan);
	else
		write_number(writer, map ? "count" : "fan_out", fan->count);
	writer->indent -= map ? 2 : 0;
}
