/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One step of pruning: the core gets runs as an input and removes those that may be pruned, a limited number of rows in
 * a turn. The next step begins when that turn is durable and then as much time again has passed. Logs are removed when
 * the run's removal is durable.
 */
#include "master/pruner.h"

#include "base/mem.h"
#include "master/logs.h"

#define PAUSE_LEAST_NS (5 * NS_PER_MS)
#define PAUSE_MOST_NS  (250 * NS_PER_MS)

void step_pass(struct master *master, struct sweep *sweep)
{
	struct pruner *pruner = master->pruner;
	struct prune_rule rule = sweep_rule(sweep, pruner->as_of);

	for (; pruner->candidate_at < pruner->candidate_count; pruner->candidate_at++) {
		const struct row_run *row = &pruner->runs->rows[pruner->candidates[pruner->candidate_at]].run;
		enum prune_word word = view_prunable(master->core, row, &rule);

		if (word == PRUNE_GOES)
			return;
		if (word != PRUNE_GONE)
			continue;
		sweep_count(sweep, row);
		master->stats.runs_pruned += !sweep->rule.logs_only;
	}
}

/* Collect the remaining candidates, each followed by its parts. Both lists are in ascending order. */
static size_t step_rows(struct pruner *pruner)
{
	const struct store_query *parts = pruner->parts;
	size_t count = 0, part = 0;

	if (pruner->candidate_at == pruner->candidate_count)
		return 0;
	pruner->step_rows = mem_array(pruner->candidate_count + parts->row_count, sizeof(*pruner->step_rows));
	for (size_t i = pruner->candidate_at; i < pruner->candidate_count; i++) {
		const struct row *run = &pruner->runs->rows[pruner->candidates[i]];

		pruner->step_rows[count++] = *run;
		while (part < parts->row_count && parts->rows[part].spec.run < run->run.run)
			part++;
		while (part < parts->row_count && parts->rows[part].spec.run == run->run.run)
			pruner->step_rows[count++] = parts->rows[part++];
	}
	return count;
}

/* Put the range of history rows to remove into the input: the first ones of those that were read. */
static void step_history(const struct pruner *pruner, const struct sweep *sweep, struct input_prune *prune)
{
	const struct store_query *rows = pruner->turns;
	size_t count = sweep_history_goes(sweep, rows);
	uint64_t from, until;

	if (count == 0)
		return;
	from = (uint64_t)*row_number(&rows->rows[0]);
	until = (uint64_t)*row_number(&rows->rows[count - 1]) + 1;
	if (sweep->history == HISTORY_EVENTS) {
		prune->turns_from = from;
		prune->turns_until = until;
	} else if (sweep->history == HISTORY_PAST) {
		prune->past_from = from;
		prune->past_until = until;
	} else if (sweep->history == HISTORY_ACTS) {
		prune->acts_from = from;
		prune->acts_until = until;
	} else {
		prune->facts_from = from;
		prune->facts_until = until;
	}
}

/* Tell the sweep how many rows of the history the step removed. */
static void history_stepped(struct pruner *pruner)
{
	struct sweep *sweep = pruner->first;
	uint64_t count = sweep_history_goes(sweep, pruner->turns);

	if (sweep->history == HISTORY_EVENTS)
		sweep->sum.turns += count;
	else if (sweep->history == HISTORY_PAST)
		sweep->sum.past += count;
	else if (sweep->history == HISTORY_ACTS)
		sweep->sum.acts += count;
	prune_drop_answer(&pruner->turns);
}

void step_begin(struct master *master)
{
	struct pruner *pruner = master->pruner;
	struct sweep *sweep = pruner->first;
	struct core_input *input = inbox_add(master, INPUT_PRUNE, NULL, 0, 0);
	size_t count = step_rows(pruner);

	pruner->told = pruner->gone;
	pruner->told_count = pruner->gone_count;
	pruner->gone = NULL;
	pruner->gone_count = pruner->gone_cap = 0;
	input->prune = (struct input_prune){
		.rows = pruner->step_rows, .row_count = count, .gone = pruner->told, .gone_count = pruner->told_count,
	};
	if (count > 0) {
		input->prune.rule = sweep_rule(sweep, pruner->as_of);
		input->prune.person = slice_str(sweep->person);
	}
	if (pruner->turns)
		step_history(pruner, sweep, &input->prune);
	pruner->stepping = true;
	pruner->step_turn = 0;
	pruner->step_ns = clock_mono_ns();
	master_stay_awake(master);
}

void prune_stepped(struct master *master, const struct input_prune *prune)
{
	struct pruner *pruner = master->pruner;
	struct core_totals totals;

	view_totals(master->core, &totals);
	pruner->step_turn = totals.turn;
	mem_free(pruner->step_rows);
	pruner->step_rows = NULL;
	for (size_t i = 0; i < pruner->told_count; i++)
		map_remove(&pruner->asked, pruner->told[i]);
	mem_free(pruner->told);
	pruner->told = NULL;
	pruner->told_count = 0;
	if (prune->turns_until + prune->past_until + prune->acts_until + prune->facts_until > 0)
		history_stepped(pruner);
}

void step_logs(struct master *master)
{
	struct pruner *pruner = master->pruner;
	uint64_t run = 0;
	bool rows;

	while ((run = view_pruning_after(master->core, run, &rows))) {
		if (map_get(&pruner->asked, run) || map_get(&pruner->failed, run))
			continue;
		map_put(&pruner->asked, run, pruner);
		logs_remove(master->logs, run);
	}
}

void step_pause_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	(void)loop;
	(void)events;
	prune_go(timer->data);
}

void prune_revealed(struct master *master)
{
	struct pruner *pruner = master->pruner;
	int64_t took_ns;

	prune_history(master);
	if (!pruner->stepping || pruner->step_turn == 0 ||
	    (master->commits.first && master->commits.first->turn <= pruner->step_turn))
		return;
	pruner->stepping = false;
	step_logs(master);
	took_ns = clock_mono_ns() - pruner->step_ns;
	took_ns = took_ns < PAUSE_LEAST_NS ? PAUSE_LEAST_NS : took_ns > PAUSE_MOST_NS ? PAUSE_MOST_NS : took_ns;
	ev_timer_set(&pruner->pause, (double)took_ns / 1e9, 0.);
	ev_timer_start(master->loop, &pruner->pause);
}
