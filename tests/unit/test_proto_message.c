/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of messages: which peers may send what, and how a frame is printed. */
#include "proto/frame.h"
#include "proto/rights.h"
#include "greatest.h"

enum {
	V = 1 << ROLE_VIEWER, S = 1 << ROLE_SUBMITTER, P = 1 << ROLE_APPROVER, O = 1 << ROLE_OPERATOR, A = 1 << ROLE_ADMIN,
	W = 1 << ROLE_WORKER, J = 1 << ROLE_JOINER, ANYBODY = -1,
};

/* Written by hand to be compared with messages.def, so that a right given there by mistake is noticed. */
static const struct {
	enum opcode op;
	bool client;
	bool worker;
	role_set roles;
} rights[] = {
	{ OP_HELLO, true, true, ANYBODY },
	{ OP_INVENTORY, false, true, W },
	{ OP_WELCOME, false, false, ANYBODY },
	{ OP_ERROR, true, true, ANYBODY },
	{ OP_OK, false, false, ANYBODY },
	{ OP_SUBMIT, true, false, S | A },
	{ OP_GRAPH_BEGIN, true, false, S | A },
	{ OP_GRAPH_CHUNK, true, false, S | A },
	{ OP_GRAPH_COMMIT, true, false, S | A },
	{ OP_ACCEPTED, false, false, ANYBODY },
	{ OP_ACT, true, false, V | S | P | O | A },
	{ OP_SET, true, false, V | S | P | O | A },
	{ OP_JOIN, true, false, J },
	{ OP_QUERY, true, false, V | S | P | O | A },
	{ OP_SUBSCRIBE, true, false, V | S | P | O | A },
	{ OP_UNSUBSCRIBE, true, false, V | S | P | O | A },
	{ OP_SNAPSHOT, false, false, ANYBODY },
	{ OP_DELTA, false, false, ANYBODY },
	{ OP_LOG_READ, true, false, V | S | P | O | A },
	{ OP_LOG_DATA, false, false, ANYBODY },
	{ OP_SHUTDOWN, true, false, A },
	{ OP_BACKUP, true, false, A },
	{ OP_PRUNE, true, false, A },
	{ OP_PROGRESS, true, false, V | S | P | O | A },
	{ OP_VALUES, true, false, V | S | P | O | A },
	{ OP_VALUED, false, false, ANYBODY },
	{ OP_VALUES_WATCH, true, false, V | S | P | O | A },
	{ OP_VALUES_CHANGED, false, false, ANYBODY },
	{ OP_GOODS_HAVE, true, false, S | O | A },
	{ OP_GOODS_HAS, false, false, ANYBODY },
	{ OP_GOODS_PUT, true, false, S | O | A },
	{ OP_GOODS_PACK, true, false, S | O | A },
	{ OP_GOODS_STORED, false, false, ANYBODY },
	{ OP_GOODS_READ, true, false, V | S | P | O | A },
	{ OP_ARTIFACTS, true, false, V | S | P | O | A },
	{ OP_GOODS_DATA, false, false, ANYBODY },
	{ OP_STAGE_READ, false, true, W },
	{ OP_MOMENT, true, false, V | S | P | O | A },
	{ OP_SHOWN, false, false, ANYBODY },
	{ OP_HEARTBEAT, false, true, W },
	{ OP_ASSIGN, false, false, ANYBODY },
	{ OP_CONTEXT, false, false, ANYBODY },
	{ OP_RECALL, false, false, ANYBODY },
	{ OP_STOP, false, false, ANYBODY },
	{ OP_STARTED, false, true, W },
	{ OP_DONE, false, true, W },
	{ OP_ACK, false, false, ANYBODY },
	{ OP_OUTPUT, false, true, W },
	{ OP_CREDIT, false, false, ANYBODY },
	{ OP_RELAY, false, true, W },
	{ OP_QUIT, false, false, ANYBODY },
};

#define RIGHTS (sizeof(rights) / sizeof(rights[0]))

static bool expected(size_t row, enum peer_kind sender, enum role role)
{
	if (!(sender == PEER_CLIENT ? rights[row].client : rights[row].worker))
		return false;
	return rights[row].roles == (role_set)ANYBODY || (role != ROLE_NOBODY && rights[row].roles & 1u << role);
}

TEST every_message_has_a_row(void)
{
	size_t messages = 0;

	for (unsigned op = 0; op < OP_LIMIT + 10; op++) {
		size_t rows = 0;

		for (size_t row = 0; row < RIGHTS; row++)
			rows += (unsigned)rights[row].op == op;
		ASSERT_EQ_FMT((size_t)(message_shape(op) != NULL), rows, "%zu");
		messages += rows;
	}
	ASSERT_EQ_FMT(RIGHTS, messages, "%zu");
	PASS();
}

TEST rights_matrix(void)
{
	for (size_t row = 0; row < RIGHTS; row++)
		for (int number = ROLE_NOBODY; number <= ROLE_JOINER; number++) {
			enum opcode op = rights[row].op;
			enum role role = (enum role)number;
			const char *name = message_shape(op)->name;

			for (int peer = PEER_CLIENT; peer <= PEER_WORKER; peer++)
				ASSERT_EQm(name, expected(row, (enum peer_kind)peer, role),
					   message_allowed(op, (enum peer_kind)peer, ROLE_BIT_OF(role)));
		}
	PASS();
}

TEST nobody_sends_what_isnt_known(void)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		if (!message_shape(op))
			ASSERT_FALSE(message_allowed((enum opcode)op, PEER_CLIENT, ROLES_ADMIN));
		ASSERT_FALSE(message_allowed((enum opcode)op, (enum peer_kind)0, ROLES_ADMIN));
		ASSERT_FALSE(message_allowed((enum opcode)op, (enum peer_kind)4, ROLES_ADMIN));
		ASSERT_FALSE(message_allowed((enum opcode)op, (enum peer_kind)7, ROLES_ADMIN));
	}
	PASS();
}

static enum greatest_test_res check_shape(const struct shape *shape)
{
	ASSERT(shape && shape->name[0] && shape->field_count > 0);
	for (size_t i = 0; i < shape->field_count; i++) {
		const struct field_info *field = &shape->fields[i];

		ASSERT(field->name[0] && field->key > 0);
		ASSERT_LT(field->offset, shape->size);
		ASSERT_EQ(field->type == TYPE_RECORDS, field->record != REC_COUNT);
		for (size_t j = 0; j < i; j++)
			ASSERT_NEQ(shape->fields[j].key, field->key);
		if (shape->array)
			ASSERT_EQm("a record in list form has its keys by position", i + 1, (size_t)field->key);
	}
	PASS();
}

TEST shapes_are_sound(void)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		const struct shape *shape = message_shape(op);

		if (!shape)
			continue;
		CHECK_CALL(check_shape(shape));
		ASSERT_EQ((unsigned)shape->opcode, op);
		ASSERT_FALSE(shape->array);
		ASSERT(shape->doc[0]);
	}
	for (int kind = 0; kind < REC_COUNT; kind++)
		CHECK_CALL(check_shape(record_shape((enum record_kind)kind)));
	ASSERT_EQ(NULL, record_shape(REC_COUNT));
	PASS();
}

TEST names_of_enums(void)
{
	ASSERT_STR_EQ("exit_unknown", outcome_name(OUTCOME_EXIT_UNKNOWN));
	ASSERT_STR_EQ("none", outcome_name(OUTCOME_NONE));
	ASSERT_STR_EQ("unknown", outcome_name((enum outcome)99));
	ASSERT_STR_EQ("lost", worker_state_name(WORKER_LOST));
	ASSERT_STR_EQ("ended", worker_state_name(WORKER_ENDED));
	ASSERT_STR_EQ("unknown", worker_state_name((enum worker_state)99));
	PASS();
}

static const char *printed(struct buf *out, enum opcode op, struct slice body)
{
	buf_clear(out);
	message_print(out, op, body);
	return buf_cstr(out);
}

TEST frames_are_printed(void)
{
	struct rec_stop stops[] = { { 7, 4294967297, 5000 }, { 8, 4294967297, 0 } };
	struct msg_stop stop = { .items = { stops, 2 } };
	struct slice argv[] = { slice_str("echo"), slice_str("a\x1b[2Jb") };
	struct rec_job_spec spec = { .name = slice_str("load"), .argv = { argv, 2 } };
	struct msg_submit submit = { .id = 5, .name = slice_str("\xff"), .count = 1 };
	struct buf frame = { 0 }, out = { 0 }, jobs = { 0 };

	message_encode(&frame, OP_STOP, &stop);
	buf_drop(&frame, FRAME_HEADER_SIZE);
	ASSERT_STR_EQ("STOP (33), 29 bytes\n"
		      "  items: 2 entries\n"
		      "    - job=7 epoch=4294967297 grace_ms=5000\n"
		      "    - job=8 epoch=4294967297 grace_ms=0\n", printed(&out, OP_STOP, buf_slice(&frame)));
	buf_clear(&frame);
	record_encode(&jobs, REC_job_spec, &spec);
	submit.jobs = buf_slice(&jobs);
	submit.key = slice_make("\x01\x02", 2);
	message_encode(&frame, OP_SUBMIT, &submit);
	buf_drop(&frame, FRAME_HEADER_SIZE);
	ASSERT_STR_EQ("SUBMIT (10), 37 bytes\n"
		      "  id: 5\n"
		      "  key: 2 bytes: 01 02\n"
		      "  name: \"\\xff\"\n"
		      "  jobs: 21 bytes\n"
		      "    job_spec\n"
		      "      name: \"load\"\n"
		      "      argv: 2 entries: \"echo\" \"a\\x1b[2Jb\"\n"
		      "  count: 1\n", printed(&out, OP_SUBMIT, buf_slice(&frame)));
	ASSERT_STR_EQ("OK (05), 1 bytes\n  malformed: a list or map claims 1 entries in 0 bytes\n",
		      printed(&out, OP_OK, slice_make("\x81", 1)));
	ASSERT_STR_EQ("unknown message (ee), 5 bytes\n  unknown 1: nil\n  unknown -1: yes\n",
		      printed(&out, (enum opcode)0xee, slice_make("\x82\x01\xc0\xff\xc3", 5)));
	buf_free(&jobs);
	buf_free(&frame);
	buf_free(&out);
	PASS();
}

SUITE(proto_message)
{
	RUN_TEST(every_message_has_a_row);
	RUN_TEST(rights_matrix);
	RUN_TEST(nobody_sends_what_isnt_known);
	RUN_TEST(shapes_are_sound);
	RUN_TEST(names_of_enums);
	RUN_TEST(frames_are_printed);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_message);
	GREATEST_MAIN_END();
}
