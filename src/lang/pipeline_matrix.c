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

/*
 * Does {WORD. begin here, behind a dollar, with a WORD that has a meaning, or that people mean for params or matrix, or know
 * from other tools? Return the length of {WORD. then, else 0.
 */
static size_t root_len(struct slice text, size_t at, enum matrix_kind *ret_kind)
{
	static const struct {
		const char *word;
		enum matrix_kind kind;
	} roots[] = {
		{ "params.", FAULT_PARAM }, { "matrix.", FAULT_AXIS }, { "run.", FAULT_RUN }, { "param.", FAULT_ROOT },
		{ "parameters.", FAULT_ROOT }, { "parameter.", FAULT_ROOT }, { "inputs.", FAULT_ROOT }, { "input.", FAULT_ROOT },
		{ "vars.", FAULT_ROOT }, { "secrets.", FAULT_ROOT }, { "github.", FAULT_ROOT }, { "steps.", FAULT_ROOT },
		{ "needs.", FAULT_ROOT }, { "jobs.", FAULT_OUTPUT }, { "job.", FAULT_ROOT }, { "outputs.", FAULT_ROOT },
		{ "matrices.", FAULT_ROOT }, { "runs.", FAULT_ROOT }, { "{", FAULT_ROOT },
	};

	for (size_t i = 0; at < text.len && text.data[at] == '{' && i < sizeof(roots) / sizeof(roots[0]); i++) {
		if (!take_word(text, at + 1, roots[i].word))
			continue;
		*ret_kind = roots[i].kind;
		return 1 + strlen(roots[i].word);
	}
	return 0;
}

/* Read the reference that begins at the dollar; return its length, or 0 if the dollar has no meaning here. */
static size_t read_dollar(struct slice text, size_t at, struct matrix_ref *ref)
{
	size_t brace = at + 1, lead;
	const uint8_t *end;
	const char *close;

	while (brace < text.len && text.data[brace] == '\\')
		brace++;
	lead = root_len(text, brace, &ref->kind);
	if (lead == 0)
		return 0;
	ref->at = at;
	if (brace > at + 1) {
		/* Of $\{params. only the backslash goes. */
		ref->kind = REF_LITERAL;
		ref->len = brace - at;
		ref->name = slice_make(text.data + at + 1, ref->len - 2);
		return ref->len;
	}
	close = take_word(text, at, "${{") ? "}}" : "}";
	end = memmem(text.data + at, text.len - at, close, strlen(close));
	ref->len = end ? (size_t)(end - (text.data + at)) + strlen(close) : text.len - at;
	ref->name = slice_make(text.data + at, ref->len);
	if (ref->kind != FAULT_ROOT)
		ref->name = slice_make(text.data + at + 1 + lead, ref->len - 1 - lead - (end != NULL));
	return ref->len;
}

bool matrix_next(struct slice text, size_t from, struct matrix_ref *ret)
{
	while (from < text.len) {
		const uint8_t *dollar = memchr(text.data + from, '$', text.len - from);

		if (dollar == NULL)
			return false;
		if (read_dollar(text, (size_t)(dollar - text.data), ret) > 0)
			return true;
		from = (size_t)(dollar - text.data) + 1;
	}
	return false;
}

struct slice_list matrix_values(const struct dag_matrix *matrix, const struct matrix_ref *ref)
{
	size_t count = ref->kind == FAULT_PARAM ? matrix->param_count : ref->kind == FAULT_AXIS ? matrix->axis_count : 0;
	const struct dag_values *list = ref->kind == FAULT_PARAM ? matrix->params : matrix->axes;

	for (size_t i = 0; i < count; i++)
		if (slice_eq(list[i].name, ref->name))
			return list[i].values;
	return (struct slice_list){ 0 };
}

struct slice matrix_taken(const struct dag_matrix *matrix, const struct matrix_ref *ref)
{
	for (size_t i = 0; ref->kind == FAULT_PARAM && i < matrix->param_count; i++)
		if (slice_eq(matrix->params[i].name, ref->name))
			return matrix->params[i].taken;
	return slice_make(NULL, 0);
}

void matrix_escape(struct slice text, struct buf *out)
{
	size_t from = 0;
	struct matrix_ref ref;

	while (matrix_next(text, from, &ref)) {
		buf_add(out, text.data + from, ref.at - from);
		buf_add_str(out, "$\\");
		from = ref.at + 1;
	}
	if (text.len > 0)
		buf_add(out, text.data + from, text.len - from);
}

static bool ref_value(const struct dag_matrix *matrix, const struct matrix_ref *ref, uint64_t place, struct slice *ret)
{
	return ref->kind == FAULT_PARAM ? param_value(matrix, ref->name, ret) : ref->kind == FAULT_AXIS && axis_value(matrix, ref->name, place, ret);
}

bool matrix_check(const struct dag_matrix *matrix, struct slice text, struct matrix_ref *ret_wrong)
{
	struct slice value;

	for (size_t from = 0; matrix_next(text, from, ret_wrong); from = ret_wrong->at + ret_wrong->len)
		if (ret_wrong->kind != REF_LITERAL && ret_wrong->kind != FAULT_OUTPUT &&
		    !ref_value(matrix, ret_wrong, MATRIX_LONGEST, &value))
			return false;
	return true;
}

bool matrix_expand(const struct dag_matrix *matrix, struct slice text, uint64_t place, struct arena *arena,
		   struct slice *ret, struct matrix_ref *ret_wrong)
{
	struct matrix_ref ref;
	struct buf out = { 0 };
	bool right = true;
	size_t from = 0;

	while (right && matrix_next(text, from, &ref)) {
		struct slice value = ref.name;

		buf_add(&out, text.data + from, ref.at - from);
		from = ref.at + ref.len;
		if (matrix_taken(matrix, &ref).len > 0)
			ref.kind = FAULT_OUTPUT;
		right = ref.kind == REF_LITERAL || ref_value(matrix, &ref, place, &value);
		if (ref.kind == REF_LITERAL)
			buf_add_byte(&out, '$');
		if (right && out.len + value.len > LIMIT_COMMAND_MAX) {
			ref.kind = FAULT_LENGTH;
			right = false;
		}
		if (right)
			buf_add_slice(&out, value);
		else
			*ret_wrong = ref;
	}
	if (right && from > 0)
		buf_add(&out, text.data + from, text.len - from);
	if (right)
		*ret = from > 0 ? arena_copy(arena, buf_slice(&out)) : text;
	buf_free(&out);
	return right;
}

static struct slice fill(const struct dag_matrix *matrix, struct slice text, uint64_t place, struct arena *arena)
{
	struct matrix_ref wrong;
	struct slice filled = text;

	CHECK(matrix_expand(matrix, text, place, arena, &filled, &wrong));
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
	filled.kv_read = fill_list(matrix, node->kv_read, 0, place, arena);
	filled.kv_write = fill_list(matrix, node->kv_write, 0, place, arena);
	filled.artifacts = fill_list(matrix, node->artifacts, 0, place, arena);
	*ret = filled;
}
