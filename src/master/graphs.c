/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Graphs on their way from a connection to the core, whole or in chunks. A connection's unfinished graphs die
 * with it; nothing of them was visible.
 */
#include "master/dispatch.h"

#include "master/upload.h"

static struct upload **find_upload(struct session *session, uint64_t id)
{
	struct upload **at = &session->uploads;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return at;
}

static void drop_upload(struct session *session, struct upload **at)
{
	struct upload *upload = *at;

	*at = upload->next;
	upload_free(upload);
	session->master->uploads--;
}

/* The graph is whole: the core decides. The inbox takes the holds of its parts. */
static enum err submit(const struct incoming_frame *in, struct upload *upload, struct error *error)
{
	struct master *master = in->master;
	uint8_t digest[32];
	struct core_input *input;
	struct store_stats stats;
	enum err err = upload_finish(upload, digest, error);

	if (err != ERR_NONE)
		return err;
	/* Results are kept in memory until there is room; new work isn't taken on top of them. */
	store_stats(master->store, &stats);
	if (stats.full) {
		error_set(error, ERR_FULL, "no room for the store in %s; nothing new is taken",
			  master->options.place.dir);
		return error_next(error, "df %s", master->options.place.dir);
	}
	input = inbox_add(master, INPUT_SUBMIT, in->session, upload->id, upload->bytes);
	input->submit = (struct input_submit){
		.principal = in->session->uid,
		.owner = slice_str(master->owner),
		.name = keep(in, upload->name),
		.part_count = upload->part_count,
		.max_jobs = upload->max_jobs,
		.tenant = keep(in, upload->tenant),
		.concurrency = keep(in, upload->concurrency),
		.schedule = keep(in, buf_slice(&upload->schedule)),
		.into = upload->into,
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

/* More than can be is no bound. */
static uint32_t bound_of(uint64_t max_jobs)
{
	return max_jobs > LIMIT_RUN_JOBS_MAX ? 0 : (uint32_t)max_jobs;
}

enum err on_submit(struct incoming_frame *in)
{
	struct msg_submit msg;
	struct upload *upload = NULL;
	struct error error;
	enum err err = decode(in, OP_SUBMIT, &msg);

	if (err != ERR_NONE)
		return err;
	err = upload_begin(msg.id, msg.key, msg.name, msg.count, &upload, &error);
	if (err == ERR_NONE) {
		upload->max_jobs = bound_of(msg.max_jobs);
		upload_into(upload, msg.into, msg.parents);
	}
	if (err == ERR_NONE && msg.schedule.n > 0)
		record_encode(&upload->schedule, REC_schedule_spec, &msg.schedule.at[0]);
	if (err == ERR_NONE)
		err = upload_share(upload, msg.tenant, msg.concurrency, &error);
	if (err == ERR_NONE)
		err = upload_add(upload, msg.jobs, msg.count, &error);
	if (err == ERR_NONE)
		err = submit(in, upload, &error);
	if (err != ERR_NONE)
		session_refuse(in->session, msg.id, &error);
	upload_free(upload);
	return ERR_NONE;
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
		err = error_set(&error, ERR_DUPLICATE, "a graph with the request %llu is under way",
				(unsigned long long)msg.id);
	else if (in->master->uploads >= LIMIT_UPLOADS_MAX)
		err = error_set(&error, ERR_BUSY, "%d graphs are being uploaded; try again", LIMIT_UPLOADS_MAX);
	else
		err = upload_begin(msg.id, msg.key, msg.name, msg.count, &upload, &error);
	if (err == ERR_NONE && (err = upload_share(upload, msg.tenant, msg.concurrency, &error)) != ERR_NONE)
		upload_free(upload);
	if (err != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	upload->max_jobs = bound_of(msg.max_jobs);
	upload_into(upload, msg.into, msg.parents);
	if (msg.schedule.n > 0)
		record_encode(&upload->schedule, REC_schedule_spec, &msg.schedule.at[0]);
	upload->next = in->session->uploads;
	in->session->uploads = upload;
	in->master->uploads++;
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
	/* Chunks aren't answered: whoever was refused at the beginning hears nothing more until the commit. */
	if (!upload || upload->refused)
		return ERR_NONE;
	if (upload_add(upload, msg.jobs, msg.count, &error) != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		upload->refused = true;
	}
	return ERR_NONE;
}

enum err on_graph_commit(struct incoming_frame *in)
{
	struct msg_graph_commit msg;
	struct upload **at;
	struct error error;
	enum err err = decode(in, OP_GRAPH_COMMIT, &msg);

	if (err != ERR_NONE)
		return err;
	at = find_upload(in->session, msg.id);
	if (!*at) {
		error_set(&error, ERR_NOT_EXPECTED, "no graph with the request %llu is under way",
			  (unsigned long long)msg.id);
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (!(*at)->refused && submit(in, *at, &error) != ERR_NONE)
		session_refuse(in->session, msg.id, &error);
	drop_upload(in->session, at);
	return ERR_NONE;
}
