/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan ls, show, status: what is. They ask, print and end; they change nothing. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/decisions.h"
#include "cli/failure.h"
#include "cli/log_max.h"
#include "cli/place.h"
#include "cli/targets.h"
#include "cli/rows.h"
#include "proto/limits.h"

#define LS_LIMIT 50
#define PORTION 1000                     /* jobs printed at once; a table has no more */

/* The runs that the arguments stand for, or that have jobs that they stand for; each once. */
static int list_some(struct cli *cli, struct records *records, uint64_t limit)
{
	struct targets targets;
	struct buf out = { 0 };
	uint64_t listed = 0;

	if (cli_targets(cli, cli->invocation->args, cli->invocation->arg_count, REACH_EVERY, &targets) != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; i < targets.count && listed < limit; i++) {
		struct rec_run_row run;

		if (i > 0 && targets.at[i].run == targets.at[i - 1].run)
			continue;
		if (cli_query_run(cli, targets.at[i].run, &cli->arena, &run) != ERR_NONE)
			return cli_fail(cli);
		rows_add_run(records, &run, clock_wall_ms());
		listed++;
	}
	records_print(records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

int cmd_ls(struct cli *cli)
{
	uint64_t limit = LS_LIMIT;
	struct msg_query query = { .what = QUERY_RUNS };
	struct records records;
	struct buf out = { 0 };
	uint64_t listed = 0;
	bool more = false;

	if (option_number(cli->invocation, OPT_ls_limit, 1, INT32_MAX, &limit, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_ls_all))
		limit = UINT64_MAX;
	rows_begin_runs(&records, &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE)
		return cli_fail(cli);
	if (cli->invocation->arg_count > 0)
		return list_some(cli, &records, limit);
	do {
		struct msg_snapshot page;

		query.limit = limit - listed < 1000 ? limit - listed : 0;
		if (cli_query(cli, query, &cli->arena, &page) != ERR_NONE)
			return cli_fail(cli);
		for (size_t i = 0; i < page.runs.n && listed < limit; i++, listed++)
			rows_add_run(&records, &page.runs.at[i], clock_wall_ms());
		query.cursor = page.cursor;
		more = query.cursor != 0;
	} while (more && listed < limit);
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (more && cli_chatty(cli))
		cli_note(cli, "the newest %" PRIu64 " runs; more: titan ls --all", listed);
	if (listed == 0 && cli_chatty(cli))
		cli_note(cli, "no run yet; try: titan run -f -e \"hello; hello='echo hello'\"");
	return 0;
}

/* ---- show ---- */

static const struct column detail_columns[] = {
	{ "address", "job", false },
	{ "state", "state", false },
	{ "outcome", "result", false },
	{ "cause", "why", false },
	{ "command", "command", false },
	{ "message", "question", false },
	{ "approvals", "approvals", false },
	{ "approvals_needed", "of", false },
	{ "unblocks", "unblocks", false },
	{ "from", "who may", false },
	{ "digest", "digest", false },
	{ "decisions", "decided", false },
	{ "settled_by", "settled by", false },
	{ "pushback", "pushed back", false },
	{ "needs", "needs", false },
	{ "needs_text", "needs as", false },
	{ "when", "when", false },
	{ "loop", "loop", false },
	{ "tries", "tries", false },
	{ "retry_max", "retries allowed", false },
	{ "mode", "mode", false },
	{ "crashes", "crashes", false },
	{ "crash_limit", "crashes allowed", false },
	{ "continue_on", "goes on when", false },
	{ "on_worker_death", "worker's death", false },
	{ "log", "output kept", false },
	{ "worker", "worker", false },
	{ "labels", "labels wanted", false },
	{ "asks", "asks for", false },
	{ "placing", "placing", false },
	{ "concurrency", "groups", false },
	{ "locks", "locks", false },
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
	{ "code", NULL, false },
	{ "run", NULL, false },
	{ "name", NULL, false },
	{ "job", NULL, false },
	{ "index", NULL, false },
	{ "held", NULL, false },
	{ "forgiven", NULL, false },
	{ "dead", NULL, false },
};

static void number_or_none(struct records *records, uint64_t value)
{
	if (value)
		records_number(records, value);
	else
		records_none(records);
}

/* The numbers of what it does, where that isn't one command once. */
static void add_work(struct records *records, const struct rec_job_row *job)
{
	number_or_none(records, job->child);
	number_or_none(records, job->pass);
	number_or_none(records, job->loop_max);
}

static void add_wants(struct records *records, const struct rec_job_row *job)
{
	records_texts(records, job->labels);
	records_texts(records, place_shown(job->asks, records->arena));
	records_texts(records, job->placing);
	records_texts(records, job->concurrency);
	records_texts(records, job->locks);
}

/* "pass 3/10, until code == 3, 5s apart" */
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

static void add_detail(struct records *records, const struct rec_job_row *job, const struct rec_job_row *jobs,
		       size_t job_count, struct slice_list decisions)
{
	enum job_state state = job_state_checked(job->state);
	struct slice_list needs = { .n = job->needs.n };
	struct buf goes_on = { 0 }, kept = { 0 };

	needs.at = arena_zalloc(records->arena, needs.n + 1, sizeof(*needs.at));
	for (size_t i = 0; i < needs.n; i++)
		needs.at[i] = job->needs.at[i] < job_count ? jobs[job->needs.at[i]].name : slice_str("?");
	records_text(records, job_address(job, records->arena));
	records_state(records, job_look(job), state_table[state].name);
	records_text(records, job_outcome_text(job, records->arena));
	records_text(records, job_cause_text(job, jobs, job_count, records->arena));
	records_text(records, job->command);
	records_text(records, job->gate_message);
	if (job->gate_count)
		records_number(records, job->gate_have);
	else
		records_none(records);
	number_or_none(records, job->gate_count);
	records_texts(records, job->unblocks);
	records_texts(records, job->gate_from);
	records_text(records, hex_text(records->arena, job->digest, SIZE_MAX));
	records_texts(records, decisions);
	records_text(records, job->settled_by > 0 && job->settled_by < EVENT_COUNT ?
		     slice_str(event_names[job->settled_by]) : slice_make(NULL, 0));
	records_text(records, job->pushback);
	records_texts(records, needs);
	records_text(records, job->needs_text);
	records_text(records, job->when);
	records_text(records, loop_text(job, records->arena));
	records_number(records, job->tries);
	records_number(records, job->retry_max);
	records_text(records, slice_str(exec_mode_name((enum exec_mode)(job->mode < EXEC_MODE_COUNT ? job->mode : 0))));
	records_number(records, job->crashes);
	number_or_none(records, job->crash_limit);
	continue_words(job->continue_on, &goes_on);
	records_text(records, arena_copy(records->arena, buf_slice(&goes_on)));
	buf_free(&goes_on);
	records_text(records, slice_str(job->worker_death == DEATH_KILL ? "kill" : "adopt"));
	log_max_text(job->log_max ? job->log_max : LIMIT_LOG_JOB_MAX, &kept);
	records_text(records, arena_copy(records->arena, buf_slice(&kept)));
	buf_free(&kept);
	records_text(records, job->worker);
	add_wants(records, job);
	records_number(records, job->priority ? job->priority - 1 : 50);
	records_time(records, job->due_ms);
	records_time(records, job->give_up_ms);
	records_time(records, job->deadline_ms);
	records_text(records, job_stop_text(job));
	records_time(records, job->started_ms);
	records_time(records, job->ended_ms);
	records_span(records, job_span_ms(job, clock_wall_ms()));
	records_number(records, job->cpu_us);
	records_number(records, job->rss_kib);
	records_number(records, job->out_bytes);
	number_or_none(records, job->epoch);
	add_work(records, job);
	if (job->outcome)
		records_number(records, job->code);
	else
		records_none(records);
	records_number(records, job->run);
	records_text(records, job->name);
	records_number(records, job->job);
	records_number(records, job->index);
	records_bool(records, job->held);
	records_bool(records, job->forgiven);
	records_bool(records, job->dead);
}

static enum err show_job(struct cli *cli, const struct selector *selector)
{
	struct rec_job_row job, *jobs = NULL;
	struct rec_decision *decided = NULL;
	struct slice_list texts = { 0 };
	size_t job_count = 0, decided_count = 0;
	struct records records;
	struct buf out = { 0 };
	enum err err;

	records_begin(&records, detail_columns, sizeof(detail_columns) / sizeof(detail_columns[0]), &cli->arena);
	err = records_check(&records, &cli->out, &cli->error);
	if (err == ERR_NONE)
		err = cli_query_job(cli, selector, &cli->arena, &job);
	/* Names of its parents and of its cause stand in the rows of the others. */
	if (err == ERR_NONE && (job.needs.n > 0 || job.cause != 0))
		err = cli_query_jobs(cli, selector->run, SIZE_MAX, &cli->arena, &jobs, &job_count);
	if (err != ERR_NONE)
		return err;
	if (job.gate_count > 0 || job.mode == EXEC_ONCE)
		err = decisions_of(cli, selector, &decided, &decided_count);
	if (err != ERR_NONE)
		return err;
	texts.at = arena_zalloc(&cli->arena, decided_count + 1, sizeof(*texts.at));
	while (texts.n < decided_count) {
		texts.at[texts.n] = decision_text(&decided[texts.n], &cli->arena);
		texts.n++;
	}
	add_detail(&records, &job, jobs, job_count, texts);
	records_print_one(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (cli_chatty(cli) && job.out_bytes > 0)
		cli_note(cli, "output: titan logs %s", cli->invocation->args[0]);
	if (cli_chatty(cli) && job.child != 0)
		cli_note(cli, "its sub-run: titan show %" PRIu64, job.child);
	if (cli_chatty(cli) && job.dead)
		cli_note(cli, "it is a dead letter: titan dlq show %s", cli->invocation->args[0]);
	return ERR_NONE;
}

static void run_header(const struct cli *cli, const struct rec_run_row *run, struct buf *out)
{
	enum run_state state = run_state_checked(run->state);
	struct run_counts counts = run_counts(run);
	int64_t end_ms = run->ended_ms ? run->ended_ms : clock_wall_ms();
	char time[CLOCK_TEXT_SIZE];

	buf_addf(out, "%" PRIu64 " ", run->run);
	text_escape(out, run->name, TEXT_KEEP_NONE);
	buf_add_str(out, "  ");
	look_state(&cli->out, run_state_info(state), out);
	if (run->held)
		buf_add_str(out, " (held)");
	buf_addf(out, "  %" PRIu64 "/%" PRIu64 " settled  submitted %s", counts.settled, counts.jobs,
		 clock_format_local(run->submitted_ms, time));
	if (run->owner.len > 0) {
		buf_add_str(out, " by ");
		text_escape(out, run->owner, TEXT_KEEP_NONE);
	}
	if (run->tenant.len > 0) {
		buf_add_str(out, " for ");
		text_escape(out, run->tenant, TEXT_KEEP_NONE);
	}
	if (run->concurrency.len > 0) {
		buf_add_str(out, " in group ");
		text_escape(out, run->concurrency, TEXT_KEEP_NONE);
		buf_add_str(out, run->ended_ms ? "" : run->seated ? " (it has its place)" : " (it waits for a place)");
	}
	if (run->parent_run != 0) {
		buf_addf(out, "  sub-run of %" PRIu64 "/", run->parent_run);
		text_escape(out, run->parent_job, TEXT_KEEP_NONE);
	}
	buf_addf(out, "  %s ", run->ended_ms ? "took" : "age");
	text_add_span(out, end_ms > run->submitted_ms ? end_ms - run->submitted_ms : 0);
	buf_add_byte(out, '\n');
}

struct shown_run {
	const struct rec_run_row *run;
	const struct rec_job_row *jobs;
	size_t job_count;
	const bool *wanted;              /* of the jobs; NULL: all */
};

/* Jobs from this one on, as many as a portion has. */
static size_t add_portion(const struct shown_run *shown, size_t from, struct records *records, struct arena *arena,
			  size_t *ret_rows)
{
	size_t rows = 0;
	size_t count = shown->job_count - from < PORTION ? shown->job_count - from : PORTION;

	arena_reset(arena);
	rows_begin_jobs(records, arena);
	for (size_t i = from; i < from + count; i++) {
		if (shown->wanted != NULL && !shown->wanted[i])
			continue;
		rows_add_job(records, &shown->jobs[i], shown->jobs, shown->job_count, clock_wall_ms());
		rows++;
	}
	*ret_rows = rows;
	return count;
}

static void print_run_json(struct cli *cli, const struct shown_run *shown)
{
	struct arena arena = { 0 };
	struct records records;
	struct buf out = { 0 };
	struct json json;
	size_t count, rows;

	rows_begin_runs(&records, &arena);
	rows_add_run(&records, shown->run, clock_wall_ms());
	json_begin(&json, &out);
	json_object(&json);
	json_key(&json, "run");
	records_json_row(&records, 0, &json);
	json_key(&json, "jobs");
	json_array(&json);
	for (size_t from = 0; from < shown->job_count; from += count) {
		count = add_portion(shown, from, &records, &arena, &rows);
		for (size_t i = 0; i < rows; i++)
			records_json_row(&records, i, &json);
		cli_print(cli, &out);
	}
	json_end(&json);
	json_end(&json);
	buf_add_byte(&out, '\n');
	cli_print(cli, &out);
	buf_free(&out);
	arena_free(&arena);
}

static void print_run_rows(struct cli *cli, const struct shown_run *shown)
{
	struct arena arena = { 0 };
	struct records records;
	struct buf out = { 0 };
	size_t rows;

	if (cli->out.style == STYLE_HUMAN)
		run_header(cli, shown->run, &out);
	/* A table is one portion: its columns are as wide as its widest row. */
	for (size_t from = 0; from < shown->job_count; from += PORTION) {
		add_portion(shown, from, &records, &arena, &rows);
		records_print(&records, &cli->out, &out);
		cli_print(cli, &out);
	}
	buf_free(&out);
	arena_free(&arena);
}

/* Those jobs that these targets, all of one run, name; NULL where one of them is the run. */
static const bool *wanted_jobs(struct cli *cli, const struct selector *targets, size_t count, const struct shown_run *shown)
{
	bool *wanted = arena_zalloc(&cli->arena, shown->job_count + 1, sizeof(*wanted));

	for (size_t i = 0, at = 0; i < count; i++) {
		size_t looked = 0;

		if (targets[i].job.len == 0)
			return NULL;
		/* They mostly come in the order of the jobs. */
		while (looked < shown->job_count && !slice_eq(shown->jobs[at].name, targets[i].job)) {
			at = at + 1 < shown->job_count ? at + 1 : 0;
			looked++;
		}
		if (looked < shown->job_count)
			wanted[at] = true;
	}
	return wanted;
}

/* The run of these targets; all of it, or the jobs that they name. */
static enum err show_run(struct cli *cli, const struct selector *targets, size_t count)
{
	bool human = cli->out.style == STYLE_HUMAN, whole = count == 1 && targets[0].job.len == 0;
	uint64_t run_no = targets[0].run;
	struct rec_run_row run;
	struct rec_job_row *jobs;
	struct records records;
	struct shown_run shown = { .run = &run };
	enum err err;

	rows_begin_jobs(&records, &cli->arena);
	if ((err = records_check(&records, &cli->out, &cli->error)) != ERR_NONE ||
	    (err = cli_query_run(cli, run_no, &cli->arena, &run)) != ERR_NONE ||
	    (err = cli_query_jobs(cli, run_no, human && whole ? PORTION : SIZE_MAX, &cli->arena, &jobs, &shown.job_count)) !=
		    ERR_NONE)
		return err;
	shown.jobs = jobs;
	shown.wanted = whole ? NULL : wanted_jobs(cli, targets, count, &shown);
	if (cli->out.style == STYLE_JSON)
		print_run_json(cli, &shown);
	else
		print_run_rows(cli, &shown);
	if (human && whole && run.jobs > shown.job_count)
		cli_note(cli, "the first %d of %" PRIu64 " jobs; all: titan show %" PRIu64 " --plain", PORTION, run.jobs,
			 run_no);
	return ERR_NONE;
}

/* One value in JSON: a list of what each of them would be. */
static enum err show_several(struct cli *cli, const struct targets *targets)
{
	bool json = cli->out.style == STYLE_JSON;
	struct buf text = { 0 };
	enum err err = ERR_NONE;
	size_t count;

	for (size_t i = 0; i < targets->count && err == ERR_NONE; i += count) {
		for (count = 1; i + count < targets->count && targets->at[i + count].run == targets->at[i].run;)
			count++;
		if (json)
			buf_add_byte(&text, i > 0 ? ',' : '[');
		else if (i > 0 && cli->out.style == STYLE_HUMAN)
			buf_add_byte(&text, '\n');
		cli_print(cli, &text);
		err = show_run(cli, &targets->at[i], count);
	}
	if (json && err == ERR_NONE)
		buf_add_str(&text, "]\n");
	cli_print(cli, &text);
	buf_free(&text);
	return err;
}

int cmd_show(struct cli *cli)
{
	struct targets targets;
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = cli_targets(cli, cli->invocation->args, cli->invocation->arg_count, REACH_EVERY, &targets);
	if (err != ERR_NONE)
		return cli_fail(cli);
	if (targets.bulk || targets.count > 1)
		err = show_several(cli, &targets);
	else
		err = targets.at[0].job.len > 0 ? show_job(cli, &targets.at[0]) : show_run(cli, &targets.at[0], 1);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

/* ---- status ---- */

static void status_json(const struct cli *cli, const struct msg_welcome *welcome, const struct msg_snapshot *status,
			const struct records *workers, struct buf *out)
{
	struct json json;

	json_begin(&json, out);
	json_object(&json);
	json_key(&json, "cluster");
	json_text(&json, welcome->cluster);
	json_key(&json, "state_dir");
	json_string(&json, cli->place.dir);
	json_key(&json, "master");
	json_object(&json);
	json_key(&json, "pid");
	json_u64(&json, welcome->pid);
	json_key(&json, "generation");
	json_u64(&json, welcome->generation);
	json_key(&json, "boot");
	json_u64(&json, welcome->boot);
	json_key(&json, "turn");
	json_u64(&json, status->turn);
	json_end(&json);
	json_key(&json, "workers");
	json_array(&json);
	for (size_t i = 0; i < status->workers.n; i++)
		records_json_row(workers, i, &json);
	json_end(&json);
	json_key(&json, "jobs");
	json_object(&json);
	for (size_t i = 0; i < STATE_COUNT; i++) {
		json_key(&json, state_table[i].name);
		json_u64(&json, i < status->counts.n ? status->counts.at[i] : 0);
	}
	json_end(&json);
	json_end(&json);
	buf_add_byte(out, '\n');
}

static void status_plain(const struct msg_welcome *welcome, const struct msg_snapshot *status, struct buf *out)
{
	buf_add_str(out, "cluster\t");
	text_escape(out, welcome->cluster, TEXT_KEEP_NONE);
	buf_addf(out, "\nmaster.pid\t%" PRIu64 "\nmaster.generation\t%" PRIu64 "\nmaster.boot\t%" PRIu64 "\n",
		 welcome->pid, welcome->generation, welcome->boot);
	for (size_t i = 0; i < status->counts.n && i < STATE_COUNT; i++)
		buf_addf(out, "jobs.%s\t%" PRIu64 "\n", state_table[i].name, status->counts.at[i]);
}

/* Counted by state alone: a first delay and a wait between tries aren't told apart. */
static const struct state_info state_later = {
	"delayed", "LATER", "↻", "r", COLOUR_YELLOW, ATTR_PLAIN, KIND_WAITS, "",
};

static void status_human(const struct cli *cli, const struct msg_welcome *welcome, const struct msg_snapshot *status,
			 struct buf *out)
{
	uint64_t live = 0, people = 0;

	buf_add_str(out, "cluster  ");
	text_escape(out, welcome->cluster, TEXT_KEEP_NONE);
	buf_add_str(out, "  ");
	text_escape(out, slice_str(cli->place.dir), TEXT_KEEP_NONE);
	buf_addf(out, "\nmaster   pid %" PRIu64 "  generation %" PRIu64 "  boot %" PRIu64 "\njobs    ", welcome->pid,
		 welcome->generation, welcome->boot);
	for (size_t i = 0; i < status->counts.n && i < STATE_COUNT; i++) {
		if (status->counts.at[i] == 0)
			continue;
		live += status->counts.at[i];
		people += i == STATE_APPROVAL || i == STATE_UNKNOWN ? status->counts.at[i] : 0;
		buf_add_str(out, live > status->counts.at[i] ? "  " : " ");
		look_state(&cli->out, i == STATE_DELAYED ? &state_later : &state_table[i], out);
		buf_addf(out, " %" PRIu64, status->counts.at[i]);
	}
	buf_add_str(out, live ? "\n" : " none is live\n");
	if (people > 0)
		buf_addf(out, "people   %" PRIu64 " job%s for them    next: titan approvals\n", people,
			 people == 1 ? " waits" : "s wait");
	for (size_t i = 0; i < status->workers.n; i++)
		rows_alarm(&status->workers.at[i], out);
}

int cmd_status(struct cli *cli)
{
	struct msg_snapshot status;
	struct records workers;
	struct buf out = { 0 };

	rows_begin_workers(&workers, &cli->arena);
	if (records_check(&workers, &cli->out, &cli->error) != ERR_NONE || cli_connect(cli) != ERR_NONE ||
	    cli_query(cli, (struct msg_query){ .what = QUERY_STATUS }, &cli->arena, &status) != ERR_NONE)
		return cli_fail(cli);
	for (size_t i = 0; i < status.workers.n; i++)
		rows_add_worker(&workers, &status.workers.at[i], clock_wall_ms());
	if (cli->out.style == STYLE_JSON)
		status_json(cli, client_welcome(cli->client), &status, &workers, &out);
	else if (cli->out.style == STYLE_PLAIN)
		status_plain(client_welcome(cli->client), &status, &out);
	else if (cli->out.style == STYLE_HUMAN)
		status_human(cli, client_welcome(cli->client), &status, &out);
	if (cli->out.style == STYLE_FORMAT || (cli->out.style == STYLE_HUMAN && status.workers.n > 0))
		records_print(&workers, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}
