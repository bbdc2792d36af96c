/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many items a second the codec encodes and decodes, for the messages that carry the load.
 *   bench_codec [seconds for each measurement]
 * One line for each message; no verdict: that depends on the machine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "proto/frame.h"
#include "proto/message.h"

#define ITEMS 512
#define JOB UINT64_C(41270001)
#define EPOCH ((UINT64_C(3) << 32) + 1)
#define WALL_MS INT64_C(1795010529120)

static uint8_t spec[96], data[64];

static struct rec_assign assigns[ITEMS];
static struct rec_started starteds[ITEMS];
static struct rec_done dones[ITEMS];
static struct rec_output outputs[ITEMS];

static void fill_items(void)
{
	for (uint64_t i = 0; i < ITEMS; i++) {
		assigns[i] = (struct rec_assign){ .job = JOB + i, .epoch = EPOCH, .run = 4127, .index = i, .try_no = 1,
						  .spec = slice_make(spec, sizeof(spec)) };
		starteds[i] = (struct rec_started){ JOB + i, EPOCH, WALL_MS + (int64_t)i, 20000 + i };
		dones[i] = (struct rec_done){ JOB + i, EPOCH, OUTCOME_EXIT, 0, WALL_MS, WALL_MS + 1234,
					      1234567890, 98765, 5120, 64 };
		outputs[i] = (struct rec_output){ JOB + i, EPOCH, 4127, 1, i * 64, WALL_MS + (int64_t)i,
						  slice_make(data, sizeof(data)) };
	}
}

/* The best of several short rounds, because other programs use the machine too. */
static double best_rate(enum opcode op, const void *msg, struct slice frame, double seconds)
{
	struct buf out = { 0 };
	struct arena arena = { 0 };
	struct msg_output decoded;      /* every message measured here is one list */
	int64_t end = clock_mono_ns() + (int64_t)(seconds * (double)NS_PER_S);
	double best = 0;

	for (int64_t before = clock_mono_ns(); before < end; before = clock_mono_ns()) {
		double rate;

		for (int round = 0; round < 20; round++) {
			if (frame.len == 0) {
				buf_clear(&out);
				message_encode(&out, op, msg);
				continue;
			}
			arena_reset(&arena);
			CHECK(message_decode(op, frame, &arena, &decoded, NULL) == ERR_NONE);
			CHECK(decoded.items.n == ITEMS);
		}
		rate = 20.0 * ITEMS * (double)NS_PER_S / (double)(clock_mono_ns() - before);
		best = rate > best ? rate : best;
	}
	arena_free(&arena);
	buf_free(&out);
	return best;
}

static void bench(const char *name, enum opcode op, const void *msg, double seconds)
{
	struct buf frame = { 0 };
	double encode, decode;

	message_encode(&frame, op, msg);
	encode = best_rate(op, msg, slice_make(NULL, 0), seconds);
	decode = best_rate(op, NULL, slice_make(frame.data + FRAME_HEADER_SIZE, frame.len - FRAME_HEADER_SIZE),
			   seconds);
	printf("%-8s %4d items, %5.1f bytes each: encode %5.2f M/s, decode %5.2f M/s\n", name, ITEMS,
	       (double)frame.len / ITEMS, encode / 1e6, decode / 1e6);
	buf_free(&frame);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;

	fill_items();
	bench("assign", OP_ASSIGN, &(struct msg_assign){ .items = { assigns, ITEMS } }, seconds);
	bench("started", OP_STARTED, &(struct msg_started){ .items = { starteds, ITEMS } }, seconds);
	bench("done", OP_DONE, &(struct msg_done){ .items = { dones, ITEMS } }, seconds);
	bench("output", OP_OUTPUT, &(struct msg_output){ .items = { outputs, ITEMS } }, seconds);
	return 0;
}
