/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec.def and kinds.def as tables, and what every setting allows without being known. */
#include "proto/spec.h"

#include <string.h>

#include "base/check.h"
#include "base/clock.h"

static const struct {
	const char *name, *text;
} kinds[KIND_COUNT] = {
	[KIND_UNSAID] = { "unsaid", "not said" },
#define KIND(NAME, name, text) [KIND_##NAME] = { #name, text },
#include "proto/kinds.def"
#undef KIND
};

const struct setting setting_table[] = {
#define SETTING(TYPE, key, field, YAML, LINE, SHAPE, KINDS, DEFAULT, wire, text) \
	{ #field, YAML, LINE, SHAPE_##SHAPE, KINDS, DEFAULT, text, offsetof(struct rec_job_spec, field), TYPE_##TYPE },
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

bool job_kind_by_name(struct slice name, enum job_kind *ret_kind)
{
	for (unsigned kind = KIND_UNSAID + 1; kind < KIND_COUNT; kind++) {
		if (slice_eq(name, slice_str(kinds[kind].name))) {
			*ret_kind = (enum job_kind)kind;
			return true;
		}
	}
	return false;
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

static size_t type_size(enum field_type type)
{
	switch (type) {
	case TYPE_U64: return sizeof(CTYPE_U64);
	case TYPE_I64: return sizeof(CTYPE_I64);
	case TYPE_BOOL: return sizeof(CTYPE_BOOL);
	case TYPE_STR: return sizeof(CTYPE_STR);
	case TYPE_BIN: return sizeof(CTYPE_BIN);
	case TYPE_U64S: return sizeof(CTYPE_U64S);
	case TYPE_STRS: return sizeof(CTYPE_STRS);
	default: CHECK(false); return 0;
	}
}

void *setting_at(const struct setting *setting, struct rec_job_spec *spec)
{
	return (uint8_t *)spec + setting->offset;
}

const void *setting_read(const struct setting *setting, const struct rec_job_spec *spec)
{
	return (const uint8_t *)spec + setting->offset;
}

bool setting_is_said(const struct setting *setting, const struct rec_job_spec *spec)
{
	const void *at = setting_read(setting, spec);

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

void settings_fill(struct rec_job_spec *spec, const struct rec_job_spec *defaults, unsigned kinds_wanted)
{
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		if (setting->kinds & kinds_wanted && !setting_is_said(setting, spec))
			memcpy(setting_at(setting, spec), setting_read(setting, defaults), type_size(setting->type));
	}
}

void setting_print(const struct setting *setting, const struct rec_job_spec *spec, struct buf *out)
{
	const void *at = setting_read(setting, spec);
	char text[CLOCK_TEXT_SIZE];

	switch (setting->shape) {
	case SHAPE_TEXT:
		buf_add_slice(out, *(const struct slice *)at);
		return;
	case SHAPE_SPAN:
		clock_write_span((int64_t)*(const uint64_t *)at, text);
		break;
	case SHAPE_TIME:
		clock_format_utc(*(const int64_t *)at, text);
		break;
	default:
		CHECK(false);
		return;
	}
	buf_add_str(out, text);
}
