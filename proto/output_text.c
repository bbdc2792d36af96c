/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proto/output_text.h"

#include <string.h>

#include "base/text.h"
#include "proto/limits.h"

static struct slice behind(struct slice text, size_t from)
{
	return from < text.len ? slice_make(text.data + from, text.len - from) : slice_make(NULL, 0);
}

static const uint8_t *find_byte(struct slice text, char byte)
{
	return text.len > 0 ? memchr(text.data, byte, text.len) : NULL;
}

bool output_ref_read(struct slice text, struct output_ref *ret)
{
	const uint8_t *slash;

	*ret = (struct output_ref){ 0 };
	for (; text.len > 3 && memcmp(text.data, "../", 3) == 0; text = behind(text, 3))
		ret->up++;
	slash = find_byte(text, '/');
	if (!slash)
		return false;
	ret->job = slice_make(text.data, (size_t)(slash - text.data));
	ret->output = behind(text, ret->job.len + 1);
	return text_is_job_name(ret->job) && text_is_name(ret->output) && ret->up <= LIMIT_SUBRUN_DEPTH;
}

void output_ref_add(struct buf *out, const struct output_ref *ref)
{
	for (unsigned level = 0; level < ref->up; level++)
		buf_add_str(out, "../");
	buf_add_slice(out, ref->job);
	buf_add_byte(out, '/');
	buf_add_slice(out, ref->output);
}

bool output_text_next(struct slice *rest, struct text_part *ret)
{
	const uint8_t *dollar = find_byte(*rest, '$'), *end;
	size_t lead = dollar ? (size_t)(dollar - rest->data) : rest->len;

	*ret = (struct text_part){ .text = slice_make(rest->data, lead) };
	if (lead > 0) {
		*rest = behind(*rest, lead);
		return true;
	}
	if (rest->len < 2)
		return false;
	if (rest->data[1] == '$') {
		ret->text = slice_make(rest->data, 1);
		*rest = behind(*rest, 2);
		return true;
	}
	end = rest->data[1] == '{' ? find_byte(*rest, '}') : NULL;
	if (!end || !output_ref_read(slice_make(rest->data + 2, (size_t)(end - rest->data) - 2), &ret->ref))
		return false;
	ret->is_output = true;
	*rest = behind(*rest, (size_t)(end - rest->data) + 1);
	return true;
}

bool output_text_good(struct slice text)
{
	struct text_part part;

	while (output_text_next(&text, &part))
		;
	return text.len == 0;
}

void output_text_plain(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '$')
			buf_add_byte(out, '$');
		buf_add_byte(out, text.data[i]);
	}
}

bool computed_read(struct slice entry, struct slice *ret_name, struct slice *ret_text)
{
	const uint8_t *equals = find_byte(entry, '=');

	*ret_name = slice_make(entry.data, equals ? (size_t)(equals - entry.data) : 0);
	*ret_text = behind(entry, ret_name->len + 1);
	return equals != NULL;
}

bool computed_good(struct slice entry)
{
	struct slice name, text;

	return computed_read(entry, &name, &text) && text_is_name(name) && output_text_good(text);
}
