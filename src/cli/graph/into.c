/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan run --into: asks the master for the existing jobs that the new graph names without defining them. */
#include "cli/graph/into.h"

#include <stdio.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "proto/limits.h"

#define NEAR_SOUGHT 10000                /* most jobs compared to suggest a similar name */

static enum err ask_one(struct into *into, struct slice name, struct rec_job_row *ret)
{
	struct selector selector = { .run = into->old.run, .job = name };

	return cli_query_job(into->cli, &selector, &into->cli->arena, ret);
}

static bool is_of(struct slice name, struct slice stem)
{
	return name.len > stem.len + 1 && name.data[stem.len] == '[' && memcmp(name.data, stem.data, stem.len) == 0;
}

/* Count the jobs of a fan-out; first: index of its first job. */
static enum err count_fan(struct into *into, struct slice stem, uint64_t first, uint64_t *ret_width)
{
	struct msg_query query = { .what = QUERY_JOBS, .run = into->old.run, .cursor = first };
	struct arena arena = { 0 };
	uint64_t width = 0;
	bool more = true;
	enum err err = ERR_NONE;

	while (more && err == ERR_NONE) {
		struct msg_snapshot page;

		arena_reset(&arena);
		err = cli_query(into->cli, query, &arena, &page);
		if (err != ERR_NONE)
			break;
		for (size_t i = 0; more && i < page.jobs.n; i++) {
			more = is_of(page.jobs.at[i].name, stem);
			width += more;
		}
		query.cursor = page.cursor;
		more = more && page.cursor != 0;
	}
	arena_free(&arena);
	if (err == ERR_NONE)
		*ret_width = width;
	return err;
}

static enum err find_cb(void *arg, struct slice name, struct dag_found *ret, struct error *error)
{
	struct into *into = arg;
	/* a query of the master overwrites cli->error, so its old text is kept and restored */
	struct error kept = into->cli->error;
	char first_name[LIMIT_NAME_MAX_LEN + 8];
	struct rec_job_row row;
	enum err err = ask_one(into, name, &row);

	*ret = (struct dag_found){ .width = 1 };
	if (err == ERR_NOT_FOUND && name.len <= LIMIT_NAME_MAX_LEN) {
		int len = snprintf(first_name, sizeof(first_name), "%.*s[0]", (int)name.len, (const char *)name.data);

		err = ask_one(into, slice_make(first_name, (size_t)len), &row);
		if (err == ERR_NONE) {
			ret->fan = true;
			err = count_fan(into, name, row.index, &ret->width);
		}
	}
	if (err != ERR_NONE)
		*error = into->cli->error;
	into->cli->error = kept;
	return err;
}

static struct slice near_cb(void *arg, struct slice name)
{
	struct into *into = arg;
	struct error kept = into->cli->error;
	size_t best = text_near(name.len);
	struct slice nearest = { 0 };

	if (!into->listed && cli_query_jobs(into->cli, into->old.run, NEAR_SOUGHT, &into->cli->arena, &into->jobs,
					    &into->job_count) != ERR_NONE)
		into->job_count = 0;
	into->listed = true;
	into->cli->error = kept;
	for (size_t i = 0; i < into->job_count; i++) {
		struct slice other = into->jobs[i].name;
		const uint8_t *bracket = other.len ? memchr(other.data, '[', other.len) : NULL;
		size_t distance;

		if (bracket)
			other.len = (size_t)(bracket - other.data);
		distance = text_distance(name, other, best);
		if (distance < best) {
			best = distance;
			nearest = other;
		}
	}
	return nearest;
}

enum err into_begin(struct cli *cli, const char *text, struct into *ret)
{
	struct into into = { .cli = cli, .old = { .find_cb = find_cb, .near_cb = near_cb } };
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_select_run(cli, text, &into.old.run);
	if (err == ERR_NONE)
		*ret = into;
	return err;
}
