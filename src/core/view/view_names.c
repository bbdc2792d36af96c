/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of a run's jobs by their beginning, for completion. A run can have 100,000 jobs, so the name is read from the
 * front of a job's specification, where clients write it; any other specification is decoded as a whole.
 */
#include "base/check.h"
#include "core/graph/graph.h"
#include "core/view/view.h"

#define NAME_KEY 1                       /* key of the name in a job_spec record */

/* Read the name at the front of an encoded map. False: the map begins with something else. */
static bool first_name(struct slice bytes, struct slice *ret_name)
{
	const uint8_t *at = bytes.data;
	size_t head, len;

	if (bytes.len < 4)
		return false;
	head = (at[0] & 0xf0) == 0x80 ? 1 : at[0] == 0xde ? 3 : 0;
	if (head == 0 || bytes.len < head + 3 || at[head] != NAME_KEY)
		return false;
	at += head + 1;
	if ((at[0] & 0xe0) == 0xa0) {
		len = at[0] & 0x1f;
		at += 1;
	} else if (at[0] == 0xd9) {
		len = at[1];
		at += 2;
	} else {
		return false;
	}
	if (len > (size_t)(bytes.data + bytes.len - at))
		return false;
	*ret_name = slice_make(at, len);
	return true;
}

static struct slice name_of(const struct job *job, struct arena *arena)
{
	struct slice bytes = job_spec_bytes(job), name;
	struct rec_job_spec spec;

	if (first_name(bytes, &name))
		return name;
	CHECK(record_decode(REC_job_spec, &bytes, arena, &spec, NULL) == ERR_NONE);
	return spec.name;
}

uint64_t view_name_next(const struct core *core, uint64_t number, struct slice prefix, uint64_t index, uint64_t end,
			struct arena *arena, struct rec_job_row *ret_row)
{
	const struct run *run = run_find(core, number);

	for (; run && index < end && index < run->job_count; index++) {
		const struct job *job = run_job(run, (uint32_t)index);
		struct slice name = name_of(job, arena);

		if (name.len < prefix.len || (prefix.len > 0 && memcmp(name.data, prefix.data, prefix.len) != 0))
			continue;
		*ret_row = (struct rec_job_row){
			.job = job_serial(job), .run = number, .index = index, .name = name, .state = job->state,
		};
		return index + 1;
	}
	return 0;
}
