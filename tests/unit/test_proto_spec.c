/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of kinds and settings: numbers never change, and every setting is read by its type. */
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

/* The numbers of kinds are stored and sent, so they never change. */
TEST kind_numbers_stay(void)
{
	static const char *const names[] = { "unsaid", "command", "script", "gate", "subrun", "noop", "service" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ASSERT_STR_EQ(names[i], job_kind_name((enum job_kind)i));
	ASSERT_STR_EQ("?", job_kind_name(KIND_COUNT));
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
		bool one_byte = setting_table[i].type == TYPE_BOOL;

		ASSERT_FALSEm(setting_table[i].field, setting_is_said(&setting_table[i], &spec));
		/* In a specification, texts and lists take 16 bytes: pointer and length. */
		memset((uint8_t *)&spec + setting_table[i].offset, 1,
		       one_byte ? 1 : setting_table[i].type == TYPE_U64 || setting_table[i].type == TYPE_I64 ? 8 : 16);
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

TEST plain_settings_go_to_a_record_and_back(void)
{
	struct rec_job_spec spec = { .timeout_ms = 9, .description = slice_str("all"), .retry_max = 3 }, other = { 0 };
	struct rec_job_settings settings;

	settings_of(&spec, &settings);
	ASSERT(settings_any(&settings));
	ASSERT_EQ_FMT((uint64_t)9, settings.timeout_ms, "%lu");
	other.not_before_ms = 7;
	settings_give(&settings, &other);
	ASSERT_EQ_FMT((uint64_t)9, other.timeout_ms, "%lu");
	ASSERT_EQ_FMT((int64_t)7, other.not_before_ms, "%ld");
	ASSERT(slice_eq(other.description, slice_str("all")));
	ASSERT_EQ_FMT((uint64_t)0, other.retry_max, "%lu");
	PASS();
}

TEST defaults_fill_what_is_unsaid_and_of_these_kinds(void)
{
	struct rec_job_settings defaults = { .timeout_ms = 5, .delay_ms = 7, .gate_timeout_ms = 3 };
	struct rec_job_settings settings = { .timeout_ms = 9 };

	settings_fill(&settings, &defaults, FOR_SUBRUN);
	ASSERT_EQ_FMT((uint64_t)9, settings.timeout_ms, "%lu");
	ASSERT_EQ_FMT((uint64_t)7, settings.delay_ms, "%lu");
	ASSERT_EQ_FMT((uint64_t)0, settings.gate_timeout_ms, "%lu");
	settings_fill(&settings, &defaults, FOR_PEOPLE);
	ASSERT_EQ_FMT((uint64_t)3, settings.gate_timeout_ms, "%lu");
	PASS();
}

TEST plain_settings_print_as_people_write_them(void)
{
	struct rec_job_settings settings = {
		.timeout_ms = 300000, .not_before_ms = INT64_C(1763476950000), .description = slice_str("builds all"),
	};
	struct buf out = { 0 };

	setting_print(find("timeout_ms"), &settings, &out);
	ASSERT_STR_EQ("5m", buf_cstr(&out));
	buf_clear(&out);
	setting_print(find("not_before_ms"), &settings, &out);
	ASSERT_STR_EQ("2025-11-18T14:42:30.000Z", buf_cstr(&out));
	buf_clear(&out);
	setting_print(find("description"), &settings, &out);
	ASSERT_STR_EQ("builds all", buf_cstr(&out));
	buf_free(&out);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(kind_numbers_stay);
	RUN_TEST(kind_follows_from_the_other_fields_when_unsaid);
	RUN_TEST(every_setting_is_said_once_its_field_is_set);
	RUN_TEST(setting_without_use_is_found_by_kind);
	RUN_TEST(plain_settings_go_to_a_record_and_back);
	RUN_TEST(defaults_fill_what_is_unsaid_and_of_these_kinds);
	RUN_TEST(plain_settings_print_as_people_write_them);
	GREATEST_MAIN_END();
}
