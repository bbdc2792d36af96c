/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that a person sent back, and the reasons. They are kept until the job ends, so that its next attempt can read
 * the reason. Loading restores them from the rows of decisions.
 */
#include "core/people/people.h"

#include "core/graph/graph.h"
#include "core/people/internal.h"

static struct pushback *pushback_of(const struct core *core, const struct job *job)
{
	return job->flags & JOB_PUSHED ? map_get(&core->pushbacks, job_serial(job)) : NULL;
}

static void pushback_free(struct pushback *pushback)
{
	mem_free(pushback->reason);
	mem_free(pushback);
}

void pushback_add(struct core *core, struct job *job, uint64_t person, struct slice digest, struct slice reason)
{
	struct pushback *pushback = mem_zalloc(sizeof(*pushback));

	CHECK(!(job->flags & JOB_PUSHED) && digest.len == SHA256_SIZE);
	pushback->job = job_serial(job);
	pushback->person = person;
	memcpy(pushback->digest, digest.data, SHA256_SIZE);
	pushback->reason = mem_zalloc(reason.len + 1);
	for (size_t i = 0; i < reason.len; i++)
		pushback->reason[i] = reason.data[i] ? (char)reason.data[i] : ' ';
	map_put(&core->pushbacks, pushback->job, pushback);
	job->flags |= JOB_PUSHED;
}

void pushback_drop(struct core *core, struct job *job)
{
	if (!(job->flags & JOB_PUSHED))
		return;
	pushback_free(map_remove(&core->pushbacks, job_serial(job)));
	job->flags &= (uint32_t)~JOB_PUSHED;
}

struct slice pushback_reason(const struct core *core, const struct job *job)
{
	const struct pushback *pushback = pushback_of(core, job);

	return pushback ? slice_str(pushback->reason) : slice_make(NULL, 0);
}

bool pushback_is(const struct core *core, const struct job *job, uint64_t person, struct slice digest)
{
	const struct pushback *pushback = pushback_of(core, job);

	return pushback && pushback->person == person && digest.len >= DIGEST_LEAST && digest.len <= SHA256_SIZE &&
	       memcmp(pushback->digest, digest.data, digest.len) == 0;
}

/* Add the hashes of the push backs up: the order of the table depends on its history. */
uint64_t pushbacks_hash(const struct core *core)
{
	size_t cursor = 0;
	uint64_t serial, sum = 0;
	void *value;

	while (map_next(&core->pushbacks, &cursor, &serial, &value)) {
		const struct pushback *pushback = value;

		sum += hash_bytes(pushback->reason, strlen(pushback->reason), serial) ^
		       hash_bytes(pushback->digest, SHA256_SIZE, pushback->person);
	}
	return sum;
}

void pushbacks_check(const struct core *core)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&core->pushbacks, &cursor, &serial, &value)) {
		const struct job *job = job_find(core, serial);

		CHECK(job && job->flags & JOB_PUSHED && !state_terminal(job->state));
	}
}

void pushbacks_free(struct core *core)
{
	size_t cursor = 0;
	uint64_t serial;
	void *value;

	while (map_next(&core->pushbacks, &cursor, &serial, &value))
		pushback_free(value);
	map_free(&core->pushbacks);
}
