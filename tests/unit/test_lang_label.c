/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requirements on labels: what people write, the form on the wire, and which workers meet them. */
#include "lang/label.h"

#include "base/mem.h"
#include "greatest.h"
#include "proto/label.h"
#include "proto/limits.h"

static struct arena arena;

static const struct { const char *text, *form; } right[] = {
	{ "gpu", "gpu" }, { " gpu ", "gpu" }, { "!spot", "!spot" }, { "! spot", "!spot" }, { "disk=ssd", "disk=ssd" },
	{ "disk = ssd", "disk=ssd" }, { "zone!=a", "zone!=a" }, { "zone != a", "zone!=a" }, { "zone in (b,a)", "zone in (a,b)" },
	{ "zone in( b , a,b )", "zone in (a,b)" }, { "zone in (a)", "zone=a" }, { "zone notin (a)", "zone!=a" },
	{ "zone notin (a,b)", "zone notin (a,b)" }, { "in in (in,notin)", "in in (in,notin)" }, { "v1.2-x=3.4", "v1.2-x=3.4" },
};

static const struct { const char *text, *why; } wrong[] = {
	{ "", "has no key" }, { "!", "has no key" }, { "=a", "has no key" }, { "disk=", "has no value" }, { "disk==ssd", "write one =, not two" },
	{ "!disk=ssd", "! stands before a key alone" }, { "zone im (a,b)", "'im' isn't an operator; did you mean 'zone in (A,B)'?" },
	{ "zone not in (a,b)", "did you mean 'zone notin (A,B)'?" }, { "zone in a,b", "need parentheses; write 'zone in (A,B)'" },
	{ "zone in (a,b", "lacks the )" }, { "zone in ()", "has no value" }, { "zone in (a,)", "has no value" }, { "cpus>4", "can't be compared" },
	{ "a=b c", "has more behind the requirement: 'c'" }, { "a/b=c", "isn't a key of a label" }, { "a=b/c", "isn't a value of a label" },
	{ "\033[31m=x", "isn't a key of a label" }, { "a b", "isn't a requirement on labels" }, { "a,b", "isn't a requirement on labels" },
};

TEST what_people_write_gets_one_form(void)
{
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct label_want want;
		struct error error = { 0 };
		struct slice form;

		ASSERT_EQ_FMTm(right[i].text, ERR_NONE, label_parse(slice_str(right[i].text), &arena, &form, &error), "%d");
		ASSERT_STR_EQm(right[i].text, right[i].form, arena_strdup(&arena, form));
		ASSERTm(right[i].form, label_want_read(form, &want));
	}
	PASS();
}

TEST what_is_wrong_is_refused_with_its_reason(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error error = { 0 };
		struct slice form;

		ASSERTm(wrong[i].text, label_parse(slice_str(wrong[i].text), &arena, &form, &error) != ERR_NONE);
		ASSERTm(error.text, strstr(error.text, wrong[i].why) != NULL);
	}
	PASS();
}

/* A name and a list that are too long are refused without being copied into the error. */
TEST long_ones_are_refused(void)
{
	struct error error = { 0 };
	char text[4096];
	struct slice form;
	size_t len;

	memset(text, 'k', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ASSERT_EQ(ERR_TOO_LARGE, label_parse(slice_str(text), &arena, &form, &error));
	ASSERT(strlen(error.text) < 200);
	len = (size_t)sprintf(text, "zone in (a");
	for (size_t i = 0; i < LIMIT_LABELS_MAX; i++)
		len += (size_t)sprintf(text + len, ",b%zu", i);
	sprintf(text + len, ")");
	ASSERT_EQ(ERR_TOO_LARGE, label_parse(slice_str(text), &arena, &form, &error));
	PASS();
}

static const char *const not_forms[] = {
	"", "!", "a b", "a=", "=a", "a!=", "a in ()", "a in (b,)", "a in (b", "a in (b c)", "a  in (b)", "!a=b", "a=b,c", "a in (,b)", "a in (b))",
};

TEST only_the_forms_of_the_wire_are_read(void)
{
	struct label_want want;

	for (size_t i = 0; i < sizeof(not_forms) / sizeof(not_forms[0]); i++)
		ASSERTm(not_forms[i], !label_want_read(slice_str(not_forms[i]), &want));
	PASS();
}

static const struct { const char *want; bool met; } meets[] = {
	{ "gpu", true }, { "gpu=true", true }, { "gpu=false", false }, { "!gpu", false }, { "!gpu-x", true }, { "disk", true }, { "disk=ssd", true },
	{ "disk=hdd", false }, { "disk!=hdd", true }, { "disk!=ssd", false }, { "none!=x", true }, { "none=x", false }, { "zone in (a,b)", true },
	{ "zone in (b,c)", false }, { "zone notin (b,c)", true }, { "zone notin (a,b)", false }, { "none notin (a,b)", true }, { "none in (a,b)", false },
};

TEST workers_meet_requirements_by_key_and_value(void)
{
	struct slice labels[] = { slice_str("zone=a"), slice_str("gpu"), slice_str("gpu.x=1"), slice_str("disk=ssd"), slice_str("gpu") };
	struct slice_list list = { labels, 5 };
	struct error error = { 0 };

	ASSERT_EQ(ERR_NONE, labels_check(list, &error));
	labels_order(&list);
	ASSERT_EQ(4, list.n);
	for (size_t i = 0; i < sizeof(meets) / sizeof(meets[0]); i++) {
		struct label_want want;

		ASSERT(label_want_read(slice_str(meets[i].want), &want));
		ASSERT_EQm(meets[i].want, meets[i].met, label_met(&list, &want));
	}
	PASS();
}

TEST a_worker_has_one_value_for_each_key(void)
{
	struct slice two[] = { slice_str("zone=a"), slice_str("zone=b") }, same[] = { slice_str("gpu"), slice_str("gpu=true") };
	struct slice bad = slice_str("a=b=c"), many[LIMIT_LABELS_MAX + 1];
	struct error error = { 0 };

	ASSERT_EQ(ERR_DUPLICATE, labels_check((struct slice_list){ two, 2 }, &error));
	ASSERT_STR_EQ("label zone has two values, 'a' and 'b'; a worker has one value for each key", error.text);
	ASSERT_EQ(ERR_NONE, labels_check((struct slice_list){ same, 2 }, &error));
	ASSERT_EQ(ERR_INVALID, labels_check((struct slice_list){ &bad, 1 }, &error));
	for (size_t i = 0; i <= LIMIT_LABELS_MAX; i++)
		many[i] = slice_str("x");
	ASSERT_EQ(ERR_TOO_LARGE, labels_check((struct slice_list){ many, LIMIT_LABELS_MAX + 1 }, &error));
	PASS();
}

SUITE(lang_label)
{
	RUN_TEST(what_people_write_gets_one_form);
	RUN_TEST(what_is_wrong_is_refused_with_its_reason);
	RUN_TEST(long_ones_are_refused);
	RUN_TEST(only_the_forms_of_the_wire_are_read);
	RUN_TEST(workers_meet_requirements_by_key_and_value);
	RUN_TEST(a_worker_has_one_value_for_each_key);
	arena_free(&arena);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_label);
	GREATEST_MAIN_END();
}
