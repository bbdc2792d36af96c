/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph that is written as a pipeline and read again means the same, for every setting and any text. */
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"
#include "base/text.h"
#include "greatest.h"
#include "lang/spec_graph.h"
#include "lang/yaml_text.h"

static struct arena arena;
static struct error error;
static struct buf text;

static enum err read_graph(struct slice yaml, struct spec_graph *ret)
{
	struct pipeline *pipeline = arena_zalloc(&arena, 1, sizeof(*pipeline));
	struct dag_spot spot;

	error = (struct error){ 0 };
	if (pipeline_parse(yaml, (struct slice_list){ 0 }, &arena, pipeline, &spot, &error) != ERR_NONE)
		return error.code;
	spec_graph_of(pipeline, &arena, ret);
	return ERR_NONE;
}

static enum err read_line(const char *line, struct spec_graph *ret)
{
	struct pipeline *pipeline = arena_zalloc(&arena, 1, sizeof(*pipeline));
	struct dag_spot spot;

	error = (struct error){ 0 };
	if (dagline_parse(slice_str(line), &arena, &pipeline->dag, &spot, &error) != ERR_NONE)
		return error.code;
	spec_graph_of(pipeline, &arena, ret);
	return ERR_NONE;
}

/* Write the graph into `text`, read that again and compare. Return "" if both graphs are the same, else what differs. */
static const char *round_trip(const struct spec_graph *graph)
{
	static char why[256];
	bool differs[128];
	struct spec_graph again;
	struct spec_index index;

	buf_clear(&text);
	pipeline_write(graph, &arena, &text);
	if (read_graph(arena_copy(&arena, buf_slice(&text)), &again) != ERR_NONE) {
		snprintf(why, sizeof(why), "not read: %.200s", error.text);
		return why;
	}
	if (again.count != graph->count)
		return "other jobs";
	why[0] = '\0';
	spec_index_make(&again, &index);
	for (uint64_t i = 0; i < graph->count && why[0] == '\0'; i++) {
		uint64_t at = spec_index_find(&index, graph->jobs[i].name);

		if (at == UINT64_MAX || spec_compare(graph, i, &again, at, differs) == 0) {
			snprintf(why, sizeof(why), "%s", at == UINT64_MAX ? "a job is missing" : "");
			continue;
		}
		for (size_t k = 0; k < setting_count; k++)
			if (differs[k])
				snprintf(why, sizeof(why), "%.*s: %s", (int)graph->jobs[i].name.len, (const char *)graph->jobs[i].name.data,
					 setting_table[k].field);
	}
	spec_index_free(&index);
	return why;
}

static const char *of_yaml(const char *yaml)
{
	struct spec_graph graph;

	return read_graph(slice_str(yaml), &graph) == ERR_NONE ? round_trip(&graph) : error.text;
}

static const char *of_line(const char *line)
{
	struct spec_graph graph;

	return read_line(line, &graph) == ERR_NONE ? round_trip(&graph) : error.text;
}

static const char everything[] =
	"name: all\ntenant: t\nenv: {SHARED: 'a b'}\ndeadline: 2h\nconcurrency: {max_jobs: 3, group: g, max_runs: 2}\n"
	"jobs:\n"
	"  list: {command: [ls, 'a b', ''], description: lists, dir: /tmp, env: {A: 'x: y # z', B: ''}, mode: once}\n"
	"  script:\n    run: |\n      set -e\n      \techo '$x' | cat\n\n      echo \"done\"\n"
	"    needs: [list]\n    priority: 0\n    timeout: 5m\n    delay: 90s\n    not_before: 2026-11-18T14:02:30Z\n"
	"    dispatch_timeout: 1h\n    crash_limit: 4\n    continue_on: [failed, timed_out]\n    on_worker_death: kill\n    log: 64K\n"
	"    retry: {max: 3, backoff: 5s..2m, jitter: false, on: [exit, timeout], codes: [3, 70]}\n"
	"    deadline: 1h\n    cpus: 0.5\n    memory: 512M\n    gpus: 1\n    resources: {disk: 7}\n    requires: [cuda, render]\n    topic: film.cut\n    worker: {labels: [gpu, '!spot', 'zone in (a,b)', disk=ssd, zone!=c, 'rack notin (1,2)']}\n"
	"    prefer: [ssd]\n    prefer_worker: w1\n    pool: {name: p, hard: true}\n    affinity: {to: parent, hard: true}\n"
	"    concurrency: [c1, {group: c2, max_jobs: 2}]\n"
	"  locked: {run: 'exit 1', locks: [l1, {name: l2, mode: shared}], worker: {name: w2}, log: lossless, kv: {read: ['def:'], write: ['cluster:b/', 'cluster:c']}, needs: 'list || script.code == 3'}\n"
	"  out: {run: 'titan output a=1; x', shell: bash, outputs: [a, b-c]}\n"
	"  got: {run: 'make', artifacts: {out: x}}\n"
	"  left: {run: 'make', needs: [got], artifacts: {in: [got, {job: got, as: in/dir}], out: ['dist/**', '!dist/*.tmp', {glob: 'reports/', optional: true}]},\n"
	"    files: [{as: in/x, src: x, content: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', size: 3, kind: program, write: true}]}\n"
	"  loop: {run: 'test 1', loop: {until: 'ok', max: 5, delay: 2s, on_max: ok}, when: \"list.ok && !script:failed\"}\n"
	"  web: {run: ./web, service: {restart: on_failure, backoff: 2s..20s, stable: 30s, no_restart_exit: [0, 3], crash_loop: {n: 4, in: 2m}}}\n"
	"  plain: {command: [./web, 'a b'], service: true}\n"
	"  gate: {approval: {message: 'really?', count: 2, from: [anna, bert], timeout: 30m, on_timeout: approve, fields: {ver: {enum: ['1.2', 'a b', '$\\{params.x}'], optional: true}, n: {number: true, optional: true}}}, needs: [script]}\n"
	"  none: {kind: noop, needs: {any: 2, of: [list, script, locked, out]}, outputs: {v: 'a $\\{params.x} $5 ${jobs.out.outputs.b-c}', w: '1'}}\n"
	"  asks: {approval: {message: \"is it ${jobs.out.outputs.a}, for $5?\"}, needs: [out]}\n"
	"  always: {run: 'echo x; y', always: true, needs: [gate]}\n"
	"  at: {run: z, deadline: 2027-01-01T00:00:00Z, needs: {all: [none, gate]}}\n"
	"  enc: {run: \"./enc ${matrix.codec} -o ${matrix.size}.out\", env: {C: \"${matrix.codec}\"}, needs: [at],\n"
	"    matrix: {codec: [av1, 'h 265'], size: ['720', '1080'], max_parallel: 2, fail_fast: true}}\n"
	"  same: {run: 'echo $i', matrix: {n: [a, b]}}\n"
	"  filed: {run: x, dir: private, files: [{as: a/b, src: ./b, content: 'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', size: 7, kind: program, write: true}]}\n"
	"  reads: {command: [sort], stdin: \"a: ${matrix.n}\\n'b'\\n\", matrix: {n: [a, b]}}\n"
	"  zip: {fan_out: [{a: x, b: ''}, {a: 'y z', b: '${matrix}'}], command: [\"${matrix.a}\", \"${matrix.b}\"], worker: {labels: [\"${matrix.a}\"]}}\n"
	"finally: {end: {run: e}}\n";

static const char sub_graph[] =
	"name: outer\nenv: {O: '1'}\njobs:\n"
	"  first: {run: 'true'}\n"
	"  sub:\n    needs: [first]\n    timeout: 1h\n    pipeline:\n      name: inner\n      env: {I: '2'}\n      concurrency: {max_jobs: 2, group: g}\n"
	"      jobs:\n        a: {run: 'x y', fan_out: 3, outputs: n}\n        b: {pipeline: {jobs: {deep: {run: 'z; z', outputs: d}}, outputs: {e: 'x${jobs.deep.outputs.d}'}}, needs: [a]}\n"
	"      finally:\n        c: {run: done}\n      outputs: {f: '${jobs.b.outputs.e}', g: '${jobs.a.outputs.n}'}\n"
	"finally:\n  tidy: {run: 'rm -r x; y'}\n  tell: {run: t, needs: ['tidy:failed', first]}\n";

static bool is_set(const struct spec_graph *graph, const struct setting *setting)
{
	for (uint64_t i = 0; i < graph->count; i++)
		if (setting_is_said(setting, &graph->jobs[i]))
			return true;
	return false;
}

TEST every_setting_is_written(void)
{
	struct spec_graph graph, sub;

	if (read_graph(slice_str(everything), &graph) != ERR_NONE)
		FAILm(error.text);
	ASSERT_STR_EQ("", round_trip(&graph));
	ASSERT_EQ(ERR_NONE, read_graph(slice_str(sub_graph), &sub));
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];

		/* The contents of files are known only where the pipeline is submitted. */
		if (setting->yaml[0] != '\0' && strcmp(setting->yaml, "files") != 0 && !is_set(&graph, setting) && !is_set(&sub, setting))
			FAILm(setting->yaml);
	}
	PASS();
}

TEST sub_runs_and_final_jobs_are_written(void)
{
	ASSERT_STR_EQ("", of_yaml(sub_graph));
	PASS();
}

TEST lines_are_written(void)
{
	ASSERT_STR_EQ("", of_line("fetch -> {unpack, lint} -> enc*8 -> ?qa -> pub -> notify!; fetch='curl -O x'; unpack=true; lint=true; "
				  "qa='ok?'; pub=p; notify='a && b'; enc='ffmpeg $i' retry=3 timeout=5m label=gpu"));
	ASSERT_STR_EQ("", of_line("m*{x,'y z',\"it's\"}; m='echo $i ${params.x} ${run.id}' env=A='${matrix.v1}'"));
	ASSERT_STR_EQ("", of_line("a:failed -> b; a:done -> c; a -> d!; a:ok -> e!; a=x; b=x; c=x; d=x; e=x when='a.code > 3'"));
	ASSERT_STR_EQ("", of_line("1 -> true -> null; 1=x; true=y; null=z"));
	PASS();
}

TEST members_that_differ_share_a_template(void)
{
	struct spec_graph graph;

	ASSERT_EQ(ERR_NONE, read_graph(slice_str("jobs: {m: {run: \"go ${matrix.a}.in ${matrix.a}.out\", matrix: {a: [x1, y1]}}}"), &graph));
	ASSERT_STR_EQ("", round_trip(&graph));
	ASSERT(strstr(buf_cstr(&text), "fan_out:") != NULL);
	graph.jobs[1].timeout_ms = 5;
	ASSERT_STR_EQ("m[1]: timeout_ms", round_trip(&graph));
	PASS();
}

/* Write random texts of characters that mean something to YAML, the shell or titan. */
TEST any_text_is_written(void)
{
	static const char *const pieces[] = { "a", " ", "\n", "\t", ":", "#", "'", "\"", "\\", "-", "{", "}", "[", "]", ",", "&", "*", "!",
					      "|", ">", "%", "@", "`", "~", "?", "=", "$", "${params.x}", "${matrix.v1}", "\xc3\xa4",
					      "\xe2\x80\xa8", "\xef\xbb\xbf", "\x7f", "\x01", "\r", "  ", "\n\n", "0", "---", "..." };
	struct rand_state rand;

	rand_seed(&rand, 7);
	for (int round = 0; round < 4000; round++) {
		struct slice env[2];
		struct slice_list list = { env, 2 };
		struct rec_job_spec jobs[2] = { 0 };
		struct spec_graph graph = { .jobs = jobs, .count = 2 };
		struct buf first = { 0 }, second = { 0 };

		buf_add_str(&first, "V=");
		buf_add_str(&second, "W=");
		for (uint64_t i = 0, count = rand_below(&rand, 9); i < count; i++) {
			buf_add_str(&first, pieces[rand_below(&rand, sizeof(pieces) / sizeof(pieces[0]))]);
			buf_add_str(&second, pieces[rand_below(&rand, sizeof(pieces) / sizeof(pieces[0]))]);
		}
		env[0] = buf_slice(&first);
		env[1] = buf_slice(&second);
		jobs[0] = (struct rec_job_spec){ .name = slice_str("job"), .script = env[0], .env = list };
		jobs[1] = (struct rec_job_spec){ .name = slice_str("other"), .argv = list, .description = env[1] };
		job_command(arena_copy(&arena, env[0]), &arena, &jobs[0]);
		if (jobs[0].argv.n > 0)
			jobs[0].script = (struct slice){ 0 };
		ASSERT_STR_EQm(buf_cstr(&first), "", round_trip(&graph));
		buf_free(&first);
		buf_free(&second);
		arena_reset(&arena);
	}
	PASS();
}

TEST other_bytes_are_noticed(void)
{
	struct spec_graph graph;

	ASSERT_EQ(ERR_NONE, read_line("a='x; y'", &graph));
	graph.jobs[0].script = slice_str("x; \xff");
	ASSERT_STR_EQ("a: script", round_trip(&graph));
	PASS();
}

TEST fan_outs_are_checked(void)
{
	ASSERT_STR_EQ("fan_out needs either count or items", of_yaml("jobs: {a: {run: x, fan_out: {max_parallel: 2}}}"));
	ASSERT_STR_EQ("a job can't have both matrix and fan_out", of_yaml("jobs: {a: {run: x, matrix: {b: [c]}, fan_out: 2}}"));
	ASSERT_STR_EQ("the first item has no key 'c'; all items must have the same", of_yaml("jobs: {a: {run: x, fan_out: [{b: x}, {c: y}]}}"));
	ASSERT_STR_EQ("all items must have the same keys; the first has 1, and this one 2", of_yaml("jobs: {a: {run: x, fan_out: [{b: x}, {b: y, c: z}]}}"));
	ASSERT_STR_EQ("an item beside maps must be a map, not a text", of_yaml("jobs: {a: {run: x, fan_out: [{b: x}, c]}}"));
	ASSERT_STR_EQ("this item is empty", of_yaml("jobs: {a: {run: x, fan_out: ['']}}"));
	ASSERT_STR_EQ("expected a number from 1 to 4194304, not '0'", of_yaml("jobs: {a: {run: x, fan_out: 0}}"));
	ASSERT_STR_EQ("a job with approval can't run anything: the key 'fan_out' has no effect there",
		      of_yaml("jobs: {a: {approval: {}, fan_out: 2}}"));
	PASS();
}

SUITE(lang_write)
{
	RUN_TEST(every_setting_is_written);
	RUN_TEST(sub_runs_and_final_jobs_are_written);
	RUN_TEST(lines_are_written);
	RUN_TEST(members_that_differ_share_a_template);
	RUN_TEST(any_text_is_written);
	RUN_TEST(other_bytes_are_noticed);
	RUN_TEST(fan_outs_are_checked);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_write);
	arena_free(&arena);
	buf_free(&text);
	GREATEST_MAIN_END();
}
