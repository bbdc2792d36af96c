/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inserts values into texts in one pass: an inserted value isn't searched for references. */
#include "lang/pipeline_matrix.h"

#include "base/check.h"
#include "base/text.h"
#include "lang/label.h"
#include "proto/limits.h"

static bool take_word(struct slice text, size_t at, const char *word)
{
	size_t len = strlen(word);

	return text.len - at >= len && memcmp(text.data + at, word, len) == 0;
}

static struct slice longest(struct slice_list values)
{
	struct slice best = values.at[0];

	for (size_t i = 1; i < values.n; i++)
		if (values.at[i].len > best.len)
			best = values.at[i];
	return best;
}

static bool axis_value(const struct dag_matrix *matrix, struct slice name, uint64_t place, struct slice *ret)
{
	for (size_t i = matrix->axis_count; i-- > 0;) {
		const struct dag_values *axis = &matrix->axes[i];

		if (slice_eq(axis->name, name)) {
			*ret = place == MATRIX_LONGEST ? longest(axis->values) : axis->values.at[place % axis->values.n];
			return true;
		}
		if (place != MATRIX_LONGEST && !matrix->zipped)
			place /= axis->values.n;
	}
	return false;
}

static bool param_value(const struct dag_matrix *matrix, struct slice name, struct slice *ret)
{
	for (size_t i = 0; i < matrix->param_count; i++) {
		if (slice_eq(matrix->params[i].name, name)) {
			*ret = matrix->params[i].values.at[0];
			return true;
		}
	}
	return false;
}

/* Return the length of ${WORD. if WORD is one that people mean for params or matrix, or know from other tools; else 0. */
static size_t foreign_root(struct slice text, size_t at)
{
	static const char *const roots[] = {
		"param", "parameters", "parameter", "inputs", "input", "vars", "secrets", "github", "steps", "needs", "jobs", "job",
		"outputs", "matrices", "runs", "{ ", "{",
	};

	for (size_t i = 0; text.len - at > 2 && text.data[at + 1] == '{' && i < sizeof(roots) / sizeof(roots[0]); i++) {
		size_t len = strlen(roots[i]);

		if (take_word(text, at + 2, roots[i]) &&
		    (roots[i][0] == '{' || (at + 2 + len < text.len && text.data[at + 2 + len] == '.')))
			return 2 + len;
	}
	return 0;
}

/* Read the reference that begins at the dollar; return its length, or 0 if it is left to the shell. */
static size_t read_dollar(struct slice text, size_t at, struct matrix_fault *fault)
{
	static const char *const words[] = { "${params.", "${matrix.", "${run." };

	for (int kind = 0; kind < 3; kind++) {
		size_t start = at + strlen(words[kind]);
		const uint8_t *end;

		if (!take_word(text, at, words[kind]))
			continue;
		end = memchr(text.data + start, '}', text.len - start);
		fault->kind = kind == 0 ? FAULT_PARAM : kind == 1 ? FAULT_AXIS : FAULT_RUN;
		fault->at = at;
		fault->len = end ? (size_t)(end + 1 - (text.data + at)) : text.len - at;
		fault->name = slice_make(text.data + start, fault->len - (start - at) - (end != NULL));
		return fault->len;
	}
	if (foreign_root(text, at) > 0) {
		const char *close = take_word(text, at, "${{") ? "}}" : "}";
		const uint8_t *end = memmem(text.data + at, text.len - at, close, strlen(close));

		fault->kind = FAULT_ROOT;
		fault->at = at;
		fault->len = end ? (size_t)(end - (text.data + at)) + strlen(close) : text.len - at;
		fault->name = slice_make(text.data + at, fault->len);
		return fault->len;
	}
	return 0;
}

bool matrix_expand(const struct dag_matrix *matrix, struct slice text, uint64_t place, struct arena *arena,
		   struct slice *ret, struct matrix_fault *ret_fault)
{
	struct buf out = { 0 };
	bool changed = false, right = true;

	for (size_t at = 0; at < text.len && right;) {
		struct matrix_fault fault;
		struct slice value = { 0 };
		const uint8_t *dollar = memchr(text.data + at, '$', text.len - at);
		size_t before = dollar ? (size_t)(dollar - text.data) - at : text.len - at;
		size_t len;

		buf_add(&out, text.data + at, before);
		at += before;
		if (at == text.len)
			break;
		len = read_dollar(text, at, &fault);
		if (len == 0) {
			buf_add_byte(&out, text.data[at++]);
			continue;
		}
		right = fault.kind == FAULT_PARAM  ? param_value(matrix, fault.name, &value)
			: fault.kind == FAULT_AXIS ? axis_value(matrix, fault.name, place, &value)
						   : false;
		if (right && out.len + value.len > LIMIT_COMMAND_MAX) {
			fault.kind = FAULT_LENGTH;
			right = false;
		}
		if (!right) {
			*ret_fault = fault;
			break;
		}
		buf_add_slice(&out, value);
		at += len;
		changed = true;
	}
	if (right)
		*ret = changed ? arena_copy(arena, buf_slice(&out)) : text;
	buf_free(&out);
	return right;
}

static struct slice fill(const struct dag_matrix *matrix, struct slice text, uint64_t place, struct arena *arena)
{
	struct matrix_fault fault;
	struct slice filled = text;

	CHECK(matrix_expand(matrix, text, place, arena, &filled, &fault));
	return filled;
}

static struct slice_list fill_list(const struct dag_matrix *matrix, struct slice_list list, size_t from, uint64_t place,
				   struct arena *arena)
{
	struct slice_list filled = { .n = list.n };

	if (list.n == 0)
		return filled;
	filled.at = arena_zalloc(arena, list.n, sizeof(*filled.at));
	for (size_t i = 0; i < list.n; i++)
		filled.at[i] = i < from ? list.at[i] : fill(matrix, list.at[i], place, arena);
	return filled;
}

/* Bring the labels that have their values now into the form of the wire. The master refuses those that have no valid form. */
static void labels_read(struct slice_list labels, struct arena *arena)
{
	struct error why;

	for (size_t i = 0; i < labels.n; i++)
		(void)label_parse(labels.at[i], arena, &labels.at[i], &why);
}

void matrix_fill(const struct dag_node *node, uint64_t place, struct arena *arena, struct dag_node *ret)
{
	const struct dag_matrix *matrix = node->matrix;
	struct dag_node filled = *node;

	filled.command = fill(matrix, node->command, place, arena);
	filled.words = fill_list(matrix, node->words, 0, place, arena);
	filled.env = fill_list(matrix, node->env, 0, place, arena);
	filled.sub_given = fill_list(matrix, node->sub_given, 0, place, arena);
	filled.dir = fill(matrix, node->dir, place, arena);
	filled.labels = fill_list(matrix, node->labels, matrix->labels_fixed ? node->labels.n : 0, place, arena);
	labels_read(filled.labels, arena);
	filled.concurrency = fill_list(matrix, node->concurrency, 0, place, arena);
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->shape == SHAPE_TEXT && setting_plain_said(setting, &filled.plain))
			*setting_text(setting, &filled.plain) = fill(matrix, *setting_text(setting, &filled.plain), place, arena);
	}
	filled.locks = fill_list(matrix, node->locks, 0, place, arena);
	*ret = filled;
}
