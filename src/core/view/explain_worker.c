/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which worker could take a job, and what keeps the nearest worker from it. */
#include "core/view/explain.h"

#include <string.h>

#include "core/graph/graph.h"
#include "core/life/life.h"
#include "core/place/place.h"
#include "core/queue/queue.h"

static void tell_list(struct telling *telling, const char *before, struct slice_list list)
{
	for (size_t i = 0; i < list.n; i++)
		buf_addf(&telling->words, "%s%.*s", i ? ", " : before, (int)list.at[i].len, (const char *)list.at[i].data);
}

/*
 * The requirements on a worker, in the order in which they are checked. The first that no worker meets is the reason.
 */
enum hurdle {
	HURDLE_UP, HURDLE_NAME, HURDLE_LABELS, HURDLE_POOL, HURDLE_TOPIC, HURDLE_PROVIDES, HURDLE_RESOURCES, HURDLE_OWNER, HURDLE_HERE, HURDLE_STANDING, HURDLE_POOL_STATE,
	HURDLE_REFUSES, HURDLE_NONE
};

static enum hurdle hurdle_of(const struct worker *worker, const struct wants *wants)
{
	if (!worker_connected(worker))
		return HURDLE_UP;
	if (wants && wants->spec.only_worker.len > 0 && !slice_eq(wants->spec.only_worker, slice_str(worker->name)))
		return HURDLE_NAME;
	if (wants && !worker_has_labels(worker, wants))
		return HURDLE_LABELS;
	if (wants && wants->spec.pool_hard && !slice_eq(wants->spec.pool, slice_str(worker->pool->name)))
		return HURDLE_POOL;
	if (wants && !pool_has_topic(worker->pool, wants))
		return HURDLE_TOPIC;
	if (wants && !pool_provides(worker->pool, wants))
		return HURDLE_PROVIDES;
	if (wants && !resources_could(worker->offers, worker->offer_count, wants->asks, wants->ask_count))
		return HURDLE_RESOURCES;
	if (wants && wants->stranger && worker->owners_only)
		return HURDLE_OWNER;
	if (wants && !worker_shares(worker, wants))
		return HURDLE_HERE;
	if (worker->standing != STANDING_NONE)
		return HURDLE_STANDING;
	if (worker->pool->state != POOL_ACTIVE)
		return HURDLE_POOL_STATE;
	return worker->resting ? HURDLE_REFUSES : HURDLE_NONE;
}

/*
 * For each resource that no worker has enough of, say how much the best one offers, among workers that pass the
 * earlier hurdles.
 */
static void tell_resources(struct telling *telling, const struct wants *wants)
{
	const struct core *core = telling->core;
	bool first = true;

	for (size_t i = 0; i < wants->ask_count; i++) {
		uint64_t most = 0;

		for (size_t at = 0; at < core->worker_count; at++) {
			const struct worker *worker = core->workers[at];
			const struct resource *offer = resource_find(worker->offers, worker->offer_count, wants->asks[i].name);

			if (hurdle_of(worker, wants) >= HURDLE_RESOURCES && offer && offer->amount > most)
				most = offer->amount;
		}
		if (most >= wants->asks[i].amount)
			continue;
		buf_add_str(&telling->words, first ? "the job asks for " : ", and for ");
		resource_show(wants->asks[i].name, wants->asks[i].amount, &telling->words);
		buf_add_str(&telling->words, ", and the most that a worker offers is ");
		resource_show(wants->asks[i].name, most, &telling->words);
		first = false;
	}
	if (first)
		buf_add_str(&telling->words, "no connected worker offers all resources that the job asks for");
}

static const char *refused_why(const struct worker *worker)
{
	const char *why = strerrordesc_np((int)worker->refused_code);

	return why ? why : "for an unknown reason";
}

/* Name the workers that fail exactly at this hurdle. */
static void tell_failing(struct telling *telling, enum hurdle hurdle, const struct wants *wants, const char *behind)
{
	const struct core *core = telling->core;
	unsigned count = 0;

	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];

		if (hurdle_of(worker, wants) != hurdle || ++count > NAMES_MAX)
			continue;
		buf_addf(&telling->words, "%s%s", count == 1 ? "worker " : ", ", worker->name);
		if (hurdle == HURDLE_STANDING)
			buf_addf(&telling->words, " (%s)", standing_name(worker->standing));
		else if (hurdle == HURDLE_HERE)
			buf_add_str(&telling->words, worker_lacks(worker, wants) ?
				    " (has another one there, or none)" : " (on another machine)");
		else if (hurdle == HURDLE_POOL_STATE)
			buf_addf(&telling->words, " (pool %s is %s)", worker->pool->name, pool_state_name(worker->pool->state));
		else if (hurdle == HURDLE_REFUSES)
			buf_addf(&telling->words, " (%s)", refused_why(worker));
	}
	buf_add_str(&telling->words, behind);
}

/* Say when the first of the workers that can't start jobs is tried again. */
static void tell_next_try(struct telling *telling, const struct wants *wants)
{
	const struct core *core = telling->core;
	int64_t next_ns = INT64_MAX;

	for (size_t i = 0; i < core->worker_count; i++)
		if (hurdle_of(core->workers[i], wants) == HURDLE_REFUSES && core->workers[i]->refused_until_ns < next_ns)
			next_ns = core->workers[i]->refused_until_ns;
	next_ns -= core->now.mono_ns;
	buf_addf(&telling->words, " can't start jobs; the master tries it again in %lld s",
		 (long long)((next_ns > 0 ? next_ns + NS_PER_S - 1 : 0) / NS_PER_S));
}

static size_t labels_met(const struct worker *worker, const struct wants *wants)
{
	size_t met = 0;

	for (size_t i = 0; i < wants->spec.labels.n; i++)
		met += label_met(&worker->labels, &wants->labels[i]);
	return met;
}

/* Return the worker that meets most of the requirements on labels, of those that only labels keep from the job. */
static const struct worker *labels_nearest(const struct core *core, const struct wants *wants)
{
	const struct worker *nearest = NULL;

	for (size_t i = 0; i < core->worker_count; i++)
		if (hurdle_of(core->workers[i], wants) == HURDLE_LABELS &&
		    (!nearest || labels_met(core->workers[i], wants) > labels_met(nearest, wants)))
			nearest = core->workers[i];
	return nearest;
}

/* List the requirements that this worker doesn't meet, and what it has instead. */
static void tell_unmet(struct telling *telling, const struct worker *worker, const struct wants *wants)
{
	bool first = true;

	for (size_t i = 0; i < wants->spec.labels.n; i++) {
		const struct slice *text = &wants->spec.labels.at[i], *has = label_find(&worker->labels, wants->labels[i].key);

		if (label_met(&worker->labels, &wants->labels[i]))
			continue;
		buf_addf(&telling->words, "%s%.*s", first ? "" : ", ", (int)text->len, (const char *)text->data);
		if (has)
			buf_addf(&telling->words, " (it has %.*s)", (int)has->len, (const char *)has->data);
		first = false;
	}
}

/* Name the requirements that no worker meets; or all of them, if each is met by some worker. */
static void tell_labels(struct telling *telling, const struct wants *wants)
{
	const struct core *core = telling->core;
	const struct worker *nearest = labels_nearest(core, wants);
	size_t alone = 0;

	for (size_t i = 0; i < wants->spec.labels.n; i++) {
		bool met = false;

		for (size_t at = 0; at < core->worker_count && !met; at++)
			met = hurdle_of(core->workers[at], wants) == HURDLE_LABELS && label_met(&core->workers[at]->labels, &wants->labels[i]);
		if (!met)
			buf_addf(&telling->words, "%s%.*s", alone++ ? ", " : "no connected worker meets the label requirement ",
				 (int)wants->spec.labels.at[i].len, (const char *)wants->spec.labels.at[i].data);
	}
	if (alone == 0)
		tell_list(telling, "no connected worker meets all of the label requirements ", wants->spec.labels);
	if (nearest && !telling->brief) {
		buf_addf(&telling->words, "; worker %s comes nearest, but doesn't meet ", nearest->name);
		tell_unmet(telling, nearest, wants);
	}
}

/* Name the one worker that the job requires: no other was considered. */
static void tell_named(struct telling *telling, const struct wants *wants)
{
	if (wants->spec.only_worker.len > 0)
		buf_addf(&telling->words, "the job must run on worker %.*s, ", (int)wants->spec.only_worker.len,
			 (const char *)wants->spec.only_worker.data);
}

/* Say what the pool that comes nearest lacks, and how it would provide that. */
static void tell_provides(struct telling *telling, const struct wants *wants)
{
	const struct core *core = telling->core;
	const struct pool *nearest = NULL;
	size_t least = SIZE_MAX;

	for (size_t i = 0; i < core->worker_count; i++)
		if (hurdle_of(core->workers[i], wants) == HURDLE_PROVIDES && pool_lacks(core->workers[i]->pool, wants) < least) {
			nearest = core->workers[i]->pool;
			least = pool_lacks(nearest, wants);
		}
	tell_list(telling, "no pool with a suitable connected worker provides ", wants->spec.requires);
	if (!nearest || telling->brief)
		return;
	buf_addf(&telling->words, "; pool %s comes nearest; to let it provide the rest: titan pool set %s --provide ", nearest->name, nearest->name);
	for (size_t i = 0; i < nearest->provides.n; i++)
		buf_addf(&telling->words, "%.*s,", (int)nearest->provides.at[i].len, (const char *)nearest->provides.at[i].data);
	for (size_t i = 0, told = 0; i < wants->spec.requires.n; i++) {
		struct slice one = wants->spec.requires.at[i];

		if (!pool_has(nearest, one))
			buf_addf(&telling->words, "%s%.*s", told++ ? "," : "", (int)one.len, (const char *)one.data);
	}
}

/* No mapping matches the job's topic, so no worker was considered. */
static enum reason tell_unmapped(struct telling *telling, struct slice topic)
{
	buf_addf(&telling->words, "the topic %.*s is mapped to no pool; to map it: titan topic set %.*s POOL", (int)topic.len,
		 (const char *)topic.data, (int)topic.len, (const char *)topic.data);
	return REASON_NO_POOL_MAPPING;
}

/* Say where the job was submitted, and that no worker has that directory. */
static enum reason tell_here(struct telling *telling, const struct wants *wants)
{
	struct slice dir = wants->here.here_dir;

	tell_named(telling, wants);
	if (wants->spec.only_worker.len > 0) {
		buf_addf(&telling->words, "which doesn't share the directory in which it was submitted, %.*s", (int)dir.len, (const char *)dir.data);
	} else {
		buf_addf(&telling->words, "the job runs where it was submitted, in %.*s, and no suitable connected worker shares that directory",
			 (int)dir.len, (const char *)dir.data);
		if (!telling->brief) {
			buf_add_str(&telling->words, ": ");
			tell_failing(telling, HURDLE_HERE, wants, "");
		}
	}
	if (!telling->brief)
		buf_add_str(&telling->words, "; titan run --private gives jobs an empty directory instead, on any worker");
	return REASON_NO_WORKER_SHARES;
}

static enum reason tell_hurdle(struct telling *telling, enum hurdle hurdle, const struct wants *wants)
{
	const struct core *core = telling->core;
	const struct worker *named;

	switch (hurdle) {
	case HURDLE_UP:
		return REASON_NO_WORKER_UP;
	case HURDLE_NAME:
		tell_named(telling, wants);
		named = name_map_get(&core->worker_names, wants->spec.only_worker);
		buf_add_str(&telling->words, named && worker_shown(named) == WORKER_ENDED ? "which was told to end" : "which isn't connected");
		return REASON_NO_WORKER_NAMED;
	case HURDLE_LABELS:
		tell_named(telling, wants);
		if (wants->spec.only_worker.len > 0) {
			buf_add_str(&telling->words, "which doesn't meet the label requirement ");
			tell_unmet(telling, labels_nearest(core, wants), wants);
		} else {
			tell_labels(telling, wants);
		}
		return REASON_NO_WORKER_LABELS;
	case HURDLE_POOL:
		tell_named(telling, wants);
		buf_addf(&telling->words, "no suitable connected worker is in pool %.*s", (int)wants->spec.pool.len,
			 (const char *)wants->spec.pool.data);
		return REASON_NO_WORKER_POOL;
	case HURDLE_TOPIC:
		tell_named(telling, wants);
		buf_addf(&telling->words, "the topic %.*s is mapped to pool %s, and no suitable connected worker is in that pool",
			 (int)wants->spec.topic.len, (const char *)wants->spec.topic.data, wants->topic_pool);
		return REASON_NO_WORKER_POOL;
	case HURDLE_PROVIDES:
		tell_named(telling, wants);
		tell_provides(telling, wants);
		return REASON_NO_POOL_PROVIDES;
	case HURDLE_RESOURCES:
		tell_resources(telling, wants);
		return REASON_NO_WORKER_RESOURCES;
	case HURDLE_OWNER:
		tell_failing(telling, hurdle, wants, ": jobs there run as a user who has rights at this master, so only those of ");
		buf_addf(&telling->words, "%s may; start a worker as another user, or set trust_submitters: yes in titan.conf", core->owner);
		return REASON_WORKER_OF_OWNER;
	case HURDLE_HERE:
		return tell_here(telling, wants);
	case HURDLE_STANDING:
		tell_failing(telling, hurdle, wants, ": a person ordered this with titan cordon or titan drain");
		return REASON_WORKER_CORDONED;
	case HURDLE_REFUSES:
		tell_failing(telling, hurdle, wants, "");
		tell_next_try(telling, wants);
		return REASON_WORKER_REFUSES;
	case HURDLE_POOL_STATE:
	case HURDLE_NONE:
		break;
	}
	tell_failing(telling, HURDLE_POOL_STATE, wants, ": no new jobs start in this pool");
	for (size_t i = 0; i < core->worker_count; i++)
		if (hurdle_of(core->workers[i], wants) == HURDLE_POOL_STATE &&
		    core->workers[i]->pool->state == POOL_DRAINING)
			return REASON_POOL_DRAINING;
	return REASON_POOL_INACTIVE;
}

static void tell_asks(struct telling *telling, const char *before, const struct wants *wants)
{
	for (size_t i = 0; i < wants->ask_count; i++) {
		buf_add_str(&telling->words, i ? ", " : before);
		resource_show(wants->asks[i].name, wants->asks[i].amount, &telling->words);
	}
}

static void tell_kept(struct telling *telling, const struct worker *worker)
{
	const struct job *job = job_find(telling->core, worker->reserved);
	struct rec_job_spec spec;
	struct slice bytes;

	buf_addf(&telling->words, "worker %s has room, but this room is reserved for ", worker->name);
	if (job) {
		bytes = job_spec_bytes(job);
		CHECK(record_decode(REC_job_spec, &bytes, telling->arena, &spec, NULL) == ERR_NONE);
		buf_addf(&telling->words, "job %llu/%.*s, ", (unsigned long long)job->run->number, (int)spec.name.len,
			 (const char *)spec.name.data);
	}
	buf_add_str(&telling->words, "which is larger and comes before this one");
}

static enum reason tell_busy(struct telling *telling, uint64_t slots, const struct worker *spare)
{
	const struct core *core = telling->core;
	const struct ready_class *class = core->classes[telling->job->class_at];
	const struct worker *kept = NULL;

	for (size_t i = 0; i < core->worker_count; i++)
		if (core->workers[i]->reserved == job_serial(telling->job))
			kept = core->workers[i];
	if (!spare) {
		if (slots == 1)
			buf_add_str(&telling->words, "the only slot that the job could use is busy; ");
		else
			buf_addf(&telling->words, "all %llu slots that the job could use are busy; ",
				 (unsigned long long)slots);
		tell_count(telling, "", class->count - class->stale, "job queues", "jobs queue");
		buf_add_str(&telling->words, " for them");
		return REASON_ALL_SLOTS_BUSY;
	}
	if (!wants_fit(spare, class->wants)) {
		tell_asks(telling, "other jobs use the resources that the job asks for: ", class->wants);
		if (kept)
			buf_addf(&telling->words, "; worker %s is reserved for this job", kept->name);
		return REASON_RESOURCES_BUSY;
	}
	if (spare->reserved != 0 && spare->reserved != job_serial(telling->job)) {
		tell_kept(telling, spare);
		return REASON_RESERVED;
	}
	if (worker_rests(core, spare)) {
		buf_addf(&telling->words, "worker %s lost %d connections within %d s, and gets no jobs for another "
			"%lld s",
			 spare->name, LIMIT_FLAP_DROPS, LIMIT_FLAP_WINDOW_MS / 1000,
			 (long long)((spare->rest_until_ns - core->now.mono_ns + NS_PER_S - 1) / NS_PER_S));
		return REASON_WORKER_FLAPS;
	}
	return REASON_QUEUED;
}

/* Of two workers with a free slot, find the one nearer to taking the job. */
static bool nearer(const struct core *core, const struct worker *worker, const struct worker *than, uint16_t class_at)
{
	const struct wants *wants = core->classes[class_at]->wants;

	if (!than || wants_fit(worker, wants) != wants_fit(than, wants))
		return !than || wants_fit(worker, wants);
	if (worker_takes(core, worker, class_at) != worker_takes(core, than, class_at))
		return worker_takes(core, worker, class_at);
	return worker_rests(core, than) && !worker_rests(core, worker);
}

/* Say what keeps the job from its target for as long as neither of them changes. False: nothing does. */
static bool tell_never(struct telling *telling, const struct worker *target, const struct wants *wants)
{
	switch (hurdle_of(target, wants)) {
	case HURDLE_NAME:
		buf_addf(&telling->words, "isn't worker %.*s, the only one that may run the job", (int)wants->spec.only_worker.len,
			 (const char *)wants->spec.only_worker.data);
		return true;
	case HURDLE_LABELS:
		buf_add_str(&telling->words, "doesn't meet the label requirement ");
		tell_unmet(telling, target, wants);
		return true;
	case HURDLE_POOL:
		buf_addf(&telling->words, "is in pool %s, not %.*s", target->pool->name, (int)wants->spec.pool.len,
			 (const char *)wants->spec.pool.data);
		return true;
	case HURDLE_TOPIC:
		buf_addf(&telling->words, "is in pool %s, not %s, to which the topic is mapped", target->pool->name, wants->topic_pool);
		return true;
	case HURDLE_PROVIDES:
		tell_list(telling, "is in a pool that doesn't provide all of: ", wants->spec.requires);
		return true;
	case HURDLE_OWNER:
		buf_addf(&telling->words, "takes only jobs of %s", telling->core->owner);
		return true;
	case HURDLE_HERE:
		buf_addf(&telling->words, "doesn't share the directory %.*s, in which the job was submitted", (int)wants->here.here_dir.len,
			 (const char *)wants->here.here_dir.data);
		return true;
	case HURDLE_RESOURCES:
		tell_asks(telling, "doesn't offer all of: ", wants);
		return true;
	default:
		return false;
	}
}

static enum reason tell_target(struct telling *telling, const struct worker *target, const struct wants *wants)
{
	buf_addf(&telling->words, "the job must run on worker %s, which ran an earlier job, and that worker ", target->name);
	if (tell_never(telling, target, wants)) {
		buf_add_str(&telling->words, ": the job waits for ever, unless that worker changes or the job is "
			"cancelled");
		return REASON_AFFINITY_NEVER;
	}
	if (!worker_connected(target))
		buf_addf(&telling->words, "is %s", worker_state_name(worker_shown(target)));
	else if (target->resting)
		buf_addf(&telling->words, "can't start jobs now: %s", refused_why(target));
	else if (!worker_serves(target))
		buf_add_str(&telling->words, "gets no new jobs");
	else
		buf_add_str(&telling->words, "is busy");
	return REASON_AFFINITY_BUSY;
}

enum reason tell_workers(struct telling *telling)
{
	const struct core *core = telling->core;
	uint16_t class_at = telling->job->class_at;
	const struct wants *wants = core->classes[class_at]->wants;
	const struct worker *target = telling->target, *spare = NULL;
	enum hurdle best = HURDLE_UP;
	uint64_t slots = 0;

	if (telling->core->of_then) {
		buf_add_str(&telling->words, "the job was in the queue; titan doesn't keep which workers were connected then");
		return REASON_QUEUED;
	}
	if (wants && wants->spec.topic.len > 0 && !wants->topic_pool)
		return tell_unmapped(telling, wants->spec.topic);
	for (size_t i = 0; i < core->worker_count; i++) {
		const struct worker *worker = core->workers[i];
		enum hurdle hurdle = hurdle_of(worker, wants);

		if (hurdle > best)
			best = hurdle;
		if (hurdle != HURDLE_NONE)
			continue;
		slots += worker->slots;
		if (worker_busy(worker) < worker->slots && nearer(core, worker, spare, class_at))
			spare = worker;
	}
	if (target && wants->spec.affinity_hard && best > HURDLE_UP &&
	    !(class_allows(target, core->classes[class_at]) && worker_takes(core, target, class_at)))
		return tell_target(telling, target, wants);
	if (best != HURDLE_NONE)
		return tell_hurdle(telling, best, wants);
	return tell_busy(telling, slots, spare);
}
