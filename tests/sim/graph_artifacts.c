/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that leave files. What an attempt leaves follows from its job and epoch, so the part that models its process and the oracle
 * agree without memory.
 */
#include "sim.h"

#include "core/core.h"
#include "oracle.h"

void job_leaves(struct rand_state *rand, struct sim_graph *graph, struct rec_job_spec *job, uint32_t index)
{
	(void)rand;
	(void)index;
	if (!job->argv.n)
		return;
	job->artifacts.n = 1;
	job->artifacts.at = arena_zalloc(&graph->arena, 1, sizeof(struct slice));
	job->artifacts.at[0] = slice_str("+dist/**");
}

enum sim_artifacts sim_artifacts_kind(uint64_t job, uint64_t epoch)
{
	switch ((job * 5 + epoch) % 7) {
	case 0:
		return SIM_ARTIFACTS_NONE;
	case 1:
		return SIM_ARTIFACTS_FAULT;
	case 2:
	case 3:
		return SIM_ARTIFACTS_EARLY;
	default:
		return SIM_ARTIFACTS_RIGHT;
	}
}

void sim_artifacts_hash(uint64_t job, uint64_t epoch, uint8_t ret_hash[SHA256_SIZE])
{
	memset(ret_hash, 7, SHA256_SIZE);
	memcpy(ret_hash, &job, sizeof(job));
	memcpy(ret_hash + sizeof(job), &epoch, sizeof(epoch));
}

/*
 * The process of an attempt names its files and waits until that is durable, again with each new master, and only then it ends. So a
 * name that isn't durable yet when the end arrives came just before it.
 */
static void name_files(struct sim_world *world, uint64_t job, uint64_t epoch, bool ends)
{
	const struct rec_job_spec *spec = oracle_spec(world, job);
	enum sim_artifacts kind = sim_artifacts_kind(job, epoch);
	struct outbox *outbox = world->master.deciding;
	size_t frames = outbox->frame_count;
	struct core_input input = { .kind = INPUT_ARTIFACTS, .conn = 1, .request = 1 };
	uint8_t hash[SHA256_SIZE];

	if (!spec || spec->artifacts.n == 0 || kind == SIM_ARTIFACTS_NONE || (!ends && kind != SIM_ARTIFACTS_EARLY) ||
	    (ends && oracle_job(world, job)->named == epoch))
		return;
	sim_artifacts_hash(job, epoch, hash);
	input.artifacts = (struct input_artifacts){ .caller = { job, epoch }, .size = epoch, .files = 1 };
	if (kind == SIM_ARTIFACTS_FAULT)
		input.artifacts.fault = slice_str("no file matches");
	else
		input.artifacts.hash = slice_make(hash, SHA256_SIZE);
	core_step(world->master.core, &input);
	outbox->frame_count = frames;    /* the answer goes to the process, which isn't modelled */
}

void sim_artifacts_started(struct sim_world *world, const struct rec_started *at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		name_files(world, at[i].job, at[i].epoch, false);
}

void sim_artifacts_ended(struct sim_world *world, const struct rec_done *at, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (at[i].outcome == OUTCOME_EXIT && at[i].code == 0)
			name_files(world, at[i].job, at[i].epoch, true);
}
