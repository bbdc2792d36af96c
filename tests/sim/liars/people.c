/* SPDX-License-Identifier: GPL-3.0-or-later */
/* People who submit, add, reopen and act on random runs and jobs, whether they exist or not. */
#include "tests/sim/liars/liars.h"

#define REOPEN_ROWS 300

static const char *const people[] = { "ana", "ben" };

static const char *any_person(struct liars *liars)
{
	return people[below(liars, sizeof(people) / sizeof(*people))];
}

/* Send a request for which core_rig.h has no function. */
static void ask(struct liars *liars, struct core_input *input)
{
	struct rig *rig = liars->rig;

	input->conn = 1000000;
	input->request = ++rig->request;
	rig->ok = (struct msg_ok){ 0 };
	rig->error = (struct msg_error){ 0 };
	rig_step(rig, input);
	tell_answer(liars);
}

void people_submit(struct liars *liars)
{
	struct graph graph = { 0 };
	struct rig *rig = liars->rig;
	uint64_t run;

	graph_random(liars, &graph, 0);
	rig->max_jobs = chance(liars, 20) ? 1 + (uint32_t)below(liars, 2) : 0;
	rig->concurrency = chance(liars, 20) ? "rg=1" : chance(liars, 20) ? "rg" : NULL;
	rig->tenant = chance(liars, 20) ? "t1" : NULL;
	rig->context = chance(liars, 70) ? slice_make(NULL, 0) : slice_make("\x82\x01\xa1/\x02\x91\xa3" "A=1", 10);
	run = rig_submit(rig, &graph);
	tell(liars, "run %llu is submitted", (unsigned long long)run);
	tell_answer(liars);
}

/* Add a graph without fan-outs to a run. Its first job may need a job of the run, which may not exist. */
void people_add(struct liars *liars)
{
	struct graph graph = { 0 };
	struct graph_part part;
	struct core_input input = { .kind = INPUT_SUBMIT };
	struct slice parents[2];
	size_t parent_count = below(liars, 3);
	uint64_t run = any_run(liars), key = UINT64_MAX - liars->added;

	graph_random(liars, &graph, 1);
	for (size_t i = 0; i < graph.count; i++) {
		char name[24];

		snprintf(name, sizeof(name), "x%u", liars->added++);
		graph.jobs[i].name = slice_str(arena_strdup(&graph.arena, slice_str(name)));
		graph.jobs[i].group = graph.jobs[i].group_parallel = 0;
		graph.jobs[i].group_fail_fast = false;
	}
	for (size_t i = 0; i < parent_count; i++)
		parents[i] = slice_str(any_name(liars));
	if (parent_count > 0) {
		uint64_t *need = arena_zalloc(&graph.arena, 1, sizeof(*need));
		uint64_t *trigger = arena_zalloc(&graph.arena, 1, sizeof(*trigger));

		*need = graph.count + below(liars, parent_count);
		*trigger = below(liars, TRIGGER_EXPR);
		graph.jobs[0].needs = (struct u64_list){ .at = need, .n = 1 };
		graph.jobs[0].triggers = (struct u64_list){ .at = trigger, .n = 1 };
	}
	part = (struct graph_part){ .body = graph_blob(&graph), .count = (uint32_t)graph.count };
	input.submit = (struct input_submit){ .principal = 1, .owner = slice_str("ana"), .parts = &part, .part_count = 1,
					      .into = run, .parents = { parents, parent_count } };
	memcpy(input.submit.key, &key, sizeof(key));
	tell(liars, "%zu jobs are added to run %llu", graph.count, (unsigned long long)run);
	ask(liars, &input);
	blob_release(part.body);
	graph_free(&graph);
}

void people_schedule(struct liars *liars)
{
	static const char *const crons[] = { "* * * * *", "0 * * * *", "@daily", "30 2 29 2 *" };
	static const char *const names[] = { "s0", "s1" };
	struct rec_schedule_spec spec = { .overlap = below(liars, OVERLAP_ALLOW + 1),
					  .catchup = below(liars, CATCHUP_SPAN + 1) };
	struct core_input input = { .kind = INPUT_SUBMIT };
	struct graph graph = { 0 };
	struct graph_part part;
	struct buf bytes = { 0 };
	uint64_t key = UINT64_MAX / 2 - liars->rig->request;

	spec.cron = slice_str(crons[below(liars, sizeof(crons) / sizeof(*crons))]);
	spec.catchup_ms = spec.catchup == CATCHUP_SPAN ? any_span_ms(liars) : 0;
	record_encode(&bytes, REC_schedule_spec, &spec);
	graph_random(liars, &graph, 1);
	part = (struct graph_part){ .body = graph_blob(&graph), .count = (uint32_t)graph.count };
	input.submit = (struct input_submit){
		.principal = 1 + below(liars, 2), .owner = slice_str(any_person(liars)), .name = slice_str(names[below(liars, 2)]),
		.parts = &part, .part_count = 1, .schedule = buf_slice(&bytes) };
	memcpy(input.submit.key, &key, sizeof(key));
	tell(liars, "schedule %s at %s", (const char *)input.submit.name.data, (const char *)spec.cron.data);
	ask(liars, &input);
	blob_release(part.body);
	graph_free(&graph);
	buf_free(&bytes);
}

void people_cancel(struct liars *liars)
{
	uint64_t run = any_run(liars);
	const char *name = chance(liars, 30) ? "" : any_name(liars);

	tell(liars, "run %llu: cancel %s", (unsigned long long)run, name);
	rig_cancel_scope(liars->rig, run, name, chance(liars, 20) ? CANCEL_ALL : CANCEL_FIRST);
	tell_answer(liars);
}

/*
 * Choose an open gate, so that most decisions are about a gate that waits. Leaves run and name unchanged if there is
 * none.
 */
static void choose_gate(struct liars *liars, uint64_t *run, const char **name)
{
	struct rig *rig = liars->rig;
	uint64_t gate = view_gate_after(rig->core, below(liars, 50));
	struct rec_job_row row;

	if (!gate || !view_job(rig->core, gate, VIEW_BRIEF, &rig->arena, &row) || row.digest.len == 0)
		return;
	*run = row.run;
	*name = arena_strdup(&rig->arena, row.name);
}

static void choose_unknown(struct liars *liars, uint64_t *run, const char **name)
{
	struct rig *rig = liars->rig;
	const struct rig_rows *jobs = &rig->tables[TABLE_job];

	for (size_t i = jobs->count; i-- > 0;) {
		struct rec_job_row row;

		if (jobs->at[i].row.job.state != STATE_UNKNOWN || chance(liars, 50) ||
		    !view_job(rig->core, (uint64_t)jobs->at[i].row.job.job, VIEW_BRIEF, &rig->arena, &row))
			continue;
		*run = row.run;
		*name = arena_strdup(&rig->arena, row.name);
		return;
	}
}

void people_act(struct liars *liars)
{
	static const enum act_verb verbs[] = {
		ACT_APPROVE, ACT_APPROVE, ACT_APPROVE, ACT_PUSHBACK, ACT_PUSHBACK, ACT_REJECT, ACT_SETTLE, ACT_SETTLE,
		ACT_RETRY, ACT_RETRY, ACT_HOLD, ACT_RELEASE, ACT_PRIORITY, ACT_CANCEL, ACT_REQUEUE, ACT_DISCARD, ACT_REINSTATE, 0, 15,
	};
	enum act_verb verb = verbs[below(liars, sizeof(verbs) / sizeof(*verbs))];
	struct rig *rig = liars->rig;
	uint64_t run = any_run(liars);
	const char *name = any_name(liars);

	if (verb == ACT_APPROVE || verb == ACT_REJECT || verb == ACT_PUSHBACK)
		choose_gate(liars, &run, &name);
	if (verb == ACT_SETTLE)
		choose_unknown(liars, &run, &name);
	rig->target = any_name(liars);
	rig->shown = slice_str(chance(liars, 3) ? "0123456789" : "");
	tell(liars, "run %llu: verb %d on %s, target %s", (unsigned long long)run, (int)verb, name, rig->target);
	rig_act_as(rig, any_person(liars), 1 + below(liars, 4), verb, run, name, below(liars, 4));
	tell_answer(liars);
}

/* Act on a run that has ended: the core gets the run's rows from the store together with the request. */
void people_reopen(struct liars *liars)
{
	static const enum act_verb verbs[] = { ACT_RETRY, ACT_RETRY, ACT_REQUEUE, ACT_DISCARD, ACT_REINSTATE };
	struct rig *rig = liars->rig;
	uint64_t run = any_run(liars);
	const struct row *row = rig_run_row(rig, (int64_t)run);
	const struct rig_rows *specs = &rig->tables[TABLE_spec], *jobs = &rig->tables[TABLE_job];
	struct core_input input = { .kind = INPUT_REOPEN };
	struct row rows[REOPEN_ROWS];
	size_t count = 0;

	if (!row || row->run.ended_ms == 0)
		return;
	rows[count++] = *row;
	for (size_t i = 0; i < specs->count && count < REOPEN_ROWS; i++)
		if (specs->at[i].row.spec.run == (int64_t)run)
			rows[count++] = specs->at[i].row;
	for (size_t i = 0; i < jobs->count && count < REOPEN_ROWS; i++)
		if (jobs->at[i].row.job.run == (int64_t)run)
			rows[count++] = jobs->at[i].row;
	if (count == REOPEN_ROWS)
		return;
	if (chance(liars, 60))
		core_sweep(rig->core, UINT64_MAX);
	input.reopen.act = (struct input_act){ .verb = verbs[below(liars, 4)], .run = run, .job = slice_str(any_name(liars)),
					       .value = below(liars, 4), .principal = 1, .person = slice_str("ana") };
	input.reopen.rows = rows;
	input.reopen.row_count = count;
	tell(liars, "run %llu: verb %d after its end", (unsigned long long)run, (int)input.reopen.act.verb);
	ask(liars, &input);
}

void people_set(struct liars *liars)
{
	static const char *const names[] = { "w0", "w1", "w2", "p1", "default", "ga", "gb", "rg",
					     "la", "lb", "t1", "ana", "s0", "s1" };
	struct msg_set set = { .kind = below(liars, OBJECT_SCHEDULE + 1), .verb = below(liars, SET_FIRE + 2),
			       .number = below(liars, 4), .flag = chance(liars, 50),
			       .span_ms = chance(liars, 50) ? any_span_ms(liars) : 0 };

	set.name = slice_str(names[below(liars, sizeof(names) / sizeof(*names))]);
	set.text = slice_str(chance(liars, 50) ? "o" : "");
	tell(liars, "object %s of kind %d: verb %d", (const char *)set.name.data, (int)set.kind, (int)set.verb);
	rig_set(liars->rig, set);
	tell_answer(liars);
}
