/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The simulated master around the core: an inbox, turns, and a store whose commits take time. Nothing is revealed
 * before it is durable. In a crash the transaction under way is written or not, and the turns after it aren't.
 */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void sim_master_ask(struct sim_world *world, struct core_input *input, uint64_t principal)
{
	const struct outbox *outbox = world->master.deciding;
	size_t rows = outbox->row_count, frames = outbox->frame_count;

	input->by = (struct actor){ .principal = principal, .name = slice_str(graph_people[principal - 1]), .origin = slice_str("sim") };
	core_step(world->master.core, input);
	oracle_asked(world, input, outbox, rows, frames);
}

/*
 * Return the name of the graph's tenant. Before its first run a person sets the tenant's limits, once until the
 * master is killed.
 */
static struct slice tenant_input(struct sim_world *world, uint32_t tenant)
{
	struct core_input input = { .kind = INPUT_SET };
	struct slice name = slice_str(tenant ? graph_tenant_names[tenant - 1] : "");

	if (tenant == 0 || world->tenants_set >> tenant & 1)
		return name;
	input.set.set = (struct msg_set){ .kind = OBJECT_TENANT, .verb = SET_PUT, .name = name, .weight = tenant,
					  .number = world->fair ? 0 : tenant + 1, .most = world->crowded ? 9 + 4 * tenant : 0 };
	sim_master_ask(world, &input, 1);
	world->tenants_set |= 1U << tenant;
	return name;
}

static struct slice group_text(const struct sim_graph *graph, char text[32])
{
	if (graph->group == 0)
		return slice_make(NULL, 0);
	if (graph->group_states)
		snprintf(text, 32, "%s=%u", graph_group_names[graph->group - 1], graph->group_states);
	else
		snprintf(text, 32, "%s", graph_group_names[graph->group - 1]);
	return slice_str(text);
}

static struct slice graph_owner(const struct sim_graph *graph)
{
	return slice_str(graph->stranger ? "guest" : "sim");
}

static void schedule_input(struct sim_world *world, const struct event *event)
{
	const struct sim_schedule *schedule = event->message->schedule;
	const struct sim_graph *graph = schedule->graph;
	struct graph_part part = { .body = graph->body, .count = graph->count };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = event->a, .request = event->message->request };
	struct buf spec = { 0 };

	record_encode(&spec, REC_schedule_spec, &schedule->spec);
	input.submit = (struct input_submit){
		.principal = 1, .owner = graph_owner(graph), .name = slice_str(sim_schedule_names[schedule->name]),
		.parts = &part, .part_count = 1, .max_jobs = graph->max_jobs, .schedule = buf_slice(&spec), .contents_known = true,
		.context = graph->context, .tenant = slice_str(graph->stranger ? "sim" : ""),
	};
	memcpy(input.submit.key, graph->key, 16);
	memcpy(input.submit.digest, schedule->digest, 32);
	sim_master_ask(world, &input, 1);
	buf_free(&spec);
}

static void graph_input(struct sim_world *world, const struct event *event)
{
	const struct sim_graph *graph = event->message->graph;
	struct graph_part part = { .body = graph->body, .count = graph->count };
	struct core_input input = { .kind = INPUT_SUBMIT, .conn = event->a, .request = event->message->request };
	char group[32];
	struct slice parents[16];

	input.submit.principal = 1;
	input.submit.contents_known = true;
	input.submit.owner = graph_owner(graph->into ? graph->into : graph);
	memcpy(input.submit.key, graph->key, 16);
	memcpy(input.submit.digest, graph->digest, 32);
	if (graph->into)
		input.submit.into = graph->into->run;
	else
		input.submit.name = slice_str(graph->name);
	input.submit.parents.at = parents;
	for (uint32_t i = 0; i < graph->parent_count; i++)
		parents[input.submit.parents.n++] = graph->parents[i].graph->jobs[graph->parents[i].index].name;
	input.submit.parts = &part;
	input.submit.part_count = 1;
	input.submit.max_jobs = graph->max_jobs;
	input.submit.context = graph->context;
	input.submit.tenant = graph->tenant == 0 && graph->stranger && !graph->into ? slice_str("sim") : tenant_input(world, graph->tenant);
	input.submit.concurrency = group_text(graph, group);
	sim_master_ask(world, &input, 1);
}

static int row_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int64_t p = x->table == TABLE_spec ? x->spec.part : x->job.job, q = y->table == TABLE_spec ? y->spec.part : y->job.job;

	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* Retry a run that has left memory: give the core the run's rows from the disk, together with the request. */
static void reopen_input(struct sim_world *world, struct core_input *input)
{
	const struct row *run = disk_get(&world->disk, TABLE_run, input->act.run);
	struct input_act act = input->act;
	struct row *rows;
	size_t count = 1;

	if (!run)
		return;
	rows = mem_array(world->disk.count + 1, sizeof(*rows));
	rows[0] = *run;
	for (size_t i = 0; i < world->disk.count; i++) {
		const struct row *row = &world->disk.order[i]->row;

		if ((row->table == TABLE_spec && row->spec.run == run->run.run) ||
		    (row->table == TABLE_job && row->job.run == run->run.run))
			rows[count++] = *row;
	}
	qsort(rows + 1, count - 1, sizeof(*rows), row_order);
	input->kind = INPUT_REOPEN;
	input->reopen = (struct input_reopen){ .act = act, .rows = rows, .row_count = count };
	sim_master_ask(world, input, input->reopen.act.principal);
	mem_free(rows);
}

static void act_input(struct sim_world *world, const struct event *event)
{
	struct arena arena = { 0 };
	struct rec_run_row known;
	bool live = view_run(world->master.core, event->message->run, &arena, &known);
	const struct message *message = event->message;
	struct core_input input = { .kind = INPUT_ACT, .conn = event->a, .request = message->request };

	if (message->verb == ACT_CANCEL) {
		input.kind = INPUT_CANCEL;
		input.cancel.run = message->run;
		input.cancel.job = slice_str(message->job);
		input.cancel.scope = message->value;
	} else {
		input.act = (struct input_act){
			.verb = message->verb, .run = message->run, .job = slice_str(message->job),
			.value = message->value, .principal = message->principal,
			.person = slice_str(graph_people[message->principal - 1]), .text = slice_str("why"),
			.digest = slice_make(message->digest, message->digest_len), .target = slice_str(message->target),
			.given = sim_given((enum sim_given)message->number),
		};
	}
	arena_free(&arena);
	if (!live && (message->verb == ACT_RETRY || message->verb == ACT_REQUEUE || message->verb == ACT_DISCARD))
		reopen_input(world, &input);
	else
		sim_master_ask(world, &input, message->principal ? message->principal : 1);
}

static bool is_welcome(const struct outbox *outbox, uint64_t conn)
{
	for (size_t i = outbox->frame_count; i-- > 0;)
		if (outbox->frames[i].conn == conn && outbox->frames[i].op == OP_WELCOME)
			return true;
	return false;
}

static void hello_input(struct sim_world *world, const struct event *event)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = event->a };
	uint64_t instance[2] = { event->message->instance, 0 };
	struct slice labels[SIM_LABELS], offers[SIM_KINDS];
	char texts[SIM_KINDS][32];

	input.hello.name = slice_str(world->workers[event->who].name);
	input.hello.instance = slice_make(instance, sizeof(instance));
	input.hello.slots = world->workers[event->who].slots;
	input.hello.machine = slice_str(graph_machine_names[event->who % SIM_MACHINES]);
	input.hello.owners_only = world->workers[event->who].owners_only;
	input.hello.contexts = world->workers[event->who].contexts;
	input.hello.labels.at = labels;
	for (unsigned i = 0; i < SIM_LABELS; i++)
		if (world->workers[event->who].labels >> i & 1)
			labels[input.hello.labels.n++] = slice_str(graph_label_names[i]);
	input.hello.offers.at = offers;
	for (unsigned i = 0; i < SIM_KINDS; i++) {
		if (event->message->offers[i] == 0)
			continue;
		snprintf(texts[i], sizeof(texts[i]), "%s=%u", graph_kind_names[i], (unsigned)event->message->offers[i]);
		offers[input.hello.offers.n++] = slice_str(texts[i]);
	}
	if (event->message->pool)
		input.hello.pool = slice_str(graph_pool_names[event->message->pool]);
	input.hello.held = event->message->held;
	input.hello.held_count = event->message->count;
	core_step(world->master.core, &input);
	/* A HELLO that is refused, such as one of a second process, changes nothing about the worker. */
	if (is_welcome(world->master.deciding, event->a)) {
		oracle_hello(world, event->who, event->a, event->message);
		oracle_heard(world, event);
	}
}

static void set_input(struct sim_world *world, const struct message *message, struct core_input *input)
{
	struct slice words[SIM_CAPABILITIES];
	struct msg_set set = { .kind = message->kind, .verb = message->value, .name = slice_str(message->job), .number = message->number };

	if (set.kind == OBJECT_LOCK) {
		set.text = slice_str(graph_owner_names[LOCK_OWNER(set.number)]);
		set.flag = LOCK_SHARED(set.number);
		set.span_ms = LOCK_TTL_MS(set.number);
	} else if (set.kind == OBJECT_TENANT) {
		set.weight = TENANT_WEIGHT(message->number);
		set.number = TENANT_LIMIT(message->number) + 1;
		set.most = TENANT_MOST(message->number) + 1;
	}
	if (set.kind == OBJECT_TOPIC)
		set.text = slice_str(graph_pool_names[message->number]);
	if (set.kind == OBJECT_POOL && set.verb == SET_PUT) {
		set.number = 0;
		set.flag = true;
		set.words.at = words;
		for (unsigned i = 0; i < SIM_CAPABILITIES; i++)
			if (message->number >> i & 1)
				words[set.words.n++] = slice_str(graph_capability_names[i]);
	}
	input->kind = INPUT_SET;
	input->set = (struct input_set){ .set = set, .principal = 1, .person = slice_str(graph_people[0]) };
	sim_master_ask(world, input, 1);
}

/* Hand the core a result, with what the attempt put out. */
static void take_done(struct sim_world *world, struct core_input *input)
{
	const struct rec_done *done = &input->done.at[0];
	const struct rec_job_spec *spec = oracle_spec(world, done->job);
	struct rec_attempt_outputs outputs = { .job = done->job, .epoch = done->epoch };
	struct buf bytes = { 0 };

	if (spec && spec->outputs.n > 0 && done->outcome == OUTCOME_EXIT) {
		sim_outputs(spec, done->job, done->epoch, &bytes);
		outputs.outputs = buf_slice(&bytes);
		input->done.outputs = &outputs;
		input->done.output_count = 1;
	}
	core_step(world->master.core, input);
	buf_free(&bytes);
}

static void step(struct sim_world *world, const struct event *event)
{
	struct core *core = world->master.core;
	struct core_input input = { .conn = event->a };

	if (event->who < SIM_WORKERS_MAX && (event->what == HAPPENS_GONE || event->message->op != OP_HELLO))
		oracle_heard(world, event);
	if (event->what == HAPPENS_GONE) {
		input.kind = INPUT_WORKER_GONE;
		if (event->who < SIM_WORKERS_MAX)
			core_step(core, &input);
		else if (world->values)
			values_master_gone(world, event->a);
		return;
	}
	input.request = event->message->request;
	switch (event->message->op) {
	case OP_SUBMIT:
		if (event->message->schedule)
			schedule_input(world, event);
		else
			graph_input(world, event);
		break;
	case OP_ACT:
		act_input(world, event);
		break;
	case OP_SET:
		set_input(world, event->message, &input);
		break;
	case OP_VALUES:
		values_master_ask(world, event);
		break;
	case OP_VALUES_WATCH:
		values_master_watch(world, event);
		break;
	case OP_HELLO:
		hello_input(world, event);
		break;
	case OP_HEARTBEAT:
		input.kind = INPUT_HEARTBEAT;
		input.heartbeat.sent_ns = event->message->sent_ns;
		input.heartbeat.cpu_permille = event->message->load.cpu_permille;
		input.heartbeat.gpu_permille = event->message->load.gpu_permille;
		input.heartbeat.start_us = event->message->load.start_us;
		input.heartbeat.ending = event->message->ending;
		core_step(core, &input);
		break;
	case OP_STARTED:
		input.kind = INPUT_STARTED;
		input.started.at = event->message->started;
		input.started.n = event->message->count;
		core_step(core, &input);
		sim_artifacts_started(world, input.started.at, input.started.n);
		break;
	case OP_DONE:
		input.kind = INPUT_DONE;
		input.done.at = event->message->done;
		input.done.n = event->message->count;
		sim_artifacts_ended(world, input.done.at, input.done.n);
		take_done(world, &input);
		break;
	default:
		world_fail(world, "the simulator sent what the master doesn't take");
	}
}

static void plan_turn(struct sim_world *world, int64_t after_ns)
{
	struct sim_master *master = &world->master;
	int64_t at = world->now_ns + (after_ns > 0 ? after_ns : 0);
	struct event *event;

	if (master->turn_planned && master->due_planned_ns <= at)
		return;
	master->turn_planned = true;
	master->due_planned_ns = at;
	event = world_plan(world, at - world->now_ns, HAPPENS_TURN, 0);
	event->a = ++master->turn_number;
	event->b = master->life;
}

void sim_master_receive(struct sim_world *world, const struct event *event)
{
	struct sim_master *master = &world->master;

	if (master->inbox_count == master->inbox_cap) {
		master->inbox_cap = master->inbox_cap ? master->inbox_cap * 2 : 16;
		master->inbox = mem_resize(master->inbox, master->inbox_cap, sizeof(*master->inbox));
	}
	master->inbox[master->inbox_count++] = *event;
	plan_turn(world, (int64_t)world_rand(world, 50000));
}

static void begin_commit(struct sim_world *world)
{
	struct sim_master *master = &world->master;
	int64_t takes = (int64_t)(60000 + world_rand(world, 2000000));

	if (master->batch || !master->commit_count)
		return;
	if (world->faults && world_chance(world, master->slow_until_ns > world->now_ns ? 500 : 20))
		takes = (int64_t)world_rand(world, 8000) * MS;
	master->batch = master->commit_count;
	world_plan(world, takes, HAPPENS_COMMIT, 0)->b = master->life;
}

static struct message *pack(struct sim_world *world, const struct outbox *outbox, size_t *at)
{
	const struct outgoing *first = &outbox->frames[*at];
	struct message *message = message_make(first->op);
	size_t n = 1;

	while (*at + n < outbox->frame_count && outbox->frames[*at + n].conn == first->conn &&
	       outbox->frames[*at + n].op == first->op && !first->close)
		n++;
	if (first->op != OP_ASSIGN && first->op != OP_STOP && first->op != OP_RECALL && first->op != OP_ACK)
		n = 1;
	message->count = n;
	if (first->op == OP_ASSIGN)
		message->assign = mem_array(n, sizeof(*message->assign));
	else if (first->op == OP_STOP)
		message->stop = mem_array(n, sizeof(*message->stop));
	else
		message->attempts = mem_array(n, sizeof(*message->attempts));
	for (size_t i = 0; i < n; i++) {
		const struct outgoing *frame = &outbox->frames[*at + i];

		if (frame->op == OP_ASSIGN)
			message->assign[i] = frame->assign;
		else if (frame->op == OP_STOP)
			message->stop[i] = frame->stop;
		else if (frame->op == OP_RECALL || frame->op == OP_ACK)
			message->attempts[i] = frame->op == OP_ACK ? frame->ack : frame->recall;
	}
	if (first->op == OP_ACCEPTED) {
		message->request = first->accepted.id;
		message->run = first->accepted.run;
		message->existing = first->accepted.existing;
	} else if (first->op == OP_OK || first->op == OP_ERROR) {
		message->request = first->op == OP_OK ? first->ok.id : first->error.id;
		message->number = first->op == OP_OK ? first->ok.number : 0;
		message->code = first->op == OP_ERROR ? (enum err)first->error.code : ERR_NONE;
	} else if (first->op == OP_VALUED) {
		oracle_values_revealed(world, first);
		message->request = first->valued.id;
	} else if (first->op == OP_CONTEXT) {
		message->value = first->context.slot;
		message->context = blob_make(first->context.context);
	} else if (first->op == OP_WELCOME) {
		message->lease_ms = (int64_t)first->welcome.lease_ms;
	} else if (first->op == OP_HEARTBEAT) {
		message->sent_ns = first->heartbeat.sent_ns;
		message->ending = first->heartbeat.ending;
	}
	*at += n;
	return message;
}

static void note_frame(struct sim_world *world, const struct outgoing *frame)
{
	unsigned conn = (unsigned)frame->conn;

	if (frame->op == OP_STOP)
		world_note(world, "  to %u: STOP job %u epoch %x", conn, (unsigned)frame->stop.job, (unsigned)frame->stop.epoch);
	else if (frame->op == OP_RECALL)
		world_note(world, "  to %u: RECALL job %u", conn, (unsigned)frame->recall.job);
	else if (frame->op == OP_ERROR)
		world_note(world, "  to %u: ERROR %.*s", conn, (int)(frame->error.text.len < 100 ? frame->error.text.len : 100),
			   (const char *)frame->error.text.data);
}

void turn_free(struct outbox *outbox)
{
	struct sim_turn *turn = (struct sim_turn *)outbox;

	for (size_t i = 0; i < SIM_WATCHERS; i++)
		message_free(turn->pages[i].message);
	outbox_free(outbox);
	mem_free(turn);
}

static void reveal_pages(struct sim_world *world, struct sim_turn *turn)
{
	for (size_t i = 0; i < SIM_WATCHERS; i++) {
		if (turn->pages[i].message)
			conn_to_peer(world, turn->pages[i].conn, turn->pages[i].message);
		turn->pages[i].message = NULL;
	}
}

static void reveal(struct sim_world *world)
{
	struct sim_master *master = &world->master;
	struct outbox *outbox;

	while ((outbox = commit_queue_reveal(&master->commits))) {
		if (outbox->turn > world->disk.turn && outbox->row_count)
			world_fail(world, "turn %u is revealed before it is durable", (unsigned)outbox->turn);
		for (size_t i = 0; i < outbox->frame_count;) {
			const struct outgoing *frame = &outbox->frames[i];
			struct message *message;

			note_frame(world, frame);
			message = pack(world, outbox, &i);

			conn_to_peer(world, frame->conn, message);
			if (frame->close) {
				struct sim_conn *conn = map_get(&world->conns, frame->conn);

				if (conn)
					conn_close(world, conn, false);
			}
		}
		reveal_pages(world, (struct sim_turn *)outbox);
		core_sweep(master->core, master->commits.durable);
		if (master->commits.durable % 8 == 0)
			core_shrink(master->core);       /* freeing memory must not change the core's state */
		turn_free(outbox);
	}
}

void sim_master_turn(struct sim_world *world)
{
	struct sim_master *master = &world->master;
	struct sim_turn *turn = mem_zalloc(sizeof(*turn));
	int64_t due_ns = core_next_due(master->core);
	bool prunes, more;

	master->turn_planned = false;
	turn->now = master_time(world);
	turn->decided_ns = world->now_ns;
	turn->wall_offset_ms = world->wall_offset_ms;
	core_turn_begin(master->core, turn->now, &turn->outbox);
	master->deciding = &turn->outbox;
	/* A late turn means that the master paused, not that workers were silent; compare was_deaf in src/master/turn.c. */
	if (due_ns != TIME_NEVER && turn->now.mono_ns - due_ns > master->lease_ms * MS / 4)
		core_was_deaf(master->core);
	for (size_t i = 0; i < master->inbox_count; i++) {
		step(world, &master->inbox[i]);
		message_free(master->inbox[i].message);
		/* a later step may fail, and then the world frees what is still in the inbox */
		master->inbox[i].message = NULL;
	}
	master->inbox_count = 0;
	prunes = prune_some(world);
	core_turn_end(master->core);
	core_check(master->core);
	oracle_turn(world, &turn->outbox);
	more = world->values && values_master_flush(world, turn);
	if (turn->outbox.row_count > 0)          /* the hash is only compared with what is loaded from the disk */
		turn->hash_after = core_hash(master->core);
	world->trace = hash_u64(world->trace ^ turn->hash_after);
	if (commit_queue_add(&master->commits, &turn->outbox)) {
		if (master->commit_count == master->commit_cap) {
			master->commit_cap = master->commit_cap ? master->commit_cap * 2 : 16;
			master->committing = mem_resize(master->committing, master->commit_cap, sizeof(struct outbox *));
		}
		master->committing[master->commit_count++] = &turn->outbox;
		begin_commit(world);
	}
	reveal(world);
	if (more)
		plan_turn(world, 0);
	if (prunes)
		plan_turn(world, (int64_t)(1 + world_rand(world, 400)) * MS);
	if (core_next_due(master->core) != TIME_NEVER)
		plan_turn(world, core_next_due(master->core) - master_time(world).mono_ns);
}

static void apply_batch(struct sim_world *world)
{
	struct sim_master *master = &world->master;

	for (size_t i = 0; i < master->batch; i++) {
		const struct sim_turn *turn = (const struct sim_turn *)master->committing[i];

		disk_apply(&world->disk, &turn->outbox, turn->hash_after, turn->now);
		world->oracle.decided_ns = turn->decided_ns;
		world->oracle.wall_offset_ms = turn->wall_offset_ms;
		oracle_durable(world, &turn->outbox);
	}
}

void sim_master_commit_done(struct sim_world *world)
{
	struct sim_master *master = &world->master;

	if (world->faults && master->commit_fails) {
		world_note(world, "a commit fails, and nobody knows how far it got");
		sim_master_crash(world);
		return;
	}
	/* the disk is full: try the same batch again later */
	if (world->faults && (master->full_until_ns > world->now_ns || world_chance(world, 10))) {
		world_plan(world, (int64_t)world_rand(world, 2000) * MS, HAPPENS_COMMIT, 0)->b = master->life;
		return;
	}
	apply_batch(world);
	commit_queue_committed(&master->commits, master->committing[master->batch - 1]->turn);
	memmove(master->committing, master->committing + master->batch,
		(master->commit_count - master->batch) * sizeof(struct outbox *));
	master->commit_count -= master->batch;
	master->batch = 0;
	reveal(world);
	begin_commit(world);
}

void sim_master_crash(struct sim_world *world)
{
	struct sim_master *master = &world->master;
	/* the whole machine died, so no worker is told that its connection broke */
	bool machine = world_chance(world, 100);
	size_t cursor = 0;
	uint64_t key;
	void *value;

	world_note(world, "the master is killed, %u turns not durable", (unsigned)master->commits.depth);
	if (master->batch && world_chance(world, 500))
		apply_batch(world);
	core_free(master->core);
	master->core = NULL;
	oracle_crashed(world);
	world->tenants_set = 0;
	for (uint32_t i = 0; i < SIM_TENANTS; i++)
		if (disk_get_text(&world->disk, TABLE_tenant, slice_str(graph_tenant_names[i])))
			world->tenants_set |= 1U << (i + 1);
	for (size_t i = 0; i < master->inbox_count; i++)
		message_free(master->inbox[i].message);
	while (master->commits.first) {
		struct outbox *outbox = master->commits.first;

		master->commits.first = outbox->next;
		turn_free(outbox);
	}
	memset(&master->commits, 0, sizeof(master->commits));
	prune_forget(world);
	master->inbox_count = master->commit_count = master->batch = 0;
	master->up = master->turn_planned = master->commit_fails = false;
	master->paused_until_ns = 0;
	master->life++;
	while (map_next(&world->conns, &cursor, &key, &value)) {
		struct sim_conn *conn = value;

		if (conn->master_open)
			conn_close(world, conn, machine);
	}
	world_plan(world, (int64_t)world_rand(world, world_chance(world, 100) ? 120000 : 3000) * MS, HAPPENS_MASTER_BOOT, 0);
}

static struct core *load(struct sim_world *world, struct now now, struct outbox *outbox)
{
	struct core_config config = { .cluster = slice_str("sim"), .seed = world->seed ^ world->master.life,
				      .prefetch_off = world->seed % 5 == 0, .boot_id = world->boots + 1, .owner = slice_str("sim"),
				      .ending_ms = world->ending_ms };
	struct core_person people[SIM_PEOPLE];
	struct slice members[3];
	const struct core_team teams[] = { { slice_str("empty"), { NULL, 0 } }, { slice_str(SIM_TEAM), { members, 3 } } };
	struct core *core;
	struct error error = { 0 };

	for (size_t i = 0; i < SIM_PEOPLE; i++)
		people[i] = (struct core_person){ slice_str(graph_people[i]), ROLE_BIT(APPROVER) };
	config.people = people;
	config.people_count = SIM_PEOPLE;
	for (size_t i = 0; i < 3; i++)
		members[i] = slice_str(graph_people[i]);
	config.teams = teams;
	config.team_count = sizeof(teams) / sizeof(teams[0]);
	if (world->hasty) {
		config.heartbeat_ms = 500;
		config.lease_ms = 2000;
		config.grace_ms = 6000;
	}
	core = core_new(&config);
	world->master.lease_ms = world->hasty ? config.lease_ms : LIMIT_LEASE_MS;
	if (disk_load(&world->disk, core, &error) != ERR_NONE ||
	    core_load_end(core, now, outbox, &error) != ERR_NONE)
		world_fail(world, "I17: the rows can't be loaded: %s", error.text);
	core_check(core);
	return core;
}

/*
 * Check I17: the state loaded from the rows equals the state that wrote them. The rows are loaded with the time of
 * their turn; oracle_times.c checks what clocks did since then.
 */
static void check_load(struct sim_world *world)
{
	struct outbox outbox = { 0 };
	struct core *core = load(world, world->disk.now, &outbox);

	if (core_hash(core) != world->disk.hash_after)
		world_fail(world, "I17: the state loaded from the rows of turn %u isn't the state that wrote them",
			   (unsigned)world->disk.turn);
	core_free(core);
	outbox_free(&outbox);
}

/*
 * Reboot the master's machine: its clock since boot starts at 0, so only the wall clock tells how long the machine was
 * off.
 */
static void reboot(struct sim_world *world)
{
	world->boots++;
	world->boot_ns = world->now_ns;
	world_note(world, "the master's machine was rebooted");
	if (world->wall_offset_ms != world->oracle.wall_offset_ms)
		world->oracle.wrong_ns = world->now_ns;
}

void sim_master_clock(struct sim_world *world)
{
	if (world->master.up)
		plan_turn(world, 0);
}

void sim_master_boot(struct sim_world *world)
{
	struct sim_master *master = &world->master;
	struct outbox outbox = { 0 };

	if (world->disk.turn && !world->disk.restored)
		check_load(world);
	if (world->disk.turn && world_chance(world, 250))
		reboot(world);
	master->up = true;
	world->up_ns = world->now_ns;
	world->oracle.decided_ns = world->now_ns;
	world->oracle.wall_offset_ms = world->wall_offset_ms;
	master->core = load(world, master_time(world), &outbox);
	disk_apply(&world->disk, &outbox, core_hash(master->core), master_time(world));
	world->oracle.loading = true;
	oracle_durable(world, &outbox);
	world->oracle.loading = false;
	outbox_free(&outbox);
	world_note(world, "the master starts");
	plan_turn(world, 0);
}
