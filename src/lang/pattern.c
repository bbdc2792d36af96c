/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only file that uses PCRE2. */
#include "lang/pattern.h"

#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/check.h"
#include "proto/limits.h"

#define DEPTH_MAX 1000                   /* nesting of the search */
#define NESTED_MAX 50                    /* parentheses within parentheses */
#define HEAP_KIB 4096

static pcre2_code *compile(struct slice pattern, int *ret_code, size_t *ret_at)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	pcre2_code *code;

	CHECK(context != NULL);
	pcre2_set_parens_nest_limit(context, NESTED_MAX);
	pcre2_set_max_pattern_length(context, LIMIT_PATTERN_MAX);
	code = pcre2_compile(pattern.len > 0 ? pattern.data : (const uint8_t *)"", pattern.len,
			     PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY, ret_code, ret_at, context);
	pcre2_compile_context_free(context);
	return code;
}

bool pattern_check(struct slice pattern, size_t *ret_at, char ret_fault[PATTERN_FAULT_SIZE])
{
	int wrong = 0;
	pcre2_code *code;

	*ret_at = 0;
	if (pattern.len > LIMIT_PATTERN_MAX) {
		snprintf(ret_fault, PATTERN_FAULT_SIZE, "a pattern may have at most %d bytes", LIMIT_PATTERN_MAX);
		return false;
	}
	code = compile(pattern, &wrong, ret_at);
	if (code == NULL && pcre2_get_error_message(wrong, (PCRE2_UCHAR *)ret_fault, PATTERN_FAULT_SIZE) < 0)
		ret_fault[0] = '\0';
	if (*ret_at > pattern.len)
		*ret_at = pattern.len;
	pcre2_code_free(code);
	return code != NULL;
}

enum pattern_result pattern_search(struct slice pattern, struct slice text)
{
	pcre2_match_context *context;
	pcre2_match_data *data;
	pcre2_code *code;
	int result;
	size_t at;

	if (text.len > LIMIT_PATTERN_TEXT_MAX || pattern.len > LIMIT_PATTERN_MAX)
		return PATTERN_TOO_LONG;
	code = compile(pattern, &result, &at);
	if (code == NULL)
		return PATTERN_WRONG;
	context = pcre2_match_context_create(NULL);
	data = pcre2_match_data_create(1, NULL);
	CHECK(context != NULL && data != NULL);
	pcre2_set_match_limit(context, LIMIT_PATTERN_STEPS);
	pcre2_set_depth_limit(context, DEPTH_MAX);
	pcre2_set_heap_limit(context, HEAP_KIB);
	result = pcre2_match(code, text.len > 0 ? text.data : (const uint8_t *)"", text.len, 0, 0, data, context);
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	pcre2_code_free(code);
	if (result >= 0)
		return PATTERN_FOUND;
	if (result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_DEPTHLIMIT || result == PCRE2_ERROR_HEAPLIMIT)
		return PATTERN_TOO_LONG;
	return PATTERN_ABSENT;
}

bool pattern_found(struct slice pattern, struct slice text, bool *ret_spent)
{
	enum pattern_result result = pattern_search(pattern, text);

	*ret_spent = result == PATTERN_TOO_LONG;
	return result == PATTERN_FOUND;
}
