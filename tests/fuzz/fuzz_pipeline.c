/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a pipeline, and as a titan.conf. What is refused has a place inside the text and can be drawn; what is accepted
 * has jobs whose needs are others of them, in order, or of the run, and that the codec takes.
 */
#include "base/check.h"
#include "lang/conf.h"
#include "lang/pipeline.h"
#include "proto/expr.h"
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
	CHECK((spec.argv.n > 0) + (spec.script.len > 0) + (spec.gate_count > 0) + (spec.sub_name.len > 0) == 1);
	old_run_check_needs(dag, index, &spec);
	CHECK(spec.triggers.n == 0 || spec.triggers.n == spec.needs.n);
	CHECK(spec.group <= index + 1);
	CHECK(spec.needs_code.len == 0 || expr_check(spec.needs_code, spec.needs.n, NULL) == ERR_NONE);
	CHECK(spec.when_code.len == 0 || expr_check(spec.when_code, spec.needs.n, NULL) == ERR_NONE);
	record_encode(&bytes, REC_job_spec, &spec);
	rest = buf_slice(&bytes);
	CHECK(record_decode(REC_job_spec, &rest, &arena, &again, NULL) == ERR_NONE);
	CHECK(slice_eq(spec.name, again.name));
	buf_free(&bytes);
	arena_free(&arena);
}

/* By itself, or to be added to a run. */
static void parse(struct slice text, const struct dag_old *old)
{
	struct slice given[] = { slice_str("ver=1 2") };
	struct arena arena = { 0 };
	struct error error = { .code = ERR_NONE };
	struct pipeline pipeline;
	struct dag_spot spot;
	struct buf out = { 0 };

	if (pipeline_parse_into(text, (struct slice_list){ given, 1 }, old, &arena, &pipeline, &spot, &error) != ERR_NONE) {
		CHECK(error.code != ERR_NONE && error.text[0] != '\0');
		CHECK(spot.at <= text.len);
		if (spot.len > 0)
			dagline_explain(text, "fuzz", &spot, &error, &out);
		CHECK(out.len == 0 || memchr(out.data, '\x1b', out.len) == NULL);
	} else {
		CHECK(pipeline.dag.job_count > 0 && pipeline.dag.job_count <= LIMIT_RUN_JOBS_MAX);
		for (uint64_t i = 0; i < pipeline.dag.job_count && i < JOBS_LOOKED_AT; i++)
			check_job(&pipeline.dag, i);
		check_job(&pipeline.dag, pipeline.dag.job_count - 1);
	}
	buf_free(&out);
	arena_free(&arena);
}

static void parse_conf(struct slice text, enum conf_place place)
{
	struct arena arena = { 0 };
	struct error error = { .code = ERR_NONE };
	struct dag_spot spot;
	struct conf conf;
	struct buf out = { 0 };

	if (conf_parse(text, place, &arena, &conf, &spot, &error) != ERR_NONE) {
		CHECK(error.code != ERR_NONE && error.text[0] != '\0' && spot.at <= text.len);
		dagline_explain(text, "fuzz", &spot, &error, &out);
		CHECK(memchr(out.data, '\x1b', out.len) == NULL);
	}
	for (size_t i = 0; error.code == ERR_NONE && i < CONF_COUNT; i++)
		CHECK(conf.values[i] == NULL || (conf_table[i].places & place));
	buf_free(&out);
	arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse_conf(slice_make(data, size), FROM_PROJECT);
	parse_conf(slice_make(data, size), FROM_USER);
	parse(slice_make(data, size), NULL);
	parse(slice_make(data, size), &old_run);
	return 0;
}
