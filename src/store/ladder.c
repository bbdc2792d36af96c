/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holds steps.def and frozen.def as data, and makes the text that is appended to frozen.def for a new version. */
#include "store/ladder.h"

#include "store/store.h"
#include "store/tables.h"

static const struct object objects[] = {
#define VERSION(number, sum)
#define OBJECT(version, name, ...) { version, #name, __VA_ARGS__ },
#include "store/frozen.def"
#undef VERSION
#undef OBJECT
};

static const struct column_change changes[] = {
#define STEP(version, what)
#define FILL(version, table, column, value) { version, table, column, value },
#define GONE(version, table, column) { version, table, column, NULL },
#include "store/steps.def"
#undef STEP
#undef FILL
#undef GONE
	{ 0, "", "", NULL },             /* keeps the array from being empty when no step changes a column */
};

/* Check at compile time that the steps have the numbers 2 to STORE_VERSION, each once. */
#define STEP(version, what) \
	enum { step_to_##version }; \
	_Static_assert(version > 1 && version <= STORE_VERSION, "steps.def leaves a version out");
#define FILL(version, table, column, value)
#define GONE(version, table, column)
#include "store/steps.def"
#undef STEP
#undef FILL
#undef GONE

static const struct ladder todays = {
	.newest = STORE_VERSION,
	.objects = objects, .object_count = sizeof(objects) / sizeof(objects[0]),
	.changes = changes, .change_count = sizeof(changes) / sizeof(changes[0]),
};

const struct ladder *store_ladder = &todays;

const struct object *ladder_find(int version, const char *name)
{
	for (size_t i = 0; i < store_ladder->object_count; i++) {
		const struct object *object = &store_ladder->objects[i];

		if (object->version == version && strcmp(object->name, name) == 0)
			return object;
	}
	return NULL;
}

const struct column_change *ladder_change(int version, const char *table, const char *column, bool gone)
{
	for (size_t i = 0; i < store_ladder->change_count; i++) {
		const struct column_change *change = &store_ladder->changes[i];

		if (change->version == version && strcmp(change->table, table) == 0 &&
		    strcmp(change->column, column) == 0 && !change->value == gone)
			return change;
	}
	return NULL;
}

bool object_is_table(const struct object *object)
{
	return strncmp(object->sql, "CREATE TABLE ", 13) == 0;
}

/* titan's schema has no quoted names and no strings, so "--" always begins a comment. */
void sql_squeeze(struct buf *out, const char *sql)
{
	bool blank = false;

	while (*sql && *sql != ';') {
		if (sql[0] == '-' && sql[1] == '-') {
			sql += strcspn(sql, "\n");
			continue;
		}
		if (strchr(" \t\n", *sql)) {
			blank = true;
		} else {
			bool tight = out->len == 0 || *sql == ')' || out->data[out->len - 1] == '(';

			if (blank && !tight)
				buf_add_byte(out, ' ');
			blank = false;
			buf_add_byte(out, (uint8_t)*sql);
		}
		sql++;
	}
}

/* Write the SQL as a C string literal, one column per line. */
static void add_literal(struct buf *out, const char *sql)
{
	int depth = 0;

	buf_add_str(out, "\t\"");
	for (; *sql; sql++) {
		depth += *sql == '(' ? 1 : *sql == ')' ? -1 : 0;
		if (*sql == ')' && depth == 0)
			buf_add_str(out, "\"\n\t\"");
		if (*sql == '"' || *sql == '\\')
			buf_add_byte(out, '\\');
		buf_add_byte(out, (uint8_t)*sql);
		if ((*sql == '(' && depth == 1) || (*sql == ' ' && sql[-1] == ',' && depth == 1))
			buf_add_str(out, "\"\n\t\"");
	}
	buf_add_str(out, "\")\n");
}

void ladder_freeze(struct buf *out)
{
	struct buf schema = { 0 };
	const char *at;

	store_schema(&schema);
	for (at = buf_cstr(&schema); (at = strstr(at, "\nCREATE ")); ) {
		struct buf sql = { 0 };
		const char *name;

		sql_squeeze(&sql, ++at);
		name = strchr(buf_cstr(&sql) + strlen("CREATE "), ' ') + 1;
		buf_addf(out, "OBJECT(%d, %.*s,\n", STORE_VERSION, (int)strcspn(name, " "), name);
		add_literal(out, buf_cstr(&sql));
		buf_free(&sql);
	}
	buf_free(&schema);
}
