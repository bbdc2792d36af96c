/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A running master and peers of its own version of the protocol, of the one before, and of others. */
#include "master_box.h"

#include "tests/greatest.h"

static bool hello_with(struct peer *peer, const struct msg_hello *hello, uint64_t *ret_version)
{
	struct msg_welcome welcome;

	if (!peer_connect(peer) || !peer_send(peer, OP_HELLO, hello) || !peer_expect(peer, OP_WELCOME, &welcome))
		return false;
	*ret_version = welcome.version;
	return true;
}

static bool worker_with(struct peer *peer, const char *name, uint64_t lowest, uint64_t newest, uint64_t *ret_version)
{
	struct msg_hello hello = {
		.version = lowest, .newest = newest, .kind = PEER_WORKER, .name = slice_str(name),
		.instance = slice_make("0123456789abcdef", 16), .slots = 1, .pid = 4242,
	};

	return hello_with(peer, &hello, ret_version);
}

TEST each_connection_has_its_own_version(void)
{
	const struct msg_hello of_today = { .version = PROTOCOL_BEFORE, .newest = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	const struct msg_hello of_before = { .version = PROTOCOL_BEFORE, .kind = PEER_CLIENT };
	const struct msg_hello of_later = { .version = PROTOCOL_VERSION, .newest = PROTOCOL_VERSION + 9, .kind = PEER_CLIENT };
	struct peer today, before, later, w1, w2;
	struct msg_snapshot snapshot;
	uint64_t version;

	ASSERT(box_start());
	ASSERT(hello_with(&today, &of_today, &version));
	ASSERT_EQ(PROTOCOL_VERSION, version);
	ASSERT(hello_with(&later, &of_later, &version));
	ASSERT_EQ(PROTOCOL_VERSION, version);
	ASSERT(hello_with(&before, &of_before, &version));
	ASSERT_EQ(PROTOCOL_BEFORE, version);
	ASSERT(worker_with(&w1, "w1", PROTOCOL_BEFORE, 0, &version));
	ASSERT_EQ(PROTOCOL_BEFORE, version);
	ASSERT(worker_with(&w2, "w2", PROTOCOL_BEFORE, PROTOCOL_VERSION, &version));
	ASSERT_EQ(PROTOCOL_VERSION, version);

	/* A client of this version sees the workers' versions; one of the version before isn't sent that field. */
	ASSERT(peer_query(&today, QUERY_WORKERS, 0, "", 0, 0, &snapshot));
	ASSERT_EQ(2, snapshot.workers.n);
	ASSERT_EQ(PROTOCOL_BEFORE, snapshot.workers.at[0].protocol);
	ASSERT_EQ(PROTOCOL_VERSION, snapshot.workers.at[1].protocol);
	ASSERT(peer_query(&before, QUERY_WORKERS, 0, "", 0, 0, &snapshot));
	ASSERT_EQ(2, snapshot.workers.n);
	ASSERT(slice_eq(snapshot.workers.at[0].name, slice_str("w1")));
	ASSERT_EQ(0, snapshot.workers.at[0].protocol);
	ASSERT_EQ(0, snapshot.workers.at[1].protocol);
	peer_close(&w1);
	peer_close(&w2);
	peer_close(&today);
	peer_close(&later);
	peer_close(&before);
	PASS();
}

/* Send a HELLO that must be refused, and check what the ERROR says. */
static enum greatest_test_res refused(const struct msg_hello *hello, const char *text, const char *next)
{
	struct peer peer;
	struct msg_error error;

	ASSERT(peer_connect(&peer));
	ASSERT(peer_send(&peer, OP_HELLO, hello));
	ASSERT(peer_expect(&peer, OP_ERROR, &error));
	ASSERT_EQ(ERR_VERSION, error.code);
	ASSERTm(text, memmem(error.text.data, error.text.len, text, strlen(text)));
	ASSERTm(next, slice_eq(error.next, slice_str(next)));
	ASSERT(peer_ended(&peer));
	peer_close(&peer);
	PASS();
}

TEST other_versions_are_told_which_side_to_upgrade(void)
{
	struct msg_hello hello = { .version = PROTOCOL_BEFORE - 1, .kind = PEER_CLIENT };

	ASSERT(box_start());
	CHECK_CALL(refused(&hello, "the client is too old", "titan version"));
	hello.kind = PEER_WORKER;
	hello.name = slice_str("w1");
	CHECK_CALL(refused(&hello, "the worker is too old", "titan worker upgrade w1"));
	hello.name = slice_str("w1; rm\033");
	CHECK_CALL(refused(&hello, "the worker is too old", "titan worker upgrade"));
	hello.version = hello.newest = PROTOCOL_VERSION + 1;
	CHECK_CALL(refused(&hello, "the master is too old", "titan up --upgrade"));
	hello.version = UINT64_MAX;
	CHECK_CALL(refused(&hello, "the master is too old", "titan up --upgrade"));
	hello = (struct msg_hello){ .kind = PEER_CLIENT };
	CHECK_CALL(refused(&hello, "the client is too old", "titan version"));
	PASS();
}

SUITE(master_version)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(each_connection_has_its_own_version);
	RUN_TEST(other_versions_are_told_which_side_to_upgrade);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_version);
	GREATEST_MAIN_END();
}
