/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Labels and requirements stay texts; what this file makes of them points into those texts. */
#include "proto/label.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "proto/limits.h"

#define VALUE_ALONE "true"               /* the value of a label that is written without one */

static const struct {
	const char *word;
	bool in_list;
	enum label_op op;
} operators[] = { { "!=", false, LABEL_NOT_IN }, { "=", false, LABEL_IN }, { " notin (", true, LABEL_NOT_IN }, { " in (", true, LABEL_IN } };

/* The text from this byte on. An empty text may have no bytes to take an offset from. */
static struct slice tail(struct slice text, size_t from)
{
	return from > 0 ? slice_make(text.data + from, text.len - from) : text;
}

bool label_value_next(struct slice *values, struct slice *ret)
{
	const uint8_t *comma = values->len ? memchr(values->data, ',', values->len) : NULL;
	size_t len = comma ? (size_t)(comma - values->data) : values->len;

	if (values->len == 0)
		return false;
	*ret = slice_make(values->data, len);
	*values = tail(*values, len + (comma != NULL));
	return true;
}

/* Check that these are names, with single commas between them. */
static bool values_right(struct slice values)
{
	struct slice left = values, value;

	while (label_value_next(&left, &value))
		if (!text_is_name(value))
			return false;
	return values.len > 0 && values.data[values.len - 1] != ',';
}

bool label_want_read(struct slice text, struct label_want *ret)
{
	struct label_want want = { .op = LABEL_HAS };
	size_t len = 0;

	if (text.len > 0 && text.data[0] == '!') {
		want.op = LABEL_LACKS;
		text = tail(text, 1);
	}
	while (len < text.len && text.data[len] != '=' && text.data[len] != '!' && text.data[len] != ' ')
		len++;
	want.key = slice_make(text.data, len);
	text = tail(text, len);
	for (size_t i = 0; text.len > 0 && want.op == LABEL_HAS && i < sizeof(operators) / sizeof(operators[0]); i++) {
		size_t word = strlen(operators[i].word), end = operators[i].in_list;

		if (text.len <= word + end || memcmp(text.data, operators[i].word, word) != 0 || (end && text.data[text.len - 1] != ')'))
			continue;
		want.op = operators[i].op;
		want.values = slice_make(text.data + word, text.len - word - end);
		if (!values_right(want.values) || (!end && memchr(want.values.data, ',', want.values.len)))
			return false;
		text.len = 0;
	}
	*ret = want;
	return text.len == 0 && text_is_name(want.key);
}

struct slice label_key(struct slice label)
{
	const uint8_t *equals = label.len ? memchr(label.data, '=', label.len) : NULL;

	return equals ? slice_make(label.data, (size_t)(equals - label.data)) : label;
}

struct slice label_value(struct slice label)
{
	size_t key = label_key(label).len;

	return key < label.len ? tail(label, key + 1) : slice_str(VALUE_ALONE);
}

static int key_compare(struct slice a, struct slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.data, b.data, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int key_order(const void *a, const void *b)
{
	return key_compare(label_key(*(const struct slice *)a), label_key(*(const struct slice *)b));
}

void labels_order(struct slice_list *labels)
{
	size_t kept = 0;

	if (labels->n == 0)
		return;
	qsort(labels->at, labels->n, sizeof(*labels->at), key_order);
	for (size_t i = 1; i < labels->n; i++)
		if (key_order(&labels->at[kept], &labels->at[i]) != 0)
			labels->at[++kept] = labels->at[i];
	labels->n = kept + 1;
}

enum err labels_check(struct slice_list labels, struct error *error)
{
	if (labels.n > LIMIT_LABELS_MAX)
		return error_set(error, ERR_TOO_LARGE, "a worker may have at most %d labels", LIMIT_LABELS_MAX);
	for (size_t i = 0; i < labels.n; i++) {
		struct slice label = labels.at[i], key = label_key(label);

		if (!text_is_name(key) || !text_is_name(label_value(label))) {
			size_t shown = text_clip(label, 40, &(size_t){ 0 });

			return error_set(error, ERR_INVALID, "'%.*s' isn't a label; a label is KEY or KEY=VALUE, and both may have letters, "
				"digits and _ . -, at most %d", (int)shown, (const char *)label.data, LIMIT_NAME_MAX_LEN);
		}
		for (size_t k = 0; k < i; k++)
			if (slice_eq(label_key(labels.at[k]), key) && !slice_eq(label_value(labels.at[k]), label_value(label)))
				return error_set(error, ERR_DUPLICATE, "label %.*s has two values, '%.*s' and '%.*s'; a worker has one value for each key",
						 (int)key.len, (const char *)key.data, (int)label_value(labels.at[k]).len,
						 (const char *)label_value(labels.at[k]).data, (int)label_value(label).len,
						 (const char *)label_value(label).data);
	}
	return ERR_NONE;
}

const struct slice *label_find(const struct slice_list *labels, struct slice key)
{
	size_t low = 0, high = labels->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = key_compare(label_key(labels->at[middle]), key);

		if (order == 0)
			return &labels->at[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool label_met(const struct slice_list *labels, const struct label_want *want)
{
	const struct slice *label = label_find(labels, want->key);
	struct slice left = want->values, value;

	if (want->op == LABEL_HAS || want->op == LABEL_LACKS)
		return (label != NULL) == (want->op == LABEL_HAS);
	while (label && label_value_next(&left, &value))
		if (slice_eq(value, label_value(*label)))
			return want->op == LABEL_IN;
	return want->op == LABEL_NOT_IN;
}
