/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For tests of a start of the core with invalid rows: which error the core reports. */
#ifndef TITAN_TESTS_CORE_ROWS_H
#define TITAN_TESTS_CORE_ROWS_H

#include "tests/unit/core_rig.h"

static inline const char *load(const struct rig *rig, uint64_t *ret_hash)
{
	static struct error error;
	struct outbox out = { 0 };
	struct core *core;

	error = (struct error){ 0 };
	core = rig_load(rig, rig->now, &out, &error);
	if (core) {
		core_check(core);
		if (ret_hash)
			*ret_hash = core_hash(core);
	}
	core_free(core);
	outbox_free(&out);
	return core ? "loads" : error.code == ERR_STORE_TRUST ? error.text : "another error";
}

static inline bool says(const struct rig *rig, const char *words)
{
	const char *text = load(rig, NULL);

	if (!strstr(text, words))
		fprintf(stderr, "expected \"%s\", got \"%s\"\n", words, text);
	return strstr(text, words) != NULL;
}

static inline bool with(const struct rig *rig, int64_t *field, int64_t value, const char *words)
{
	const int64_t was = *field;
	bool as_expected;

	*field = value;
	as_expected = says(rig, words);
	*field = was;
	return as_expected;
}

#define WITH(field, value, words) ASSERT(with(rig, &(field), (value), (words)))

static inline struct row *row_at(struct rig *rig, enum row_table table, size_t at)
{
	CHECK(at < rig->tables[table].count);
	return &rig->tables[table].at[at].row;
}

#endif
