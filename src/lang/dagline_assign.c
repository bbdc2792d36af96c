/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses assignments in a one-line graph: name='command' retry=3 timeout=5m ... */
#include "lang/dagline_internal.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "lang/failure.h"
#include "lang/label.h"
#include "lang/log_max.h"
#include "proto/limits.h"

#define VALUE_SHOWN 40

struct reader_of {                       /* a setting and the function that reads it */
	const char *word;
	enum err (*set)(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at);
};

static enum err number(struct dag_reader *reader, struct slice value, size_t at, uint64_t most, uint64_t *ret)
{
	uint64_t result;

	if (text_parse_u64(value, &result) && result <= most) {
		*ret = result;
		return ERR_NONE;
	}
	return dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected a number from 0 to %llu",
			(unsigned long long)most);
}

static enum err span(struct dag_reader *reader, struct slice value, size_t at, uint64_t *ret)
{
	char text[32];
	int64_t ms;

	snprintf(text, sizeof(text), "%.*s", (int)value.len, (const char *)value.data);
	if (value.len >= sizeof(text) || clock_parse_span(text, &ms) != 0 || ms <= 0)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID,
				"expected a time span, such as 500ms, 30s, 5m, 2h");
	*ret = (uint64_t)ms;
	return ERR_NONE;
}

static enum err set_retry(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	node->retry_said = true;
	return number(reader, value, at, LIMIT_RETRY_MAX, &node->retry_max);
}

static enum err set_backoff(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	const char *wrong = backoff_parse(value, &node->backoff_ms, &node->backoff_max_ms);

	return wrong ? dag_fail(reader, at, reader->at - at, ERR_INVALID, "%s", wrong) : ERR_NONE;
}

/* Parse a list of words a,b,c into bits; the error lists all valid words. */
static enum err bits(struct dag_reader *reader, struct slice value, size_t at, uint64_t (*bit_of)(struct slice word),
		     const char *words, uint64_t *ret)
{
	while (value.len > 0) {
		const uint8_t *comma = memchr(value.data, ',', value.len);
		size_t len = comma ? (size_t)(comma - value.data) : value.len;
		uint64_t bit = bit_of(slice_make(value.data, len));

		if (bit == 0 || len + 1 == value.len)
			return dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected one or more of: %s", words);
		*ret |= bit;
		len += comma != NULL;
		value = slice_make(value.data + len, value.len - len);
	}
	return *ret ? ERR_NONE : dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected one of %s", words);
}

static enum err set_retry_on(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return bits(reader, value, at, retry_on_bit, RETRY_ON_WORDS, &node->retry_on);
}

static enum err set_continue_on(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return bits(reader, value, at, continue_bit, CONTINUE_WORDS, &node->continue_on);
}

static enum err set_crash_limit(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	enum err err = number(reader, value, at, LIMIT_CRASH_LIMIT_MAX, &node->crash_limit);

	if (err == ERR_NONE && node->crash_limit == 0)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "crash_limit must be at least 1");
	return err;
}

static enum err set_worker_death(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	enum worker_death death = DEATH_ADOPT;

	if (!worker_death_by_name(value, &death))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "on_worker_death must be adopt or kill");
	node->worker_death = (uint64_t)death + 1;
	return ERR_NONE;
}

static enum err set_log(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	const char *wrong = log_max_parse(value, &node->log_max);

	return wrong ? dag_fail(reader, at, reader->at - at, ERR_INVALID, "%s", wrong) : ERR_NONE;
}

static enum err set_priority(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	enum err err = number(reader, value, at, 100, &node->priority);

	if (err == ERR_NONE)
		node->priority++;
	return err;
}

static enum err set_mode(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	enum exec_mode mode;

	if (!exec_mode_by_name(value, &mode))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "mode must be retry, exclusive or once");
	node->mode = (uint64_t)mode + 1;
	return ERR_NONE;
}

static enum err set_dir(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	if (!slice_eq(value, slice_str(DIR_PRIVATE)) && (value.len == 0 || value.data[0] != '/'))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "a directory must be an absolute path, dir=/PATH, or dir=private");
	node->dir = value;
	return ERR_NONE;
}

static enum err set_env(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	const uint8_t *equals = value.len ? memchr(value.data, '=', value.len) : NULL;
	struct slice *entries;

	if (equals == NULL || equals == value.data)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "env must have the form env=NAME=value");
	if (value.len >= 6 && memcmp(value.data, "TITAN_", 6) == 0)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "names that begin with TITAN_ are reserved "
			"for titan");
	entries = arena_zalloc(reader->arena, node->env.n + 1, sizeof(*entries));
	if (node->env.n > 0)
		memcpy(entries, node->env.at, node->env.n * sizeof(*entries));
	entries[node->env.n] = value;
	node->env = (struct slice_list){ entries, node->env.n + 1 };
	return ERR_NONE;
}

static void add_entry(struct dag_reader *reader, struct slice_list *list, struct slice value)
{
	struct slice *entries = arena_zalloc(reader->arena, list->n + 1, sizeof(*entries));

	if (list->n > 0)
		memcpy(entries, list->at, list->n * sizeof(*entries));
	entries[list->n] = value;
	*list = (struct slice_list){ entries, list->n + 1 };
}

/* Add a value to a list; the value's name is checked. */
static enum err add_text(struct dag_reader *reader, struct slice_list *list, struct slice name, struct slice value, size_t at)
{
	if (!text_is_name(name))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected a name of letters, digits and _ "
			". -");
	add_entry(reader, list, value);
	return ERR_NONE;
}

static enum err add_label(struct dag_reader *reader, struct slice_list *list, struct slice value, size_t at)
{
	struct error why = { 0 };

	if (label_parse(value, reader->arena, &value, &why) != ERR_NONE)
		return dag_fail(reader, at, reader->at - at, why.code, "%s", why.text);
	add_entry(reader, list, value);
	return ERR_NONE;
}

static enum err set_label(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return add_label(reader, &node->labels, value, at);
}

static enum err set_from(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	if (!text_is_person(value))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "from must be the name of a person, or of a team as @NAME");
	return add_text(reader, &node->gate_from, text_is_team(value) ? slice_make(value.data + 1, value.len - 1) : value, value, at);
}

static enum err set_count(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	enum err err = number(reader, value, at, LIMIT_GATE_PEOPLE_MAX, &node->gate_count);

	if (err == ERR_NONE && node->gate_count == 0)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "a gate needs at least one person to "
			"approve it");
	return err;
}

static enum err set_deadline(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	if (clock_parse_utc(value, &node->deadline_at_ms) == 0)
		return ERR_NONE;
	return span(reader, value, at, &node->deadline_ms);
}

static enum err ask(struct dag_reader *reader, struct dag_node *node, struct slice name, struct slice value, size_t at)
{
	struct error why = { 0 };

	if (demand_add(&node->placing.asks, reader->arena, name, value, &why) != ERR_NONE)
		return dag_fail(reader, at, reader->at - at, why.code, "%s", why.text);
	return ERR_NONE;
}

static enum err set_cpus(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return ask(reader, node, slice_str(RESOURCE_CPUS), value, at);
}

static enum err set_memory(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return ask(reader, node, slice_str(RESOURCE_MEMORY), value, at);
}

static enum err set_gpus(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return ask(reader, node, slice_str(RESOURCE_GPUS), value, at);
}

static enum err set_resource(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	const uint8_t *equals = value.len ? memchr(value.data, '=', value.len) : NULL;
	size_t len = equals ? (size_t)(equals - value.data) : 0;
	struct slice name = slice_make(value.data, len);

	if (equals == NULL || resource_is_own(name))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "resource must have the form "
			"resource=NAME=N");
	return ask(reader, node, name, slice_make(equals + 1, value.len - len - 1), at);
}

static enum err set_concurrency(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	const uint8_t *equals = value.len ? memchr(value.data, '=', value.len) : NULL;
	size_t len = equals ? (size_t)(equals - value.data) : value.len;
	uint64_t limit = 1;

	if (equals != NULL && (!text_parse_u64(slice_make(equals + 1, value.len - len - 1), &limit) || limit == 0 ||
			       limit >= LIMIT_RUN_JOBS_MAX))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "concurrency must have the form "
			"concurrency=NAME or concurrency=NAME=LIMIT");
	return add_text(reader, &node->concurrency, slice_make(value.data, len), value, at);
}

static enum err set_lock(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	const uint8_t *equals = value.len ? memchr(value.data, '=', value.len) : NULL;
	size_t len = equals ? (size_t)(equals - value.data) : value.len;

	if (equals != NULL && !slice_eq(slice_make(equals + 1, value.len - len - 1), slice_str("shared")))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "lock must have the form lock=NAME or "
			"lock=NAME=shared");
	return add_text(reader, &node->locks, slice_make(value.data, len), value, at);
}

static enum err set_outputs(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	for (;;) {
		const uint8_t *comma = value.len > 0 ? memchr(value.data, ',', value.len) : NULL;
		size_t len = comma ? (size_t)(comma - value.data) : value.len;
		struct slice name = slice_make(value.data, len);
		enum err err;

		if (!text_is_name(name))
			return dag_fail(reader, at, reader->at - at, ERR_INVALID, "outputs must have the form outputs=NAME,NAME, with letters, digits and _ . -");
		err = add_text(reader, &node->outputs, name, name, at);
		if (err != ERR_NONE || comma == NULL)
			return err;
		value = slice_make(comma + 1, value.len - len - 1);
	}
}

static enum err set_prefer(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return add_label(reader, &node->placing.prefer, value, at);
}

static enum err set_requires(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return add_text(reader, &node->placing.requires, value, value, at);
}

static enum err set_name(struct dag_reader *reader, struct slice *name, struct slice value, size_t at)
{
	if (!text_is_name(value))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected a name of letters, digits and _ "
			". -");
	*name = value;
	return ERR_NONE;
}

static enum err set_worker(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return set_name(reader, &node->placing.only_worker, value, at);
}

static enum err set_pool(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	return set_name(reader, &node->placing.pool, value, at);
}

static enum err set_affinity(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	struct error why = { 0 };

	if (demand_affinity(value, &node->placing.affinity, &why) != ERR_NONE)
		return dag_fail(reader, at, reader->at - at, why.code, "%s", why.text);
	return ERR_NONE;
}

static enum err set_kind(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	if (slice_eq(value, slice_str(job_kind_name(KIND_NOOP))))
		node->kind = KIND_NOOP;
	else if (slice_eq(value, slice_str(job_kind_name(KIND_SERVICE))))
		node->kind = KIND_SERVICE;
	else
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "kind must be noop or service, or be left out");
	return ERR_NONE;
}

static enum err set_restart(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	if (!restart_by_name(value, &node->service.restart))
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "restart must be " RESTART_WORDS);
	return ERR_NONE;
}

/* Read a plain setting of proto/spec.def. */
static enum err set_plain(struct dag_reader *reader, struct dag_node *node, const struct setting *setting, struct slice value,
			  size_t at)
{
	uint64_t span_ms = 0;
	int64_t time_ms = 0;
	enum err err = ERR_NONE;

	if (setting->shape == SHAPE_TEXT) {
		*setting_text(setting, &node->plain) = value;
		if (node->plain.interpreter.len > 0 && !shell_is_good(node->plain.interpreter))
			return dag_fail(reader, at, reader->at - at, ERR_INVALID, "shell must be sh, bash, python3 or the absolute path of an interpreter");
		return ERR_NONE;
	}
	if (setting->shape == SHAPE_SPAN)
		err = span(reader, value, at, &span_ms);
	else if (clock_parse_utc(value, &time_ms) != 0)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected a time in UTC, such as "
			"2026-11-18T14:02Z");
	if (err == ERR_NONE)
		setting_set_number(setting, &node->plain, setting->shape == SHAPE_SPAN ? (int64_t)span_ms : time_ms);
	return err;
}

static const struct setting *plain_find(struct slice word)
{
	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].shape != SHAPE_OWN && setting_table[i].line[0] != '\0' &&
		    slice_eq(word, slice_str(setting_table[i].line)))
			return &setting_table[i];
	return NULL;
}

/* Keep the condition as text; it is parsed at the end, when all names are known. */
static enum err set_when(struct dag_reader *reader, struct dag_node *node, struct slice value, size_t at)
{
	if (value.len == 0)
		return dag_fail(reader, at, reader->at - at, ERR_INVALID, "expected a condition: when='a.code == 3'");
	node->when = value;
	return ERR_NONE;
}

/* The settings of gates are at the end of the table. */
static const struct reader_of readers[] = {
	{ "retry", set_retry },
	{ "retry_on", set_retry_on },
	{ "backoff", set_backoff },
	{ "crash_limit", set_crash_limit },
	{ "continue_on", set_continue_on },
	{ "on_worker_death", set_worker_death },
	{ "deadline", set_deadline },
	{ "prio", set_priority },
	{ "mode", set_mode },
	{ "dir", set_dir },
	{ "env", set_env },
	{ "log", set_log },
	{ "label", set_label },
	{ "when", set_when },
	{ "cpus", set_cpus },
	{ "memory", set_memory },
	{ "gpus", set_gpus },
	{ "resource", set_resource },
	{ "worker", set_worker },
	{ "prefer", set_prefer },
	{ "requires", set_requires },
	{ "pool", set_pool },
	{ "affinity", set_affinity },
	{ "concurrency", set_concurrency },
	{ "lock", set_lock },
	{ "outputs", set_outputs },
	{ "kind", set_kind },
	{ "restart", set_restart },
	{ "count", set_count },
	{ "from", set_from },
};

#define READER_COUNT (sizeof(readers) / sizeof(readers[0]))
#define WORDS_MAX 64

static size_t all_words(const char *words[WORDS_MAX])
{
	size_t count = 0;

	for (; count < READER_COUNT; count++)
		words[count] = readers[count].word;
	for (size_t i = 0; i < setting_count && count < WORDS_MAX; i++)
		if (setting_table[i].shape != SHAPE_OWN && setting_table[i].line[0] != '\0')
			words[count++] = setting_table[i].line;
	return count;
}

static enum err unknown_setting(struct dag_reader *reader, struct slice word, size_t at)
{
	const char *words[WORDS_MAX];
	size_t count = all_words(words);
	const char *nearest;
	char copy[VALUE_SHOWN];

	snprintf(copy, sizeof(copy), "%.*s", (int)word.len, (const char *)word.data);
	nearest = text_nearest(copy, words, count);
	if (nearest != NULL)
		return dag_fail(reader, at, word.len, ERR_UNKNOWN_NAME, "unknown setting '%s'; did you mean '%s'?", copy,
				nearest);
	return dag_fail(reader, at, word.len, ERR_UNKNOWN_NAME,
			"unknown setting '%s'; the most used are retry, timeout, dir, env, when, prio, cpus, memory and label "
			"(put a command with blanks in quotes)", copy);
}

static enum err read_setting(struct dag_reader *reader, struct dag_node *node)
{
	size_t word_at = reader->at, value_at;
	struct slice word, value;
	enum err err;

	if (dag_peek(reader) == '-')
		return dag_fail(reader, reader->at, 1, ERR_SYNTAX,
				"put the command in a statement of its own, after the graph: a -> b; a='COMMAND'");
	err = dag_take_name(reader, "a setting or ';'", &word);
	if (err != ERR_NONE)
		return err;
	if (!dag_take(reader, "="))
		return dag_fail(reader, word_at, word.len, ERR_SYNTAX,
				"'%.*s' has no value; write NAME=VALUE, and put a command with blanks in quotes",
				(int)word.len, (const char *)word.data);
	value_at = reader->at;
	err = dag_take_value(reader, ";", &value);
	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < READER_COUNT; i++)
		if (slice_eq(word, slice_str(readers[i].word)))
			return readers[i].set(reader, node, value, value_at);
	if (plain_find(word) != NULL)
		return set_plain(reader, node, plain_find(word), value, value_at);
	return unknown_setting(reader, word, word_at);
}

/* Read an assignment, after the '='. */
enum err dag_read_assignment(struct dag_reader *reader, struct slice name, struct dag_spot spot)
{
	struct dag_assignment assignment = { .name = name, .spot = spot };
	size_t at, len;
	enum err err;

	dag_skip(reader, false);
	at = reader->at;
	err = dag_take_value(reader, ";", &assignment.values.command);
	if (err != ERR_NONE)
		return err;
	len = reader->at - at;
	for (;;) {
		dag_skip(reader, false);
		if (dag_peek(reader) == -1 || dag_peek(reader) == ';' || dag_peek(reader) == '\n')
			break;
		err = read_setting(reader, &assignment.values);
		if (err != ERR_NONE)
			return err;
	}
	if ((assignment.values.command.len == 0) != (assignment.values.kind == KIND_NOOP))
		return dag_fail(reader, at, len, ERR_INVALID, assignment.values.kind == KIND_NOOP
				? "job '%.*s' has kind noop and runs nothing, so its command must be ''" : "job '%.*s' has an empty command",
				(int)name.len, (const char *)name.data);
	if (reader->assignment_count == reader->assignment_room) {
		size_t room = reader->assignment_room ? reader->assignment_room * 2 : 16;
		struct dag_assignment *list = arena_zalloc(reader->arena, room, sizeof(*list));

		if (reader->assignment_count > 0)
			memcpy(list, reader->assignments, reader->assignment_count * sizeof(*list));
		reader->assignments = list;
		reader->assignment_room = room;
	}
	reader->assignments[reader->assignment_count++] = assignment;
	return ERR_NONE;
}
