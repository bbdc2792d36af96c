/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of a run for titan show, with fan-outs folded: "shard[*]  RUN  40 jobs: 38 OK, 2 RUN". */
#include <inttypes.h>

#include "cli/commands/show.h"
#include "cli/graph/folded.h"
#include "cli/show/row_words.h"
#include "cli/show/rows.h"

#define LOOKS_MAX (STATE_COUNT + FLAG_COUNT)

/* The rank of a state in the summary of a fan-out: running states first, then waiting ones, then failed ones. */
static int weight(enum job_state state)
{
	if (state == STATE_RUNNING)
		return 6;
	if (state_table[state].kind == KIND_HOLDS)
		return 5;
	if (state == STATE_READY)
		return 4;
	if (!state_terminal(state))
		return 3;
	return state_needs_eyes(state) ? 2 : state == STATE_SUCCEEDED;
}

/*
 * Write "40 jobs: 38 OK, 2 QUEUE", and the reason why the jobs wait if it is the same for all that haven't ended.
 * *ret_first: the job to show.
 */
static struct slice summary(const struct picture *picture, const struct rec_job_row *jobs, size_t job_count,
			    const struct fold_node *node, struct arena *arena, const struct rec_job_row **ret_first)
{
	const struct state_info *looks[LOOKS_MAX];
	uint32_t counts[LOOKS_MAX] = { 0 };
	struct slice why = { 0 }, text;
	bool alike = true;
	struct buf out = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; i < node->member_count; i++) {
		const struct rec_job_row *job = &jobs[picture->fold.members[node->member_start + i]];
		struct slice cause = job_cause_text(job, jobs, job_count, arena);
		size_t k = 0;

		while (k < n && looks[k] != job_look(job))
			k++;
		if (k == n && n < LOOKS_MAX)
			looks[n++] = job_look(job);
		counts[k]++;
		if (*ret_first == NULL || weight(job_state_checked(job->state)) > weight(job_state_checked((*ret_first)->state)))
			*ret_first = job;
		if (state_terminal(job_state_checked(job->state)) || cause.len == 0 || job->progress > 0)
			continue;
		alike &= why.len == 0 || slice_eq(why, cause);
		why = cause;
	}
	buf_addf(&out, "%" PRIu32 " jobs:", node->member_count);
	for (size_t k = 0; k < n; k++)
		buf_addf(&out, "%s %" PRIu32 " %s", k > 0 ? "," : "", counts[k], looks[k]->word);
	if (alike && why.len > 0) {
		buf_add_str(&out, "; ");
		buf_add_slice(&out, why);
	}
	text = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return text;
}

static void add_group(struct records *records, const struct picture *picture, const struct rec_job_row *jobs, size_t job_count,
		      uint32_t job, int64_t now_ms)
{
	uint32_t number = picture->fold.node_of[job];
	const struct rec_job_row *first = NULL;
	struct slice text = summary(picture, jobs, job_count, &picture->fold.nodes[number], records->arena, &first);

	rows_add_job(records, first, jobs, job_count, now_ms);
	rows_fold_job(records, folded_name(picture, number, records->arena), text);
}

static void add_one(struct records *records, const struct picture *picture, const struct rec_job_row *jobs, size_t job_count,
		    uint32_t job, int64_t now_ms)
{
	rows_add_job(records, &jobs[job], jobs, job_count, now_ms);
	rows_fold_needs(records, folded_needs(picture, job, records->arena));
}

size_t show_folded(const struct rec_job_row *jobs, size_t job_count, int64_t now_ms, size_t most, struct records *records)
{
	struct picture picture;
	size_t *shown, rows = 0;
	uint32_t i = 0;

	picture_of_rows(jobs, job_count, &picture);
	shown = arena_zalloc(records->arena, picture.fold.count + 1, sizeof(*shown));
	for (; i < job_count && rows < most; i++) {
		enum folded_row row = folded_row(&picture, i);
		uint32_t node = picture.fold.node_of[i];

		if (row == FOLDED_GROUP) {
			add_group(records, &picture, jobs, job_count, i, now_ms);
			rows_fold_needs(records, folded_needs(&picture, i, records->arena));
			rows++;
		}
		if (row == FOLDED_JOB || folded_has_eyes(&picture, i, &shown[node])) {
			add_one(records, &picture, jobs, job_count, i, now_ms);
			rows++;
		}
	}
	picture_free(&picture);
	return job_count - i;
}
