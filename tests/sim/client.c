/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated client: it submits graphs, some of them twice, repeats a submit with the same key until it is answered,
 * and does to runs and jobs what people may do (client_people.c, topics.def).
 */
#include "sim.h"

#include "base/mem.h"

static const struct {
	unsigned weight;
	bool (*act)(struct sim_world *world, const struct sim_graph *graph);
} people[] = {
#define PERSON(name, weight, what) { weight, person_##name },
#include "topics.def"
#undef PERSON
};

static void send_graph(struct sim_world *world, struct sim_graph *graph, uint64_t index)
{
	struct message *message = message_make(OP_SUBMIT);

	message->graph = graph;
	message->request = index + 1;
	conn_to_master(world, world->client_conn, message);
}

struct sim_act *client_act_new(struct sim_world *world, uint64_t *ret_request)
{
	if (world->act_count == world->act_cap) {
		world->act_cap = world->act_cap ? world->act_cap * 2 : 16;
		world->acts = mem_resize(world->acts, world->act_cap, sizeof(*world->acts));
	}
	*ret_request = ACT_BASE + world->act_count;
	return &world->acts[world->act_count++];
}

static struct message *act_message(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb,
				   uint64_t value, const struct rec_job_spec *job, uint64_t person)
{
	struct message *message = message_make(OP_ACT);
	struct sim_act *act = client_act_new(world, &message->request);

	*act = (struct sim_act){ .run = graph->run, .verb = verb, .value = value, .whole = !job, .spec = job };
	message->run = graph->run;
	message->verb = verb;
	message->value = value;
	message->principal = person;
	if (job)
		memcpy(message->job, job->name.data, job->name.len);
	world_note(world, "the client's act %d with %u on run %u job '%s'", (int)verb, (unsigned)value, (unsigned)graph->run,
		   message->job);
	return message;
}

static const char *object_name(const struct sim_world *world, enum object_kind kind, uint32_t object)
{
	return kind == OBJECT_TOPIC ? graph_pattern_names[object] : kind == OBJECT_POOL ? graph_pool_names[object] : kind == OBJECT_GROUP ? graph_group_names[object]
	       : kind == OBJECT_SCHEDULE ? sim_schedule_names[object] : kind == OBJECT_TENANT ? graph_tenant_names[object]
	       : kind == OBJECT_LOCK ? graph_lock_names[object] : world->workers[object].name;
}

void client_set(struct sim_world *world, enum object_kind kind, enum set_verb verb, uint32_t object)
{
	client_set_number(world, kind, verb, object, 0);
}

void client_set_number(struct sim_world *world, enum object_kind kind, enum set_verb verb, uint32_t object, uint64_t number)
{
	struct message *message = message_make(OP_SET);
	struct sim_act *act = client_act_new(world, &message->request);
	const char *name = object_name(world, kind, object);

	*act = (struct sim_act){ .kind = kind, .set = verb, .object = object, .number = number };
	message->kind = kind;
	message->value = verb;
	message->number = number;
	memcpy(message->job, name, strlen(name));
	world_note(world, "a person sets %s: %d", message->job, (int)verb);
	conn_to_master(world, world->client_conn, message);
}

void client_act(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb, uint64_t value,
		const struct rec_job_spec *job, uint64_t person)
{
	conn_to_master(world, world->client_conn, act_message(world, graph, verb, value, job, person));
}

/* Return the latest approval, rejection or push back of this job that any person sent; NULL: there is none. */
static const struct sim_act *decision_before(const struct sim_world *world, uint64_t job)
{
	for (size_t i = world->act_count - 1; i-- > 0;)
		if (world->acts[i].job == job && world->acts[i].digest_len > 0)
			return &world->acts[i];
	return NULL;
}

/*
 * Put the digest of the job into the act, as the person sees the job now (old: as an earlier decision showed it).
 * Only a durable state is shown to people, so a job whose round isn't durable yet gets no digest.
 */
static void act_shown(struct sim_world *world, struct sim_act *act, bool old)
{
	const struct sim_act *before = old ? decision_before(world, act->job) : NULL;
	struct arena arena = { 0 };
	struct rec_job_row row;

	if (before) {
		memcpy(act->digest, before->digest, sizeof(act->digest));
		act->digest_len = before->digest_len;
		act->round = before->round;
	} else if (world->master.up && view_job(world->master.core, act->job, VIEW_BRIEF, &arena, &row) &&
		   row.digest.len == sizeof(act->digest) && oracle_round(world, act->job) == row.round) {
		memcpy(act->digest, row.digest.data, row.digest.len);
		act->digest_len = row.digest.len;
		act->round = (uint32_t)row.round;
	}
	arena_free(&arena);
}

void client_answer(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb, uint32_t index, bool old,
		   const struct rec_job_spec *target, uint64_t person)
{
	bool asked = verb == ACT_APPROVE && graph->jobs[index].gate_fields.n > 0;

	client_answer_given(world, graph, verb, index, old, target, person,
			    !asked ? SIM_GIVEN_NONE : world_chance(world, 600) ? SIM_GIVEN_A : (enum sim_given)world_rand(world, SIM_GIVEN_COUNT));
}

void client_answer_given(struct sim_world *world, const struct sim_graph *graph, enum act_verb verb, uint32_t index, bool old,
			 const struct rec_job_spec *target, uint64_t person, enum sim_given given)
{
	struct message *message = act_message(world, graph, verb, 0, &graph->jobs[index], person);
	struct sim_act *act = &world->acts[world->act_count - 1];

	act->job = oracle_serial(graph, index);
	act->person = person;
	act_shown(world, act, old);
	memcpy(message->digest, act->digest, sizeof(act->digest));
	message->digest_len = act->digest_len;
	message->number = given;
	if (target)
		memcpy(message->target, target->name.data, target->name.len);
	conn_to_master(world, world->client_conn, message);
}

/*
 * Draw one kind of act by its weight and do it. If the drawn kind finds nothing to do, draw again, at most three
 * times.
 */
static void some_act(struct sim_world *world, const struct sim_graph *graph)
{
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(people) / sizeof(people[0]); i++)
		sum += people[i].weight;
	for (int tries = 0; tries < 3; tries++) {
		uint64_t lot = world_rand(world, sum);
		size_t i = 0;

		while (lot >= people[i].weight)
			lot -= people[i++].weight;
		if (people[i].act(world, graph))
			return;
	}
}

/*
 * After the faults have stopped, people release what they hold and settle unknown jobs, so that every run can end.
 */
static void tidy_up(struct sim_world *world, const struct sim_graph *graph)
{
#define TIDY(name, what) tidy_##name(world, graph);
#include "topics.def"
#undef TIDY
}

#define OTHERS 32                        /* number of graphs of one run that an added graph may refer to */

/* Return a run to add jobs to, seldom one that has ended; NULL: submit a new run instead. */
static struct sim_graph *grows(struct sim_world *world)
{
	struct sim_graph *run = world->graph_count ? world->graphs[world_rand(world, world->graph_count)] : NULL;

	if (!run || !world_chance(world, 600))
		return NULL;
	run = run->into ? run->into : run;
	return !run->run || (run->was_closed && world_chance(world, 800)) ? NULL : run;
}

/*
 * Make a graph and submit it. into: the run that it is added to, whose known jobs it may need; NULL: the graph is a run
 * of its own.
 */
static void new_graph(struct sim_world *world, struct sim_graph *into)
{
	uint32_t most = world_chance(world, 50) ? 120 : 14;
	struct sim_graph *others[OTHERS];
	size_t other_count = 0;

	for (size_t i = 0; into && i < world->graph_count && other_count < OTHERS; i++)
		if ((world->graphs[i] == into || world->graphs[i]->into == into) && world->graphs[i]->run)
			others[other_count++] = world->graphs[i];
	world->graphs = mem_resize(world->graphs, world->graph_count + 1, sizeof(struct sim_graph *));
	world->graphs[world->graph_count] = graph_make(&world->rand, world->graph_count + 1, into ? 1 + most / 3 : most,
						       world->features, into, others, other_count);
	world->graph_count++;
	world->graph_submitted++;
	send_graph(world, world->graphs[world->graph_count - 1], world->graph_count - 1);
}

/*
 * Check whether the client is connected to the master. If not, connect, so that the next step finds a connection.
 */
static bool connected(struct sim_world *world)
{
	if (world->client_conn && world->client_conn->peer_open)
		return true;
	world->client_conn = world->master.up ? conn_make(world, SIM_WORKERS_MAX) : NULL;
	return false;
}

void client_step(struct sim_world *world)
{
	size_t acts = world->act_count;
	uint64_t pick;

	if (client_at_rest(world)) {
		world_plan(world, 10 * NS_PER_S, HAPPENS_CLIENT, SIM_WORKERS_MAX);
		if (!world->faults && connected(world))
			client_tidy_schedules(world);
		for (size_t i = 0; !world->faults && connected(world) && i < world->graph_count; i++)
			if (world->graphs[i]->run)
				tidy_up(world, world->graphs[i]);
		return;
	}
	world_plan(world, (int64_t)(1 + world_rand(world, 1500)) * MS, HAPPENS_CLIENT, SIM_WORKERS_MAX);
	if (world->client_steps)
		world->client_steps--;
	if (!connected(world)) {
		for (size_t i = 0; i < world->graph_count; i++)
			if (!world->graphs[i]->answered)
				send_graph(world, world->graphs[i], i);
		return;
	}
	if (!world->faults)
		client_admit_all(world);
	if (world->graph_submitted < world->graph_target) {
		new_graph(world, grows(world));
		return;
	}
	if (world->graph_count == 0)
		return;
	pick = world_rand(world, world->graph_count);
	if (world->scheduling && world_chance(world, 200))
		person_schedule(world, world->graphs[pick]);
	else if (!world->graphs[pick]->answered || (!world->graphs[pick]->schedule && !world->graphs[pick]->within && world_chance(world, 200)))
		/* an impatient or forgetful client submits the same graph again */
		send_graph(world, world->graphs[pick], pick);
	else if (world->graphs[pick]->run && world_chance(world, 400))
		some_act(world, world->graphs[pick]);
	/* At times, jobs are added to the run that was cancelled just now. */
	if (world->act_count > acts && world->acts[acts].verb == ACT_CANCEL && world->acts[acts].whole &&
	    world->graphs[pick]->run && world_chance(world, 400))
		new_graph(world, world->graphs[pick]->into ? world->graphs[pick]->into : world->graphs[pick]);
}

/*
 * Check whether the master may refuse to add this graph: its run has ended, was cancelled, or has a final job,
 * which may have begun.
 */
static bool may_be_refused(const struct sim_graph *graph)
{
	const struct sim_graph *run = graph->into;
	bool refuses = run && run->was_closed;

	for (uint32_t i = 0; run && i < run->count; i++)
		refuses = refuses || run->jobs[i].final;
	return refuses;
}

void client_receive(struct sim_world *world, const struct message *message)
{
	struct sim_graph *graph;

	if (message->request >= ACT_BASE) {
		world->acts[message->request - ACT_BASE].fence = message->number;
		if (message->op == OP_OK)
			oracle_acted(world, &world->acts[message->request - ACT_BASE]);
		return;
	}
	graph = world->graphs[message->request - 1];
	if (message->op == OP_ERROR && message->code == ERR_BUSY)
		/* the tenant has too many jobs queued: the client submits the graph again later */
		return;
	graph->answered = true;
	if (message->op == OP_ACCEPTED)
		oracle_accepted(world, graph, message->run);
	else if (!graph->invalid && message->op == OP_ERROR && !may_be_refused(graph))
		world_fail(world, "a valid graph was refused");
}

bool client_at_rest(const struct sim_world *world)
{
	if (world->graph_submitted < world->graph_target || world->client_steps)
		return false;
	for (size_t i = 0; i < world->graph_count; i++)
		if (!world->graphs[i]->answered)
			return false;
	return true;
}
