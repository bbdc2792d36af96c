/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of acts that titan undo parses, and those that it must refuse to guess at. */
#include "base/arena.h"
#include "cli/commands/undo.h"
#include "greatest.h"

static struct undo undo;
static struct error error;

static enum err read_act(const char *verb, const char *target, const char *before, const char *after)
{
	static struct rec_act_row act;

	act = (struct rec_act_row){
		.act = 1, .verb = slice_str(verb), .target = slice_str(target), .before = slice_str(before), .after = slice_str(after),
	};
	return undo_read(&act, &undo, &error);
}

TEST an_act_on_an_object_has_its_inverse(void)
{
	ASSERT_EQ(ERR_NONE, read_act("put", "tenant t", "weight 3, jobs 0, queued 9", "weight 1, jobs 0, queued 0"));
	ASSERT_EQ(SET_PUT, undo.set.verb);
	ASSERT_EQ(3, undo.set.weight);
	ASSERT_EQ(1, undo.set.number);
	ASSERT_EQ(10, undo.set.most);
	ASSERT_EQ(ERR_NONE, read_act("put", "group g", NULL, "limit 2"));
	ASSERT_EQ(SET_REMOVE, undo.set.verb);
	ASSERT(slice_eq(undo.set.name, slice_str("g")));
	ASSERT_EQ(ERR_NONE, read_act("take", "lock l", NULL, "held by ana, shared, for 10 ms"));
	ASSERT(slice_eq(undo.set.text, slice_str("ana")));
	PASS();
}

TEST other_texts_are_refused(void)
{
	static const char *const wrong[][4] = {
		{ "put", "tenant t", "weight 0, jobs 0, queued 9", "x" }, { "put", "tenant t", "weight 3, jobs 0, queued 9 ", "x" },
		{ "put", "tenant t", "weight 3, jobs 99999999999999999999, queued 9", "x" }, { "put", "tenant t", "weight 3", "x" },
		{ "put", "group g", "limit", "x" }, { "put", "group g", "limit 0", "x" }, { "put", "group ", "limit 2", "x" },
		{ "pause", "worker w", NULL, "cordoned" }, { "pause", "worker w", "inactive", "cordoned" },
		{ "take", "lock l", "held by ana", "held by ana, shared" }, { "take", "lock l", NULL, "held by " },
		{ "hold", "run 12x", "free", "held" }, { "hold", "job 12/", "free", "held" }, { "hold", "run ", "free", "held" },
		{ "hold", "lock 12", "free", "held" }, { "priority", "run 1", "50*3 ...", "20" }, { "hold", "run 1", "held", "held" },
		{ "cancel", "run 1", "1 running", "1 running, told to end" }, { "put", "schedule s", NULL, "active, @daily, of ana" },
		{ "put", "token t", NULL, "x" }, { "new", "thing x", "a", "b" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_EQm(wrong[i][1], ERR_INVALID, read_act(wrong[i][0], wrong[i][1], wrong[i][2], wrong[i][3]));
	PASS();
}

static struct arena arena;

static bool values(const char *text, bool priority, size_t jobs, struct undo_values *ret)
{
	return undo_read_values(slice_str(text), priority, jobs, &arena, ret);
}

TEST each_job_has_its_value(void)
{
	static const char *const wrong[] = { NULL, "50*2", "50*4", "50*1 60*2", "50  60 70", "50 60 70 ", "101", "*3", "held", "5x" };
	struct undo_values got;

	ASSERT(values("50", true, 3, &got));
	ASSERT(got.same && got.at[2] == 50);
	ASSERT(values("50*2 70", true, 3, &got));
	ASSERT(!got.same && got.at[1] == 50 && got.at[2] == 70);
	ASSERT(values("free held*2", false, 3, &got));
	ASSERT(!got.same && got.at[0] == 0 && got.at[2] == 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ASSERT_FALSE(values(wrong[i], true, 3, &got));
	ASSERT_FALSE(values("50", true, 0, &got));
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(an_act_on_an_object_has_its_inverse);
	RUN_TEST(other_texts_are_refused);
	RUN_TEST(each_job_has_its_value);
	GREATEST_MAIN_END();
}
