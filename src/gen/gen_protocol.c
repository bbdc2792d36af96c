/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The wire protocol as text, for titan-protocol(7). */
#include "gen/gen.h"

#include <ctype.h>

#include "proto/error.h"
#include "proto/limits.h"
#include "proto/rights.h"

static const char *const types[] = {
	[TYPE_U64] = "number", [TYPE_I64] = "signed", [TYPE_BOOL] = "boolean", [TYPE_STR] = "text",
	[TYPE_BIN] = "bytes", [TYPE_U64S] = "numbers", [TYPE_STRS] = "texts", [TYPE_RECORDS] = "records",
};

/*
 * Fields that contain names. Their writers check them (text_is_name and the like), so they are ASCII. Any other text
 * may come from a command line, a file or a job, and needn't be UTF-8.
 */
static const char *const names[] = {
	"asks", "cluster", "concurrency", "cron", "job", "job_name", "label", "locks", "name", "offers", "only_worker",
	"parent_job", "parents", "pool", "prefer_worker", "run_name", "schedule", "stuck_jobs", "sub_concurrency",
	"sub_name", "target", "tenant", "token", "unblocks", "worker",
};

static bool is_name(const struct field_info *field)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], field->name) == 0)
			return true;
	return false;
}

static const char *type_word(const struct field_info *field)
{
	if (field->type == TYPE_RECORDS)
		return record_shape((enum record_kind)field->record)->name;
	if (field->type == TYPE_STR && is_name(field))
		return "name";
	if (field->type == TYPE_STRS && is_name(field))
		return "names";
	return types[field->type];
}

/* The longer text: a column must be as wide as its widest text. */
static const char *wider(const char *one, const char *other)
{
	return strlen(other) > strlen(one) ? other : one;
}

static const char *sender_name(enum sender from)
{
	switch (from) {
	case FROM_CLIENT:
		return "client";
	case FROM_WORKER:
		return "worker";
	case FROM_MASTER:
		return "master";
	default:
		return "both sides";
	}
}

static void fields(const struct shape *shape, struct buf *out)
{
	const char *widest_name = "", *widest_type = "";

	if (shape->field_count == 0)
		return;
	for (size_t i = 0; i < shape->field_count; i++) {
		widest_name = wider(widest_name, shape->fields[i].name);
		widest_type = wider(widest_type, type_word(&shape->fields[i]));
	}
	buf_addf(out, ".Bl -column xxx %s %s.. must\n", widest_name, widest_type);
	/* Print fields in the order of their keys; the table has them in order of subject. */
	for (unsigned key = 0; key <= UINT8_MAX; key++)
		for (size_t i = 0; i < shape->field_count; i++) {
			const struct field_info *field = &shape->fields[i];

			if (field->key != key)
				continue;
			buf_addf(out, ".It %u Ta %s Ta %s%s Ta %s Ta ", key, field->name, type_word(field),
				 field->type == TYPE_RECORDS ? ".." : "", field->must ? "must" : "may");
			if (field->doc[0])
				gen_text(field->doc, out);
			else
				buf_add_str(out, "\\&");
			buf_add_byte(out, '\n');
		}
	buf_add_str(out, ".El\n");
}

void gen_messages(struct buf *out)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const struct shape *shape = message_shape(op);

		if (shape == NULL)
			continue;
		buf_addf(out, ".Ss 0x%02x %s\n", op, shape->name);
		buf_addf(out, "From %s; roles: ", sender_name(shape->from));
		if (shape->from == FROM_MASTER)
			buf_add_str(out, "the master");
		else
			role_words(shape->roles, out);
		buf_add_str(out, ".\n");
		gen_sentence(shape->doc, out);
		fields(shape, out);
	}
}

/* Print "cancel" for "ACT_CANCEL", "pool" for "OBJECT_POOL". */
static void subject(const char *name, struct buf *out)
{
	for (name = strchr(name, '_') + 1; *name != '\0'; name++)
		buf_add_byte(out, (uint8_t)tolower((unsigned char)*name));
}

void gen_rights(struct buf *out)
{
	buf_add_str(out, ".Bl -column VALUES-definition operator,-admin submitter\n"
			 ".It Sy What Ta Sy Roles Ta Sy Own\n");
	for (size_t i = 0; i < right_count; i++) {
		buf_addf(out, ".It %s ", message_shape(right_table[i].op)->name);
		subject(right_table[i].subject, out);
		buf_add_str(out, " Ta ");
		role_words(right_table[i].any | ROLES_ADMIN, out);
		buf_add_str(out, " Ta ");
		role_words(right_table[i].own, out);
		buf_add_byte(out, '\n');
	}
	buf_add_str(out, ".El\n");
}

void gen_sight(struct buf *out)
{
	static const char *const rules[] = {
		[SIGHT_NOTHING] = "tells of no run", [SIGHT_RUN] = "about one run: it must be visible",
		[SIGHT_ROWS] = "only what is visible", [SIGHT_ALL] = "only for those who see everything",
		[SIGHT_QUERY] = "as the question",
	};

	buf_add_str(out, ".Bl -column QUERY-UNSUBSCRIBE rule\n.It Sy What Ta Sy Rule\n");
	for (size_t i = 0; i < sight_count; i++)
		buf_addf(out, ".It %s%s Ta %s\n", sight_table[i].query ? "QUERY " : "", sight_table[i].name, rules[sight_table[i].rule]);
	buf_add_str(out, ".El\n");
}

void gen_records(struct buf *out)
{
	for (int kind = 0; kind < REC_COUNT; kind++) {
		const struct shape *shape = record_shape((enum record_kind)kind);

		buf_addf(out, ".Ss %s\n%s.\n", shape->name, shape->array ? "A list; the fields come in the order of "
			"their keys" : "A map");
		gen_sentence(shape->doc, out);
		fields(shape, out);
	}
}

void gen_errors(struct buf *out)
{
	static const enum err codes[] = {
#define ERROR(name, wire, exit_status, again, text) ERR_##name,
#include "proto/errors.def"
#undef ERROR
	};

	buf_add_str(out, ".Bl -column xxxx MISSING_FIELD xxxx again\n"
			 ".It Sy code Ta Sy name Ta Sy exit Ta Sy again Ta Sy text\n");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		buf_addf(out, ".It %d Ta %s Ta %d Ta %s Ta ", (int)codes[i], err_name(codes[i]),
			 err_exit_status(codes[i]), err_again(codes[i]) ? "yes" : "no");
		gen_text(err_text(codes[i]), out);
		buf_add_byte(out, '\n');
	}
	buf_add_str(out, ".El\n");
}

void gen_limits(struct buf *out)
{
	static const struct { const char *name; long long value; const char *text; } limits[] = {
#define LIMIT(name, value, doc) { #name, value, doc },
#include "proto/limits.def"
#undef LIMIT
	};

	buf_add_str(out, ".Bl -column RETRY_BACKOFF_MAX_MS 1000000000\n");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		buf_addf(out, ".It %s Ta %lld Ta ", limits[i].name, limits[i].value);
		gen_text(limits[i].text, out);
		buf_add_byte(out, '\n');
	}
	buf_add_str(out, ".El\n");
}
