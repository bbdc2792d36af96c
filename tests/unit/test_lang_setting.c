/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The settings of proto/spec.def in YAML and one-line graphs: each word is read, and refused where it has no meaning.
 */
#include <stdio.h>

#include "greatest.h"
#include "lang/pipeline_internal.h"

static struct arena arena;
static struct dag_spot spot;
static struct error error;

static enum err read_line(const char *text, struct rec_job_spec *ret)
{
	const struct job_defaults defaults = { 0 };
	struct dagline dag;
	enum err err;

	arena_free(&arena);
	error = (struct error){ 0 };
	err = dagline_parse(slice_str(text), &arena, &dag, &spot, &error);
	if (err == ERR_NONE && dag.job_count > 0)
		dagline_job(&dag, 0, &defaults, &arena, ret);
	return err;
}

static enum err read_yaml(const char *text, struct rec_job_spec *ret)
{
	const struct job_defaults defaults = { 0 };
	struct pipeline pipeline;
	enum err err;

	arena_free(&arena);
	error = (struct error){ 0 };
	err = pipeline_parse(slice_str(text), (struct slice_list){ 0 }, &arena, &pipeline, &spot, &error);
	if (err == ERR_NONE)
		dagline_job(&pipeline.dag, 0, &defaults, &arena, ret);
	return err;
}

/* Is a word of a YAML section read, either by code in pipeline_job.c and its neighbours or by the table? */
static bool yaml_is_read(const struct setting *setting)
{
	static const struct {
		const char *prefix;
		const struct pipe_section *section;
	} sections[] = {
		{ "approval.", &pipe_section_approval }, { "loop.", &pipe_section_loop }, { "retry.", &pipe_section_retry },
		{ "service.crash_loop.", &pipe_section_crash_loop }, { "service.", &pipe_section_service },
		{ "worker.", &pipe_section_worker }, { "log.", &pipe_section_log }, { "", &pipe_section_job },
	};
	const char *dot = strchr(setting->yaml, '.');
	struct slice first = slice_make(setting->yaml, dot ? (size_t)(dot - setting->yaml) : strlen(setting->yaml));

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		size_t len = strlen(sections[i].prefix);
		struct slice word;

		if (strncmp(setting->yaml, sections[i].prefix, len) != 0 || (len == 0 && dot))
			continue;
		word = slice_str(setting->yaml + len);
		return pipe_key_find(sections[i].section, word) || pipe_setting_find(sections[i].section, word);
	}
	/* the keys pool and affinity each have a map of their own */
	return pipe_key_find(&pipe_section_job, first) != NULL;
}

TEST every_word_of_the_table_is_read_in_pipelines(void)
{
	for (size_t i = 0; i < setting_count; i++)
		if (setting_table[i].yaml[0] != '\0')
			ASSERTm(setting_table[i].yaml, yaml_is_read(&setting_table[i]));
	PASS();
}

TEST every_word_of_the_table_is_read_on_one_line(void)
{
	for (size_t i = 0; i < setting_count; i++) {
		struct rec_job_spec spec;
		char text[80];

		if (setting_table[i].line[0] == '\0')
			continue;
		snprintf(text, sizeof(text), "a; a=x %s='?'", setting_table[i].line);
		read_line(text, &spec);
		ASSERTm(setting_table[i].line, strstr(error.text, "unknown setting '") == NULL);
	}
	PASS();
}

TEST description_goes_into_the_job(void)
{
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(ERR_NONE, read_yaml("name: p\njobs:\n  a: {run: x, description: builds all}\n", &spec));
	ASSERT(slice_eq(spec.description, slice_str("builds all")));
	ASSERT_EQ(ERR_NONE, read_line("a; a=x description='builds all'", &spec));
	ASSERT(slice_eq(spec.description, slice_str("builds all")));
	PASS();
}

TEST description_has_the_values_of_its_matrix(void)
{
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(ERR_NONE, read_yaml("name: p\njobs:\n  a: {run: x, matrix: {os: [l, w]}, description: 'on ${matrix.os}'}\n", &spec));
	ASSERT(slice_eq(spec.description, slice_str("on l")));
	PASS();
}

TEST noop_has_no_command(void)
{
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(ERR_NONE, read_yaml("name: p\nenv: {A: b}\ndefaults: {timeout: 5s}\njobs:\n  a: {kind: noop}\n", &spec));
	ASSERT_EQ(KIND_NOOP, (enum job_kind)spec.kind);
	ASSERT_EQ(NULL, setting_without_use(&spec, KIND_NOOP));
	ASSERT_EQ(ERR_NONE, read_line("a; a='' kind=noop delay=5s", &spec));
	ASSERT_EQ(KIND_NOOP, (enum job_kind)spec.kind);
	ASSERT_EQ_FMT((uint64_t)5000, spec.delay_ms, "%lu");
	ASSERT_EQ(NULL, setting_without_use(&spec, KIND_NOOP));
	PASS();
}

TEST noop_refuses_what_is_for_processes(void)
{
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(ERR_INVALID, read_yaml("name: p\njobs:\n  a: {kind: noop, cpus: 2}\n", &spec));
	ASSERT_STR_EQ("a job whose kind is noop can't run anything: the key 'cpus' has no effect there", error.text);
	ASSERT_EQ(ERR_INVALID, read_line("a; a='' kind=noop timeout=5s", &spec));
	ASSERT(strstr(error.text, "job 'a' is a noop and runs nothing") != NULL);
	ASSERT_EQ(ERR_INVALID, read_line("a; a=x kind=noop", &spec));
	ASSERT(strstr(error.text, "' has kind noop and runs nothing, so its command must be ''") != NULL);
	ASSERT_EQ(ERR_INVALID, read_line("a; a=''", &spec));
	ASSERT(strstr(error.text, "has an empty command") != NULL);
	PASS();
}

TEST service_has_its_settings_and_no_others(void)
{
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(ERR_NONE, read_yaml("name: p\ndefaults: {timeout: 5s, retry: 3, mode: once}\njobs:\n  a:\n    command: [x]\n    service:\n"
				      "      {restart: on_failure, backoff: 2s..9s, stable: 30s, no_restart_exit: [7, 3], crash_loop: {n: 3, in: 1m}}\n", &spec));
	ASSERT_EQ(KIND_SERVICE, (enum job_kind)spec.kind);
	ASSERT_EQ(NULL, setting_without_use(&spec, KIND_SERVICE));
	ASSERT(spec.argv.n == 1 && spec.restart == RESTART_ON_FAILURE && spec.restart_wait_ms == 2000 && spec.restart_wait_max_ms == 9000);
	ASSERT(spec.stable_ms == 30000 && spec.loop_ends == 3 && spec.loop_ms == 60000 && spec.mode == EXEC_RETRY);
	ASSERT(spec.restart_never.n == 2 && spec.restart_never.at[0] == 3 && spec.restart_never.at[1] == 7);
	ASSERT_EQ(ERR_NONE, read_yaml("name: p\njobs:\n  a: {run: x, service: true}\n", &spec));
	ASSERT_EQ(KIND_SERVICE, (enum job_kind)spec.kind);
	ASSERT_EQ(ERR_NONE, read_yaml("name: p\njobs:\n  a: {run: x, service: false}\n", &spec));
	ASSERT_EQ(KIND_UNSAID, (enum job_kind)spec.kind);
	ASSERT_EQ(ERR_NONE, read_line("a; a=x kind=service restart=never stable=5s", &spec));
	ASSERT(spec.kind == KIND_SERVICE && spec.restart == RESTART_NEVER && spec.stable_ms == 5000);
	ASSERT_EQ(ERR_INVALID, read_yaml("name: p\njobs:\n  a: {run: x, service: true, timeout: 5s}\n", &spec));
	ASSERT_STR_EQ("a service is meant to stay up: the key 'timeout' has no effect there", error.text);
	ASSERT_EQ(ERR_INVALID, read_yaml("name: p\njobs:\n  a: {service: true}\n", &spec));
	ASSERT_EQ(ERR_INVALID, read_yaml("name: p\njobs:\n  a: {run: x, service: {restart: maybe}}\n", &spec));
	ASSERT_EQ(ERR_INVALID, read_yaml("name: p\njobs:\n  a: {run: x, service: {crash_loop: {n: 1}}}\n", &spec));
	ASSERT_EQ(ERR_UNKNOWN_NAME, read_yaml("name: p\njobs:\n  a: {run: x, service: {restarts: always}}\n", &spec));
	ASSERT_EQ(ERR_INVALID, read_line("a; a=x restart=never", &spec));
	ASSERT_EQ(ERR_INVALID, read_line("a; a=x kind=service retry=3", &spec));
	ASSERT_EQ(ERR_CYCLE, read_yaml("name: p\njobs:\n  a: {run: x, service: true}\n  b: {needs: a, run: y}\n", &spec));
	ASSERT(strstr(error.text, "job 'b' can't need 'a', a service") != NULL);
	ASSERT_EQ(ERR_NONE, read_yaml("name: p\njobs:\n  a: {run: x, service: true}\n  b: {run: y}\nfinally:\n  c: {run: z}\n", &spec));
	PASS();
}

TEST kind_is_noop_or_nothing(void)
{
	struct rec_job_spec spec = { 0 };

	ASSERT_EQ(ERR_INVALID, read_yaml("name: p\njobs:\n  a: {kind: gate}\n", &spec));
	ASSERT_EQ(ERR_INVALID, read_line("a; a=x kind=gate", &spec));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(every_word_of_the_table_is_read_in_pipelines);
	RUN_TEST(every_word_of_the_table_is_read_on_one_line);
	RUN_TEST(description_goes_into_the_job);
	RUN_TEST(description_has_the_values_of_its_matrix);
	RUN_TEST(noop_has_no_command);
	RUN_TEST(noop_refuses_what_is_for_processes);
	RUN_TEST(service_has_its_settings_and_no_others);
	RUN_TEST(kind_is_noop_or_nothing);
	GREATEST_MAIN_END();
}
