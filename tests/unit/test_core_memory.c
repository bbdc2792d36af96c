/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory after a peak: how much is left when many jobs have ended. Shrinking changes nothing else. */
#include "base/sha256.h"
#include "core/core.h"
#include "core/rows/outbox.h"
#include "core_rig.h"

#include <malloc.h>

#define JOBS 100000

static size_t memory(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static void step(struct core *core, struct now *now, const struct core_input *input)
{
	struct outbox out = { 0 };

	now->mono_ns += NS_PER_MS;
	core_turn_begin(core, *now, &out);
	core_step(core, input);
	core_turn_end(core);
	outbox_free(&out);
}

/* Submit delayed jobs, which have timers, and ready jobs, which are in heaps. */
static void submit_many(struct core *core, struct now *now)
{
	struct graph graph = { 0 };
	struct graph_part part = { .count = JOBS };
	struct core_input input = { .kind = INPUT_SUBMIT };
	struct blob *body;

	for (int i = 0; i < JOBS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "")->delay_ms = i % 2 ? 60000 : 0;
	}
	part.body = body = graph_blob(&graph);
	graph_free(&graph);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str("peak"),
					      .parts = &part, .part_count = 1 };
	step(core, now, &input);
	blob_release(body);
}

TEST memory_returns_after_a_peak(void)
{
	struct core_config config = { .cluster = slice_str("bench"), .seed = 7 };
	struct now now = { .mono_ns = 1, .boot_ns = 1, .wall_ms = 1800000000000 };
	struct core *core = core_new(&config);
	struct core_input cancel = { .kind = INPUT_CANCEL };
	struct outbox out = { 0 };
	struct error error;
	size_t before, peak;
	bool counted;            /* false: a sanitizer is in the way, so memory isn't counted */
	struct sha256 hash;

	ASSERT_EQ(ERR_NONE, core_load_end(core, now, &out, &error));
	outbox_free(&out);
	/* Call the hash library once first: it keeps memory from its first use. */
	sha256_init(&hash);
	sha256_drop(&hash);
	before = memory();
	counted = before > 0;
	submit_many(core, &now);
	peak = memory() - before;
	ASSERT(!counted || peak > (size_t)JOBS * 100);
	cancel.cancel = (struct input_cancel){ .run = 1 };
	step(core, &now, &cancel);
	ASSERT_EQ(JOBS, core_sweep(core, UINT64_MAX));
	ASSERT_EQ(0, core_sweep(core, UINT64_MAX));
	core_shrink(core);
	core_check(core);
	ASSERT(memory() - before < 65536);
	core_free(core);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(memory_returns_after_a_peak);
	GREATEST_MAIN_END();
}
