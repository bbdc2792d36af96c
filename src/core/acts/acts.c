/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of acts, and the end of their chain. Core keeps only the latest number and hash; all else is in the store. */
#include "core/acts/acts.h"

#include "base/planted.h"
#include "core/acts/chain.h"
#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/rows/durable.h"

static bool is_asked(const struct core_input *input)
{
	return input->kind != INPUT_PRUNE || input->prune.asked.len > 0;
}

void acts_before(struct core *core, const struct core_input *input)
{
	struct acts *acts = &core->acts;
	struct act_words words;

	buf_clear(&acts->before);
	if (!is_asked(input))
		return;
	buf_clear(&acts->text);
	act_words(input, &acts->text, &words);
	act_state_words(core, input, words.run, &acts->before);
}

enum err acts_expected(const struct core *core, const struct core_input *input, struct error *error)
{
	struct slice now = buf_slice(&core->acts.before);
	struct slice expect = input->kind == INPUT_ACT    ? input->act.expect :
			      input->kind == INPUT_REOPEN ? input->reopen.act.expect :
			      input->kind == INPUT_SET	  ? input->set.set.expect : (struct slice){ 0 };

	if (expect.len == 0 || (now.len == 0 && slice_eq(expect, slice_str("none"))))
		return ERR_NONE;
	if (now.len >= expect.len && memcmp(now.data, expect.data, expect.len) == 0 && (now.len == expect.len || now.data[expect.len] == ','))
		return ERR_NONE;
	return error_set(error, ERR_CHANGED, "it was changed meanwhile: it is '%.*s' now", (int)(now.len < ACT_WORDS_MAX ? now.len : ACT_WORDS_MAX),
			 (const char *)(now.len > 0 ? now.data : (const uint8_t *)""));
}

/*
 * Describe where an act came from. A job is named by run and name, because it may be pruned before somebody reads the
 * act.
 */
static struct slice origin_of(struct core *core, const struct actor *by)
{
	const struct job *job = by->caller.job != 0 ? job_find(core, by->caller.job) : NULL;
	struct arena *arena = &core->outbox->arena;
	struct rec_job_spec spec;
	struct buf text = { 0 };
	struct slice origin;

	if (by->caller.job == 0)
		return arena_copy(arena, by->origin);
	if (job) {
		job_spec_decode(core, job, &spec);
		buf_addf(&text, "job %llu/%.*s", (unsigned long long)job->run->number, (int)spec.name.len,
			 (const char *)spec.name.data);
	} else {
		buf_addf(&text, "job number %llu", (unsigned long long)by->caller.job);
	}
	origin = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return origin;
}

static void act_put(struct core *core, const struct core_input *input, const struct act_words *words, struct slice target)
{
	struct arena *arena = &core->outbox->arena;
	struct acts *acts = &core->acts;
	struct slice key = input->by.key, origin = origin_of(core, &input->by);
	struct row_act *row = &outbox_row(core->outbox, TABLE_act)->act;

	if (input->kind == INPUT_SUBMIT)
		key = slice_make(input->submit.key, sizeof(input->submit.key));
	*row = (struct row_act){
		.act = (int64_t)acts->count + !(PLANTED(act_shares_a_number) && acts->due), .turn = (int64_t)core->turn, .wall_ms = core->now.wall_ms,
		.principal = (int64_t)input->by.principal, .name = arena_copy(arena, input->by.name),
		.key_id = arena_copy(arena, key), .origin = origin, .by_job = (int64_t)input->by.caller.job,
		.run = (int64_t)words->run, .verb = arena_copy(arena, words->verb), .target = target,
		.before = arena_copy(arena, buf_slice(&acts->before)), .after = arena_copy(arena, buf_slice(&acts->after)),
		.reason = arena_copy(arena, words->reason),
		.previous = arena_copy(arena, slice_make(acts->head, SHA256_SIZE)),
	};
	act_hash(row, acts->head);
	row->hash = arena_copy(arena, slice_make(acts->head, SHA256_SIZE));
	acts->count++;
	happened(core, HAPPENED_ACT, acts->count, slice_str(NULL), 0);
	acts->loaded = acts->count;
	acts->due = true;
}

/* Check whether the step of this input returns the number of a run. */
static bool begins_run(const struct core_input *input)
{
	const struct msg_set *set = &input->set.set;

	if (input->kind == INPUT_SUBMIT)
		return input->submit.schedule.len == 0 || input->submit.into != 0;
	return input->kind == INPUT_SET && set->kind == OBJECT_SCHEDULE && set->verb == SET_FIRE;
}

void acts_after(struct core *core, const struct core_input *input, uint64_t changed)
{
	struct acts *acts = &core->acts;
	struct act_words words;
	struct slice target;

	if ((changed == STEP_REFUSED && !PLANTED(act_of_a_refusal)) || !is_asked(input))
		return;
	if (PLANTED(act_left_out) && input->kind == INPUT_CANCEL)
		return;
	buf_clear(&acts->text);
	act_words(input, &acts->text, &words);
	words.verb = arena_copy(&core->outbox->arena, words.verb);
	if (begins_run(input))
		words.run = changed;
	buf_clear(&acts->after);
	act_state_words(core, input, words.run, &acts->after);
	if (changed == 0 && slice_eq(buf_slice(&acts->before), buf_slice(&acts->after)))
		return;
	act_detail_words(input, &acts->after);
	buf_clear(&acts->text);
	act_target_words(input, words.run, &acts->text);
	target = arena_copy(&core->outbox->arena, buf_slice(&acts->text));
	act_put(core, input, &words, target);
}

void acts_flush(struct core *core)
{
	if (core->acts.due)
		meta_put(core, "acts", core->acts.count);
	core->acts.due = false;
}
