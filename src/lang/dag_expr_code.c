/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns a condition over names into edges, and into code over the needs of one job. */
#include "lang/dag_expr_internal.h"

#include "base/check.h"

struct coder {
	const struct dagline *dag;       /* graph of the job; NULL: the condition is about the job's own end */
	const struct dag_node *node;
	uint64_t *starts;                /* for each need, the index of its first job among all needed jobs */
	struct buf code;
};

static bool plain_state(const struct dag_expr *expr, enum trigger *ret)
{
	for (int trigger = TRIGGER_OK; expr->kind == DAG_STATE && trigger <= TRIGGER_DONE; trigger++) {
		if (expr->mask == expr_mask((enum trigger)trigger)) {
			*ret = (enum trigger)trigger;
			return true;
		}
	}
	return false;
}

bool dag_expr_plain(const struct dag_expr *expr)
{
	enum trigger trigger;

	if (expr->kind != DAG_GATE)
		return plain_state(expr, &trigger);
	for (size_t i = 0; i < expr->of_count; i++)
		if ((expr->least != 0 && (expr->least != expr->of_count || expr->of[i]->each)) ||
		    !dag_expr_plain(expr->of[i]))
			return false;
	return true;
}

/* Add edges from all jobs that a question names. */
static bool ask_edges(struct dag_reader *reader, const struct expr_node *node, const struct dag_name *child)
{
	if (node->is_name && node->of_name != NULL)
		return dag_add_edge(reader, &(struct dag_edge){ node->of_name->index, child->index, TRIGGER_EXPR, true, node->spot.at });
	for (size_t i = 0; i < node->of_count; i++)
		if (!ask_edges(reader, node->of[i], child))
			return false;
	return true;
}

bool dag_expr_edges(struct dag_reader *reader, const struct dag_expr *expr, const struct dag_name *child, bool plain)
{
	struct dag_edge edge = { expr->parent, child->index, TRIGGER_EXPR, true, expr->spot.at };

	if (expr->kind == DAG_ASK)
		return ask_edges(reader, expr->asked, child);

	if (expr->kind == DAG_STATE || expr->kind == DAG_CODE) {
		if (plain && plain_state(expr, &edge.trigger))
			edge.said = expr->said;
		return dag_add_edge(reader, &edge);
	}
	for (size_t i = 0; i < expr->of_count; i++)
		if (!dag_expr_edges(reader, expr->of[i], child, plain))
			return false;
	return true;
}

/* ---- code ---- */

static uint64_t need_start(const struct coder *coder, uint32_t parent)
{
	size_t low = 0, high;

	if (coder->dag == NULL)
		return 0;
	high = coder->node->need_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (coder->node->needs[middle].parent <= parent)
			low = middle;
		else
			high = middle;
	}
	CHECK(coder->node->needs[low].parent == parent);
	return coder->starts[low];
}

/* Write the code of a STATE node; return the number of values that it leaves on the stack. */
static uint64_t put_state(struct coder *coder, const struct dag_expr *expr)
{
	uint64_t width = coder->dag == NULL ? 1 : dag_need_width(coder->dag->nodes[expr->parent]);

	expr_put(&coder->code, (struct expr_step){ .op = EXPR_STATE, .a = need_start(coder, expr->parent), .b = width,
						   .c = expr->mask });
	if (width == 1 || expr->each)
		return width;
	/* The name of a fan-out means that all of its jobs are in the state. */
	expr_put(&coder->code, (struct expr_step){ .op = EXPR_GATE, .a = width, .b = width });
	return 1;
}

/* Give the names of a question the numbers of their needs. */
static void number_names(const struct coder *coder, struct expr_node *node)
{
	if (node->is_name)
		node->name = node->of_name ? need_start(coder, node->of_name->index) : 0;
	for (size_t i = 0; i < node->of_count; i++)
		number_names(coder, node->of[i]);
}

static void put_question(struct coder *coder, const struct dag_expr *expr)
{
	struct buf question = { 0 };

	number_names(coder, expr->asked);
	expr_compile(expr->asked, &question);
	expr_put_ask(&coder->code, buf_slice(&question));
	buf_free(&question);
}

static uint64_t put_expr(struct coder *coder, const struct dag_expr *expr)
{
	uint64_t values = 0;

	switch (expr->kind) {
	case DAG_CONST:
		expr_put(&coder->code, (struct expr_step){ .op = expr->value ? EXPR_TRUE : EXPR_FALSE });
		return 1;
	case DAG_STATE:
		return put_state(coder, expr);
	case DAG_CODE:
		expr_put(&coder->code, (struct expr_step){ .op = EXPR_CODE, .a = need_start(coder, expr->parent),
							   .b = expr->compare, .c = expr->code });
		return 1;
	case DAG_ASK:
		put_question(coder, expr);
		return 1;
	case DAG_NOT:
		put_expr(coder, expr->of[0]);
		expr_put(&coder->code, (struct expr_step){ .op = EXPR_NOT });
		return 1;
	case DAG_GATE:
		for (size_t i = 0; i < expr->of_count; i++)
			values += put_expr(coder, expr->of[i]);
		/* A least of 0 means all of them. */
		expr_put(&coder->code, (struct expr_step){ .op = EXPR_GATE, .a = expr->least ? expr->least : values, .b = values });
		return 1;
	}
	return 0;
}

struct slice dag_expr_code(const struct dagline *dag, const struct dag_node *node, const struct dag_expr *expr,
			   struct arena *arena)
{
	struct coder coder = { .dag = dag, .node = node };
	struct slice code;
	uint64_t start = 0;

	coder.starts = arena_alloc(arena, (node->need_count + 1) * sizeof(*coder.starts));
	for (size_t i = 0; i < node->need_count; i++) {
		coder.starts[i] = start;
		start += dag_need_width(dag->nodes[node->needs[i].parent]);
	}
	put_expr(&coder, expr);
	code = arena_copy(arena, buf_slice(&coder.code));
	buf_free(&coder.code);
	return code;
}

struct slice dag_expr_own_code(const struct dag_expr *expr, struct arena *arena)
{
	struct coder coder = { 0 };
	struct slice code;

	put_expr(&coder, expr);
	code = arena_copy(arena, buf_slice(&coder.code));
	buf_free(&coder.code);
	return code;
}

/* ---- conditions as text; names is NULL for a condition about the job's own end ---- */

static void text_add(struct buf *out, const struct dag_name *const *names, const struct dag_expr *expr, bool inner);

static void gate_text(struct buf *out, const struct dag_name *const *names, const struct dag_expr *expr, bool inner)
{
	bool all = expr->least == 0 || expr->least == expr->of_count, one = expr->least == 1;
	bool listed = (!all && !one) || expr->of[0]->each;

	if (listed && expr->least == 0)
		buf_add_str(out, "all of ");
	else if (listed)
		buf_addf(out, "%llu of ", (unsigned long long)expr->least);
	if (listed || inner)
		buf_add_byte(out, '(');
	for (size_t i = 0; i < expr->of_count; i++) {
		if (i > 0)
			buf_add_str(out, listed ? ", " : all ? " && " : " || ");
		text_add(out, names, expr->of[i], !listed);
	}
	if (listed || inner)
		buf_add_byte(out, ')');
}

static void compared_text(struct buf *out, const struct dag_expr *expr, const char *compare)
{
	buf_add_byte(out, '\'');
	buf_add_slice(out, expr->left);
	buf_addf(out, "' %s '", compare);
	buf_add_slice(out, expr->right);
	buf_add_byte(out, '\'');
}

static void code_text(struct buf *out, const struct dag_name *const *names, const struct dag_expr *expr)
{
	if (names != NULL) {
		buf_add_slice(out, names[expr->parent]->node.name);
		buf_add_byte(out, '.');
	}
	buf_add_str(out, "code");
}

/* Write jobs.JOB.state in [..] for a set of states that is the union of several results. */
static void states_text(struct buf *out, const struct dag_name *name, uint32_t mask)
{
	static const char *const words[] = { "done", "ok", "failed", "cancelled", "skipped", "timed_out", "denied" };
	const char *before = "";
	uint32_t one = 0;

	buf_add_str(out, "jobs.");
	buf_add_slice(out, name->node.name);
	buf_add_str(out, ".state in [");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!mask_by_name(slice_str(words[i]), &one) || (one & mask) != one)
			continue;
		buf_addf(out, "%s%s", before, words[i]);
		mask &= ~one;
		before = ", ";
	}
	buf_add_byte(out, ']');
}

static void state_text(struct buf *out, const struct dag_name *const *names, const struct dag_expr *expr)
{
	enum trigger trigger;
	bool plain = plain_state(expr, &trigger);

	if (!plain && (expr->mask & (expr->mask - 1)) != 0) {
		states_text(out, names[expr->parent], expr->mask);
		return;
	}
	if (names != NULL)
		buf_add_slice(out, names[expr->parent]->node.name);
	if (plain && trigger == TRIGGER_OK) {
		buf_add_str(out, names != NULL ? "" : "ok");
		return;
	}
	if (names != NULL)
		buf_add_byte(out, ':');
	if (plain)
		buf_add_str(out, trigger == TRIGGER_FAILED ? "failed" : "done");
	else
		buf_add_str(out, state_table[__builtin_ctz(expr->mask)].name);
}

static void unequal_text(struct buf *out, const struct dag_name *const *names, const struct dag_expr *expr)
{
	if (expr->kind == DAG_CODE) {
		code_text(out, names, expr);
		buf_addf(out, " != %llu", (unsigned long long)expr->code);
	} else {
		compared_text(out, expr, "!=");
	}
}

static void text_add(struct buf *out, const struct dag_name *const *names, const struct dag_expr *expr, bool inner)
{
	static const char *const compares[] = { "==", "<", "<=", ">", ">=" };

	switch (expr->kind) {
	case DAG_ASK:
		/* A comparison or call binds more strongly than && and ||. */
		expr_write(out, expr->asked, false);
		break;
	case DAG_CONST:
		if (expr->asked != NULL)
			expr_write(out, expr->asked, false);
		else if (expr->left.len == 0 && expr->right.len == 0)
			buf_add_str(out, expr->value ? "true" : "false");
		else
			compared_text(out, expr, compares[expr->compare]);
		break;
	case DAG_STATE:
		state_text(out, names, expr);
		break;
	case DAG_CODE:
		code_text(out, names, expr);
		buf_addf(out, " %s %llu", compares[expr->compare], (unsigned long long)expr->code);
		break;
	case DAG_NOT:
		if (expr->unequal) {
			unequal_text(out, names, expr->of[0]);
			break;
		}
		buf_add_byte(out, '!');
		text_add(out, names, expr->of[0], true);
		break;
	case DAG_GATE:
		gate_text(out, names, expr, inner);
		break;
	}
}

static struct slice text_of(const struct dag_name *const *names, const struct dag_expr *expr, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	text_add(&text, names, expr, false);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct slice dag_expr_text(const struct dag_reader *reader, const struct dag_expr *expr)
{
	return text_of((const struct dag_name *const *)reader->list, expr, reader->arena);
}

struct slice dag_expr_own_text(const struct dag_expr *expr, struct arena *arena)
{
	return text_of(NULL, expr, arena);
}
