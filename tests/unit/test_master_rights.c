/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A master obeys the table of rights. The one user of this machine appears as another person with other roles each
 * time.
 */
#include <unistd.h>

#include "greatest.h"
#include "master_box.h"
#include "proto/rights.h"

static struct person person;

/* Start a master on the same store, for which every peer is this person with these roles. */
static bool begin_as(const char *name, role_set roles)
{
	person = (struct person){ .uid = getuid(), .name = name, .roles = roles };
	box_people = (struct people){ &person, 1 };
	return box_start();
}

static bool hello(struct peer *peer, struct msg_welcome *ret_welcome)
{
	struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };

	return peer_connect(peer) && peer_send(peer, OP_HELLO, &hello) && peer_expect(peer, OP_WELCOME, ret_welcome);
}

static bool submit(struct peer *peer, const char *key)
{
	struct msg_accepted accepted;

	return peer_submit(peer, key, "x", 1, false) && peer_expect(peer, OP_ACCEPTED, &accepted);
}

/*
 * Receive the answer to a request; ERR_NONE: it was done. A refused request, unlike a protocol error, doesn't end the
 * connection.
 */
static enum err answer(struct peer *peer)
{
	struct frame frame;
	struct msg_error msg;

	while (peer_frame(peer, &frame)) {
		if (frame.opcode == OP_OK || frame.opcode == OP_VALUED)
			return ERR_NONE;
		if (frame.opcode == OP_ERROR && message_decode(OP_ERROR, frame.body, &peer->arena, &msg, NULL) == ERR_NONE)
			return (enum err)msg.code;
	}
	return ERR_FRAME;
}

static enum err act(struct peer *peer, enum act_verb verb, uint64_t run)
{
	struct msg_act msg = { .id = ++peer->last_id, .verb = verb, .run = run, .value = verb == ACT_PRIORITY ? 10 : verb == ACT_RETRY ? RETRY_ALL : 0 };

	return peer_send(peer, OP_ACT, &msg) ? answer(peer) : ERR_FRAME;
}

static enum err set(struct peer *peer, enum object_kind kind)
{
	struct msg_set msg = { .id = ++peer->last_id, .kind = kind, .verb = SET_PAUSE, .name = slice_str("nothing") };

	return peer_send(peer, OP_SET, &msg) ? answer(peer) : ERR_FRAME;
}

static enum err change_value(struct peer *peer, enum space_kind space)
{
	struct rec_value_op op = { .verb = VALUES_SET, .key = slice_str("a"), .value = slice_str("b") };
	struct msg_values msg = { .id = ++peer->last_id, .space = space, .run = 1, .definition = slice_str("any"), .ops = { &op, 1 } };

	return peer_send(peer, OP_VALUES, &msg) ? answer(peer) : ERR_FRAME;
}

static enum err use_right(struct peer *peer, const struct right *right)
{
	if (right->op == OP_VALUES)
		return change_value(peer, (enum space_kind)right->number);
	return right->op == OP_ACT ? act(peer, (enum act_verb)right->number, 1) : set(peer, (enum object_kind)right->number);
}

/*
 * Run 1 belongs to somebody else. If the right is there, an act may still fail for another reason, which isn't checked
 * here.
 */
TEST every_right_is_obeyed(void)
{
	struct msg_welcome welcome;
	struct peer peer;

	ASSERT(begin_as("zoe", ROLES_PERSON));
	ASSERT(hello(&peer, &welcome) && submit(&peer, "0123456789abcdef"));
	peer_close(&peer);
	box_stop(SIGTERM);
	for (unsigned role = ROLE_VIEWER; role < ROLE_WORKER; role++) {
		ASSERT(begin_as("anna", 1u << role));
		ASSERT(hello(&peer, &welcome));
		ASSERT_EQ_FMT((unsigned)role, (unsigned)welcome.role, "%u");
		for (size_t i = 0; i < right_count; i++) {
			const struct right *right = &right_table[i];
			enum err err = use_right(&peer, right);
			enum allowance allowance = right_to(right->op, right->number, 1u << role);

			ASSERT_EQm(right->subject, allowance == ALLOWED_NOT, err == ERR_DENIED);
			/* A person who may act only on their own runs doesn't learn that another's run exists. */
			if (right->op != OP_SET && allowance == ALLOWED_OWN)
				ASSERT_EQm(right->subject, ERR_NOT_FOUND, err);
		}
		peer_close(&peer);
		box_stop(SIGTERM);
	}
	PASS();
}

TEST submitter_changes_what_is_its_own(void)
{
	struct msg_welcome welcome;
	struct peer peer;

	ASSERT(begin_as("zoe", ROLES_PERSON));
	ASSERT(hello(&peer, &welcome) && submit(&peer, "0123456789abcdef"));
	peer_close(&peer);
	box_stop(SIGTERM);
	ASSERT(begin_as("anna", 1u << ROLE_SUBMITTER));
	ASSERT(hello(&peer, &welcome) && submit(&peer, "fedcba9876543210"));
	ASSERT_EQ(ERR_NONE, act(&peer, ACT_HOLD, 2));
	ASSERT_EQ(ERR_NONE, act(&peer, ACT_RELEASE, 2));
	ASSERT_EQ(ERR_NONE, act(&peer, ACT_CANCEL, 2));
	ASSERT_EQ(ERR_NONE, act(&peer, ACT_RETRY, 2));   /* the run has left memory, or is about to */
	ASSERT_EQ(ERR_NOT_FOUND, act(&peer, ACT_CANCEL, 1));
	ASSERT_EQ(ERR_DENIED, act(&peer, ACT_PRIORITY, 2));
	peer_close(&peer);
	box_stop(SIGTERM);
	PASS();
}

TEST run_of_another_that_has_ended_stays_as_it_is(void)
{
	struct msg_welcome welcome;
	struct peer peer;

	ASSERT(begin_as("zoe", ROLES_PERSON));
	ASSERT(hello(&peer, &welcome) && submit(&peer, "0123456789abcdef"));
	ASSERT_EQ(ERR_NONE, act(&peer, ACT_CANCEL, 1));
	peer_close(&peer);
	box_stop(SIGTERM);
	ASSERT(begin_as("anna", 1u << ROLE_SUBMITTER));
	ASSERT(hello(&peer, &welcome));
	ASSERT_EQ(ERR_NOT_FOUND, act(&peer, ACT_RETRY, 1));
	peer_close(&peer);
	box_stop(SIGTERM);
	PASS();
}

TEST viewer_may_not_submit(void)
{
	struct msg_welcome welcome;
	struct peer peer;

	ASSERT(begin_as("anna", 1u << ROLE_VIEWER));
	ASSERT(hello(&peer, &welcome));
	ASSERT(peer_submit(&peer, "0123456789abcdef", "x", 1, false));
	ASSERT_EQ(ERR_DENIED, peer_error(&peer));
	peer_close(&peer);
	box_stop(SIGTERM);
	PASS();
}

TEST person_without_that_role_is_no_worker(void)
{
	struct peer peer;

	ASSERT(begin_as("anna", ROLES_PERSON));
	/* a connection of the master's own user may be a worker, whatever its name */
	ASSERT(peer_worker(&peer, "w", 1, NULL, 0));
	peer_close(&peer);
	box_stop(SIGTERM);
	PASS();
}

SUITE(master_rights)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(every_right_is_obeyed);
	RUN_TEST(submitter_changes_what_is_its_own);
	RUN_TEST(run_of_another_that_has_ended_stays_as_it_is);
	RUN_TEST(viewer_may_not_submit);
	RUN_TEST(person_without_that_role_is_no_worker);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_rights);
	GREATEST_MAIN_END();
}
