/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which jobs of a list share a line. */
#include "cli/commands/list_fold.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/map.h"
#include "lang/spec_graph.h"
#include "tui/fold.h"

struct fan {                             /* the jobs of a fan-out in the list */
	size_t count, filled;
	size_t *members;
};

/* What the jobs that may share a line have in common; empty for a job that isn't of a fan-out. */
static struct slice fan_key(const struct list_job *job, struct arena *arena)
{
	size_t stem = spec_stem(job->name);
	struct buf key = { 0 };
	struct slice copy;

	if (stem == job->name.len)
		return slice_make(NULL, 0);
	buf_addf(&key, "%" PRIu64 " %" PRIu64 " ", job->run, job->kind);
	buf_add(&key, job->name.data, stem);
	copy = arena_copy(arena, buf_slice(&key));
	buf_free(&key);
	return copy;
}

/* Find each job's fan-out; NULL: the job has a line of its own. */
static struct fan **find_fans(const struct list_job *jobs, size_t count, struct arena *arena)
{
	struct fan **fans = arena_zalloc(arena, count + 1, sizeof(*fans));
	struct name_map known = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct slice key = fan_key(&jobs[i], arena);

		if (key.len == 0)
			continue;
		fans[i] = name_map_get(&known, key);
		if (fans[i] == NULL) {
			fans[i] = arena_zalloc(arena, 1, sizeof(*fans[i]));
			name_map_put(&known, key, fans[i]);
		}
		fans[i]->count++;
	}
	name_map_free(&known);
	for (size_t i = 0; i < count; i++)
		if (fans[i] && fans[i]->count <= FOLD_MIN)
			fans[i] = NULL;
	return fans;
}

static struct slice line_job(const struct list_job *job, bool folded, struct arena *arena)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_addf(&text, "%" PRIu64 "/", job->run);
	buf_add(&text, job->name.data, folded ? spec_stem(job->name) : job->name.len);
	if (folded)
		buf_add_str(&text, "[*]");
	copy = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

struct list_lines list_fold(const struct list_job *jobs, size_t count, bool fold, struct arena *arena)
{
	struct fan **fans = fold ? find_fans(jobs, count, arena) : arena_zalloc(arena, count + 1, sizeof(*fans));
	struct list_lines lines = { .at = arena_zalloc(arena, count + 1, sizeof(*lines.at)) };
	size_t *members = arena_zalloc(arena, count + 1, sizeof(*members)), taken = 0;

	for (size_t i = 0; i < count; i++) {
		struct fan *fan = fans[i];

		if (fan && fan->members) {
			fan->members[fan->filled++] = i;
			continue;
		}
		members[taken] = i;
		lines.at[lines.count++] = (struct list_line){
			.members = &members[taken], .count = fan ? fan->count : 1, .job = line_job(&jobs[i], fan != NULL, arena),
		};
		if (fan) {
			fan->members = &members[taken];
			fan->filled = 1;
		}
		taken += fan ? fan->count : 1;
	}
	return lines;
}

void text_counts_add(struct text_counts *counts, struct slice text)
{
	size_t k = 0;

	while (k < counts->kinds && !slice_eq(counts->texts[k], text))
		k++;
	if (k == TEXT_COUNTS_MAX) {
		counts->others++;
		return;
	}
	if (k == counts->kinds)
		counts->texts[counts->kinds++] = text;
	counts->times[k]++;
	for (; k > 0 && counts->times[k] > counts->times[k - 1]; k--) {
		const struct slice before = counts->texts[k - 1];
		size_t counted = counts->times[k - 1];

		counts->texts[k - 1] = counts->texts[k];
		counts->times[k - 1] = counts->times[k];
		counts->texts[k] = before;
		counts->times[k] = counted;
	}
}

struct slice text_counts_shown(struct text_counts *counts, struct arena *arena)
{
	struct buf out = { 0 };
	struct slice copy;

	for (size_t k = 0; k < counts->kinds; k++) {
		buf_addf(&out, "%s%zu ", k > 0 ? ", " : "", counts->times[k]);
		buf_add_slice(&out, counts->texts[k]);
	}
	if (counts->others > 0)
		buf_addf(&out, ", %zu other", counts->others);
	copy = arena_copy(arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

struct slice text_counts_common(struct text_counts *counts, struct arena *arena)
{
	return counts->kinds == 1 ? counts->texts[0] : text_counts_shown(counts, arena);
}
