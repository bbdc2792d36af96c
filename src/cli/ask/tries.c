/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tries in pages. The master keeps a row for each try except the last one, which is in the job's own row. */
#include "cli/ask/tries.h"

#include "cli/ask/query.h"

enum err cli_query_tries(struct cli *cli, uint64_t run, uint64_t job, struct arena *arena, struct rec_try_row **ret, size_t *ret_count)
{
	struct msg_query query = { .what = QUERY_TRIES, .run = run, .cursor = job };
	struct rec_try_row *rows = NULL;
	size_t count = 0, room = 0;
	bool more = true;

	while (more) {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, arena, &page);

		if (err != ERR_NONE)
			return err;
		if (count + page.tries.n > room) {
			struct rec_try_row *bigger;

			room = (count + page.tries.n) * 2;
			bigger = arena_zalloc(arena, room, sizeof(*bigger));
			if (count > 0)
				memcpy(bigger, rows, count * sizeof(*rows));
			rows = bigger;
		}
		for (size_t i = 0; i < page.tries.n; i++)
			if (job == 0 || page.tries.at[i].job == job)
				rows[count++] = page.tries.at[i];
		/* A cursor that doesn't move would make this loop ask for ever. */
		more = page.cursor > query.cursor && (job == 0 || page.cursor <= job);
		query.cursor = page.cursor;
	}
	*ret = rows;
	*ret_count = count;
	return ERR_NONE;
}

const struct rec_try_row *try_of_job(const struct rec_job_row *job, struct rec_try_row *ret)
{
	if (job->tries == 0 || job->epoch == 0)
		return NULL;
	*ret = (struct rec_try_row){
		.job = job->job, .epoch = job->epoch, .round = job->round, .pass = job->pass, .try_no = job->tries,
		.worker = job->worker, .outcome = job->outcome, .code = job->code, .stop_cause = job->stop_cause,
		.started_ms = job->started_ms, .ended_ms = job->ended_ms, .cpu_us = job->cpu_us, .rss_kib = job->rss_kib,
		.out_bytes = job->out_bytes, .child = job->child,
	};
	return ret;
}
