/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications: each limit at its maximum and one beyond, and the text of each refusal. */
#include "tests/unit/core_rig.h"


#define SPAN_MS (LIMIT_SPAN_MAX_S * UINT64_C(1000))

static void spoil(struct rec_job_spec *job, int what);

/* Submit two jobs, the second with this change; compare the error's text. */
static enum err submit(int what, const char *words)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	enum err code;

	graph_job(&graph, "first", "");
	spoil(graph_job(&graph, "second", "first"), what);
	code = rig_submit(rig, &graph) ? ERR_NONE : (enum err)rig->error.code;
	if (words && !rig_error_says(rig, code, words))
		code = ERR_NONE;
	rig_free(rig);
	return code;
}

enum { COMMAND, COMMAND_OVER, WORDS_OVER, SCRIPT_TOO, NEITHER, EMPTY, SCRIPT_ZERO, WORD_ZERO, DIR_ZERO, ENV_GOOD, ENV_BARE,
       ENV_NAMELESS, ENV_ZERO, NEED_MISSING, NEED_ITSELF, NEED_TWICE, TRIGGER_COUNT, TRIGGER_BARE, TRIGGER_UNKNOWN,
       PEOPLE, PEOPLE_OVER, FROM, FROM_OVER, FROM_FEW, FROM_TWICE, EXPIRY_NEVER, EXPIRY_UNKNOWN, MESSAGE, MESSAGE_OVER,
       NOT_A_GATE_FROM, NOT_A_GATE_TIMEOUT, NOT_A_GATE_EXPIRY, NOT_A_GATE_MESSAGE, LABELS, LABELS_OVER, LABEL_BAD,
       GROUP_LAST, GROUP_OVER, NO_GROUP_PARALLEL, NO_GROUP_FAST, PARALLEL, PARALLEL_OVER, NAME_LONGEST, NAME_OVER, NAME_BAD };

static struct slice zeroes[1] = { { .data = (const uint8_t *)"a\0b", .len = 3 } };
static struct slice plain[1] = { { .data = (const uint8_t *)"A=b=c", .len = 5 } };
static struct slice bare[1] = { { .data = (const uint8_t *)"A", .len = 1 } };
static struct slice nameless[1] = { { .data = (const uint8_t *)"=b", .len = 2 } };
static struct slice empty[1] = { { .data = (const uint8_t *)"", .len = 0 } };
static struct slice zero_env[1] = { { .data = (const uint8_t *)"A=\0", .len = 3 } };
static struct slice twice[2] = { { .data = (const uint8_t *)"ana", .len = 3 }, { .data = (const uint8_t *)"ana", .len = 3 } };

static struct slice long_text(size_t len)
{
	static char text[LIMIT_COMMAND_MAX + 2];

	memset(text, 'x', sizeof(text));
	return slice_make(text, len);
}

static struct slice_list many(size_t n)
{
	static char names[70][4];
	static struct slice list[70];

	for (size_t i = 0; i < n; i++) {
		snprintf(names[i], sizeof(names[i]), "p%02u", (unsigned)i);
		list[i] = slice_str(names[i]);
	}
	return (struct slice_list){ .at = list, .n = n };
}

static struct u64_list numbers(uint64_t a, uint64_t b)
{
	static uint64_t at[2];

	at[0] = a;
	at[1] = b;
	return (struct u64_list){ .at = at, .n = 2 };
}

static void spoil_command(struct rec_job_spec *job, int what)
{
	bool script = what <= COMMAND_OVER || what == SCRIPT_ZERO || what == NEITHER;

	if (script)
		job->argv.n = 0;
	if (what == COMMAND || what == COMMAND_OVER)
		job->script = long_text(LIMIT_COMMAND_MAX + (what == COMMAND_OVER));
	else if (what == WORDS_OVER)
		job->argv.at[0] = long_text(LIMIT_COMMAND_MAX);
	else if (what == SCRIPT_TOO)
		job->script = slice_str("true");
	else if (what == EMPTY)
		job->argv.at = empty;
	else if (what == SCRIPT_ZERO)
		job->script = zeroes[0];
	else if (what == WORD_ZERO)
		job->argv.at = zeroes;
	else if (what == DIR_ZERO)
		job->dir = zeroes[0];
	else if (what != NEITHER)
		job->env = (struct slice_list){ .at = what == ENV_GOOD ? plain : what == ENV_BARE ? bare :
						      what == ENV_NAMELESS ? nameless : zero_env, .n = 1 };
}

static void spoil_needs(struct rec_job_spec *job, int what)
{
	job->triggers.n = what >= TRIGGER_COUNT ? 1 : 0;
	if (what == NEED_MISSING)
		job->needs.at[0] = 2;
	else if (what == NEED_ITSELF)
		job->needs.at[0] = 1;
	else if (what == NEED_TWICE)
		job->needs = numbers(0, 0);
	else if (what == TRIGGER_COUNT)
		job->triggers = numbers(0, 0);
	else
		job->triggers.at[0] = what == TRIGGER_BARE ? TRIGGER_EXPR : TRIGGER_EXPR + 1;
}

static void spoil_gate(struct rec_job_spec *job, int what)
{
	bool gate = what < NOT_A_GATE_FROM;

	job->gate_count = !gate ? 0 : what == PEOPLE || what == FROM ? LIMIT_GATE_PEOPLE_MAX :
			  what == PEOPLE_OVER ? LIMIT_GATE_PEOPLE_MAX + 1 : 1;
	if (what == FROM || what == FROM_OVER || what == NOT_A_GATE_FROM)
		job->gate_from = many(what == FROM ? LIMIT_GATE_PEOPLE_MAX : what == FROM_OVER ? LIMIT_GATE_PEOPLE_MAX + 1 : 1);
	if (what == FROM_FEW) {
		job->gate_from = many(1);
		job->gate_count = 2;
	}
	if (what == FROM_TWICE)
		job->gate_from = (struct slice_list){ .at = twice, .n = 2 };
	if (what == EXPIRY_NEVER || what == NOT_A_GATE_EXPIRY)
		job->gate_expiry = GATE_APPROVE;
	if (what == EXPIRY_UNKNOWN)
		job->gate_expiry = GATE_APPROVE + 1;
	if (what == NOT_A_GATE_TIMEOUT || what == EXPIRY_UNKNOWN)
		job->gate_timeout_ms = 5;
	if (what == MESSAGE || what == MESSAGE_OVER || what == NOT_A_GATE_MESSAGE)
		job->gate_message = long_text(LIMIT_REASON_MAX + (what == MESSAGE_OVER));
}

static void spoil_place(struct rec_job_spec *job, int what)
{
	if (what == LABELS || what == LABELS_OVER)
		job->labels = many(LIMIT_LABELS_MAX + (what == LABELS_OVER));
	else if (what == LABEL_BAD)
		job->labels = (struct slice_list){ .at = zeroes, .n = 1 };
	else if (what == NAME_LONGEST || what == NAME_OVER)
		job->name = long_text(LIMIT_NAME_MAX_LEN + (what == NAME_OVER));
	else if (what == NAME_BAD)
		job->name = slice_str("a b");
	job->group = what == GROUP_LAST || what == PARALLEL || what == PARALLEL_OVER ? 2 : what == GROUP_OVER ? 3 : 0;
	job->group_parallel = what == PARALLEL ? LIMIT_RUN_JOBS_MAX : what == PARALLEL_OVER ? LIMIT_RUN_JOBS_MAX + 1 :
			      what == NO_GROUP_PARALLEL;
	job->group_fail_fast = what == NO_GROUP_FAST;
}

static void spoil(struct rec_job_spec *job, int what)
{
	if (what <= ENV_ZERO)
		spoil_command(job, what);
	else if (what <= TRIGGER_UNKNOWN)
		spoil_needs(job, what);
	else if (what <= NOT_A_GATE_MESSAGE)
		spoil_gate(job, what);
	else
		spoil_place(job, what);
}

TEST values_at_their_limits_are_accepted(void)
{
	static const int good[] = { COMMAND, ENV_GOOD, PEOPLE, FROM, MESSAGE, LABELS, GROUP_LAST, PARALLEL, NAME_LONGEST };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ASSERT_EQ_FMT(ERR_NONE, submit(good[i], NULL), "%d");
	PASS();
}

TEST values_beyond_their_limits_are_refused(void)
{
	static const struct {
		int what;
		enum err code;
		const char *words;
	} bad[] = {
		{ COMMAND_OVER, ERR_TOO_LARGE, "too long" }, { WORDS_OVER, ERR_TOO_LARGE, "too long" },
		{ SCRIPT_TOO, ERR_INVALID, "the job also has a script; a job can have only one of these" }, { NEITHER, ERR_INVALID, "neither argv nor script" },
		{ EMPTY, ERR_INVALID, "the command is empty" }, { SCRIPT_ZERO, ERR_INVALID, "script: the text contains a zero byte" },
		{ WORD_ZERO, ERR_INVALID, "an argument contains a zero byte" }, { DIR_ZERO, ERR_INVALID, "dir: the text contains a zero byte" },
		{ ENV_BARE, ERR_INVALID, "an entry must have the form NAME=value" }, { ENV_NAMELESS, ERR_INVALID, "an entry must have the form NAME=value" },
		{ ENV_ZERO, ERR_INVALID, "an entry contains a zero byte" }, { NEED_MISSING, ERR_INVALID, "no job 2" },
		{ NEED_ITSELF, ERR_CYCLE, "the job needs itself" }, { NEED_TWICE, ERR_DUPLICATE, "names a job twice" },
		{ TRIGGER_COUNT, ERR_INVALID, "triggers must have as many entries as needs" },
		{ TRIGGER_BARE, ERR_INVALID, "the trigger is EXPR, but there is no expression" }, { TRIGGER_UNKNOWN, ERR_INVALID, "unknown trigger" },
		{ PEOPLE_OVER, ERR_TOO_LARGE, "too many people" },
		{ FROM_OVER, ERR_TOO_LARGE, "too many people" }, { FROM_FEW, ERR_INVALID, "fewer people are listed than must approve" },
		{ FROM_TWICE, ERR_DUPLICATE, "the list names a person or team twice" }, { EXPIRY_NEVER, ERR_INVALID, "this field has no effect, because the gate has no time-out" },
		{ EXPIRY_UNKNOWN, ERR_INVALID, "no such value" }, { MESSAGE_OVER, ERR_TOO_LARGE, "the text is too long" },
		{ NOT_A_GATE_FROM, ERR_INVALID, "fields of a gate but isn't a gate" }, { NOT_A_GATE_TIMEOUT, ERR_INVALID, "fields of a gate but isn't a gate" },
		{ NOT_A_GATE_EXPIRY, ERR_INVALID, "fields of a gate but isn't a gate" }, { NOT_A_GATE_MESSAGE, ERR_INVALID, "fields of a gate but isn't a gate" },
		{ LABELS_OVER, ERR_TOO_LARGE, "labels: too many" }, { LABEL_BAD, ERR_INVALID, "not a requirement on labels; it must be KEY, !KEY, KEY=VALUE" },
		{ GROUP_OVER, ERR_INVALID, "no such job" }, { NO_GROUP_PARALLEL, ERR_INVALID, "in no fan-out" },
		{ NO_GROUP_FAST, ERR_INVALID, "in no fan-out" }, { PARALLEL_OVER, ERR_TOO_LARGE, "the number is larger than the most jobs of a run" },
		{ NAME_OVER, ERR_INVALID, "a name must have letters, digits, _ . - and begin with a letter, digit or _; [NUMBER] may follow" }, { NAME_BAD, ERR_INVALID, "'a b': name: " },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ASSERT_EQ_FMT(bad[i].code, submit(bad[i].what, bad[i].words), "%d");
	PASS();
}

/* Submit with this value in a number field: the maximum is accepted, one more is refused. */
static enum err number(size_t at, uint64_t value, const char *words)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "only", "");
	enum err code;

	job->gate_count = at == 3;
	*(at == 0 ? &job->timeout_ms : at == 1 ? &job->delay_ms : at == 2 ? &job->backoff_ms : at == 3 ? &job->gate_timeout_ms :
	  at == 4 ? &job->retry_max : at == 5 ? &job->mode : at == 6 ? &job->deadline_ms : at == 7 ? &job->dispatch_timeout_ms :
	  at == 8 ? &job->priority : at == 9 ? &job->backoff_max_ms : at == 10 ? &job->crash_limit : &job->continue_on) = value;
	code = rig_submit(rig, &graph) ? ERR_NONE : (enum err)rig->error.code;
	if (code != ERR_NONE && !rig_error_says(rig, code, words))
		code = ERR_NONE;
	rig_free(rig);
	return code;
}

TEST numbers_beyond_their_maximum_are_refused(void)
{
	static const struct {
		uint64_t most;
		const char *words;
	} fields[] = {
		{ SPAN_MS + 999, "timeout_ms: longer than ten years" }, { SPAN_MS + 999, "delay_ms: longer than ten years" },
		{ SPAN_MS + 999, "backoff_ms: longer than ten years" }, { SPAN_MS + 999, "gate_timeout_ms: longer than ten years" },
		{ LIMIT_RETRY_MAX, "too many retries" }, { EXEC_MODE_COUNT - 1, "no such mode" },
		{ SPAN_MS + 999, "deadline_ms: longer than ten years" }, { SPAN_MS + 999, "dispatch_timeout_ms: longer than ten years" },
		{ 101, "from 0 to 100" }, { SPAN_MS + 999, "longer than ten years" }, { LIMIT_CRASH_LIMIT_MAX, "crash_limit: too many" },
		{ CONTINUE_ALL, "continue_on: there is no such kind of failure" },
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		ASSERT_EQ_FMT(ERR_NONE, number(i, fields[i].most, ""), "%d");
		ASSERT(number(i, fields[i].most + 1, fields[i].words) != ERR_NONE);
	}
	PASS();
}

static bool date_taken(int64_t not_before_ms, int64_t deadline_at_ms)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "only", "");
	bool taken;

	job->not_before_ms = not_before_ms;
	job->deadline_at_ms = deadline_at_ms;
	taken = rig_submit(rig, &graph) != 0;
	rig_free(rig);
	return taken;
}

TEST dates_are_of_four_digits(void)
{
	const int64_t last_ms = INT64_C(253402300799999);

	ASSERT(date_taken(last_ms, 0) && date_taken(0, last_ms) && date_taken(0, 0));
	ASSERT(!date_taken(last_ms + 1, 0) && !date_taken(0, last_ms + 1));
	ASSERT(!date_taken(-1, 0) && !date_taken(0, -1));
	PASS();
}

TEST parents_may_be_in_any_order(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };

	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "b a b");
	ASSERT_EQ(0, rig_submit(rig, &graph));
	ASSERT(rig_error_says(rig, ERR_DUPLICATE, "the list names a job twice"));
	graph_job(&graph, "a", "");
	graph_job(&graph, "b", "");
	graph_job(&graph, "c", "b a*");
	ASSERT(rig_submit(rig, &graph) != 0);
	rig_hello(rig, "w", 1);
	ASSERT_EQ(3, rig_run_all(rig));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(values_at_their_limits_are_accepted);
	RUN_TEST(values_beyond_their_limits_are_refused);
	RUN_TEST(numbers_beyond_their_maximum_are_refused);
	RUN_TEST(dates_are_of_four_digits);
	RUN_TEST(parents_may_be_in_any_order);
	GREATEST_MAIN_END();
}
