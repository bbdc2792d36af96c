/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The turn: each input goes to the file that decides it. At the end of the turn due timers fire, ready jobs are
 * placed and rows are put. No code here or below reads a clock, uses system randomness or waits.
 */
#include "core/core.h"

#include "core/acts/acts.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/rows/durable.h"
#include "core/set.h"
#include "core/time/time.h"
#include "core/values/values.h"

struct core *core_new(const struct core_config *config)
{
	struct core *core = mem_zalloc(sizeof(*core));

	core->cluster = mem_alloc(config->cluster.len + 1);
	if (config->cluster.len > 0)
		memcpy(core->cluster, config->cluster.data, config->cluster.len);
	core->cluster[config->cluster.len] = '\0';
	core->owner = mem_text(config->owner);
	core->pid = config->pid;
	core->heartbeat_ms = config->heartbeat_ms ? config->heartbeat_ms : LIMIT_HEARTBEAT_MS;
	core->lease_ms = config->lease_ms ? config->lease_ms : LIMIT_LEASE_MS;
	core->grace_ms = config->grace_ms ? config->grace_ms : LIMIT_GRACE_MS;
	core->ending_ms = config->ending_ms ? config->ending_ms : LIMIT_ENDING_MS;
	core->prefetch_off = config->prefetch_off;
	core->of_then = config->of_then;
	core->boot_id = config->boot_id;
	core->next_run = 1;
	core->next_job = 1;
	core->next_worker = 1;
	people_know(core, config);
	teams_know(core, config);
	rand_seed(&core->rand, config->seed);
	classes_init(core);
	core->hash_seed = rand_next(&core->rand);
	return core;
}

static void pages_free(struct core *core)
{
	size_t cursor = 0;
	uint64_t number;
	void *value;

	while (map_next(&core->pages, &cursor, &number, &value)) {
		mem_free(((struct page *)value)->at);
		mem_free(value);
	}
	map_free(&core->pages);
}

static void keys_free(struct core *core)
{
	size_t cursor = 0;
	struct slice name;
	void *value;

	while (name_map_next(&core->keys, &cursor, &name, &value))
		mem_free(value);
	name_map_free(&core->keys);
	map_free(&core->begun);
}

void core_free(struct core *core)
{
	if (!core)
		return;
	for (size_t i = core->runs.head; i < core->runs.count; i++)
		run_free(core->runs.at[i].run);
	mem_free(core->runs.at);
	pages_free(core);
	keys_free(core);
	prune_free(core);
	acts_free(core);
	for (size_t i = 0; i < core->worker_count; i++)
		worker_free(core->workers[i]);
	mem_free(core->workers);
	name_map_free(&core->worker_names);
	map_free(&core->worker_conns);
	classes_free(core);
	pools_free(core);
	topics_free(core);
	arena_free(&core->placing);
	tenants_free(core);
	groups_free(core);
	locks_free(core);
	values_free(core);
	assets_free(core);
	tokens_free(core);
	people_forget(core);
	teams_forget(core);
	mem_free(core->candidates);
	mem_free(core->timers.at);
	gates_free(core);
	pushbacks_free(core);
	progress_free_all(core);
	schedules_free(core);
	mem_free(core->touched);
	mem_free(core->ended);
	mem_free(core->touched_runs);
	mem_free(core->touched_workers);
	buf_free(&core->events);
	arena_free(&core->scratch);
	arena_free(&core->end_scratch);
	mem_free(core->cluster);
	mem_free(core->owner);
	mem_free(core);
}

void core_turn_begin(struct core *core, struct now now, struct outbox *outbox)
{
	CHECK(!core->outbox);
	CHECK(core->loaded);
	CHECK(outbox->row_count == 0 && outbox->frame_count == 0);
	CHECK(now.mono_ns >= core->now.mono_ns);
	core->now = now;
	core->outbox = outbox;
	outbox->turn = ++core->turn;
	outbox->wall_ms = now.wall_ms;
	steady_turn(core);
}

void core_was_deaf(struct core *core)
{
	CHECK(core->outbox);
	workers_forgive(core);
}

static void heartbeat_step(struct core *core, const struct core_input *input)
{
	struct worker *worker = worker_heard(core, input->conn);
	struct msg_heartbeat *echo;

	if (!worker)
		return;
	worker->cpu_permille = input->heartbeat.cpu_permille;
	worker->mem_permille = input->heartbeat.mem_permille;
	worker->gpu_permille = input->heartbeat.gpu_permille;
	worker->load_permille = input->heartbeat.load_permille;
	worker->start_us = input->heartbeat.start_us;
	worker_touch(core, worker);
	if (input->heartbeat.leaving)
		worker_says_leaving(core, worker);
	if (input->heartbeat.ending)
		worker_says_end(core, worker);
	if (input->heartbeat.stuck.n > 0 || worker->stuck_count > 0)
		worker_says_stuck(worker, input->heartbeat.stuck);
	echo = &outbox_frame(core->outbox, input->conn, OP_HEARTBEAT)->heartbeat;
	*echo = input->heartbeat;
	echo->stuck = (struct u64_list){ 0 };
}

static uint64_t shutdown_step(struct core *core, const struct core_input *input)
{
	if (input->shutdown.workers)
		workers_quit(core);
	return 1;
}

/* Handle a request of a person or a job, and record it as an act if it changed something. */
static void asked_step(struct core *core, const struct core_input *input)
{
	static uint64_t (*const steps[])(struct core *core, const struct core_input *input) = {
		[INPUT_SUBMIT] = submit_step, [INPUT_CANCEL] = cancel_step, [INPUT_ACT] = act_step, [INPUT_SET] = set_step,
		[INPUT_REOPEN] = reopen_step, [INPUT_PRUNE] = prune_step, [INPUT_SHUTDOWN] = shutdown_step,
		[INPUT_VALUES] = values_step,
	};

	struct error error;

	/* Load the run first: acts_before describes the state of the run before the act. */
	if (input->kind == INPUT_REOPEN && !reopen_load(core, input))
		return;
	acts_before(core, input);
	if (acts_expected(core, input, &error) != ERR_NONE)
		error_send(core, input->conn, input->request, &error, false);
	else
		acts_after(core, input, steps[input->kind](core, input));
}

void core_step(struct core *core, const struct core_input *input)
{
	struct worker *worker;

	CHECK(core->outbox);
	switch (input->kind) {
	case INPUT_SUBMIT:
	case INPUT_CANCEL:
	case INPUT_ACT:
	case INPUT_SET:
	case INPUT_REOPEN:
	case INPUT_PRUNE:
	case INPUT_SHUTDOWN:
		asked_step(core, input);
		return;
	case INPUT_VALUES:
		if (values_is_act(input))
			asked_step(core, input);
		else
			values_step(core, input);
		return;
	case INPUT_PROGRESS:
		progress_step(core, input);
		return;
	case INPUT_ARTIFACTS:
		artifacts_step(core, input);
		return;
	case INPUT_WORKER_HELLO:
		worker_hello(core, input);
		return;
	case INPUT_WORKER_GONE:
		worker_gone(core, input->conn);
		return;
	case INPUT_HEARTBEAT:
		heartbeat_step(core, input);
		return;
	case INPUT_TOKEN_USED:
		token_used(core, input->token_used.id);
		return;
	case INPUT_STARTED:
	case INPUT_DONE:
		break;
	}
	worker = worker_heard(core, input->conn);
	if (!worker)
		/* the report came over a replaced connection; the worker repeats it on the new one */
		return;
	if (input->kind == INPUT_STARTED)
		attempts_started(core, worker, input->started.at, input->started.n);
	else
		attempts_done(core, worker, input);
}

static void timer_fire(struct core *core, const struct timer *timer)
{
	struct job *job;

	if (timer->kind == TIMER_WORKER) {
		worker_timer_fired(core, worker_find(core, timer->id));
		return;
	}
	if (timer->kind == TIMER_REST) {
		worker_rested(core, worker_find(core, timer->id));
		return;
	}
	if (timer->kind == TIMER_LOCK) {
		lock_expired(core, timer->id);
		return;
	}
	if (timer->kind == TIMER_VALUE) {
		value_ended(core, timer->id);
		return;
	}
	if (timer->kind == TIMER_SCHEDULE) {
		schedule_fired(core, schedule_by_stamp(core, timer->id), timer->id);
		return;
	}
	job = job_find(core, timer->id);
	if (timer->kind == TIMER_DEADLINE) {
		job->flags &= (uint32_t)~JOB_DEADLINE;
		deadline_fired(core, job);
		return;
	}
	if (timer->kind == TIMER_ENDING) {
		job->flags &= (uint32_t)~JOB_ENDING;
		ending_fired(core, job);
		return;
	}
	job->flags &= (uint32_t)~JOB_TIMED;
	if (timer->kind == TIMER_DUE)
		job_due(core, job);
	else if (timer->kind == TIMER_EXPIRY)
		gate_expired(core, job);
	else if (timer->kind == TIMER_DISPATCH)
		dispatch_late(core, job);
	else if (timer->kind == TIMER_STABLE)
		service_stable(core, job);
	else
		attempt_stop(core, job, EVENT_RUN_TIMEOUT);
}

void core_turn_end(struct core *core)
{
	struct timer timer;

	CHECK(core->outbox);
	do {
		while (timer_take_due(core, &timer))
			timer_fire(core, &timer);
		jobs_tell_children(core);
		subruns_end(core);
		/* A sub-run that began may have due timers or may be over already; a service that ended may end its run. */
	} while (services_over(core) || kinds_begin(core));
	CHECK(core->ended_count == 0);
	place_jobs(core);
	timers_tidy(core);
	acts_flush(core);
	turn_flush(core);
	core->outbox = NULL;
}

int64_t core_next_due(const struct core *core)
{
	return core->timers.count > 0 ? core->timers.at[0].due_ns : TIME_NEVER;
}

uint64_t core_sweep(struct core *core, uint64_t durable_turn)
{
	uint64_t jobs = core->live_jobs;

	CHECK(!core->outbox);
	while (core->ended_first && core->ended_first->ended_turn <= durable_turn) {
		struct run *run = core->ended_first;

		core->ended_first = run->next_ended;
		if (!core->ended_first)
			core->ended_last = NULL;
		run_release(core, run);
		run_remove(core, run);
		run_free(run);
	}
	return jobs - core->live_jobs;
}
