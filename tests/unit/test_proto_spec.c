/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of kinds and settings: numbers stay, and every setting is read by its type. */
#include "proto/spec.h"

#include <string.h>

#include "greatest.h"

static const struct setting *find(const char *field)
{
	for (size_t i = 0; i < setting_count; i++)
		if (strcmp(setting_table[i].field, field) == 0)
			return &setting_table[i];
	return NULL;
}

/* They are stored and sent. */
TEST kind_numbers_stay(void)
{
	static const char *const names[] = { "unsaid", "command", "script", "gate", "subrun", "noop" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ASSERT_STR_EQ(names[i], job_kind_name((enum job_kind)i));
	ASSERT_STR_EQ("?", job_kind_name(KIND_COUNT));
	PASS();
}

TEST kind_is_found_by_its_name(void)
{
	enum job_kind kind = KIND_UNSAID;

	ASSERT(job_kind_by_name(slice_str("noop"), &kind));
	ASSERT_EQ(KIND_NOOP, kind);
	ASSERT_FALSE(job_kind_by_name(slice_str("unsaid"), &kind));
	ASSERT_FALSE(job_kind_by_name(slice_str("noo"), &kind));
	PASS();
}

TEST kind_follows_from_the_other_fields_when_unsaid(void)
{
	struct slice word = slice_str("true");
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(KIND_UNSAID, spec_kind(&spec));
	spec.gate_count = 1;
	ASSERT_EQ(KIND_GATE, spec_kind(&spec));
	spec.script = slice_str("true | cat");
	ASSERT_EQ(KIND_SCRIPT, spec_kind(&spec));
	spec.script = (struct slice){ 0 };
	spec.argv = (struct slice_list){ &word, 1 };
	ASSERT_EQ(KIND_COMMAND, spec_kind(&spec));
	spec = (struct rec_job_spec){ .sub_count = 3 };
	ASSERT_EQ(KIND_SUBRUN, spec_kind(&spec));
	spec = (struct rec_job_spec){ .kind = KIND_NOOP };
	ASSERT_EQ(KIND_NOOP, spec_kind(&spec));
	spec.kind = KIND_COUNT;
	ASSERT_EQ(KIND_UNSAID, spec_kind(&spec));
	PASS();
}

TEST every_setting_is_said_once_its_field_is_set(void)
{
	for (size_t i = 0; i < setting_count; i++) {
		struct rec_job_spec spec = { 0 };

		ASSERT_FALSEm(setting_table[i].field, setting_is_said(&setting_table[i], &spec));
		memset(setting_at(&setting_table[i], &spec), 1, setting_table[i].type == TYPE_BOOL ? 1 : 8);
		if (setting_table[i].type != TYPE_BOOL && setting_table[i].type != TYPE_U64 &&
		    setting_table[i].type != TYPE_I64)
			memset((uint8_t *)setting_at(&setting_table[i], &spec) + 8, 1, 8);
		ASSERTm(setting_table[i].field, setting_is_said(&setting_table[i], &spec));
	}
	PASS();
}

TEST setting_without_use_is_found_by_kind(void)
{
	struct rec_job_spec spec = { .timeout_ms = 5, .priority = 3 };

	ASSERT_EQ(NULL, setting_without_use(&spec, KIND_COMMAND));
	ASSERT_EQ(NULL, setting_without_use(&spec, KIND_SUBRUN));
	ASSERT_EQ(find("timeout_ms"), setting_without_use(&spec, KIND_NOOP));
	ASSERT_EQ(find("timeout_ms"), setting_without_use(&spec, KIND_GATE));
	PASS();
}

TEST defaults_fill_what_is_unsaid_and_of_these_kinds(void)
{
	struct rec_job_spec defaults = { .timeout_ms = 5, .delay_ms = 7, .dir = slice_str("/x"), .pool_hard = true };
	struct rec_job_spec spec = { .timeout_ms = 9 };

	settings_fill(&spec, &defaults, FOR_SUBRUN);
	ASSERT_EQ_FMT((uint64_t)9, spec.timeout_ms, "%lu");
	ASSERT_EQ_FMT((uint64_t)7, spec.delay_ms, "%lu");
	ASSERT_EQ(0, spec.dir.len);
	ASSERT_FALSE(spec.pool_hard);
	settings_fill(&spec, &defaults, FOR_WORK);
	ASSERT(slice_eq(spec.dir, slice_str("/x")));
	ASSERT(spec.pool_hard);
	PASS();
}

TEST plain_settings_print_as_people_write_them(void)
{
	struct rec_job_spec spec = {
		.timeout_ms = 300000, .not_before_ms = INT64_C(1763476950000), .description = slice_str("builds all"),
	};
	struct buf out = { 0 };

	setting_print(find("timeout_ms"), &spec, &out);
	ASSERT_STR_EQ("5m", buf_cstr(&out));
	buf_clear(&out);
	setting_print(find("not_before_ms"), &spec, &out);
	ASSERT_STR_EQ("2025-11-18T14:42:30.000Z", buf_cstr(&out));
	buf_clear(&out);
	setting_print(find("description"), &spec, &out);
	ASSERT_STR_EQ("builds all", buf_cstr(&out));
	buf_free(&out);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(kind_numbers_stay);
	RUN_TEST(kind_is_found_by_its_name);
	RUN_TEST(kind_follows_from_the_other_fields_when_unsaid);
	RUN_TEST(every_setting_is_said_once_its_field_is_set);
	RUN_TEST(setting_without_use_is_found_by_kind);
	RUN_TEST(defaults_fill_what_is_unsaid_and_of_these_kinds);
	RUN_TEST(plain_settings_print_as_people_write_them);
	GREATEST_MAIN_END();
}
