/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The digest of a gate: a hash of what a person votes on. It covers the gate and its question, how its parents
 * ended, and the jobs that it lets through, commands included. A vote names the digest of what the person was
 * shown.
 */
#include "core/people/people.h"

#include "core/graph/graph.h"
#include "core/life/life.h"

static void add_spec(struct sha256 *hash, const struct job *job)
{
	struct slice context = blob_slice(job_context(job));

	sha256_add_u64(hash, job_serial(job));
	sha256_add_u64(hash, job->spec_len);
	sha256_add(hash, job_spec_bytes(job));
	if (context.len == 0)
		return;
	sha256_add_u64(hash, context.len);
	sha256_add(hash, context);
}

static void add_parents(struct sha256 *hash, const struct job *gate)
{
	struct slice bytes = job_spec_bytes(gate);
	struct arena arena = { 0 };
	struct rec_job_spec spec;

	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	sha256_add_u64(hash, spec.needs.n);
	for (size_t i = 0; i < spec.needs.n; i++) {
		const struct job *parent = run_job(gate->run, (uint32_t)spec.needs.at[i]);

		bool ended = state_terminal(parent->state);

		/*
		 * A gate with an expression may be asked before all parents have ended; of those, only "not ended" is
		 * hashed.
		 */
		sha256_add_u64(hash, job_serial(parent));
		sha256_add_u64(hash, ended ? parent->round : 0);
		sha256_add_u64(hash, ended ? parent->epoch : 0);
		sha256_add_u64(hash, ended ? parent->state : STATE_WAITING);
		sha256_add_u64(hash, ended ? (uint64_t)parent->code << 8 | parent->outcome : 0);
	}
	arena_free(&arena);
}

/* Add the question as people read it, if outputs of jobs are in it. */
static void add_question(struct sha256 *hash, const struct core *core, const struct job *gate)
{
	struct buf text = { 0 };

	if (gate_question(core, gate, &text))
		sha256_add(hash, buf_slice(&text));
	buf_free(&text);
}

bool gate_question(const struct core *core, const struct job *gate, struct buf *out)
{
	struct slice bytes = job_spec_bytes(gate);
	struct arena arena = { 0 };
	struct rec_job_spec spec;
	bool has;

	CHECK(record_decode(REC_job_spec, &bytes, &arena, &spec, NULL) == ERR_NONE);
	has = spec.message_text.len > 0;
	if (has)
		outputs_expand(core, gate->run, spec.message_text, "(no value)", &arena, out);
	arena_free(&arena);
	return has;
}

/*
 * Return the gate's digest, computed if it isn't known. Within a round it changes only by added jobs and by parents
 * that end while the gate waits.
 */
const uint8_t *gate_digest(const struct core *core, const struct job *job)
{
	struct gate *gate = gate_find(core, job_serial(job));
	struct child_walk walk = children_of(job);
	struct sha256 hash;
	uint32_t edge;

	if (gate->digest_jobs == job->run->job_count)
		return gate->digest;
	sha256_init(&hash);
	sha256_add(&hash, slice_str("titan gate 1"));
	sha256_add_u64(&hash, job->run->number);
	sha256_add_u64(&hash, job->round);
	add_spec(&hash, job);
	add_parents(&hash, job);
	add_question(&hash, core, job);
	while (child_next(&walk, &edge)) {
		sha256_add_u64(&hash, edge & ((1U << TRIGGER_BITS) - 1));
		add_spec(&hash, run_job(job->run, edge >> TRIGGER_BITS));
	}
	sha256_end(&hash, gate->digest);
	gate->digest_jobs = job->run->job_count;
	return gate->digest;
}

void gate_changed(struct core *core, struct job *job)
{
	gate_find(core, job_serial(job))->digest_jobs = 0;
	job_touch(core, job, false);
}
