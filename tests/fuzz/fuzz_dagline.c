/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any text as a one-line graph. A refused text has the place of the mistake within it, which can be printed; an
 * accepted one has jobs whose needs are valid and sorted, and which the codec accepts.
 */
#include "base/check.h"
#include "lang/dagline.h"
#include "proto/limits.h"
#include "tests/fuzz/old_run.h"

#define JOBS_LOOKED_AT 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_job(const struct dagline *dag, uint64_t index)
{
	const struct job_defaults defaults = { 0 };
	struct arena arena = { 0 };
	struct rec_job_spec spec, again;
	struct buf bytes = { 0 };
	struct slice rest;

	dagline_job(dag, index, &defaults, &arena, &spec);
	CHECK(spec.name.len > 0);
	CHECK((spec.argv.n > 0) + (spec.script.len > 0) + (spec.gate_count > 0) == 1);
	old_run_check_needs(dag, index, &spec);
	CHECK(spec.triggers.n == 0 || spec.triggers.n == spec.needs.n);
	record_encode(&bytes, REC_job_spec, &spec);
	rest = buf_slice(&bytes);
	CHECK(record_decode(REC_job_spec, &rest, &arena, &again, NULL) == ERR_NONE);
	CHECK(slice_eq(spec.name, again.name));
	buf_free(&bytes);
	arena_free(&arena);
}

/* Parse the text as a graph of its own, or with old as one that is added to a run. */
static void parse(struct slice text, const struct dag_old *old)
{
	struct arena arena = { 0 };
	struct error error = { .code = ERR_NONE };
	struct dagline dag;
	struct dag_spot spot;
	struct buf out = { 0 };

	if (dagline_parse_into(text, old, &arena, &dag, &spot, &error) != ERR_NONE) {
		CHECK(error.code != ERR_NONE && error.text[0] != '\0');
		CHECK(spot.at <= text.len && spot.len > 0);
		dagline_explain(text, "-e", &spot, &error, &out);
		CHECK(memchr(out.data, '\x1b', out.len) == NULL);
	} else {
		CHECK(dag.job_count > 0 && dag.job_count <= LIMIT_RUN_JOBS_MAX);
		for (uint64_t i = 0; i < dag.job_count && i < JOBS_LOOKED_AT; i++)
			check_job(&dag, i);
		check_job(&dag, dag.job_count - 1);
	}
	buf_free(&out);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(slice_make(data, size), NULL);
	parse(slice_make(data, size), &old_run);
	return 0;
}
