/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan show JOB: all that is known of one job, one fact per line. Facts that the job doesn't have are left out. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/decisions.h"
#include "cli/commands/show.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "cli/show/row_words.h"
#include "lang/demand.h"
#include "lang/failure.h"
#include "lang/log_max.h"
#include "proto/input.h"
#include "proto/job_output.h"
#include "proto/limits.h"

static const struct column detail_columns[] = {
	{ "job", "job", false },
	{ "state", "state", false },
	{ "outcome", "result", false },
	{ "why", "why", false },
	{ "progress_words", "progress", false },
	{ "command", "command", false },
#define SETTING(TYPE, key, field, YAML, LINE, SHAPE, KINDS, DEFAULT, wire, text) DETAIL_##SHAPE(field, YAML)
#define DETAIL_OWN(field, word)
#define DETAIL_TEXT(field, word) { #field, word, false },
#define DETAIL_SPAN(field, word) { #field, word, false },
#define DETAIL_TIME(field, word) { #field, word, false },
#include "proto/spec.def"
	{ "question", "question", false },
	{ "approvals", "approvals", false },
	{ "approvals_needed", "approvals wanted", false },
	{ "fields", "fields", false },
	{ "unblocks", "unblocks", false },
	{ "from", "who may", false },
	{ "digest", "digest", false },
	{ "outputs", "outputs", false },
	{ "output_fault", "wrong output", false },
	{ "artifacts", "artifacts", false },
	{ "artifact_fault", "no artifacts", false },
	{ "decisions", "decided", false },
	{ "ended_by", "ended by", false },
	{ "pushback", "pushed back", false },
	{ "needs", "needs", false },
	{ "needs_text", "needs as", false },
	{ "when", "when", false },
	{ "loop", "loop", false },
	{ "tries", "tries", false },
	{ "retry_max", "retries allowed", false },
	{ "mode", "mode", false },
	{ "crashes", "crashes", false },
	{ "interrupted", "interrupted", false },
	{ "crash_limit", "crashes allowed", false },
	{ "restarts", "restarts", false },
	{ "continue_on", "goes on when", false },
	{ "on_worker_death", "worker's death", false },
	{ "log", "output kept", false },
	{ "worker", "worker", false },
	{ "labels", "labels wanted", false },
	{ "asks", "asks for", false },
	{ "placing", "placing", false },
	{ "concurrency", "groups", false },
	{ "locks", "locks", false },
	{ "kv_read", "reads values", false },
	{ "kv_write", "changes values", false },
	{ "inputs", "files", false },
	{ "priority", "priority", false },
	{ "due", "due", false },
	{ "give_up", "leaves the queue", false },
	{ "deadline", "deadline", false },
	{ "stop_cause", "out of time", false },
	{ "started", "started", false },
	{ "ended", "ended", false },
	{ "span_ms", "time", false },
	{ "cpu_us", "cpu us", false },
	{ "rss_kib", "memory KiB", false },
	{ "out_bytes", "output bytes", false },
	{ "epoch", "epoch", false },
	{ "child", "sub-run", false },
	{ "pass", NULL, false },
	{ "loop_max", NULL, false },
	{ "exit_code", NULL, false },
	{ "signal", NULL, false },
	{ "spawn_error", NULL, false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "kind", NULL, false },
	{ "serial", NULL, false },
	{ "index", NULL, false },
	{ "held", NULL, false },
	{ "forgiven", NULL, false },
	{ "dead", NULL, false },
	{ "crash_loop", NULL, false },
	{ "approvers", NULL, false },
};
const struct table job_detail_table = TABLE_OF(detail_columns);

static void number_or_none(struct records *records, uint64_t value)
{
	if (value)
		records_number(records, value);
	else
		records_none(records);
}

/* Add the number of the sub-run and of the loop's passes; cells stay empty for a plain command. */
static void add_work(struct records *records, const struct rec_job_row *job)
{
	number_or_none(records, job->child);
	number_or_none(records, job->pass);
	number_or_none(records, job->loop_max);
}

/* NAME, or NAME=SOURCE if the submitter called it something else. */
static struct slice_list input_texts(const struct rec_job_row *job, struct arena *arena)
{
	struct slice_list texts = { arena_zalloc(arena, LIMIT_INPUTS_MAX, sizeof(struct slice)), 0 };
	struct slice rest = job->inputs;
	struct rec_input input;

	while (texts.n < LIMIT_INPUTS_MAX && input_next(&rest, arena, &input)) {
		struct buf text = { 0 };

		buf_add_slice(&text, input.path);
		if (input.source.len > 0 && !slice_eq(input.source, input.path)) {
			buf_add_byte(&text, '=');
			buf_add_slice(&text, input.source);
		}
		texts.at[texts.n++] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
	return texts;
}

static void add_wants(struct records *records, const struct rec_job_row *job)
{
	records_texts(records, job->labels);
	records_texts(records, demand_shown(job->asks, records->arena));
	records_texts(records, job->placing);
	records_texts(records, job->concurrency);
	records_texts(records, job->locks);
	records_texts(records, job->kv_read);
	records_texts(records, job->kv_write);
	records_texts(records, input_texts(job, records->arena));
}

/* Text such as "pass 3/10, until code == 3, 5s apart". */
static struct slice loop_text(const struct rec_job_row *job, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	if (job->loop_max == 0)
		return slice_make(NULL, 0);
	buf_addf(&text, "pass %" PRIu64 "/%" PRIu64 ", until ", job->pass, job->loop_max);
	buf_add_slice(&text, job->loop_until);
	if (job->loop_delay_ms > 0) {
		buf_add_str(&text, ", ");
		text_add_span(&text, (int64_t)job->loop_delay_ms);
		buf_add_str(&text, " apart");
	}
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static void add_limits(struct records *records, const struct rec_job_row *job)
{
	struct buf goes_on = { 0 }, kept = { 0 };

	continue_words(job->continue_on, &goes_on);
	records_text(records, arena_copy(records->arena, buf_slice(&goes_on)));
	buf_free(&goes_on);
	records_text(records, slice_str(job->worker_death == DEATH_KILL ? "kill" : "adopt"));
	log_max_text(job->log_max ? job->log_max : LIMIT_LOG_JOB_MAX, &kept);
	records_text(records, arena_copy(records->arena, buf_slice(&kept)));
	buf_free(&kept);
}

/* Add what the job put out, NAME=VALUE each, or what is wrong with it. */
static void add_outputs(struct records *records, const struct rec_job_row *job)
{
	struct slice rest = job->outputs, fault = { 0 };
	struct slice_list texts = { arena_zalloc(records->arena, LIMIT_OUTPUTS_MAX, sizeof(struct slice)), 0 };
	struct rec_job_output output;

	while (texts.n < LIMIT_OUTPUTS_MAX && job_output_next(&rest, records->arena, &output)) {
		struct buf text = { 0 };

		buf_add_slice(&text, output.name);
		if (output.fault == OUTPUT_NONE) {
			buf_add_byte(&text, '=');
			buf_add_slice(&text, output.value);
			texts.at[texts.n++] = arena_copy(records->arena, buf_slice(&text));
		} else {
			if (output.line > 0)
				buf_addf(&text, "%sline %" PRIu64 " of TITAN_OUTPUT", output.name.len > 0 ? ", " : "", output.line);
			buf_addf(&text, ": %s", output_fault_text(output.fault));
			fault = arena_copy(records->arena, buf_slice(&text));
		}
		buf_free(&text);
	}
	records_texts(records, texts);
	records_text(records, fault);
}

/* Add what the job left, or why it left nothing. */
static void add_artifacts(struct records *records, const struct rec_job_row *job)
{
	struct rec_job_artifacts left = { 0 };
	struct slice bytes = job->artifacts;
	struct buf text = { 0 };

	if (bytes.len > 0 && record_decode(REC_job_artifacts, &bytes, records->arena, &left, NULL) != ERR_NONE)
		left = (struct rec_job_artifacts){ 0 };
	if (left.hash.len > 0)
		buf_addf(&text, "%" PRIu64 " file%s, %" PRIu64 " bytes", left.files, left.files == 1 ? "" : "s", left.size);
	records_text(records, arena_copy(records->arena, buf_slice(&text)));
	records_text(records, left.fault);
	buf_free(&text);
}

static void add_detail(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		       size_t job_count, struct slice_list decisions, int64_t now_ms)
{
	enum job_state state = job_state_checked(job->state);
	struct slice_list needs = { .n = job->needs.n };

	needs.at = arena_zalloc(records->arena, needs.n + 1, sizeof(*needs.at));
	for (size_t i = 0; i < needs.n; i++)
		needs.at[i] = job->needs.at[i] < job_count ? jobs[job->needs.at[i]].name : slice_str("?");
	records_text(records, job_address(job, records->arena));
	records_state(records, job_look(job), state_table[state].name);
	records_text(records, job_outcome_text(job, records->arena));
	records_text(records, job_cause_text(job, jobs, job_count, records->arena));
	records_text(records, job_progress_text(job, records->arena));
	records_text(records, job->command);
	records_settings(records, job->settings.n > 0 ? &job->settings.at[0] : &(struct rec_job_settings){ 0 });
	records_text(records, job->gate_message);
	/* Once a gate is decided, its approvals are listed among the decisions instead. */
	if (job->gate_count && state == STATE_APPROVAL)
		records_number(records, job->gate_have);
	else
		records_none(records);
	number_or_none(records, job->gate_count);
	records_texts(records, job->gate_fields);
	records_texts(records, job->unblocks);
	records_texts_as(records, job->gate_from, gate_from_text(job, records->arena));
	records_text(records, hex_text(records->arena, job->digest, SIZE_MAX));
	add_outputs(records, job);
	add_artifacts(records, job);
	records_texts(records, decisions);
	records_text(records, job->ended_by > 0 && job->ended_by < EVENT_COUNT ?
		     slice_str(event_names[job->ended_by]) : slice_make(NULL, 0));
	records_text(records, job->pushback);
	records_texts(records, needs);
	records_text(records, job->needs_text);
	records_text(records, job->when);
	records_text(records, loop_text(job, records->arena));
	records_number(records, job->tries);
	records_number(records, job->retry_max);
	records_text(records, slice_str(exec_mode_name((enum exec_mode)(job->mode < EXEC_MODE_COUNT ? job->mode : 0))));
	records_number(records, job->crashes);
	records_number(records, job->interrupted);
	number_or_none(records, job->kind == KIND_SERVICE ? 0 : job->crash_limit);
	number_or_none(records, job->restarts);
	add_limits(records, job);
	records_text(records, job->worker);
	add_wants(records, job);
	records_number(records, job->priority ? job->priority - 1 : 50);
	records_time(records, job->due_ms);
	records_time(records, job->give_up_ms);
	records_time(records, job->deadline_ms);
	records_text(records, job_stop_text(job));
	records_time(records, job->started_ms);
	records_time(records, job->ended_ms);
	records_span(records, job_span_ms(job, now_ms));
	records_number(records, job->cpu_us);
	records_number(records, job->rss_kib);
	records_number(records, job->out_bytes);
	number_or_none(records, job->epoch);
	add_work(records, job);
	records_end(records, job->outcome, job->code);
	records_number(records, job->run);
	records_text(records, job->name);
	records_text(records, slice_str(job_kind_name(job->kind < KIND_COUNT ? (enum job_kind)job->kind : KIND_UNSAID)));
	records_number(records, job->job);
	records_number(records, job->index);
	records_bool(records, job->held);
	records_bool(records, job->forgiven);
	records_bool(records, job->dead);
	records_bool(records, job->crash_loop);
	records_texts(records, job->approvers);
}

/*
 * Print one fact per line, then a table of the tries if there were several. With --json it is a list with one job,
 * which has the tries as a list.
 */
static void print_job(struct cli *cli, const struct records *records, const struct records *tries)
{
	struct buf out = { 0 };
	struct json json;

	if (cli->out.style == STYLE_JSON) {
		json_begin(&json, &out);
		json_array(&json);
		json_object(&json);
		records_json_fields(records, 0, &json);
		json_key(&json, "attempts");
		json_array(&json);
		for (size_t i = 0; i < records_rows(tries); i++)
			records_json_row(tries, i, &json);
		json_end(&json);
		json_end(&json);
		json_end(&json);
		buf_add_byte(&out, '\n');
	} else {
		records_print_one(records, &cli->out, &out);
	}
	if (cli->out.style == STYLE_HUMAN && records_rows(tries) > 1) {
		buf_add_byte(&out, '\n');
		records_print(tries, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
}

enum err show_job(struct cli *cli, const struct selector *selector)
{
	struct rec_job_row job, *jobs = NULL;
	struct rec_decision *decided = NULL;
	struct slice_list texts = { 0 };
	size_t job_count = 0, decided_count = 0;
	struct records records, tries;
	enum err err;

	records_begin(&records, detail_columns, job_detail_table.count, &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = cli_query_job(cli, selector, &cli->arena, &job);
	/* The names of the job's parents and of its cause are in the rows of those jobs. */
	if (err == ERR_NONE && (job.needs.n > 0 || job.cause != 0))
		err = cli_query_jobs(cli, selector->run, SIZE_MAX, &cli->arena, &jobs, &job_count);
	if (err != ERR_NONE)
		return err;
	if (job.gate_count > 0 || job.mode == EXEC_ONCE)
		err = decisions_of(cli, selector, &decided, &decided_count);
	if (err == ERR_NONE)
		err = tries_of(cli, &job, &tries);
	if (err != ERR_NONE)
		return err;
	texts.at = arena_zalloc(&cli->arena, decided_count + 1, sizeof(*texts.at));
	while (texts.n < decided_count) {
		texts.at[texts.n] = decision_text(&decided[texts.n], &cli->arena);
		texts.n++;
	}
	add_detail(&records, &job, jobs, job_count, texts, cli_now_ms(cli));
	print_job(cli, &records, &tries);
	if (cli_chatty(cli) && job.out_bytes > 0)
		cli_note(cli, "output: titan logs %s", cli->invocation->args[0]);
	if (cli_chatty(cli) && job.child != 0)
		cli_note(cli, "sub-run of the job: titan show %" PRIu64, job.child);
	if (cli_chatty(cli) && job.dead)
		cli_note(cli, "the job has a dead letter: titan dlq show %s", cli->invocation->args[0]);
	return ERR_NONE;
}
