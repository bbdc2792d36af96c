/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A worker that runs nothing: each attempt is reported as started and ended in the frame after the one that assigned
 * it. So only the cluster's own work is measured: frames, scheduling, store. The time is from HELLO until the last
 * result is acknowledged, and so durable. Prints a line "name value unit".
 *
 * usage: bench_noop JOBS [SLOTS] the cluster is that of TITAN_STATE; it must have so many waiting jobs and no worker
 */
#include "tests/unit/master_box.h"

struct batch {
	struct rec_started *starts;
	struct rec_done *ends;
	size_t count;
};

static void fail(const char *what)
{
	fprintf(stderr, "bench_noop: %s\n", what);
	exit(1);
}

static void answer(struct peer *worker, const struct msg_assign *assign)
{
	struct batch batch = { .count = assign->items.n };
	int64_t now_ms = clock_wall_ms();

	batch.starts = arena_zalloc(&worker->arena, batch.count, sizeof(*batch.starts));
	batch.ends = arena_zalloc(&worker->arena, batch.count, sizeof(*batch.ends));
	for (size_t i = 0; i < batch.count; i++) {
		const struct rec_assign *item = &assign->items.at[i];

		batch.starts[i] = (struct rec_started){ .job = item->job, .epoch = item->epoch, .wall_ms = now_ms, .pid = 1 };
		batch.ends[i] = (struct rec_done){ .job = item->job, .epoch = item->epoch, .outcome = OUTCOME_EXIT,
						   .started_ms = now_ms, .ended_ms = now_ms, .run_ns = 1000 };
	}
	if (!peer_send(worker, OP_STARTED, &(struct msg_started){ .items = { .at = batch.starts, .n = batch.count } }) ||
	    !peer_send(worker, OP_DONE, &(struct msg_done){ .items = { .at = batch.ends, .n = batch.count } }))
		fail("the master is gone");
}

int main(int argc, char **argv)
{
	unsigned long jobs = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, slots = argc > 2 ? strtoul(argv[2], NULL, 10) : 16;
	struct peer worker;
	unsigned long acked = 0;
	int64_t from;

	if (jobs == 0 || slots == 0) {
		fprintf(stderr, "usage: bench_noop JOBS [SLOTS]\n");
		return 2;
	}
	if (statedir_find(NULL, &box_place))
		fail("no place for a cluster");
	from = clock_mono_ns();
	if (!peer_worker(&worker, "noop", slots, NULL, 0))
		fail("the master doesn't take this worker");
	while (acked < jobs) {
		struct frame frame;
		struct msg_assign assign;
		struct msg_ack ack;

		if (!peer_frame(&worker, &frame))
			fail("the master is gone, or has nothing more to do");
		arena_reset(&worker.arena);
		if (frame.opcode == OP_ASSIGN && !message_decode(OP_ASSIGN, frame.body, &worker.arena, &assign, NULL))
			answer(&worker, &assign);
		else if (frame.opcode == OP_ACK && !message_decode(OP_ACK, frame.body, &worker.arena, &ack, NULL))
			acked += ack.items.n;
	}
	printf("noop_without_processes %.0f /s\n", (double)jobs * 1e9 / (double)(clock_mono_ns() - from));
	peer_close(&worker);
	return 0;
}
