/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens in the core: made, used, replaced and removed; kept durably; refused if invalid. */
#include "tests/unit/core_rig.h"

static struct msg_set token(const char *id, const char *name, uint64_t roles)
{
	return (struct msg_set){ .kind = OBJECT_TOKEN, .verb = SET_PUT, .name = slice_str(id), .text = slice_str(name),
				 .number = roles, .secret = slice_str("sealed") };
}

static struct token_view found(const struct rig *rig, const char *id)
{
	struct token_view view = { .name = "" };

	CHECK(view_token_find(rig->core, slice_str(id), &view));
	return view;
}

static bool is_there(const struct rig *rig, const char *id)
{
	struct token_view view;

	return view_token_find(rig->core, slice_str(id), &view);
}

TEST token_keeps_name_roles_and_secret_over_a_restart(void)
{
	struct rig *rig = rig_new();
	struct msg_set set = token("anna.1", "anna", ROLE_BIT(APPROVER) | ROLE_BIT(VIEWER));

	set.span_ms = 5000;
	rig_set(rig, set);
	rig_restart(rig);
	ASSERT_STR_EQ("anna", found(rig, "anna.1").name);
	ASSERT_EQ_FMT(ROLE_BIT(APPROVER) | ROLE_BIT(VIEWER), found(rig, "anna.1").roles, "%u");
	ASSERT_EQ_FMT((size_t)6, found(rig, "anna.1").secret_len, "%zu");
	ASSERT_MEM_EQ("sealed", found(rig, "anna.1").secret, 6);
	ASSERT_EQ_FMT(found(rig, "anna.1").made_ms + 5000, found(rig, "anna.1").expires_ms, "%ld");
	rig_free(rig);
	PASS();
}

TEST rotated_token_keeps_name_and_roles(void)
{
	struct rig *rig = rig_new();
	struct msg_set set = token("anna.1", "", 0);
	uint64_t changed;

	rig_set(rig, token("anna.1", "anna", ROLE_BIT(VIEWER)));
	changed = view_tokens_changed(rig->core);
	set.secret = slice_str("another");
	rig_set(rig, set);
	ASSERT_GT(view_tokens_changed(rig->core), changed);
	ASSERT_STR_EQ("anna", found(rig, "anna.1").name);
	ASSERT_EQ_FMT(ROLE_BIT(VIEWER), found(rig, "anna.1").roles, "%u");
	ASSERT_MEM_EQ("another", found(rig, "anna.1").secret, 7);
	rig_free(rig);
	PASS();
}

TEST removed_token_stays_removed(void)
{
	struct rig *rig = rig_new();

	rig_set(rig, token("anna.1", "anna", ROLE_BIT(VIEWER)));
	rig_set(rig, (struct msg_set){ .kind = OBJECT_TOKEN, .verb = SET_REMOVE, .name = slice_str("anna.1") });
	ASSERT_FALSE(is_there(rig, "anna.1"));
	rig_restart(rig);
	ASSERT_FALSE(is_there(rig, "anna.1"));
	rig_free(rig);
	PASS();
}

TEST tokens_that_make_no_sense_are_refused(void)
{
	struct rig *rig = rig_new();
	const struct msg_set refused[] = {
		token("a b", "anna", ROLE_BIT(VIEWER)), token("anna.1", "a b", ROLE_BIT(VIEWER)), token("anna.1", "anna", 0),
		token("anna.1", "anna", ROLES_WORKER | ROLE_BIT(VIEWER)), token("anna.1", "anna", 1 << 9), token("anna.1", "", 0),
		{ .kind = OBJECT_TOKEN, .verb = SET_PUT, .name = slice_str("anna.1"), .text = slice_str("anna"), .number = ROLE_BIT(VIEWER) },
		{ .kind = OBJECT_TOKEN, .verb = SET_REMOVE, .name = slice_str("anna.1") },
		{ .kind = OBJECT_TOKEN, .verb = SET_PAUSE, .name = slice_str("anna.1") },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		rig_set(rig, refused[i]);
		ASSERT_FALSE(is_there(rig, "anna.1"));
		ASSERT_EQ_FMT((uint64_t)0, view_tokens_changed(rig->core), "%lu");
	}
	rig_set(rig, token("w.1", "w", ROLES_WORKER));
	ASSERT(is_there(rig, "w.1"));
	rig_set(rig, token("w.1", "other", ROLES_WORKER));       /* refused: a token of this name exists already */
	ASSERT_STR_EQ("w", found(rig, "w.1").name);
	rig_free(rig);
	PASS();
}

static void use(struct rig *rig, const char *id)
{
	struct core_input input = { .kind = INPUT_TOKEN_USED };

	input.token_used.id = slice_str(id);
	rig_step(rig, &input);
}

/* A worker asks for a key with this id, with the right of the token by. True: the master accepts it. */
static bool join(struct rig *rig, const char *by, const char *id, const char *name)
{
	struct core_input input = { .kind = INPUT_SET, .conn = 1000000, .request = ++rig->request };

	input.set = (struct input_set){
		.set = { .kind = OBJECT_TOKEN, .verb = SET_JOIN, .name = slice_str(id), .text = slice_str(name), .secret = slice_str("sealed") },
		.principal = 9, .person = slice_str("lab"), .token = slice_str(by),
	};
	rig_by(&input, "lab", 9);
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	return rig->error.code == ERR_NONE;
}

TEST workers_join_as_often_as_the_token_allows(void)
{
	struct rig *rig = rig_new();
	struct msg_set set = token("lab.1", "lab", ROLES_JOINER);

	set.uses = 2;
	set.pool = slice_str("gpu");
	rig_set(rig, set);
	ASSERT(join(rig, "lab.1", "w1.a", "w1"));
	ASSERT_EQ_FMT((unsigned)ROLES_WORKER, found(rig, "w1.a").roles, "%u");
	ASSERT_STR_EQ("w1", found(rig, "w1.a").name);
	ASSERT_STR_EQ("gpu", found(rig, "w1.a").pool);
	rig_restart(rig);
	ASSERT(join(rig, "lab.1", "w1.a", "w1"));        /* the same once more takes no use */
	ASSERT(join(rig, "lab.1", "w2.a", "w2"));
	ASSERT_FALSE(join(rig, "lab.1", "w3.a", "w3"));
	ASSERT(rig_error_says(rig, ERR_DENIED, "used up"));
	ASSERT(join(rig, "lab.1", "w2.a", "w2"));
	rig_restart(rig);
	ASSERT_FALSE(join(rig, "lab.1", "w3.a", "w3"));
	ASSERT(is_there(rig, "w1.a") && is_there(rig, "w2.a") && !is_there(rig, "w3.a"));
	rig_free(rig);
	PASS();
}

TEST joining_takes_no_name_and_no_right_of_others(void)
{
	struct rig *rig = rig_new();
	struct msg_set set = token("lab.1", "lab", ROLES_JOINER);

	set.uses = 100;
	set.span_ms = 60000;
	rig_set(rig, set);
	set.name = slice_str("other.1");
	set.text = slice_str("other");
	rig_set(rig, set);
	rig_set(rig, token("anna.1", "anna", ROLE_BIT(VIEWER)));
	rig_gone(rig, rig_hello(rig, "old", 1));
	ASSERT_FALSE(join(rig, "lab.1", "x.1", "old"));
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "the name old is taken"));
	ASSERT_FALSE(join(rig, "lab.1", "x.1", "anna"));
	ASSERT_FALSE(join(rig, "lab.1", "anna.1", "w1"));
	ASSERT_FALSE(join(rig, "lab.1", "x.1", "no name"));
	ASSERT_FALSE(join(rig, "anna.1", "x.1", "w1"));
	ASSERT_FALSE(join(rig, "", "x.1", "w1"));
	ASSERT_FALSE(join(rig, "gone.1", "x.1", "w1"));
	ASSERT(rig_error_says(rig, ERR_DENIED, "was removed"));
	ASSERT_FALSE(is_there(rig, "x.1"));
	ASSERT(join(rig, "lab.1", "w1.a", "w1"));
	ASSERT_FALSE(join(rig, "other.1", "w1.a", "w1"));        /* the key of another token's worker */
	rig_wait(rig, 60 * 1000);
	ASSERT_FALSE(join(rig, "lab.1", "w2.a", "w2"));
	ASSERT(rig_error_says(rig, ERR_DENIED, "has expired"));
	rig_free(rig);
	PASS();
}

TEST use_of_a_token_is_kept_to_the_minute(void)
{
	struct rig *rig = rig_new();
	int64_t first;

	rig_set(rig, token("anna.1", "anna", ROLE_BIT(VIEWER)));
	use(rig, "nobody");
	use(rig, "anna.1");
	first = found(rig, "anna.1").used_ms;
	ASSERT_GT(first, 0);
	rig_wait(rig, 30 * 1000);
	use(rig, "anna.1");
	ASSERT_EQ_FMT(first, found(rig, "anna.1").used_ms, "%ld");
	rig_wait(rig, 40 * 1000);
	use(rig, "anna.1");
	ASSERT_GT(found(rig, "anna.1").used_ms, first);
	rig_free(rig);
	PASS();
}

SUITE(core_token)
{
	RUN_TEST(token_keeps_name_roles_and_secret_over_a_restart);
	RUN_TEST(rotated_token_keeps_name_and_roles);
	RUN_TEST(removed_token_stays_removed);
	RUN_TEST(tokens_that_make_no_sense_are_refused);
	RUN_TEST(workers_join_as_often_as_the_token_allows);
	RUN_TEST(joining_takes_no_name_and_no_right_of_others);
	RUN_TEST(use_of_a_token_is_kept_to_the_minute);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(core_token);
	GREATEST_MAIN_END();
}
