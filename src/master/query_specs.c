/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers queries for jobs as they were submitted. Jobs of a run come from the store, those of a schedule from memory.
 * Variables may hold secrets, so only the person who submitted the graph, operators and administrators see their values.
 */
#include "master/history.h"

#include "master/sight.h"
#include "proto/frame.h"

#define SPECS_BYTES (512u << 10)         /* most bytes of jobs in an answer; a single larger job is sent alone */

struct specs_source {
	const struct rec_graph_part *whole;      /* the fields that all parts of the answer share */
	bool masked;
	uint64_t cursor;                 /* index of the first job wanted */
	uint64_t index;                  /* index of the first job of the part that is added next */
	size_t bytes;
	uint64_t next;                   /* index of the first job that had no room; 0: none */
	struct arena *arena;
	struct answer_page *page;
};

static struct slice kept(struct arena *arena, struct buf *out)
{
	struct slice copy = arena_copy(arena, buf_slice(out));

	buf_free(out);
	return copy;
}

static void mask_list(struct slice_list *env)
{
	for (size_t i = 0; i < env->n; i++) {
		const uint8_t *equals = env->at[i].len > 0 ? memchr(env->at[i].data, '=', env->at[i].len) : NULL;

		if (equals)
			env->at[i].len = (size_t)(equals + 1 - env->at[i].data);
	}
}

static struct slice mask_context(struct slice bytes, struct arena *arena)
{
	struct rec_run_context context;
	struct buf out = { 0 };

	if (bytes.len == 0 || record_decode(REC_run_context, &bytes, arena, &context, NULL) != ERR_NONE)
		return slice_make(NULL, 0);
	mask_list(&context.env);
	mask_list(&context.here_env);
	record_encode(&out, REC_run_context, &context);
	return kept(arena, &out);
}

/* Empty the values of variables, also those in the graphs of sub-runs. */
static struct slice mask_jobs(struct slice bytes, struct arena *arena)
{
	struct rec_job_spec spec;
	struct buf out = { 0 };

	while (bytes.len > 0 && record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE) {
		mask_list(&spec.env);
		if (spec.sub_jobs.len > 0)
			spec.sub_jobs = mask_jobs(spec.sub_jobs, arena);
		if (spec.sub_context.len > 0)
			spec.sub_context = mask_context(spec.sub_context, arena);
		record_encode(&out, REC_job_spec, &spec);
	}
	return kept(arena, &out);
}

/* Add the wanted jobs of a part. False: the page is full. */
static bool add_part(struct specs_source *source, struct slice body, uint64_t count, struct slice context)
{
	struct rec_graph_part part = *source->whole;
	uint64_t index = source->index;
	struct slice jobs;
	size_t size;

	source->index += count;
	for (; index < source->cursor && count > 0; index++, count--) {
		if (frame_check(body, &size, NULL) != ERR_NONE)
			return true;
		body = slice_make(body.data + size, body.len - size);
	}
	part.first = index;
	jobs = slice_make(body.data, 0);
	for (; count > 0 && frame_check(body, &size, NULL) == ERR_NONE; count--, index++, part.count++) {
		if (source->bytes > 0 && source->bytes + size > SPECS_BYTES) {
			source->next = index;
			break;
		}
		source->bytes += size;
		jobs.len += size;
		body = slice_make(body.data + size, body.len - size);
	}
	if (part.count == 0)
		return source->next == 0;
	part.jobs = source->masked ? mask_jobs(jobs, source->arena) : jobs;
	part.context = source->masked ? mask_context(context, source->arena) : context;
	part.masked = source->masked;
	if (page_add_part(source->page, &part))
		return source->next == 0;
	source->next = part.first;
	return false;
}

/* May the asker see the values of variables in a graph that this person (owner) submitted? */
static bool may_see(struct master *master, const struct query *query, struct slice owner)
{
	const struct peer_session *session = session_find(master, query->conn);

	return session && (session->roles & (ROLE_BIT(OPERATOR) | ROLES_ADMIN) || slice_eq(slice_str(session->principal.name), owner));
}

void history_specs(struct master *master, struct history *history)
{
	const struct row_run *run = &history->run->rows[0].run;
	const struct store_query *specs = history->specs->answer;
	struct peer_session *session = session_find(master, history->query->conn);
	const struct rec_graph_part whole = { .name = run->name, .tenant = run->tenant, .concurrency = run->concurrency,
					      .max_jobs = (uint64_t)run->max_jobs };
	struct slice context = { 0 };
	struct arena arena = { 0 };
	struct answer_page page;
	struct specs_source source = { .whole = &whole, .masked = !may_see(master, history->query, run->owner), .arena = &arena,
				       .cursor = history->query->cursor, .page = &page };

	page_begin(&page, &arena, history->query);
	for (size_t i = 0; i < specs->row_count; i++) {
		const struct row_spec *row = &specs->rows[i].spec;

		if (i == 0 || row->first > 0)
			context = row->context;
		if (!add_part(&source, row->body, (uint64_t)row->count, context))
			break;
	}
	page.snapshot.turn = master->commits.durable;
	page.snapshot.total = (uint64_t)run->jobs;
	page.snapshot.cursor = source.next;
	if (session)
		session_send(session, OP_SNAPSHOT, &page.snapshot);
	query_free(master, history->query);
	history_forget(history);
	arena_free(&arena);
}

void query_schedule_specs(struct master *master, struct master_turn *turn, struct query *query)
{
	struct slice name = slice_make(query->job, query->job_len);
	struct view_schedule_graph graph;
	struct rec_graph_part whole;
	struct answer_page page;
	struct specs_source source = { .whole = &whole, .arena = &master->scratch, .cursor = query->cursor, .page = &page };
	struct error error;

	if (!view_schedule_graph(master->core, name, &graph) || !sight_own(&query->sight, graph.owner)) {
		error_set(&error, ERR_NOT_FOUND, "there is no schedule '%.*s'", (int)name.len, (const char *)name.data);
		error_next(&error, "titan schedule ls");
		query_refuse(master, turn, query, &error);
		return;
	}
	source.masked = !may_see(master, query, graph.owner);
	whole = (struct rec_graph_part){ .name = name, .tenant = graph.tenant, .concurrency = graph.concurrency,
					 .max_jobs = graph.max_jobs, .revision = graph.revision, .schedule = { &graph.spec, 1 } };
	page_begin(&page, &master->scratch, query);
	for (size_t i = 0; i < graph.part_count; i++)
		if (!add_part(&source, blob_slice(graph.parts[i].body), graph.parts[i].count, graph.context))
			break;
	query_finish(master, turn, query, &page, source.next);
}
