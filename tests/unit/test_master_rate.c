/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a token may send requests: first a burst, then a rate; each token is counted for itself. */
#include "greatest.h"
#include "master/rate.h"
#include "master_box.h"

static struct rates rates;

static void teardown_cb(void *data)
{
	(void)data;
	rates_free(&rates);
	memset(&rates, 0, sizeof(rates));
}

static int64_t take(const char *who, int64_t now_ms)
{
	return rate_take(&rates, slice_str(who), now_ms * NS_PER_MS) / NS_PER_MS;
}

TEST burst_is_allowed_and_then_the_rate(void)
{
	rates.burst = 5;
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, take("anna", 1000));
	ASSERT_EQ(1000 / LIMIT_REQUEST_RATE, take("anna", 1000));
	ASSERT_EQ(1000 / LIMIT_REQUEST_RATE - 1, take("anna", 1001));
	ASSERT_EQ(0, take("anna", 1000 + 1000 / LIMIT_REQUEST_RATE));
	ASSERT(take("anna", 1000 + 1000 / LIMIT_REQUEST_RATE) > 0);
	PASS();
}

TEST refused_request_costs_nothing(void)
{
	rates.burst = 1;
	ASSERT_EQ(0, take("anna", 1000));
	for (int i = 0; i < 100; i++)
		ASSERT(take("anna", 1000) > 0);
	ASSERT_EQ(0, take("anna", 1000 + 1000 / LIMIT_REQUEST_RATE));
	PASS();
}

TEST burst_comes_back_after_a_pause_and_no_more_than_that(void)
{
	rates.burst = 3;
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, take("anna", 1000));
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, take("anna", 1000000));
	ASSERT(take("anna", 1000000) > 0);
	PASS();
}

TEST one_token_never_delays_another(void)
{
	char name[32];

	rates.burst = 1;
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "token%d", i);
		ASSERT_EQ(0, take(name, 1000 + i));
		ASSERT(take(name, 1000 + i) > 0);
	}
	ASSERT(rates.due.count < 1000);          /* entries that no longer matter were dropped */
	PASS();
}

TEST connection_lives_on_after_a_refusal(void)
{
	static const struct person anna = { .name = "anna", .roles = ROLES_PERSON };
	struct person person = anna;
	struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	struct msg_error refused = { 0 };
	struct msg_welcome welcome;
	struct msg_snapshot status;
	struct peer peer;
	enum err err = ERR_NONE;

	person.uid = getuid();
	box_people = (struct people){ &person, 1 };
	box_request_burst = 3;
	ASSERT(box_start() && peer_connect(&peer) && peer_send(&peer, OP_HELLO, &hello) && peer_expect(&peer, OP_WELCOME, &welcome));
	for (unsigned i = 0; i < 100 && err == ERR_NONE; i++) {
		struct msg_set set = { .id = ++peer.last_id, .kind = OBJECT_TENANT, .verb = SET_PUT, .name = slice_str("t"), .weight = 2 };
		struct frame frame;

		ASSERT(peer_send(&peer, OP_SET, &set) && peer_frame(&peer, &frame));
		arena_reset(&peer.arena);
		if (frame.opcode == OP_OK)
			continue;
		ASSERT_EQ(ERR_NONE, message_decode(OP_ERROR, frame.body, &peer.arena, &refused, NULL));
		ASSERT_EQ(set.id, refused.id);
		err = (enum err)refused.code;
		ASSERT(i >= 3);
	}
	ASSERT_EQ(ERR_BUSY, err);
	ASSERT(strstr(arena_strdup(&peer.arena, refused.text), "try again in"));
	ASSERT(peer_query(&peer, QUERY_STATUS, 0, "", 0, 0, &status));
	peer_close(&peer);
	PASS();
}

SUITE(master_rate)
{
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(burst_is_allowed_and_then_the_rate);
	RUN_TEST(refused_request_costs_nothing);
	RUN_TEST(burst_comes_back_after_a_pause_and_no_more_than_that);
	RUN_TEST(one_token_never_delays_another);
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(connection_lives_on_after_a_refusal);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_rate);
	GREATEST_MAIN_END();
}
