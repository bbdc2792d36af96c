/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as an expression of --where, and as the code of one. A text is refused with the place of the mistake within it, or
 * is evaluated within its steps. Accepted code can be walked through, encoding its steps again gives the same bytes, and it is
 * evaluated within its steps.
 */
#include "base/check.h"
#include "cli/show/where.h"
#include "lang/pattern.h"
#include "proto/expr_value.h"
#include "proto/limits.h"

#define NAMES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct column columns[NAMES] = {
	{ "name", NULL, false }, { "state", NULL, false }, { "age_ms", NULL, false }, { "labels", NULL, false },
};

static void name_value(void *arg, const struct expr_value_step *name, struct arena *arena, struct expr_value *ret)
{
	(void)arg;
	(void)arena;
	CHECK(name->a < NAMES);
	if (name->a % 2)
		*ret = (struct expr_value){ .kind = EXPR_TEXT, .text = slice_str("17") };
}

static void try_code(struct slice code)
{
	struct expr_world world = { .name_cb = name_value, .search_cb = pattern_found, .steps = 20000 };
	struct buf again = { 0 };
	struct slice rest = code;
	struct expr_value_step step;
	struct arena arena = { 0 };

	if (expr_value_fault(code, NAMES, true) == NULL) {
		while (expr_value_next(&rest, &step))
			expr_value_put(&again, &step);
		CHECK(rest.len == 0 && slice_eq(code, buf_slice(&again)));
		CHECK(!expr_value_true(code, &world, &arena) || !world.spent);
	}
	arena_free(&arena);
	buf_free(&again);
}

static void try_text(struct slice bytes)
{
	struct error error = { .code = ERR_NONE };
	struct slice label = slice_str("gpu");
	struct arena arena = { 0 };
	struct records records;
	struct dag_spot spot;
	struct where where;
	const char *text = arena_strdup(&arena, bytes);

	if (where_read(&where, text, columns, NAMES, 1000000, &arena, &spot, &error) != ERR_NONE) {
		CHECK(error.code == ERR_USAGE && error.text[0] != '\0' && spot.at <= strlen(text) && spot.len > 0);
	} else {
		records_begin(&records, columns, NAMES, &arena);
		records_text(&records, slice_str("encode[7]"));
		records_state(&records, &state_table[STATE_FAILED], "failed");
		records_none(&records);
		records_texts(&records, (struct slice_list){ &label, 1 });
		where_keeps(&where, &records);
	}
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 4096)
		return 0;
	try_code(slice_make(data, size));
	try_text(slice_make(data, size));
	return 0;
}
