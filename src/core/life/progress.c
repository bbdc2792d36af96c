/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Progress that running jobs report. The latest report of each is kept in memory while its attempt lives. It is only
 * for people who watch, so it isn't durable; a restarted master gets it again with the job's next report.
 */
#include "core/life/life.h"

#include "core/graph/graph.h"
#include "core/rows/durable.h"

struct progress {
	uint64_t done, total;
	size_t text_len;
	char text[];
};

static void progress_forget(struct core *core, uint64_t serial)
{
	struct progress *progress = map_remove(&core->progress, serial);

	if (progress)
		mem_free(progress);
}

void progress_drop(struct core *core, const struct job *job)
{
	progress_forget(core, job_serial(job));
}

void progress_step(struct core *core, const struct core_input *input)
{
	const struct input_progress *said = &input->progress;
	const struct run *run;
	struct progress *progress;
	struct error error;

	if (caller_check(core, &said->caller, &run, &error) != ERR_NONE) {
		error_send(core, input->conn, input->request, &error, false);
		return;
	}
	progress_forget(core, said->caller.job);
	progress = mem_zalloc(sizeof(*progress) + said->text.len);
	progress->done = said->done;
	progress->total = said->total;
	progress->text_len = said->text.len;
	if (said->text.len > 0)
		memcpy(progress->text, said->text.data, said->text.len);
	map_put(&core->progress, said->caller.job, progress);
	job_touch(core, job_find(core, said->caller.job), false);
	outbox_frame(core->outbox, input->conn, OP_OK)->ok = (struct msg_ok){ .id = input->request, .count = 1 };
}

void progress_view(const struct core *core, const struct job *job, struct rec_job_row *row)
{
	const struct progress *progress = core->progress.count > 0 ? map_get(&core->progress, job_serial(job)) : NULL;

	if (!progress)
		return;
	/* Plus one, because 0 says that there is no progress. */
	row->progress = progress->done + 1;
	row->progress_of = progress->total;
	row->progress_text = slice_make(progress->text, progress->text_len);
}

void progress_free_all(struct core *core)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&core->progress, &cursor, &serial, &value))
		mem_free(value);
	map_free(&core->progress);
}
