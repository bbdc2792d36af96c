/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rights of each role for runs and objects: a matrix written by hand to be compared with rights.def. */
#include "proto/rights.h"

#include "greatest.h"

/*
 * One letter each for viewer, submitter, approver, operator, admin, worker. y: may; o: may for their own; -: may not.
 */
static const struct {
	enum opcode op;
	uint64_t subject;
	const char *may;
} matrix[] = {
	{ OP_ACT, ACT_CANCEL, "-o-yy-" },   { OP_ACT, ACT_RETRY, "-o-yy-" },    { OP_ACT, ACT_HOLD, "-o-yy-" },
	{ OP_ACT, ACT_RELEASE, "-o-yy-" },  { OP_ACT, ACT_PRIORITY, "---yy-" }, { OP_ACT, ACT_APPROVE, "--y-y-" },
	{ OP_ACT, ACT_REJECT, "--y-y-" },   { OP_ACT, ACT_PUSHBACK, "--y-y-" }, { OP_ACT, ACT_SETTLE, "--y-y-" },
	{ OP_ACT, ACT_REQUEUE, "-o-yy-" },  { OP_ACT, ACT_DISCARD, "-o-yy-" },  { OP_ACT, ACT_REINSTATE, "-o-yy-" },  { OP_SET, OBJECT_WORKER, "---yy-" },
	{ OP_SET, OBJECT_POOL, "---yy-" },  { OP_SET, OBJECT_TOPIC, "---yy-" },  { OP_SET, OBJECT_TENANT, "---yy-" }, { OP_SET, OBJECT_GROUP, "---yy-" },
	{ OP_SET, OBJECT_LOCK, "---yy-" },  { OP_SET, OBJECT_SCHEDULE, "-o-yy-" }, { OP_SET, OBJECT_ASSET, "-o-yy-" },
	{ OP_SET, OBJECT_TOKEN, "----y-" },
	{ OP_VALUES, SPACE_RUN, "-o-yy-" }, { OP_VALUES, SPACE_DEFINITION, "---yy-" }, { OP_VALUES, SPACE_CLUSTER, "---yy-" },
	/* What doesn't exist. */
	{ OP_ACT, 0, "----y-" }, { OP_ACT, 999, "----y-" }, { OP_SET, 999, "----y-" },
};

#define ROWS (sizeof(matrix) / sizeof(matrix[0]))

static char said(enum allowance allowance)
{
	return allowance == ALLOWED ? 'y' : allowance == ALLOWED_OWN ? 'o' : '-';
}

TEST rights_are_those_of_the_matrix(void)
{
	for (size_t row = 0; row < ROWS; row++)
		for (unsigned role = ROLE_VIEWER; role <= ROLE_WORKER; role++)
			ASSERT_EQ_FMT(matrix[row].may[role - 1],
				      said(right_to(matrix[row].op, matrix[row].subject, 1u << role)), "%c");
	PASS();
}

TEST every_right_has_a_row_of_the_matrix(void)
{
	for (size_t i = 0; i < right_count; i++) {
		size_t rows = 0;

		for (size_t row = 0; row < ROWS; row++)
			rows += matrix[row].op == right_table[i].op && matrix[row].subject == right_table[i].number;
		ASSERT_EQm(right_table[i].subject, 1, rows);
	}
	ASSERT_EQ(ROWS - 3, right_count);
	PASS();
}

TEST every_message_of_a_client_and_every_question_has_a_rule_of_sight(void)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const struct shape *shape = message_shape(op);
		size_t rows = 0;

		for (size_t i = 0; i < sight_count; i++)
			rows += !sight_table[i].query && sight_table[i].number == op;
		if (shape && (unsigned)shape->from & PEER_CLIENT && shape->roles != ROLES_WORKER)
			ASSERT_EQm(shape->name, 1, rows);
	}
	for (uint64_t what = QUERY_STATUS; what <= QUERY_TRIES; what++) {
		size_t rows = 0;

		for (size_t i = 0; i < sight_count; i++)
			rows += sight_table[i].query && sight_table[i].number == what;
		ASSERT_EQ_FMT((size_t)1, rows, "%zu");
	}
	ASSERT_EQ(SIGHT_ALL, sight_of_query(QUERY_TRIES + 1000));
	PASS();
}

TEST viewers_operators_and_admins_see_all_runs(void)
{
	ASSERT(roles_see_all(ROLE_BIT(VIEWER)) && roles_see_all(ROLE_BIT(OPERATOR)) && roles_see_all(ROLES_ADMIN));
	ASSERT_FALSE(roles_see_all(ROLE_BIT(SUBMITTER) | ROLE_BIT(APPROVER)));
	ASSERT_FALSE(roles_see_all(0) || roles_see_all(ROLES_WORKER));
	PASS();
}

TEST nobody_may_anything(void)
{
	for (size_t row = 0; row < ROWS; row++)
		ASSERT_EQ(ALLOWED_NOT, right_to(matrix[row].op, matrix[row].subject, 0));
	PASS();
}

TEST rights_of_several_roles_add_up(void)
{
	role_set both = 1u << ROLE_SUBMITTER | 1u << ROLE_APPROVER;

	ASSERT_EQ(ALLOWED, right_to(OP_ACT, ACT_APPROVE, both));
	ASSERT_EQ(ALLOWED_OWN, right_to(OP_ACT, ACT_CANCEL, both));
	ASSERT_EQ(ALLOWED_NOT, right_to(OP_ACT, ACT_PRIORITY, both));
	ASSERT_EQ(ALLOWED, right_to(OP_ACT, ACT_CANCEL, both | 1u << ROLE_OPERATOR));
	PASS();
}

TEST roles_are_named_in_words(void)
{
	struct buf words = { 0 };

	role_words(1u << ROLE_SUBMITTER | 1u << ROLE_ADMIN, &words);
	ASSERT_STR_EQ("submitter, admin", buf_cstr(&words));
	buf_clear(&words);
	role_words(0, &words);
	ASSERT_STR_EQ("nobody", buf_cstr(&words));
	buf_free(&words);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(rights_are_those_of_the_matrix);
	RUN_TEST(every_right_has_a_row_of_the_matrix);
	RUN_TEST(every_message_of_a_client_and_every_question_has_a_rule_of_sight);
	RUN_TEST(viewers_operators_and_admins_see_all_runs);
	RUN_TEST(nobody_may_anything);
	RUN_TEST(rights_of_several_roles_add_up);
	RUN_TEST(roles_are_named_in_words);
	GREATEST_MAIN_END();
}
