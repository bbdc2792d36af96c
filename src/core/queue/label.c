/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Classes: jobs with the same requirements for a worker (labels, resources, pool, name, affinity, directory) share a class. Each
 * class has its own queues, so a class that no worker serves never holds up another. A class lives as long as a run
 * in memory has jobs of it. The first class has no requirements and lives for ever.
 */
#include "core/queue/queue.h"

#include <stdlib.h>

#include "base/planted.h"
#include "core/life/life.h"
#include "core/place/place.h"
#include "core/queue/internal.h"

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

bool worker_has_labels(const struct worker *worker, const struct wants *wants)
{
	for (size_t i = 0; i < wants->spec.labels.n; i++)
		if (!label_met(&worker->labels, &wants->labels[i]) && (wants->labels[i].op != LABEL_LACKS || !PLANTED(label_lacks_ignored)))
			return false;
	return true;
}

bool pool_has(const struct pool *pool, struct slice capability)
{
	for (size_t i = 0; i < pool->provides.n; i++)
		if (slice_eq(pool->provides.at[i], capability))
			return true;
	return false;
}

size_t pool_lacks(const struct pool *pool, const struct wants *wants)
{
	size_t lacks = 0;

	for (size_t i = 0; i < wants->spec.requires.n; i++)
		lacks += !pool_has(pool, wants->spec.requires.at[i]);
	return lacks;
}

bool pool_provides(const struct pool *pool, const struct wants *wants)
{
	size_t lacks = wants->spec.requires.n > 0 ? pool_lacks(pool, wants) : 0;

	return lacks == 0 || (PLANTED(one_capability_is_enough) && lacks < wants->spec.requires.n);
}

bool pool_has_topic(const struct pool *pool, const struct wants *wants)
{
	return wants->spec.topic.len == 0 || (wants->topic_pool && strcmp(wants->topic_pool, pool->name) == 0);
}

bool worker_can(const struct worker *worker, const struct ready_class *class)
{
	const struct wants *wants = class->wants;

	if (!wants)
		return true;
	if (wants->stranger && worker->owners_only && !PLANTED(stranger_at_the_owners_worker))
		return false;
	if (!kind_table[class->kind].worker)
		return false;
	if (!worker_shares(worker, wants) && !PLANTED(here_on_another_machine))
		return false;
	if (wants->spec.only_worker.len > 0 && !slice_eq(wants->spec.only_worker, slice_str(worker->name)))
		return false;
	if (wants->spec.pool_hard && (worker->pool->durable || !PLANTED(pool_key_ignored)) &&
	    !slice_eq(wants->spec.pool, slice_str(worker->pool->name)))
		return false;
	if (!pool_has_topic(worker->pool, wants) || !pool_provides(worker->pool, wants))
		return false;
	return ((PLANTED(labels_ignored) && wants->spec.labels.n > 1) ||
		worker_has_labels(worker, wants)) &&
	       resources_could(worker->offers, worker->offer_count, wants->asks, wants->ask_count);
}

void classes_init(struct core *core)
{
	core->classes = mem_zalloc(sizeof(*core->classes));
	core->classes[0] = mem_zalloc(sizeof(**core->classes));
	core->class_count = 1;
}

static void wants_free(struct wants *wants)
{
	if (!wants)
		return;
	mem_free(wants->bytes);
	mem_free(wants->asks);
	mem_free(wants->lacking);
	arena_free(&wants->arena);
	mem_free(wants);
}

static void class_free(struct ready_class *class)
{
	if (!class)
		return;
	class_free_queues(class);
	wants_free(class->wants);
	mem_free(class);
}

void classes_free(struct core *core)
{
	for (size_t i = 0; i < core->class_count; i++)
		class_free(core->classes[i]);
	mem_free(core->classes);
	name_map_free(&core->wishes);
}

/*
 * Note that a run has jobs of this class. Jobs of a run come in one after the other, so most find the run noted
 * already.
 */
static void run_holds_class(struct run *run, struct ready_class *class)
{
	if (class->newest_run == run->number)
		return;
	class->newest_run = run->number;
	for (size_t i = 0; i < run->class_count; i++)
		if (run->classes[i] == class->at)
			return;
	run->classes = mem_resize(run->classes, run->class_count + 1, sizeof(*run->classes));
	run->classes[run->class_count++] = class->at;
	class->runs++;
}

/* Bits of the byte behind the encoded specification, if any is set. With WANTS_HERE the submitter's directory follows. */
enum { WANTS_STRANGER = 1, WANTS_HERE = 2 };

/* Does a specification set nothing that concerns the worker, its directory apart? */
static bool sets_nothing(const struct rec_job_spec *spec)
{
	return spec->labels.n == 0 && spec->asks.n == 0 && spec->prefer.n == 0 && spec->prefer_worker.len == 0 &&
	       spec->only_worker.len == 0 && spec->pool.len == 0 && spec->requires.n == 0 && spec->topic.len == 0 &&
	       spec->affinity == AFFINITY_NONE;
}

/* Does a job require nothing of its worker but what all jobs of its submit do? */
static bool is_plain(const struct rec_job_spec *spec)
{
	return kind_table[spec_kind(spec)].worker && spec->dir.len == 0 && sets_nothing(spec);
}

/*
 * Encode the part of a specification that concerns the worker, in canonical order. Return false if it requires
 * nothing.
 */
static bool wants_encode(const struct rec_job_spec *spec, bool stranger, struct slice here, struct buf *out)
{
	struct rec_job_spec only = {
		.labels = spec->labels, .asks = spec->asks, .prefer = spec->prefer,
		.prefer_worker = spec->prefer_worker, .only_worker = spec->only_worker, .pool = spec->pool,
		.pool_hard = spec->pool_hard, .requires = spec->requires, .topic = spec->topic, .affinity = spec->affinity, .affinity_hard = spec->affinity_hard,
	};

	if (!kind_table[spec_kind(spec)].worker) {
		record_encode(out, REC_job_spec, &(struct rec_job_spec){ .kind = spec_kind(spec) });
		return true;
	}
	if (spec->dir.len > 0)
		here.len = 0;
	if (!stranger && here.len == 0 && sets_nothing(spec))
		return false;
	labels_sort(&only.labels);
	labels_sort(&only.asks);
	labels_sort(&only.prefer);
	labels_sort(&only.requires);
	record_encode(out, REC_job_spec, &only);
	if (stranger || here.len > 0)
		buf_add_byte(out, (uint8_t)((stranger ? WANTS_STRANGER : 0) | (here.len > 0 ? WANTS_HERE : 0)));
	buf_add_slice(out, here);
	return true;
}

/* Does the run belong to another person than the master's owner? */
static bool is_stranger(const struct core *core, const struct run *run)
{
	return core->owner[0] && strcmp(core->owner, run->owner) != 0 && (core->loaded || !PLANTED(stranger_forgotten_at_load));
}


/* Specifications were checked at their submit, so their requirements can be read. */
static struct label_want *label_wants(struct slice_list texts, struct arena *arena)
{
	struct label_want *wants = arena_zalloc(arena, texts.n + 1, sizeof(*wants));

	for (size_t i = 0; i < texts.n; i++)
		CHECK(label_want_read(texts.at[i], &wants[i]));
	return wants;
}

static struct wants *wants_make(struct slice bytes)
{
	struct wants *wants = mem_zalloc(sizeof(*wants));
	struct resource_list asks;

	wants->bytes = mem_alloc(bytes.len);
	wants->len = bytes.len;
	memcpy(wants->bytes, bytes.data, bytes.len);
	bytes.data = wants->bytes;
	CHECK(record_decode(REC_job_spec, &bytes, &wants->arena, &wants->spec, NULL) == ERR_NONE);
	if (bytes.len > 0) {
		wants->stranger = (*bytes.data & WANTS_STRANGER) != 0;
		bytes = slice_make(bytes.data + 1, bytes.len - 1);
	}
	if (bytes.len > 0)
		CHECK(record_decode(REC_run_context, &bytes, &wants->arena, &wants->here, NULL) == ERR_NONE);
	wants->labels = label_wants(wants->spec.labels, &wants->arena);
	wants->prefer = label_wants(wants->spec.prefer, &wants->arena);
	CHECK(resources_read(wants->spec.asks, &asks, NULL) == ERR_NONE);
	wants->ask_count = asks.n;
	if (asks.n > 0) {
		wants->asks = mem_alloc(asks.n * sizeof(*asks.at));
		memcpy(wants->asks, asks.at, asks.n * sizeof(*asks.at));
	}
	return wants;
}

static struct ready_class *class_new(struct core *core, struct slice bytes)
{
	struct ready_class *class;
	size_t at = 1;

	while (at < core->class_count && core->classes[at])
		at++;
	CHECK(at <= LIMIT_CLASSES_MAX);
	if (at == core->class_count) {
		core->classes = mem_resize(core->classes, core->class_count + 1, sizeof(*core->classes));
		core->class_count++;
	}
	class = core->classes[at] = mem_zalloc(sizeof(*class));
	class->at = (uint16_t)at;
	class->wants = wants_make(bytes);
	class->wants->topic_pool = topic_pool(core, class->wants->spec.topic);
	class->kind = (uint8_t)class->wants->spec.kind;
	name_map_put(&core->wishes, slice_make(class->wants->bytes, class->wants->len), class);
	return class;
}

/* The last quarter is kept for tenants with few classes. */
static bool classes_full(const struct core *core, const struct tenant *tenant)
{
	return core->wishes.count >= LIMIT_CLASSES_MAX ||
	       (core->wishes.count >= LIMIT_CLASSES_MAX / 4 * 3 && tenant->wishes >= LIMIT_TENANT_CLASSES_MAX / 16);
}

/*
 * Check that the tenant and the cluster may have one more class. Rows that are being loaded were checked when they
 * were submitted.
 */
static enum err class_room(const struct core *core, const struct run *run, const struct ready_class *class,
			   struct error *error)
{
	const struct tenant *tenant = run->tenant;

	if (!core->loaded || (class && (class->newest_run == run->number || map_get(&class->queues, tenant->at))))
		return ERR_NONE;
	if (tenant->wishes >= LIMIT_TENANT_CLASSES_MAX) {
		error_set(error, ERR_FULL, "the live jobs of tenant %s have %u different sets of worker "
			"requirements, and no more are allowed; try again when some have ended", tenant->name, tenant->wishes);
		return error_next(error, "titan tenant ls");
	}
	if (!class && classes_full(core, tenant))
		return error_set(error, ERR_FULL, "live jobs have %zu different sets of worker requirements, and no more are allowed; try again when jobs have ended", core->wishes.count);
	return ERR_NONE;
}

static enum err class_find(struct core *core, struct run *run, struct slice bytes, uint16_t *ret_class,
			   struct error *error)
{
	struct ready_class *class = name_map_get(&core->wishes, bytes);
	enum err err = class_room(core, run, class, error);

	if (err != ERR_NONE)
		return err;
	if (!class)
		class = class_new(core, bytes);
	run_holds_class(run, class);
	*ret_class = class->at;
	return ERR_NONE;
}

enum err class_of(struct core *core, struct run *run, const struct rec_job_spec *spec, struct slice here,
		  struct plain_class *plain, uint16_t *ret_class, struct error *error)
{
	struct buf bytes = { 0 };
	enum err err = ERR_NONE;

	if (plain->known && is_plain(spec)) {
		*ret_class = plain->at;
		return ERR_NONE;
	}
	if (wants_encode(spec, is_stranger(core, run), core->loaded || !PLANTED(here_forgotten_at_load) ? here : (struct slice){ 0 }, &bytes))
		err = class_find(core, run, buf_slice(&bytes), ret_class, error);
	else
		*ret_class = 0;
	if (err == ERR_NONE && is_plain(spec))
		*plain = (struct plain_class){ true, *ret_class };
	buf_free(&bytes);
	return err;
}

/*
 * Release the run's classes from index `from` on. Stale entries in their queues go with the class, or are dropped
 * when they reach the top.
 */
void run_release_classes(struct core *core, struct run *run, size_t from)
{
	while (run->class_count > from) {
		size_t at = run->classes[--run->class_count];
		struct ready_class *class = core->classes[at];

		if (class->newest_run == run->number)
			class->newest_run = 0;
		if (--class->runs > 0)
			continue;
		name_map_remove(&core->wishes, slice_make(class->wants->bytes, class->wants->len));
		class_free(class);
		core->classes[at] = NULL;
	}
}
