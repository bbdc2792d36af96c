/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The numbers in fields of messages, for titan-protocol(7): from enums.def, and from enums that have tables
 * of their own.
 */
#include <ctype.h>

#include "gen/gen.h"
#include "proto/dead.h"
#include "proto/job_output.h"
#include "proto/message.h"
#include "proto/metrics.h"
#include "proto/reasons.h"
#include "proto/spec.h"
#include "proto/states.h"

struct value {
	const char *name, *text;
	uint64_t number;
};

struct value_list {
	struct value at[128];
	size_t n;
};

static void add(struct value_list *list, uint64_t number, const char *name, const char *text)
{
	if (list->n < sizeof(list->at) / sizeof(list->at[0]))
		list->at[list->n++] = (struct value){ name, text, number };
}

/* Print the list, names in lower case as commands write them, and empty it. */
static void print(const char *name, const char *text, struct value_list *list, struct buf *out)
{
	const char *widest = "";

	for (size_t i = 0; i < list->n; i++)
		if (strlen(list->at[i].name) > strlen(widest))
			widest = list->at[i].name;
	buf_addf(out, ".Ss %s\n", name);
	gen_sentence(text, out);
	buf_addf(out, ".Bl -column xxx %s\n", widest);
	for (size_t i = 0; i < list->n; i++) {
		const struct value *value = &list->at[i];

		buf_addf(out, ".It %llu Ta ", (unsigned long long)value->number);
		for (const char *at = value->name; *at != '\0'; at++)
			buf_add_byte(out, (uint8_t)tolower((unsigned char)*at));
		buf_add_str(out, " Ta ");
		gen_text(value->text, out);
		buf_add_byte(out, '\n');
	}
	buf_add_str(out, ".El\n");
	list->n = 0;
}

/* ---- enums with tables of their own ---- */

static void add_states(struct value_list *list)
{
	for (int i = 0; i < STATE_COUNT; i++)
		add(list, (uint64_t)i, state_table[i].name, state_table[i].fact);
}

static void add_events(struct value_list *list)
{
	for (int i = 0; i < EVENT_COUNT; i++)
		add(list, (uint64_t)i, event_names[i], event_texts[i]);
}

static void add_kinds(struct value_list *list)
{
	for (int kind = KIND_COMMAND; kind < KIND_COUNT; kind++)
		add(list, (uint64_t)kind, job_kind_name((enum job_kind)kind), job_kind_text((enum job_kind)kind));
}

static void add_reasons(struct value_list *list)
{
	for (uint64_t reason = REASON_NONE + 1; reason < REASON_COUNT; reason++)
		add(list, reason, reason_name(reason), reason_text(reason));
}

static void add_dead(struct value_list *list)
{
	for (uint64_t reason = DEAD_NONE + 1; reason < DEAD_COUNT; reason++)
		add(list, reason, dead_name(reason), dead_text(reason));
}

static void add_metrics(struct value_list *list)
{
	for (uint64_t metric = METRIC_NONE + 1; metric < METRIC_COUNT; metric++)
		add(list, metric, metric_info(metric)->name, metric_info(metric)->what);
}

static void print_own(struct buf *out)
{
	struct value_list list = { .n = 0 };

	add_states(&list);
	print("job_state", "the state of a job; see titan-states(7)", &list, out);
	add_events(&list);
	print("job_event", "events that move a job from one state to another", &list, out);
#define X(NAME, name, like) add(&list, RUN_##NAME, name, state_table[STATE_##like].fact);
	RUN_STATES(X)
#undef X
	print("run_state", "the state of a run, which follows from the states of its jobs; with the words of a job's "
		"states", &list, out);
	add_kinds(&list);
	print("job_kind", "the kind of a job", &list, out);
#define X(NAME, name, text) add(&list, EXEC_##NAME, name, text);
	EXEC_MODES(X)
#undef X
	print("exec_mode", "how often a job may run when nobody can tell whether it ran", &list, out);
#define X(NAME, name, text) add(&list, OUTCOME_##NAME, name, text);
	OUTCOMES(X)
#undef X
	print("outcome", "how an attempt ended, and what its code means", &list, out);
#define X(NAME, name, text) add(&list, VERDICT_##NAME, name, text);
	VERDICTS(X)
#undef X
	print("verdict", "what people decided about a gate or an unknown job", &list, out);
#define X(NAME, text) add(&list, OUTPUT_##NAME, #NAME, text);
	OUTPUT_FAULTS(X)
#undef X
	print("output_fault", "what is wrong with what a job put out", &list, out);
	add_reasons(&list);
	print("reason", "why a job is in its state", &list, out);
	add_dead(&list);
	print("dead_reason", "why a job is a dead letter", &list, out);
	add_metrics(&list);
	print("metric", "what the master measures about itself", &list, out);
}

void gen_enums(struct buf *out)
{
	struct value_list list = { .n = 0 };
	const char *of;

#define ENUM(name, text) of = text;
#define VALUE(PREFIX, NAME, number, text) add(&list, number, #NAME, text);
#define END(name) print(#name, of, &list, out);
#include "proto/enums.def"
#undef ENUM
#undef VALUE
#undef END
	print_own(out);
}
