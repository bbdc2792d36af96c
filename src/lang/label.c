/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A requirement is a key with at most one operator. Blanks around words and operators don't count. A list of one value
 * becomes = or !=, so equal requirements have equal texts and jobs that have them share a class.
 */
#include "lang/label.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "proto/label.h"
#include "proto/limits.h"

#define SHOWN 40
#define FORMS "write KEY, '!KEY', KEY=VALUE, KEY!=VALUE, 'KEY in (A,B)' or 'KEY notin (A,B)'"

struct scan {
	struct slice text, left;         /* the whole text, and what isn't read yet */
	struct error *error;
	struct slice values[LIMIT_LABELS_MAX];
	size_t count;
};

static int clip(struct slice text)
{
	return (int)text_clip(text, SHOWN, &(size_t){ 0 });
}

static void skip(struct scan *scan)
{
	while (scan->left.len > 0 && isspace(scan->left.data[0]))
		scan->left = slice_make(scan->left.data + 1, scan->left.len - 1);
}

static bool take(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	if (scan->left.len < len || memcmp(scan->left.data, word, len) != 0)
		return false;
	scan->left = slice_make(scan->left.data + len, scan->left.len - len);
	skip(scan);
	return true;
}

static struct slice take_word(struct scan *scan)
{
	size_t len = 0;
	struct slice word;

	while (len < scan->left.len && !isspace(scan->left.data[len]) && !strchr("=!(),<>", scan->left.data[len]))
		len++;
	word = slice_make(scan->left.data, len);
	if (len > 0)
		scan->left = slice_make(scan->left.data + len, scan->left.len - len);
	skip(scan);
	return word;
}

static enum err take_name(struct scan *scan, const char *what, struct slice *ret)
{
	*ret = take_word(scan);
	if (ret->len == 0)
		return error_set(scan->error, ERR_INVALID, "'%.*s' has no %s; " FORMS, clip(scan->text), (const char *)scan->text.data, what);
	if (ret->len > LIMIT_NAME_MAX_LEN)
		return error_set(scan->error, ERR_TOO_LARGE, "the %s '%.*s...' of a label has %zu characters; at most %d are allowed", what, clip(*ret),
				 (const char *)ret->data, ret->len, LIMIT_NAME_MAX_LEN);
	if (!text_is_name(*ret))
		return error_set(scan->error, ERR_INVALID, "'%.*s' isn't a %s of a label; use only letters, digits and _ . -", clip(*ret),
				 (const char *)ret->data, what);
	return ERR_NONE;
}

static enum err take_list(struct scan *scan, struct slice key, const char *word)
{
	enum err err = ERR_NONE;

	if (!take(scan, "("))
		return error_set(scan->error, ERR_INVALID, "the values after '%s' need parentheses; write '%.*s %s (A,B)'", word, clip(key),
				 (const char *)key.data, word);
	do {
		if (scan->count == LIMIT_LABELS_MAX)
			return error_set(scan->error, ERR_TOO_LARGE, "a requirement may have at most %d values", LIMIT_LABELS_MAX);
		err = take_name(scan, "value", &scan->values[scan->count++]);
	} while (err == ERR_NONE && take(scan, ","));
	if (err == ERR_NONE && !take(scan, ")"))
		return error_set(scan->error, ERR_INVALID, "'%.*s' lacks the ) at the end of the values", clip(scan->text), (const char *)scan->text.data);
	return err;
}

static enum err wrong_operator(struct scan *scan, struct slice key, struct slice word)
{
	const char *const words[] = { "in", "notin" };
	char copy[SHOWN + 1] = "";
	const char *nearest;

	if (scan->left.len > 0 && word.len == 0 && strchr("<>", scan->left.data[0]))
		return error_set(scan->error, ERR_INVALID, "labels can't be compared with < and >; " FORMS);
	if (slice_eq(word, slice_str("not")))
		return error_set(scan->error, ERR_INVALID, "'not' isn't an operator; did you mean '%.*s notin (A,B)'?", clip(key), (const char *)key.data);
	if (word.len > 0)
		memcpy(copy, word.data, (size_t)clip(word));
	nearest = word.len > 0 ? text_nearest(copy, words, 2) : NULL;
	if (nearest)
		return error_set(scan->error, ERR_INVALID, "'%s' isn't an operator; did you mean '%.*s %s (A,B)'?", copy, clip(key),
				 (const char *)key.data, nearest);
	return error_set(scan->error, ERR_INVALID, "'%.*s' isn't a requirement on labels; " FORMS, clip(scan->text), (const char *)scan->text.data);
}

/* Read the operator and what follows it. */
static enum err take_rest(struct scan *scan, struct slice key, enum label_op *ret_op)
{
	bool differs = take(scan, "!=");
	struct slice word;

	if (differs || take(scan, "=")) {
		*ret_op = differs ? LABEL_NOT_IN : LABEL_IN;
		scan->count = 1;
		if (scan->left.len > 0 && scan->left.data[0] == '=')
			return error_set(scan->error, ERR_INVALID, "write one =, not two, between the key and the value of a label");
		return take_name(scan, "value", &scan->values[0]);
	}
	word = take_word(scan);
	*ret_op = slice_eq(word, slice_str("in")) ? LABEL_IN : LABEL_NOT_IN;
	if (!slice_eq(word, slice_str("in")) && !slice_eq(word, slice_str("notin")))
		return wrong_operator(scan, key, word);
	return take_list(scan, key, *ret_op == LABEL_IN ? "in" : "notin");
}

static int value_order(const void *a, const void *b)
{
	const struct slice *left = a, *right = b;
	int order = memcmp(left->data, right->data, left->len < right->len ? left->len : right->len);

	return order ? order : (left->len > right->len) - (left->len < right->len);
}

static struct slice written(struct scan *scan, struct slice key, enum label_op op, struct arena *arena)
{
	struct buf out = { 0 };
	struct slice copy;
	size_t kept = 0;

	buf_add_str(&out, op == LABEL_LACKS ? "!" : "");
	buf_add_slice(&out, key);
	if (scan->count > 0)
		qsort(scan->values, scan->count, sizeof(scan->values[0]), value_order);
	for (size_t i = 1; i < scan->count; i++)
		if (!slice_eq(scan->values[kept], scan->values[i]))
			scan->values[++kept] = scan->values[i];
	if (scan->count > 0 && kept == 0)
		buf_add_str(&out, op == LABEL_IN ? "=" : "!=");
	else if (scan->count > 0)
		buf_add_str(&out, op == LABEL_IN ? " in (" : " notin (");
	for (size_t i = 0; scan->count > 0 && i <= kept; i++) {
		buf_add_str(&out, i ? "," : "");
		buf_add_slice(&out, scan->values[i]);
	}
	buf_add_str(&out, kept > 0 ? ")" : "");
	copy = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

enum err label_parse(struct slice text, struct arena *arena, struct slice *ret, struct error *error)
{
	struct scan scan = { .text = text, .left = text, .error = error };
	enum label_op op = LABEL_HAS;
	struct slice key;
	enum err err;

	skip(&scan);
	if (take(&scan, "!"))
		op = LABEL_LACKS;
	err = take_name(&scan, "key", &key);
	if (err == ERR_NONE && scan.left.len > 0 && op == LABEL_LACKS)
		return error_set(error, ERR_INVALID, "! stands before a key alone; write '!KEY' or KEY!=VALUE");
	if (err == ERR_NONE && scan.left.len > 0)
		err = take_rest(&scan, key, &op);
	if (err == ERR_NONE && scan.left.len > 0)
		err = error_set(error, ERR_INVALID, "'%.*s' has more behind the requirement: '%.*s'; write each requirement as an entry of its own", clip(text),
				(const char *)text.data, clip(scan.left), (const char *)scan.left.data);
	if (err == ERR_NONE)
		*ret = written(&scan, key, op, arena);
	return err;
}
