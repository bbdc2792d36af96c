/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of what jobs ask for: resources, places, limits of logs. */
#include "greatest.h"
#include "lang/demand.h"
#include "lang/log_max.h"
#include "proto/limits.h"
#include "proto/message.h"
#include "proto/states.h"

GREATEST_MAIN_DEFS();

static struct arena arena;
static struct slice_list list;

static void teardown_cb(void *data)
{
	(void)data;
	arena_free(&arena);
	list = (struct slice_list){ 0 };
}

static enum err add(const char *name, const char *amount)
{
	struct error error;

	return demand_add(&list, &arena, slice_str(name), slice_str(amount), &error);
}

TEST names_that_begin_alike_are_different_resources(void)
{
	ASSERT_EQ(ERR_NONE, add("license2", "1"));
	ASSERT_EQ(ERR_NONE, add("license", "3"));
	ASSERT_EQ(ERR_NONE, add("licenses", "4"));
	ASSERT_EQ(ERR_DUPLICATE, add("license", "3"));
	ASSERT_EQ(3, list.n);
	ASSERT(slice_eq(list.at[0], slice_str("license2=1")));
	ASSERT(slice_eq(list.at[1], slice_str("license=3")));
	PASS();
}

TEST as_many_resources_as_the_limit_and_no_more(void)
{
	char name[16];

	for (int i = 0; i < LIMIT_RESOURCES_MAX; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		ASSERT_EQ(ERR_NONE, add(name, "1"));
	}
	ASSERT_EQ(ERR_TOO_LARGE, add("more", "1"));
	ASSERT_EQ(LIMIT_RESOURCES_MAX, list.n);
	PASS();
}

TEST amount_is_at_least_something(void)
{
	ASSERT_EQ(ERR_INVALID, add("license", "0"));
	ASSERT_EQ(ERR_INVALID, add("cpus", "0"));
	ASSERT_EQ(ERR_INVALID, add("memory", "0"));
	ASSERT_EQ(ERR_NONE, add("cpus", "0.5"));
	ASSERT(slice_eq(list.at[0], slice_str("cpus=500")));
	PASS();
}

/* A demand that the job doesn't state is taken from the defaults, with all that belongs to it. */
TEST what_isnt_said_is_the_defaults(void)
{
	struct slice asks[] = { slice_str("gpus=1") }, prefer[] = { slice_str("fast") };
	const struct demand defaults = {
		.asks = { asks, 1 }, .prefer = { prefer, 1 }, .prefer_worker = slice_str("likes"), .only_worker = slice_str("must"),
		.pool = slice_str("night"), .pool_hard = true, .affinity = AFFINITY_PARENT, .affinity_hard = true };
	struct demand demand = { 0 };
	struct rec_job_spec spec = { 0 };

	ASSERT_FALSE(demand_any(&demand));
	demand_default(&demand, &defaults);
	ASSERT(demand_any(&demand));
	demand_spec(&demand, &spec);
	ASSERT(spec.asks.n == 1 && slice_eq(spec.asks.at[0], asks[0]));
	ASSERT(spec.prefer.n == 1 && slice_eq(spec.prefer.at[0], prefer[0]));
	ASSERT(slice_eq(spec.prefer_worker, slice_str("likes")));
	ASSERT(slice_eq(spec.only_worker, slice_str("must")));
	ASSERT(slice_eq(spec.pool, slice_str("night")));
	ASSERT(spec.pool_hard);
	ASSERT_EQ(AFFINITY_PARENT, spec.affinity);
	ASSERT(spec.affinity_hard);
	PASS();
}

/* If a job names its own pool or affinity, a default of "hard" doesn't apply to it. */
TEST what_is_said_stays_as_it_is(void)
{
	const struct demand defaults = { .pool = slice_str("night"), .pool_hard = true, .affinity = AFFINITY_PARENT,
					 .affinity_hard = true, .only_worker = slice_str("must") };
	struct demand demand = { .pool = slice_str("day"), .affinity = AFFINITY_STICKY, .only_worker = slice_str("own") };

	demand_default(&demand, &defaults);
	ASSERT(slice_eq(demand.pool, slice_str("day")) && !demand.pool_hard);
	ASSERT(demand.affinity == AFFINITY_STICKY && !demand.affinity_hard);
	ASSERT(slice_eq(demand.only_worker, slice_str("own")));
	PASS();
}

static const char *shown(uint64_t max)
{
	static struct buf text;

	buf_clear(&text);
	log_max_text(max, &text);
	return buf_cstr(&text);
}

TEST bound_of_a_log_is_read_as_it_is_shown(void)
{
	static const char *const texts[] = { "4K", "5K", "1M", "3G", "1T", "lossless", "5000" };
	uint64_t max;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ASSERT_EQm(texts[i], NULL, log_max_parse(slice_str(texts[i]), &max));
		ASSERT_STR_EQ(texts[i], shown(max));
	}
	PASS();
}

TEST bound_of_a_log_has_a_least_and_a_most(void)
{
	uint64_t max = 7;

	ASSERT(log_max_parse(slice_str("4095"), &max));
	ASSERT(log_max_parse(slice_str("1025G"), &max));
	ASSERT(log_max_parse(slice_str(""), &max));
	ASSERT_EQ(7, max);
	ASSERT_EQ(NULL, log_max_parse(slice_str("4096"), &max));
	ASSERT_EQ(LIMIT_LOG_MAX_MIN, max);
	ASSERT_EQ(NULL, log_max_parse(slice_str("1024G"), &max));
	ASSERT_EQ((uint64_t)1 << 40, max);
	PASS();
}

SUITE(lang_demand)
{
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(names_that_begin_alike_are_different_resources);
	RUN_TEST(as_many_resources_as_the_limit_and_no_more);
	RUN_TEST(amount_is_at_least_something);
	RUN_TEST(what_isnt_said_is_the_defaults);
	RUN_TEST(what_is_said_stays_as_it_is);
	RUN_TEST(bound_of_a_log_is_read_as_it_is_shown);
	RUN_TEST(bound_of_a_log_has_a_least_and_a_most);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_demand);
	GREATEST_MAIN_END();
}
