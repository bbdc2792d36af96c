/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Submitted graphs on their way from a connection to the core, in one frame or in chunks. When a connection closes, its
 * unfinished graphs are dropped without a trace.
 */
#include "master/dispatch.h"

#include "master/upload.h"
#include "proto/input.h"

static struct upload **find_upload(struct peer_session *session, uint64_t id)
{
	struct upload **at = &session->uploads;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static void drop_upload(struct upload **at)
{
	struct upload *upload = *at;

	*at = upload->next;
	uploads_remove(upload);
	upload_free(upload);
}

/* The graph is complete: pass it to the core as an input. The inbox takes over the references to the graph's parts. */
static enum err pass_on(const struct incoming_frame *in, struct upload *upload, struct error *error)
{
	struct master *master = in->master;
	uint8_t digest[32];
	struct core_input *input;
	enum err err = upload_finish(upload, digest, error);

	if (err != ERR_NONE)
		return err;
	/* Refuse new work while the store is full: results of running jobs already wait in memory for room. */
	err = room_check(master, ROOM_FOR_NEW, error);
	if (err != ERR_NONE)
		return err;
	input = inbox_add(master, INPUT_SUBMIT, in->session, upload->id, upload->bytes);
	input->submit = (struct input_submit){
		.principal = in->session->principal.id,
		.owner = keep(in, slice_str(in->session->principal.name)),
		.own_only = in->session->roles & (ROLE_BIT(OPERATOR) | ROLES_ADMIN) ? (struct slice){ 0 } :
				keep(in, slice_str(in->session->principal.name)),
		.name = keep(in, upload->name),
		.part_count = upload->part_count,
		.max_jobs = upload->max_jobs,
		.tenant = keep(in, upload->tenant),
		.concurrency = keep(in, upload->concurrency),
		.context = keep(in, upload->context),
		.schedule = keep(in, buf_slice(&upload->schedule)),
		.revision = keep(in, upload->revision),
		.into = upload->into,
		.contents = keep(in, upload->contents),
		.contents_known = upload->contents_known,
		.parents = slice_list_copy(&master->inbox.arena, upload->parents),
		.caller = in->session->caller,
	};
	memcpy(input->submit.key, upload->key, sizeof(input->submit.key));
	memcpy(input->submit.digest, digest, sizeof(input->submit.digest));
	input->submit.parts = (const struct graph_part *)(const void *)keep(
		in, slice_make(upload->parts, upload->part_count * sizeof(*upload->parts))).data;
	upload->part_count = 0;
	return ERR_NONE;
}

/*
 * Pass a complete graph to the core. If its jobs have files, first check that their contents are there and that the submitter may
 * read them; graphs_checked goes on. *ret_waits: the upload must stay until then.
 */
static enum err submit(const struct incoming_frame *in, struct upload *upload, bool *ret_waits, struct error *error)
{
	*ret_waits = false;
	if (upload->contents.len == 0 || upload->contents_known)
		return pass_on(in, upload, error);
	if (contents_fault(upload->contents))
		return error_set(error, ERR_INVALID, "inputs: %s", contents_fault(upload->contents));
	upload->checking = *ret_waits = assets_check_graph(in, upload->id, upload->contents, error);
	return *ret_waits ? ERR_NONE : error->code;
}

/* Keep an upload of this connection until it is complete and checked. */
static void hold_upload(struct peer_session *session, struct upload *upload, uint64_t bytes)
{
	upload->next = session->uploads;
	session->uploads = upload;
	uploads_add(session, upload, bytes);
}

void graphs_checked(struct peer_session *session, uint64_t id, const struct error *fault)
{
	const struct incoming_frame in = { .master = session->master, .session = session };
	struct upload **at = find_upload(session, id);
	struct error error = *fault;

	if (!*at || !(*at)->checking)
		return;
	/* One that was given up meanwhile has been refused already. */
	if (error.code == ERR_NONE && !(*at)->refused)
		pass_on(&in, *at, &error);
	if (error.code != ERR_NONE && !(*at)->refused)
		session_refuse(session, id, &error);
	drop_upload(at);
	master_stay_awake(session->master);
}

/* Return max_jobs, or 0 (no limit) if no run can have that many jobs. */
static uint32_t bound_of(uint64_t max_jobs)
{
	return max_jobs > LIMIT_RUN_JOBS_MAX ? 0 : (uint32_t)max_jobs;
}

/*
 * Count the parts and jobs of the run's first extent: later extents belonged to that run alone and aren't
 * submitted again.
 */
static uint64_t submitted_parts(const struct store_query *specs, size_t *ret_parts)
{
	uint64_t jobs = 0;
	size_t i;

	for (i = 0; i < specs->row_count && (i == 0 || specs->rows[i].spec.first == 0); i++)
		jobs += (uint64_t)specs->rows[i].spec.count;
	*ret_parts = i;
	return jobs;
}

void graphs_again(struct master *master, const struct query *query, const struct row_run *run,
		  const struct store_query *specs)
{
	struct peer_session *session = session_find(master, query->conn);
	const struct incoming_frame in = { .master = master, .session = session };
	struct slice name = query->job_len > 0 ? slice_make(query->job, query->job_len) : run->name;
	struct upload *upload = NULL;
	struct error error;
	size_t parts;
	uint64_t jobs = submitted_parts(specs, &parts);
	enum err err;

	/* The client is gone and couldn't learn the outcome, so don't submit. */
	if (!session)
		return;
	err = upload_begin(query->id, slice_make(query->key, sizeof(query->key)), name, jobs, &upload, &error);
	if (err == ERR_NONE) {
		upload->max_jobs = (uint32_t)run->max_jobs;
		err = upload_share(upload, run->tenant, run->concurrency, &error);
	}
	if (err == ERR_NONE && parts > 0)
		err = upload_context(upload, specs->rows[0].spec.context, &error);
	for (size_t i = 0; i < parts && err == ERR_NONE; i++)
		err = upload_add(upload, specs->rows[i].spec.body, (uint64_t)specs->rows[i].spec.count, &error);
	if (err == ERR_NONE) {
		/* Who sees a run may run it again, with its files. */
		upload->contents_known = true;
		err = pass_on(&in, upload, &error);
	}
	if (err != ERR_NONE)
		session_refuse(session, query->id, &error);
	upload_free(upload);
	master_stay_awake(master);
}

static void ask_again(const struct incoming_frame *in, const struct msg_submit *msg)
{
	struct query *query;
	struct error error;

	if (msg->count > 0 || msg->into > 0 || msg->schedule.n > 0 || msg->tenant.len > 0 || msg->concurrency.len > 0 || msg->context.len > 0 ||
	    msg->key.len != sizeof(query->key) || msg->name.len > sizeof(query->job)) {
		error_set(&error, ERR_INVALID, "a run that is submitted again keeps its jobs and limits; only a key "
			"and a name can be given");
		session_refuse(in->session, msg->id, &error);
		return;
	}
	query = query_new(in->session, msg->id, QUERY_IS_AGAIN);
	query->run = msg->again;
	memcpy(query->key, msg->key.data, sizeof(query->key));
	query->job_len = msg->name.len;
	if (msg->name.len > 0)
		memcpy(query->job, msg->name.data, msg->name.len);
}

/* A graph in one frame whose jobs have files: it must wait like one that comes in several. */
static enum err submit_with_files(struct incoming_frame *in, struct upload *upload, struct slice contents, bool *ret_waits, struct error *error)
{
	enum err err;

	if (*find_upload(in->session, upload->id))
		return error_set(error, ERR_DUPLICATE, "a graph with request id %llu is already being sent", (unsigned long long)upload->id);
	err = uploads_admit(in->session, in->body.len, error);
	upload->contents = arena_copy(&upload->arena, contents);
	if (err == ERR_NONE)
		err = submit(in, upload, ret_waits, error);
	if (*ret_waits)
		hold_upload(in->session, upload, in->body.len);
	return err;
}

enum err on_submit(struct incoming_frame *in)
{
	struct msg_submit msg;
	struct upload *upload = NULL;
	struct error error;
	bool waits = false;
	enum err err = decode(in, OP_SUBMIT, &msg);

	if (err != ERR_NONE)
		return err;
	if (msg.again > 0) {
		if (!room_refuse(in, msg.id, ROOM_FOR_NEW))
			ask_again(in, &msg);
		return ERR_NONE;
	}
	err = upload_begin(msg.id, msg.key, msg.name, msg.count, &upload, &error);
	if (err == ERR_NONE) {
		upload->max_jobs = bound_of(msg.max_jobs);
		upload_into(upload, msg.into, msg.parents);
	}
	if (err == ERR_NONE && msg.schedule.n > 0)
		upload_schedule(upload, &msg.schedule.at[0], msg.revision);
	if (err == ERR_NONE)
		err = upload_share(upload, msg.tenant, msg.concurrency, &error);
	if (err == ERR_NONE)
		err = upload_context(upload, msg.context, &error);
	if (err == ERR_NONE)
		err = upload_add(upload, msg.jobs, msg.count, &error);
	if (err == ERR_NONE && msg.inputs.len > 0)
		err = submit_with_files(in, upload, msg.inputs, &waits, &error);
	else if (err == ERR_NONE)
		err = pass_on(in, upload, &error);
	if (err != ERR_NONE)
		session_refuse(in->session, msg.id, &error);
	if (!waits)
		upload_free(upload);
	return ERR_NONE;
}

/* Count all uploads of the session, including refused ones whose last chunk hasn't come yet. */
static size_t count_uploads(const struct peer_session *session)
{
	size_t count = 0;

	for (const struct upload *upload = session->uploads; upload; upload = upload->next)
		count++;
	return count;
}

enum err on_graph_begin(struct incoming_frame *in)
{
	struct msg_graph_begin msg;
	struct upload *upload;
	struct error error;
	enum err err = decode(in, OP_GRAPH_BEGIN, &msg);

	if (err != ERR_NONE)
		return err;
	if (*find_upload(in->session, msg.id))
		err = error_set(&error, ERR_DUPLICATE, "a graph with request id %llu is already being sent",
				(unsigned long long)msg.id);
	else if (count_uploads(in->session) >= in->master->upload_bounds[UPLOADS_CONNECTION].count)
		err = error_set(&error, ERR_BUSY, "%zu graphs are being sent on this connection, and no more are "
			"allowed; commit them first",
				count_uploads(in->session));
	else if ((err = uploads_admit(in->session, in->body.len, &error)) == ERR_NONE)
		err = upload_begin(msg.id, msg.key, msg.name, msg.count, &upload, &error);
	if (err == ERR_NONE && ((err = upload_share(upload, msg.tenant, msg.concurrency, &error)) != ERR_NONE ||
				(err = upload_context(upload, msg.context, &error)) != ERR_NONE))
		upload_free(upload);
	if (err != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	upload->max_jobs = bound_of(msg.max_jobs);
	upload_into(upload, msg.into, msg.parents);
	if (msg.schedule.n > 0)
		upload_schedule(upload, &msg.schedule.at[0], msg.revision);
	hold_upload(in->session, upload, in->body.len);
	return ERR_NONE;
}

enum err on_graph_chunk(struct incoming_frame *in)
{
	struct msg_graph_chunk msg;
	struct upload *upload;
	struct error error;
	enum err err = decode(in, OP_GRAPH_CHUNK, &msg);

	if (err != ERR_NONE)
		return err;
	upload = *find_upload(in->session, msg.id);
	/* Chunks get no reply: the sender of a refused upload is told nothing more until its last chunk. */
	if (!upload || upload->refused || upload->checking)
		return ERR_NONE;
	if (uploads_grow(upload, msg.jobs.len + UPLOAD_PART_BYTES, &error) != ERR_NONE ||
	    upload_add(upload, msg.jobs, msg.count, &error) != ERR_NONE)
		uploads_refuse(upload, &error);
	return ERR_NONE;
}

enum err on_graph_commit(struct incoming_frame *in)
{
	struct msg_graph_commit msg;
	struct upload **at;
	struct error error;
	bool waits = false;
	enum err err = decode(in, OP_GRAPH_COMMIT, &msg);

	if (err != ERR_NONE)
		return err;
	at = find_upload(in->session, msg.id);
	if (!*at) {
		error_set(&error, ERR_NOT_EXPECTED, "no graph with request id %llu is being sent",
			  (unsigned long long)msg.id);
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if ((*at)->checking)
		return ERR_NONE;
	(*at)->contents = arena_copy(&(*at)->arena, msg.inputs);
	if (!(*at)->refused && submit(in, *at, &waits, &error) != ERR_NONE)
		session_refuse(in->session, msg.id, &error);
	if (!waits)
		drop_upload(at);
	return ERR_NONE;
}
