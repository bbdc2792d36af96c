/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules, checked by rows and by the acts of the same turn, with a cron implementation of the oracle's own. Each
 * time of a schedule counts once: it begins a run, waits in line, or is passed over. None fires early. Also checked:
 * times that come late, and runs that overlap.
 */
#include "oracle.h"

#include "base/mem.h"

#define MINUTE_MS 60000
#define LATE_MS 60000
#define CLOCKS_MS 2                      /* tolerance: timers use another clock, with nanoseconds */
#define BACK_MS (3 * INT64_C(3600000))
#define COUNTED_MAX 1000
#define LINE_MAX 100
#define MINUTES_MAX (3 * 1440)           /* longest distance between two times of a schedule */

struct passage {                         /* what one turn did to one schedule */
	struct oracle_schedule *known;   /* the schedule as the turn before left it */
	const struct sim_schedule *said; /* the schedule after the turn; NULL: none */
	const struct row_schedule *row;
	bool put, resumed, paused, removed;
	/*
	 * numbers of runs: fired by a person, begun, begun and still live, live after the turn, live during the whole
	 * turn
	 */
	uint64_t fires, begun, begun_live, live, lived;
	uint64_t last_run;
	uint64_t came, runs;             /* times that came in this turn, and how many of them should begin a run */
	int64_t last_ms;                 /* the schedule's latest due time that came in this turn */
	int64_t wall_ms;
};

/* ---- a second implementation of cron ---- */

static bool minute_is_one(const struct sim_schedule *schedule, int64_t minute)
{
	int64_t local = minute + schedule->offset_s / 60;

	return schedule->minutes >> (local % 60) & 1 && schedule->hours >> (local / 60 % 24) & 1;
}

static int64_t first_after(const struct sim_schedule *schedule, int64_t ms)
{
	int64_t minute = ms / MINUTE_MS + 1;

	for (int i = 0; i < MINUTES_MAX; i++, minute++)
		if (minute_is_one(schedule, minute))
			return minute * MINUTE_MS;
	return 0;
}

static int64_t last_until(const struct sim_schedule *schedule, int64_t ms)
{
	int64_t minute = ms / MINUTE_MS;

	for (int i = 0; i < MINUTES_MAX && !minute_is_one(schedule, minute); i++)
		minute--;
	return minute * MINUTE_MS;
}

static uint64_t count_until(const struct sim_schedule *schedule, int64_t first_ms, int64_t wall_ms)
{
	uint64_t count = 0;

	for (int64_t ms = first_ms; ms <= wall_ms && count < COUNTED_MAX; ms = first_after(schedule, ms))
		count++;
	return count;
}

/* ---- the runs of a schedule ---- */

static uint32_t name_index(struct slice name)
{
	uint32_t i = 0;

	while (i < SIM_SCHEDULES && !slice_eq(name, slice_str(sim_schedule_names[i])))
		i++;
	return i;
}

static const struct row_run *run_in(const struct outbox *outbox, int64_t run)
{
	for (size_t i = 0; i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_run && outbox->rows[i].run.run == run)
			return &outbox->rows[i].run;
	return NULL;
}

static bool is_of(const struct sim_schedule *schedule, const struct row_run *run, struct slice body)
{
	return (uint32_t)run->max_jobs == schedule->graph->max_jobs && slice_eq(body, blob_slice(schedule->graph->body));
}

/*
 * The schedule that began this run: the present one of this name or an earlier one. Two may differ only in their limit
 * of active jobs.
 */
static const struct sim_schedule *schedule_of(const struct sim_world *world, uint32_t name, const struct row_run *run,
					      struct slice body)
{
	const struct sim_schedule *said = world->oracle.schedules[name].said;

	if (said && is_of(said, run, body))
		return said;
	for (size_t i = world->schedule_count; i-- > 0;)
		if (world->schedules[i]->name == name && is_of(world->schedules[i], run, body))
			return world->schedules[i];
	return NULL;
}

/* Make a graph for a run that a schedule began, so that the other checks know its jobs. */
static void schedules_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	const struct row_run *run = row->table == TABLE_spec && row->spec.part == 0 ? run_in(outbox, row->spec.run) : NULL;
	const struct sim_schedule *schedule;
	struct sim_graph *graph;

	(void)job;
	if (!run || run->schedule.len == 0 || map_get(&world->oracle.runs, (uint64_t)run->run))
		return;
	if (name_index(run->schedule) == SIM_SCHEDULES || !slice_eq(run->schedule, run->name))
		world_fail(world, "run %u is of a schedule that there isn't", (unsigned)run->run);
	schedule = schedule_of(world, name_index(run->schedule), run, row->spec.body);
	if (!schedule || run->jobs != schedule->graph->count)
		world_fail(world, "run %u isn't what its schedule says", (unsigned)run->run);
	graph = mem_zalloc(sizeof(*graph));
	*graph = *schedule->graph;
	graph->borrowed = true;
	graph->body = NULL;
	memset(graph->key, 0, sizeof(graph->key));
	graph->schedule = schedule;
	graph->run = graph->durable_run = (uint64_t)run->run;
	graph->first = (uint64_t)run->first;
	graph->answered = true;
	world->graphs = mem_resize(world->graphs, world->graph_count + 1, sizeof(struct sim_graph *));
	world->graphs[world->graph_count++] = graph;
	map_put(&world->oracle.runs, graph->run, graph);
	world_note(world, "run %u of schedule %s", (unsigned)run->run, sim_schedule_names[schedule->name]);
}

static void count_runs(struct sim_world *world, struct passage *passage, uint32_t name, const struct outbox *outbox)
{
	for (size_t i = 0; i < world->graph_count; i++) {
		const struct sim_graph *graph = world->graphs[i];
		const struct row *row = graph->schedule && graph->schedule->name == name ?
					disk_get(&world->disk, TABLE_run, graph->run) : NULL;
		bool live = row && row->run.ended_ms == 0, begun = graph->run > passage->known->last_begun;

		passage->live += live;
		passage->begun += begun && row;
		passage->begun_live += begun && live;
		passage->lived += live && !begun && !run_in(outbox, (int64_t)graph->run);
		if (begun && row && graph->run > passage->last_run)
			passage->last_run = graph->run;
	}
}

/* ---- people's acts on the schedule ---- */

static void said(struct sim_world *world, struct passage *passage, const struct sim_act *act, uint64_t count)
{
	switch (act->set) {
	case SET_PUT:
		if (act->schedule->graph->invalid)
			world_fail(world, "a schedule of an invalid graph was taken");
		if (passage->said && passage->said->graph == act->schedule->graph) {
			if (passage->said->digest[0] != act->schedule->digest[0])
				world_fail(world, "I1: a submit key was taken twice");
			return;
		}
		passage->put = true;
		passage->said = act->schedule;
		return;
	case SET_REMOVE:
		passage->removed = true;
		passage->said = NULL;
		return;
	case SET_FIRE:
		passage->fires++;
		return;
	default:
		passage->paused |= count > 0 && act->set == SET_PAUSE;
		passage->resumed |= count > 0 && act->set == SET_RESUME;
	}
}

static void collect_acts(struct sim_world *world, struct passage *passage, uint32_t name, const struct outbox *outbox)
{
	for (size_t i = 0; i < outbox->frame_count; i++) {
		const struct msg_ok *ok = &outbox->frames[i].ok;

		if (outbox->frames[i].op != OP_OK || ok->id < ACT_BASE || ok->id - ACT_BASE >= world->act_count)
			continue;
		if (world->acts[ok->id - ACT_BASE].kind == OBJECT_SCHEDULE && world->acts[ok->id - ACT_BASE].object == name)
			said(world, passage, &world->acts[ok->id - ACT_BASE], ok->count);
	}
}

/* ---- checks ---- */

#define FAIL(passage, what) world_fail(world, "schedule %s: " what, sim_schedule_names[(passage)->known - world->oracle.schedules])

static void check_next(struct sim_world *world, const struct passage *passage)
{
	const struct row_schedule *old = &passage->known->row, *row = passage->row;
	int64_t first_ms = first_after(passage->said, passage->wall_ms);
	int64_t far_ms = first_after(passage->said, passage->wall_ms + BACK_MS);
	bool wrong = old->next_ms > far_ms || old->last_ms > passage->wall_ms + BACK_MS;

	if (row->next_ms != old->next_ms && row->next_ms != first_ms)
		FAIL(passage, "its next time isn't the next");
	if (passage->put && row->next_ms != first_ms)
		FAIL(passage, "it keeps a time of what it was before");
	if (row->paused || world->oracle.loading)
		return;
	if (row->next_ms <= passage->wall_ms - CLOCKS_MS)
		FAIL(passage, "a time has come, and nothing became of it");
	if (row->next_ms != old->next_ms && passage->came == 0 && !passage->put && !passage->resumed && !wrong)
		FAIL(passage, "it leaves a time out that hasn't come");
	if (row->next_ms > far_ms)
		FAIL(passage, "it waits for the times of a clock that was wrong");
}

/* Count the times that came in this turn, and those that should begin a run by the schedule's catch-up rule. */
static void judge_times(const struct sim_world *world, struct passage *passage)
{
	const struct sim_schedule *old = passage->known->said;
	int64_t next_ms = passage->known->row.next_ms, age_ms;
	bool unseen = passage->row->next_ms == next_ms && next_ms > passage->wall_ms - CLOCKS_MS;

	if (world->oracle.loading || passage->known->row.paused || next_ms > passage->wall_ms || unseen)
		return;
	passage->came = count_until(old, next_ms, passage->wall_ms);
	passage->last_ms = last_until(old, passage->wall_ms);
	age_ms = passage->wall_ms - passage->last_ms;
	if (old->spec.catchup == CATCHUP_ALL)
		passage->runs = passage->came < LINE_MAX ? passage->came : LINE_MAX;
	else
		passage->runs = age_ms <= LATE_MS || old->spec.catchup == CATCHUP_ONE ||
				(old->spec.catchup == CATCHUP_SPAN && age_ms <= (int64_t)old->spec.catchup_ms);
}

static void check_counts(struct sim_world *world, const struct passage *passage)
{
	const struct row_schedule *old = &passage->known->row, *row = passage->row;
	int64_t total = row->fired + row->queued + row->skipped - old->fired - old->queued - old->skipped;
	uint64_t skipped = (uint64_t)(row->skipped - old->skipped);
	enum overlap overlap = passage->known->said->spec.overlap;
	bool line = overlap == OVERLAP_QUEUE || passage->runs > 1;

	if (row->fired - old->fired != (int64_t)passage->begun)
		FAIL(passage, "its count of runs isn't that of its runs");
	if (total != (int64_t)(passage->came + passage->fires))
		FAIL(passage, "a time is lost, or counted twice, or early");
	if (passage->begun < passage->fires)
		FAIL(passage, "it was fired, and no run began");
	if (skipped < passage->came - passage->runs)
		FAIL(passage, "what it doesn't catch up with began");
	if (overlap == OVERLAP_ALLOW && skipped != passage->came - passage->runs)
		FAIL(passage, "a time is passed over though runs may overlap");
	if (line && old->queued + (int64_t)passage->runs <= LINE_MAX && skipped != passage->came - passage->runs)
		FAIL(passage, "a time is passed over that should wait in line");
	if (!line && row->queued > old->queued)
		FAIL(passage, "a time waits in line that should be passed over");
	if (row->queued > LINE_MAX || row->skip_why == SKIP_REFUSED)
		FAIL(passage, "too many wait in line, or its graph was refused");
	if (skipped > 0 && row->skip_ms != passage->wall_ms)
		FAIL(passage, "what was passed over isn't noted");
}

static void check_overlap(struct sim_world *world, const struct passage *passage)
{
	enum overlap overlap = passage->known->said->spec.overlap;
	/* runs that wait in line follow the new overlap rule */
	bool unsure = passage->put && passage->said->spec.overlap != overlap;

	if (overlap != OVERLAP_ALLOW && passage->lived > 0 && passage->begun > passage->fires && !unsure)
		FAIL(passage, "a run begins while another lives");
	if (overlap != OVERLAP_ALLOW && passage->fires == 0 && passage->begun_live > 1 && !unsure)
		FAIL(passage, "two runs begin at once");
	if (passage->runs > 0 && passage->known->live + passage->live + (uint64_t)passage->known->row.queued + passage->begun == 0)
		FAIL(passage, "no run lives, and none begins");
	if (passage->row->paused && passage->begun > passage->fires + passage->runs)
		FAIL(passage, "it is paused, and one of its line begins");
	if (passage->row->queued > 0 && passage->live == 0 && passage->begun == 0 && !passage->row->paused)
		passage->known->stalled++;
	else
		passage->known->stalled = 0;
	if (passage->known->stalled > 2 && !world->oracle.loading)
		FAIL(passage, "nothing lives, and what waits in line doesn't begin");
}

static void check_last(struct sim_world *world, const struct passage *passage)
{
	const struct row_schedule *old = &passage->known->row, *row = passage->row;

	if (passage->begun > 0 && (uint64_t)row->last_run != passage->last_run)
		FAIL(passage, "its last run isn't its last");
	if (passage->begun > 0 && row->last_ms != passage->wall_ms && (passage->came == 0 || row->last_ms != passage->last_ms))
		FAIL(passage, "its last run is for a time that isn't its own");
	if (passage->begun == 0 && row->last_ms != old->last_ms && row->last_ms != 0)
		FAIL(passage, "the time of its last run changes without one");
}

static void check_spec(struct sim_world *world, const struct passage *passage)
{
	struct slice bytes = passage->row->spec;
	struct arena arena = { 0 };
	struct rec_schedule_spec spec;
	bool same = record_decode(REC_schedule_spec, &bytes, &arena, &spec, NULL) == ERR_NONE &&
		    slice_eq(spec.cron, passage->said->spec.cron) && spec.overlap == passage->said->spec.overlap;

	arena_free(&arena);
	if (!same)
		FAIL(passage, "its row isn't what was acknowledged");
}

static void passage_check(struct sim_world *world, struct passage *passage)
{
	struct oracle_schedule *known = passage->known;

	if (!passage->row != !passage->said)
		FAIL(passage, "it is there, and a person removed it, or the other way round");
	if (!passage->said)
		return;
	check_spec(world, passage);
	if (!known->said || passage->removed) {          /* the schedule is new */
		known->row = (struct row_schedule){ .next_ms = passage->row->next_ms };
		known->stalled = 0;
		if (passage->row->next_ms != first_after(passage->said, passage->wall_ms))
			FAIL(passage, "its first time isn't the first");
		return;
	}
	judge_times(world, passage);
	check_next(world, passage);
	check_counts(world, passage);
	check_overlap(world, passage);
	check_last(world, passage);
}

static void schedules_committed(struct sim_world *world, const struct outbox *outbox)
{
	for (uint32_t i = 0; i < SIM_SCHEDULES && world->schedule_count > 0; i++) {
		struct oracle_schedule *known = &world->oracle.schedules[i];
		const struct row *row = disk_get_text(&world->disk, TABLE_schedule, slice_str(sim_schedule_names[i]));
		struct passage passage = { .known = known, .said = known->said, .row = row ? &row->schedule : NULL,
					   .wall_ms = outbox->wall_ms };

		collect_acts(world, &passage, i, outbox);
		count_runs(world, &passage, i, outbox);
		passage_check(world, &passage);
		known->said = passage.said;
		known->live = passage.live;
		if (passage.last_run)
			known->last_begun = passage.last_run;
		if (row)
			known->row = row->schedule;
	}
}

bool oracle_schedules_gone(const struct sim_world *world)
{
	for (uint32_t i = 0; i < SIM_SCHEDULES; i++)
		if (world->oracle.schedules[i].said)
			return false;
	return true;
}

const struct oracle_check oracle_schedules = { .row = schedules_row, .committed = schedules_committed };
