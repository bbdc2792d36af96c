/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles --where for the columns of a table, and evaluates it over the cells of a row. */
#include "cli/show/where.h"

#include "base/text.h"
#include "cli/show/records_cell.h"
#include "lang/expr.h"
#include "lang/pattern.h"
#include "proto/limits.h"

enum where_field { FIELD_INT, FIELD_TEXT, FIELD_STATE, FIELD_TIME, FIELD_BOOL, FIELD_LIST };

static const struct {
	const char *key;
	enum where_field type;
} fields[] = {
#define FIELD(name, TYPE, what) { #name, FIELD_##TYPE },
#include "cli/show/fields.def"
#undef FIELD
};

const struct where_alias where_aliases[] = {
	{ "exit", "exit_code" }, { "label", "labels" }, { "try", "tries" }, { "user", "owner" }, { "id", "run" },
};
const size_t where_alias_count = sizeof(where_aliases) / sizeof(where_aliases[0]);

struct columns {
	const struct column *at;
	size_t count;
};

/* ---- names ---- */

static bool is_span(const char *key)
{
	size_t len = strlen(key);

	return len > 3 && strcmp(key + len - 3, "_ms") == 0;
}

static bool is_key(const char *key, struct slice word)
{
	return slice_eq(word, slice_str(key)) || (is_span(key) && slice_eq(word, slice_make(key, strlen(key) - 3)));
}

static size_t column_find(const struct columns *columns, struct slice word)
{
	size_t at = 0;

	while (at < columns->count && !is_key(columns->at[at].key, word))
		at++;
	return at;
}

static enum expr_type type_of(const char *key)
{
	static const enum expr_type types[] = {
		[FIELD_INT] = EXPR_TYPE_NUMBER, [FIELD_TEXT] = EXPR_TYPE_STRING, [FIELD_STATE] = EXPR_TYPE_STATE, [FIELD_TIME] = EXPR_TYPE_TIME,
		[FIELD_BOOL] = EXPR_TYPE_BOOL, [FIELD_LIST] = EXPR_TYPE_LIST,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].key, key) == 0)
			return is_span(key) ? EXPR_TYPE_SPAN : types[fields[i].type];
	return EXPR_TYPE_STRING;
}

static enum err find_field(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *word, bool *ret_known)
{
	const struct columns *columns = scope->arg;
	size_t at = column_find(columns, word->text);

	(void)reader;
	for (size_t i = 0; i < where_alias_count && at == columns->count; i++)
		if (slice_eq(word->text, slice_str(where_aliases[i].word)))
			at = column_find(columns, slice_str(where_aliases[i].key));
	*ret_known = at < columns->count;
	if (*ret_known) {
		word->name = at;
		word->type = type_of(columns->at[at].key);
	}
	return ERR_NONE;
}

static enum err unknown_field(const struct expr_scope *scope, struct dag_reader *reader, const struct expr_node *word)
{
	const struct columns *columns = scope->arg;
	const char **words = arena_zalloc(reader->arena, columns->count + 1, sizeof(*words)), *near;
	int len = (int)(word->text.len < LIMIT_NAME_MAX_LEN ? word->text.len : LIMIT_NAME_MAX_LEN);
	struct buf keys = { 0 };

	for (size_t i = 0; i < columns->count; i++) {
		const char *key = columns->at[i].key;

		words[i] = is_span(key) ? arena_strdup(reader->arena, slice_make(key, strlen(key) - 3)) : key;
		buf_addf(&keys, "%s %s", i > 0 ? "," : "", words[i]);
	}
	near = text_nearest(arena_strdup(reader->arena, word->text), words, columns->count);
	dag_fail(reader, word->spot.at, word->spot.len, ERR_USAGE, "there is no field '%.*s' here; the fields are%s", len,
		 (const char *)word->text.data, buf_cstr(&keys));
	buf_free(&keys);
	if (near != NULL)
		return error_next(reader->error, "did you mean '%s'?", near);
	return error_next(reader->error, "a text stands in quotes: \"%.*s\"", len, (const char *)word->text.data);
}

static const char *find_state(const struct expr_scope *scope, const struct expr_node *name, struct slice word)
{
	uint32_t states, flags;

	(void)scope;
	(void)name;
	if (!state_word((const char *)word.data, word.len, &states, &flags) || states == 0)
		return NULL;
	return state_table[__builtin_ctz(states)].name;
}

enum err where_read(struct where *where, const char *text, const struct column *columns, size_t column_count, int64_t now_ms,
		    struct arena *arena, struct dag_spot *ret_spot, struct error *error)
{
	struct columns names = { columns, column_count };
	const struct expr_scope scope = {
		.operand = "a field", .joint = "an operator is expected here, such as and, or, ==", .now_ms = now_ms, .name_cb = find_field,
		.unknown_cb = unknown_field, .state_cb = find_state, .arg = &names,
	};
	struct dag_reader reader = { .text = slice_str(text), .arena = arena, .error = error };
	const struct expr_input input = {
		.reader = &reader, .text = reader.text, .spot = { 0, reader.text.len }, .scope = &scope,
	};
	struct expr_node *node = NULL;
	struct buf code = { 0 };
	enum err err = ERR_NONE;
	const char *fault;

	*where = (struct where){ .text = reader.text };
	if (reader.text.len > LIMIT_COMMAND_MAX)
		err = dag_fail(&reader, 0, 1, ERR_TOO_LARGE, "an expression may have at most %d bytes", LIMIT_COMMAND_MAX);
	if (err == ERR_NONE)
		err = expr_parse(&input, &node);
	if (err == ERR_NONE)
		err = expr_check_types(&scope, &reader, node);
	if (err == ERR_NONE) {
		expr_compile(node, &code);
		where->code = arena_copy(arena, buf_slice(&code));
		fault = expr_value_fault(where->code, column_count, true);
		if (fault != NULL)
			err = dag_fail(&reader, 0, reader.text.len, ERR_TOO_LARGE, "the expression is too large: %s", fault);
	}
	buf_free(&code);
	*ret_spot = reader.spot;
	/* What is wrong on a command line is an error of usage. */
	if (err != ERR_NONE)
		error->code = ERR_USAGE;
	return err == ERR_NONE ? ERR_NONE : ERR_USAGE;
}

/* ---- values ---- */

static struct expr_value number_of(int64_t number)
{
	return (struct expr_value){ .kind = EXPR_NUMBER, .number = (double)number };
}

static struct expr_value texts_of(const struct record_cell *cell, struct arena *arena)
{
	struct expr_value *items = arena_zalloc(arena, cell->texts.n + 1, sizeof(*items));

	for (size_t i = 0; i < cell->texts.n; i++)
		items[i] = (struct expr_value){ .kind = EXPR_TEXT, .text = cell->texts.at[i] };
	return (struct expr_value){ .kind = EXPR_LIST, .items = items, .count = cell->texts.n };
}

static void cell_value(void *arg, const struct expr_value_step *name, struct arena *arena, struct expr_value *ret)
{
	const struct record_cell *cell = (const struct record_cell *)arg + name->a;

	switch (cell->kind) {
	case CELL_NONE:
		break;
	case CELL_TEXT:
	case CELL_STATE:
		if (cell->text.len > 0)
			*ret = (struct expr_value){ .kind = EXPR_TEXT, .text = cell->text };
		break;
	case CELL_NUMBER:
	case CELL_TIME:
	case CELL_SPAN:
	case CELL_WAIT:
		*ret = number_of(cell->number);
		break;
	case CELL_SHARE:
		*ret = number_of(cell->whole ? cell->number * 100 / cell->whole : 100);
		break;
	case CELL_BOOL:
		*ret = (struct expr_value){ .kind = EXPR_BOOL, .truth = cell->number != 0 };
		break;
	case CELL_TEXTS:
		*ret = texts_of(cell, arena);
		break;
	}
}

bool where_keeps(struct where *where, struct records *records)
{
	struct expr_world world = { .name_cb = cell_value, .search_cb = pattern_found, .steps = LIMIT_EXPR_STEPS };
	struct arena scratch = { 0 };
	bool keeps;

	if (where->text.len == 0)
		return true;
	world.arg = &records->cells[records->cell_count - records->column_count];
	keeps = expr_value_true(where->code, &world, &scratch);
	where->spent = where->spent || world.spent;
	arena_free(&scratch);
	if (!keeps)
		records->cell_count -= records->column_count;
	return keeps;
}
