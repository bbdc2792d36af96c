/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts for an event: its class, its object, what happened, and the details. */
#include "cli/commands/event_words.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "cli/show/row_words.h"
#include "cli/show/wrap.h"

static const char *const class_names[] = {
	[EVENTS_JOB] = "job", [EVENTS_RUN] = "run", [EVENTS_GATE] = "gate", [EVENTS_WORKER] = "worker",
	[EVENTS_SCHEDULE] = "schedule", [EVENTS_ACT] = "act", [EVENTS_MASTER] = "master",
};

#define CLASSES (sizeof(class_names) / sizeof(class_names[0]))

static bool is_of_gate(const struct rec_event_row *row)
{
	return row->from == STATE_APPROVAL || row->to == STATE_APPROVAL;
}

enum event_class event_class(const struct rec_event_row *row)
{
	switch (row->kind) {
	case HAPPENED_RUN_BEGAN:
	case HAPPENED_RUN_ENDED:
	case HAPPENED_RUN_PRUNED:
		return EVENTS_RUN;
	case HAPPENED_WORKER_UP:
	case HAPPENED_WORKER_GONE:
	case HAPPENED_WORKER_LOST:
		return EVENTS_WORKER;
	case HAPPENED_SCHEDULE_FIRED:
	case HAPPENED_SCHEDULE_SKIPPED:
		return EVENTS_SCHEDULE;
	case HAPPENED_ACT:
		return EVENTS_ACT;
	case HAPPENED_MASTER_BEGAN:
		return EVENTS_MASTER;
	default:
		return is_of_gate(row) ? EVENTS_GATE : EVENTS_JOB;
	}
}

uint64_t event_classes(struct slice words)
{
	uint64_t classes = 0;

	for (size_t from = 0; from <= words.len;) {
		size_t end = from, found = CLASSES;

		while (end < words.len && words.data[end] != ',')
			end++;
		for (size_t i = 0; i < CLASSES; i++)
			if (slice_eq(slice_str(class_names[i]), slice_make(words.data + from, end - from)))
				found = i;
		if (found == CLASSES)
			return 0;
		classes |= UINT64_C(1) << found;
		from = end + 1;
	}
	return classes;
}

/* ---- words for what happened in an event ---- */

/* One word for what happened: the job's new state, or what happened to another object. */
static const char *what_word(const struct rec_event_row *row)
{
	switch (row->kind) {
	case HAPPENED_JOB:
		return state_table[job_state_checked(row->to)].name;
	case HAPPENED_RUN_BEGAN:
	case HAPPENED_MASTER_BEGAN:
		return "began";
	case HAPPENED_RUN_ENDED:
		return run_state_name(run_state_checked(row->detail));
	case HAPPENED_RUN_PRUNED:
		return "pruned";
	case HAPPENED_WORKER_UP:
		return "up";
	case HAPPENED_WORKER_GONE:
		return row->detail ? "ended" : "unreachable";
	case HAPPENED_WORKER_LOST:
		return "lost";
	case HAPPENED_SCHEDULE_FIRED:
		return "fired";
	case HAPPENED_CRASH_LOOP:
		return "crash_loop";
	case HAPPENED_SCHEDULE_SKIPPED:
		return "skipped";
	default:
		return "";
	}
}

static struct slice what_text(const struct rec_event_row *row, struct arena *arena)
{
	if (row->kind == HAPPENED_ACT)
		return row->act.n > 0 ? row->act.at[0].verb : slice_str("act");
	return arena_copy(arena, slice_str(what_word(row)));
}

/* What the event is about: "12/load", "12", the name of a worker or a schedule, or the target of an act. */
static struct slice object_text(const struct rec_event_row *row, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	if (row->kind == HAPPENED_ACT)
		return row->act.n > 0 ? row->act.at[0].target : slice_str("an act that was pruned");
	if (row->kind == HAPPENED_JOB && row->run == 0)
		buf_addf(&text, "job number %" PRIu64, row->job);
	else if (row->kind == HAPPENED_JOB || row->kind == HAPPENED_CRASH_LOOP)
		buf_addf(&text, "%" PRIu64 "/", row->run);
	else if (event_class(row) == EVENTS_RUN)
		buf_addf(&text, "%" PRIu64, row->run);
	if (event_class(row) != EVENTS_RUN)
		buf_add_slice(&text, row->name);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

static const char *skip_text(uint64_t why)
{
	return why == SKIP_OVERLAP ? "an earlier run was still live" : why == SKIP_MISSED ? "no master was running" :
	       "the master refused the run";
}

static void add_part(struct buf *out, const char *before, struct slice text)
{
	if (text.len == 0)
		return;
	buf_add_str(out, out->len > 0 ? ", " : "");
	buf_add_str(out, before);
	buf_add_slice(out, text);
}

static void job_detail(const struct rec_event_row *row, struct arena *arena, struct buf *out)
{
	const struct rec_job_row job = { .outcome = row->outcome, .code = row->code, .state = row->to, .epoch = row->epoch };

	if (row->outcome > 0)
		add_part(out, "", job_outcome_text(&job, arena));
	if (row->event < EVENT_COUNT)
		add_part(out, "", slice_str(event_texts[row->event]));
	add_part(out, "on ", row->worker);
}

static void act_detail(const struct rec_act_row *act, struct buf *out)
{
	add_part(out, "by ", act->name);
	add_part(out, "was ", act->before);
	add_part(out, "now ", act->after);
	add_part(out, "because: ", act->reason);
}

static struct slice detail_text(const struct rec_event_row *row, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	if (row->kind == HAPPENED_JOB)
		job_detail(row, arena, &text);
	else if (row->kind == HAPPENED_ACT && row->act.n > 0)
		act_detail(&row->act.at[0], &text);
	else if (event_class(row) == EVENTS_RUN)
		add_part(&text, "", row->name);
	else if (row->kind == HAPPENED_SCHEDULE_FIRED)
		buf_addf(&text, "run %" PRIu64, row->run);
	else if (row->kind == HAPPENED_SCHEDULE_SKIPPED)
		buf_add_str(&text, skip_text(row->detail));
	else if (row->kind == HAPPENED_CRASH_LOOP)
		buf_add_str(&text, "the service ended too often lately; it is started every 5 minutes");
	else if (row->kind == HAPPENED_MASTER_BEGAN)
		buf_addf(&text, "start %" PRIu64, row->detail);
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

/* ---- for people ---- */

/* A job is delayed before its first try, once it has all that it needs, or after a try. */
static const struct state_info *job_state_shown(const struct rec_event_row *row)
{
	enum job_state state = job_state_checked(row->to);

	return state == STATE_DELAYED && row->event == EVENT_DEPS_MET ? &flag_table[FLAG_LATER] : &state_table[state];
}

void event_line(const struct rec_event_row *row, const struct look *look, struct buf *out)
{
	struct arena arena = { 0 };
	struct slice detail = detail_text(row, &arena);
	struct buf line = { 0 };
	char when[CLOCK_TEXT_SIZE];

	buf_addf(&line, "%s  %-8s  ", when_format(row->wall_ms, clock_wall_ms(), when), class_names[event_class(row)]);
	if (row->kind == HAPPENED_JOB)
		look_state(look, job_state_shown(row), &line);
	else if (row->kind == HAPPENED_RUN_ENDED)
		look_state(look, run_state_info(run_state_checked(row->detail)), &line);
	else
		text_escape(&line, what_text(row, &arena), TEXT_KEEP_NONE);
	buf_add_str(&line, "  ");
	text_escape(&line, object_text(row, &arena), TEXT_KEEP_NONE);
	if (detail.len > 0) {
		buf_add_str(&line, "  ");
		text_escape(&line, detail, TEXT_KEEP_NONE);
	}
	wrap_cut(look, buf_slice(&line), look->columns > 0 ? look->columns : SIZE_MAX, out);
	buf_add_byte(out, '\n');
	buf_free(&line);
	arena_free(&arena);
}

/* ---- for scripts ---- */

static const struct column event_columns[] = {
	{ "time", "WHEN", false },
	{ "turn", "TURN", true },
	{ "about", "KIND", false },
	{ "what", "WHAT", false },
	{ "object", "OBJECT", false },
	{ "detail", "DETAIL", false },
	{ "run", NULL, false },
	{ "job", NULL, false },
	{ "serial", NULL, false },
	{ "name", NULL, false },
	{ "state_before", NULL, false },
	{ "event", NULL, false },
	{ "epoch", NULL, false },
	{ "worker", NULL, false },
	{ "exit_code", NULL, false },
	{ "signal", NULL, false },
	{ "spawn_error", NULL, false },
	{ "outcome", NULL, false },
	{ "act", NULL, false },
	{ "person", NULL, false },
	{ "before", NULL, false },
	{ "after", NULL, false },
	{ "message", NULL, false },
};
const struct table event_table = TABLE_OF(event_columns);

void event_records_begin(struct records *records, struct arena *arena)
{
	records_begin(records, event_columns, event_table.count, arena);
}

static void number_or_none(struct records *records, uint64_t number)
{
	if (number != 0)
		records_number(records, number);
	else
		records_none(records);
}

void event_records_add(struct records *records, const struct rec_event_row *row)
{
	static const struct rec_act_row no_act;
	const struct rec_act_row *act = row->act.n > 0 ? &row->act.at[0] : &no_act;
	const struct rec_job_row job = { .outcome = row->outcome, .code = row->code, .state = row->to, .epoch = row->epoch };
	bool is_job = row->kind == HAPPENED_JOB;

	records_time(records, row->wall_ms);
	records_number(records, row->turn);
	records_text(records, slice_str(class_names[event_class(row)]));
	records_text(records, what_text(row, records->arena));
	records_text(records, object_text(row, records->arena));
	records_text(records, detail_text(row, records->arena));
	number_or_none(records, row->run);
	records_text(records, is_job && row->run != 0 ? object_text(row, records->arena) : slice_str(NULL));
	number_or_none(records, row->job);
	records_text(records, row->name);
	records_text(records, is_job ? slice_str(state_table[job_state_checked(row->from)].name) : slice_str(NULL));
	records_text(records, is_job && row->event < EVENT_COUNT ? slice_str(event_names[row->event]) : slice_str(NULL));
	number_or_none(records, row->epoch);
	records_text(records, row->worker);
	records_end(records, row->outcome, row->code);
	records_text(records, row->outcome > 0 ? job_outcome_text(&job, records->arena) : slice_str(NULL));
	number_or_none(records, act->act);
	records_text(records, act->name);
	records_text(records, act->before);
	records_text(records, act->after);
	records_text(records, act->reason);
}
