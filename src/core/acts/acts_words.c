/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The texts of acts: verb, target, and the target's state in few words, written by the same function before and after
 * the act. They contain names, numbers and states, but never a command, an environment or anything else that may be
 * secret.
 */
#include "core/state.h"

#include <ctype.h>

#include "core/acts/acts.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/people/people.h"
#include "core/place/place.h"
#include "core/queue/queue.h"
#include "core/time/time.h"
#include "core/values/values.h"

/* words_act_verb, words_set_verb and so on: the names of all enums; only a few are used here. */
#define ENUM(name, text) static const char *const words_##name[] __attribute__((unused)) = {
#define VALUE(PREFIX, NAME, number, text) [number] = #NAME,
#define END(name) };
#include "proto/enums.def"
#undef ENUM
#undef VALUE
#undef END

static void add_word(struct buf *out, const char *word)
{
	for (; *word; word++)
		buf_add_byte(out, (uint8_t)tolower((unsigned char)*word));
}

/* Faster than printf, and each submit has two of them. */
static void add_number(struct buf *out, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	buf_add(out, digits + at, sizeof(digits) - at);
}

#define ADD_WORD(out, words, number) \
	((uint64_t)(number) < sizeof(words) / sizeof(*words) && words[number] ? add_word(out, words[number]) : (void)0)

static uint64_t run_of(const struct core_input *input)
{
	switch (input->kind) {
	case INPUT_SUBMIT:
		return input->submit.into;
	case INPUT_CANCEL:
		return input->cancel.run;
	case INPUT_ACT:
		return input->act.run;
	case INPUT_REOPEN:
		return input->reopen.act.run;
	default:
		return 0;
	}
}

/* Return the act of an INPUT_ACT or INPUT_REOPEN; NULL for other inputs. */
static const struct input_act *act_of(const struct core_input *input)
{
	return input->kind == INPUT_ACT ? &input->act : input->kind == INPUT_REOPEN ? &input->reopen.act : NULL;
}

static bool is_schedule(const struct core_input *input)
{
	return input->kind == INPUT_SUBMIT && input->submit.schedule.len > 0 && input->submit.into == 0;
}

void act_words(const struct core_input *input, struct buf *verb, struct act_words *ret)
{
	const struct input_act *act = act_of(input);
	const struct msg_set *set = &input->set.set;
	bool reasoned = act && (act->verb == ACT_APPROVE || act->verb == ACT_REJECT || act->verb == ACT_PUSHBACK ||
				act->verb == ACT_SETTLE);

	*ret = (struct act_words){ .run = run_of(input) };
	if (reasoned)
		ret->reason = act->text;
	if (act)
		ADD_WORD(verb, words_act_verb, act->verb);
	else if (input->kind == INPUT_VALUES)
		ADD_WORD(verb, words_value_verb, input->values.msg.ops.n == 1 ? input->values.msg.ops.at[0].verb : VALUES_SET);
	else if (input->kind == INPUT_SET)
		ADD_WORD(verb, words_set_verb, set->verb);
	else
		buf_add_str(verb, is_schedule(input) ? "put" : input->kind == INPUT_SUBMIT ? (ret->run ? "grow" : "submit") :
			    input->kind == INPUT_CANCEL ? "cancel" : input->kind == INPUT_PRUNE ? "prune" : "shutdown");
	if (input->kind == INPUT_SET && set->kind == OBJECT_LOCK && set->words.n > 0)
		ret->reason = set->words.at[0];
	ret->verb = buf_slice(verb);
}

static void add_slice(struct buf *out, struct slice text)
{
	size_t len = text.len < ACT_WORDS_MAX ? text.len : ACT_WORDS_MAX;

	buf_add(out, text.data, len);
}

void act_target_words(const struct core_input *input, uint64_t run, struct buf *out)
{
	const struct input_act *act = act_of(input);
	struct slice job = act ? act->job : input->kind == INPUT_CANCEL ? input->cancel.job : (struct slice){ 0 };

	if (is_schedule(input)) {
		buf_add_str(out, "schedule ");
		add_slice(out, input->submit.name);
	} else if (input->kind == INPUT_SET) {
		ADD_WORD(out, words_object_kind, input->set.set.kind);
		buf_add_byte(out, ' ');
		add_slice(out, input->set.set.name);
	} else if (input->kind == INPUT_VALUES) {
		values_target_words(input, out);
	} else if (run == 0) {
		buf_add_str(out, input->kind == INPUT_PRUNE ? "ended runs" : "master");
	} else if (job.len == 0) {
		buf_add_str(out, "run ");
		add_number(out, run);
	} else {
		buf_add_str(out, "job ");
		add_number(out, run);
		buf_add_byte(out, '/');
		add_slice(out, job);
	}
}

/* --- jobs --- */

static void add_comma(struct buf *out)
{
	if (out->len > 0)
		buf_add_str(out, ", ");
}

typedef void job_word(const struct job *job, struct buf *out);

static void priority_word(const struct job *job, struct buf *out)
{
	buf_addf(out, "%u", job->priority);
}

static void hold_word(const struct job *job, struct buf *out)
{
	buf_add_str(out, job->flags & JOB_ON_HOLD ? "held" : "free");
}

static bool same_word(const struct job *one, const struct job *other, bool priority)
{
	return priority ? one->priority == other->priority : !((one->flags ^ other->flags) & JOB_ON_HOLD);
}

/* Add each job's priority or hold, in the order of jobs, so that the act can be undone: "50", or "50*3 70". */
static void add_runs(const struct target *target, bool priority, struct buf *out)
{
	job_word *word = priority ? priority_word : hold_word;
	uint32_t next;

	for (uint32_t at = 0; at < target->count; at = next) {
		const struct job *job = target_job(target, at);

		if (out->len > ACT_WORDS_MAX - 32) {
			buf_add_str(out, " ...");
			return;
		}
		for (next = at + 1; next < target->count && same_word(job, target_job(target, next), priority); next++)
			;
		if (at > 0)
			buf_add_byte(out, ' ');
		word(job, out);
		if (next - at > 1 && next - at < target->count)
			buf_addf(out, "*%u", next - at);
	}
}

/* Add the states of the jobs: "failed", or "3 failed, 2 waiting". */
static void add_states(struct core *core, const struct target *target, struct buf *out)
{
	const struct job *only = target->count == 1 ? target_job(target, 0) : NULL;
	uint32_t counts[STATE_COUNT] = { 0 }, dead = 0;

	for (uint32_t i = 0; !target->whole && i < target->count; i++) {
		counts[target_job(target, i)->state]++;
		dead += (target_job(target, i)->flags & JOB_DEAD) != 0;
	}
	if (target->whole) {
		memcpy(counts, target->run->counts, sizeof(counts));
		dead = target->run->dead;
	}
	for (size_t state = 0; state < STATE_COUNT; state++) {
		if (counts[state] == 0)
			continue;
		add_comma(out);
		if (counts[state] < target->count || target->count > 1) {
			add_number(out, counts[state]);
			buf_add_byte(out, ' ');
		}
		buf_add_str(out, state_table[state].name);
	}
	if (only && only->state == STATE_APPROVAL && gate_have(core, only) > 0)
		buf_addf(out, ", %llu approved", (unsigned long long)gate_have(core, only));
	if (dead > 0)
		buf_addf(out, ", %u dead letter%s", dead, dead > 1 ? "s" : "");
	if (target->whole && target->run->cancelled)
		buf_add_str(out, ", told to end");
}

static void run_words(struct core *core, const struct core_input *input, struct buf *out)
{
	const struct input_act *act = act_of(input);
	struct target target;
	struct error error;

	if (act_target(core, act ? act->run : input->cancel.run, act ? act->job : input->cancel.job, &target, &error) != ERR_NONE)
		return;
	if (act && act->verb == ACT_PRIORITY)
		add_runs(&target, true, out);
	else if (act && (act->verb == ACT_HOLD || act->verb == ACT_RELEASE) && target.whole)
		buf_add_str(out, target.run->held ? "held" : "free");
	else if (act && (act->verb == ACT_HOLD || act->verb == ACT_RELEASE))
		add_runs(&target, false, out);
	else
		add_states(core, &target, out);
}

/* --- objects --- */

static void lock_words(const struct core *core, const struct input_set *input, struct buf *out)
{
	const struct lock *lock = name_map_get(&core->locks, input->set.name);
	struct slice owner = input->set.text.len > 0 ? input->set.text : input->person;

	for (size_t i = 0; lock && i < lock->hold_count; i++) {
		const struct lock_hold *hold = lock->holds[i];

		if (!slice_eq(slice_str(hold->owner), owner))
			continue;
		buf_add_str(out, "held by ");
		add_slice(out, owner);
		buf_add_str(out, hold->shared ? ", shared" : "");
		if (hold->ttl_ms > 0)
			buf_addf(out, ", for %lld ms", (long long)hold->ttl_ms);
	}
}

static void schedule_words(const struct core *core, struct slice name, struct buf *out)
{
	const struct schedule *schedule = schedule_find(core, name);

	if (!schedule)
		return;
	buf_add_str(out, schedule->paused ? "paused, " : "active, ");
	add_slice(out, schedule->said.cron);
	buf_addf(out, ", of %s", schedule->owner);
	if (schedule->last_run > 0)
		buf_addf(out, ", last run %llu", (unsigned long long)schedule->last_run);
}

static void pool_words(const struct core *core, struct slice name, struct buf *out)
{
	for (size_t i = 0; i < core->pool_count; i++) {
		const struct pool *pool = core->pools[i];

		if (!slice_eq(slice_str(pool->name), name))
			continue;
		ADD_WORD(out, words_pool_state, pool->state);
		for (size_t at = 0; at < pool->provides.n; at++) {
			buf_add_str(out, at ? "," : ", provides ");
			add_slice(out, pool->provides.at[at]);
		}
	}
	if (out->len == 0)
		buf_add_str(out, "active");      /* the state of a pool that nobody has set */
}

static void object_words(const struct core *core, const struct input_set *input, struct buf *out)
{
	struct slice name = input->set.name;
	const struct worker *worker;
	const struct tenant *tenant;
	const struct topic *topic;
	const struct group *group;

	switch ((enum object_kind)input->set.kind) {
	case OBJECT_WORKER:
		worker = name_map_get(&core->worker_names, name);
		if (worker && worker->standing == STANDING_NONE)
			buf_add_str(out, "active");
		else if (worker)
			ADD_WORD(out, words_worker_standing, worker->standing);
		return;
	case OBJECT_POOL:
		pool_words(core, name, out);
		return;
	case OBJECT_TOPIC:
		topic = topic_find(core, name);
		if (topic)
			buf_addf(out, "pool %s", topic->pool);
		return;
	case OBJECT_TENANT:
		tenant = tenant_find(core, name);
		if (tenant && tenant->set)
			buf_addf(out, "weight %u, jobs %u, queued %u", tenant->weight, tenant->bound.limit, tenant->max_queued);
		return;
	case OBJECT_GROUP:
		group = name_map_get(&core->groups, name);
		if (group && group->set > 0)
			buf_addf(out, "limit %u", group->set);
		return;
	case OBJECT_LOCK:
		lock_words(core, input, out);
		return;
	case OBJECT_SCHEDULE:
		schedule_words(core, name, out);
		return;
	case OBJECT_ASSET:
		asset_words(core, &input->set, out);
		return;
	case OBJECT_TOKEN:
		token_words(core, name, out);
		return;
	}
}

void act_state_words(struct core *core, const struct core_input *input, uint64_t number, struct buf *out)
{
	const struct run *run;

	switch (input->kind) {
	case INPUT_SUBMIT:
		run = run_find(core, number);
		if (is_schedule(input))
			schedule_words(core, input->submit.name, out);
		else if (run)
			buf_addf(out, "%s, %u job%s", run->name, run->job_count, run->job_count == 1 ? "" : "s");
		return;
	case INPUT_SET:
		object_words(core, &input->set, out);
		return;
	case INPUT_VALUES:
		values_state_words(core, input, out);
		return;
	case INPUT_CANCEL:
	case INPUT_ACT:
	case INPUT_REOPEN:
		run_words(core, input, out);
		return;
	default:
		return;
	}
}

void act_detail_words(const struct core_input *input, struct buf *out)
{
	const struct input_act *act = act_of(input);

	if (input->kind == INPUT_PRUNE) {
		add_slice(out, input->prune.asked);
	} else if (input->kind == INPUT_SHUTDOWN) {
		buf_add_str(out, input->shutdown.workers ? "ended, with its workers" : "ended");
	} else if (act && act->verb == ACT_RETRY) {
		buf_add_str(out, ", scope ");
		ADD_WORD(out, words_retry_scope, act->value);
	} else if (act && act->verb == ACT_PUSHBACK && act->target.len > 0) {
		buf_add_str(out, ", back to ");
		add_slice(out, act->target);
	} else if (act && act->verb == ACT_APPROVE) {
		for (size_t i = 0; i < act->given.n && out->len < ACT_WORDS_MAX; i++) {
			buf_add_str(out, ", ");
			add_slice(out, act->given.at[i]);
		}
	}
}
