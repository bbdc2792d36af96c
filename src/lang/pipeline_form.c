/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The key approval.fields: what a person who approves a gate has to give. Each field becomes a definition as in proto/form.h.
 *
 *   fields: {ver: {enum: ["1.2", "1.3"]}, note: {text: true, optional: true}, n: {number: true}}
 *
 * Shorter: ver: ["1.2", "1.3"] and n: number.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "proto/form.h"
#include "proto/limits.h"

static const struct pipe_key field_keys[] = { { "enum", NULL }, { "text", NULL }, { "number", NULL }, { "optional", NULL } };

const struct pipe_section pipe_section_field = PIPE_SECTION("a field of a gate", field_keys, NULL);

struct field_reading {
	struct pipe *pipe;
	enum form_kind kind;             /* FORM_KIND_COUNT: not known yet */
	struct buf values;
	bool optional;
};

static enum err choice_item(struct pipe *pipe, const struct tree_node *node, struct slice *ret)
{
	enum err err = pipe_text(pipe, node, "a value", ret);

	if (err == ERR_NONE && !form_choice_good(*ret))
		return pipe_fail(pipe, node, ERR_INVALID, "a value of enum must be a text on one line without '|'");
	return err;
}

static enum err read_choices(struct field_reading *reading, const struct tree_node *value)
{
	const struct tree_node *item = value->kind == TREE_LIST ? value->first : value;
	struct slice_list choices = { 0 };
	enum err err = pipe_list(reading->pipe, value, "enum", LIMIT_FORM_FIELD_MAX / 2, choice_item, &choices);

	for (size_t i = 0; err == ERR_NONE && i < choices.n; i++, item = item->next) {
		for (size_t before = 0; before < i; before++)
			if (slice_eq(choices.at[before], choices.at[i]))
				return pipe_fail(reading->pipe, item, ERR_DUPLICATE, "'%.*s' is named twice", (int)choices.at[i].len,
						 (const char *)choices.at[i].data);
		buf_add_str(&reading->values, i > 0 ? "|" : " ");
		buf_add_slice(&reading->values, choices.at[i]);
	}
	return err;
}

/* Note the kind of the field. A field has one: text: false beside number: true is right, and says nothing. */
static enum err set_kind(struct field_reading *reading, const struct tree_node *node, enum form_kind kind)
{
	bool wanted = true;
	enum err err = kind == FORM_ENUM ? ERR_NONE : pipe_bool(reading->pipe, node, &wanted);

	if (err != ERR_NONE || !wanted)
		return err;
	if (reading->kind != FORM_KIND_COUNT)
		return dag_fail(&reading->pipe->reader, node->key_spot.at, node->key_spot.len, ERR_INVALID,
				"a field is one of enum, text and number, not several");
	reading->kind = kind;
	return kind == FORM_ENUM ? read_choices(reading, node) : ERR_NONE;
}

static enum err read_map(struct field_reading *reading, const struct tree_node *value)
{
	enum err first = ERR_NONE;

	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		enum form_kind kind = 0;

		while (kind < FORM_KIND_COUNT && !slice_eq(node->key, slice_str(form_kind_names[kind])))
			kind++;
		if (kind < FORM_KIND_COUNT)
			pipe_note(reading->pipe, set_kind(reading, node, kind), &first);
		else if (slice_eq(node->key, slice_str("optional")))
			pipe_note(reading->pipe, pipe_bool(reading->pipe, node, &reading->optional), &first);
		else
			pipe_note(reading->pipe, pipe_unknown_key(reading->pipe, node, &pipe_section_field), &first);
	}
	if (first == ERR_NONE && reading->kind == FORM_KIND_COUNT)
		return dag_fail(&reading->pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"a field needs one of enum: [VALUE, ...], text: true and number: true");
	return first;
}

/* Read a word: text or number. */
static enum err read_word(struct field_reading *reading, const struct tree_node *value)
{
	if (slice_eq(value->text, slice_str("text")))
		reading->kind = FORM_TEXT;
	else if (slice_eq(value->text, slice_str("number")))
		reading->kind = FORM_NUMBER;
	else
		return pipe_fail(reading->pipe, value, ERR_INVALID, "a field must be text, number or a list of values, or a map: {enum: [VALUE, ...], optional: true}");
	return ERR_NONE;
}

static enum err read_field(struct pipe *pipe, const struct tree_node *value, struct slice *ret)
{
	struct field_reading reading = { .pipe = pipe, .kind = FORM_KIND_COUNT };
	struct buf text = { 0 };
	struct form_field field;
	enum err err;

	if (!text_is_name(value->key))
		return dag_fail(&pipe->reader, value->key_spot.at, value->key_spot.len, ERR_INVALID,
				"the name of a field may only have letters, digits and _ . -, and must begin with a letter, a digit or _");
	if (value->kind == TREE_MAP)
		err = read_map(&reading, value);
	else if (value->kind == TREE_LIST)
		err = set_kind(&reading, value, FORM_ENUM);
	else
		err = read_word(&reading, value);
	buf_add_slice(&text, value->key);
	buf_add_str(&text, reading.optional ? "? " : " ");
	buf_add_str(&text, form_kind_names[reading.kind < FORM_KIND_COUNT ? reading.kind : FORM_TEXT]);
	buf_add_slice(&text, buf_slice(&reading.values));
	*ret = arena_copy(pipe->reader.arena, buf_slice(&text));
	if (err == ERR_NONE && ret->len > LIMIT_FORM_FIELD_MAX)
		err = pipe_fail(pipe, value, ERR_TOO_LARGE, "the name and the values of a field may have at most %d bytes", LIMIT_FORM_FIELD_MAX);
	/* A wrong field exists: that another job uses it is no further error. */
	if (!form_field_read(*ret, &field)) {
		buf_clear(&text);
		buf_add_slice(&text, value->key);
		buf_add_str(&text, "? text");
		*ret = arena_copy(pipe->reader.arena, buf_slice(&text));
	}
	buf_free(&text);
	buf_free(&reading.values);
	return err;
}

enum err pipe_read_fields(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct slice_list *fields = &job->node->gate_fields;
	enum err first = pipe_expect(pipe, value, TREE_MAP, "fields");

	if (first != ERR_NONE)
		return first;
	if (value->count > LIMIT_FORM_FIELDS_MAX)
		return pipe_fail(pipe, value, ERR_TOO_LARGE, "a gate may have at most %d fields", LIMIT_FORM_FIELDS_MAX);
	fields->at = arena_zalloc(pipe->reader.arena, value->count + 1, sizeof(*fields->at));
	for (const struct tree_node *node = value->first; node != NULL; node = node->next) {
		struct slice field = { 0 };

		pipe_note(pipe, read_field(pipe, node, &field), &first);
		if (field.len > 0)
			fields->at[fields->n++] = field;
	}
	return first;
}

bool pipe_fields_needed(const struct dag_node *node)
{
	struct form_field field;

	for (size_t i = 0; i < node->gate_fields.n; i++)
		if (form_field_read(node->gate_fields.at[i], &field) && !field.optional)
			return true;
	return false;
}
