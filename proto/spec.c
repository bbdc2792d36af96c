/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.def and kinds.def as tables, and functions that work on any setting without knowing its name. */
#include "proto/spec.h"

#include "proto/input.h"
#include "proto/limits.h"
#include "proto/output_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/text.h"

static const struct {
	const char *name, *text;
} kinds[KIND_COUNT] = {
	[KIND_UNSAID] = { "unsaid", "not said" },
#define KIND(NAME, name, text) [KIND_##NAME] = { #name, text },
#include "proto/kinds.def"
#undef KIND
};

#define PLAIN_OWN(field) SIZE_MAX
#define PLAIN_TEXT(field) offsetof(struct rec_job_settings, field)
#define PLAIN_SPAN(field) offsetof(struct rec_job_settings, field)
#define PLAIN_TIME(field) offsetof(struct rec_job_settings, field)

const struct setting setting_table[] = {
#define SETTING(TYPE, key, field, YAML, LINE, SHAPE, KINDS, DEFAULT, wire, text) \
	{ #field, YAML, LINE, SHAPE_##SHAPE, KINDS, DEFAULT, text, offsetof(struct rec_job_spec, field), \
	  PLAIN_##SHAPE(field), TYPE_##TYPE },
#include "proto/spec.def"
#undef SETTING
};

const size_t setting_count = sizeof(setting_table) / sizeof(setting_table[0]);

const char *job_kind_name(enum job_kind kind)
{
	return kind < KIND_COUNT ? kinds[kind].name : "?";
}

const char *job_kind_text(enum job_kind kind)
{
	return kind < KIND_COUNT ? kinds[kind].text : "?";
}

enum job_kind spec_kind(const struct rec_job_spec *spec)
{
	if (spec->kind != KIND_UNSAID && spec->kind < KIND_COUNT)
		return (enum job_kind)spec->kind;
	if (spec->sub_count > 0)
		return KIND_SUBRUN;
	if (spec->argv.n > 0)
		return KIND_COMMAND;
	if (spec->script.len > 0)
		return KIND_SCRIPT;
	return spec->gate_count > 0 ? KIND_GATE : KIND_UNSAID;
}

static struct slice variable_name(struct slice entry)
{
	const uint8_t *equals = entry.len > 0 ? memchr(entry.data, '=', entry.len) : NULL;

	return slice_make(entry.data, equals ? (size_t)(equals - entry.data) : entry.len);
}

static int name_order(const void *a, const void *b)
{
	const struct slice *one = a, *other = b;
	size_t least = one->len < other->len ? one->len : other->len;
	int order = least > 0 ? memcmp(one->data, other->data, least) : 0;

	return order != 0 ? order : (one->len > other->len) - (one->len < other->len);
}

void spec_complete(struct rec_job_spec *spec, const struct rec_run_context *context, struct arena *arena)
{
	struct slice_list env = { .n = spec->env.n };
	struct slice *names;

	if (spec->dir.len == 0)
		spec->dir = context->dir.len > 0 ? context->dir : context->here_dir;
	if (context->env.n + context->here_env.n == 0)
		return;
	env.at = arena_alloc(arena, (spec->env.n + context->env.n + context->here_env.n) * sizeof(*env.at));
	names = arena_alloc(arena, (spec->env.n + 1) * sizeof(*names));
	for (size_t i = 0; i < spec->env.n; i++) {
		env.at[i] = spec->env.at[i];
		names[i] = variable_name(spec->env.at[i]);
	}
	/* Sort the names, so that a lookup is quick even among many variables. */
	if (spec->env.n > 1)
		qsort(names, spec->env.n, sizeof(*names), name_order);
	for (size_t i = 0; i < context->env.n + context->here_env.n; i++) {
		struct slice entry = i < context->env.n ? context->env.at[i] : context->here_env.at[i - context->env.n];
		struct slice name = variable_name(entry);

		if (spec->env.n == 0 || !bsearch(&name, names, spec->env.n, sizeof(*names), name_order))
			env.at[env.n++] = entry;
	}
	spec->env = env;
}

bool setting_is_said(const struct setting *setting, const struct rec_job_spec *spec)
{
	const void *at = (const uint8_t *)spec + setting->offset;

	switch (setting->type) {
	case TYPE_U64: return *(const CTYPE_U64 *)at != 0;
	case TYPE_I64: return *(const CTYPE_I64 *)at != 0;
	case TYPE_BOOL: return *(const CTYPE_BOOL *)at;
	case TYPE_STR: return ((const CTYPE_STR *)at)->len > 0;
	case TYPE_BIN: return ((const CTYPE_BIN *)at)->len > 0;
	case TYPE_U64S: return ((const CTYPE_U64S *)at)->n > 0;
	case TYPE_STRS: return ((const CTYPE_STRS *)at)->n > 0;
	default: CHECK(false); return false;
	}
}

const struct setting *setting_without_use(const struct rec_job_spec *spec, enum job_kind kind)
{
	for (size_t i = 0; i < setting_count; i++)
		if (!(setting_table[i].kinds & KIND_BIT(kind)) && setting_is_said(&setting_table[i], spec))
			return &setting_table[i];
	return NULL;
}

/* ---- plain settings ---- */

static size_t plain_size(const struct setting *setting)
{
	return setting->shape == SHAPE_TEXT ? sizeof(struct slice) : sizeof(uint64_t);
}

static const uint8_t *plain_at(const struct setting *setting, const struct rec_job_settings *settings)
{
	CHECK(setting->shape != SHAPE_OWN);
	return (const uint8_t *)settings + setting->plain;
}

bool setting_plain_said(const struct setting *setting, const struct rec_job_settings *settings)
{
	const uint8_t *at = plain_at(setting, settings);

	return setting->shape == SHAPE_TEXT ? ((const struct slice *)at)->len > 0 : *(const uint64_t *)at != 0;
}

void settings_of(const struct rec_job_spec *spec, struct rec_job_settings *ret)
{
	*ret = (struct rec_job_settings){ 0 };
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->shape != SHAPE_OWN)
			memcpy((uint8_t *)ret + setting->plain, (const uint8_t *)spec + setting->offset, plain_size(setting));
	}
}

void settings_give(const struct rec_job_settings *settings, struct rec_job_spec *spec)
{
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->shape != SHAPE_OWN && setting_plain_said(setting, settings))
			memcpy((uint8_t *)spec + setting->offset, plain_at(setting, settings), plain_size(setting));
	}
}

void settings_fill(struct rec_job_settings *settings, const struct rec_job_settings *defaults, unsigned kinds)
{
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->shape != SHAPE_OWN && setting->kinds & kinds && !setting_plain_said(setting, settings))
			memcpy((uint8_t *)settings + setting->plain, plain_at(setting, defaults), plain_size(setting));
	}
}

bool settings_any(const struct rec_job_settings *settings)
{
	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].shape != SHAPE_OWN && setting_plain_said(&setting_table[i], settings))
			return true;
	return false;
}

struct slice *setting_text(const struct setting *setting, struct rec_job_settings *settings)
{
	CHECK(setting->shape == SHAPE_TEXT);
	return (struct slice *)((uint8_t *)settings + setting->plain);
}

int64_t setting_number(const struct setting *setting, const struct rec_job_settings *settings)
{
	int64_t value;

	CHECK(setting->shape != SHAPE_TEXT);
	memcpy(&value, plain_at(setting, settings), sizeof(value));
	return value;
}

void setting_set_number(const struct setting *setting, struct rec_job_settings *settings, int64_t value)
{
	CHECK(setting->shape == SHAPE_SPAN || setting->shape == SHAPE_TIME);
	memcpy((uint8_t *)settings + setting->plain, &value, sizeof(value));
}

void setting_print(const struct setting *setting, const struct rec_job_settings *settings, struct buf *out)
{
	char text[CLOCK_TEXT_SIZE];

	if (setting->shape == SHAPE_TEXT)
		buf_add_slice(out, *(const struct slice *)plain_at(setting, settings));
	else if (setting->shape == SHAPE_SPAN)
		buf_add_str(out, clock_write_span(setting_number(setting, settings), text));
	else
		buf_add_str(out, clock_format_utc(setting_number(setting, settings), text));
}

bool in_read(struct slice text, struct slice *ret_job, struct slice *ret_dir)
{
	const uint8_t *equals = text.len > 0 ? memchr(text.data, '=', text.len) : NULL;

	if (!equals)
		return false;
	*ret_job = slice_make(text.data, (size_t)(equals - text.data));
	*ret_dir = slice_make(equals + 1, text.len - ret_job->len - 1);
	return text_is_job_name(*ret_job) && (ret_dir->len == 0 || input_path_fits(*ret_dir));
}

bool take_read(struct slice text, struct slice *ret_variable, unsigned *ret_up, struct slice *ret_job, struct slice *ret_output)
{
	struct output_ref ref = { 0 };
	struct slice rest;
	bool right = computed_read(text, ret_variable, &rest) && text_is_name(*ret_variable) && output_ref_read(rest, &ref);

	*ret_up = ref.up;
	*ret_job = ref.job;
	*ret_output = ref.output;
	return right;
}

/* ---- interpreters of scripts ---- */

static const struct {
	const char *name, *words[SHELL_WORDS_MAX];
} shells[] = {
	{ "sh", { "/bin/sh", "-eu" } },
	{ "bash", { "bash", "-eu", "-o", "pipefail" } },
	{ "python3", { "python3" } },
};

bool shell_is_good(struct slice shell)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (slice_eq(shell, slice_str(shells[i].name)))
			return true;
	if (shell.len < 2 || shell.len > LIMIT_SHELL_MAX || shell.data[0] != '/' || shell.data[shell.len - 1] == '/')
		return false;
	for (size_t i = 0; i < shell.len; i++)
		if (shell.data[i] <= ' ' || shell.data[i] == 0x7f || shell.data[i] == '$')
			return false;
	return true;
}

bool shell_reads_sh(struct slice shell)
{
	static const char *const names[] = { "sh", "bash", "dash", "ash", "ksh", "mksh", "yash", "zsh" };
	const uint8_t *slash = shell.len > 0 ? memrchr(shell.data, '/', shell.len) : NULL;
	struct slice base = slash ? slice_make(slash + 1, (size_t)(shell.data + shell.len - slash - 1)) : shell;
	bool reads = shell.len == 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		reads = reads || slice_eq(base, slice_str(names[i]));
	return reads;
}

size_t shell_words(struct slice shell, struct slice ret_words[SHELL_WORDS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		for (; slice_eq(shell, slice_str(shells[i].name)) && count < SHELL_WORDS_MAX && shells[i].words[count]; count++)
			ret_words[count] = slice_str(shells[i].words[count]);
	if (count == 0)
		ret_words[count++] = shell;
	return count;
}

bool values_grant_good(struct slice text)
{
	static const char *const spaces[] = { "def:", "cluster:" };

	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		size_t len = strlen(spaces[i]);

		if (text.len >= len && memcmp(text.data, spaces[i], len) == 0)
			return text.len - len <= LIMIT_VALUE_KEY_MAX;
	}
	return false;
}
