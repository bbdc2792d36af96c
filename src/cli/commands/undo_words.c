/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the texts of acts for titan undo: which acts have an inverse, which one, and why others have none. */
#include "base/text.h"
#include "cli/commands/undo.h"
#include "proto/limits.h"

#define PRIORITY_MAX 100

/* Acts without an inverse. kind NULL: any target. */
static const struct final_act {
	const char *verb, *kind, *why;
} final_acts[] = {
	{ "submit", NULL, "a run that was submitted can only be cancelled" },
	{ "grow", NULL, "jobs that were added to a run can't be removed from it" },
	{ "cancel", NULL, "jobs that were told to end can't go on; titan retry runs them again" },
	{ "retry", NULL, "jobs that were started again can only be cancelled" },
	{ "requeue", NULL, "jobs that were started again can only be cancelled" },
	{ "approve", NULL, "a decision on a gate is final, because jobs may have started since" },
	{ "reject", NULL, "a decision on a gate is final, because jobs were skipped since" },
	{ "pushback", NULL, "a decision on a gate is final, because jobs run again since" },
	{ "settle", NULL, "a decision on a job is final, because other jobs may have started since" },
	{ "prune", NULL, "titan keeps nothing of pruned runs that it could restore" },
	{ "shutdown", NULL, "a master that was ended is started with titan up" },
	{ "put", "schedule", "titan doesn't keep the schedule that was replaced" },
	{ "remove", "schedule", "titan doesn't keep a schedule that was removed" },
	{ "fire", "schedule", "a run that was begun can only be cancelled" },
	{ "remove", "worker", "a forgotten worker is listed again as soon as it connects" },
	{ "drop", "lock", "somebody else may have taken the lock since; titan lock take takes the lock again" },
	{ "put", "token", "to remove the token, use titan token rm" },
	{ "remove", "token", "titan doesn't keep the secret of a removed token" },
};

static bool eat(struct slice *text, const char *word)
{
	size_t len = strlen(word);

	if (text->len < len || memcmp(text->data, word, len) != 0)
		return false;
	*text = slice_make(text->data + len, text->len - len);
	return true;
}

static bool eat_number(struct slice *text, uint64_t *ret)
{
	size_t len = 0;

	while (len < text->len && text->data[len] >= '0' && text->data[len] <= '9')
		len++;
	if (!text_parse_u64(slice_make(text->data, len), ret))
		return false;
	*text = slice_make(text->data + len, text->len - len);
	return true;
}

static bool is(struct slice text, const char *word)
{
	return slice_eq(text, slice_str(word));
}

bool undo_read_values(struct slice text, bool priority, size_t job_count, struct arena *arena, struct undo_values *ret)
{
	bool only = text.len > 0 && !memchr(text.data, ' ', text.len) && !memchr(text.data, '*', text.len);

	*ret = (struct undo_values){ .at = arena_zalloc(arena, job_count + 1, sizeof(*ret->at)), .same = true };
	for (;;) {
		uint64_t value = 0, times = 1;

		if (priority ? !eat_number(&text, &value) || value > PRIORITY_MAX : !eat(&text, "free") && !(value = eat(&text, "held")))
			return false;
		if (only)
			times = job_count;
		else if (eat(&text, "*") && (!eat_number(&text, &times) || times < 2))
			return false;
		if (times > job_count - ret->count)
			return false;
		for (uint64_t i = 0; i < times; i++)
			ret->at[ret->count++] = value;
		ret->same = ret->same && ret->count > 0 && value == ret->at[0];
		if (text.len == 0)
			return ret->count == job_count && job_count > 0;
		if (!eat(&text, " "))
			return false;
	}
}

static bool same_value(const struct rec_job_row *one, const struct rec_job_row *other, bool priority)
{
	return priority ? one->priority == other->priority : one->held == other->held;
}

void undo_write_values(const struct rec_job_row *jobs, size_t count, bool priority, struct buf *out)
{
	size_t next;

	for (size_t at = 0; at < count; at = next) {
		for (next = at + 1; next < count && same_value(&jobs[at], &jobs[next], priority); next++)
			;
		buf_add_str(out, at > 0 ? " " : "");
		if (priority)
			buf_addf(out, "%llu", (unsigned long long)jobs[at].priority - 1);
		else
			buf_add_str(out, jobs[at].held ? "held" : "free");
		if (next - at > 1 && next - at < count)
			buf_addf(out, "*%zu", next - at);
	}
}

/* Read the number of dead letters in the words of a state, such as "3 failed, 2 dead letters"; 0: there is none. */
static uint64_t read_letters(struct slice text)
{
	const uint8_t *at = text.len > 0 ? memmem(text.data, text.len, " dead letter", 12) : NULL;
	size_t end = at ? (size_t)(at - text.data) : 0, start = end;
	uint64_t count = 0;

	while (start > 0 && text.data[start - 1] >= '0' && text.data[start - 1] <= '9')
		start--;
	return text_parse_u64(slice_make(text.data + start, end - start), &count) ? count : 0;
}

/* ---- objects ---- */

/* The verb that gives a worker or pool this state; 0: none. */
static enum set_verb place_verb(struct slice state, bool pool)
{
	if (is(state, "active") || (pool && state.len == 0))
		return SET_RESUME;
	if (is(state, "draining"))
		return SET_DRAIN;
	return is(state, pool ? "inactive" : "cordoned") ? SET_PAUSE : (enum set_verb)0;
}

static bool read_tenant(struct slice text, struct msg_set *set)
{
	set->verb = text.len > 0 ? SET_PUT : SET_REMOVE;
	if (text.len == 0)
		return true;
	if (!eat(&text, "weight ") || !eat_number(&text, &set->weight) || !eat(&text, ", jobs ") || !eat_number(&text, &set->number) ||
	    !eat(&text, ", queued ") || !eat_number(&text, &set->most) || text.len > 0 || set->weight == 0 ||
	    set->number >= LIMIT_RUN_JOBS_MAX || set->most >= LIMIT_RUN_JOBS_MAX)
		return false;
	set->number++;                   /* in a SET 0 means unchanged */
	set->most++;
	return true;
}

/* Read "active, provides a,b". A pool without capabilities before and after the act needs only the verb for its state. */
static bool read_pool(struct undo *undo)
{
	const struct rec_act_row *act = undo->act;
	struct msg_set *set = &undo->set;
	struct slice text = act->before;
	const uint8_t *provides = text.len ? memmem(text.data, text.len, ", provides ", 11) : NULL;
	struct slice state = slice_make(text.data, provides ? (size_t)(provides - text.data) : text.len);

	set->verb = place_verb(state, true);
	if (set->verb == 0 || (!provides && !(act->after.len && memmem(act->after.data, act->after.len, ", provides ", 11))))
		return set->verb != 0;
	set->number = 1 + (set->verb == SET_DRAIN ? POOL_DRAINING : set->verb == SET_PAUSE ? POOL_INACTIVE : POOL_ACTIVE);
	set->verb = SET_PUT;
	set->flag = true;
	set->words.at = undo->provides;
	text = provides ? slice_make(provides + 11, text.len - state.len - 11) : slice_make(NULL, 0);
	while (text.len > 0 && set->words.n < LIMIT_CAPABILITIES_MAX) {
		const uint8_t *comma = memchr(text.data, ',', text.len);
		size_t len = comma ? (size_t)(comma - text.data) : text.len;

		set->words.at[set->words.n++] = slice_make(text.data, len);
		text = slice_make(text.data + len + (comma != NULL), text.len - len - (comma != NULL));
	}
	return text.len == 0;
}

static bool read_topic(struct slice before, struct msg_set *set)
{
	set->verb = before.len > 0 ? SET_PUT : SET_REMOVE;
	if (before.len > 0 && !eat(&before, "pool "))
		return false;
	set->text = before;
	return true;
}

static bool read_group(struct slice text, struct msg_set *set)
{
	set->verb = text.len > 0 ? SET_PUT : SET_REMOVE;
	return text.len == 0 || (eat(&text, "limit ") && eat_number(&text, &set->number) && text.len == 0 && set->number > 0);
}

static bool read_lock(const struct rec_act_row *act, struct msg_set *set)
{
	struct slice owner = act->after;
	const uint8_t *comma;

	if (!is(act->verb, "take") || act->before.len > 0 || !eat(&owner, "held by ") || owner.len == 0)
		return false;
	comma = memchr(owner.data, ',', owner.len);
	set->verb = SET_DROP;
	set->text = comma ? slice_make(owner.data, (size_t)(comma - owner.data)) : owner;
	return true;
}

static bool read_schedule(struct slice before, struct msg_set *set)
{
	set->verb = eat(&before, "paused, ") ? SET_PAUSE : eat(&before, "active, ") ? SET_RESUME : (enum set_verb)0;
	return set->verb != 0;
}

/* Read "group NAME" and the inverse. */
static bool read_object(struct undo *undo, struct slice target)
{
	const struct rec_act_row *act = undo->act;
	struct msg_set *set = &undo->set;
	bool read = false;

	if (eat(&target, "worker ")) {
		set->kind = OBJECT_WORKER;
		read = (set->verb = place_verb(act->before, false)) != 0;
	} else if (eat(&target, "pool ")) {
		set->kind = OBJECT_POOL;
		read = read_pool(undo);
	} else if (eat(&target, "topic ")) {
		set->kind = OBJECT_TOPIC;
		read = read_topic(act->before, set);
	} else if (eat(&target, "tenant ")) {
		set->kind = OBJECT_TENANT;
		read = read_tenant(act->before, set);
	} else if (eat(&target, "group ")) {
		set->kind = OBJECT_GROUP;
		read = read_group(act->before, set);
	} else if (eat(&target, "schedule ")) {
		set->kind = OBJECT_SCHEDULE;
		read = read_schedule(act->before, set);
	} else if (eat(&target, "lock ")) {
		set->kind = OBJECT_LOCK;
		read = read_lock(act, set);
	}
	undo->name = set->name = target;
	return read && target.len > 0;
}

/* Read "run 12" or "job 12/load". */
static bool read_run(struct undo *undo, struct slice target)
{
	bool job = eat(&target, "job ");

	undo->of_run = job || eat(&target, "run ");
	if (!undo->of_run || !eat_number(&target, &undo->run) || (job && !eat(&target, "/")))
		return false;
	undo->name = target;
	return job == (target.len > 0);
}

enum err undo_read(const struct rec_act_row *act, struct undo *ret, struct error *error)
{
	bool cut = act->before.len > 4 && memcmp(act->before.data + act->before.len - 4, " ...", 4) == 0;
	bool on_jobs = is(act->verb, "hold") || is(act->verb, "release") || is(act->verb, "priority") || is(act->verb, "discard");

	*ret = (struct undo){ .act = act };
	for (size_t i = 0; i < sizeof(final_acts) / sizeof(final_acts[0]); i++) {
		const struct final_act *final = &final_acts[i];
		struct slice target = act->target;

		if (is(act->verb, final->verb) && (!final->kind || (eat(&target, final->kind) && eat(&target, " "))))
			return error_set(error, ERR_INVALID, "%s", final->why);
	}
	if (slice_eq(act->before, act->after))
		return error_set(error, ERR_INVALID, "the act changed nothing");
	if (cut)
		return error_set(error, ERR_INVALID, "the jobs had too many different values before, and the record has only the first of them");
	if (is(act->verb, "discard")) {
		uint64_t before = read_letters(act->before), after = read_letters(act->after);

		ret->letters = before > after ? before - after : 0;
		if (ret->letters == 0)
			return error_set(error, ERR_INVALID, "its record doesn't say how many dead letters there were");
	}
	if (on_jobs ? read_run(ret, act->target) : read_object(ret, act->target))
		return ERR_NONE;
	return error_set(error, ERR_INVALID, "its record doesn't say enough about the time before it");
}
