/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs with files, which worker.c puts in place some time after the assignment, or fails to. */
#include "sim.h"

void job_files(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	const uint8_t hash[32] = { (uint8_t)rand_below(rand, 4) };
	const struct rec_input input = { .path = slice_str("file"), .hash = slice_make(hash, sizeof(hash)), .kind = ASSET_FILE };
	struct buf bytes = { 0 };

	(void)index;
	if (!job->argv.n)
		return;
	record_encode(&bytes, REC_input, &input);
	job->inputs = arena_copy(&graph->arena, buf_slice(&bytes));
	buf_free(&bytes);
}
