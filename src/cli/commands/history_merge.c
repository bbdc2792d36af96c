/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Merges the lists of acts, runs and decisions. Runs and acts both get numbers in the order of time, so a run and the
 * act that submitted it are matched by number, whatever the clocks say. Existing and pruned runs are two lists. A
 * decision is listed only if no act was kept for it: the gate expired, or the act is gone.
 */
#include "cli/commands/history_merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/ask/query.h"
#include "cli/commands/decisions.h"
#include "cli/show/row_words.h"

struct history_list { /* one of the master's lists (acts, runs, pruned runs), read a page at a time */
	struct msg_query query;
	struct msg_snapshot page;
	struct arena arena;
	size_t at, count;
	bool last;                       /* the page is the list's last one */
	bool over;                       /* no row is left */
};

struct history_merge {
	struct cli *cli;
	struct history_wanted wanted;
	struct history_list acts, submits, runs, pruned;
	struct rec_decision *decisions;  /* newest first */
	size_t decision_at, decision_count;
	bool decisions_read;
	int64_t oldest_act_ms;           /* time of the oldest act seen; INT64_MAX: none yet */
};

/* ---- the lists ---- */

static size_t page_count(const struct history_list *list)
{
	switch (list->query.what) {
	case QUERY_ACTS:
		return list->page.acts.n;
	case QUERY_PRUNED:
		return list->page.pruned_runs.n;
	default:
		return list->page.runs.n;
	}
}

/* Read pages until the list has a next row, or is over. */
static enum err list_fill(struct history_merge *merge, struct history_list *list)
{
	while (!list->over && list->at == list->count) {
		enum err err;

		arena_reset(&list->arena);
		err = cli_query(merge->cli, list->query, &list->arena, &list->page);
		if (err != ERR_NONE)
			return err;
		list->at = 0;
		list->count = page_count(list);
		list->query.cursor = list->page.cursor;
		list->last = list->page.cursor == 0;
		list->over = list->last && list->count == 0;
	}
	return ERR_NONE;
}

static void list_next(struct history_list *list)
{
	list->at++;
	list->over = list->last && list->at == list->count;
}

static const struct rec_act_row *act_at(const struct history_list *list)
{
	return list->over ? NULL : &list->page.acts.at[list->at];
}

static struct history_facts run_facts(const struct rec_run_row *run)
{
	return (struct history_facts){
		.run = run->run, .jobs = run->jobs, .name = run->name, .owner = run->owner, .schedule = run->schedule,
		.state = run_state_checked(run->state), .submitted_ms = run->submitted_ms, .ended_ms = run->ended_ms,
	};
}

static struct history_facts pruned_facts(const struct rec_pruned_row *run)
{
	return (struct history_facts){
		.run = run->run, .jobs = run->jobs, .name = run->name, .owner = run->owner, .schedule = run->schedule,
		.state = run_state_checked(run->state), .submitted_ms = run->submitted_ms, .ended_ms = run->ended_ms,
		.pruned_ms = run->pruned_ms, .pruned_by = run->person,
	};
}

static bool time_wanted(const struct history_merge *merge, int64_t wall_ms)
{
	return wall_ms >= merge->wanted.since_ms && (merge->wanted.until_ms == 0 || wall_ms < merge->wanted.until_ms);
}

/* ---- runs ---- */

/* Find the newest run not yet listed, among existing and pruned runs; *ret_from: the list that it is from. */
static enum err newest_run(struct history_merge *merge, struct history_facts *ret, struct history_list **ret_from)
{
	struct history_facts run = { 0 }, pruned = { 0 };
	enum err err = list_fill(merge, &merge->runs);

	if (err == ERR_NONE)
		err = list_fill(merge, &merge->pruned);
	if (err == ERR_NONE && !merge->runs.over)
		run = run_facts(&merge->runs.page.runs.at[merge->runs.at]);
	if (err == ERR_NONE && !merge->pruned.over)
		pruned = pruned_facts(&merge->pruned.page.pruned_runs.at[merge->pruned.at]);
	*ret_from = run.run > pruned.run ? &merge->runs : &merge->pruned;
	*ret = run.run > pruned.run ? run : pruned;
	return err;
}

struct merged_run {                      /* the next run to list: its row, the act that submitted it, or both */
	struct history_facts facts;
	struct history_list *from;       /* list of the run's row; NULL: the run is no longer known */
	const struct rec_act_row *submit;        /* NULL: no kept act submitted the run */
};

static bool run_wanted(const struct history_merge *merge, const struct merged_run *entry)
{
	const struct history_wanted *wanted = &merge->wanted;
	uint64_t number = entry->submit ? entry->submit->run : entry->facts.run;
	struct slice by = entry->submit ? entry->submit->name : entry->facts.owner;

	return (wanted->run == 0 || wanted->run == number) && (wanted->by.len == 0 || slice_eq(wanted->by, by)) &&
	       time_wanted(merge, entry->submit ? entry->submit->wall_ms : entry->facts.submitted_ms);
}

static void run_next(struct history_merge *merge, const struct merged_run *entry)
{
	if (entry->submit)
		list_next(&merge->submits);
	if (entry->from)
		list_next(entry->from);
}

/* Find the next wanted run. facts.run 0 and submit NULL: there are no more. */
static enum err run_find(struct history_merge *merge, struct merged_run *ret)
{
	for (;;) {
		const struct rec_act_row *submit;
		enum err err = newest_run(merge, &ret->facts, &ret->from);

		if (err == ERR_NONE)
			err = list_fill(merge, &merge->submits);
		if (err != ERR_NONE)
			return err;
		submit = act_at(&merge->submits);
		ret->submit = submit && submit->run >= ret->facts.run ? submit : NULL;
		if (submit && submit->run > ret->facts.run) {
			ret->facts = (struct history_facts){ 0 };
			ret->from = NULL;
		}
		if (!ret->submit && ret->facts.run == 0) {
			ret->from = NULL;
			return ERR_NONE;
		}
		if (run_wanted(merge, ret))
			return ERR_NONE;
		/* Runs have numbers in the order of time, so all that follow are older still: stop. */
		if (!ret->submit && (ret->facts.submitted_ms < merge->wanted.since_ms || ret->facts.run < merge->wanted.run))
			merge->runs.over = merge->pruned.over = true;
		else
			run_next(merge, ret);
	}
}

/* ---- decisions ---- */

const char *decision_verb(const struct rec_decision *decision)
{
	static const char *const verbs[] = {
		[VERDICT_REJECTED] = "reject", [VERDICT_APPROVED] = "approve", [VERDICT_PUSHED_BACK] = "pushback",
		[VERDICT_DONE] = "settle", [VERDICT_FAILED] = "settle", [VERDICT_RETRY] = "settle",
	};
	const char *verb = decision->verdict < sizeof(verbs) / sizeof(verbs[0]) ? verbs[decision->verdict] : NULL;

	return decision->person.len == 0 || !verb ? "expire" : verb;
}

static int newest_first(const void *a, const void *b)
{
	const struct rec_decision *left = a, *right = b;

	return (left->wall_ms < right->wall_ms) - (left->wall_ms > right->wall_ms);
}

static enum err decisions_read(struct history_merge *merge)
{
	const struct selector all = { .run = merge->wanted.run };
	enum err err;

	if (merge->decisions_read)
		return ERR_NONE;
	merge->decisions_read = true;
	err = decisions_of(merge->cli, &all, &merge->decisions, &merge->decision_count);
	/* A run that is gone has no decisions, but its acts may be kept. */
	if (err == ERR_NOT_FOUND || err == ERR_PRUNED)
		err = ERR_NONE;
	if (err == ERR_NONE && merge->decision_count > 1)
		qsort(merge->decisions, merge->decision_count, sizeof(*merge->decisions), newest_first);
	return err;
}

static bool decision_wanted(const struct history_merge *merge, const struct rec_decision *decision)
{
	const struct history_wanted *wanted = &merge->wanted;

	/*
	 * A decision by a person is also an act. Stores of older versions have decisions from before acts were kept:
	 * list those.
	 */
	if (decision->person.len > 0 && (!merge->acts.over || decision->wall_ms >= merge->oldest_act_ms))
		return false;
	return time_wanted(merge, decision->wall_ms) && (wanted->by.len == 0 || slice_eq(wanted->by, decision->person)) &&
	       (wanted->verb.len == 0 || slice_eq(wanted->verb, slice_str(decision_verb(decision))));
}

static const struct rec_decision *decision_find(struct history_merge *merge)
{
	for (; merge->decision_at < merge->decision_count; merge->decision_at++)
		if (decision_wanted(merge, &merge->decisions[merge->decision_at]))
			return &merge->decisions[merge->decision_at];
	return NULL;
}

/* ---- the merge ---- */

struct history_merge *history_begin(struct cli *cli, const struct history_wanted *wanted)
{
	struct history_merge *merge = mem_zalloc(sizeof(*merge));
	struct slice submit = slice_str("submit");
	bool runs = wanted->verb.len == 0 || slice_eq(wanted->verb, submit);

	*merge = (struct history_merge){ .cli = cli, .wanted = *wanted, .oldest_act_ms = INT64_MAX };
	merge->acts.query = (struct msg_query){
		.what = QUERY_ACTS, .run = wanted->run, .since_ms = wanted->since_ms, .until_ms = wanted->until_ms, .by = wanted->by,
		.verb = wanted->verb,
	};
	merge->submits.query = merge->acts.query;
	merge->submits.query.verb = submit;
	merge->acts.over = slice_eq(wanted->verb, submit);
	merge->runs.query = (struct msg_query){ .what = QUERY_RUNS };
	merge->pruned.query = (struct msg_query){ .what = QUERY_PRUNED };
	if (wanted->run != 0)
		merge->runs.query.cursor = merge->pruned.query.cursor = wanted->run + 1;
	merge->submits.over = merge->runs.over = merge->pruned.over = !runs;
	return merge;
}

void history_end(struct history_merge *merge)
{
	if (!merge)
		return;
	arena_free(&merge->acts.arena);
	arena_free(&merge->submits.arena);
	arena_free(&merge->runs.arena);
	arena_free(&merge->pruned.arena);
	mem_free(merge);
}

/* Find the next act; those that submitted a run are skipped, because the run's entry has them. */
static enum err act_find(struct history_merge *merge, const struct rec_act_row **ret)
{
	for (;;) {
		const struct rec_act_row *act;
		enum err err = list_fill(merge, &merge->acts);

		if (err != ERR_NONE)
			return err;
		*ret = act = act_at(&merge->acts);
		if (!act)
			return ERR_NONE;
		merge->oldest_act_ms = act->wall_ms;
		if (act->run == 0 || !slice_eq(act->verb, slice_str("submit")))
			return ERR_NONE;
		list_next(&merge->acts);
	}
}

/* Is the act newer than the start of the run? Acts are compared by number; a run without an act by time. */
static bool act_is_newer(const struct rec_act_row *act, const struct merged_run *run)
{
	if (run->submit)
		return act->act > run->submit->act;
	return run->facts.run == 0 || act->wall_ms >= run->facts.submitted_ms;
}

enum err history_next(struct history_merge *merge, struct history_entry *ret)
{
	const struct rec_act_row *act;
	const struct rec_decision *decision;
	struct merged_run run = { .from = NULL };
	int64_t run_ms;
	enum err err = decisions_read(merge);

	*ret = (struct history_entry){ .wall_ms = 0 };
	if (err == ERR_NONE)
		err = act_find(merge, &act);
	if (err == ERR_NONE)
		err = run_find(merge, &run);
	if (err != ERR_NONE)
		return err;
	decision = decision_find(merge);
	run_ms = run.submit ? run.submit->wall_ms : run.facts.run ? run.facts.submitted_ms : INT64_MIN;
	if (decision && decision->wall_ms > run_ms && (!act || decision->wall_ms > act->wall_ms)) {
		ret->is_decision = true;
		ret->decision = *decision;
		ret->wall_ms = decision->wall_ms;
		merge->decision_at++;
	} else if (act && act_is_newer(act, &run)) {
		ret->is_act = true;
		ret->act = *act;
		ret->wall_ms = act->wall_ms;
		list_next(&merge->acts);
	} else if (run.submit || run.facts.run) {
		ret->is_act = run.submit != NULL;
		if (run.submit)
			ret->act = *run.submit;
		ret->facts = run.facts;
		ret->wall_ms = run_ms;
		run_next(merge, &run);
	} else {
		return ERR_NOT_FOUND;
	}
	return ERR_NONE;
}
