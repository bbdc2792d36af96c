/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The target of an act: a run, one job, or the jobs of a fan-out; and whether the person may change it. */
#include "core/life/life.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/graph/graph.h"
#include "core/life/internal.h"

static bool starts_with(const struct job *job, struct slice stem, struct core *core)
{
	struct rec_job_spec spec;

	job_spec_decode(core, job, &spec);
	return spec.name.len > stem.len + 1 && spec.name.data[stem.len] == '[' &&
	       memcmp(spec.name.data, stem.data, stem.len) == 0;
}

/* Find the jobs named NAME[0], NAME[1] and so on. */
static bool target_fan_out(struct core *core, struct slice name, struct target *target)
{
	char first_name[LIMIT_NAME_MAX_LEN + 8];
	struct slice stem = name;
	struct run *run = target->run;
	const struct job *first;

	if (stem.len > 3 && memcmp(stem.data + stem.len - 3, "[*]", 3) == 0)
		stem.len -= 3;
	if (stem.len > LIMIT_NAME_MAX_LEN || memchr(stem.data, 0, stem.len))
		return false;            /* too long or with a NUL: no job has such a name */
	snprintf(first_name, sizeof(first_name), "%.*s[0]", (int)stem.len, (const char *)stem.data);
	first = run_job_named(core, run, slice_str(first_name));
	if (!first)
		return false;
	target->first = first->index;
	target->count = 1;
	while (target->first + target->count < run->job_count &&
	       starts_with(run_job(run, target->first + target->count), stem, core))
		target->count++;
	return true;
}

enum err owner_check(const char *owner, struct slice own_only, struct error *error, const char *what, ...)
{
	char text[LIMIT_NAME_MAX_LEN + 32];
	va_list args;

	if (own_only.len == 0 || slice_eq(slice_str(owner), own_only))
		return ERR_NONE;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	return error_set(error, ERR_DENIED, "%s belongs to %s; you may change only what you submitted yourself", text, owner);
}

enum err own_run_check(const struct core *core, uint64_t number, struct slice own_only, struct error *error)
{
	const struct run *run = run_find(core, number);

	return run ? owner_check(run->owner, own_only, error, "run %llu", (unsigned long long)number) : ERR_NONE;
}

enum err act_target(struct core *core, uint64_t number, struct slice name, struct target *ret_target,
		    struct error *error)
{
	struct target target = { .run = run_find(core, number), .whole = name.len == 0 };
	int len = name.len < LIMIT_NAME_MAX_LEN ? (int)name.len : LIMIT_NAME_MAX_LEN;
	const struct job *job;

	if (!target.run)
		return error_set(error, ERR_NOT_FOUND, "run %llu is not live", (unsigned long long)number);
	job = target.whole ? NULL : run_job_named(core, target.run, name);
	if (target.whole) {
		target.count = target.run->job_count;
	} else if (job) {
		target.first = job->index;
		target.count = 1;
	} else if (!target_fan_out(core, name, &target)) {
		error_set(error, ERR_NOT_FOUND, "run %llu has no job '%.*s'", (unsigned long long)number, len,
			  (const char *)name.data);
		return error_next(error, "titan show %llu", (unsigned long long)number);
	}
	*ret_target = target;
	return ERR_NONE;
}

enum err act_check_live(uint64_t number, struct slice name, const struct target *target, struct error *error)
{
	const char *state = state_table[target_job(target, 0)->state].name;

	if (target->whole && target->run->ended == target->run->job_count)
		return error_set(error, ERR_TERMINAL, "run %llu has already ended", (unsigned long long)number);
	for (uint32_t i = 0; i < target->count; i++)
		if (target->whole || !state_terminal(target_job(target, i)->state))
			return ERR_NONE;
	return error_set(error, ERR_TERMINAL, "job %llu/%.*s has already ended: %s", (unsigned long long)number,
			 (int)name.len, (const char *)name.data, state);
}
