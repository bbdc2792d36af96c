/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of runs, jobs and workers, and how rows from the wire fill them. */
#include "cli/show/rows.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "lang/demand.h"
#include "proto/reasons.h"

static const struct column run_columns[] = {
	{ "run", "ID", true },
	{ "name", "PIPELINE", false },
	{ "state", "STATE", false },
	{ "progress", "PROGRESS", false },
	{ "ok", "OK", true },
	{ "running", "RUN", true },
	{ "waiting", "WAIT", true },
	{ "failed", "FAIL", true },
	{ "age_ms", "AGE", true },
	{ "ended", "ENDED", false },
	{ "why", "WHY", false },
	{ "reason", NULL, false },
	{ "skipped", NULL, false },
	{ "cancelled", NULL, false },
	{ "job_count", NULL, false },
	{ "owner", NULL, false },
	{ "tenant", NULL, false },
	{ "submitted", NULL, false },
	{ "held", NULL, false },
	{ "forgiven_jobs", NULL, false },
	{ "dead_letters", NULL, false },
	{ "schedule", NULL, false },
	{ "group", NULL, false },
	{ "seated", NULL, false },
	{ "parent", NULL, false },
};
const struct table run_table = TABLE_OF(run_columns);

void rows_begin_runs(struct records *records, struct arena *arena)
{
	records_begin(records, run_columns, run_table.count, arena);
}

void rows_add_run(struct records *records, const struct rec_run_row *run, int64_t now_ms)
{
	struct run_counts counts = run_counts(run);
	enum run_state state = run_state_checked(run->state);
	int64_t end_ms = run->ended_ms ? run->ended_ms : now_ms;

	records_number(records, run->run);
	records_text(records, run->name);
	records_state(records, run_look(run), run_state_name(state));
	records_share(records, counts.ended, counts.jobs);
	records_number(records, counts.ok);
	records_number(records, counts.running);
	records_number(records, counts.waiting);
	records_number(records, counts.failed);
	records_span(records, end_ms > run->submitted_ms ? end_ms - run->submitted_ms : 0);
	records_time(records, run->ended_ms);
	records_text(records, run_why_text(run, records->arena));
	records_text(records, slice_str(run->why_code ? reason_name(run->why_code) : NULL));
	records_number(records, counts.skipped);
	records_number(records, counts.cancelled);
	records_number(records, counts.jobs);
	records_text(records, run->owner);
	records_text(records, run->tenant.len > 0 ? run->tenant : run->owner);
	records_time(records, run->submitted_ms);
	records_bool(records, run->held);
	records_number(records, run->forgiven);
	records_number(records, run->dead);
	records_text(records, run->schedule);
	records_text(records, run->concurrency);
	records_bool(records, run->seated);
	records_text(records, run_parent(run, records->arena));
}

static const struct column job_columns[] = {
	{ "name", "JOB", false },
	{ "state", "STATE", false },
	{ "span_ms", "TIME", true },
	{ "tries", "TRY", true },
	{ "worker", "WORKER", false },
	{ "outcome", "RESULT", false },
	{ "needs", "NEEDS", false },
	{ "why", "WHY", false },
	{ "reason", NULL, false },
	{ "job", NULL, false },
	{ "run", NULL, false },
	{ "serial", NULL, false },
	{ "index", NULL, false },
	{ "epoch", NULL, false },
	{ "crashes", NULL, false },
	{ "interrupted", NULL, false },
	{ "exit_code", NULL, false },
	{ "signal", NULL, false },
	{ "spawn_error", NULL, false },
	{ "started", NULL, false },
	{ "ended", NULL, false },
	{ "due", NULL, false },
	{ "cpu_us", NULL, false },
	{ "rss_kib", NULL, false },
	{ "out_bytes", NULL, false },
	{ "held", NULL, false },
	{ "forgiven", NULL, false },
	{ "dead", NULL, false },
	{ "when", NULL, false },
	{ "condition_false", NULL, false },
	{ "child", NULL, false },
	{ "pass", NULL, false },
	{ "progress_permille", NULL, false },
	{ "progress_text", NULL, false },
};
const struct table job_table = TABLE_OF(job_columns);

/* Add the part that the job reported as done, in thousandths. */
static void add_progress(struct records *records, const struct rec_job_row *job)
{
	uint64_t done = job->progress - 1;

	if (job->progress == 0)
		records_none(records);
	else if (job->progress_of == 0)
		records_number(records, done);
	else
		records_number(records, (uint64_t)((double)done / (double)job->progress_of * 1000));
	records_text(records, job->progress_text);
}

void rows_begin_jobs(struct records *records, struct arena *arena)
{
	records_begin(records, job_columns, job_table.count, arena);
}

/* Turn the indices of needed jobs into names. */
static struct slice_list need_names(const struct rec_job_row *job, const struct rec_job_row *jobs, size_t job_count,
				    struct arena *arena)
{
	struct slice_list names = { .n = job->needs.n };

	if (names.n == 0)
		return (struct slice_list){ 0 };
	names.at = arena_zalloc(arena, names.n, sizeof(*names.at));
	for (size_t i = 0; i < names.n; i++) {
		uint64_t index = job->needs.at[i];
		uint64_t trigger = i < job->triggers.n ? job->triggers.at[i] : TRIGGER_OK;
		struct buf text = { 0 };

		if (index < job_count && jobs[index].index == index)
			buf_add_slice(&text, jobs[index].name);
		else
			buf_addf(&text, "#%" PRIu64, index);
		if (trigger == TRIGGER_FAILED || trigger == TRIGGER_DONE)
			buf_add_str(&text, trigger == TRIGGER_FAILED ? ":failed" : ":done");
		names.at[i] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
	return names;
}

struct slice rows_needs_shown(struct slice_list needs, struct slice needs_text, struct slice when, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice shown;

	if (needs_text.len == 0 && when.len == 0)
		return slice_make(NULL, 0);
	buf_add_slice(&text, needs_text);
	for (size_t i = 0; needs_text.len == 0 && i < needs.n; i++) {
		buf_add_str(&text, i > 0 ? "," : "");
		buf_add_slice(&text, needs.at[i]);
	}
	if (when.len > 0) {
		buf_add_str(&text, text.len > 0 ? "  when " : "when ");
		buf_add_slice(&text, when);
	}
	shown = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return shown;
}

static void add_needs(struct records *records, struct slice_list needs, const struct rec_job_row *job)
{
	records_texts_as(records, needs, rows_needs_shown(needs, job->needs_text, job->when, records->arena));
}

void rows_add_job(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		  size_t job_count, int64_t now_ms)
{
	enum job_state state = job_state_checked(job->state);
	struct arena *arena = records->arena;

	records_text(records, job->name);
	records_state(records, job_look(job), state_table[state].name);
	records_span(records, job_span_ms(job, now_ms));
	records_number(records, job->tries);
	records_text(records, job->worker);
	records_text(records, job_outcome_text(job, arena));
	if (jobs != NULL)
		add_needs(records, need_names(job, jobs, job_count, arena), job);
	else
		records_none(records);
	records_text(records, job_cause_text(job, jobs, job_count, arena));
	records_text(records, slice_str(job->why_code ? reason_name(job->why_code) : NULL));
	records_text(records, job_address(job, arena));
	records_number(records, job->run);
	records_number(records, job->job);
	records_number(records, job->index);
	records_number(records, job->epoch);
	records_number(records, job->crashes);
	records_number(records, job->interrupted);
	records_end(records, job->outcome, job->code);
	records_time(records, job->started_ms);
	records_time(records, job->ended_ms);
	records_time(records, job->due_ms);
	records_number(records, job->cpu_us);
	records_number(records, job->rss_kib);
	records_number(records, job->out_bytes);
	records_bool(records, job->held);
	records_bool(records, job->forgiven);
	records_bool(records, job->dead);
	records_text(records, job->when);
	records_bool(records, job->condition_false);
	if (job->child != 0)
		records_number(records, job->child);
	else
		records_none(records);
	if (job->pass != 0)
		records_number(records, job->pass);
	else
		records_none(records);
	add_progress(records, job);
}

static struct record_cell *last_cell(struct records *records, const char *key)
{
	size_t column = 0;

	while (strcmp(records->columns[column].key, key) != 0)
		column++;
	return &records->cells[records->cell_count - records->column_count + column];
}

void rows_fold_job(struct records *records, struct slice name, struct slice text)
{
	static const char *const of_one[] = { "span_ms", "tries", "worker", "outcome" };

	for (size_t i = 0; i < sizeof(of_one) / sizeof(of_one[0]); i++)
		*last_cell(records, of_one[i]) = (struct record_cell){ .kind = CELL_NONE };
	last_cell(records, "name")->text = name;
	*last_cell(records, "why") = (struct record_cell){ .kind = CELL_TEXT, .text = text };
}

void rows_fold_needs(struct records *records, struct slice_list needs)
{
	if (needs.n > 0)
		*last_cell(records, "needs") = (struct record_cell){ .kind = CELL_TEXTS, .texts = needs };
}

static const struct column worker_columns[] = {
	{ "name", "WORKER", false },
	{ "state", "STATE", false },
	{ "busy", "BUSY", true },
	{ "slots", "SLOTS", true },
	{ "prefetched", "PREFETCHED", true },
	{ "done", "DONE", true },
	{ "cpu_permille", NULL, false },
	{ "mem_permille", NULL, false },
	{ "pid", "PID", true },
	{ "seen_ms", "SEEN", true },
	{ "serial", NULL, false },
	{ "labels", "LABELS", false },
	{ "pool", "POOL", false },
	{ "pool_state", NULL, false },
	{ "standing", "STANDING", false },
	{ "resources", "RESOURCES", false },
	{ "gpu_permille", NULL, false },
	{ "load_permille", NULL, false },
	{ "start_us", NULL, false },
	{ "rest_ms", NULL, false },
	{ "reserved", NULL, false },
	{ "stuck_attempts", NULL, false },
	{ "stuck_jobs", NULL, false },
	{ "refused_why", NULL, false },
	{ "refused_ms", NULL, false },
	{ "protocol", NULL, false },
};
const struct table worker_table = TABLE_OF(worker_columns);

void rows_begin_workers(struct records *records, struct arena *arena)
{
	records_begin(records, worker_columns, worker_table.count, arena);
}

static const char *system_word(uint64_t code)
{
	const char *word = code <= INT32_MAX ? strerrordesc_np((int)code) : NULL;

	return word ? word : "for an unknown reason";
}

/* How a person can remove the cause of this errno on the worker's machine. */
static const char *refused_remedy(uint64_t code)
{
	switch (code) {
	case EMFILE:
		return "raise the worker's limit of open files (ulimit -n), and start the worker again";
	case ENFILE:
		return "raise the machine's limit of open files (sysctl fs.file-max)";
	case ENOSPC:
	case EDQUOT:
		return "make room on the disk of the worker's state directory (df)";
	case EAGAIN:
		return "raise the worker's limit of processes (ulimit -u), and start the worker again";
	case ENOMEM:
		return "free memory on the worker's machine";
	default:
		return "look into the worker's log";
	}
}

static void refused_alarm(const struct rec_worker_row *worker, struct buf *out)
{
	buf_add_str(out, "alarm    worker ");
	text_escape(out, worker->name, TEXT_KEEP_NONE);
	buf_addf(out, " can't start jobs: %s; ", system_word(worker->refused_code));
	if (worker->refused_ms > 0)
		buf_addf(out, "the master tries the worker again in %llu s", (unsigned long long)(worker->refused_ms + 999) / 1000);
	else
		buf_add_str(out, "the master tries the worker again with the next job");
	buf_addf(out, "    next: %s\n", refused_remedy(worker->refused_code));
}

void rows_alarm(const struct rec_worker_row *worker, struct buf *out)
{
	if (worker->refused_code && worker->state == WORKER_UP)
		refused_alarm(worker, out);
	if (worker->stuck == 0)
		return;
	buf_add_str(out, "alarm    worker ");
	text_escape(out, worker->name, TEXT_KEEP_NONE);
	buf_addf(out, ": %llu killed %s", (unsigned long long)worker->stuck,
		 worker->stuck == 1 ? "job still has a process and keeps its slot" : "jobs still have processes and keep their slots");
	for (size_t i = 0; i < worker->stuck_jobs.n; i++) {
		buf_add_str(out, i == 0 ? ": " : ", ");
		text_escape(out, worker->stuck_jobs.at[i], TEXT_KEEP_NONE);
	}
	if (worker->stuck > worker->stuck_jobs.n)
		buf_add_str(out, " ...");
	buf_add_str(out, "    next: titan explain ");
	text_escape(out, worker->stuck_jobs.n > 0 ? worker->stuck_jobs.at[0] : slice_str("JOB"), TEXT_KEEP_NONE);
	buf_add_byte(out, '\n');
}

/* One word for why the worker gets fewer or no new jobs: its own reason first, else the state of its pool. */
static struct slice worker_standing(const struct rec_worker_row *worker)
{
	if (worker->standing != STANDING_NONE)
		return slice_str(standing_name((enum worker_standing)worker->standing));
	if (worker->pool_state != POOL_ACTIVE)
		return slice_str(worker->pool_state == POOL_DRAINING ? "pool draining" : "pool inactive");
	if (worker->refused_code)
		return slice_str("can't start");
	if (worker->rest_ms)
		return slice_str("flaps");
	if (worker->stuck)
		return slice_str("stuck");
	return slice_str(worker->protocol != 0 && worker->protocol < PROTOCOL_VERSION ? "older titan" : NULL);
}

/* Empty the cells about connection and load in the last row: for an earlier time (--at) they aren't known. */
void rows_forget_load(struct records *records)
{
	static const char *const kept[] = { "name", "slots", "worker", "pool", "pool_state", "standing" };
	struct record_cell *cells = records->cells + records->cell_count - records->column_count;

	for (size_t i = 0; i < records->column_count; i++) {
		bool keep = false;

		for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++)
			keep |= strcmp(records->columns[i].key, kept[k]) == 0;
		if (!keep)
			cells[i] = (struct record_cell){ .kind = CELL_NONE };
	}
}

void rows_add_worker(struct records *records, const struct rec_worker_row *worker, int64_t now_ms)
{
	enum worker_state state = worker->state <= WORKER_ENDED ? (enum worker_state)worker->state : WORKER_LOST;

	records_text(records, worker->name);
	records_text(records, slice_str(worker_state_name(state)));
	records_number(records, worker->busy);
	records_number(records, worker->slots);
	records_number(records, worker->prefetched);
	records_number(records, worker->done);
	records_number(records, worker->cpu_permille);
	records_number(records, worker->mem_permille);
	records_number(records, worker->pid);
	records_span(records, worker->seen_ms && now_ms > worker->seen_ms ? now_ms - worker->seen_ms : 0);
	records_number(records, worker->worker);
	records_texts(records, worker->labels);
	records_text(records, worker->pool);
	records_text(records, slice_str(pool_state_name((enum pool_state)worker->pool_state)));
	records_text(records, worker_standing(worker));
	records_texts(records, demand_shown_used(worker->offers, worker->used, records->arena));
	records_number(records, worker->gpu_permille);
	records_number(records, worker->load_permille);
	records_number(records, worker->start_us);
	records_span(records, worker->rest_ms ? (int64_t)worker->rest_ms : -1);
	if (worker->reserved)
		records_number(records, worker->reserved);
	else
		records_none(records);
	records_number(records, worker->stuck);
	records_texts(records, worker->stuck_jobs);
	records_text(records, slice_str(worker->refused_code ? system_word(worker->refused_code) : NULL));
	records_span(records, worker->refused_code ? (int64_t)worker->refused_ms : -1);
	if (worker->protocol != 0)
		records_number(records, worker->protocol);
	else
		records_none(records);
}
