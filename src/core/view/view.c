/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows for people, made from the state in memory. Nothing visible is changed. */
#include "core/view/view.h"

#include "base/text.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/time/time.h"

#define UNBLOCKS_SHOWN 16
#define WILL_SHOWN 4096                  /* most bytes shown of each command, so that the row fits into a frame */
#define STUCK_NAMES 8

/* A run that has ended is in memory for a moment longer, but its jobs aren't live. */
static void live_counts(const struct core *core, uint64_t ret_counts[STATE_COUNT])
{
	memcpy(ret_counts, core->counts, sizeof(core->counts));
	for (const struct run *run = core->ended_first; run; run = run->next_ended)
		for (size_t state = 0; state < STATE_COUNT; state++)
			ret_counts[state] -= run->counts[state];
}

void view_totals(const struct core *core, struct core_totals *ret_totals)
{
	struct core_totals totals = {
		.turn = core->turn, .generation = core->generation, .boot = core->boot,
		.next_run = core->next_run, .live_runs = core->live_runs, .live_jobs = core->live_jobs,
		.stale_results = core->stale_results,
	};

	live_counts(core, totals.counts);
	memcpy(totals.entered, core->entered, sizeof(totals.entered));
	memcpy(totals.ended_runs, core->ended_sums.runs, sizeof(totals.ended_runs));
	memcpy(totals.ended_jobs, core->ended_sums.jobs, sizeof(totals.ended_jobs));
	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (worker_shown(worker) == WORKER_LOST || worker_shown(worker) == WORKER_ENDED)
			continue;
		totals.workers++;
		totals.slots += worker->slots;
		totals.busy += worker_busy(worker);
	}
	*ret_totals = totals;
}

enum err view_caller(const struct core *core, const struct caller *caller, uint64_t *ret_run, struct error *error)
{
	const struct run *run;
	enum err err = caller_check(core, caller, &run, error);

	if (err == ERR_NONE)
		*ret_run = run->number;
	return err;
}

uint64_t view_begun_by(const struct core *core, uint64_t run)
{
	const struct submit_key *key = map_get(&core->begun, run);

	return key ? key->by_run : 0;
}

/* Name the first service of the run that is in a crash loop. */
static struct slice view_crash_loop(const struct run *run, struct arena *arena)
{
	for (size_t i = 0; i < run->service_count; i++) {
		const struct job *job = run_job(run, run->services[i]);
		struct slice bytes = job_spec_bytes(job);
		struct rec_job_spec spec;

		if (!(job->flags & JOB_CRASH_LOOP))
			continue;
		CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
		return spec.name;
	}
	return slice_make(NULL, 0);
}

bool view_run(const struct core *core, uint64_t number, struct arena *arena, struct rec_run_row *ret_row)
{
	const struct run *run = run_find(core, number);
	uint64_t *counts;

	if (!run)
		return false;
	counts = arena_alloc(arena, STATE_COUNT * sizeof(*counts));
	for (size_t state = 0; state < STATE_COUNT; state++)
		counts[state] = run->counts[state];
	*ret_row = (struct rec_run_row){
		.run = run->number, .name = slice_str(run->name), .state = run_state_of(run->counts, run->forgiven),
		.jobs = run->job_count, .counts = { .at = counts, .n = STATE_COUNT },
		.submitted_ms = run_submitted_ms(core, run), .ended_ms = run->ended_ms, .owner = slice_str(run->owner),
		.parent_run = run->parent_run, .parent_job = slice_str(run->parent_name),
		.first = run->first, .held = run->held, .schedule = slice_str(run->schedule), .forgiven = run->forgiven, .dead = run->dead,
		.logs_gone_ms = run->logs_gone_ms,
		.tenant = slice_eq(slice_str(run->tenant->name), slice_str(run->owner)) ?
			slice_str(NULL) : slice_str(run->tenant->name),
		.concurrency = run_concurrency(run, arena), .seated = run->seated,
		.crash_loop = view_crash_loop(run, arena),
	};
	return true;
}

uint64_t view_run_before(const struct core *core, uint64_t number)
{
	const struct run_list *list = &core->runs;
	size_t low = list->head, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->at[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > list->head)
		if (list->at[--low].run)
			return list->at[low].number;
	return 0;
}

static void view_due(const struct core *core, const struct job *job, const struct rec_job_spec *spec,
		     struct rec_job_row *row)
{
	if (job->state == STATE_DELAYED || job->state == STATE_APPROVAL)
		row->due_ms = job_due_wall_ms(core, job, spec);
	if (job->state == STATE_READY && !job_on_hold(job))
		row->give_up_ms = job_due_wall_ms(core, job, spec);
	if (!state_terminal(job->state))
		row->deadline_ms = deadline_wall_ms(core, job, spec);
	if (job->state == STATE_STOPPING || job->state == STATE_TIMED_OUT)
		row->stop_cause = job->stop_cause;
}

/* --- settings and command of a specification --- */

static bool word_plain(struct slice word)
{
	static const char special[] = " \t\n\\'\"`$&|;<>()*?[]{}#~!";

	for (size_t i = 0; i < word.len; i++)
		if (memchr(special, word.data[i], sizeof(special)))
			return false;
	return word.len > 0;
}

static void word_add(struct buf *line, struct slice word)
{
	if (line->len > 0)
		buf_add_byte(line, ' ');
	if (word_plain(word)) {
		buf_add_slice(line, word);
		return;
	}
	buf_add_byte(line, '\'');
	for (size_t i = 0; i < word.len; i++) {
		if (word.data[i] == '\'')
			buf_add_str(line, "'\\'");
		buf_add_byte(line, word.data[i]);
	}
	buf_add_byte(line, '\'');
}

/* Return the command as one would type it into a shell. */
static struct slice command_line(const struct rec_job_spec *spec, struct arena *arena)
{
	struct buf line = { 0 };
	struct slice copy;

	if (spec->script.len > 0)
		return spec->script;
	if (spec->sub_count > 0)
		buf_addf(&line, "pipeline %.*s", (int)spec->sub_name.len, (const char *)spec->sub_name.data);
	for (size_t i = 0; i < spec->argv.n; i++)
		word_add(&line, spec->argv.at[i]);
	copy = arena_copy(arena, buf_slice(&line));
	buf_free(&line);
	return copy;
}

/* Cut a text, but not within a UTF-8 character. */
static struct slice beginning(struct slice text, size_t most)
{
	size_t len = text.len;

	if (len > most)
		for (len = most; len > 0 && (text.data[len] & 0xc0) == 0x80; len--)
			;
	return slice_make(text.data, len);
}

/* Add what a gate waits for and the first jobs it lets through, so that people see what an approval would do. */
static void view_gate(const struct core *core, const struct job *job, enum view_detail detail, struct arena *arena,
		      struct rec_job_row *row)
{
	struct child_walk walk = children_of(job);
	struct rec_job_spec spec;
	uint32_t edge;

	row->gate_have = gate_have(core, job);
	row->digest = slice_make(gate_digest(core, job), SHA256_SIZE);
	if (detail < VIEW_FULL)
		return;
	row->unblocks.at = arena_alloc(arena, UNBLOCKS_SHOWN * sizeof(struct slice));
	row->will.at = arena_alloc(arena, UNBLOCKS_SHOWN * sizeof(struct slice));
	while (row->unblocks.n < UNBLOCKS_SHOWN && child_next(&walk, &edge)) {
		struct slice bytes = job_spec_bytes(run_job(job->run, edge >> TRIGGER_BITS));

		CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
		row->unblocks.at[row->unblocks.n++] = spec.name;
		row->will.at[row->will.n++] = beginning(command_line(&spec, arena), WILL_SHOWN);
	}
}

/* Set the question as people read it, if outputs of jobs are in it. */
static void view_question(const struct core *core, const struct job *job, struct arena *arena, struct rec_job_row *row)
{
	struct buf text = { 0 };

	if (gate_question(core, job, &text))
		row->gate_message = arena_copy(arena, beginning(buf_slice(&text), LIMIT_REASON_MAX));
	buf_free(&text);
}

struct slice view_artifacts(struct slice stored, const struct rec_job_row *row, struct arena *arena)
{
	struct rec_job_artifacts record;
	struct slice bytes = stored;

	if (stored.len == 0 || record_decode(REC_job_artifacts, &bytes, arena, &record, NULL) != ERR_NONE || record.epoch != row->epoch)
		return slice_make(NULL, 0);
	if (record.hash.len > 0 ? row->state != STATE_SUCCEEDED : row->outcome != OUTCOME_BAD_ARTIFACTS)
		return slice_make(NULL, 0);
	return stored;
}

bool view_job(const struct core *core, uint64_t serial, enum view_detail detail, struct arena *arena,
	      struct rec_job_row *ret_row)
{
	const struct job *job = job_find(core, serial);
	const struct worker *worker;
	struct rec_job_spec spec;
	struct slice bytes;

	if (!job)
		return false;
	bytes = job_spec_bytes(job);
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	worker = job->worker ? worker_find(core, job->worker) : NULL;
	*ret_row = (struct rec_job_row){
		.job = serial, .run = job->run->number, .index = job->index, .state = job->state,
		.epoch = job->epoch, .tries = job->tries, .crashes = job->crashes,
		.interrupted = job->interrupted,
		.worker = slice_str(worker ? worker->name : NULL), .outcome = job->outcome, .code = job->code,
		.started_ms = job->started_ms,
		.ended_ms = state_terminal(job->state) ? job->when_ms : 0,
		.cause = job->cause ? run_serial(job->run, job->cause - 1) + 1 : 0, .cpu_us = job->cpu_us,
		.rss_kib = job->rss_kib, .out_bytes = job->out_bytes,
		.round = job->round, .condition_false = (job->flags & JOB_CONDITION_FALSE) != 0,
		.held = !state_terminal(job->state) && job->flags & JOB_ON_HOLD,
		.forgiven = (job->flags & JOB_FORGIVEN) != 0, .dead = (job->flags & JOB_DEAD) != 0,
	};
	if (state_terminal(job->state) && job->stop_cause != EVENT_CANCEL)
		ret_row->ended_by = job->stop_cause;
	ret_row->child = job_child(job);
	if (job->flags & JOB_LOOP)
		ret_row->pass = job_passes(job) + 1U;
	if (job_is_service(job)) {
		ret_row->crashes = 0;    /* of a service the field counts other ends */
		ret_row->restarts = job->tries > 0 ? job->tries - 1U : 0;
		ret_row->crash_loop = (job->flags & JOB_CRASH_LOOP) != 0;
	}
	ret_row->pushback = pushback_reason(core, job);
	progress_view(core, job, ret_row);
	if (job->state == STATE_APPROVAL)
		view_gate(core, job, detail, arena, ret_row);
	if (detail >= VIEW_FULL) {
		teams_view(core, &spec, arena, ret_row);
		ret_row->outputs = arena_copy(arena, job_outputs(job));
	}
	ret_row->artifacts = arena_copy(arena, view_artifacts(job_artifacts(job), ret_row, arena));
	view_due(core, job, &spec, ret_row);
	view_spec(&spec, detail, arena, ret_row);
	if (spec.message_text.len > 0)
		view_question(core, job, arena, ret_row);
	ret_row->priority = job->priority + 1U;
	return true;
}

uint64_t view_job_at(const struct core *core, uint64_t number, uint64_t index)
{
	const struct run *run = run_find(core, number);

	return run && index < run->job_count ? run_serial(run, (uint32_t)index) : 0;
}

uint64_t view_job_named(const struct core *core, uint64_t number, struct slice name)
{
	struct run *run = run_find(core, number);
	const struct job *job = run ? run_job_named(core, run, name) : NULL;

	return job ? job_serial(job) : 0;
}

uint64_t view_gate_after(const struct core *core, uint64_t serial)
{
	const struct gate *gate = gate_after(core, serial);

	return gate ? gate->job : 0;
}

/* Name the first stuck jobs as RUN/JOB; a job that has left memory is named by its number. */
static struct slice_list stuck_names(const struct core *core, const struct worker *worker, struct arena *arena)
{
	size_t count = worker->stuck_count < STUCK_NAMES ? worker->stuck_count : STUCK_NAMES;
	struct slice *names = arena_alloc(arena, (count + 1) * sizeof(*names));

	for (size_t i = 0; i < count; i++) {
		const struct job *job = job_find(core, worker->stuck[i]);
		struct buf text = { 0 };
		struct rec_job_spec spec;
		struct slice bytes;

		if (job) {
			bytes = job_spec_bytes(job);
			CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
			buf_addf(&text, "%llu/%.*s", (unsigned long long)job->run->number, (int)spec.name.len,
				 (const char *)spec.name.data);
		} else {
			buf_addf(&text, "job %llu", (unsigned long long)worker->stuck[i]);
		}
		names[i] = arena_copy(arena, buf_slice(&text));
		buf_free(&text);
	}
	return (struct slice_list){ names, count };
}

bool view_worker(const struct core *core, uint64_t number, struct arena *arena, struct rec_worker_row *ret_row)
{
	const struct worker *worker = worker_find(core, number);
	struct slice *offers;
	uint64_t *used;

	if (!worker)
		return false;
	*ret_row = (struct rec_worker_row){
		.worker = worker->number, .name = slice_str(worker->name), .state = worker_shown(worker),
		.slots = worker->slots, .busy = worker_busy(worker), .prefetched = worker->held_count - worker_busy(worker),
		.cpu_permille = worker->cpu_permille, .mem_permille = worker->mem_permille,
		.seen_ms = worker->seen_ms, .pid = worker->pid, .done = worker->done,
		.labels = worker->labels, .pool = slice_str(worker->pool->name), .pool_state = worker->pool->state,
		.standing = worker->standing, .gpu_permille = worker->gpu_permille,
		.load_permille = worker->load_permille, .start_us = worker->start_us, .reserved = worker->reserved,
		.stuck = worker->stuck_count, .protocol = worker->conn ? worker->protocol : 0,
	};
	ret_row->refused_code = worker->refused_code;
	if (worker->resting && worker->refused_until_ns > core->now.mono_ns)
		ret_row->refused_ms = (uint64_t)((worker->refused_until_ns - core->now.mono_ns) / NS_PER_MS);
	if (worker_rests(core, worker))
		ret_row->rest_ms = (uint64_t)((worker->rest_until_ns - core->now.mono_ns) / NS_PER_MS);
	if (!arena)
		return true;
	offers = arena_alloc(arena, (worker->offer_count + 1) * sizeof(*offers));
	used = arena_alloc(arena, (worker->offer_count + 1) * sizeof(*used));
	for (size_t i = 0; i < worker->offer_count; i++) {
		struct buf text = { 0 };

		resource_put(&worker->offers[i], &text);
		offers[i] = arena_copy(arena, buf_slice(&text));
		used[i] = worker->offers[i].used;
		buf_free(&text);
	}
	ret_row->offers = (struct slice_list){ offers, worker->offer_count };
	ret_row->used = (struct u64_list){ used, worker->offer_count };
	ret_row->stuck_jobs = stuck_names(core, worker, arena);
	return true;
}

bool view_pool(const struct core *core, size_t at, struct rec_pool_row *ret_row)
{
	const struct pool *pool;

	if (at >= core->pool_count)
		return false;
	pool = core->pools[at];
	*ret_row = (struct rec_pool_row){ .name = slice_str(pool->name), .state = pool->state, .provides = pool->provides };
	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (worker->pool != pool)
			continue;
		ret_row->workers++;
		if (worker->state != WORKER_UP)
			continue;
		ret_row->up++;
		ret_row->slots += worker->slots;
		ret_row->busy += worker_busy(worker);
	}
	return true;
}

bool view_topic(const struct core *core, size_t at, struct rec_topic_row *ret_row)
{
	if (at >= core->topic_count)
		return false;
	*ret_row = (struct rec_topic_row){ .topic = slice_str(core->topics[at].pattern), .pool = slice_str(core->topics[at].pool) };
	return true;
}

bool view_workers_full(const struct core *core)
{
	return core->tallies[TALLY_THERE] > 0 && core->tallies[TALLY_FEW_PREFETCHED] == 0;
}

bool view_workers_idle(const struct core *core)
{
	return core->tallies[TALLY_BUSY] == 0;
}

uint64_t view_worker_after(const struct core *core, uint64_t number)
{
	size_t low = 0, high = core->worker_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->workers[middle]->number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < core->worker_count ? core->workers[low]->number : 0;
}

uint64_t view_worker_on(const struct core *core, uint64_t conn)
{
	const struct worker *worker = map_get(&core->worker_conns, conn);

	return worker ? worker->number : 0;
}

bool view_may_report(const struct core *core, uint64_t worker, uint64_t run, uint64_t serial, uint64_t epoch)
{
	const struct job *job = job_find(core, serial);

	if (epoch == 0 || serial == 0)
		return false;
	if (!job)
		return run < core->next_run && serial < core->next_job && epoch >> 32 <= core->generation;
	/* It isn't recorded which worker had an earlier attempt, so any worker may report it. */
	return (run == 0 || run == job->run->number) &&
	       (epoch < job->epoch || (epoch == job->epoch && job->worker == worker));
}

bool view_attempt_inputs(const struct core *core, uint64_t worker, uint64_t serial, uint64_t epoch, struct arena *arena, struct slice *ret)
{
	const struct job *job = job_find(core, serial);
	struct slice bytes, further;
	struct rec_job_spec spec;
	uint8_t *both;

	if (!job || worker == 0 || job->epoch != epoch || job->worker != worker || !state_holds(job->state))
		return false;
	bytes = job_spec_bytes(job);
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	further = artifacts_inputs(core, job, arena);
	both = arena_alloc(arena, spec.inputs.len + further.len + 1);
	if (spec.inputs.len > 0)
		memcpy(both, spec.inputs.data, spec.inputs.len);
	if (further.len > 0)
		memcpy(both + spec.inputs.len, further.data, further.len);
	*ret = slice_make(both, spec.inputs.len + further.len);
	return true;
}

static void placing_add(struct slice_list *list, struct arena *arena, const char *what, struct slice value, bool hard)
{
	struct buf text = { 0 };

	if (value.len == 0)
		return;
	buf_addf(&text, "%s=%.*s%s", what, (int)value.len, (const char *)value.data, hard ? " (hard)" : "");
	list->at[list->n++] = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
}

static struct slice_list placing_texts(const struct rec_job_spec *spec, struct arena *arena)
{
	static const char *const affinities[] = { NULL, "parent", "sticky" };
	struct slice_list list = { .at = arena_alloc(arena, (spec->prefer.n + spec->requires.n + 4) * sizeof(struct slice)) };

	placing_add(&list, arena, "worker", spec->only_worker, false);
	placing_add(&list, arena, "prefer_worker", spec->prefer_worker, false);
	for (size_t i = 0; i < spec->prefer.n; i++)
		placing_add(&list, arena, "prefer", spec->prefer.at[i], false);
	placing_add(&list, arena, "pool", spec->pool, spec->pool_hard);
	for (size_t i = 0; i < spec->requires.n; i++)
		placing_add(&list, arena, "requires", spec->requires.at[i], false);
	placing_add(&list, arena, "affinity",
		    slice_str(spec->affinity <= AFFINITY_STICKY ? affinities[spec->affinity] : NULL), spec->affinity_hard);
	return list;
}

static void view_settings(const struct rec_job_spec *spec, struct arena *arena, struct rec_job_row *row)
{
	struct rec_job_settings settings;

	settings_of(spec, &settings);
	if (!settings_any(&settings))
		return;
	row->settings.at = arena_alloc(arena, sizeof(settings));
	row->settings.at[0] = settings;
	row->settings.n = 1;
}

void view_spec(const struct rec_job_spec *spec, enum view_detail detail, struct arena *arena,
	       struct rec_job_row *row)
{
	row->name = spec->name;
	row->priority = spec->priority;
	row->retry_max = spec->retry_max;
	row->gate_count = spec->gate_count;
	row->gate_message = spec->gate_message;
	row->when = spec->when;
	row->child_jobs = spec->sub_count;
	row->loop_max = spec->loop_max;
	row->loop_until = spec->loop_until;
	if (detail >= VIEW_GRAPH) {
		row->needs = spec->needs;
		row->triggers = spec->triggers;
		row->needs_text = spec->needs_text;
		row->labels = spec->labels;
		if (row->outcome == OUTCOME_NO_DIR)
			row->dir = spec->dir;
		view_settings(spec, arena, row);
	}
	if (detail >= VIEW_FULL) {
		row->kind = spec_kind(spec);
		row->command = command_line(spec, arena);
		row->mode = spec->mode;
		row->continue_on = spec->continue_on;
		row->worker_death = spec->worker_death;
		row->log_max = spec->log_max;
		row->crash_limit = spec->crash_limit ? spec->crash_limit : LIMIT_CRASH_LIMIT;
		row->gate_from = spec->gate_from;
		row->gate_fields = spec->gate_fields;
		row->asks = spec->asks;
		row->placing = placing_texts(spec, arena);
		row->concurrency = spec->concurrency;
		row->locks = spec->locks;
		row->kv_read = spec->kv_read;
		row->kv_write = spec->kv_write;
		row->inputs = spec->inputs;
		row->loop_delay_ms = spec->loop_delay_ms;
	}
}
