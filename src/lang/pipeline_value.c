/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Typed values of a pipeline: each is read as its type, or refused with an error at its place. */
#include "lang/pipeline_internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/text.h"
#include "proto/limits.h"

#define TEXT_SHOWN 60
#define NAME_EDITS_MAX 2                 /* a name with more differences isn't proposed */

enum err pipe_fail(struct pipe *pipe, const struct tree_node *node, enum err code, const char *format, ...)
{
	char text[ERROR_TEXT_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return dag_fail(&pipe->reader, node->spot.at, node->spot.len, code, "%s", text);
}

void pipe_note(struct pipe *pipe, enum err err, enum err *first)
{
	err = dag_note(&pipe->reader, err);
	if (*first == ERR_NONE)
		*first = err;
}

static int shown(struct slice text)
{
	return (int)text_clip(text, TEXT_SHOWN, &(size_t){ 0 });
}

enum err pipe_expect(struct pipe *pipe, const struct tree_node *node, enum tree_kind kind, const char *what)
{
	static const char *const kinds[] = { "a text", "a list", "a map" };

	if (node->kind == kind)
		return ERR_NONE;
	if (node->kind == TREE_TEXT && node->plain && node->text.len == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "%s must be %s, but it is empty", what, kinds[kind]);
	return pipe_fail(pipe, node, ERR_INVALID, "%s must be %s, not %s", what, kinds[kind], kinds[node->kind]);
}

const struct pipe_key *pipe_key_find(const struct pipe_section *section, struct slice word)
{
	for (size_t i = 0; i < section->count; i++)
		if (slice_eq(word, slice_str(section->keys[i].word)))
			return &section->keys[i];
	return NULL;
}

const struct setting *pipe_setting_find(const struct pipe_section *section, struct slice word)
{
	size_t len = section->prefix ? strlen(section->prefix) : 0;

	for (size_t i = 0; section->prefix && i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->shape == SHAPE_OWN || strncmp(setting->yaml, section->prefix, len) != 0 ||
		    !slice_eq(word, slice_str(setting->yaml + len)))
			continue;
		if (section != &pipe_section_defaults || setting->kinds & IN_DEFAULTS)
			return setting;
	}
	return NULL;
}

static bool key_is_known(const struct pipe_section *section, struct slice word)
{
	bool holds_notes = section == &pipe_section_pipeline || section == &pipe_section_job;

	if (holds_notes && word.len > 2 && memcmp(word.data, "x-", 2) == 0)
		return true;
	return pipe_key_find(section, word) || pipe_setting_find(section, word);
}

/* Read a setting by its shape; nothing else about the setting needs to be known. */
static enum err read_setting(struct pipe *pipe, struct pipe_job *job, const struct setting *setting, const struct tree_node *value)
{
	struct rec_job_settings *settings = &job->node->plain;
	uint64_t span_ms = 0;
	int64_t time_ms = 0;
	enum err err;

	if (setting->shape == SHAPE_TEXT)
		return pipe_template(pipe, value, setting->yaml, (struct slice){ 0 }, setting_text(setting, settings));
	err = setting->shape == SHAPE_SPAN ? pipe_span(pipe, value, &span_ms) : pipe_time(pipe, value, &time_ms);
	if (err == ERR_NONE)
		setting_set_number(setting, settings, setting->shape == SHAPE_SPAN ? (int64_t)span_ms : time_ms);
	return err;
}

enum err pipe_map(struct pipe *pipe, const struct tree_node *map, const struct pipe_section *section, struct pipe_job *job)
{
	enum err err = pipe_expect(pipe, map, TREE_MAP, section->what);

	if (err != ERR_NONE)
		return err;
	for (const struct tree_node *node = map->first; node != NULL; node = node->next)
		if (!key_is_known(section, node->key))
			pipe_note(pipe, pipe_unknown_key(pipe, node, section), &err);
	for (size_t i = 0; i < section->count; i++) {
		const struct tree_node *node = tree_find(map, section->keys[i].word);

		if (node != NULL)
			pipe_note(pipe, section->keys[i].read(pipe, job, node), &err);
	}
	for (const struct tree_node *node = map->first; node != NULL; node = node->next) {
		const struct setting *setting = pipe_setting_find(section, node->key);

		if (setting != NULL && pipe_key_find(section, node->key) == NULL)
			pipe_note(pipe, read_setting(pipe, job, setting, node), &err);
	}
	return err;
}

/* ---- texts ---- */

/*
 * Find the place in the file of a part of a text. Quotes, indentation and folding make the text differ from the file, but
 * not within the part: it is the one with as many like it before it. If it isn't there, the place is the whole text.
 */
struct dag_spot pipe_part_spot(const struct pipe *pipe, const struct tree_node *node, size_t at, size_t len)
{
	const uint8_t *part = node->text.data + at, *next;
	struct slice before = slice_make(node->text.data, at);
	struct slice file = slice_make(pipe->reader.text.data + node->spot.at, node->spot.len);

	for (;;) {
		const uint8_t *found = file.len > 0 ? memmem(file.data, file.len, part, len) : NULL;

		if (found == NULL)
			return node->spot;
		next = before.len > 0 ? memmem(before.data, before.len, part, len) : NULL;
		if (next == NULL)
			return (struct dag_spot){ (size_t)(found - pipe->reader.text.data), len };
		before = slice_make(next + len, before.len - (size_t)(next + len - before.data));
		file = slice_make(found + len, file.len - (size_t)(found + len - file.data));
	}
}

/* Report a name that the list doesn't have, with the most similar one. */
static enum err unknown_value(struct pipe *pipe, struct dag_spot spot, const struct matrix_ref *fault)
{
	bool axis = fault->kind == FAULT_AXIS;
	const struct dag_values *list = axis ? pipe->words.axes : pipe->words.params;
	size_t count = axis ? pipe->words.axis_count : pipe->words.param_count, best = NAME_EDITS_MAX + 1;
	struct slice nearest = { 0 };

	dag_fail(&pipe->reader, spot.at, spot.len, ERR_UNKNOWN_NAME,
		 !axis ? "unknown parameter '%.*s'; parameters are listed under params"
		       : count > 0 ? "the matrix of this job has no '%.*s'"
				   : "${matrix.%.*s} can't be used here: the job has no matrix",
		 shown(fault->name), (const char *)fault->name.data);
	for (size_t i = 0; i < count; i++) {
		size_t edits = text_distance(fault->name, list[i].name, NAME_EDITS_MAX);

		if (edits < best && edits < list[i].name.len) {
			best = edits;
			nearest = list[i].name;
		}
	}
	if (nearest.len > 0)
		error_next(pipe->reader.error, "did you mean '%.*s'?", shown(nearest), (const char *)nearest.data);
	return ERR_UNKNOWN_NAME;
}

static enum err fault_error(struct pipe *pipe, const struct tree_node *node, const struct matrix_ref *fault)
{
	struct dag_spot spot = pipe_part_spot(pipe, node, fault->at, fault->len);
	int len = shown(fault->name);
	const char *name = (const char *)fault->name.data;

	/* A wrong name is wrong whatever the values of others are. */
	if (fault->kind != FAULT_AXIS || !pipe->axes_unknown)
		pipe->reader.guessed.len = 0;
	switch (fault->kind) {
	case FAULT_RUN:
		return dag_fail(&pipe->reader, spot.at, spot.len, ERR_UNKNOWN_NAME,
				"${run.%.*s} isn't known before the run exists; the job finds its run in TITAN_RUN", len, name);
	case FAULT_OUTPUT:
		dag_fail(&pipe->reader, spot.at, spot.len, ERR_INVALID, "the outputs of jobs can't be used here");
		error_next(pipe->reader.error, "they can stand in run, in the message of a gate, and as the whole value of a variable in a job's env");
		return ERR_INVALID;
	case FAULT_ROOT:
		dag_fail(&pipe->reader, spot.at, spot.len, ERR_UNKNOWN_NAME, "'%.*s' has no meaning here", len, name);
		error_next(pipe->reader.error, "write ${params.NAME} for a parameter, ${matrix.NAME} for a value of the matrix");
		return ERR_UNKNOWN_NAME;
	case FAULT_LENGTH:
		return dag_fail(&pipe->reader, spot.at, spot.len, ERR_TOO_LARGE,
				"this text has more than %d bytes after ${..} was replaced by values", LIMIT_COMMAND_MAX);
	default:
		return unknown_value(pipe, spot, fault);
	}
}

bool pipe_is_guess(const struct pipe *pipe, const struct tree_node *node)
{
	struct slice text = node->text;
	static const char matrix[] = "${matrix.", params[] = "${params.";
	size_t lead = sizeof(params) - 1;

	if (pipe->axes_unknown && text.len > 0 && memmem(text.data, text.len, matrix, sizeof(matrix) - 1) != NULL)
		return true;
	for (size_t i = 0; i < pipe->words.param_count; i++) {
		struct slice name = pipe->words.params[i].name, rest = text;

		while (pipe->words.params[i].unknown && rest.len > 0) {
			const uint8_t *at = memmem(rest.data, rest.len, params, lead);

			if (at == NULL)
				break;
			rest = slice_make(at + lead, rest.len - lead - (size_t)(at - rest.data));
			if (rest.len > name.len && memcmp(rest.data, name.data, name.len) == 0 && rest.data[name.len] == '}')
				return true;
		}
	}
	return false;
}

static struct slice rest(struct slice text, size_t from)
{
	return from > 0 ? slice_make(text.data + from, text.len - from) : text;
}

/* Refuse a text that can have no value put in, whatever its references are. */
static enum err check_text(struct pipe *pipe, const struct tree_node *node, const char *what)
{
	enum err err = pipe_expect(pipe, node, TREE_TEXT, what);

	if (err != ERR_NONE)
		return err;
	if (node->plain && (slice_eq(node->text, slice_str("~")) || slice_eq(node->text, slice_str("null"))))
		return pipe_fail(pipe, node, ERR_INVALID, "%s must be a text, but it is empty; to give the word "
			"itself, put it in quotes", what);
	if (node->text.len > LIMIT_COMMAND_MAX)
		return pipe_fail(pipe, node, ERR_TOO_LARGE, "a text may have at most %d bytes; this one has %zu", LIMIT_COMMAND_MAX,
				 node->text.len);
	return ERR_NONE;
}

/* ret: NULL: only check the references. */
static enum err expand(struct pipe *pipe, const struct tree_node *node, const char *what, bool axes, struct slice *ret)
{
	struct dag_matrix words = pipe->words;
	struct matrix_ref fault;
	struct slice text = { 0 };
	enum err err;

	if (pipe_is_guess(pipe, node))
		pipe->reader.guessed = node->spot;
	err = check_text(pipe, node, what);
	if (err != ERR_NONE)
		return err;
	if (!axes)
		words.axis_count = 0;
	for (size_t from = 0; ret ? !matrix_expand(&words, rest(node->text, from), MATRIX_LONGEST, pipe->reader.arena, &text, &fault)
				  : !matrix_check(&words, rest(node->text, from), &fault);
	     from = fault.at + fault.len) {
		fault.at += from;
		if (fault.kind == FAULT_AXIS && !axes && pipe->words.axis_count > 0)
			return pipe_fail(pipe, node, ERR_INVALID, "%s must be the same for all jobs of a matrix", what);
		pipe_note(pipe, fault_error(pipe, node, &fault), &err);
		if (fault.kind == FAULT_LENGTH)
			break;
	}
	if (err != ERR_NONE || ret == NULL)
		return err;
	pipe->text_bytes += text.len;
	if (pipe->text_bytes > LIMIT_PIPELINE_TEXT_MAX)
		return pipe_fail(pipe, node, ERR_TOO_LARGE, "the pipeline has more than %d bytes after its "
			"parameters were filled in",
				 LIMIT_PIPELINE_TEXT_MAX);
	*ret = text;
	return ERR_NONE;
}

enum err pipe_check_refs(struct pipe *pipe, const struct tree_node *node, const char *what)
{
	return expand(pipe, node, what, true, NULL);
}

enum err pipe_text(struct pipe *pipe, const struct tree_node *node, const char *what, struct slice *ret)
{
	return expand(pipe, node, what, false, ret);
}

enum err pipe_template(struct pipe *pipe, const struct tree_node *node, const char *what, struct slice prefix,
		       struct slice *ret)
{
	struct slice text;
	uint8_t *joined;
	enum err err = expand(pipe, node, what, true, &text);

	if (err != ERR_NONE)
		return err;
	if (pipe->words.axis_count > 0 && text.len > 0)
		text = node->text;
	if (prefix.len + text.len > LIMIT_COMMAND_MAX)
		return pipe_fail(pipe, node, ERR_TOO_LARGE, "a text may have at most %d bytes", LIMIT_COMMAND_MAX);
	if (prefix.len > 0) {
		joined = arena_alloc(pipe->reader.arena, prefix.len + text.len);
		memcpy(joined, prefix.data, prefix.len);
		if (text.len > 0)
			memcpy(joined + prefix.len, text.data, text.len);
		text = slice_make(joined, prefix.len + text.len);
	}
	*ret = text;
	return ERR_NONE;
}

/* ---- values that are written as text ---- */

enum err pipe_number(struct pipe *pipe, const struct tree_node *node, uint64_t least, uint64_t most, uint64_t *ret)
{
	struct slice text;
	uint64_t value;
	enum err err = pipe_text(pipe, node, "a number", &text);

	if (err != ERR_NONE)
		return err;
	if (!text_parse_u64(text, &value) || value < least || value > most)
		return pipe_fail(pipe, node, ERR_INVALID, "expected a number from %llu to %llu, not '%.*s'",
				 (unsigned long long)least, (unsigned long long)most, shown(text), (const char *)text.data);
	*ret = value;
	return ERR_NONE;
}

enum err pipe_span(struct pipe *pipe, const struct tree_node *node, uint64_t *ret_ms)
{
	struct slice text;
	char copy[32];
	int64_t ms;
	enum err err = pipe_text(pipe, node, "a span of time", &text);

	if (err != ERR_NONE)
		return err;
	snprintf(copy, sizeof(copy), "%.*s", shown(text), (const char *)text.data);
	if (text.len >= sizeof(copy) || clock_parse_span(copy, &ms) != 0 || ms < 0)
		return pipe_fail(pipe, node, ERR_INVALID, "expected a time span (500ms, 30s, 5m, 2h, 1d), not '%.*s'",
				 shown(text), (const char *)text.data);
	if (ms == 0)
		return pipe_fail(pipe, node, ERR_INVALID, "'%.*s' is too short; the shortest time is 1ms", shown(text),
				 (const char *)text.data);
	if (ms > LIMIT_SPAN_MAX_S * INT64_C(1000))
		return pipe_fail(pipe, node, ERR_TOO_LARGE, "'%.*s' is longer than ten years", shown(text), (const char *)text.data);
	*ret_ms = (uint64_t)ms;
	return ERR_NONE;
}

enum err pipe_bool(struct pipe *pipe, const struct tree_node *node, bool *ret)
{
	struct slice text;
	enum err err = pipe_text(pipe, node, "a choice", &text);

	if (err != ERR_NONE)
		return err;
	if (!slice_eq(text, slice_str("true")) && !slice_eq(text, slice_str("false")))
		return pipe_fail(pipe, node, ERR_INVALID, "expected true or false, not '%.*s'", shown(text),
				 (const char *)text.data);
	*ret = slice_eq(text, slice_str("true"));
	return ERR_NONE;
}

enum err pipe_time(struct pipe *pipe, const struct tree_node *node, int64_t *ret_ms)
{
	struct slice text;
	enum err err = pipe_text(pipe, node, "a time", &text);

	if (err != ERR_NONE)
		return err;
	if (clock_parse_utc(text, ret_ms) == 0)
		return ERR_NONE;
	return pipe_fail(pipe, node, ERR_INVALID, "expected a time in UTC, such as 2026-11-18T14:02:30Z, not '%.*s'",
			 shown(text), (const char *)text.data);
}

enum err pipe_list(struct pipe *pipe, const struct tree_node *node, const char *what, size_t most,
		   pipe_item_read *item_read, struct slice_list *ret)
{
	const struct tree_node *item = node->kind == TREE_LIST ? node->first : node;
	struct slice_list list = { .n = node->kind == TREE_LIST ? node->count : 1 };

	if (node->kind == TREE_MAP)
		return pipe_expect(pipe, node, TREE_LIST, what);
	if (list.n == 0 || list.n > most)
		return pipe_fail(pipe, node, ERR_INVALID, "%s must have 1 to %zu entries, not %zu", what, most, list.n);
	list.at = arena_zalloc(pipe->reader.arena, list.n, sizeof(*list.at));
	for (size_t i = 0; i < list.n; i++) {
		enum err err = item_read(pipe, item, &list.at[i]);

		if (err != ERR_NONE)
			return err;
		item = item->next;
	}
	*ret = list;
	return ERR_NONE;
}

enum err pipe_name_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	struct slice text;
	enum err err = pipe_text(pipe, node, "a name", &text);

	if (err != ERR_NONE)
		return err;
	if (!text_is_name(text))
		return pipe_fail(pipe, node, ERR_INVALID, "'%.*s' isn't a valid name; a name may only have letters, "
			"digits and _ . -",
				 shown(text), (const char *)text.data);
	*ret = text;
	return ERR_NONE;
}

bool pipe_is_variable(struct slice name)
{
	for (size_t i = 0; i < name.len; i++) {
		uint8_t byte = name.data[i];
		bool digit = byte >= '0' && byte <= '9';

		if (!((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' || (digit && i > 0)))
			return false;
	}
	return name.len > 0 && name.len <= LIMIT_NAME_MAX_LEN;
}
