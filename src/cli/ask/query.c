/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to the master that several commands ask, and the errors for runs and jobs that don't exist. */
#include "cli/ask/query.h"

#include "cli/ask/ask.h"
#include "cli/ask/select.h"

enum err cli_query(struct cli *cli, struct msg_query query, struct arena *arena, struct msg_snapshot *ret)
{
	return cli_call(cli, OP_QUERY, &query, OP_SNAPSHOT, arena, ret);
}

enum err cli_query_run(struct cli *cli, uint64_t run, struct arena *arena, struct rec_run_row *ret)
{
	struct msg_snapshot snapshot;
	enum err err = cli_query(cli, (struct msg_query){ .what = QUERY_RUNS, .run = run, .cursor = run + 1, .limit = 1, .reasons = true },
				 arena, &snapshot);

	for (size_t i = 0; err == ERR_NONE && i < snapshot.runs.n; i++) {
		if (snapshot.runs.at[i].run == run) {
			*ret = snapshot.runs.at[i];
			return ERR_NONE;
		}
	}
	/* Ask for the run's jobs instead: to that query the master answers whether the run was pruned. */
	if (err == ERR_NONE || err == ERR_NOT_FOUND)
		err = cli_query(cli, (struct msg_query){ .what = QUERY_JOBS, .run = run, .limit = 1 }, arena, &snapshot);
	if (err == ERR_NONE || err == ERR_NOT_FOUND) {
		err = error_set(&cli->error, ERR_NOT_FOUND, "there is no run %llu", (unsigned long long)run);
		error_next(&cli->error, "titan ls");
	}
	return err;
}

/* Set the error for a name that no job has; say so if it is the name of a fan-out. */
static enum err refuse_name(struct cli *cli, const struct selector *selector, struct arena *arena)
{
	struct buf first = { 0 };
	struct msg_snapshot snapshot;
	unsigned long long run = selector->run;
	int len = (int)selector->job.len;
	const char *name = (const char *)selector->job.data;
	enum err err;

	buf_addf(&first, "%.*s[0]", len, name);
	err = cli_query(cli, (struct msg_query){ .what = QUERY_JOB, .run = selector->run, .job = buf_slice(&first) }, arena,
			&snapshot);
	if (err == ERR_NONE && snapshot.jobs.n > 0)
		error_set(&cli->error, ERR_NOT_FOUND, "%llu/%.*s is a fan-out; name one of its jobs, such as %llu/%s", run,
			  len, name, run, buf_cstr(&first));
	else if (err == ERR_NONE || err == ERR_NOT_FOUND)
		error_set(&cli->error, ERR_NOT_FOUND, "no job %llu/%.*s", run, len, name);
	buf_free(&first);
	return cli->error.code == ERR_NOT_FOUND ? error_next(&cli->error, "titan show %llu", run) : err;
}

enum err cli_query_job(struct cli *cli, const struct selector *selector, struct arena *arena,
		       struct rec_job_row *ret)
{
	struct msg_query query = { .what = QUERY_JOB, .run = selector->run, .job = selector->job, .reasons = true };
	struct msg_snapshot snapshot;
	struct rec_run_row run;
	enum err err = cli_query(cli, query, arena, &snapshot);

	if (err == ERR_NONE && snapshot.jobs.n > 0) {
		*ret = snapshot.jobs.at[0];
		return ERR_NONE;
	}
	if (err == ERR_NONE || err == ERR_NOT_FOUND)
		err = cli_query_run(cli, selector->run, arena, &run);
	return err == ERR_NONE ? refuse_name(cli, selector, arena) : err;
}

enum err cli_query_jobs(struct cli *cli, uint64_t run, size_t limit, struct arena *arena,
			struct rec_job_row **ret_jobs, size_t *ret_count)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = run, .reasons = true };
	struct rec_job_row *jobs = NULL;
	size_t count = 0, room = 0;

	do {
		struct msg_snapshot page;
		enum err err = cli_query(cli, query, arena, &page);

		if (err != ERR_NONE)
			return err;
		if (count + page.jobs.n > room) {
			struct rec_job_row *bigger;

			room = (count + page.jobs.n) * 2;
			bigger = arena_zalloc(arena, room, sizeof(*bigger));
			if (count > 0)
				memcpy(bigger, jobs, count * sizeof(*jobs));
			jobs = bigger;
		}
		if (page.jobs.n > 0)
			memcpy(jobs + count, page.jobs.at, page.jobs.n * sizeof(*jobs));
		count += page.jobs.n;
		query.cursor = page.cursor;
	} while (query.cursor != 0 && count < limit);
	*ret_jobs = jobs;
	*ret_count = count < limit ? count : limit;
	return ERR_NONE;
}

enum err cli_query_named(struct cli *cli, const struct selector *selector)
{
	struct rec_run_row run;
	struct rec_job_row *jobs, job;
	size_t count = 0;
	enum err err = cli_query_run(cli, selector->run, &cli->arena, &run);

	if (err == ERR_NONE && selector->job.len > 0)
		err = cli_query_jobs(cli, selector->run, SIZE_MAX, &cli->arena, &jobs, &count);
	for (size_t i = 0; err == ERR_NONE && i < count; i++)
		if (selector_names(selector, jobs[i].name))
			return ERR_NONE;
	return err == ERR_NONE && selector->job.len > 0 ? cli_query_job(cli, selector, &cli->arena, &job) : err;
}

enum err explain_ask(struct cli *cli, const struct selector *selector, struct arena *arena, struct rec_job_row *ret)
{
	struct msg_query query = { .what = QUERY_EXPLAIN, .run = selector->run, .job = selector->job };
	struct msg_snapshot snapshot;
	enum err err = cli_query(cli, query, arena, &snapshot);

	if (err == ERR_NONE && snapshot.jobs.n > 0) {
		*ret = snapshot.jobs.at[0];
		return ERR_NONE;
	}
	/* cli_query_job makes the error text for a job that doesn't exist. */
	return err == ERR_NONE || err == ERR_NOT_FOUND ? cli_query_job(cli, selector, arena, ret) : err;
}
