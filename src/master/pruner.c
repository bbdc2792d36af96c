/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pruning: sweeps, started by people or by the rules, go through the ended runs from the oldest on, one sweep after
 * another. Runs that may be pruned are removed in steps (pruner_step.c). At a start, unfinished removals, which the
 * rows show, are continued.
 */
#include "master/pruner.h"

#include "base/log.h"
#include "base/mem.h"
#include "master/dispatch.h"
#include "master/goods.h"
#include "master/logs.h"

#define PAGE_RUNS   64                   /* ended runs read from the store at once, with their parts */
#define PAGE_DRY    LIMIT_QUERY_ROWS_MAX
#define FIRST_SWEEP_S  1.0
#define SWEEPS_MAX  16

void prune_drop_answer(struct store_query **answer)
{
	history_free_answer(*answer);
	*answer = NULL;
}

static void page_drop(struct pruner *pruner)
{
	prune_drop_answer(&pruner->runs);
	prune_drop_answer(&pruner->parts);
	mem_free(pruner->candidates);
	pruner->candidates = NULL;
	pruner->candidate_count = pruner->candidate_at = 0;
}

static void ask(struct master *master, enum store_what what, uint64_t from, uint64_t to, uint64_t limit)
{
	struct store_query *question = mem_zalloc(sizeof(*question));

	question->what = what;
	question->from = from;
	question->run = to;
	question->limit = limit;
	question->owner = master->pruner;
	master->pruner->question = question;
	store_ask(master->store, question);
}

/* ---- sweeps ---- */

static void sweep_drop(struct pruner *pruner)
{
	struct sweep *sweep = pruner->first;

	page_drop(pruner);
	prune_drop_answer(&pruner->turns);
	pruner->first = sweep->next;
	if (!pruner->first)
		pruner->end = &pruner->first;
	pruner->count--;
	sweep_free(sweep);
}

static void sweep_end(struct master *master)
{
	struct sweep *sweep = master->pruner->first;
	struct peer_session *session = sweep->conn ? session_find(master, sweep->conn) : NULL;
	struct msg_snapshot snapshot = { .id = sweep->rule.id, .turn = master->commits.durable };

	snapshot.pruned.at = &sweep->sum;
	snapshot.pruned.n = 1;
	snapshot.runs.at = sweep->shown;
	snapshot.runs.n = sweep->shown_count;
	if (session)
		session_send(session, OP_SNAPSHOT, &snapshot);
	if (!sweep->rule.dry && sweep->sum.runs + sweep->sum.turns > 0)
		log_info_limited("pruned %s%llu runs, %llu jobs, %llu bytes of logs, %llu turns of history",
			 sweep->rule.logs_only ? "the logs of " : "", (unsigned long long)sweep->sum.runs,
			 (unsigned long long)sweep->sum.jobs, (unsigned long long)sweep->sum.bytes,
			 (unsigned long long)sweep->sum.turns);
	sweep_drop(master->pruner);
}

/*
 * End the sweep: as many runs as allowed are being removed, and the logs of none of them can be removed, so there would
 * never be room for more.
 */
static void sweep_give_up(struct master *master)
{
	struct sweep *sweep = master->pruner->first;
	struct peer_session *session = sweep->conn ? session_find(master, sweep->conn) : NULL;
	struct error error = { 0 };

	error_set(&error, ERR_SYSTEM, "%llu runs were pruned; the prune stopped because the logs of %d runs can't be "
		"removed (see the log of the master)", (unsigned long long)sweep->sum.runs, LIMIT_PRUNE_RUNS);
	error_next(&error, "ls -l %s/logs", master->options.statedir.dir);
	if (session)
		session_refuse(session, sweep->rule.id, &error);
	else
		log_warn_limited("%s", error.text);
	sweep_drop(master->pruner);
}

/* Try again to remove logs that couldn't be removed: the person who prunes may have fixed the cause. */
static void logs_retry(struct master *master)
{
	map_free(&master->pruner->failed);
	step_logs(master);
}

/* Start what the sweep needs next. False: it needs nothing, so it is finished. */
static bool sweep_on(struct master *master, struct sweep *sweep)
{
	struct pruner *pruner = master->pruner;
	enum store_what what;

	if (!sweep->begun) {
		sweep_begin(sweep, master->core);
		if (sweep->conn && !sweep->rule.dry)
			logs_retry(master);
	}
	if (!sweep->measured) {
		pruner->measuring = true;
		logs_measure(master->logs);
	} else if (!sweep->scanned) {
		page_drop(pruner);
		pruner->as_of = master->commits.durable;
		ask(master, READ_ENDED, sweep->cursor, INT64_MAX, sweep->rule.dry ? PAGE_DRY : PAGE_RUNS);
	} else if (sweep_history(sweep, &what)) {
		ask(master, what, 0, 0, LIMIT_PRUNE_ROWS);
	} else {
		return false;
	}
	return true;
}

/* Does the core have rows to remove, or room for more runs? *ret_any: some removal is under way and can succeed. */
static bool step_wanted(const struct master *master, bool *ret_any)
{
	const struct pruner *pruner = master->pruner;
	uint64_t run = 0;
	size_t count = 0, failed = 0;
	bool rows, any_rows = false;

	while ((run = view_pruning_after(master->core, run, &rows))) {
		any_rows = any_rows || rows;
		count++;
		failed += map_get(&pruner->failed, run) != NULL;
	}
	*ret_any = count > failed;
	return any_rows || pruner->gone_count > 0 || pruner->turns ||
	       (pruner->candidate_at < pruner->candidate_count && count < LIMIT_PRUNE_RUNS);
}

/* Do the next thing. False: it has to wait for an answer, or there is nothing to do. */
static bool prune_next(struct master *master)
{
	struct pruner *pruner = master->pruner;
	bool any;

	if (!master->serving || master->ending || pruner->stepping || pruner->question || pruner->measuring ||
	    ev_is_active(&pruner->pause))
		return false;
	/* If the client is gone, drop its sweep; removals that have begun are finished. */
	if (pruner->first && pruner->first->conn && !session_find(master, pruner->first->conn))
		sweep_drop(pruner);
	if (pruner->first)
		step_pass(master, pruner->first);
	if (step_wanted(master, &any)) {
		step_begin(master);
		return false;
	}
	if (!pruner->first)
		return false;
	if (pruner->candidate_at < pruner->candidate_count) {
		if (!any)
			sweep_give_up(master);
		return !any;
	}
	if (sweep_on(master, pruner->first) || any)
		return false;
	sweep_end(master);
	return true;
}

void prune_go(struct master *master)
{
	while (prune_next(master))
		;
}

/* ---- answers of store and logs to the pruner ---- */

void prune_answer(struct master *master, struct store_query *answer)
{
	struct pruner *pruner = master->pruner;
	struct sweep *sweep = pruner->first;

	pruner->question = NULL;
	if (!sweep) {
		history_free_answer(answer);
		return;
	}
	if (answer->what == READ_ENDED) {
		pruner->runs = answer;
		sweep->scanned = answer->row_count < answer->limit;
		pruner->candidates = mem_array(answer->row_count + 1, sizeof(*pruner->candidates));
		if (!sweep_look(sweep, master->core, pruner->as_of, answer, pruner->candidates,
				&pruner->candidate_count)) {
			sweep->scanned = false;
			page_drop(pruner);
		} else if (pruner->candidate_count > 0) {
			uint64_t last = pruner->candidates[pruner->candidate_count - 1];

			ask(master, READ_PARTS, (uint64_t)answer->rows[pruner->candidates[0]].run.run,
			    (uint64_t)answer->rows[last].run.run, 0);
		}
	} else if (answer->what == READ_PARTS) {
		pruner->parts = answer;
	} else {
		pruner->turns = sweep_history_goes(sweep, answer) > 0 ? answer : NULL;
		if (!pruner->turns) {
			history_free_answer(answer);
			sweep->history++;
		}
	}
	prune_go(master);
}

static void on_removed(struct master *master, const struct log_answer *answer)
{
	struct pruner *pruner = master->pruner;

	for (size_t i = 0; i < answer->size_count; i++) {
		const struct log_size *size = &answer->sizes[i];

		if (pruner->first && !pruner->first->rule.dry)
			pruner->first->sum.bytes += size->bytes;
		if (size->failed) {
			map_remove(&pruner->asked, size->run);
			map_put(&pruner->failed, size->run, pruner);
			continue;
		}
		if (pruner->gone_count == pruner->gone_cap) {
			pruner->gone_cap = pruner->gone_cap ? pruner->gone_cap * 2 : 64;
			pruner->gone = mem_resize(pruner->gone, pruner->gone_cap, sizeof(*pruner->gone));
		}
		pruner->gone[pruner->gone_count++] = size->run;
	}
}

void prune_logs(struct master *master, struct log_answer *answer)
{
	struct pruner *pruner = master->pruner;
	struct sweep *sweep = pruner->first;

	if (answer->kind == LOG_REMOVED) {
		on_removed(master, answer);
	} else {
		pruner->measuring = false;
		if (sweep && sweep->begun && !sweep->measured)
			sweep_measure(sweep, answer);
	}
	prune_go(master);
}

/* ---- requests ---- */

size_t prune_left(const struct master *master)
{
	uint64_t run = 0;
	size_t count = 0;
	bool rows;

	while ((run = view_pruning_after(master->core, run, &rows)))
		count++;
	return count;
}

static void sweep_add(struct master *master, const struct peer_session *session, const struct msg_prune *rule)
{
	struct pruner *pruner = master->pruner;
	struct sweep *sweep = sweep_new(session, rule);

	*pruner->end = sweep;
	pruner->end = &sweep->next;
	pruner->count++;
}

/* Record the request as an act; the rows themselves are removed in later turns. */
static void prune_asked(struct incoming_frame *in, const struct msg_prune *rule)
{
	struct core_input *input = inbox_add(in->master, INPUT_PRUNE, in->session, rule->id, in->body.len);
	struct buf words = { 0 };

	buf_add_str(&words, rule->logs_only ? "logs of runs" : "runs");
	if (rule->older_ms > 0)
		buf_addf(&words, ", older than %llu s", (unsigned long long)(rule->older_ms - 1) / 1000);
	if (rule->keep > 0)
		buf_addf(&words, ", all but %llu", (unsigned long long)rule->keep - 1);
	if (rule->log_bytes > 0)
		buf_addf(&words, ", the oldest until all logs have %llu bytes", (unsigned long long)rule->log_bytes - 1);
	if (rule->history_ms > 0)
		buf_addf(&words, ", events older than %llu s", (unsigned long long)(rule->history_ms - 1) / 1000);
	if (rule->past_bytes > 0)
		buf_addf(&words, ", rows changed by turns until they have %llu bytes", (unsigned long long)rule->past_bytes - 1);
	if (rule->acts_ms > 0)
		buf_addf(&words, ", acts older than %llu s", (unsigned long long)(rule->acts_ms - 1) / 1000);
	buf_add_str(&words, rule->dead ? ", with dead letters" : "");
	input->prune.asked = arena_copy(&in->master->inbox.arena, buf_slice(&words));
	buf_free(&words);
}

enum err on_prune(struct incoming_frame *in)
{
	struct msg_prune msg;
	struct error error = { .code = ERR_NONE };
	enum err err = decode(in, OP_PRUNE, &msg);

	if (err != ERR_NONE)
		return err;
	if (msg.older_ms + msg.keep + msg.log_bytes + msg.history_ms + msg.past_ms + msg.past_bytes + msg.acts_ms == 0)
		error_set(&error, ERR_INVALID, "PRUNE needs at least one rule: by age, number or size");
	else if (msg.older_ms > INT64_MAX / 2 || msg.history_ms > INT64_MAX / 2 || msg.keep > INT64_MAX ||
		 msg.log_bytes > INT64_MAX || msg.past_ms > INT64_MAX / 2 || msg.acts_ms > INT64_MAX / 2)
		error_set(&error, ERR_INVALID, "a pruning rule has a number that is too large");
	else if (in->master->pruner->count >= SWEEPS_MAX)
		error_set(&error, ERR_BUSY, "%d other prunes are running; try again", SWEEPS_MAX);
	if (error.code == ERR_NONE && !msg.dry)
		room_check(in->master, ROOM_FOR_CANCEL, &error);
	if (error.code != ERR_NONE) {
		session_refuse(in->session, msg.id, &error);
		return ERR_NONE;
	}
	if (!msg.dry)
		prune_asked(in, &msg);
	if (!msg.dry && in->master->goods)
		goods_sweep(in->master->goods);
	sweep_add(in->master, in->session, &msg);
	prune_go(in->master);
	return ERR_NONE;
}

/* Start sweeps by the rules, unless the earlier ones are still running. */
static void every_cb(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct master *master = timer->data;
	const struct prune_rules *rules = &master->options.prune;
	const struct msg_prune runs = { .older_ms = rules->older_ms, .keep = rules->keep, .history_ms = rules->history_ms };
	const struct msg_prune logs = { .log_bytes = rules->log_bytes, .logs_only = true };

	(void)loop;
	(void)events;
	if (master->goods)
		goods_sweep(master->goods);
	if (master->pruner->first)
		return;
	if (runs.older_ms || runs.keep || runs.history_ms)
		sweep_add(master, NULL, &runs);
	if (logs.log_bytes)
		sweep_add(master, NULL, &logs);
	prune_go(master);
}

void prune_history(struct master *master)
{
	struct pruner *pruner = master->pruner;
	const struct prune_rules *rules = &master->options.prune;
	const struct msg_prune rule = { .past_ms = rules->past_ms, .past_bytes = rules->past_bytes, .acts_ms = rules->acts_ms };

	if (master->now.mono_ns < pruner->history_ns || pruner->first || rule.past_ms + rule.past_bytes + rule.acts_ms == 0)
		return;
	pruner->history_ns = master->now.mono_ns + rules->every_ms * NS_PER_MS;
	sweep_add(master, NULL, &rule);
	prune_go(master);
}

void prune_start(struct master *master)
{
	struct pruner *pruner = master->pruner;
	const struct prune_rules *rules = &master->options.prune;

	step_logs(master);
	if (rules->older_ms || rules->keep || rules->log_bytes || rules->history_ms) {
		ev_timer_set(&pruner->every, FIRST_SWEEP_S, (double)rules->every_ms / 1e3);
		ev_timer_start(master->loop, &pruner->every);
	}
	prune_go(master);
}

/* ---- creation and end ---- */

struct pruner *pruner_new(struct master *master)
{
	struct pruner *pruner = mem_zalloc(sizeof(*pruner));

	pruner->end = &pruner->first;
	ev_init(&pruner->pause, step_pause_cb);
	ev_init(&pruner->every, every_cb);
	pruner->pause.data = master;
	pruner->every.data = master;
	return pruner;
}

/* Free the pruner. The store is closed, so the pruner owns the query that the store had. */
void pruner_free(struct pruner *pruner)
{
	history_free_answer(pruner->question);
	while (pruner->first)
		sweep_drop(pruner);
	mem_free(pruner->step_rows);
	mem_free(pruner->gone);
	mem_free(pruner->told);
	map_free(&pruner->asked);
	map_free(&pruner->failed);
	mem_free(pruner);
}
