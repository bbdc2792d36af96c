/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan schedule add, ls, show, pause, resume, rm, fire: pipelines that start at given times. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/rand.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/command.h"
#include "cli/commands/edit.h"
#include "cli/commands/job_files.h"
#include "cli/commands/listing.h"
#include "cli/commands/object.h"
#include "cli/commands/share.h"
#include "cli/graph/here.h"
#include "cli/graph/load.h"
#include "cli/graph/submit.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "cli/show/records.h"
#include "lang/zone.h"
#include "proto/limits.h"

/* ---- add ---- */

struct source {
	struct pipeline pipeline;
	struct job_defaults defaults;
};

static void source_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct source *source = arg;

	dagline_job(&source->pipeline.dag, index, &source->defaults, scratch, ret_spec);
}

static int schedule_add(struct cli *cli)
{
	const char *path = cli->invocation->args[1];
	uint8_t key[SUBMIT_KEY_SIZE];
	struct source source = { 0 };
	struct graph_source graph = { .job_cb = source_job, .arg = &source };
	struct rec_schedule_spec *spec = &source.pipeline.schedule;
	struct msg_accepted unused;
	struct buf text = { 0 };
	struct records records;
	enum err err = share_changed_begin(cli, &records);

	if (err == ERR_NONE)
		err = load_pipeline(cli, path, OPT_schedule_param, NULL, &text, &source.pipeline);
	if (err == ERR_NONE && spec->cron.len == 0) {
		err = error_set(&cli->error, ERR_INVALID, "%s has no key schedule: with the times at which runs begin", path);
		error_next(&cli->error, "schedule: {cron: \"0 3 * * *\"}");
	}
	if (err == ERR_NONE)
		err = zone_compile(spec->zone_name, &cli->arena, &spec->zone, &cli->error);
	here_read(cli, path, false, &source.defaults);
	rand_system(key, sizeof(key));
	graph.count = source.pipeline.dag.job_count;
	graph.max_jobs = source.pipeline.max_jobs;
	graph.schedule = spec;
	graph.tenant = source.pipeline.tenant;
	graph.concurrency = source.pipeline.concurrency;
	graph.context = dag_context(&source.pipeline.dag, &source.defaults, &cli->arena);
	if (err == ERR_NONE && job_files_any(&source.pipeline.dag)) {
		err = error_set(&cli->error, ERR_INVALID, "%s: the jobs of a schedule can't have files; let them get assets", path);
		error_next(&cli->error, "titan asset get NAME    in the job");
	}
	if (err == ERR_NONE)
		err = submit_graph(cli, &graph, source.pipeline.name, key, &unused);
	if (err == ERR_NONE)
		share_changed(cli, &records, source.pipeline.name, 1);
	if (err == ERR_NONE)
		cli_note(cli, "schedule %.*s is stored; see titan schedule show %.*s", (int)source.pipeline.name.len,
			 (const char *)source.pipeline.name.data, (int)source.pipeline.name.len,
			 (const char *)source.pipeline.name.data);
	buf_free(&text);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

/* ---- edit ---- */

static int schedule_edit(struct cli *cli)
{
	const char *name = cli->invocation->args[1];
	struct edited_graph edited = { .name = slice_str(name), .scheduled = true };
	struct rec_schedule_spec *spec = &edited.pipeline.schedule;
	struct asked_graph asked;
	uint8_t key[SUBMIT_KEY_SIZE];
	struct msg_accepted unused;
	struct records records;
	char what[LIMIT_NAME_MAX_LEN + 16];

	snprintf(what, sizeof(what), "schedule %s", name);
	if (share_changed_begin(cli, &records) != ERR_NONE || cli_connect(cli) != ERR_NONE || cli_query_graph(cli, 0, name, &asked) != ERR_NONE ||
	    graph_unmasked(cli, &asked, what) != ERR_NONE || edit_graph(cli, &asked, &edited) != ERR_NONE ||
	    zone_compile(spec->zone_name, &cli->arena, &spec->zone, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	edited.source.schedule = spec;
	edited.source.revision = asked.revision;
	rand_system(key, sizeof(key));
	if (submit_graph(cli, &edited.source, edited.pipeline.name, key, &unused) != ERR_NONE)
		return cli_fail(cli);
	share_changed(cli, &records, edited.name, 1);
	if (cli_chatty(cli))
		cli_note(cli, "schedule %s is changed; see titan schedule show %s", name, name);
	return 0;
}

/* ---- ls, show ---- */

static const struct column columns[] = {
	{ "name", "SCHEDULE", false },
	{ "cron", "CRON", false },
	{ "tz", "TZ", false },
	{ "next_time", "NEXT", false },
	{ "paused", "PAUSED", false },
	{ "live_runs", "LIVE", true },
	{ "queued_runs", "QUEUED", true },
	{ "fired", "RUNS", true },
	{ "skipped", "SKIPPED", true },
	{ "last_run", "LAST", true },
	{ "overlap", NULL, false },
	{ "catchup", NULL, false },
	{ "last_for", NULL, false },
	{ "why_skipped", NULL, false },
	{ "last_skipped", NULL, false },
	{ "upcoming", NULL, false },
	{ "job_count", NULL, true },
	{ "owner", NULL, false },
};
const struct table schedule_table = TABLE_OF(columns);

static const struct column detail_columns[] = {
	{ "name", "schedule", false },
	{ "cron", "cron", false },
	{ "tz", "time zone", false },
	{ "next_time", "next", false },
	{ "paused", "paused", false },
	{ "live_runs", "runs that are live", true },
	{ "queued_runs", "runs that are queued", true },
	{ "fired", "runs", true },
	{ "skipped", "times that were skipped", true },
	{ "last_run", "last run", true },
	{ "overlap", "overlap", false },
	{ "catchup", "catchup", false },
	{ "last_for", "which was due at", false },
	{ "why_skipped", "why it was skipped", false },
	{ "last_skipped", "last skipped time", false },
	{ "upcoming", "upcoming", false },
	{ "job_count", "jobs", true },
	{ "owner", "added by", false },
};
const struct table schedule_detail_table = TABLE_OF(detail_columns);

static struct slice catchup_text(const struct rec_schedule_row *row, struct arena *arena)
{
	static const char *const words[] = { "skip", "one", "all" };
	char span[CLOCK_TEXT_SIZE];

	if (row->catchup < CATCHUP_SPAN)
		return slice_str(words[row->catchup]);
	return slice_str(arena_strdup(arena, slice_str(clock_format_span((int64_t)row->catchup_ms, span))));
}

static void add_schedule(struct records *records, const struct rec_schedule_row *row)
{
	static const char *const overlaps[] = { "skip", "queue", "allow" };
	static const char *const why[] = { NULL, "the last run of the schedule was still live", "no master was running at that time",
					   "the master refused the run" };
	struct slice_list next = { .n = row->next_ms.n };

	next.at = arena_zalloc(records->arena, next.n + 1, sizeof(*next.at));
	for (size_t i = 0; i < next.n; i++) {
		char text[CLOCK_TEXT_SIZE];

		next.at[i] = slice_str(arena_strdup(records->arena,
						    slice_str(clock_format_utc((int64_t)row->next_ms.at[i], text))));
	}
	records_text(records, row->name);
	records_text(records, row->cron);
	records_text(records, row->zone_name.len ? row->zone_name : slice_str("UTC"));
	records_time(records, row->next_ms.n && !row->paused ? (int64_t)row->next_ms.at[0] : 0);
	records_bool(records, row->paused);
	records_number(records, row->live);
	records_number(records, row->queued);
	records_number(records, row->fired);
	records_number(records, row->skipped);
	if (row->last_run)
		records_number(records, row->last_run);
	else
		records_none(records);
	records_text(records, slice_str(overlaps[row->overlap <= OVERLAP_ALLOW ? row->overlap : 0]));
	records_text(records, catchup_text(row, records->arena));
	records_time(records, row->last_ms);
	records_text(records, slice_str(row->skip_why <= SKIP_REFUSED ? why[row->skip_why] : NULL));
	records_time(records, row->skip_ms);
	records_texts(records, next);
	records_number(records, row->jobs);
	records_text(records, row->owner);
}

static const struct listing_options schedule_options = {
	.limit = OPT_schedule_limit, .all = OPT_schedule_all, .name = OPT_schedule_name, .sort = OPT_schedule_sort, .where = OPT_schedule_where,
};

/* Show one schedule; name NULL: list all. */
static int schedule_list(struct cli *cli, const char *name)
{
	struct msg_query query = { .what = QUERY_SCHEDULES, .job = slice_str(name) };
	struct listing listing;
	struct records records;
	struct buf out = { 0 };
	size_t count = 0;

	records_begin(&records, name ? detail_columns : columns, schedule_table.count, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE ||
	    listing_read(cli, &schedule_options, &records, &listing) != ERR_NONE || cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	do {
		struct msg_snapshot page;

		if (cli_query(cli, query, &cli->arena, &page) != ERR_NONE)
			return cli_fail(cli);
		for (size_t i = 0; i < page.schedules.n; i++) {
			if (!listing_matches(&listing, page.schedules.at[i].name, 0))
				continue;
			if (!listing_wants(&listing))
				break;
			add_schedule(&records, &page.schedules.at[i]);
			listing_keep(&listing, &records);
			count++;
		}
		query.cursor = page.cursor;
	} while (query.cursor != 0 && !listing.cut);
	if (listing_sort(cli, &listing, &records) != ERR_NONE)
		return cli_fail(cli);
	if (name && count == 0) {
		error_set(&cli->error, ERR_NOT_FOUND, "there is no schedule '%s'", name);
		error_next(&cli->error, "titan schedule ls");
		return cli_fail(cli);
	}
	if (name)
		records_print_one(&records, &cli->out, &out);
	else
		records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	listing_tell(cli, &listing, "schedule");
	return 0;
}

/* ---- acts ---- */

static const struct column changed_columns[] = {
	{ "name", "schedule", false },
	{ "changed", "changed", true },
};
const struct table schedule_changed_table = TABLE_OF(changed_columns);

static const struct column fired_columns[] = {
	{ "name", "schedule", false },
	{ "run", "run", true },
};
const struct table fired_table = TABLE_OF(fired_columns);

static int schedule_act(struct cli *cli, enum set_verb verb, const char *done)
{
	const char *name = cli->invocation->args[1];
	struct msg_set set = { .kind = OBJECT_SCHEDULE, .name = slice_str(name), .verb = verb };
	struct records records;
	struct buf out = { 0 };
	struct msg_ok ok;

	records_begin(&records, verb == SET_FIRE ? fired_columns : changed_columns, 2, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_call(cli, OP_SET, &set, OP_OK, &cli->arena, &ok) != ERR_NONE)
		return cli_fail(cli);
	records_text(&records, set.name);
	records_number(&records, ok.count);
	if (cli_chatty(cli) && verb == SET_FIRE)
		cli_note(cli, "run %" PRIu64 " %s: titan watch %" PRIu64, ok.count, done, ok.count);
	else if (cli_chatty(cli))
		cli_note(cli, "schedule %s %s", name, done);
	else if (cli->out.style != STYLE_HUMAN || verb == SET_FIRE)
		records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

static int verb_ls(struct cli *cli)
{
	return schedule_list(cli, NULL);
}

static int verb_show(struct cli *cli)
{
	return schedule_list(cli, cli->invocation->args[1]);
}

static int verb_pause(struct cli *cli)
{
	return schedule_act(cli, SET_PAUSE, "is paused");
}

static int verb_resume(struct cli *cli)
{
	return schedule_act(cli, SET_RESUME, "goes on");
}

static int verb_rm(struct cli *cli)
{
	return schedule_act(cli, SET_REMOVE, "is removed");
}

static int verb_fire(struct cli *cli)
{
	return schedule_act(cli, SET_FIRE, "has begun");
}

int cmd_schedule(struct cli *cli)
{
	static const struct object_verb verbs[] = {
		{ "ls", 0, 0, "", verb_ls }, { "show", 1, 1, "NAME", verb_show },
		{ "add", 1, 1, "the name of a pipeline file", schedule_add }, { "edit", 1, 1, "NAME", schedule_edit },
		{ "pause", 1, 1, "NAME", verb_pause },
		{ "resume", 1, 1, "NAME", verb_resume }, { "rm", 1, 1, "NAME", verb_rm }, { "fire", 1, 1, "NAME", verb_fire },
	};

	if (cli->invocation->arg_count > 0 && strcmp(cli->invocation->args[0], "ls") != 0 &&
	    listing_refuse(cli, &schedule_options, cli->invocation->args[0]) != ERR_NONE)
		return cli_fail(cli);
	return object_run(cli, verbs, sizeof(verbs) / sizeof(verbs[0]));
}
