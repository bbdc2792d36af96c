/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a condition, and as the code of one. A text is refused with the place of the mistake within it, or
 * becomes valid code, and the text that is shown for it parses to the same code. Accepted code can be walked through,
 * and encoding its steps again gives the same bytes.
 */
#include "base/check.h"
#include "base/mem.h"
#include "lang/dag_expr.h"
#include "proto/limits.h"

#define NEEDS 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_code(struct slice code)
{
	struct buf again = { 0 };
	struct slice rest = code;
	struct expr_step step;

	if (expr_check(code, NEEDS, NULL) == ERR_NONE) {
		while (expr_next(&rest, &step)) {
			if (step.op == EXPR_ASK)
				expr_put_ask(&again, expr_asked(&rest, &step));
			else
				expr_put(&again, step);
		}
		CHECK(rest.len == 0 && slice_eq(code, buf_slice(&again)));
	}
	buf_free(&again);
}

/* Compile the text into out, or return an error. */
static enum err compile(struct slice text, struct arena *arena, struct buf *out, struct slice *ret_shown)
{
	static const char *const names[] = { "child", "a", "b.c", "code", "x-1", "true", "fan" };
	struct error error = { .code = ERR_NONE };
	struct dag_reader reader = { .text = text, .arena = arena, .error = &error };
	struct dagline dag = { .node_count = NEEDS };
	struct slice outputs[] = { slice_str("v"), slice_str("w.x") };
	struct expr_source source = { .reader = &reader, .text = text, .spot = { 0, text.len } };
	struct dag_need needs[NEEDS];
	struct dag_expr *expr;
	enum err err;

	dag.nodes = arena_zalloc(arena, NEEDS, sizeof(struct dag_node *));
	for (uint32_t i = 0; i < NEEDS; i++) {
		dag.nodes[i] = &dag_name_get(&reader, slice_str(names[i]), (struct dag_spot){ 0, 1 })->node;
		needs[i] = (struct dag_need){ i, TRIGGER_EXPR };
	}
	dag.nodes[1]->outputs = (struct slice_list){ .at = outputs, .n = 2 };
	dag.nodes[NEEDS - 1]->outputs = dag.nodes[1]->outputs;
	dag.nodes[NEEDS - 1]->fan = true;
	dag.nodes[NEEDS - 1]->width = 3;
	source.child = reader.list[0];
	dag.nodes[0]->needs = needs;
	dag.nodes[0]->need_count = NEEDS;
	err = dag_expr_read(&source, &expr);
	if (err == ERR_NONE) {
		struct slice code = dag_expr_code(&dag, dag.nodes[0], expr, arena);

		CHECK(code.len > LIMIT_EXPR_BYTES_MAX || expr_check(code, NEEDS + 2, &error) == ERR_NONE);
		buf_add_slice(out, code);
		*ret_shown = dag_expr_text(&reader, expr);
	} else {
		CHECK(error.code == err && error.text[0] != '\0');
		CHECK(reader.spot.at <= text.len && reader.spot.len > 0);
	}
	name_map_free(&reader.names);
	mem_free(reader.edges);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice text = slice_make(data, size), shown, twice;
	struct arena arena = { 0 };
	struct buf code = { 0 }, again = { 0 };

	if (size > 4096)
		return 0;
	try_code(text);
	if (compile(text, &arena, &code, &shown) == ERR_NONE) {
		/* Texts are shown in single quotes, so one that contains a single quote can't be parsed again. */
		if (memchr(text.data, '\'', text.len) == NULL && memchr(text.data, '"', text.len) == NULL) {
			CHECK(compile(shown, &arena, &again, &twice) == ERR_NONE);
			CHECK(slice_eq(shown, twice));
		}
	}
	buf_free(&code);
	buf_free(&again);
	arena_free(&arena);
	return 0;
}
