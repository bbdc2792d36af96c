/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Submits. The same submit key with the same content means the same run, or the same addition to a run, however often
 * it arrives.
 */
#include "core/graph/graph.h"

#include "base/planted.h"
#include "core/graph/internal.h"
#include "core/rows/durable.h"
#include "core/time/time.h"

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
		error_set(error, ERR_KEY_REUSED, "the submit key was already used for a schedule with different "
			"content; use another key");
		return error_next(error, "titan schedule ls");
	}
	error_set(error, ERR_KEY_REUSED, "the submit key was already used for run %llu with a different graph; use "
		"another key",
		  (unsigned long long)key->run);
	return error_next(error, "titan show %llu", (unsigned long long)key->run);
}

/* Answer a submit. first: serial number of the first job accepted; 0: no longer known. */
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

static enum err caller_may_grow(const struct core *core, const struct run *by, uint64_t into, struct error *error)
{
	const struct submit_key *key = map_get(&core->begun, into);

	if (into == by->number || (key && key->by_run == by->number))
		return ERR_NONE;
	error_set(error, ERR_DENIED, "a job of run %llu may not add jobs to run %llu; it may add jobs to its own run "
		"and to runs that it submitted",
		  (unsigned long long)by->number, (unsigned long long)into);
	return error_next(error, "titan run --into self");
}

/* A job's submits are charged to its own run's tenant; a job can't choose another tenant. */
static enum err caller_take_tenant(const struct run *by, struct input_submit *submit, struct error *error)
{
	struct slice own = slice_str(by->tenant->name);

	if (submit->tenant.len == 0 || slice_eq(submit->tenant, own)) {
		submit->tenant = own;
		return ERR_NONE;
	}
	error_set(error, ERR_DENIED, "a job of run %llu submits runs for its own tenant, %s, and may not name "
		"another; leave out the tenant", (unsigned long long)by->number, by->tenant->name);
	return error_next(error, "titan show %llu", (unsigned long long)by->number);
}

/*
 * Begin or extend a run. by: the run whose job submits, or NULL; runs begun by its jobs have the same owner and
 * tenant.
 */
static enum err submit_new(struct core *core, const struct core_input *input, const struct run *by, uint64_t *ret_run,
			   struct error *error)
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
	if (submit.into == 0 || !PLANTED(grow_key_not_durable))
		key_row(core, run, &submit, submit.into > 0 ? 0 : by_run);
	submit_accepted(core, input, run->number, false, first);
	*ret_run = run->number;
	return ERR_NONE;
}

/* Handle a submit; return the number of the run that began or grew, or 0 if the key was known. */
static uint64_t run_step(struct core *core, const struct core_input *input)
{
	const struct caller *caller = &input->submit.caller;
	const struct run *by = NULL;
	const struct submit_key *key = key_find(core, &input->submit);
	uint64_t number = 0;
	struct error error;
	enum err err;

	error_clear(&error);
	err = caller->job != 0 ? caller_check(core, caller, &by, &error) : ERR_NONE;
	if (err == ERR_NONE)
		err = key ? submit_known(core, input, key, &error) : submit_new(core, input, by, &number, &error);
	if (err != ERR_NONE)
		error_send(core, input->conn, input->request, &error, false);
	return err != ERR_NONE ? STEP_REFUSED : number;
}

uint64_t submit_step(struct core *core, const struct core_input *input)
{
	uint64_t made;

	core->admitting = true;
	core->submit = &input->submit;
	made = input->submit.schedule.len > 0 && input->submit.into == 0 ? schedule_step(core, input) : run_step(core, input);
	core->admitting = false;
	core->submit = NULL;
	return made;
}
