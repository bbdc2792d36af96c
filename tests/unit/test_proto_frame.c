/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frame headers, and the checks before MessagePack is unpacked. */
#include "base/mem.h"
#include "proto/frame.h"
#include "proto/limits.h"
#include "greatest.h"

static struct error error;

/* Check bytes in memory of exactly their size, so that a sanitizer notices a read past the end. */
static enum err check(const void *bytes, size_t len, size_t *ret_size)
{
	uint8_t *copy = mem_alloc(len);
	enum err code;

	if (len > 0)
		memcpy(copy, bytes, len);
	code = frame_check(slice_make(copy, len), ret_size, &error);
	mem_free(copy);
	return code;
}

#define CHECK_OF(text) check(text, sizeof(text) - 1, NULL)

TEST header_goes_there_and_back(void)
{
	uint8_t bytes[FRAME_HEADER_SIZE + 300] = { 0 };
	struct frame frame;
	size_t size = 0;

	frame_header(bytes, 0x37, 300);
	ASSERT_MEM_EQ("\x02\x37\0\0\0\0\x01\x2c", bytes, FRAME_HEADER_SIZE);
	for (size_t len = 0; len < sizeof(bytes); len++)
		ASSERT_EQ(FRAME_PARTIAL, frame_read(slice_make(bytes, len), 300, &frame, &size, &error));
	ASSERT_EQ(0, size);
	ASSERT_EQ(FRAME_WHOLE, frame_read(slice_make(bytes, sizeof(bytes)), 300, &frame, &size, &error));
	ASSERT_EQ_FMT(sizeof(bytes), size, "%zu");
	ASSERT_EQ_FMT(0x37, frame.opcode, "%x");
	ASSERT_EQ(bytes + FRAME_HEADER_SIZE, frame.body.data);
	ASSERT_EQ_FMT((size_t)300, frame.body.len, "%zu");
	ASSERT_EQ(FRAME_BAD, frame_read(slice_make(bytes, FRAME_HEADER_SIZE), 299, &frame, &size, &error));
	ASSERT_EQ(ERR_FRAME, error.code);
	PASS();
}

TEST header_of_something_else(void)
{
	struct frame frame;
	size_t size;

	ASSERT_EQ(FRAME_BAD, frame_read(slice_str("G"), 100, &frame, &size, &error));
	ASSERT_EQ(ERR_VERSION, error.code);
	ASSERT_EQ(FRAME_BAD, frame_read(slice_make("\x03\x01\0\0\0\0\0\0", 8), 100, &frame, &size, &error));
	ASSERT_EQ(ERR_VERSION, error.code);
	ASSERT_EQ(FRAME_BAD, frame_read(slice_make("\x02\x01\x01\0\0\0\0\0", 8), 100, &frame, &size, &error));
	ASSERT_EQ(ERR_FRAME, error.code);
	ASSERT_EQ(FRAME_BAD, frame_read(slice_make("\x02\x01\0\0\xff\xff\xff\xff", 8), LIMIT_FRAME_MAX, &frame,
					&size, &error));
	ASSERT_EQ(ERR_FRAME, error.code);
	ASSERT_EQ(FRAME_WHOLE, frame_read(slice_make("\x02\x01\0\0\0\0\0\0", 8), 0, &frame, &size, NULL));
	PASS();
}

TEST values_of_every_type(void)
{
	ASSERT_EQ(ERR_NONE, CHECK_OF("\x00"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xe0"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xc0"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xc3"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xcc\x80"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xcf\x80\0\0\0\0\0\0\0"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xd3\x80\0\0\0\0\0\0\0"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xca\0\0\0\0"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xcb\0\0\0\0\0\0\0\0"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xa3" "abc"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xd9\x03" "abc"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xda\0\x03" "abc"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xdb\0\0\0\x03" "abc"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xc4\x03" "abc"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xc6\0\0\0\x03" "abc"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\x80"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\x92\x01\x91\x90"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xdc\0\x02\x01\x02"));
	ASSERT_EQ(ERR_NONE, CHECK_OF("\xdf\0\0\0\x01\x01\x80"));
	PASS();
}

TEST values_cut_short(void)
{
	ASSERT_EQ(ERR_FRAME, CHECK_OF(""));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xcc"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xcf\0\0\0\0\0\0\0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xa3" "ab"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xdb\0\0\0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\x92\x01"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\x81\x01"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\x92\xcd\x01\x01"));
	PASS();
}

TEST six_bytes_cant_ask_for_gigabytes(void)
{
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xdd\xff\xff\xff\xff\xc0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xdf\xff\xff\xff\xff\xc0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xdf\x80\0\0\0"));                /* a map with this count has 2^32 values */
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xc6\xff\xff\xff\xff\xc0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xdb\xff\xff\xff\xff\xc0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\x81\x01\xdd\0\0\x10\0"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\x9f\x01\x02"));
	PASS();
}

TEST types_that_arent_used(void)
{
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xc1"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xc7\x01\x05x"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xd4\x01x"));
	ASSERT_EQ(ERR_FRAME, CHECK_OF("\xd8\x01" "0123456789abcdef"));
	PASS();
}

TEST depth_is_bounded(void)
{
	uint8_t bytes[LIMIT_FRAME_DEPTH + 2];

	memset(bytes, 0x91, sizeof(bytes));
	bytes[LIMIT_FRAME_DEPTH] = 0xc0;
	ASSERT_EQ(ERR_NONE, check(bytes, LIMIT_FRAME_DEPTH + 1, NULL));
	bytes[LIMIT_FRAME_DEPTH] = 0x91;
	bytes[LIMIT_FRAME_DEPTH + 1] = 0xc0;
	ASSERT_EQ(ERR_FRAME, check(bytes, LIMIT_FRAME_DEPTH + 2, NULL));
	PASS();
}

/* One list with the most values, and with one more; then the same number of values in many small lists. */
TEST nodes_are_bounded(void)
{
	size_t len = 5 + (size_t)LIMIT_FRAME_NODES;
	uint8_t *bytes = mem_zalloc(len);

	bytes[0] = 0xdd;
	for (int shift = 0; shift < 4; shift++)
		bytes[4 - shift] = (uint8_t)((LIMIT_FRAME_NODES - 1) >> (8 * shift));
	ASSERT_EQ(ERR_NONE, check(bytes, len - 1, NULL));
	for (int shift = 0; shift < 4; shift++)
		bytes[4 - shift] = (uint8_t)(LIMIT_FRAME_NODES >> (8 * shift));
	ASSERT_EQ(ERR_FRAME, check(bytes, len, NULL));
	memset(bytes + 5, 0x91, len - 5);
	for (size_t at = 6; at < len; at += 2)
		bytes[at] = 0;
	bytes[1] = 0;
	bytes[2] = (LIMIT_FRAME_NODES / 2) >> 16;
	bytes[3] = (uint8_t)((LIMIT_FRAME_NODES / 2) >> 8);
	bytes[4] = (uint8_t)(LIMIT_FRAME_NODES / 2);
	ASSERT_EQ(ERR_FRAME, check(bytes, len, NULL));
	mem_free(bytes);
	PASS();
}

TEST what_stands_behind(void)
{
	size_t size = 0;

	ASSERT_EQ(ERR_FRAME, CHECK_OF("\x01\x02"));
	ASSERT_EQ(ERR_NONE, check("\x92\x01\x02\xc1", 4, &size));
	ASSERT_EQ_FMT((size_t)3, size, "%zu");
	ASSERT_EQ(ERR_NONE, check("\x80", 1, &size));
	ASSERT_EQ_FMT((size_t)1, size, "%zu");
	PASS();
}

SUITE(proto_frame)
{
	RUN_TEST(header_goes_there_and_back);
	RUN_TEST(header_of_something_else);
	RUN_TEST(values_of_every_type);
	RUN_TEST(values_cut_short);
	RUN_TEST(six_bytes_cant_ask_for_gigabytes);
	RUN_TEST(types_that_arent_used);
	RUN_TEST(depth_is_bounded);
	RUN_TEST(nodes_are_bounded);
	RUN_TEST(what_stands_behind);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(proto_frame);
	GREATEST_MAIN_END();
}
