/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * State loaded from rows: a random walk through all that can happen, with a reload after every turn; and impossible
 * rows, each refused.
 */
#include "tests/unit/core_rig.h"

#include "base/rand.h"

/* --- the walk --- */

#define WALK_WORKERS 3
#define WALK_HELD 64

struct walk_worker {
	uint64_t conn;                   /* 0: not connected */
	char name[32];
	struct rec_held held[WALK_HELD];
	size_t count;
};

struct walk {
	struct rig *rig;
	struct rand_state rand;
	struct walk_worker workers[WALK_WORKERS];
	uint64_t restarts, lost;
};

static bool chance(struct walk *walk, uint64_t percent)
{
	return rand_below(&walk->rand, 100) < percent;
}

/* Deliver the frames of the last turn to the workers, which obey a STOP or RECALL or ignore it at random. */
static void walk_deliver(struct walk *walk)
{
	const struct outbox *out = &walk->rig->out;

	for (size_t i = 0; i < out->frame_count; i++) {
		const struct outgoing *frame = &out->frames[i];

		for (size_t w = 0; w < WALK_WORKERS; w++) {
			struct walk_worker *worker = &walk->workers[w];

			if (frame->op == OP_ASSIGN && frame->conn == worker->conn) {
				if (worker->count == WALK_HELD || chance(walk, 2))
					continue;        /* the connection will break before the frame arrives */
				worker->held[worker->count++] = (struct rec_held){
					frame->assign.job, frame->assign.epoch, PHASE_QUEUED };
			}
		}
	}
	walk->rig->assigned_first = walk->rig->assigned_count = 0;
}

static void walk_submit(struct walk *walk)
{
	struct graph graph = { 0 };
	char name[32], needs[512];
	size_t count = 1 + rand_below(&walk->rand, 9);

	for (size_t i = 0; i < count; i++) {
		struct rec_job_spec *job;

		needs[0] = '\0';
		for (size_t parent = 0; parent < i; parent++)
			if (chance(walk, 25))
				snprintf(needs + strlen(needs), sizeof(needs) - strlen(needs), "%sj%zu%s",
					 needs[0] ? " " : "", parent,
					 chance(walk, 15) ? "-" : chance(walk, 20) ? "*" : "");
		snprintf(name, sizeof(name), "j%zu", i);
		job = graph_job(&graph, name, needs);
		job->retry_max = rand_below(&walk->rand, 3);
		job->timeout_ms = chance(walk, 30) ? 1 + rand_below(&walk->rand, 20000) : 0;
		job->priority = rand_below(&walk->rand, 102);
	}
	CHECK(rig_submit(walk->rig, &graph) != 0);
}

static void walk_word(struct walk *walk, struct walk_worker *worker)
{
	size_t at = rand_below(&walk->rand, worker->count);
	struct rec_held *held = &worker->held[at];
	struct rig_attempt attempt = { .job = held->job, .epoch = held->epoch, .conn = worker->conn };
	static const enum outcome outcomes[] = { OUTCOME_EXIT, OUTCOME_EXIT, OUTCOME_EXIT, OUTCOME_SIGNAL,
		OUTCOME_SPAWN, OUTCOME_STOPPED, OUTCOME_EXIT_UNKNOWN };
	enum outcome outcome = outcomes[rand_below(&walk->rand, 7)];

	if (held->phase == PHASE_QUEUED && chance(walk, 60)) {
		held->phase = PHASE_RUNNING;
		rig_started(walk->rig, attempt);
		return;
	}
	if (held->phase == PHASE_QUEUED && chance(walk, 50))
		outcome = OUTCOME_RECALLED;
	rig_done(walk->rig, attempt, outcome, outcome == OUTCOME_EXIT ? rand_below(&walk->rand, 2) : 9);
	if (chance(walk, 90))
		*held = worker->held[--worker->count];
	else
		held->phase = PHASE_ENDED;       /* said again later */
}

static void walk_connect(struct walk *walk, struct walk_worker *worker)
{
	if (worker->conn != 0 && chance(walk, 70)) {
		rig_gone(walk->rig, worker->conn);
		worker->conn = 0;
		return;
	}
	for (size_t i = 0; i < worker->count; i++)
		if (worker->held[i].phase == PHASE_RUNNING && chance(walk, 20))
			worker->held[i].phase = PHASE_ENDED;
	/* A worker's connection is known before the answers of the same turn are delivered. */
	worker->conn = walk->rig->conn + 1;
	CHECK(rig_hello_held(walk->rig, worker->name, 1 + rand_below(&walk->rand, 4), worker->held,
			     worker->count) == worker->conn);
}

static void walk_restart(struct walk *walk)
{
	uint64_t before = core_hash(walk->rig->core);

	rig_restart(walk->rig);
	CHECK(core_hash(walk->rig->core) == before);
	for (size_t w = 0; w < WALK_WORKERS; w++)
		walk->workers[w].conn = 0;
	walk->restarts++;
}

static void walk_cancel(struct walk *walk)
{
	uint64_t run = view_run_before(walk->rig->core, UINT64_MAX);

	for (uint64_t back = rand_below(&walk->rand, 4); run != 0 && back > 0; back--)
		run = view_run_before(walk->rig->core, run);
	if (run != 0)
		rig_cancel(walk->rig, run, chance(walk, 60) ? "j0" : "");
}

static void walk_step(struct walk *walk)
{
	struct walk_worker *worker = &walk->workers[rand_below(&walk->rand, WALK_WORKERS)];
	uint64_t dice = rand_below(&walk->rand, 100);
	struct core_totals totals;

	view_totals(walk->rig->core, &totals);
	rig_wait(walk->rig, 1);
	if (dice < 12 && totals.live_runs < 12)
		walk_submit(walk);
	else if (dice < 72 && worker->conn != 0 && worker->count > 0)
		walk_word(walk, worker);
	else if (dice < 80)
		walk_connect(walk, worker);
	else if (dice < 84)
		walk_cancel(walk);
	else if (dice < 86)
		walk_restart(walk);
	else if (dice < 88)
		rig_pass(walk->rig, (int64_t)rand_below(&walk->rand, LIMIT_GRACE_MS + 1000));
	else if (dice < 92 && worker->conn != 0)
		rig_heartbeat(walk->rig, worker->conn);
	else
		rig_pass(walk->rig, (int64_t)rand_below(&walk->rand, 1500));
	walk_deliver(walk);
	if (chance(walk, 50))
		core_sweep(walk->rig->core, walk->rig->out.turn);
}

/* Once the workers behave, every run must end. */
static bool walk_finish(struct walk *walk)
{
	struct core_totals totals;

	for (int round = 0; round < 3000; round++) {
		view_totals(walk->rig->core, &totals);
		if (totals.live_runs == 0)
			return true;
		for (size_t w = 0; w < WALK_WORKERS; w++) {
			struct walk_worker *worker = &walk->workers[w];

			/*
			 * An assignment that was dropped with a connection is given again when the worker reconnects.
			 */
			if (worker->conn == 0 || (worker->count == 0 && round % 50 == 49)) {
				worker->conn = walk->rig->conn + 1;
				rig_hello_held(walk->rig, worker->name, 2, worker->held, worker->count);
				walk_deliver(walk);
			}
			while (worker->count > 0) {
				struct rec_held held = worker->held[--worker->count];

				struct rig_attempt attempt = { held.job, held.epoch, worker->conn, 0 };

				rig_done(walk->rig, attempt, OUTCOME_EXIT, 0);
				walk_deliver(walk);
			}
		}
		rig_pass(walk->rig, 500);
		walk_deliver(walk);
		for (size_t w = 0; w < WALK_WORKERS; w++)
			if (walk->workers[w].conn != 0)
				rig_heartbeat(walk->rig, walk->workers[w].conn);
		walk_deliver(walk);
	}
	return false;
}

static bool walk_run(uint64_t seed, int steps, uint64_t *ret_hash)
{
	struct walk walk = { .rig = rig_new() };
	bool ended;

	rand_seed(&walk.rand, seed);
	for (size_t w = 0; w < WALK_WORKERS; w++)
		snprintf(walk.workers[w].name, sizeof(walk.workers[w].name), "w%zu", w);
	for (int i = 0; i < steps; i++)
		walk_step(&walk);
	*ret_hash = core_hash(walk.rig->core);
	walk.rig->reload_every = 17;
	ended = walk_finish(&walk);
	core_sweep(walk.rig->core, UINT64_MAX);
	core_check(walk.rig->core);
	CHECK(walk.restarts > 0);
	rig_free(walk.rig);
	return ended;
}

TEST random_walk_reloads_to_the_same_hash(void)
{
	uint64_t hash, again;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		if (!walk_run(seed, 400, &hash))
			FAILm("a seed doesn't end");
		if (seed > 8)
			continue;
		ASSERT(walk_run(seed, 400, &again));
		ASSERT_EQ(hash, again);
	}
	PASS();
}

/* --- rows that can't be trusted --- */

static struct rig *rig_with_history(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "a");
	graph_job(&graph, "c", "b");
	graph_job(&graph, "d", "");
	rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	return rig;
}

static bool distrusted(struct rig *rig, const char *words)
{
	struct outbox out = { 0 };
	struct error error = { 0 };
	struct core *core = rig_load(rig, rig->now, &out, &error);
	bool is = !core && error.code == ERR_STORE_TRUST && strstr(error.text, words) != NULL;

	if (!is)
		fprintf(stderr, "expected \"%s\", got \"%s\"\n", words, error.text);
	core_free(core);
	outbox_free(&out);
	rig_free(rig);
	return is;
}

static struct row_job *job_row(struct rig *rig, size_t at)
{
	CHECK(at < rig->tables[TABLE_job].count);
	return &rig->tables[TABLE_job].at[at].row.job;
}

static struct row_run *run_row(struct rig *rig)
{
	return &rig->tables[TABLE_run].at[0].row.run;
}

TEST damaged_job_rows_are_refused(void)
{
	struct rig *rig = rig_with_history();

	job_row(rig, 1)->state = STATE_SUCCEEDED;        /* d was assigned; b has no row yet: this is valid */
	job_row(rig, 0)->state = STATE_FAILED; /* an impossible store: a failed, so b should have been skipped */
	ASSERT(distrusted(rig, "which doesn't fit the ends of the jobs that it needs"));

	rig = rig_with_history();
	job_row(rig, 1)->job = 3;                        /* an impossible store: c runs before b */
	ASSERT(distrusted(rig, "job 3 of run 1 is assigned, which"));

	rig = rig_with_history();
	job_row(rig, 1)->job = 77;
	ASSERT(distrusted(rig, "job 77: it isn't in run 1"));

	rig = rig_with_history();
	job_row(rig, 1)->job = 1;
	ASSERT(distrusted(rig, "two rows"));

	rig = rig_with_history();
	job_row(rig, 1)->worker = 9;
	ASSERT(distrusted(rig, "job 2: its row contradicts itself"));

	rig = rig_with_history();
	job_row(rig, 1)->epoch = 0;
	ASSERT(distrusted(rig, "job 2: its row contradicts itself"));

	rig = rig_with_history();
	job_row(rig, 0)->state = STATE_COUNT;
	ASSERT(distrusted(rig, "job 1: its row contradicts itself"));
	PASS();
}

TEST other_damaged_rows_are_refused(void)
{
	struct rig *rig = rig_with_history();

	run_row(rig)->jobs = 3;
	ASSERT(distrusted(rig, "spec of run 1: part 0 is missing or doesn't belong there"));

	rig = rig_with_history();
	run_row(rig)->jobs = 5;
	ASSERT(distrusted(rig, "has 4 jobs instead of 5"));

	rig = rig_with_history();
	run_row(rig)->first++;
	ASSERT(distrusted(rig, "its jobs overlap with others, or their numbers are above next_job"));

	rig = rig_with_history();
	run_row(rig)->run = 2;
	ASSERT(distrusted(rig, "next_run"));

	rig = rig_with_history();
	rig_row_drop(&rig->tables[TABLE_spec].at[0]);
	rig->tables[TABLE_spec].count = 0;
	ASSERT(distrusted(rig, "has 0 jobs instead of 4"));

	rig = rig_with_history();
	((uint8_t *)rig->tables[TABLE_spec].at[0].bytes[0])[0] ^= 0xff;
	ASSERT(distrusted(rig, "run 1: job 0"));

	rig = rig_with_history();
	rig->tables[TABLE_worker].at[0].row.worker.slots = 0;
	ASSERT(distrusted(rig, "worker 1"));

	rig = rig_with_history();
	rig->tables[TABLE_submit_key].at[0].row.submit_key.digest.len = 31;
	ASSERT(distrusted(rig, "submit_key"));

	rig = rig_with_history();
	for (size_t i = 0; i < rig->tables[TABLE_meta].count; i++)
		rig->tables[TABLE_meta].at[i].row.meta.value = -1;
	ASSERT(distrusted(rig, "meta: "));
	PASS();
}

TEST boot_counts_and_turns_grow(void)
{
	struct rig *rig = rig_with_history();
	uint64_t turn = rig->out.turn;
	struct core_totals totals;

	for (uint64_t boot = 2; boot < 5; boot++) {
		rig_restart(rig);
		ASSERT_GT(rig->out.turn, turn);
		turn = rig->out.turn;
		view_totals(rig->core, &totals);
		ASSERT_EQ(boot, totals.boot);
		ASSERT_EQ(1, totals.generation);
	}
	rig_free(rig);
	PASS();
}

TEST delays_survive_within_their_length(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	int64_t due;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = 1;
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	due = rig_job(rig, 1).due_ms;
	rig->now.wall_ms -= 900000;              /* the wall clock was set back */
	rig_restart(rig);
	ASSERT_EQ(due - 900000, rig_job(rig, 1).due_ms);
	rig_pass(rig, LIMIT_RETRY_BACKOFF_MAX_MS * 5 / 4);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

TEST loading_fires_no_timer(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t hash;

	rig_hello(rig, "w", 1);
	graph_job(&graph, "a", "")->retry_max = 1;
	rig_submit(rig, &graph);
	rig_run_one(rig, 1);
	hash = core_hash(rig->core);
	rig_wait(rig, 3600000);
	rig_restart(rig);
	ASSERT_EQ(hash, core_hash(rig->core));
	ASSERT_EQ(STATE_DELAYED, rig_state(rig, 1));
	ASSERT_LTE(core_next_due(rig->core), rig->now.mono_ns);
	rig_pass(rig, 0);
	ASSERT_EQ(STATE_READY, rig_state(rig, 1));
	rig_free(rig);
	PASS();
}

SUITE(loading)
{
	RUN_TEST(random_walk_reloads_to_the_same_hash);
	RUN_TEST(damaged_job_rows_are_refused);
	RUN_TEST(other_damaged_rows_are_refused);
	RUN_TEST(boot_counts_and_turns_grow);
	RUN_TEST(delays_survive_within_their_length);
	RUN_TEST(loading_fires_no_timer);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(loading);
	GREATEST_MAIN_END();
}
