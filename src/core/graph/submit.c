/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Admission of graphs. The same key with the same content is the same run, or the same jobs added to one,
 * however often it comes; a graph that is refused leaves no trace.
 */
#include "core/internal.h"

#include "base/text.h"

void key_id(uint8_t id[24], uint64_t principal, const uint8_t key[16])
{
	number_put(id, principal);
	memcpy(id + 8, key, 16);
}

void key_add(struct core *core, const uint8_t id[24], const uint8_t digest[32], uint64_t run, uint64_t by_run)
{
	struct submit_key *key = mem_alloc(sizeof(*key));

	memcpy(key->id, id, sizeof(key->id));
	memcpy(key->digest, digest, sizeof(key->digest));
	key->run = run;
	key->by_run = by_run;
	name_map_put(&core->keys, slice_make(key->id, sizeof(key->id)), key);
	if (by_run != 0)
		map_put(&core->begun, run, key);
	key->next = run != 0 ? map_get(&core->keys_of, run) : NULL;
	if (run != 0)
		map_put(&core->keys_of, run, key);
}

void key_drop(struct core *core, const uint8_t id[24])
{
	mem_free(name_map_remove(&core->keys, slice_make(id, 24)));
}

const struct submit_key *key_find(const struct core *core, const struct input_submit *submit)
{
	uint8_t id[24];

	key_id(id, submit->principal, submit->key);
	return name_map_get(&core->keys, slice_make(id, sizeof(id)));
}

enum err key_agrees(const struct submit_key *key, const struct input_submit *submit, struct error *error)
{
	if (memcmp(key->digest, submit->digest, sizeof(key->digest)) == 0)
		return ERR_NONE;
	if (key->run == 0) {
		error_set(error, ERR_KEY_REUSED, "the submit key belongs to a schedule, whose content is another");
		return error_next(error, "titan schedule ls");
	}
	error_set(error, ERR_KEY_REUSED, "the submit key belongs to run %llu, whose content is another",
		  (unsigned long long)key->run);
	return error_next(error, "titan show %llu", (unsigned long long)key->run);
}

/* first: of what was accepted; 0: not known any more. */
static void submit_accepted(struct core *core, const struct core_input *input, uint64_t number, bool existing,
			    uint64_t first)
{
	const struct run *run = run_find(core, number);
	struct outgoing *frame;

	if (input->conn == 0)
		return;
	frame = outbox_frame(core->outbox, input->conn, OP_ACCEPTED);
	frame->accepted = (struct msg_accepted){
		.id = input->request, .run = number, .jobs = run ? run->job_count : 0,
		.existing = existing, .first = first,
	};
}

static enum err submit_known(struct core *core, const struct core_input *input, const struct submit_key *key,
			     struct error *error)
{
	const struct run *run;
	enum err err = key_agrees(key, &input->submit, error);

	if (err != ERR_NONE)
		return err;
	run = run_find(core, key->run);
	submit_accepted(core, input, key->run, true, run && input->submit.into == 0 ? run->first : 0);
	return ERR_NONE;
}

enum err submit_count(const struct core *core, const struct input_submit *submit, uint32_t before, uint32_t *ret_count,
		      struct error *error)
{
	uint64_t count = 0;

	for (size_t i = 0; i < submit->part_count; i++)
		count += submit->parts[i].count;
	if (count == 0)
		return error_set(error, ERR_INVALID, "the graph has no jobs");
	if (count > LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_TOO_LARGE, "the graph has %llu jobs; a run has at most %d",
				 (unsigned long long)count, LIMIT_RUN_JOBS_MAX);
	if (before + count > LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_TOO_LARGE, "run %llu has %u jobs; with %llu more it would have more than %d",
				 (unsigned long long)submit->into, before, (unsigned long long)count, LIMIT_RUN_JOBS_MAX);
	if (core->live_jobs + count > LIMIT_LIVE_JOBS_MAX)
		return error_set(error, ERR_FULL,
				 "%llu jobs are live, and %d is the most: try again when some have ended",
				 (unsigned long long)core->live_jobs, LIMIT_LIVE_JOBS_MAX);
	*ret_count = (uint32_t)count;
	return ERR_NONE;
}

static void parts_take(struct run *run, const struct input_submit *submit, uint64_t first)
{
	parts_room(run, submit->part_count);
	for (size_t i = 0; i < submit->part_count; i++) {
		run->parts[run->part_count] = blob_hold(submit->parts[i].body);
		run->part_jobs[run->part_count] = submit->parts[i].count;
		run->part_first[run->part_count++] = i == 0 ? first : 0;
	}
}

static void take_origin(struct run *run, const struct run_origin *origin)
{
	const struct job *job = origin->job;

	if (origin->schedule)
		run->schedule = mem_text(slice_str(origin->schedule));
	if (!job)
		return;
	run->parent = job_serial(job);
	run->parent_run = job->run->number;
	run->parent_name = mem_text(origin->name);
	run->depth = job->run->depth + 1;
	run->priority = job->priority + 1;
}

static struct run *run_new(struct core *core, const struct input_submit *submit, const struct run_origin *origin)
{
	struct run *run = mem_zalloc(sizeof(*run));

	run->number = core->next_run;
	run->first = core->next_job;
	run->name = mem_text(submit->name);
	run->owner = mem_text(submit->owner);
	run->bound = (struct bound){ .kind = BOUND_RUN, .limit = submit->max_jobs };
	run_take_tenant(core, run, submit->tenant);
	run->submitted_ms = core->now.wall_ms;
	run->steady_ms = due_after(core, 0);
	parts_take(run, submit, run->first);
	take_origin(run, origin);
	return run;
}

void spec_rows(struct core *core, const struct run *run, uint32_t from)
{
	const struct extent *last = run->extents[run->extent_count - 1];
	struct outbox *outbox = core->outbox;
	struct row *row;

	for (uint32_t i = from; i < run->part_count; i++) {
		row = outbox_row(outbox, TABLE_spec);
		row->spec = (struct row_spec){
			.run = (int64_t)run->number, .part = i, .count = run->part_jobs[i],
			.first = i > 0 ? (int64_t)run->part_first[i] : 0, .jobs = i == from ? last->count : 0,
			.body = outbox_hold(outbox, run->parts[i]),
		};
	}
}

static void key_row(struct core *core, const struct run *run, const struct input_submit *submit, uint64_t by_run)
{
	struct outbox *outbox = core->outbox;
	struct row *row = outbox_row(outbox, TABLE_submit_key);

	row->submit_key = (struct row_submit_key){
		.principal = (int64_t)submit->principal,
		.submit_key = arena_copy(&outbox->arena, slice_make(submit->key, sizeof(submit->key))),
		.run = (int64_t)run->number,
		.digest = arena_copy(&outbox->arena, slice_make(submit->digest, sizeof(submit->digest))),
		.by_run = (int64_t)by_run,
	};
}

static void job_begin(struct core *core, struct job *job)
{
	if (job->flags & JOB_EXPR)
		job_judge(core, job, job_outlook(job), 0);
	else if (job->pending == 0)
		job_deps_met(core, job);
}

/* Built and in no list; what is wrong with it is said. */
static enum err run_make(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
			 struct run **ret_run, struct error *error)
{
	struct run *run;
	uint32_t count = 0;
	enum err err;

	if (!text_is_name(submit->name))
		return error_set(error, ERR_INVALID,
				 "the run's name isn't one: letters, digits, _ . -, at most %d",
				 LIMIT_NAME_MAX_LEN);
	err = submit_count(core, submit, 0, &count, error);
	/* A sub-run came in with the run that it is within. */
	if (err == ERR_NONE && !origin->job)
		err = tenant_admit(core, submit, count, error);
	if (err != ERR_NONE)
		return err;
	run = run_new(core, submit, origin);
	if (!run_join_concurrency(core, run, submit->concurrency))
		err = error_set(error, ERR_INVALID, "concurrency: a group is given by its name, or as NAME=LIMIT");
	if (err == ERR_NONE)
		err = graph_build(core, run, run->first, run->part_count, error);
	if (err != ERR_NONE) {
		run_release_bounds(core, run);
		run_release_classes(core, run, 0);
		run_free(run);
		return err;
	}
	*ret_run = run;
	return ERR_NONE;
}

enum err submit_check(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		      struct error *error)
{
	struct run *run;
	enum err err = run_make(core, submit, origin, &run, error);

	if (err != ERR_NONE)
		return err;
	run_release_bounds(core, run);
	run_release_classes(core, run, 0);
	run_free(run);
	return ERR_NONE;
}

enum err submit_run(struct core *core, const struct input_submit *submit, const struct run_origin *origin,
		    struct run **ret_run, struct error *error)
{
	struct run *run;
	enum err err = run_make(core, submit, origin, &run, error);

	if (err != ERR_NONE)
		return err;
	run_add(core, run);
	run_states(core, run, true);
	core->next_run++;
	core->next_job += run->job_count;
	core->run_counters_due = true;
	spec_rows(core, run, 0);
	run_touch(core, run, true);
	for (struct job *job = run_job(run, 0); job; job = job_next(job)) {
		if (job->flags & JOB_DUE_BY)
			deadline_arm(core, job);
		job_begin(core, job);
	}
	jobs_settle(core);               /* what no condition lets begin */
	*ret_run = run;
	return ERR_NONE;
}

enum err caller_check(const struct core *core, const struct caller *caller, const struct run **ret_run,
		      struct error *error)
{
	const struct job *job = job_find(core, caller->job);

	if (!job || job->epoch != caller->epoch || !state_holds(job->state))
		return error_set(error, ERR_STALE, "this attempt is no longer the current one of its job: "
				 "the job has ended, or was given to a worker again");
	*ret_run = job->run;
	return ERR_NONE;
}

static enum err caller_may_grow(const struct core *core, const struct run *by, uint64_t into, struct error *error)
{
	const struct submit_key *key = map_get(&core->begun, into);

	if (into == by->number || (key && key->by_run == by->number))
		return ERR_NONE;
	error_set(error, ERR_DENIED, "a job of run %llu may not add jobs to run %llu: only to its own, and to those that its jobs began",
		  (unsigned long long)by->number, (unsigned long long)into);
	return error_next(error, "titan run --into self");
}

/* What a job submits is of its own run's tenant: another one's share isn't a job's to take. */
static enum err caller_take_tenant(const struct run *by, struct input_submit *submit, struct error *error)
{
	struct slice own = slice_str(by->tenant->name);

	if (submit->tenant.len == 0 || slice_eq(submit->tenant, own)) {
		submit->tenant = own;
		return ERR_NONE;
	}
	error_set(error, ERR_DENIED, "a job of run %llu submits runs of its own tenant, %s, and may not name another: leave the"
		  " tenant out", (unsigned long long)by->number, by->tenant->name);
	return error_next(error, "titan show %llu", (unsigned long long)by->number);
}

/* by: the run whose job this comes from, or NULL. Its owner and its tenant are those of what its jobs begin. */
static enum err submit_new(struct core *core, const struct core_input *input, const struct run *by, struct error *error)
{
	struct input_submit submit = input->submit;
	uint64_t by_run = by ? by->number : 0, first = core->next_job;
	struct run *run;
	uint8_t id[24];
	enum err err = ERR_NONE;

	if (by && submit.into == 0) {
		submit.owner = slice_str(by->owner);
		err = caller_take_tenant(by, &submit, error);
	} else if (by) {
		err = caller_may_grow(core, by, submit.into, error);
	}
	if (err == ERR_NONE)
		err = submit.into > 0 ? run_grow(core, &submit, &run, &first, error) :
					submit_run(core, &submit, &(struct run_origin){ 0 }, &run, error);
	if (err != ERR_NONE)
		return err;
	key_id(id, submit.principal, submit.key);
	key_add(core, id, submit.digest, run->number, submit.into > 0 ? 0 : by_run);
	key_row(core, run, &submit, submit.into > 0 ? 0 : by_run);
	submit_accepted(core, input, run->number, false, first);
	return ERR_NONE;
}

void submit_step(struct core *core, const struct core_input *input)
{
	const struct caller *caller = &input->submit.caller;
	const struct run *by = NULL;
	const struct submit_key *key = key_find(core, &input->submit);
	struct error error = { 0 };
	enum err err = caller->job != 0 ? caller_check(core, caller, &by, &error) : ERR_NONE;

	if (err == ERR_NONE)
		err = key ? submit_known(core, input, key, &error) : submit_new(core, input, by, &error);
	if (err != ERR_NONE)
		error_send(core, input->conn, input->request, &error, false);
}
