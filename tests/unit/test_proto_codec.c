/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Properties of the codec: every message and record, filled at random, decodes to what was encoded; cut or changed
 * anywhere, it is refused or decoded, and never read past its end. Bytes are decoded from memory of exactly their size,
 * so that a sanitizer notices.
 */
#include <msgpack.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "message_random.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "proto/pack.h"
#include "greatest.h"

/* What is decoded, a message or a record, and by which function. */
struct subject {
	const struct shape *shape;
	bool is_record;
	unsigned number;         /* number of the message or record: an opcode or an enum record_kind */
};

static struct error error;

static void encode(struct buf *out, const struct subject *subject, const void *value)
{
	if (subject->is_record) {
		record_encode(out, (enum record_kind)subject->number, value);
		return;
	}
	message_encode(out, (enum opcode)subject->number, value);
	buf_drop(out, FRAME_HEADER_SIZE);
}

static enum err decode_in_place(const struct subject *subject, struct slice body, struct arena *arena,
				void *ret_value)
{
	if (!subject->is_record)
		return message_decode((enum opcode)subject->number, body, arena, ret_value, &error);
	return record_decode((enum record_kind)subject->number, &body, arena, ret_value, &error);
}

/* Decode from a copy that is freed afterwards; *ret_again is the decoded value, encoded again. */
static enum err decode(const struct subject *subject, struct slice body, struct buf *ret_again)
{
	alignas(max_align_t) uint8_t value[MESSAGE_STRUCT_MAX];
	uint8_t *copy = mem_alloc(body.len);
	struct arena arena = { 0 };
	enum err code;

	if (body.len > 0)
		memcpy(copy, body.data, body.len);
	code = decode_in_place(subject, slice_make(copy, body.len), &arena, value);
	if (code == ERR_NONE && ret_again)
		encode(ret_again, subject, value);
	arena_free(&arena);
	mem_free(copy);
	return code;
}

typedef enum greatest_test_res subject_cb(const struct subject *subject);

static enum greatest_test_res for_each_subject(subject_cb *cb)
{
	for (unsigned op = 0; op < OP_LIMIT; op++) {
		struct subject subject = { .shape = message_shape(op), .number = op };

		if (subject.shape)
			CHECK_CALL(cb(&subject));
	}
	for (unsigned kind = 0; kind < REC_COUNT; kind++) {
		struct subject subject = {
			.shape = record_shape((enum record_kind)kind), .is_record = true, .number = kind,
		};

		CHECK_CALL(cb(&subject));
	}
	PASS();
}

static void random_value(struct random_messages *random, const struct subject *subject, uint64_t seed,
			 struct buf *out)
{
	alignas(max_align_t) uint8_t value[MESSAGE_STRUCT_MAX];

	rand_seed(&random->rand, seed);
	arena_reset(&random->arena);
	random_shape(random, subject->shape, value);
	encode(out, subject, value);
}

static bool same_shape(const struct shape *shape, const uint8_t *a, const uint8_t *b);

struct any_list {
	const uint8_t *at;
	size_t n;
};

static bool same_field(const struct field_info *field, const uint8_t *a, const uint8_t *b)
{
	const struct shape *shape = record_shape((enum record_kind)field->record);
	struct any_list list_a, list_b;

	a += field->offset;
	b += field->offset;
	switch (field->type) {
	case TYPE_U64:
	case TYPE_I64: return memcmp(a, b, sizeof(uint64_t)) == 0;
	case TYPE_BOOL: return *(const bool *)a == *(const bool *)b;
	case TYPE_STR:
	case TYPE_BIN: return slice_eq(*(const struct slice *)a, *(const struct slice *)b);
	default: break;
	}
	memcpy(&list_a, a, sizeof(list_a));
	memcpy(&list_b, b, sizeof(list_b));
	if (list_a.n != list_b.n)
		return false;
	if (field->type == TYPE_U64S)
		return list_a.n == 0 || memcmp(list_a.at, list_b.at, list_a.n * sizeof(uint64_t)) == 0;
	for (size_t i = 0; i < list_a.n; i++) {
		if (field->type == TYPE_STRS ? !slice_eq(((const struct slice *)list_a.at)[i],
							 ((const struct slice *)list_b.at)[i])
					     : !same_shape(shape, list_a.at + i * shape->size,
							   list_b.at + i * shape->size))
			return false;
	}
	return true;
}

static bool same_shape(const struct shape *shape, const uint8_t *a, const uint8_t *b)
{
	for (size_t i = 0; i < shape->field_count; i++)
		if (!same_field(&shape->fields[i], a, b))
			return false;
	return true;
}

/* A value that is decoded and encoded again has the same bytes. */
static enum greatest_test_res comes_back(const struct subject *subject)
{
	struct random_messages random = { .list_max = 20 };
	struct buf first = { 0 }, second = { 0 };
	struct arena arena = { 0 };

	for (uint64_t seed = 1; seed <= 150; seed++) {
		alignas(max_align_t) uint8_t value[MESSAGE_STRUCT_MAX], back[MESSAGE_STRUCT_MAX];

		buf_clear(&first);
		buf_clear(&second);
		arena_reset(&arena);
		rand_seed(&random.rand, seed);
		arena_reset(&random.arena);
		random_shape(&random, subject->shape, value);
		encode(&first, subject, value);
		ASSERT_EQ_FMTm(subject->shape->name, ERR_NONE,
			       decode_in_place(subject, buf_slice(&first), &arena, back), "%d");
		ASSERTm(subject->shape->name, same_shape(subject->shape, value, back));
		ASSERT_EQm(subject->shape->name, ERR_NONE, decode(subject, buf_slice(&first), &second));
		ASSERTm(subject->shape->name, slice_eq(buf_slice(&first), buf_slice(&second)));
	}
	arena_free(&arena);
	buf_free(&first);
	buf_free(&second);
	arena_free(&random.arena);
	PASS();
}

TEST every_message_comes_back(void)
{
	return for_each_subject(comes_back);
}

static enum greatest_test_res is_refused_when_cut(const struct subject *subject)
{
	struct random_messages random = { .list_max = 3 };
	struct buf bytes = { 0 };

	for (uint64_t seed = 1; seed <= 4; seed++) {
		size_t step;

		buf_clear(&bytes);
		random_value(&random, subject, seed, &bytes);
		step = bytes.len > 4000 ? 97 : 1;
		for (size_t len = 0; len < bytes.len; len += step)
			ASSERT_EQ_FMTm(subject->shape->name, ERR_FRAME,
				       decode(subject, slice_make(bytes.data, len), NULL), "%d");
	}
	buf_free(&bytes);
	arena_free(&random.arena);
	PASS();
}

TEST every_cut_is_refused(void)
{
	return for_each_subject(is_refused_when_cut);
}

/* What still decodes after flipped bits must encode, and decode again. */
static enum greatest_test_res survives_flips(const struct subject *subject)
{
	static const uint8_t flips[] = { 0xff, 0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01 };
	struct random_messages random = { .list_max = 3 };
	struct buf bytes = { 0 }, again = { 0 };

	for (uint64_t seed = 11; seed <= 13; seed++) {
		buf_clear(&bytes);
		random_value(&random, subject, seed, &bytes);
		for (size_t at = 0; at < bytes.len; at += bytes.len > 4000 ? 97 : 1)
			for (size_t flip = 0; flip < sizeof(flips); flip++) {
				bytes.data[at] ^= flips[flip];
				buf_clear(&again);
				if (decode(subject, buf_slice(&bytes), &again) == ERR_NONE)
					ASSERT_EQ_FMTm(subject->shape->name, ERR_NONE,
						       decode(subject, buf_slice(&again), NULL), "%d");
				bytes.data[at] ^= flips[flip];
			}
	}
	buf_free(&again);
	buf_free(&bytes);
	arena_free(&random.arena);
	PASS();
}

TEST every_flip_is_survived(void)
{
	return for_each_subject(survives_flips);
}

static int append_cb(void *data, const char *bytes, size_t len)
{
	buf_add(data, bytes, len);
	return 0;
}

enum change { DROP, SPOIL };

/* Copy the bytes with one field left out or set to nil. In list form the fields behind it are left out too. */
static void change_field(struct buf *out, const struct shape *shape, struct slice body, size_t index,
			 enum change change)
{
	msgpack_packer packer = { .data = out, .callback = append_cb };
	msgpack_unpacked unpacked;
	msgpack_object *root;
	size_t offset = 0;

	msgpack_unpacked_init(&unpacked);
	msgpack_unpack_next(&unpacked, (const char *)body.data, body.len, &offset);
	root = &unpacked.data;
	if (shape->array) {
		if (change == DROP)
			root->via.array.size = (uint32_t)index;
		else
			root->via.array.ptr[index].type = MSGPACK_OBJECT_NIL;
		msgpack_pack_object(&packer, *root);
	} else if (change == DROP) {
		msgpack_pack_map(&packer, root->via.map.size - 1);
		for (uint32_t i = 0; i < root->via.map.size; i++) {
			if (root->via.map.ptr[i].key.via.u64 == shape->fields[index].key)
				continue;
			msgpack_pack_object(&packer, root->via.map.ptr[i].key);
			msgpack_pack_object(&packer, root->via.map.ptr[i].val);
		}
	} else {
		for (uint32_t i = 0; i < root->via.map.size; i++)
			if (root->via.map.ptr[i].key.via.u64 == shape->fields[index].key)
				root->via.map.ptr[i].val.type = MSGPACK_OBJECT_NIL;
		msgpack_pack_object(&packer, *root);
	}
	msgpack_unpacked_destroy(&unpacked);
}

static enum greatest_test_res names_its_fields(const struct subject *subject)
{
	struct random_messages random = { .list_max = 3 };
	const struct shape *shape = subject->shape;
	struct buf bytes = { 0 }, changed = { 0 };

	random_value(&random, subject, 21, &bytes);
	for (size_t i = 0; i < shape->field_count; i++) {
		char name[64];

		if (!shape->fields[i].must)
			continue;
		snprintf(name, sizeof(name), "field %s (%u) of %s", shape->fields[i].name, shape->fields[i].key,
			 shape->name);
		buf_clear(&changed);
		change_field(&changed, shape, buf_slice(&bytes), i, DROP);
		ASSERT_EQ_FMTm(name, ERR_MISSING_FIELD, decode(subject, buf_slice(&changed), NULL), "%d");
		ASSERT_EQ(ERR_MISSING_FIELD, error.code);
		ASSERTm(name, strstr(error.text, name) != NULL);
		buf_clear(&changed);
		change_field(&changed, shape, buf_slice(&bytes), i, SPOIL);
		ASSERT_EQ_FMTm(name, ERR_WRONG_TYPE, decode(subject, buf_slice(&changed), NULL), "%d");
		ASSERTm(name, strstr(error.text, name) != NULL);
	}
	buf_free(&changed);
	buf_free(&bytes);
	arena_free(&random.arena);
	PASS();
}

TEST missing_and_wrong_fields_are_named(void)
{
	return for_each_subject(names_its_fields);
}

/* Fields of a newer sender are skipped: an unknown key at the end of a map, a further value at the end of a list. */
static enum greatest_test_res skips_what_is_new(const struct subject *subject)
{
	struct random_messages random = { .list_max = 3 };
	struct buf bytes = { 0 }, newer = { 0 }, again = { 0 };
	msgpack_unpacked unpacked;
	size_t offset = 0;

	random_value(&random, subject, 31, &bytes);
	msgpack_unpacked_init(&unpacked);
	msgpack_unpack_next(&unpacked, (const char *)bytes.data, bytes.len, &offset);
	msgpack_packer packer = { .data = &newer, .callback = append_cb };

	if (subject->shape->array) {
		pack_array(&newer, unpacked.data.via.array.size + 1);
		for (uint32_t i = 0; i < unpacked.data.via.array.size; i++)
			msgpack_pack_object(&packer, unpacked.data.via.array.ptr[i]);
	} else {
		pack_map(&newer, unpacked.data.via.map.size + 3);
		pack_u64(&newer, 1000000);
		pack_str(&newer, slice_str("new"));
		pack_str(&newer, slice_str("a key that is no number"));
		pack_i64(&newer, -5);
		for (uint32_t i = 0; i < unpacked.data.via.map.size; i++) {
			msgpack_pack_object(&packer, unpacked.data.via.map.ptr[i].key);
			msgpack_pack_object(&packer, unpacked.data.via.map.ptr[i].val);
		}
		pack_u64(&newer, UINT64_MAX);
	}
	pack_array(&newer, 2);
	pack_map(&newer, 0);
	buf_add(&newer, "\xca\0\0\0\0", 5);
	msgpack_unpacked_destroy(&unpacked);
	ASSERT_EQ_FMTm(subject->shape->name, ERR_NONE, decode(subject, buf_slice(&newer), &again), "%d");
	ASSERT(slice_eq(buf_slice(&bytes), buf_slice(&again)));
	buf_free(&again);
	buf_free(&newer);
	buf_free(&bytes);
	arena_free(&random.arena);
	PASS();
}

TEST unknown_keys_are_skipped(void)
{
	return for_each_subject(skips_what_is_new);
}

static enum err decode_ok(const char *bytes, size_t len, struct msg_ok *ret_ok)
{
	struct arena arena = { 0 };
	enum err code = message_decode(OP_OK, slice_make(bytes, len), &arena, ret_ok, &error);

	arena_free(&arena);
	return code;
}

#define DECODE_OK(text, ok) decode_ok(text, sizeof(text) - 1, ok)

TEST forms_of_a_message(void)
{
	struct msg_ok ok = { .id = 42, .count = 43 };

	ASSERT_EQ_FMT(ERR_INVALID, DECODE_OK("\x82\x01\x05\x01\x06", &ok), "%d");
	ASSERT(strstr(error.text, "field id (1) of OK is given twice") != NULL);
	ASSERT_EQ_FMT(ERR_WRONG_TYPE, DECODE_OK("\x91\x01", &ok), "%d");
	ASSERT_EQ_FMT(ERR_WRONG_TYPE, DECODE_OK("\x81\x01\xff", &ok), "%d");       /* a negative id */
	ASSERT_EQ_FMT(ERR_FRAME, DECODE_OK("\x81\x01\x05\x00", &ok), "%d");
	ASSERT_EQ_FMT(ERR_FRAME, DECODE_OK("\xdf\xff\xff\xff\xff\x01", &ok), "%d");
	ASSERT_EQ(ERR_UNKNOWN_OP, message_decode((enum opcode)0xee, slice_str("\x80"), NULL, &ok, &error));
	ASSERT_EQ(42, ok.id);
	ASSERT_EQ(43, ok.count);
	ASSERT_EQ_FMT(ERR_NONE, DECODE_OK("\x81\xcf\0\0\0\0\0\0\0\x01\xd3\0\0\0\0\0\0\0\x07", &ok), "%d");
	ASSERT_EQ(7, ok.id);
	ASSERT_EQ(0, ok.count);
	PASS();
}

/* Text isn't accepted as bytes nor bytes as text; a number above a field's range is a wrong type. */
TEST types_are_strict(void)
{
	struct arena arena = { 0 };
	struct rec_assign assign;
	struct rec_started started;
	struct slice str = slice_make("\x96\x01\x02\x03\x04\x05\xa1x", 8);
	struct slice bin = slice_make("\x96\x01\x02\x03\x04\x05\xc4\x01x", 9);
	struct slice low = slice_make("\x94\x01\x02\xd3\x80\0\0\0\0\0\0\0\x04", 13);
	struct slice high = slice_make("\x94\x01\x02\xcf\x80\0\0\0\0\0\0\0\x04", 13);

	ASSERT_EQ(ERR_WRONG_TYPE, record_decode(REC_assign, &str, &arena, &assign, &error));
	ASSERT_EQ(ERR_NONE, record_decode(REC_assign, &bin, &arena, &assign, &error));
	ASSERT(slice_eq(slice_str("x"), assign.spec));
	ASSERT_EQ_FMT((size_t)0, bin.len, "%zu");
	ASSERT_EQ(ERR_NONE, record_decode(REC_started, &low, &arena, &started, &error));
	ASSERT_EQ(INT64_MIN, started.wall_ms);
	ASSERT_EQ(ERR_WRONG_TYPE, record_decode(REC_started, &high, &arena, &started, &error));
	ASSERT_EQ_FMT((size_t)13, high.len, "%zu");
	arena_free(&arena);
	PASS();
}

TEST records_one_after_the_other(void)
{
	struct slice argv[] = { slice_str("sleep"), slice_str("1") };
	struct rec_job_spec specs[] = {
		{ .name = slice_str("a"), .argv = { argv, 2 } },
		{ .name = slice_str("b"), .script = slice_str("x | y"), .retry_max = 3 },
	};
	struct rec_job_spec spec;
	struct buf bytes = { 0 };
	struct arena arena = { 0 };
	struct slice rest;

	record_encode(&bytes, REC_job_spec, &specs[0]);
	record_encode(&bytes, REC_job_spec, &specs[1]);
	rest = buf_slice(&bytes);
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &rest, &arena, &spec, &error));
	ASSERT(slice_eq(specs[0].name, spec.name));
	ASSERT_EQ_FMT((size_t)2, spec.argv.n, "%zu");
	ASSERT(slice_eq(argv[1], spec.argv.at[1]));
	/* borrowed, not copied */
	ASSERT(spec.name.data > bytes.data && spec.name.data < bytes.data + bytes.len);
	ASSERT_EQ(ERR_NONE, record_decode(REC_job_spec, &rest, &arena, &spec, &error));
	ASSERT(slice_eq(specs[1].script, spec.script));
	ASSERT_EQ(3, spec.retry_max);
	ASSERT_EQ_FMT((size_t)0, rest.len, "%zu");
	ASSERT_EQ(ERR_FRAME, record_decode(REC_job_spec, &rest, &arena, &spec, &error));
	arena_free(&arena);
	buf_free(&bytes);
	PASS();
}

/* A frame is appended to what the buffer already holds, with a header that frame_read accepts. */
TEST frames_are_appended(void)
{
	struct buf out = { 0 };
	struct frame frame;
	struct msg_ok ok;
	size_t size;

	buf_add_str(&out, "before");
	message_encode(&out, OP_OK, &(struct msg_ok){ .id = 300 });
	message_encode(&out, OP_OK, &(struct msg_ok){ .id = 301, .count = 1 });
	buf_drop(&out, 6);
	for (uint64_t id = 300; id < 302; id++) {
		ASSERT_EQ(FRAME_WHOLE, frame_read(buf_slice(&out), LIMIT_FRAME_MAX, &frame, &size, &error));
		ASSERT_EQ(OP_OK, (enum opcode)frame.opcode);
		ASSERT_EQ(ERR_NONE, message_decode(OP_OK, frame.body, NULL, &ok, &error));
		ASSERT_EQ(id, ok.id);
		buf_drop(&out, size);
	}
	ASSERT_EQ_FMT((size_t)0, out.len, "%zu");
	buf_free(&out);
	PASS();
}

TEST a_frame_over_the_limit_stops_its_sender(void)
{
	static uint8_t large[LIMIT_FRAME_MAX];
	struct msg_graph_chunk chunk = { .jobs = slice_make(large, sizeof(large) - 20) };
	struct buf out = { 0 };
	int status = 0;
	pid_t pid;

	message_encode(&out, OP_GRAPH_CHUNK, &chunk);
	buf_free(&out);
	pid = fork();
	if (pid == 0) {
		close(STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		chunk.jobs.len = sizeof(large);
		message_encode(&out, OP_GRAPH_CHUNK, &chunk);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	PASS();
}

SUITE(proto_codec)
{
	RUN_TEST(every_message_comes_back);
	RUN_TEST(every_cut_is_refused);
	RUN_TEST(every_flip_is_survived);
	RUN_TEST(missing_and_wrong_fields_are_named);
	RUN_TEST(unknown_keys_are_skipped);
	RUN_TEST(forms_of_a_message);
	RUN_TEST(types_are_strict);
	RUN_TEST(records_one_after_the_other);
	RUN_TEST(frames_are_appended);
	RUN_TEST(a_frame_over_the_limit_stops_its_sender);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_codec);
	GREATEST_MAIN_END();
}
