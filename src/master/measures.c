/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The master's metrics. Counters and histograms are kept where the events happen and read here; current values are
 * looked up for each query. The stall histogram measures the time from the loop's waking up to its next sleep, during
 * which all peers wait.
 */
#include "master/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/io.h"
#include "master/logs.h"
#include "proto/metrics.h"

static void woken_cb(struct ev_loop *loop, struct ev_check *check, int events)
{
	struct master *master = check->data;

	(void)loop;
	(void)events;
	master->woken_ns = clock_mono_ns();
}

static void sleep_cb(struct ev_loop *loop, struct ev_prepare *prepare, int events)
{
	struct master *master = prepare->data;

	(void)loop;
	(void)events;
	if (master->woken_ns != 0)
		histogram_add(&master->stats.stall, (uint64_t)(clock_mono_ns() - master->woken_ns));
}

void metrics_start(struct master *master)
{
	ev_check_init(&master->woken, woken_cb);
	ev_prepare_init(&master->about_to_sleep, sleep_cb);
	ev_set_priority(&master->woken, EV_MAXPRI);
	/* lowest priority, so that this watcher runs after the turn */
	ev_set_priority(&master->about_to_sleep, EV_MINPRI);
	master->woken.data = master->about_to_sleep.data = master;
	ev_check_start(master->loop, &master->woken);
	ev_prepare_start(master->loop, &master->about_to_sleep);
}

void metrics_results(struct master *master, const struct rec_done *items, size_t count)
{
	master->stats.results += count;
	for (size_t i = 0; i < count; i++)
		if (items[i].started_ms != 0)
			histogram_add(&master->stats.job_run, items[i].run_ns);
}

/* ---- the answer ---- */

struct answer {
	struct rec_metric_row *rows;
	size_t count;
};

static void put_labelled(struct answer *answer, enum metric metric, const char *label, uint64_t value)
{
	answer->rows[answer->count++] = (struct rec_metric_row){
		.metric = metric, .label = slice_str(label), .value = value,
	};
}

static void put(struct answer *answer, enum metric metric, uint64_t value)
{
	put_labelled(answer, metric, "", value);
}

/* Add a histogram without its trailing zeros; the answer points to its array. */
static void put_histogram(struct answer *answer, enum metric metric, struct histogram *histogram)
{
	size_t used = HISTOGRAM_BUCKETS;

	while (used > 0 && histogram->buckets[used - 1] == 0)
		used--;
	answer->rows[answer->count++] = (struct rec_metric_row){
		.metric = metric, .buckets = { .at = histogram->buckets, .n = used }, .sum_ns = histogram->sum_ns,
	};
}

static uint64_t resident_bytes(void)
{
	struct buf text = { 0 };
	unsigned long long pages = 0;

	if (io_read_file(AT_FDCWD, "/proc/self/statm", 4096, &text) == 0 &&
	    sscanf(buf_cstr(&text), "%*u %llu", &pages) != 1)
		pages = 0;
	buf_free(&text);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_core(struct master *master, struct answer *answer)
{
	uint64_t worker = 0, stuck = 0, states[WORKER_ENDED + 1] = { 0 };
	struct rec_worker_row row;
	struct core_totals totals;

	view_totals(master->core, &totals);
	for (int state = 0; state < STATE_COUNT; state++)
		put_labelled(answer, METRIC_JOBS_ENTERED, state_table[state].name, totals.entered[state]);
	for (int state = 0; state < STATE_COUNT; state++)
		put_labelled(answer, METRIC_JOBS, state_table[state].name, totals.counts[state]);
	put(answer, METRIC_RUNS, totals.live_runs);
	while ((worker = view_worker_after(master->core, worker)))
		if (view_worker(master->core, worker, NULL, &row)) {
			states[row.state]++;
			stuck += row.stuck;
		}
	for (int state = 0; state <= WORKER_ENDED; state++)
		put_labelled(answer, METRIC_WORKERS, worker_state_name((enum worker_state)state), states[state]);
	put(answer, METRIC_SLOTS, totals.slots);
	put(answer, METRIC_SLOTS_BUSY, totals.busy);
	put(answer, METRIC_ATTEMPTS_STUCK, stuck);
}

static void put_queues(struct master *master, struct answer *answer)
{
	uint64_t queued = 0, id;
	size_t cursor = 0;
	void *session;

	while (map_next(&master->sessions, &cursor, &id, &session))
		queued += session_queued(session);
	put(answer, METRIC_CONNECTIONS, master->sessions.count);
	put(answer, METRIC_TURNS_UNDURABLE, master->commits.depth);
	put(answer, METRIC_QUEUE_INPUT_BYTES, master->inbox.bytes);
	put(answer, METRIC_QUEUE_OUTPUT_BYTES, queued);
	put(answer, METRIC_QUEUE_LOG_BYTES, logs_queued(master->logs));
}

static void put_logs(struct master *master, struct answer *answer)
{
	struct squeeze_stats stats;

	logs_stats(master->logs, &stats);
	put(answer, METRIC_LOGS_PACKED, stats.files);
	put(answer, METRIC_LOG_BYTES_BEFORE, stats.bytes_before);
	put(answer, METRIC_LOG_BYTES_AFTER, stats.bytes_after);
	put(answer, METRIC_LOG_RUNS_WAITING, stats.runs_waiting);
	put(answer, METRIC_LOG_FILES_WAITING, stats.files_waiting);
}

void metrics_answer(struct master *master, struct master_turn *turn, const struct query *query)
{
	struct master_stats *stats = &master->stats;
	struct store_stats *store = arena_alloc(&master->scratch, sizeof(*store));
	struct answer answer = { .rows = arena_zalloc(&master->scratch, METRIC_COUNT + 2 * STATE_COUNT + 8,
						      sizeof(*answer.rows)) };
	struct msg_snapshot msg = { .id = query->id };
	struct core_totals totals;

	view_totals(master->core, &totals);
	store_stats(master->store, store);
	put(&answer, METRIC_TURNS, stats->turns);
	put(&answer, METRIC_INPUTS, stats->inputs);
	put(&answer, METRIC_FRAMES, stats->frames_in);
	put(&answer, METRIC_FRAMES_REFUSED, stats->refused_frames);
	put(&answer, METRIC_FRAMES_LATE, stats->late_frames);
	put(&answer, METRIC_CONNECTIONS_REFUSED, stats->refused_connections);
	put(&answer, METRIC_COMMITS, store->commits);
	put(&answer, METRIC_ROWS, store->rows);
	put(&answer, METRIC_ROWS_REPLACED, store->replaced);
	put(&answer, METRIC_CHECKPOINTS, store->checkpoints);
	put(&answer, METRIC_RESULTS, stats->results);
	put(&answer, METRIC_SUBSCRIBERS_CUT, stats->sub_cuts);
	put(&answer, METRIC_CHANGES_DROPPED, stats->sub_drops);
	put(&answer, METRIC_SUBSCRIBERS_RESUMED, stats->sub_resumes);
	put(&answer, METRIC_RUNS_PRUNED, stats->runs_pruned);
	put(&answer, METRIC_RUNS_PRUNING, prune_left(master));
	put(&answer, METRIC_QUESTIONS, stats->questions);
	put(&answer, METRIC_ASKERS_CUT, stats->askers_cut);
	put_core(master, &answer);
	put_queues(master, &answer);
	put_logs(master, &answer);
	put(&answer, METRIC_STORE_FULL, store->full);
	put(&answer, METRIC_RESIDENT_BYTES, resident_bytes());
	put_histogram(&answer, METRIC_STALL, &stats->stall);
	put_histogram(&answer, METRIC_COMMIT, &store->commit);
	put_histogram(&answer, METRIC_JOB_RUN, &stats->job_run);
	msg.turn = totals.turn;
	msg.metrics.at = answer.rows;
	msg.metrics.n = answer.count;
	reveal_add(master, turn, query->conn, OP_SNAPSHOT, &msg);
}
