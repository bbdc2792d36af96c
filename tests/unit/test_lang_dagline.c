/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One-line graphs: the jobs that they become, and the places that errors point at. */
#include <inttypes.h>
#include <stdio.h>

#include "base/rand.h"
#include "greatest.h"
#include "lang/dagline.h"
#include "proto/limits.h"
#include "tests/fuzz/old_run.h"

static struct arena arena;
static struct dagline dag;
static struct dag_spot spot;
static struct error error;

static enum err parse(const char *text)
{
	arena_free(&arena);
	error = (struct error){ 0 };
	return dagline_parse(slice_str(text), &arena, &dag, &spot, &error);
}

/* Draw all jobs as "name<-parent,parent:failed name2<-..". */
static const char *drawn(const char *text)
{
	static char out[4096];
	static const char *const triggers[] = { "", ":failed", ":done" };
	struct job_defaults defaults = { 0 };
	size_t used = 0;

	if (parse(text) != ERR_NONE)
		return error.text;
	for (uint64_t i = 0; i < dag.job_count; i++) {
		struct rec_job_spec spec;

		dagline_job(&dag, i, &defaults, &arena, &spec);
		used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s", i ? " " : "", (int)spec.name.len,
					 (const char *)spec.name.data);
		for (size_t k = 0; k < spec.needs.n; k++) {
			struct rec_job_spec parent;

			dagline_job(&dag, spec.needs.at[k], &defaults, &arena, &parent);
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s%s", k ? "," : "<-",
						 (int)parent.name.len, (const char *)parent.name.data,
						 spec.triggers.n ? triggers[spec.triggers.at[k]] : "");
		}
	}
	return out;
}

/* Draw the jobs that are added to a run (old_run.h); jobs of the run are marked with +. */
static const char *drawn_into(const char *text)
{
	static char out[4096];
	static const char *const triggers[] = { "", ":failed", ":done", "?" };
	struct job_defaults defaults = { 0 };
	size_t used = 0;

	arena_free(&arena);
	error = (struct error){ 0 };
	if (dagline_parse_into(slice_str(text), &old_run, &arena, &dag, &spot, &error) != ERR_NONE)
		return error.text;
	for (uint64_t i = 0; i < dag.job_count; i++) {
		struct rec_job_spec spec;

		dagline_job(&dag, i, &defaults, &arena, &spec);
		old_run_check_needs(&dag, i, &spec);
		used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s", i ? " " : "", (int)spec.name.len,
					 (const char *)spec.name.data);
		for (size_t k = 0; k < spec.needs.n; k++) {
			bool own = spec.needs.at[k] < dag.job_count;
			struct rec_job_spec parent = { 0 };

			if (own)
				dagline_job(&dag, spec.needs.at[k], &defaults, &arena, &parent);
			else
				parent.name = dag.parents.at[spec.needs.at[k] - dag.job_count];
			used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%s%.*s%s", k ? "," : "<-", own ? "" : "+",
						 (int)parent.name.len, (const char *)parent.name.data,
						 spec.triggers.n ? triggers[spec.triggers.at[k]] : "");
		}
	}
	return out;
}

#define COMMANDS ";a=x;b=x;c=x;d=x"

TEST what_is_added_needs_jobs_of_the_run(void)
{
	ASSERT_STR_EQ("a<-+old b<-a", drawn_into("old -> a -> b; a=x; b=x"));
	ASSERT_STR_EQ("a<-+fan[0],+fan[1],+fan[2]", drawn_into("fan -> a; a=x"));
	ASSERT_STR_EQ("a b<-a,+old,+other", drawn_into("{a, old, other} -> b; a=x; b=x"));
	ASSERT_STR_EQ("a<-+old:failed,+fan[0]:done,+fan[1]:done,+fan[2]:done", drawn_into("old:failed -> a; fan:done -> a; a=x"));
	ASSERT_STR_EQ("a<-+old?", drawn_into("a=x when='old.code == 3'"));
	/* A name that the graph defines means the graph's job, even if the run has a job of that name. */
	ASSERT_STR_EQ("old a<-old", drawn_into("old -> a; old=x; a=x"));
	ASSERT_STR_EQ("old a<-old", drawn_into("?old -> a; a=x"));
	ASSERT_STR_EQ("job 'old' is already in run 7: an existing job can't need added ones", drawn_into("a -> old; a=x"));
	ASSERT_EQ(5, spot.at);
	ASSERT_STR_EQ("the graph adds nothing: all its jobs are already in run 7", drawn_into("old; fan"));
	ASSERT_STR_EQ("job 'nobody' has no command, and run 7 has no job of this name", drawn_into("nobody -> a; a=x"));
	ASSERT_STR_EQ("run 7 has 'old'", error.next);
	ASSERT_STR_EQ("job 'old' has no command, and run 7 has no job of this name", drawn_into("old*3 -> a; a=x"));
	PASS();
}

TEST chains_and_groups(void)
{
	ASSERT_STR_EQ("a b<-a c<-a d<-b,c", drawn("a -> {b, c} -> d" COMMANDS));
	ASSERT_STR_EQ("a b<-a c<-b d<-a,c", drawn("a->{b->c}->d;a->d" COMMANDS));
	ASSERT_STR_EQ("a b c<-a,b d<-a,b", drawn("{a, b} -> {c, d}" COMMANDS));
	ASSERT_STR_EQ("a b c<-b d<-a,c", drawn("{a, b -> c} -> d" COMMANDS));
	ASSERT_STR_EQ("a b c d", drawn("a; b\nc;;d" COMMANDS));
	ASSERT_STR_EQ("a b c d", drawn("a=x;b=x;c=x;d=x"));
	ASSERT_STR_EQ("a b<-a c<-a d<-b,c", drawn(" # what\n a ->\n{ b, # one\n c }\n -> d # end\n" COMMANDS));
	ASSERT_STR_EQ("a b<-a c<-b d<-c", drawn("a -> b -> c; c -> d; a -> b" COMMANDS));
	ASSERT_STR_EQ("a.1-x b<-a.1-x", drawn("a.1-x->b;b=x;a.1-x=y"));
	PASS();
}

TEST fan_outs(void)
{
	struct job_defaults defaults = { 0 };
	struct rec_job_spec spec;

	ASSERT_STR_EQ("a b[0]<-a b[1]<-a b[2]<-a c<-b[0],b[1],b[2]", drawn("a -> b*3 -> c;a=x;b=x;c=x"));
	ASSERT_STR_EQ("a[0] b[0]<-a[0] b[1]<-a[0]", drawn("a*1 -> b*{x,'y z'};a=x;b=x"));
	ASSERT_EQ(ERR_NONE, parse("b*{x,'y z'}; b='echo $i'"));
	dagline_job(&dag, 1, &defaults, &arena, &spec);
	ASSERT_EQ_FMT((size_t)3, spec.env.n, "%zu");
	ASSERT(slice_eq(spec.env.at[0], slice_str("TITAN_INDEX=1")));
	ASSERT(slice_eq(spec.env.at[1], slice_str("TITAN_ITEM=y z")));
	ASSERT(slice_eq(spec.env.at[2], slice_str("i=y z")));
	ASSERT(slice_eq(spec.script, slice_str("echo $i")));
	ASSERT_EQ(ERR_DUPLICATE, parse("a*2 -> b; a*3;a=x;b=x"));
	ASSERT_EQ(ERR_TOO_LARGE, parse("a*0;a=x"));
	ASSERT_EQ(ERR_TOO_LARGE, parse("a*99999999999999999999;a=x"));
	ASSERT_EQ(ERR_TOO_LARGE, parse("a*70000 -> b;a=x;b=x"));
	ASSERT_EQ(ERR_TOO_LARGE, parse("a*60000 -> b*60000;a=x;b=x"));
	PASS();
}

TEST triggers(void)
{
	ASSERT_STR_EQ("a b<-a:failed", drawn("a:failed -> b;a=x;b=x"));
	ASSERT_STR_EQ("a b<-a c<-b:done", drawn("a -> b -> c!;a=x;b=x;c=x"));
	ASSERT_STR_EQ("a c<-a:failed,b:done b", drawn("a:failed -> c!; b -> c;a=x;b=x;c=x"));
	ASSERT_STR_EQ("a b c<-a,b:done", drawn("{a, b:done} -> c;a=x;b=x;c=x"));
	ASSERT_EQ(ERR_INVALID, parse("a:failed -> b; a -> b;a=x;b=x"));
	ASSERT_EQ(ERR_UNKNOWN_NAME, parse("a:bad -> b;a=x;b=x"));
	ASSERT_EQ(ERR_SYNTAX, parse("b -> a:failed;a=x;b=x"));
	PASS();
}

TEST gates(void)
{
	struct job_defaults defaults = { .retry_max = 2, .timeout_ms = 7 };
	struct rec_job_spec spec;

	ASSERT_STR_EQ("a b<-a c<-b", drawn("a -> ?b -> c;a=x;c=x"));
	ASSERT_EQ(ERR_NONE, parse("a -> ?b; ?b -> c; a=x label=gpu label=big delay=2s retry=0; c=x;"
				  "b='good?' from=ann from=bob count=2 approve_timeout=5m delay=1s prio=7"));
	dagline_job(&dag, 1, &defaults, &arena, &spec);
	ASSERT_EQ_FMT(UINT64_C(2), spec.gate_count, "%" PRIu64);
	ASSERT_EQ_FMT((size_t)2, spec.gate_from.n, "%zu");
	ASSERT(slice_eq(spec.gate_from.at[1], slice_str("bob")));
	ASSERT_EQ_FMT(UINT64_C(300000), spec.gate_timeout_ms, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(1000), spec.delay_ms, "%" PRIu64);
	ASSERT(slice_eq(spec.gate_message, slice_str("good?")));
	ASSERT(spec.argv.n == 0 && spec.script.len == 0 && spec.retry_max == 0 && spec.timeout_ms == 0);
	dagline_job(&dag, 0, &defaults, &arena, &spec);
	ASSERT_EQ_FMT((size_t)2, spec.labels.n, "%zu");
	ASSERT_EQ_FMT(UINT64_C(2000), spec.delay_ms, "%" PRIu64);
	/* a value that was given counts, even if it is 0 */
	ASSERT_EQ_FMT(UINT64_C(0), spec.retry_max, "%" PRIu64);
	dagline_job(&dag, 2, &defaults, &arena, &spec);
	ASSERT_EQ_FMT(UINT64_C(2), spec.retry_max, "%" PRIu64);
	PASS();
}

TEST settings(void)
{
	struct slice env[] = { slice_str("X=1") };
	struct job_defaults defaults = { .env = { env, 1 }, .dir = slice_str("/d"), .retry_max = 9, .timeout_ms = 7 };
	struct rec_job_spec spec;

	ASSERT_EQ(ERR_NONE, parse("a='ls -l \"x\"' retry=3 timeout=5m backoff=2s prio=0 dir=/x env=A=b env=\"C=d e\" mode=once;"
				  "b=\"a\\tb \\\"q\\\"\"c'd'"));
	dagline_job(&dag, 0, &defaults, &arena, &spec);
	ASSERT_EQ_FMT(UINT64_C(3), spec.retry_max, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(300000), spec.timeout_ms, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(2000), spec.backoff_ms, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(1), spec.priority, "%" PRIu64);
	ASSERT(slice_eq(spec.dir, slice_str("/x")));
	ASSERT_EQ(EXEC_ONCE, spec.mode);
	ASSERT_EQ_FMT((size_t)2, spec.env.n, "%zu");
	ASSERT(slice_eq(spec.env.at[0], slice_str("A=b")));
	ASSERT(slice_eq(spec.env.at[1], slice_str("C=d e")));
	/* a command without shell syntax is split into words and needs no shell */
	ASSERT_EQ_FMT((size_t)3, spec.argv.n, "%zu");
	ASSERT(slice_eq(spec.argv.at[2], slice_str("x")));
	dagline_job(&dag, 1, &defaults, &arena, &spec);
	ASSERT(slice_eq(dag.nodes[1]->command, slice_str("a\tb \"q\"cd")));
	ASSERT_EQ_FMT(UINT64_C(9), spec.retry_max, "%" PRIu64);
	ASSERT_EQ_FMT(UINT64_C(7), spec.timeout_ms, "%" PRIu64);
	ASSERT_EQ(0, spec.dir.len);      /* the job's directory isn't in its specification but in the shared context */
	ASSERT_EQ(ERR_NONE, parse("a=x retry=3 backoff=5s..2m retry_on=exit,timeout crash_limit=2 continue_on=failed on_worker_death=kill"));
	dagline_job(&dag, 0, &defaults, &arena, &spec);
	ASSERT(spec.backoff_ms == 5000 && spec.backoff_max_ms == 120000 && spec.crash_limit == 2);
	ASSERT(spec.retry_on == (RETRY_ON_EXIT | RETRY_ON_TIMEOUT) && spec.continue_on == CONTINUE_FAILED);
	ASSERT_EQ(DEATH_KILL, spec.worker_death);
	ASSERT_EQ(ERR_INVALID, parse("a=x backoff=2m..5s"));
	ASSERT_EQ(ERR_INVALID, parse("a=x retry_on=exit,"));
	ASSERT_EQ(ERR_INVALID, parse("a=x retry_on=,exit"));
	ASSERT_EQ(ERR_INVALID, parse("a=x continue_on=skipped"));
	ASSERT_EQ(ERR_INVALID, parse("a=x crash_limit=0"));
	ASSERT_EQ(ERR_INVALID, parse("a=x on_worker_death=live"));
	ASSERT_EQ(ERR_INVALID, parse("a=x log=4K9"));
	ASSERT_EQ(ERR_INVALID, parse("a=x log=1K"));
	ASSERT_EQ(ERR_INVALID, parse("?a;a=x crash_limit=2"));
	ASSERT_EQ(ERR_INVALID, parse("a=x retry=9999"));
	ASSERT_EQ(ERR_INVALID, parse("a=x retry=-1"));
	ASSERT_EQ(ERR_INVALID, parse("a=x timeout=soon"));
	ASSERT_EQ(ERR_INVALID, parse("a=x prio=101"));
	ASSERT_EQ(ERR_INVALID, parse("a=x mode=twice"));
	ASSERT_EQ(ERR_INVALID, parse("a=x dir=here"));
	ASSERT_EQ(ERR_INVALID, parse("?a;a=x count=0"));
	ASSERT_EQ(ERR_INVALID, parse("a=x env=NOTHING"));
	PASS();
}

struct wrong {
	const char *text;
	enum err err;
	size_t at, len;
	const char *part;                /* the part of the text that the error marks */
};

static const struct wrong wrongs[] = {
	{ "a -> bb; a=x; bc=y", ERR_UNKNOWN_NAME, 14, 2, "did you mean 'bb'" },
	{ "a -> b; a=x; b=y; c=z", ERR_UNKNOWN_NAME, 18, 1, "no job 'c' in the graph" },
	{ "a=x -> b; b=y", ERR_SYNTAX, 4, 1, "put the command in a statement of its own, after the graph: a -> b" },
	{ "a*3=x", ERR_SYNTAX, 3, 1, "put the command in a statement of its own" },
	{ "a -> b; a=x", ERR_INVALID, 5, 1, "'b' has no command" },
	{ "a; a=x retr=3", ERR_UNKNOWN_NAME, 7, 4, "did you mean 'retry'" },
	{ "a -> b -> a; a=x; b=x", ERR_CYCLE, 0, 1, "a -> b -> a" },
	{ "c -> a -> b -> a; a=x; b=x; c=x", ERR_CYCLE, 5, 1, "cycle: " },
	{ "a -> a; a=x", ERR_CYCLE, 0, 1, "a -> a" },
	{ "a -> b?", ERR_SYNTAX, 6, 1, "'?' must be followed by the name of a gate: a -> ?b -> c" },
	{ "a -> ?b*2; a=x", ERR_INVALID, 6, 1, "can't be a fan-out" },
	{ "a -> ?b; a=x; b='ok?' retry=1", ERR_INVALID, 6, 1, "runs nothing" },
	{ "a; a=x from=bob", ERR_INVALID, 0, 1, "job 'a' isn't a gate" },
	{ "?b; b=x from=b/b", ERR_INVALID, 13, 3, "from must be the name of a person, or of a team as @NAME" },
	{ "a ~b", ERR_INVALID, 2, 1, "'~' is reserved for compensations, which this version doesn't have" },
	{ "a -> {b, c", ERR_SYNTAX, 5, 1, "isn't closed" },
	{ "a='x", ERR_SYNTAX, 2, 1, "isn't closed" },
	{ "a ->", ERR_SYNTAX, 4, 1, "missing at the end" },
	{ "a b", ERR_SYNTAX, 2, 1, "'->' or ';' is missing before 'b' (give a command as name='COMMAND')" },
	{ "a=echo hi", ERR_SYNTAX, 7, 2, "'hi' has no value; write NAME=VALUE, and put a command with blanks in quotes" },
	{ "-> a", ERR_SYNTAX, 0, 1, "expected here" },
	{ "a -> }", ERR_SYNTAX, 5, 1, "not '}'" },
	{ "a; a=x; a=y", ERR_DUPLICATE, 8, 1, "already" },
	{ "a[1]; a=x", ERR_SYNTAX, 1, 1, "the graph must name the whole fan-out, not one of its jobs" },
	{ "a=''", ERR_INVALID, 2, 2, "empty command" },
	{ "", ERR_INVALID, 0, 1, "empty" },
	{ " ; # nothing\n", ERR_INVALID, 0, 1, "empty" },
};

TEST errors_point_at_their_place(void)
{
	for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
		enum err err = parse(wrongs[i].text);

		if (err != wrongs[i].err || spot.at != wrongs[i].at || spot.len != wrongs[i].len ||
		    strstr(error.text, wrongs[i].part) == NULL) {
			printf("\n%s: %s at %zu, %zu: %s\n", wrongs[i].text, err_name(err), spot.at, spot.len, error.text);
			FAIL();
		}
	}
	PASS();
}

TEST the_result_is_untouched_on_failure(void)
{
	struct dagline before = { .job_count = 77 };
	struct dagline after = before;

	ASSERT_EQ(ERR_CYCLE, dagline_parse(slice_str("a->a;a=x"), &arena, &after, &spot, NULL));
	ASSERT_MEM_EQ(&before, &after, sizeof(after));
	PASS();
}

TEST errors_are_drawn_with_a_caret(void)
{
	struct buf out = { 0 };
	const char *text = "first;\n  {a, bb; c";

	ASSERT(parse(text) != ERR_NONE);
	dagline_explain(slice_str(text), "-e", &spot, &error, &out);
	ASSERT_STR_EQ("-e:2:3: error: this brace isn't closed\n"
		      "    2 |   {a, bb; c\n"
		      "      |   ^\n",
		      buf_cstr(&out));
	buf_clear(&out);
	/* a character that isn't printable is shown escaped, and the caret stands under its place */
	spot = (struct dag_spot){ 3, 1 };
	dagline_explain(slice_str("a\x1b b"), "-e", &spot, &error, &out);
	ASSERT(strchr(buf_cstr(&out), '\x1b') == NULL);
	ASSERT(strstr(buf_cstr(&out), "| a\\x1b b\n      |       ^") != NULL);
	/* behind the last character: the caret stands after the text */
	spot = (struct dag_spot){ 4, 1 };
	dagline_explain(slice_str("a ->"), "-e", &spot, &error, &out);
	buf_free(&out);
	PASS();
}

TEST depth_and_size_are_bounded(void)
{
	static char deep[3000];
	struct buf wide = { 0 };

	memset(deep, '{', sizeof(deep) - 1);
	ASSERT_EQ(ERR_TOO_LARGE, parse(deep));
	/* a join of all jobs with all is refused before its edges are made */
	buf_add_str(&wide, "{a0");
	for (int i = 1; i < 5000; i++)
		buf_addf(&wide, ",a%d", i);
	buf_add_str(&wide, "} -> {b0");
	for (int i = 1; i < 5000; i++)
		buf_addf(&wide, ",b%d", i);
	buf_add_str(&wide, "}");
	ASSERT_EQ(ERR_TOO_LARGE, parse(buf_cstr(&wide)));
	buf_clear(&wide);
	while (wide.len <= LIMIT_DAG_LINE_MAX)
		buf_add_str(&wide, "          ");
	ASSERT_EQ(ERR_TOO_LARGE, parse(buf_cstr(&wide)));
	buf_free(&wide);
	PASS();
}

/* Random pieces of the grammar never crash the parser, and what it accepts can be expanded. */
TEST any_text_is_safe(void)
{
	static const char *const pieces[] = { "a", "b", "c", "->", "{", "}", ",", ";", "=", "'", "\"", "*", "3", "!", ":",
					      "failed", "done", " ", "\n", "#", "a=x;", "b=x;", "c=x;", "->b", "*{p,q}" };
	struct job_defaults defaults = { 0 };
	struct rand_state rand;
	unsigned accepted = 0;

	rand_seed(&rand, 11);
	for (int round = 0; round < 60000; round++) {
		char text[256];
		size_t used = 0;

		for (uint64_t n = rand_below(&rand, 24); n > 0; n--)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
						 pieces[rand_below(&rand, sizeof(pieces) / sizeof(pieces[0]))]);
		text[used] = '\0';
		if (parse(text) != ERR_NONE) {
			ASSERT(error.text[0] != '\0');
			ASSERT(spot.at <= used);
			continue;
		}
		accepted++;
		for (uint64_t i = 0; i < dag.job_count; i++) {
			struct rec_job_spec spec;

			dagline_job(&dag, i, &defaults, &arena, &spec);
			for (size_t k = 0; k < spec.needs.n; k++) {
				ASSERT(spec.needs.at[k] < dag.job_count);
				ASSERT(k == 0 || spec.needs.at[k] > spec.needs.at[k - 1]);
			}
		}
	}
	ASSERT(accepted > 100);
	PASS();
}

SUITE(lang_dagline)
{
	RUN_TEST(what_is_added_needs_jobs_of_the_run);
	RUN_TEST(chains_and_groups);
	RUN_TEST(fan_outs);
	RUN_TEST(triggers);
	RUN_TEST(gates);
	RUN_TEST(settings);
	RUN_TEST(errors_point_at_their_place);
	RUN_TEST(the_result_is_untouched_on_failure);
	RUN_TEST(errors_are_drawn_with_a_caret);
	RUN_TEST(depth_and_size_are_bounded);
	RUN_TEST(any_text_is_safe);
	arena_free(&arena);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(lang_dagline);
	GREATEST_MAIN_END();
}
