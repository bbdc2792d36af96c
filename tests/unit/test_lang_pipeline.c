/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pipelines in YAML: the jobs that they become, and the places that errors point at. */
#include <inttypes.h>
#include <stdio.h>

#include "greatest.h"
#include "lang/pipeline.h"
#include "proto/expr.h"
#include "proto/limits.h"

static struct arena arena;
static struct pipeline pipeline;
static struct dag_spot spot;
static struct error error;

static enum err parse_with(const char *text, const char *one, const char *other)
{
	struct slice given[] = { slice_str(one), slice_str(other) };

	arena_free(&arena);
	error = (struct error){ 0 };
	return pipeline_parse(slice_str(text), (struct slice_list){ given, (one != NULL) + (other != NULL) }, &arena,
			      &pipeline, &spot, &error);
}

static enum err parse(const char *text)
{
	return parse_with(text, NULL, NULL);
}

static struct rec_job_spec job(uint64_t index)
{
	const struct job_defaults defaults = { 0 };
	struct rec_job_spec spec;

	dagline_job(&pipeline.dag, index, &defaults, &arena, &spec);
	return spec;
}

/* Draw all jobs as "name<-parent,parent:failed name2<-..", or return the error. */
static const char *drawn(const char *text)
{
	static char out[4096];
	static const char *const triggers[] = { "", ":failed", ":done", "?" };
	size_t used = 0;

	if (parse(text) != ERR_NONE)
		return error.text;
	for (uint64_t i = 0; i < pipeline.dag.job_count; i++) {
		struct rec_job_spec spec = job(i);

		used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s", i ? " " : "", (int)spec.name.len,
					 (const char *)spec.name.data);
		for (size_t k = 0; k < spec.needs.n; k++) {
			struct rec_job_spec parent = job(spec.needs.at[k]);

			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s%s", k ? "," : "<-",
						 (int)parent.name.len, (const char *)parent.name.data,
						 spec.triggers.n ? triggers[spec.triggers.at[k]] : "");
		}
	}
	return out;
}

static bool is(struct slice text, const char *wanted)
{
	return slice_eq(text, slice_str(wanted));
}

#define A "jobs:\n  a: {run: x}\n"

TEST needs_in_every_form(void)
{
	ASSERT_STR_EQ("a b<-a", drawn(A "  b: {run: x, needs: a}\n"));
	ASSERT_STR_EQ("a b<-a", drawn(A "  b: {run: x, needs: [a]}\n"));
	ASSERT_STR_EQ("a b<-a", drawn(A "  b: {run: x, depends: [a]}\n"));
	ASSERT_STR_EQ("a b<-a", drawn(A "  b: {run: x, depends_on: [a]}\n"));
	ASSERT_STR_EQ("a b<-a", drawn(A "  b: {run: x, parents: [a]}\n"));
	ASSERT_STR_EQ("a b<-a", drawn(A "  b: {run: x, needs: [a, a.ok]}\n"));
	ASSERT_STR_EQ("a b<-a:failed", drawn(A "  b: {run: x, needs: [a.failed]}\n"));
	ASSERT_STR_EQ("a b c<-a,b:done", drawn(A "  b: {run: x}\n  c: {run: x, needs: {a: ok, b: done}}\n"));
	ASSERT_STR_EQ("a b c<-a,b:done", drawn(A "  b: {run: x}\n  c: {run: x, needs: \"a.ok && b.done\"}\n"));
	ASSERT_STR_EQ("a b c<-a,b:done", drawn(A "  b: {run: x}\n  c: {run: x, needs: [a.ok && b.done]}\n"));
	ASSERT_STR_EQ("a b<-a:done", drawn(A "  b: {run: x, needs: [a], always: true}\n"));
	/* a job may need a later one, and a job's name may look like the name of a result */
	ASSERT_STR_EQ("b<-a a", drawn("jobs:\n  b: {run: x, needs: a}\n  a: {run: x}\n"));
	ASSERT_STR_EQ("a.failed b<-a.failed", drawn("jobs:\n  a.failed: {run: x}\n  b: {run: x, needs: a.failed}\n"));
	PASS();
}

TEST the_final_ones_wait_for_all(void)
{
	ASSERT_STR_EQ("a b<-a f<-a:done,b:done", drawn(A "  b: {run: x, needs: a}\nfinally: {f: {run: x}}\n"));
	ASSERT_STR_EQ("a f<-a:done g<-a:done,f:done",
		      drawn("finally: {f: {run: x}, g: {run: x, needs: f}}\n" A));
	ASSERT_STR_EQ("a b f<-a:failed,b:done",
		      drawn(A "  b: {run: x}\nfinally:\n  f: {run: x, needs: {a: failed}}\n"));
	PASS();
}

TEST what_a_job_says(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse("name: deploy\n"
				  "concurrency: {max_jobs: 64}\n"
				  "env: {LANG: C.UTF-8}\n"
				  "defaults: {retry: {max: 2, backoff: 5s}, timeout: 10m, priority: 7, mode: exclusive,"
				  " worker: {labels: [big]}}\n"
				  "jobs:\n"
				  "  a:\n"
				  "    command: [ls, -l, 'a b']\n"
				  "    env: {X: '1', Y: a=b}\n"
				  "    dir: /tmp\n"
				  "    delay: 3s\n"
				  "    not_before: 2026-11-18T14:02:30Z\n"
				  "    retry: 0\n"
				  "    worker: {labels: [gpu, fast]}\n"
				  "    priority: 0\n"
				  "  b: {command: ls -l, mode: once, timeout: 1s}\n"
				  "  c:\n    run: |\n      echo one\n      echo $HOME ${HOME}\n"));
	ASSERT(is(pipeline.name, "deploy"));
	ASSERT_EQ_FMT(UINT64_C(64), pipeline.max_jobs, "%" PRIu64);
	spec = job(0);
	ASSERT_EQ_FMT((size_t)3, spec.argv.n, "%zu");
	ASSERT(is(spec.argv.at[2], "a b"));
	ASSERT_EQ_FMT((size_t)2, spec.env.n, "%zu");
	ASSERT(is(spec.env.at[0], "X=1") && is(spec.env.at[1], "Y=a=b"));
	ASSERT(pipeline.dag.env.n == 1 && is(pipeline.dag.env.at[0], "LANG=C.UTF-8"));
	ASSERT(is(spec.dir, "/tmp"));
	ASSERT_EQ_FMT(UINT64_C(3000), spec.delay_ms, "%" PRIu64);
	ASSERT_EQ_FMT(INT64_C(1795010550000), spec.not_before_ms, "%" PRId64);
	ASSERT_EQ_FMT(UINT64_C(0), spec.retry_max, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(5000), spec.backoff_ms, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(600000), spec.timeout_ms, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(1), spec.priority, "%" PRIu64);
	ASSERT_EQ(EXEC_EXCLUSIVE, spec.mode);
	ASSERT(spec.labels.n == 2 && is(spec.labels.at[0], "gpu") && is(spec.labels.at[1], "fast"));
	spec = job(1);
	ASSERT(spec.argv.n == 2 && spec.mode == EXEC_ONCE && spec.retry_max == 0 && spec.timeout_ms == 1000);
	ASSERT(spec.labels.n == 1 && is(spec.labels.at[0], "big"));
	spec = job(2);
	ASSERT(is(spec.script, "echo one\necho $HOME ${HOME}\n"));
	ASSERT_EQ_FMT(UINT64_C(2), spec.retry_max, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(8), spec.priority, "%" PRIu64);
	PASS();
}

/*
 * A job with its own retry takes the default's codes; one that lists outcomes to retry takes no codes of the default.
 */
TEST default_retry_codes_hold_for_jobs_that_say_none(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse("defaults: {retry: {max: 4, codes: [75, 11]}}\n"
				  "jobs:\n"
				  "  a: {run: x}\n"
				  "  b: {run: x, retry: 2}\n"
				  "  c: {run: x, retry: {codes: [3]}}\n"
				  "  d: {run: x, retry: {on: [signal]}}\n"));
	for (uint64_t i = 0; i < 2; i++) {
		spec = job(i);
		ASSERT_EQ_FMT(i == 0 ? UINT64_C(4) : UINT64_C(2), spec.retry_max, "%" PRIu64);
		ASSERT(spec.retry_codes.n == 2 && spec.retry_codes.at[0] == 11 && spec.retry_codes.at[1] == 75);
	}
	spec = job(2);
	ASSERT(spec.retry_max == 4 && spec.retry_codes.n == 1 && spec.retry_codes.at[0] == 3);
	spec = job(3);
	ASSERT(spec.retry_max == 4 && spec.retry_codes.n == 0 && spec.retry_on == RETRY_ON_SIGNAL);
	PASS();
}

TEST what_becomes_of_failures(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse("defaults: {retry: {max: 4, backoff: 1s..1m, jitter: false, on: [timeout]},"
				  " crash_limit: 7, on_worker_death: kill}\n"
				  "jobs:\n"
				  "  a:\n"
				  "    run: x\n"
				  "    retry: {max: 3, backoff: 5s..2m, jitter: true, on: [exit, timeout], codes: [75, 1, 75]}\n"
				  "    crash_limit: 2\n"
				  "    continue_on: [failed, denied]\n"
				  "    on_worker_death: adopt\n"
				  "  b: {run: x}\n"
				  "  c: {run: x, retry: 2, continue_on: timed_out}\n"
				  "  d: {run: x, retry: {backoff: 5s}, mode: once}\n"));
	spec = job(0);
	ASSERT_EQ_FMT(UINT64_C(3), spec.retry_max, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(5000), spec.backoff_ms, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(120000), spec.backoff_max_ms, "%" PRIu64);
	ASSERT(!spec.backoff_exact);
	ASSERT_EQ(RETRY_ON_EXIT | RETRY_ON_TIMEOUT, spec.retry_on);
	ASSERT(spec.retry_codes.n == 2 && spec.retry_codes.at[0] == 1 && spec.retry_codes.at[1] == 75);
	ASSERT_EQ_FMT(UINT64_C(2), spec.crash_limit, "%" PRIu64);
	ASSERT_EQ(CONTINUE_FAILED | CONTINUE_DENIED, spec.continue_on);
	ASSERT_EQ(DEATH_ADOPT, spec.worker_death);
	spec = job(1);
	ASSERT(spec.retry_max == 4 && spec.backoff_ms == 1000 && spec.backoff_max_ms == 60000 && spec.backoff_exact);
	ASSERT(spec.retry_on == RETRY_ON_TIMEOUT && spec.crash_limit == 7 && spec.worker_death == DEATH_KILL);
	spec = job(2);
	ASSERT(spec.retry_max == 2 && spec.backoff_ms == 1000 && spec.continue_on == CONTINUE_TIMED_OUT);
	spec = job(3);
	ASSERT(spec.retry_max == 0 && spec.backoff_ms == 5000 && spec.backoff_max_ms == 0);
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, retry: {backoff: 2m..5s}}}"));
	ASSERT(strstr(error.text, "shorter than the first") != NULL);
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, retry: {backoff: 5s..}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, retry: {backoff: ..5s}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, retry: {on: [exits]}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, retry: {codes: [0]}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, retry: {on: [signal], codes: [1]}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, crash_limit: 0}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, continue_on: [skipped]}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, on_worker_death: live}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, log: everything}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, log: {max: 1048577M}}}"));
	ASSERT_EQ(ERR_NONE, parse("jobs: {a: {run: x, log: {max: 1T}}}"));
	ASSERT_EQ(ERR_NONE, parse("defaults: {log: 1M}\njobs: {a: {run: x, log: lossless}, b: {run: x, log: {max: 5K}}, c: {run: x}}"));
	ASSERT(job(0).log_max == LOG_LOSSLESS && job(1).log_max == 5120 && job(2).log_max == 1048576);
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("jobs: {a: {run: x, retry: {times: 3}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {approval: {count: 1}, crash_limit: 3}}"));
	ASSERT_EQ(ERR_NONE, parse("jobs: {a: {approval: {count: 1}, continue_on: [denied]}}"));
	PASS();
}

TEST loops(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse("params: {want: 3}\njobs:\n"
				  "  a: {run: x, loop: {until: \"code == ${params.want} || !ok\", max: 10, delay: 5s, on_max: ok}}\n"
				  "  b: {run: x, loop: {until: timed_out, max: 1}}\n"
				  "  ok: {run: x, needs: b}\n"));
	spec = job(0);
	ASSERT(spec.loop_max == 10 && spec.loop_delay_ms == 5000 && spec.loop_on_max == LOOP_MAX_OK);
	ASSERT(slice_eq(spec.loop_until, slice_str("code == 3 || !ok")));
	ASSERT_EQ(ERR_NONE, expr_check(spec.loop_code, 1, &error));
	ASSERT_EQ(0, spec.needs.n);
	spec = job(1);
	ASSERT(spec.loop_max == 1 && spec.loop_delay_ms == 0 && spec.loop_on_max == LOOP_MAX_FAIL);
	ASSERT(slice_eq(spec.loop_until, slice_str("timed_out")));
	ASSERT_EQ(0, job(2).loop_max);
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, loop: {until: ok}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, loop: {max: 2}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, loop: {until: ok, max: 0}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, loop: {until: ok, max: 100001}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, loop: {until: ok, max: 2, on_max: stop}}}"));
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("jobs: {a: {run: x, loop: {until: b, max: 2}}, b: {run: x}}"));
	ASSERT_EQ(ERR_SYNTAX, parse("jobs: {a: {run: x, loop: {until: code, max: 2}}}"));
	ASSERT_EQ(ERR_SYNTAX, parse("jobs: {a: {run: x, loop: {until: a.code == 2, max: 2}}}"));
	ASSERT_EQ(ERR_SYNTAX, parse("jobs: {a: {run: x, loop: {until: \"ok:failed\", max: 2}}}"));
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("jobs: {a: {run: x, loop: {until: ok, max: 2, times: 3}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {run: x, mode: once, loop: {until: ok, max: 2}}}"));
	ASSERT_EQ(ERR_INVALID, parse("defaults: {mode: once}\njobs: {a: {run: x, loop: {until: ok, max: 2}}}"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {a: {approval: {count: 1}, loop: {until: ok, max: 2}}}"));
	PASS();
}

TEST parameters(void)
{
	static const char text[] = "params:\n  ver: {required: true}\n  env: {enum: [stg, prod], default: stg}\n  n: 3\n"
				   "jobs:\n  a: {run: \"echo ${params.ver} ${params.env} $ver\", retry: \"${params.n}\"}\n"
				   "  b: {command: [x, \"${params.ver}\"]}\n";

	ASSERT_EQ(ERR_INVALID, parse(text));
	ASSERT_STR_EQ("give its value with -p ver=VALUE", error.next);
	ASSERT_EQ(ERR_NONE, parse_with(text, "ver=1 '${params.env}'", "n=4"));
	ASSERT(is(job(0).script, "echo \"${TITAN_P_ver}\" \"${TITAN_P_env}\" $ver"));
	/* a value isn't searched for references */
	ASSERT(is(job(0).env.at[0], "TITAN_P_ver=1 '${params.env}'") && is(job(0).env.at[1], "TITAN_P_env=stg"));
	ASSERT_EQ_FMT(UINT64_C(4), job(0).retry_max, "%" PRIu64);
	ASSERT(is(job(1).argv.at[1], "1 '${params.env}'"));
	ASSERT_EQ(ERR_NONE, parse_with(text, "ver=1", "ver="));
	ASSERT(is(job(0).env.at[0], "TITAN_P_ver="));
	ASSERT_EQ(ERR_INVALID, parse_with(text, "ver=1", "env=x"));
	ASSERT_EQ_FMT((size_t)0, spot.len, "%zu");
	ASSERT_EQ(ERR_USAGE, parse_with(text, "ver=1", "nope=x"));
	ASSERT_EQ(ERR_USAGE, parse_with(text, "ver=1", "=x"));
	ASSERT_EQ(ERR_USAGE, parse_with(text, "ver=1", "x"));
	PASS();
}

TEST matrices(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse_with("params: {p: ''}\nenv: {T: '$x'}\ndefaults: {worker: {labels: [big]}}\n"
				  "jobs:\n"
				  "  z: {run: z}\n"
				  "  m:\n"
				  "    matrix: {os: [deb, bsd], n: [1, 2, 3], max_parallel: 2, fail_fast: true}\n"
				  "    run: ./m ${matrix.os} \"${matrix.n}\" ${params.p}\n"
				  "    env: {OS: \"${matrix.os}\"}\n"
				  "    dir: /tmp/${matrix.os}\n"
				  "    needs: z\n"
				  "  w: {command: [x, \"${matrix.l}\"], matrix: {l: [a, b]}, worker: {labels: [\"on-${matrix.l}\"]}}\n"
				  "  e: {run: x, needs: m}\n", "p=${matrix.os}", NULL));
	ASSERT_EQ_FMT(UINT64_C(10), pipeline.dag.job_count, "%" PRIu64);
	spec = job(1);
	ASSERT(is(spec.name, "m[0]") && spec.argv.n == 4 && is(spec.argv.at[0], "./m") && is(spec.argv.at[1], "deb"));
	ASSERT(is(spec.argv.at[2], "1") && is(spec.argv.at[3], "${matrix.os}"));
	ASSERT(spec.group == 2 && spec.group_parallel == 2 && spec.group_fail_fast);
	ASSERT(spec.labels.n == 1 && is(spec.labels.at[0], "big"));
	spec = job(5);
	ASSERT(is(spec.name, "m[4]") && is(spec.argv.at[1], "bsd") && is(spec.argv.at[2], "2"));
	ASSERT(is(pipeline.dag.env.at[0], "T=$x"));
	ASSERT(is(spec.env.at[0], "OS=bsd") && is(spec.env.at[1], "TITAN_INDEX=4"));
	ASSERT(is(spec.dir, "/tmp/bsd"));
	spec = job(8);
	ASSERT(is(spec.argv.at[1], "b") && is(spec.labels.at[0], "on-b") && spec.group == 0);
	ASSERT_EQ_FMT((size_t)6, job(9).needs.n, "%zu");
	PASS();
}

TEST gates(void)
{
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse("defaults: {retry: 2, timeout: 5m}\n" A
				  "  qa:\n    needs: a\n    approval: {count: 2, from: [ann, bob], timeout: 30m,"
				  " on_timeout: approve, message: \"Is it good?\"}\n"));
	spec = job(1);
	ASSERT(spec.gate_count == 2 && spec.gate_from.n == 2 && spec.gate_timeout_ms == 1800000);
	ASSERT(spec.gate_expiry == GATE_APPROVE && is(spec.gate_message, "Is it good?"));
	ASSERT(spec.retry_max == 0 && spec.timeout_ms == 0 && spec.argv.n == 0 && spec.script.len == 0);
	ASSERT_EQ(ERR_NONE, parse("jobs: {qa: {approval: {}}}\n"));
	ASSERT_EQ_FMT(UINT64_C(1), job(0).gate_count, "%" PRIu64);
	ASSERT_EQ(ERR_NONE, parse("jobs: {qa: {approval: {count: 2, from: [@release, '@qa', cid]}}, m: {run: 'echo é @x'}}\n"));
	ASSERT(job(0).gate_from.n == 3 && is(job(0).gate_from.at[0], "@release") && is(job(0).gate_from.at[1], "@qa"));
	ASSERT_EQ(ERR_NONE, parse("jobs: {qa: {approval: {from: @release, message: 'é @release'}}}\n"));
	ASSERT(is(job(0).gate_from.at[0], "@release") && is(job(0).gate_message, "é @release"));
	ASSERT_EQ(ERR_INVALID, parse("jobs: {qa: {approval: {from: ['@re lease']}}}\n"));
	ASSERT_STR_EQ("a team must be given as @NAME, with letters, digits and _ . -", error.text);
	ASSERT_EQ(ERR_DUPLICATE, parse("jobs: {qa: {approval: {from: [@a, @a]}}}\n"));
	PASS();
}

/* The job's needs and condition as expression code in words. */
static const char *coded(const char *text, uint64_t index)
{
	static char out[512];
	static const char *const ops[] = { "", "true", "false", "state", "code", "not", "gate" };
	size_t used = 0;
	struct rec_job_spec spec;
	struct expr_step step;

	if (parse(text) != ERR_NONE)
		return error.text;
	spec = job(index);
	for (int round = 0; round < 2; round++) {
		struct slice code = round ? spec.when_code : spec.needs_code;

		if (code.len > 0 && expr_check(code, spec.needs.n, &error) != ERR_NONE)
			return error.text;
		if (round)
			used += (size_t)snprintf(out + used, sizeof(out) - used, "/ ");
		while (expr_next(&code, &step))
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s ", ops[step.op]);
	}
	return out;
}

#define ABC "jobs:\n  a: {run: x}\n  b: {run: x}\n  c: {run: x, matrix: {i: [1, 2]}}\n"

TEST conditions_become_code(void)
{
	ASSERT_STR_EQ("state state state gate gate not gate / ", coded(ABC "  d: {run: x, needs: \"a && !(b || c)\"}\n", 4));
	ASSERT_STR_EQ("/ code state gate not gate ", coded(ABC "  d: {run: x, when: \"a.code == 3 && !c:failed\"}\n", 4));
	ASSERT_STR_EQ("state state gate / ", coded(ABC "  d: {run: x, needs: {any: 2, of: [a, c]}}\n", 4));
	ASSERT_STR_EQ("/ code not ", coded(ABC "  d: {run: x, when: a.code != 3}\n", 4));
	ASSERT_STR_EQ("/ false not ", coded("params: {p: y}\n" ABC "  d: {run: x, when: \"${params.p} != 'x'\"}\n", 4));
	PASS();
}

TEST conditions_become_edges(void)
{
	ASSERT_STR_EQ("a b c[0] c[1] d<-a?,b?,c[0]?,c[1]?", drawn(ABC "  d: {run: x, needs: \"a && !(b || c)\"}\n"));
	ASSERT_STR_EQ("a b c[0] c[1] d<-a:done,b", drawn(ABC "  d: {run: x, needs: [a, b], when: a.code == 3}\n"));
	ASSERT_STR_EQ("a b c[0] c[1] d<-a,b", drawn(ABC "  d: {run: x, needs: [a.ok, b], when: a.code == 3}\n"));
	ASSERT_STR_EQ("a b c[0] c[1] d<-a?,b", drawn(ABC "  d: {run: x, needs: b, when: a.code == 3}\n"));
	ASSERT_STR_EQ("a b c[0] c[1] d<-a,b:failed", drawn(ABC "  d: {run: x, needs: \"a && b:failed\"}\n"));
	ASSERT_STR_EQ("a b c[0] c[1] d<-a,c[0],c[1]", drawn(ABC "  d: {run: x, needs: {all: [a, c]}}\n"));
	ASSERT_STR_EQ("a b<-a:done", drawn("jobs:\n  a: {run: x}\nfinally:\n  b: {run: x, when: a:failed}\n"));
	ASSERT_EQ(ERR_NONE, parse("params: {p: \"x' || 'y\"}\n" ABC "  d: {run: x, when: \"'${params.p}' == 'x'\"}\n"));
	ASSERT_STR_EQ("'x' || 'y' == 'x'", arena_strdup(&arena, job(4).when));
	PASS();
}

struct bad {
	const char *text;
	unsigned line, column;
	enum err code;
	const char *words;
};

static const struct bad bad_ones[] = {
	{ "", 1, 1, ERR_INVALID, "the pipeline is empty" },
	{ "jobs", 1, 1, ERR_INVALID, "a pipeline must be a map, not a text" },
	{ "name: x\n", 1, 1, ERR_INVALID, "has no jobs" },
	{ "jobs: {}\n", 1, 7, ERR_INVALID, "has no jobs" },
	{ "jobs:\n", 1, 6, ERR_INVALID, "jobs must be a map, but it is empty" },
	{ "jobs: [a]\n", 1, 7, ERR_INVALID, "jobs must be a map, not a list" },
	{ "jobs:\n  a: {run: x}\n  a: {run: y}\n", 3, 3, ERR_DUPLICATE, "key 'a' is given twice" },
	{ A "job: {}\n", 3, 1, ERR_UNKNOWN_NAME, "unknown key 'job'" },
	{ A "on: push\n", 3, 1, ERR_UNKNOWN_NAME, "unknown key 'on'" },
	{ "jobs:\n  a:\n    rnu: x\n", 3, 5, ERR_UNKNOWN_NAME, "unknown key 'rnu'" },
	{ "jobs:\n  a:\n    run: x\n    worker: {labels: ['']}\n", 4, 23, ERR_INVALID, "'' has no key; write KEY" },
	{ "jobs:\n  a:\n    run: x\n    env: {TITAN_X: y}\n", 4, 11, ERR_INVALID, "names that begin with TITAN_ are reserved for titan" },
	{ "jobs:\n  a: make\n", 2, 6, ERR_INVALID, "a job must be a map, not a text" },
	{ "jobs:\n  a: {needs: []}\n", 2, 3, ERR_INVALID, "' needs one of run, command, pipeline and approval" },
	{ "jobs:\n  a b: {run: x}\n", 2, 3, ERR_INVALID, "the name of a job may only have letters, digits and _ . -, and must begin with a letter, a digit or _" },
	{ "jobs:\n  a: {run: ''}\n", 2, 12, ERR_INVALID, "run is empty" },
	{ "jobs:\n  a: {run: ~}\n", 2, 12, ERR_INVALID, "must be a text, but it is empty; to give the word itself, put it in quotes" },
	{ "jobs:\n  a: {run: [x]}\n", 2, 12, ERR_INVALID, "run must be a text, not a list" },
	{ "jobs:\n  a: {run: x, command: y}\n", 2, 24, ERR_INVALID, "a job can't have both run and command" },
	{ "jobs:\n  a: {command: 'x | y'}\n", 2, 16, ERR_INVALID, "needs a shell" },
	{ "jobs:\n  a: {command: []}\n", 2, 16, ERR_INVALID, "command must have 1 to 4096 entries, not 0" },
	{ A "  b: {run: x, needs: [aa]}\n", 3, 23, ERR_UNKNOWN_NAME, "job 'b' needs 'aa', which does not exist" },
	{ A "  b: {run: x, needs: [a.bad]}\n", 3, 25, ERR_UNKNOWN_NAME, "'; it must be ok, failed, done, cancelled, skipped, timed_out or denied" },
	{ A "  b: {run: x, needs: {a: bad}}\n", 3, 26, ERR_UNKNOWN_NAME, "'; it must be ok, failed, done, cancelled, skipped, timed_out or denied" },
	{ A "  b: {run: x, needs: a | a}\n", 3, 24, ERR_SYNTAX, "&& or || is expected" },
	{ A "  b: {run: x, needs: a &&}\n", 3, 26, ERR_SYNTAX, "missing at the end" },
	{ A "  b: {run: x, needs: (a}\n", 3, 22, ERR_SYNTAX, "isn't closed" },
	{ A "  b: {run: x, needs: 'a[1]'}\n", 3, 24, ERR_SYNTAX, "a condition must name the whole fan-out, not one of its jobs" },
	{ A "  b: {run: x, needs: 'a && (a[1]:failed || a)'}\n", 3, 30, ERR_SYNTAX, "a condition must name the whole fan-out, not one of its jobs" },
	{ "jobs:\n  a: {run: x, loop: {until: 'ok[0]', max: 2}}\n", 2, 32, ERR_SYNTAX, "&& or || is expected here" },
	{ A "  b: {run: x, needs: a ||}\n", 3, 26, ERR_SYNTAX, "missing at the end" },
	{ A "  b: {run: x, needs: 'a || !c'}\n", 3, 29, ERR_UNKNOWN_NAME, "needs 'c', which does not exist" },
	{ A "  b: {run: x, needs: {any: 2, of: [a]}}\n", 3, 28, ERR_INVALID, "expected a number from 1 to 1, not '2'" },
	{ A "schedule: {cron: '0 3 * * *', tz: ../../etc/passwd}\n", 3, 35, ERR_INVALID, "time zone '../../etc/passwd' isn't installed here (package tzdata)" },
	{ A "  b: {run: x, needs: {any: 1, of: []}}\n", 3, 35, ERR_INVALID, "the list under of is empty" },
	{ A "  b: {run: x, when: a.code}\n", 3, 21, ERR_SYNTAX, "compared with a number: a.code == 0" },
	{ A "  b: {run: x, when: a.code == x}\n", 3, 31, ERR_INVALID, "from 0 to 255, not 'x'" },
	{ A "  b: {run: x, when: a.code == 256}\n", 3, 31, ERR_INVALID, "from 0 to 255, not '256'" },
	{ A "  b: {run: x, when: a.code ==}\n", 3, 30, ERR_SYNTAX, "the value to compare with is missing at the end" },
	{ A "  b: {run: x, loop: {until: 'ok &&', max: 2}}\n", 3, 35, ERR_SYNTAX, "a result of the pass (ok, failed or timed_out) is missing" },
	{ A "  b: {run: x, timeout: 0s}\n", 3, 24, ERR_INVALID, "' is too short; the shortest time is 1ms" },
	{ A "  b: {run: x, needs: c}\n  d: {run: x}\n", 3, 22, ERR_UNKNOWN_NAME, "'c', which does not exist" },
	{ A "  b: {run: x, when: c.code == 1}\n", 3, 21, ERR_UNKNOWN_NAME, "needs 'c'" },
	{ A "  b: {run: x, when: b.code == 1}\n", 3, 21, ERR_CYCLE, "needs itself" },
	{ A "  b: {run: x, when: \"'x' < 'y'\"}\n", 3, 22, ERR_INVALID, "only numbers can be compared with < or >, not '" },
	{ A "  b: {run: x, when: \"'x'\"}\n", 3, 22, ERR_SYNTAX, "== or != is missing" },
	{ A "  b: {run: x, when: prod == 'prod'}\n", 3, 21, ERR_SYNTAX, "put a text in quotes" },
	{ A "  b: {run: x, when: [a]}\n", 3, 21, ERR_INVALID, "when must be a text, not a list" },
	{ A "  b: {run: x, when: a}\n  c: {run: x, when: \"d\"}\n  d: {run: x, when: c}\n", 4, 3, ERR_CYCLE, "c -> d -> c" },
	{ "jobs:\n  a: {run: x, matrix: {b: [1, 2]}}\n  c: {run: x, when: a.code == 1}\n", 3, 21, ERR_INVALID, "is a fan-out" },
	{ A "  b: {run: x, needs: a, parents: a}\n", 3, 34, ERR_DUPLICATE, "give either needs or parents, not both" },
	{ A "  b: {run: x, needs: [a, a.failed]}\n", 3, 26, ERR_INVALID, "two different results of 'a'" },
	{ A "  b: {run: x, needs: b}\n", 3, 22, ERR_CYCLE, "needs itself" },
	{ A "  b: {run: x, needs: c}\n  c: {run: x, needs: b}\n", 3, 3, ERR_CYCLE, "b -> c -> b" },
	{ "jobs:\n  a: {run: x, retry: many}\n", 2, 22, ERR_INVALID, "expected a number from 0 to 1000, not 'many'" },
	{ "jobs:\n  a: {run: x, retry: {maximum: 2}}\n", 2, 23, ERR_UNKNOWN_NAME, "unknown key 'maximum'" },
	{ "jobs:\n  a: {run: x, timeout: 5 minutes}\n", 2, 24, ERR_INVALID, "expected a time span (500ms, 30s, 5m, 2h, 1d), not '5 minutes'" },
	{ "jobs:\n  a: {run: x, priority: 101}\n", 2, 25, ERR_INVALID, "expected a number from 0 to 100, not '101'" },
	{ "jobs:\n  a: {run: x, mode: twice}\n", 2, 21, ERR_INVALID, "retry, exclusive or once" },
	{ "jobs:\n  a: {run: x, mode: once, retry: 1}\n", 2, 34, ERR_INVALID, "can't be retried" },
	{ "jobs:\n  a: {run: x, dir: tmp}\n", 2, 20, ERR_INVALID, "dir must be an absolute path, because the job may run on another machine" },
	{ "jobs:\n  a: {run: x, env: {1A: x}}\n", 2, 21, ERR_INVALID, "the name of a variable may have letters, digits and _, and can't begin with a digit" },
	{ "jobs:\n  a: {run: x, env: [A=x]}\n", 2, 20, ERR_INVALID, "env must be a map, not a list" },
	{ "jobs:\n  a: {run: x, not_before: tomorrow}\n", 2, 27, ERR_INVALID, "a time in UTC" },
	{ "jobs:\n  a: {run: x, always: yes}\n", 2, 23, ERR_INVALID, "true or false" },
	{ "jobs:\n  a: {run: x, worker: {labels: [a b]}}\n", 2, 33, ERR_INVALID, "'a b' isn't a requirement on labels" },
	{ "jobs:\n  a: {run: x, worker: {cpu: 2}}\n", 2, 24, ERR_UNKNOWN_NAME, "unknown key 'cpu'" },
	{ "jobs:\n  a: {run: x, cpus: two}\n", 2, 21, ERR_INVALID, "a number of cpus" },
	{ "jobs:\n  a: {run: x, cpus: 0}\n", 2, 21, ERR_INVALID, "a number of cpus" },
	{ "jobs:\n  a: {run: x, memory: 4Q}\n", 2, 23, ERR_INVALID, "an amount of memory" },
	{ "jobs:\n  a: {run: x, gpus: 0.5}\n", 2, 21, ERR_INVALID, "expected a number of at least 1" },
	{ "jobs:\n  a: {run: x, cpus: 1, worker: {cpus: 2}}\n", 2, 21, ERR_DUPLICATE, "cpus is given twice" },
	{ "jobs:\n  a: {run: x, resources: {cpus: 2}}\n", 2, 27, ERR_INVALID, "' is a key of the job, not of its resources" },
	{ "jobs:\n  a: {run: x, resources: {a b: 2}}\n", 2, 27, ERR_INVALID, "the name of a resource may have letters, digits and _ . -, at most" },
	{ "jobs:\n  a: {run: x, pool: {hard: true}}\n", 2, 21, ERR_INVALID, "pool needs a name: pool: {name: NAME, hard: true}" },
	{ "jobs:\n  a: {run: x, affinity: child}\n", 2, 25, ERR_INVALID, "parent or sticky" },
	{ "jobs:\n  a: {run: x, affinity: {hard: true}}\n", 2, 25, ERR_INVALID, "affinity needs the key to: affinity: {to: parent, hard: true}" },
	{ "jobs:\n  a: {approval: {}, cpus: 1}\n", 2, 21, ERR_INVALID, "a job with approval can't run anything: the key 'cpus' has no effect there" },
	{ "jobs:\n  a: {approval: {}, run: x}\n", 2, 21, ERR_INVALID, "a job with approval can't run anything: the key 'run' has no effect there" },
	{ "jobs:\n  a: {pipeline: b.yaml, run: x}\n", 2, 25, ERR_INVALID, "a job with pipeline can't run anything else: the key 'run' has no effect there" },
	{ "jobs:\n  a: {pipeline: b.yaml, env: {X: y}}\n", 2, 25, ERR_INVALID, "a job with pipeline can't run anything else: the key 'env' has no effect there" },
	{ "jobs:\n  a: {pipeline: b.yaml, locks: [x]}\n", 2, 25, ERR_INVALID, "a job with pipeline can't run anything else: the key 'locks' has no effect there" },
	{ "jobs:\n  a: {pipeline: b.yaml, approval: {}}\n", 2, 7, ERR_INVALID, "a job with approval can't run anything: the key 'pipeline' has no effect there" },
	{ "jobs:\n  a: {pipeline: ''}\n", 2, 17, ERR_INVALID, "pipeline must be the name of a file" },
	{ "jobs:\n  a: {run: x, params: {y: z}}\n", 2, 23, ERR_INVALID, "a job can have params only together with pipeline" },
	{ "jobs:\n  a: {pipeline: b.yaml, params: {'y z': 1}}\n", 2, 34, ERR_INVALID, "the name of a parameter may only have letters, digits and _ . -" },
	{ "jobs:\n  a: {pipeline: b.yaml, params: {y: '${params.q}'}}\n", 2, 38, ERR_UNKNOWN_NAME, "unknown parameter 'q'" },
	{ "jobs:\n  a: {pipeline: b.yaml, params: [y]}\n", 2, 33, ERR_INVALID, "params must be a map, not a list" },
	{ "jobs:\n  a: {approval: {count: 2, from: [ann]}}\n", 2, 17, ERR_INVALID, "2 people must approve, but from lists only 1" },
	{ "jobs:\n  a: {approval: {on_timeout: reject}}\n", 2, 30, ERR_INVALID, "without a timeout" },
	{ "jobs:\n  a: {run: x, matrix: {}}\n", 2, 23, ERR_INVALID, "at least one axis" },
	{ "jobs:\n  a: {run: x, matrix: {b: 1}}\n", 2, 27, ERR_INVALID, "an axis of a matrix must be a list, not a text" },
	{ "jobs:\n  a: {run: \"x ${matrix.c}\", matrix: {b: [1]}}\n", 2, 15, ERR_UNKNOWN_NAME, "the matrix of this job has no 'c'" },
	{ "jobs:\n  a:\n    run: x ${matrix.c}\n", 3, 12, ERR_UNKNOWN_NAME, "} can't be used here: the job has no matrix" },
	{ "jobs:\n  a:\n    run: x ${run.id}\n", 3, 12, ERR_UNKNOWN_NAME, "TITAN_RUN" },
	{ "jobs:\n  a:\n    run: x ${params.p} y\n", 3, 12, ERR_UNKNOWN_NAME, "unknown parameter 'p'" },
	{ "jobs:\n  a: {run: x, matrix: {b: [1]}, timeout: '${matrix.b}s'}\n", 2, 42, ERR_INVALID, "the same for all" },
	{ "params: {p: {}}\n" A, 1, 10, ERR_INVALID, "a parameter needs a default or required: true" },
	{ "params: {p: {enum: [a], default: b}}\n" A, 1, 34, ERR_INVALID, "parameter 'p' must be one of a, not 'b'" },
	{ "params: {p: {dflt: b}}\n" A, 1, 14, ERR_UNKNOWN_NAME, "unknown key 'dflt'" },
	{ A "finally: {a: {run: x}}\n", 3, 11, ERR_DUPLICATE, "' already exists under jobs" },
	{ A "concurrency: {max_jobs: 0}\n", 3, 25, ERR_INVALID, "expected a number from 1 to" },
	{ "jobs:\n  a: {run: x, locks: [a, {name: a}]}\n", 2, 26, ERR_DUPLICATE, "named twice" },
	{ "jobs:\n  a: {run: x, lock: a, locks: b}\n", 2, 21, ERR_DUPLICATE, "the job's locks are given twice" },
	{ "jobs:\n  a: {run: x, lock: {mode: shared}}\n", 2, 21, ERR_INVALID, "a lock needs a name: {name: NAME}" },
	{ "jobs:\n  a: {run: x, lock: {name: a, mode: half}}\n", 2, 37, ERR_INVALID, "exclusive or shared" },
	{ "jobs:\n  a: {run: x, lock: {name: a, made: half}}\n", 2, 31, ERR_UNKNOWN_NAME, "unknown key 'made'" },
	{ "jobs:\n  a: {run: x, mode: retry, lock: a}\n", 2, 34, ERR_INVALID, "exclusive or once" },
	{ A "concurrency: no name\n", 3, 14, ERR_INVALID, "' isn't a valid name; a name may only have letters, digits and _ . -" },
	{ A "concurrency: {max_runs: 2}\n", 3, 25, ERR_INVALID, "max_runs limits the runs of a group, but the pipeline names no group" },
	{ A "concurrency: {group: g, max_runs: 0}\n", 3, 35, ERR_INVALID, "expected a number from 1 to" },
	{ "jobs:\n  a: {run: x, concurrency: [a, b, a]}\n", 2, 35, ERR_DUPLICATE, "named twice" },
	{ "jobs:\n  a: {run: x, concurrency: {max_jobs: 2}}\n", 2, 28, ERR_INVALID, "the concurrency of a job needs a name: {group: NAME}" },
	{ "jobs:\n  a: {run: x, concurrency: {group: b, jobs: 2}}\n", 2, 39, ERR_UNKNOWN_NAME, "unknown key 'jobs'" },
	{ "jobs:\n  a: {run: x, concurrency: a=3}\n", 2, 28, ERR_INVALID, "the name of a group or lock may only have letters, digits and _ . -" },
	{ "jobs: &x\n  a: {run: x}\n", 1, 7, ERR_INVALID, "anchors" },
	{ "jobs:\n  a: *x\n", 2, 6, ERR_INVALID, "aliases" },
	{ "jobs:\n  a: {run: !!str x}\n", 2, 12, ERR_INVALID, "tags" },
	{ A "---\n" A, 3, 1, ERR_INVALID, "a second document" },
	{ "jobs:\n  a: {run: \"x}\n", 2, 12, ERR_SYNTAX, "this isn't valid YAML: while scanning a quoted scalar: found unexpected end of stream" },
	{ "jobs:\n  a: {run: x ${y}}\n", 2, 14, ERR_SYNTAX, "put a text with ${..} in quotes" },
	{ "jobs:\n\ta: {run: x}\n", 2, 1, ERR_SYNTAX, "a tab" },
	{ "jobs:\n  a: {run: \"\\0\"}\n", 2, 12, ERR_INVALID, "a NUL" },
	{ "jobs:\n  \xc3\xa4: {run: x}\n  b: {rum: x}\n", 2, 3, ERR_INVALID, "the name of a job may only have letters, digits and _ . -, and must begin with a letter, a digit or _" },
	{ "# \xe2\x82\xac\njobs:\n  b: {rum: x}\n", 3, 7, ERR_UNKNOWN_NAME, "unknown key 'rum'" },
	{ "jobs: {? [a] : b}\n", 1, 10, ERR_INVALID, "a key must be a word, not a list or a map" },
	{ "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 1, 33, ERR_TOO_LARGE, "nested more than 32" },
};

TEST errors_point_at_their_place(void)
{
	for (size_t i = 0; i < sizeof(bad_ones) / sizeof(bad_ones[0]); i++) {
		const struct bad *bad = &bad_ones[i];
		struct buf shown = { 0 };
		unsigned line = 0, column = 0;

		ASSERT_EQ_FMTm(bad->text, (int)bad->code, (int)parse(bad->text), "%d");
		ASSERTm(bad->text, strstr(error.text, bad->words) != NULL);
		dagline_explain(slice_str(bad->text), "f", &spot, &error, &shown);
		sscanf(buf_cstr(&shown), "f:%u:%u: error: ", &line, &column);
		ASSERT_EQ_FMTm(bad->text, bad->line, line, "%u");
		ASSERT_EQ_FMTm(bad->text, bad->column, column, "%u");
		ASSERT_EQ_FMTm(bad->text, 2, err_exit_status(error.code), "%d");
		buf_free(&shown);
	}
	PASS();
}

TEST errors_look_like_this(void)
{
	static const char text[] = "jobs:\n  unpack: {run: x}\n  encode:\n    run: x\n    needs: [unpak]\n";
	struct buf shown = { 0 };

	ASSERT_EQ(ERR_UNKNOWN_NAME, parse(text));
	dagline_explain(slice_str(text), "x.yaml", &spot, &error, &shown);
	ASSERT_STR_EQ("x.yaml:5:13: error: job 'encode' needs 'unpak', which does not exist\n"
		      "    5 |     needs: [unpak]\n"
		      "      |             ^~~~~ did you mean 'unpack'?\n", buf_cstr(&shown));
	buf_free(&shown);
	ASSERT_EQ(ERR_INVALID, parse("jobs:\r\n  \xe4\xb8\xad\xe6\x96\x87: {run: x}\r\n"));
	dagline_explain(slice_str("jobs:\r\n  \xe4\xb8\xad\xe6\x96\x87: {run: x}\r\n"), "x.yaml", &spot, &error, &shown);
	ASSERT(strstr(buf_cstr(&shown), "    2 |   \xe4\xb8\xad\xe6\x96\x87: {run: x}\n      |   ^~~~\n") != NULL);
	buf_free(&shown);
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("jobs:\n  a: {run: x, priorty: 3}\n"));
	ASSERT_STR_EQ("did you mean 'priority'?", error.next);
	/* A key in the wrong section: the error says where it belongs. */
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("max_jobs: 3\n" A));
	ASSERT_STR_EQ("unknown key 'max_jobs'", error.text);
	ASSERT_STR_EQ("it isn't allowed in a pipeline; it is allowed in: concurrency", error.next);
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("jobs:\n  a: {run: x, max_parallel: 2}\n"));
	ASSERT_STR_EQ("it isn't allowed in a job; it is allowed in: matrix", error.next);
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("jobs:\n  a: {run: x}\nretry: 2\n"));
	ASSERT_STR_EQ("it isn't allowed in a pipeline; it is allowed in: a job, defaults", error.next);
	PASS();
}

/* Matrices and counts multiply; a limit stops them before memory runs out. */
TEST limits(void)
{
	struct buf text = { 0 };

	buf_add_str(&text, "params: {p: ");
	for (int i = 0; i < 60000; i++)
		buf_add_byte(&text, 'x');
	buf_add_str(&text, "}\njobs:\n");
	for (int i = 0; i < 2000; i++)
		buf_addf(&text, "  j%d: {run: '${params.p}'}\n", i);
	ASSERT_EQ(ERR_TOO_LARGE, parse(buf_cstr(&text)));
	buf_free(&text);
	buf_add_str(&text, "params: {p: 0123456789}\njobs:\n  a:\n    run: ");
	for (int i = 0; i < 11000; i++)
		buf_add_str(&text, "${params.p}${params.p}");
	ASSERT_EQ(ERR_TOO_LARGE, parse(buf_cstr(&text)));
	buf_free(&text);
	buf_add_str(&text, "jobs:\n  a:\n    run: x\n    matrix:\n");
	for (int axis = 0; axis < 12; axis++)
		buf_addf(&text, "      a%d: [1, 2, 3, 4, 5, 6, 7, 8]\n", axis);
	ASSERT_EQ(ERR_TOO_LARGE, parse(buf_cstr(&text)));
	buf_free(&text);
	PASS();
}

GREATEST_MAIN_DEFS();

TEST the_first_words_tell_a_pipeline_from_a_line(void)
{
	static const char *const pipelines[] = {
		"jobs: {a: {run: x}}", "\n# comment: x\n\nname: x\njobs:\n", "---\njobs: {}", "%YAML 1.1\n---\n", "{jobs: {a: 1}}",
		"{\n  \"jobs\": {}}", "{\"jobs\":{}}", "'jobs': {}", "\xef\xbb\xbfjobs: {}", "jobs:", "max-jobs : 1",
	};
	static const char *const lines[] = {
		"", "a", "a -> b; a=x", "a:failed -> b; a=x", "{a, b} -> c", "{a -> b} -> c", "# jobs: x\na=x", "a='x: y'", "?a; a='go: on'",
		"a=x # jobs: y", "-", "'", "\"a", "{", "a*{x: y}",
	};

	for (size_t i = 0; i < sizeof(pipelines) / sizeof(pipelines[0]); i++)
		ASSERTm(pipelines[i], pipeline_begins(slice_str(pipelines[i])));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ASSERT_FALSEm(lines[i], pipeline_begins(slice_str(lines[i])));
	PASS();
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(needs_in_every_form);
	RUN_TEST(the_final_ones_wait_for_all);
	RUN_TEST(what_a_job_says);
	RUN_TEST(default_retry_codes_hold_for_jobs_that_say_none);
	RUN_TEST(what_becomes_of_failures);
	RUN_TEST(loops);
	RUN_TEST(parameters);
	RUN_TEST(matrices);
	RUN_TEST(gates);
	RUN_TEST(conditions_become_code);
	RUN_TEST(conditions_become_edges);
	RUN_TEST(errors_point_at_their_place);
	RUN_TEST(errors_look_like_this);
	RUN_TEST(limits);
	RUN_TEST(the_first_words_tell_a_pipeline_from_a_line);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
