/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Expressions as people write them, in conditions of pipelines and after --where: state == failed and age > 5m. One
 * grammar for all; a scope says what names mean where the expression stands. An expression is parsed to a tree, its
 * types are checked, and it is compiled to the code of proto/expr_value.h.
 */
#ifndef TITAN_LANG_EXPR_H
#define TITAN_LANG_EXPR_H

#include "lang/dagline_internal.h"
#include "proto/expr_value.h"

enum expr_operator {
#define OPERATOR(NAME, LEVEL, step, symbol, other, example, meaning) EXPR_OP_##NAME,
#include "lang/expr_words.def"
	EXPR_OPERATOR_COUNT
};

enum expr_function {
#define FUNCTION(NAME, step, word, example, meaning) EXPR_CALL_##NAME,
#include "lang/expr_words.def"
	EXPR_FUNCTION_COUNT
};

enum expr_type {
#define TYPE(NAME, name, written) EXPR_TYPE_##NAME,
#include "lang/expr_words.def"
	EXPR_TYPE_COUNT
};

enum expr_level { EXPR_LEVEL_OR, EXPR_LEVEL_AND, EXPR_LEVEL_NOT, EXPR_LEVEL_COMPARE, EXPR_LEVEL_SUM };

struct expr_operator_info {
	enum expr_level level;
	enum expr_value_op step;
	const char *symbol, *other, *example, *meaning;
};

struct expr_function_info {
	enum expr_value_op step;
	const char *word, *example, *meaning;
};

extern const struct expr_operator_info expr_operators[EXPR_OPERATOR_COUNT];
extern const struct expr_function_info expr_functions[EXPR_FUNCTION_COUNT];
extern const char *const expr_type_names[EXPR_TYPE_COUNT];

enum expr_node_kind { EXPR_WORD, EXPR_STRING, EXPR_ITEMS, EXPR_JOINED, EXPR_NOT_OF, EXPR_PAIR, EXPR_CALL_OF };

struct expr_node {
	enum expr_node_kind kind;
	enum expr_operator op;           /* of JOINED (OR, AND) and PAIR */
	enum expr_function call;
	struct dag_spot spot;
	struct slice text;               /* of WORD and STRING, with parameters put in */
	bool put_in;                     /* a parameter was put in, so a WORD isn't a name */
	bool asks_result;                /* WORD:result was written */
	struct slice result;
	struct dag_spot result_spot;
	struct expr_node **of;
	size_t of_count;
	/* what the type checker found */
	enum expr_type type;
	bool is_name;                    /* a WORD whose value the scope knows; else text has its value, as it is compiled */
	uint64_t name;                   /* its number */
	struct slice name_text;
	/* of a condition: the job whose value it is, the number of jobs if that is a fan-out, and whether it is the exit code */
	struct dag_name *of_name;
	uint64_t width;
	bool is_exit;
};

struct expr_scope {
	const char *operand;             /* what an operand is, for an error: "a job's name" */
	const char *joint;               /* the error where the next operator must stand */
	bool results;                    /* WORD:result is allowed, and WORD[..] is told to be no fan-out */
	int64_t now_ms;                  /* for texts that are times; 0: there are no times here */
	/*
	 * Set type, name and name_text of a word that is a name, and *ret_known. A name that is almost known may be refused with
	 * an error.
	 */
	enum err (*name_cb)(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *word, bool *ret_known);
	/* Fail because there is no such name. */
	enum err (*unknown_cb)(const struct expr_scope *scope, struct dag_reader *reader, const struct expr_node *word);
	/* The state that a word stands for when it is compared with this name; NULL: there is none. */
	const char *(*state_cb)(const struct expr_scope *scope, const struct expr_node *name, struct slice word);
	void *arg;
};

struct expr_input {
	struct dag_reader *reader;       /* gets the error and its place */
	struct slice text;
	/* Place of the expression in the file. If its length equals the text's, the bytes there are the text unchanged. */
	struct dag_spot spot;
	const struct expr_scope *scope;
	/* Called to replace words that contain ${..}; NULL: such words are refused. */
	enum err (*expand_cb)(void *arg, struct slice word, struct dag_spot spot, struct slice *ret);
	void *arg;
};

enum err expr_parse(const struct expr_input *input, struct expr_node **ret);
/* Check the types of a tree, whose value must be a truth value. */
enum err expr_check_types(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *node);
/* Find the type of a part of a tree. */
enum err expr_type_of(const struct expr_scope *scope, struct dag_reader *reader, struct expr_node *node);
/* Compile a checked tree. */
void expr_compile(const struct expr_node *node, struct buf *code);
/* Write a tree as a person would. inner: it is a part of another one. */
void expr_write(struct buf *out, const struct expr_node *node, bool inner);
/* Write the words of expressions for titan help expressions: one call of line_cb for each. */
void expr_words(void (*line_cb)(void *arg, const char *heading, const char *word, const char *meaning), void *arg);

#endif
