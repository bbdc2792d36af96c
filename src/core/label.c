/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requirements: jobs that want the same labels of their worker share a class, and each class has a queue of
 * its own, so that one that nobody can serve never holds up another. A class lives as long as a run in
 * memory has jobs of it; the first one wants nothing and lives for ever.
 */
#include "core/internal.h"

#include <stdlib.h>

static int slice_cmp(struct slice a, struct slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.data, b.data, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int label_order(const void *a, const void *b)
{
	return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

void labels_sort(struct slice_list *labels)
{
	size_t kept = 0;

	if (labels->n == 0)
		return;
	qsort(labels->at, labels->n, sizeof(*labels->at), label_order);
	for (size_t i = 1; i < labels->n; i++)
		if (!slice_eq(labels->at[kept], labels->at[i]))
			labels->at[++kept] = labels->at[i];
	labels->n = kept + 1;
}

struct slice_list labels_copy(struct slice_list labels)
{
	struct slice_list copy = { .n = labels.n };
	size_t bytes = 0;
	uint8_t *text;

	if (labels.n == 0)
		return copy;
	for (size_t i = 0; i < labels.n; i++)
		bytes += labels.at[i].len;
	copy.at = mem_alloc(labels.n * sizeof(*copy.at) + bytes);
	text = (uint8_t *)(copy.at + labels.n);
	for (size_t i = 0; i < labels.n; i++) {
		memcpy(text, labels.at[i].data, labels.at[i].len);
		copy.at[i] = slice_make(text, labels.at[i].len);
		text += labels.at[i].len;
	}
	return copy;
}

/* Has the first list all of the second? Both are sorted. */
static bool labels_cover(const struct slice_list *has, const struct slice_list *wants)
{
	size_t at = 0;

	for (size_t i = 0; i < wants->n; i++) {
		while (at < has->n && slice_cmp(has->at[at], wants->at[i]) < 0)
			at++;
		if (at == has->n || !slice_eq(has->at[at], wants->at[i]))
			return false;
	}
	return true;
}

bool worker_can(const struct worker *worker, const struct ready_class *class)
{
	return class->labels.n == 0 || labels_cover(&worker->labels, &class->labels);
}

static bool labels_same(const struct slice_list *a, const struct slice_list *b)
{
	return a->n == b->n && labels_cover(a, b);
}

void classes_init(struct core *core)
{
	core->classes = mem_zalloc(sizeof(*core->classes));
	core->classes[0] = mem_zalloc(sizeof(**core->classes));
	core->class_count = 1;
}

static void class_free(struct ready_class *class)
{
	if (!class)
		return;
	mem_free(class->keys);
	mem_free(class->labels.at);
	mem_free(class);
}

void classes_free(struct core *core)
{
	for (size_t i = 0; i < core->class_count; i++)
		class_free(core->classes[i]);
	mem_free(core->classes);
}

static void run_holds_class(struct run *run, struct ready_class *class, size_t at)
{
	for (size_t i = 0; i < run->class_count; i++)
		if (run->classes[i] == at)
			return;
	run->classes = mem_resize(run->classes, run->class_count + 1, sizeof(*run->classes));
	run->classes[run->class_count++] = (uint16_t)at;
	class->runs++;
}

enum err class_of(struct core *core, struct run *run, struct slice_list labels, uint16_t *ret_class,
		  struct error *error)
{
	size_t vacant = core->class_count;

	if (labels.n == 0) {
		*ret_class = 0;
		return ERR_NONE;
	}
	labels_sort(&labels);
	for (size_t i = 1; i < core->class_count; i++) {
		if (!core->classes[i]) {
			vacant = i;
		} else if (labels_same(&core->classes[i]->labels, &labels)) {
			run_holds_class(run, core->classes[i], i);
			*ret_class = (uint16_t)i;
			return ERR_NONE;
		}
	}
	if (vacant > LIMIT_CLASSES_MAX)
		return error_set(error, ERR_FULL, "live jobs have %d different sets of labels already",
				 LIMIT_CLASSES_MAX);
	if (vacant == core->class_count) {
		core->classes = mem_resize(core->classes, core->class_count + 1, sizeof(*core->classes));
		core->class_count++;
	}
	core->classes[vacant] = mem_zalloc(sizeof(**core->classes));
	core->classes[vacant]->labels = labels_copy(labels);
	run_holds_class(run, core->classes[vacant], vacant);
	*ret_class = (uint16_t)vacant;
	return ERR_NONE;
}

/* What its jobs left in the queues of these classes goes with the class, or is dropped when it surfaces. */
void run_release_classes(struct core *core, struct run *run)
{
	for (size_t i = 0; i < run->class_count; i++) {
		struct ready_class *class = core->classes[run->classes[i]];

		if (--class->runs > 0)
			continue;
		class_free(class);
		core->classes[run->classes[i]] = NULL;
	}
	run->class_count = 0;
}
