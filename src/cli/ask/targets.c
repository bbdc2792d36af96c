/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns words into runs and jobs, by asking the master. A condition on jobs searches live runs only, unless it names a
 * state in which jobs end: then all runs that have a job in this state are searched.
 */
#include "cli/ask/targets.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/session/output.h"
#include "cli/show/row_words.h"
#include "proto/label.h"
#include "proto/limits.h"

#define NAMED      5                     /* most names shown in a question */
#define LABELS_MAX 16

struct filter {
	uint32_t states;                 /* bits of enum job_state; 0: any */
	uint32_t flags;                  /* bits of enum state_flag; a job matches if its state or a flag does */
	struct slice labels[LABELS_MAX];
	size_t label_count;
	struct slice name, worker;       /* name and worker of the job; empty: any */
	struct slice run_name, owner, tenant;
	bool of_jobs;                    /* the condition is on jobs, not on runs alone */
	bool finer;                      /* a condition asks for more than the state of jobs */
};

struct search {
	struct cli *cli;
	enum reach reach;
	struct targets *found;
	size_t room;
};

static void add(struct search *search, uint64_t run, struct slice job)
{
	struct targets *found = search->found;

	if (found->count == search->room) {
		struct selector *bigger;

		search->room = search->room ? 2 * search->room : 16;
		bigger = arena_zalloc(&search->cli->arena, search->room, sizeof(*bigger));
		if (found->count > 0)
			memcpy(bigger, found->at, found->count * sizeof(*bigger));
		found->at = bigger;
	}
	found->at[found->count++] = (struct selector){ .run = run, .job = arena_copy(&search->cli->arena, job) };
}

/* ---- runs ---- */

static bool run_within(enum reach reach, const struct rec_run_row *run)
{
	switch (reach) {
	case REACH_LIVE:
		return run->ended_ms == 0;
	case REACH_BAD:
		return run_counts(run).failed > 0;
	case REACH_EVERY:
		break;
	}
	return true;
}

/* Call found_cb for the runs from high down to low, until it returns an error. */
static enum err each_run(struct search *search, uint64_t low, uint64_t high,
			 enum err (*found_cb)(struct search *search, const struct rec_run_row *run, const void *arg),
			 const void *arg)
{
	struct msg_query query = { .what = QUERY_RUNS, .cursor = high < INT64_MAX ? high + 1 : 0 };
	struct arena arena = { 0 };
	enum err err = cli_connect(search->cli);
	bool more = true;

	while (more && err == ERR_NONE) {
		struct msg_snapshot page;

		arena_reset(&arena);
		err = cli_query(search->cli, query, &arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.runs.n && more; i++) {
			more = page.runs.at[i].run >= low;
			if (more)
				err = found_cb(search, &page.runs.at[i], arg);
		}
		query.cursor = err == ERR_NONE ? page.cursor : 0;
		more = more && query.cursor != 0;
	}
	arena_free(&arena);
	return err;
}

static enum err add_run(struct search *search, const struct rec_run_row *run, const void *arg)
{
	(void)arg;
	if (run_within(search->reach, run))
		add(search, run->run, slice_make(NULL, 0));
	return ERR_NONE;
}

/* ---- conditions ---- */

static enum err read_state(struct cli *cli, struct slice value, struct filter *filter)
{
	uint32_t states, flags;

	filter->of_jobs = true;
	if (state_word((const char *)value.data, value.len, &states, &flags)) {
		filter->states |= states;
		filter->flags |= flags;
		return ERR_NONE;
	}
	error_set(&cli->error, ERR_USAGE, "state=%.*s: jobs have no such state", (int)(value.len < 64 ? value.len : 64),
		  (const char *)value.data);
	return error_next(&cli->error, "titan help states");
}

static enum err read_pair(struct cli *cli, struct slice key, struct slice value, struct filter *filter)
{
	const struct { const char *key; struct slice *value; bool of_jobs; } keys[] = {
		{ "name", &filter->name, true }, { "worker", &filter->worker, true }, { "run", &filter->run_name, false },
		{ "owner", &filter->owner, false }, { "tenant", &filter->tenant, false },
	};

	if (slice_eq(key, slice_str("state")))
		return read_state(cli, value, filter);
	if (slice_eq(key, slice_str("label")) && filter->label_count < LABELS_MAX) {
		filter->of_jobs = filter->finer = true;
		filter->labels[filter->label_count++] = value;
		return ERR_NONE;
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (slice_eq(key, slice_str(keys[i].key))) {
			*keys[i].value = value;
			filter->of_jobs = filter->of_jobs || keys[i].of_jobs;
			filter->finer = filter->finer || keys[i].of_jobs;
			return ERR_NONE;
		}
	error_set(&cli->error, ERR_USAGE, "'%.*s=': unknown selector; use state, label, name or worker of a job, or "
		"run, owner or tenant of its run",
		  (int)(key.len < 64 ? key.len : 64), (const char *)key.data);
	return error_next(&cli->error, "titan help selectors");
}

/*
 * Is the word a state as screens show it, such as FAIL? Only capitals count, so that lower-case words can get another
 * meaning later.
 */
static bool is_state(struct slice word)
{
	uint32_t states, flags;

	for (size_t i = 0; i < word.len; i++)
		if (word.data[i] < 'A' || word.data[i] > 'Z')
			return false;
	return state_word((const char *)word.data, word.len, &states, &flags);
}

static enum err read_filter(struct cli *cli, const char *text, struct filter *filter)
{
	*filter = (struct filter){ 0 };
	while (*text) {
		size_t len = strcspn(text, ",");
		const char *equals = memchr(text, '=', len);
		enum err err;

		if (equals == NULL && is_state(slice_make(text, len))) {
			err = read_state(cli, slice_make(text, len), filter);
			if (err != ERR_NONE)
				return err;
			text += len + (text[len] == ',');
			continue;
		}
		if (equals == NULL || equals == text || equals + 1 == text + len)
			return error_set(&cli->error, ERR_USAGE, "'%.*s': expected KEY=VALUE, such as state=FAIL",
					 (int)(len < 64 ? len : 64), text);
		err = read_pair(cli, slice_make(text, (size_t)(equals - text)),
				slice_make(equals + 1, (size_t)(text + len - equals - 1)), filter);
		if (err != ERR_NONE)
			return err;
		text += len + (text[len] == ',');
	}
	return ERR_NONE;
}

/* Does the job require this of its worker? A key alone stands for any value of it. */
static bool has_label(const struct rec_job_row *job, struct slice label)
{
	struct label_want want;

	for (size_t i = 0; i < job->labels.n; i++)
		if (slice_eq(job->labels.at[i], label) ||
		    (label_want_read(job->labels.at[i], &want) && want.op == LABEL_IN && slice_eq(want.key, label)))
			return true;
	return false;
}

/* Is this the job's name, or the name of its fan-out? */
static bool is_named(struct slice name, struct slice wanted)
{
	return slice_eq(name, wanted) || (name.len > wanted.len + 1 && name.data[wanted.len] == '[' &&
					  memcmp(name.data, wanted.data, wanted.len) == 0);
}

/* Is the job in one of the wanted states, or does it have one of the wanted flags? */
static bool state_matches(const struct filter *filter, const struct rec_job_row *job)
{
	const struct state_info *look = job_look(job);

	if ((filter->states | filter->flags) == 0 || (filter->states >> job_state_checked(job->state) & 1))
		return true;
	return look >= flag_table && look < flag_table + FLAG_COUNT && (filter->flags >> (look - flag_table) & 1);
}

static bool job_matches(const struct filter *filter, const struct rec_job_row *job)
{
	if (!state_matches(filter, job))
		return false;
	for (size_t i = 0; i < filter->label_count; i++)
		if (!has_label(job, filter->labels[i]))
			return false;
	return (filter->name.len == 0 || is_named(job->name, filter->name)) &&
	       (filter->worker.len == 0 || slice_eq(job->worker, filter->worker));
}

/* The states in which a wanted job can be: the named states, and those that can have the wanted flags. */
static uint32_t flagged_states(const struct filter *filter)
{
	uint32_t states = filter->states;

	if (filter->flags >> FLAG_DEAD & 1)
		states |= 1U << STATE_FAILED;
	if (filter->flags >> FLAG_LATER & 1)
		states |= 1U << STATE_DELAYED;
	for (unsigned state = 0; filter->flags >> FLAG_HOLD & 1 && state < STATE_COUNT; state++)
		if (state_table[state].kind == KIND_WAITS)
			states |= 1U << state;
	return states;
}

static bool run_matches(const struct filter *filter, const struct rec_run_row *run, enum reach reach)
{
	uint32_t states = flagged_states(filter);
	bool counted = states == 0;

	for (size_t i = 0; i < run->counts.n && i < STATE_COUNT; i++)
		counted = counted || ((states >> i & 1) && run->counts.at[i] > 0);
	if (!counted || (filter->run_name.len > 0 && !slice_eq(run->name, filter->run_name)) ||
	    (filter->owner.len > 0 && !slice_eq(run->owner, filter->owner)) ||
	    (filter->tenant.len > 0 && !slice_eq(run->tenant.len > 0 ? run->tenant : run->owner, filter->tenant)))
		return false;
	if (!filter->of_jobs)
		return run_within(reach, run);
	/* Ended runs are searched only if the condition names a state. */
	return run->ended_ms == 0 || (reach != REACH_LIVE && states != 0);
}

static enum err match_run(struct search *search, const struct rec_run_row *run, const void *arg)
{
	const struct filter *filter = arg;
	struct msg_query query = { .what = QUERY_JOBS, .run = run->run };
	struct arena arena = { 0 };
	enum err err = ERR_NONE;

	if (!run_matches(filter, run, search->reach))
		return ERR_NONE;
	/* The hold of a run is a flag of the run and of none of its jobs, so the run itself matches. */
	if (!filter->of_jobs || (filter->flags >> FLAG_HOLD & 1 && run->held && !filter->finer)) {
		add(search, run->run, slice_make(NULL, 0));
		return ERR_NONE;
	}
	do {
		struct msg_snapshot page;

		arena_reset(&arena);
		err = cli_query(search->cli, query, &arena, &page);
		for (size_t i = 0; err == ERR_NONE && i < page.jobs.n; i++)
			if (job_matches(filter, &page.jobs.at[i]))
				add(search, run->run, page.jobs.at[i].name);
		query.cursor = err == ERR_NONE ? page.cursor : 0;
	} while (query.cursor != 0);
	arena_free(&arena);
	return err;
}

/* ---- words ---- */

/* Read a range such as "4120-4127". */
static bool read_range(const char *text, uint64_t *ret_low, uint64_t *ret_high)
{
	const char *dash = strchr(text, '-');

	return dash != NULL && text_parse_u64(slice_make(text, (size_t)(dash - text)), ret_low) &&
	       text_parse_u64(slice_str(dash + 1), ret_high);
}

static bool is_condition(const char *text)
{
	return strchr(text, '=') != NULL || is_state(slice_make(text, strcspn(text, ",")));
}

bool selector_is_many(const char *text)
{
	uint64_t low, high;

	return is_condition(text) || strcmp(text, "all") == 0 || read_range(text, &low, &high);
}

static enum err select_text(struct search *search, const char *text)
{
	struct cli *cli = search->cli;
	size_t before = search->found->count;
	uint64_t low = 0, high = INT64_MAX;
	struct selector selector;
	struct filter filter;
	enum err err;

	if (is_condition(text)) {
		err = read_filter(cli, text, &filter);
		if (err == ERR_NONE)
			err = each_run(search, 0, INT64_MAX, match_run, &filter);
	} else if (strcmp(text, "all") == 0 || read_range(text, &low, &high)) {
		if (low > high)
			return error_set(&cli->error, ERR_USAGE, "'%s': the smaller number must come first", text);
		err = each_run(search, low, high, add_run, NULL);
	} else {
		err = cli_select_named(cli, text, &selector);
		if (err == ERR_NONE)
			add(search, selector.run, selector.job);
		return err;
	}
	if (err != ERR_NONE)
		return err;
	search->found->bulk = true;
	if (search->found->count > before)
		return ERR_NONE;
	error_set(&cli->error, ERR_NOT_FOUND, "'%s' matches no run or job%s", text,
		  search->reach == REACH_LIVE ? " that is still live" : search->reach == REACH_BAD ? " that ended badly" : "");
	return error_next(&cli->error, "titan ls");
}

enum err cli_targets(struct cli *cli, const char *const *texts, size_t count, enum reach reach, struct targets *ret)
{
	struct targets found = { 0 };
	struct search search = { .cli = cli, .reach = reach, .found = &found };

	for (size_t i = 0; i < count; i++) {
		enum err err = select_text(&search, texts[i]);

		if (err != ERR_NONE)
			return err;
	}
	*ret = found;
	return ERR_NONE;
}

enum err targets_confirm(struct cli *cli, const struct targets *targets, const char *verb)
{
	struct buf question = { 0 };
	bool jobs = targets->count > 0 && targets->at[0].job.len > 0;
	enum err err;

	if (!targets->bulk || cli->settings.yes)
		return ERR_NONE;
	buf_addf(&question, "%s of %zu %s%s (", verb, targets->count, jobs ? "job" : "run", targets->count == 1 ? "" : "s");
	for (size_t i = 0; i < targets->count && i < NAMED; i++) {
		buf_addf(&question, "%s%" PRIu64, i > 0 ? ", " : "", targets->at[i].run);
		if (targets->at[i].job.len > 0)
			buf_add_byte(&question, '/');
		text_escape(&question, targets->at[i].job, TEXT_KEEP_NONE);
	}
	buf_addf(&question, "%s)", targets->count > NAMED ? ", ..." : "");
	err = cli_confirm(cli, buf_cstr(&question));
	buf_free(&question);
	return err;
}
