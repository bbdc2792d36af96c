/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loop jobs: they are repeated until a pass meets the loop's condition. */
#include "sim.h"

#include "proto/expr.h"

/* This feature must come after `modes`, because a job with mode `once` can't be a loop. */
void job_repeats(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	static const uint32_t ends[] = { 1u << STATE_SUCCEEDED, 1u << STATE_FAILED | 1u << STATE_TIMED_OUT,
					 1u << STATE_TIMED_OUT };
	struct buf code = { 0 };

	(void)index;
	if (!job->argv.n || job->mode == EXEC_ONCE)
		return;
	/* in a sub-run, passes multiply with those of the outer loop */
	job->loop_max = 1 + rand_below(rand, graph->within ? 2 : 5);
	if (rand_below(rand, 2))
		job->loop_delay_ms = 1 + rand_below(rand, 4000);
	job->loop_on_max = rand_below(rand, 2);
	switch (rand_below(rand, 4)) {
	case 0:
		expr_put(&code, (struct expr_step){ .op = rand_below(rand, 2) ? EXPR_TRUE : EXPR_FALSE });
		break;
	case 1:
		expr_put(&code, (struct expr_step){ EXPR_CODE, 0, rand_below(rand, EXPR_COMPARE_COUNT), rand_below(rand, 4) });
		break;
	default:
		expr_put(&code, (struct expr_step){ EXPR_STATE, 0, 1, ends[rand_below(rand, 3)] });
		break;
	}
	if (rand_below(rand, 3) == 0)
		expr_put(&code, (struct expr_step){ .op = EXPR_NOT });
	job->loop_code = arena_copy(&graph->arena, buf_slice(&code));
	job->loop_until = slice_str("ok");
	buf_free(&code);
}
