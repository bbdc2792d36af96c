/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For tests of schedules: add, change and pause a schedule called nightly; the rig's clock starts an hour before
 * midnight.
 */
#ifndef TITAN_TESTS_CORE_SCHEDULE_H
#define TITAN_TESTS_CORE_SCHEDULE_H

#include "tests/unit/core_rig.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)
#define MIDNIGHT_MS (INT64_C(20000) * DAY_MS)

static inline void schedule_put(struct rig *rig, const char *name, const struct rec_schedule_spec *spec, uint8_t key,
				uint8_t digest)
{
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = 1000000, .request = ++rig->request };
	struct graph graph = { 0 };
	struct graph_part part = { .count = 1 };
	struct buf bytes = { 0 };

	graph_job(&graph, "a", "");
	part.body = graph_blob(&graph);
	graph_free(&graph);
	record_encode(&bytes, REC_schedule_spec, spec);
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .name = slice_str(name),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes), .context = rig->context, .key = { key }, .digest = { digest } };
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, &input);
	blob_release(part.body);
	buf_free(&bytes);
}

static inline void schedule_add(struct rig *rig, const char *name, const struct rec_schedule_spec *spec)
{
	schedule_put(rig, name, spec, (uint8_t)(100 + rig->request), 1);
}

static inline void add(struct rig *rig, const char *cron, enum overlap overlap, enum catchup catchup, uint64_t catchup_ms)
{
	struct rec_schedule_spec spec = { .cron = slice_str(cron), .overlap = overlap, .catchup = catchup,
					  .catchup_ms = catchup_ms };

	schedule_add(rig, "nightly", &spec);
}

static inline void set(struct rig *rig, enum set_verb verb)
{
	rig_set(rig, (struct msg_set){ .kind = OBJECT_SCHEDULE, .name = slice_str("nightly"), .verb = verb });
}

static inline struct rec_schedule_row row_of(struct rig *rig)
{
	struct rec_schedule_row row = { 0 };

	CHECK(view_schedule(rig->core, 0, 5, &rig->arena, &row));
	return row;
}

/* Make a rig whose clock stands at an hour before midnight. */
static inline struct rig *rig_at_night(void)
{
	struct rig *rig = rig_new();

	rig->now.wall_ms = MIDNIGHT_MS - HOUR_MS;
	rig_pass(rig, 0);
	return rig;
}

#endif
