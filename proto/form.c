/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proto/form.h"

#include "base/text.h"
#include "proto/limits.h"

#define SHOWN_MAX 64                     /* most bytes of a name or value in a sentence */

const char *const form_kind_names[FORM_KIND_COUNT] = { [FORM_ENUM] = "enum", [FORM_TEXT] = "text", [FORM_NUMBER] = "number" };

static const uint8_t *find_byte(struct slice text, char byte)
{
	return text.len > 0 ? memchr(text.data, byte, text.len) : NULL;
}

/* Move the part of *rest before this byte into *ret, and *rest behind the byte. False: *rest has no such byte; *ret gets all of it. */
static bool cut_at(struct slice *rest, char byte, struct slice *ret)
{
	const uint8_t *found = find_byte(*rest, byte);

	*ret = slice_make(rest->data, found ? (size_t)(found - rest->data) : rest->len);
	*rest = found ? slice_make(found + 1, (size_t)(rest->data + rest->len - found - 1)) : slice_make(NULL, 0);
	return found != NULL;
}

bool form_choice_good(struct slice value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.data[i] < ' ' || value.data[i] == '|' || value.data[i] == 0x7f)
			return false;
	return value.len > 0;
}

bool form_field_read(struct slice text, struct form_field *ret)
{
	struct slice rest = text, word, value;
	bool more;

	*ret = (struct form_field){ 0 };
	if (text.len > LIMIT_FORM_FIELD_MAX || !cut_at(&rest, ' ', &ret->name))
		return false;
	ret->optional = ret->name.len > 0 && ret->name.data[ret->name.len - 1] == '?';
	ret->name.len -= ret->optional;
	if (!text_is_name(ret->name))
		return false;
	more = cut_at(&rest, ' ', &word);
	while (ret->kind < FORM_KIND_COUNT && !slice_eq(word, slice_str(form_kind_names[ret->kind])))
		ret->kind++;
	if (ret->kind == FORM_KIND_COUNT || more != (ret->kind == FORM_ENUM))
		return false;
	ret->values = rest;
	while (more) {
		more = cut_at(&rest, '|', &value);
		if (!form_choice_good(value))
			return false;
	}
	return true;
}

const struct slice *form_find(struct slice_list fields, struct slice name)
{
	struct form_field field;

	for (size_t i = 0; i < fields.n; i++)
		if (form_field_read(fields.at[i], &field) && slice_eq(field.name, name))
			return &fields.at[i];
	return NULL;
}

static bool is_choice(struct slice values, struct slice value)
{
	struct slice choice;
	bool more;

	do {
		more = cut_at(&values, '|', &choice);
		if (slice_eq(choice, value))
			return true;
	} while (more);
	return false;
}

static size_t digits_at(struct slice text, size_t at)
{
	size_t end = at;

	while (end < text.len && text.data[end] >= '0' && text.data[end] <= '9')
		end++;
	return end - at;
}

/* Is this a number such as 3, -1 or 0.5? */
static bool is_number(struct slice text)
{
	size_t at = text.len > 0 && text.data[0] == '-', digits = digits_at(text, at);

	at += digits;
	if (digits == 0 || at == text.len)
		return digits > 0;
	digits = text.data[at] == '.' ? digits_at(text, at + 1) : 0;
	return digits > 0 && at + 1 + digits == text.len;
}

/* ---- sentences ---- */

static void add_short(struct buf *out, struct slice text)
{
	size_t len = text.len < SHOWN_MAX ? text.len : SHOWN_MAX;

	buf_add(out, text.data, len);
	if (len < text.len)
		buf_add_str(out, "...");
}

/* Add what a value of this field must be: "1.2 or 1.3", "a number". */
static void add_wanted(struct buf *out, const struct form_field *field)
{
	struct slice rest = field->values, value, next;
	bool more;

	if (field->kind != FORM_ENUM) {
		buf_add_str(out, field->kind == FORM_NUMBER ? "a number, such as 3 or 0.5" : "a text");
		return;
	}
	more = cut_at(&rest, '|', &value);
	add_short(out, value);
	while (more) {
		more = cut_at(&rest, '|', &next);
		buf_add_str(out, more ? ", " : " or ");
		add_short(out, next);
	}
}

static void add_names(struct buf *out, struct slice_list fields)
{
	struct form_field field;

	for (size_t i = 0; i < fields.n; i++) {
		buf_add_str(out, i > 0 ? ", " : "");
		if (form_field_read(fields.at[i], &field))
			buf_add_slice(out, field.name);
	}
}

static bool is_right_value(const struct form_field *field, struct slice value, struct buf *why)
{
	bool fits = field->kind == FORM_TEXT || (field->kind == FORM_NUMBER ? is_number(value) : is_choice(field->values, value));

	if (fits && value.len <= LIMIT_FORM_VALUE_MAX && !find_byte(value, 0))
		return true;
	buf_add_str(why, "field ");
	buf_add_slice(why, field->name);
	if (!fits) {
		buf_add_str(why, " must be ");
		add_wanted(why, field);
		buf_add_str(why, ", not '");
		add_short(why, value);
		buf_add_byte(why, '\'');
	} else if (value.len > LIMIT_FORM_VALUE_MAX) {
		buf_addf(why, " may have at most %d bytes", LIMIT_FORM_VALUE_MAX);
	} else {
		buf_add_str(why, " can't have a zero byte");
	}
	return false;
}

/* Find the value that was given for this field. */
static bool find_given(struct slice_list given, size_t count, struct slice name, struct slice *ret)
{
	struct slice found;

	for (size_t i = 0; i < count; i++) {
		*ret = given.at[i];
		if (cut_at(ret, '=', &found) && slice_eq(found, name))
			return true;
	}
	*ret = slice_make(NULL, 0);
	return false;
}

static bool check_given(struct slice_list fields, struct slice_list given, size_t at, struct buf *why)
{
	struct slice value = given.at[at], name, other;
	bool split = cut_at(&value, '=', &name);
	const struct slice *text = split ? form_find(fields, name) : NULL;
	struct form_field field;

	if (text && !find_given(given, at, name, &other) && form_field_read(*text, &field))
		return is_right_value(&field, value, why);
	if (!split) {
		buf_add_byte(why, '\'');
		add_short(why, name);
		buf_add_str(why, "' isn't a field and its value, as FIELD=VALUE");
	} else if (text) {
		buf_add_str(why, "field ");
		add_short(why, name);
		buf_add_str(why, " is given twice");
	} else if (fields.n == 0) {
		buf_add_str(why, "the gate has no fields");
	} else {
		buf_add_str(why, "the gate has no field '");
		add_short(why, name);
		buf_add_str(why, fields.n > 1 ? "'; its fields are " : "'; its only field is ");
		add_names(why, fields);
	}
	return false;
}

bool form_check(struct slice_list fields, struct slice_list given, struct buf *why)
{
	struct form_field field;
	struct slice value;

	for (size_t i = 0; i < given.n; i++)
		if (!check_given(fields, given, i, why))
			return false;
	for (size_t i = 0; i < fields.n; i++) {
		if (!form_field_read(fields.at[i], &field) || field.optional || find_given(given, given.n, field.name, &value))
			continue;
		buf_add_str(why, "field ");
		buf_add_slice(why, field.name);
		buf_add_str(why, " isn't given; it must be ");
		add_wanted(why, &field);
		return false;
	}
	return true;
}

void form_options(struct slice_list fields, struct buf *out)
{
	struct form_field field;

	for (size_t i = 0; i < fields.n; i++) {
		if (!form_field_read(fields.at[i], &field) || field.optional)
			continue;
		buf_add_str(out, " --set ");
		buf_add_slice(out, field.name);
		buf_add_str(out, field.kind == FORM_TEXT ? "=TEXT" : field.kind == FORM_NUMBER ? "=NUMBER" : "=VALUE");
	}
}

void form_outputs(struct slice_list fields, struct slice_list given, struct buf *out)
{
	struct form_field field;

	for (size_t i = 0; i < fields.n; i++) {
		struct rec_job_output output = { 0 };

		if (!form_field_read(fields.at[i], &field))
			continue;
		output.name = field.name;
		find_given(given, given.n, field.name, &output.value);
		record_encode(out, REC_job_output, &output);
	}
}
