/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which values a request may read and change. A person's reads were checked by the master, which knows what the person may see.
 * A job has the values of its run, may read those of runs that it submitted, and has what kv.read and kv.write of its
 * specification grant, as long as the owner of its run may do the same.
 */
#include "base/text.h"
#include "core/graph/graph.h"
#include "core/people/people.h"
#include "core/rows/durable.h"
#include "core/values/internal.h"
#include "core/view/view.h"
#include "proto/rights.h"

struct asked {                           /* what a request is about */
	uint64_t space, run;
	struct slice definition;
};

/* Fill in the run of the job that asks, or of a person's request. */
static enum err asked_read(const struct core *core, const struct core_input *input, const struct job *job, struct asked *ret, struct error *error)
{
	const struct msg_values *msg = &input->values.msg;

	*ret = (struct asked){ .space = msg->space };
	switch (msg->space) {
	case SPACE_RUN:
		ret->run = msg->run != 0 || !job ? msg->run : job->run->number;
		if (ret->run == 0)
			return error_set(error, ERR_INVALID, "outside a job, name the run: run/4127:KEY");
		if (ret->run < core->next_run && !pruned_find(core, ret->run))
			return ERR_NONE;
		error_set(error, ret->run < core->next_run ? ERR_PRUNED : ERR_NOT_FOUND, ret->run < core->next_run ?
			  "run %llu was pruned, and its values with it" : "there is no run %llu", (unsigned long long)ret->run);
		return error_next(error, "titan ls");
	case SPACE_DEFINITION:
		ret->definition = msg->definition.len > 0 || !job ? msg->definition : slice_str(job->run->name);
		if (text_is_name(ret->definition))
			return ERR_NONE;
		return error_set(error, ERR_INVALID, "outside a job, name the definition: def/nightly:KEY");
	case SPACE_CLUSTER:
		return ERR_NONE;
	default:
		return error_set(error, ERR_INVALID, "unknown namespace number %llu", (unsigned long long)msg->space);
	}
}

/* Does one of these grants, such as def:PREFIX or cluster:PREFIX, cover the key? */
static bool grants(const struct slice_list *list, const struct job *job, const struct asked *asked, struct slice key)
{
	const struct slice word = slice_str(asked->space == SPACE_CLUSTER ? "cluster:" : "def:");

	if (asked->space == SPACE_DEFINITION && !slice_eq(asked->definition, slice_str(job->run->name)))
		return false;
	for (size_t i = 0; i < list->n; i++) {
		struct slice grant = list->at[i];
		size_t len = grant.len - word.len;

		if (grant.len < word.len || memcmp(grant.data, word.data, word.len) != 0)
			continue;
		if (len <= key.len && (len == 0 || memcmp(grant.data + word.len, key.data, len) == 0))
			return true;
	}
	return false;
}

/* May the owner of the run do this, who may have lost a role since? */
static bool owner_may(const struct core *core, struct slice owner, uint64_t space, bool writes)
{
	role_set roles = person_roles(core, owner);

	return writes ? right_to(OP_VALUES, space, roles) == ALLOWED : roles_see_all(roles);
}

static bool changes(uint64_t verb)
{
	return verb != VALUES_GET && verb != VALUES_CHECK && verb != VALUES_LIST && verb != VALUES_MEMBERS && verb != VALUES_DRY_RUN;
}

static enum err job_allowed(struct core *core, const struct core_input *input, const struct job *job, const struct asked *asked, bool writes,
			    struct error *error)
{
	const struct msg_values *msg = &input->values.msg;
	const char *name = asked->space == SPACE_CLUSTER ? "cluster" : "def";
	struct rec_job_spec spec;

	if (asked->space == SPACE_RUN) {
		if (asked->run == job->run->number || (!writes && view_begun_by(core, asked->run) == job->run->number))
			return ERR_NONE;
		return error_set(error, ERR_DENIED, "a job of run %llu may not %s the values of run %llu", (unsigned long long)job->run->number,
				 writes ? "change" : "read", (unsigned long long)asked->run);
	}
	job_spec_decode(core, job, &spec);
	for (size_t i = 0; i < msg->ops.n; i++) {
		bool write = changes(msg->ops.at[i].verb);
		struct slice key = msg->ops.at[i].key;

		if (grants(&spec.kv_write, job, asked, key) || (!write && grants(&spec.kv_read, job, asked, key)))
			continue;
		error_set(error, ERR_DENIED, "job %.*s may not %s '%s:%.*s'", (int)spec.name.len, (const char *)spec.name.data,
			  write ? "change" : "read", name, (int)(key.len < 60 ? key.len : 60), (const char *)(key.data ? key.data : (const uint8_t *)""));
		return error_next(error, "kv: {%s: ['%s:']} in the job's specification grants it", write ? "write" : "read", name);
	}
	if (owner_may(core, slice_str(job->run->owner), asked->space, writes))
		return ERR_NONE;
	error_set(error, ERR_DENIED, "%s submitted the run and may not %s values of %s:, so its jobs may not either", job->run->owner,
		  writes ? "change" : "read", name);
	return error_next(error, "man titan-kv");
}

static enum err run_changes(const struct core *core, const struct core_input *input, uint64_t number, struct slice *ret_owner, struct error *error)
{
	const struct run *run = run_find(core, number);

	if (!run || run->ended_ms != 0) {
		error_set(error, ERR_TERMINAL, "run %llu has ended, so its values can't be changed", (unsigned long long)number);
		return error_next(error, "titan kv ls run/%llu:", (unsigned long long)number);
	}
	*ret_owner = slice_str(run->owner);
	if (input->values.own_only.len == 0 || slice_eq(input->values.own_only, *ret_owner))
		return ERR_NONE;
	return error_set(error, ERR_DENIED, "run %llu isn't yours, so you may not change its values", (unsigned long long)number);
}

enum err values_allowed(struct core *core, const struct core_input *input, bool writes, struct slice *ret_definition,
			uint64_t *ret_run, struct slice *ret_owner, struct error *error)
{
	const struct job *job = input->by.caller.job != 0 ? job_find(core, input->by.caller.job) : NULL;
	struct asked asked;
	enum err err;

	if (input->by.caller.job != 0 && (!job || job->epoch != input->by.caller.epoch))
		return error_set(error, ERR_STALE, "the job has ended, or runs again in a later attempt");
	err = asked_read(core, input, job, &asked, error);
	if (err == ERR_NONE && job)
		err = job_allowed(core, input, job, &asked, writes, error);
	*ret_owner = slice_make(NULL, 0);
	if (err == ERR_NONE && asked.space == SPACE_RUN && writes)
		err = run_changes(core, input, asked.run, ret_owner, error);
	*ret_definition = asked.definition;
	*ret_run = asked.run;
	return err;
}

bool values_change(const struct msg_values *msg)
{
	for (size_t i = 0; i < msg->ops.n; i++)
		if (changes(msg->ops.at[i].verb))
			return true;
	return false;
}

enum err view_values_watched(struct core *core, const struct caller *caller, const struct msg_values_watch *msg, uint64_t *ret_run,
			     struct slice *ret_definition, struct error *error)
{
	struct rec_value_op list = { .verb = VALUES_LIST, .key = msg->prefix };
	const struct core_input input = {
		.kind = INPUT_VALUES, .by.caller = *caller,
		.values.msg = { .space = msg->space, .run = msg->run, .definition = msg->definition, .ops = { &list, 1 } },
	};
	struct slice owner;

	if (msg->prefix.len > LIMIT_VALUE_KEY_MAX)
		return error_set(error, ERR_INVALID, "a key has at most %d bytes; this beginning of keys has %zu", LIMIT_VALUE_KEY_MAX, msg->prefix.len);
	return values_allowed(core, &input, false, ret_definition, ret_run, &owner, error);
}
