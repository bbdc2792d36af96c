/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fields of a gate. Each approval gives a value for every field that can't be left out, and all approvals that count give the
 * same, so that each of these people has agreed to what the jobs behind the gate get. The values become the gate's outputs.
 */
#include "proto/form.h"

#include "base/planted.h"
#include "core/graph/graph.h"
#include "core/people/internal.h"
#include "core/people/people.h"
#include "proto/job_output.h"

struct slice form_given(struct core *core, const struct rec_job_spec *spec, struct slice_list given)
{
	struct buf bytes = { 0 };
	struct slice kept;

	form_outputs(spec->gate_fields, given, &bytes);
	kept = arena_copy(&core->outbox->arena, buf_slice(&bytes));
	buf_free(&bytes);
	return kept;
}

/* Find a vote of somebody else that counts and gave other values. */
static const struct vote *other_vote(const struct core *core, const struct job *job, uint64_t person, struct slice given)
{
	const struct gate *gate = gate_find(core, job_serial(job));

	for (size_t i = 0; i < gate->vote_count; i++)
		if (gate->votes[i].person != person && memcmp(gate->votes[i].digest, gate_digest(core, job), SHA256_SIZE) == 0 &&
		    !slice_eq(blob_slice(gate->votes[i].given), given) && !PLANTED(form_votes_may_differ))
			return &gate->votes[i];
	return NULL;
}

/* Add the values that were given: "ver=1.2, n=3". */
static void add_given(struct core *core, struct slice given, struct buf *out)
{
	struct rec_job_output output;

	while (job_output_next(&given, &core->outbox->arena, &output)) {
		if (output.value.len == 0)
			continue;
		buf_add_str(out, out->len > 0 ? ", " : "");
		buf_add_slice(out, output.name);
		buf_add_byte(out, '=');
		buf_add_slice(out, output.value);
	}
}

enum err form_given_check(struct core *core, const struct input_act *act, const struct job *job, const struct rec_job_spec *spec,
			  struct error *error)
{
	struct buf why = { 0 }, options = { 0 };
	unsigned long long run = job->run->number;
	int len = (int)spec->name.len;
	const char *name = (const char *)spec->name.data;
	const struct vote *other;

	error->code = ERR_NONE;
	if (act->verb != ACT_APPROVE) {
		if (act->given.n > 0)
			error_set(error, ERR_INVALID, "only an approval can have values for the fields of a gate");
	} else if (!form_check(spec->gate_fields, act->given, &why) && !PLANTED(form_not_checked)) {
		form_options(spec->gate_fields, &options);
		error_set(error, ERR_INVALID, "gate %llu/%.*s wasn't approved: %s", run, len, name, buf_cstr(&why));
		error_next(error, "titan approve %llu/%.*s%s", run, len, name, buf_cstr(&options));
	} else if ((other = other_vote(core, job, act->principal, form_given(core, spec, act->given))) != NULL) {
		add_given(core, blob_slice(other->given), &why);
		error_set(error, ERR_INVALID, "gate %llu/%.*s wasn't approved: an earlier vote gave %s, and all votes must give the same values",
			  run, len, name, why.len > 0 ? buf_cstr(&why) : "no values");
		error_next(error, "titan approvals --all %llu/%.*s", run, len, name);
	}
	buf_free(&why);
	buf_free(&options);
	return error->code;
}
