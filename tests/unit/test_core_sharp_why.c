/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why a job isn't placed, in the words that people read: each hurdle of its worker, each bound, each clock. */
#include "tests/unit/core_why.h"

static struct slice one_text;

static struct slice_list one(const char *text)
{
	one_text = slice_str(text);
	return (struct slice_list){ .at = &one_text, .n = 1 };
}

static uint64_t join(struct rig *rig, const char *name, uint64_t slots, const char *label, const char *offer,
		     const char *pool)
{
	struct core_input input = { .kind = INPUT_WORKER_HELLO, .conn = ++rig->conn };
	struct slice labels[1] = { slice_str(label) }, offers[1] = { slice_str(offer) };

	input.hello = (struct input_hello){
		.name = slice_str(name), .instance = slice_str("0123456789abcdef"), .slots = slots, .pid = 9,
		.labels = { .at = labels, .n = label[0] != '\0' }, .offers = { .at = offers, .n = offer[0] != '\0' },
		.pool = slice_str(pool) };
	rig_step(rig, &input);
	return input.conn;
}

static void set(struct rig *rig, enum object_kind kind, enum set_verb verb, const char *name)
{
	rig_set(rig, (struct msg_set){ .kind = kind, .verb = verb, .name = slice_str(name) });
}

TEST a_worker_of_that_name_isn_t_there(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->only_worker = slice_str("best");
	run = rig_submit(rig, &graph);
	join(rig, "other", 1, "", "", "");
	ASSERT_STR_EQ("no_worker_named: it must have worker best, which isn't connected", why(rig, run, "a"));
	join(rig, "best", 1, "", "", "");
	ASSERT_STR_EQ("sent: it was given to worker best, which hasn't said that it started", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST the_pool_that_it_must_have_has_nobody(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->pool = slice_str("night");
	job->pool_hard = true;
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "", "", "day");
	ASSERT_STR_EQ("no_worker_pool: no connected worker that would do is of pool night", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST labels_come_before_the_pool(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->pool = slice_str("night");
	job->pool_hard = true;
	job->labels = one("gpu");
	run = rig_submit(rig, &graph);
	join(rig, "w", 1, "", "", "night");
	ASSERT_STR_EQ("no_worker_labels: no connected worker has all of: gpu", why(rig, run, "a"));
	join(rig, "v", 1, "gpu", "", "day");
	ASSERT_STR_EQ("no_worker_pool: no connected worker that would do is of pool night", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST the_most_that_anybody_has(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice asks[2] = { slice_str("disk=5"), slice_str("tape=3") };
	uint64_t run;

	graph_job(&graph, "a", "")->asks = (struct slice_list){ .at = asks, .n = 2 };
	run = rig_submit(rig, &graph);
	join(rig, "none", 1, "", "", "");
	ASSERT_STR_EQ("no_worker_resources: it asks for disk=5, and the most of a worker is disk=0, "
		      "and for tape=3, and the most of a worker is tape=0", why(rig, run, "a"));
	join(rig, "w", 1, "", "tape=2", "");
	join(rig, "v", 1, "", "disk=5", "");
	ASSERT_STR_EQ("no_worker_resources: it asks for tape=3, and the most of a worker is tape=2", why(rig, run, "a"));
	join(rig, "u", 1, "", "tape=1", "");
	ASSERT_STR_EQ("no_worker_resources: it asks for tape=3, and the most of a worker is tape=2", why(rig, run, "a"));
	join(rig, "t", 1, "", "tape=3", "");
	ASSERT_STR_EQ("no_worker_resources: no connected worker has all at once of what it asks for", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST what_one_that_left_had_is_not_counted(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run, conn;

	graph_job(&graph, "a", "")->asks = one("tape=9");
	run = rig_submit(rig, &graph);
	conn = join(rig, "rich", 1, "", "tape=8", "");
	join(rig, "poor", 1, "", "tape=1", "");
	ASSERT_STR_EQ("no_worker_resources: it asks for tape=9, and the most of a worker is tape=8", why(rig, run, "a"));
	rig_gone(rig, conn);
	ASSERT_STR_EQ("no_worker_resources: it asks for tape=9, and the most of a worker is tape=1", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST a_person_keeps_new_jobs_away(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	join(rig, "w", 1, "", "", "");
	join(rig, "v", 1, "", "", "");
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	set(rig, OBJECT_WORKER, SET_DRAIN, "v");
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("worker_cordoned: worker w (cordoned), v (draining): a person keeps new jobs away",
		      why(rig, run, "a"));
	set(rig, OBJECT_WORKER, SET_RESUME, "v");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST only_five_workers_are_named(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 1; i <= 6; i++) {
		char name[8];

		snprintf(name, sizeof(name), "w%d", i);
		join(rig, name, 1, "", "", "");
		set(rig, OBJECT_WORKER, SET_PAUSE, name);
	}
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("worker_cordoned: worker w1 (cordoned), w2 (cordoned), w3 (cordoned), w4 (cordoned), w5 (cordoned)"
		      ": a person keeps new jobs away", why(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST a_pool_that_starts_nothing(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	/* The pool of somebody who couldn't take it anyway isn't the reason. */
	join(rig, "v", 1, "", "", "day");
	set(rig, OBJECT_WORKER, SET_PAUSE, "v");
	set(rig, OBJECT_POOL, SET_DRAIN, "day");
	join(rig, "w", 1, "", "", "night");
	set(rig, OBJECT_POOL, SET_PAUSE, "night");
	graph_job(&graph, "a", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("pool_inactive: worker w (pool night is inactive): nothing new starts there", why(rig, run, "a"));
	set(rig, OBJECT_POOL, SET_DRAIN, "night");
	ASSERT_STR_EQ("pool_draining: worker w (pool night is draining): nothing new starts there", why(rig, run, "a"));
	set(rig, OBJECT_POOL, SET_RESUME, "night");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	rig_free(rig);
	PASS();
}

TEST what_it_asks_for_is_in_use(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->asks = one("tape=1");
	graph_job(&graph, "b", "")->asks = graph.jobs[0].asks;
	run = rig_submit(rig, &graph);
	join(rig, "w", 4, "", "tape=1", "");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "a"));
	ASSERT_STR_EQ("resources_busy: what it asks for is in use: tape=1; worker w is kept free for it", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST room_that_is_kept_for_a_larger_one(void)
{
	struct rig *rig = rig_new();
	struct slice both = slice_str("tape=2");
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "small", "")->priority = 100;
	graph_job(&graph, "large", "")->asks = (struct slice_list){ .at = &both, .n = 1 };
	graph_job(&graph, "other", "")->asks = one("tape=1");
	graph.jobs[0].asks = graph.jobs[2].asks;
	run = rig_submit(rig, &graph);
	join(rig, "w", 2, "", "tape=2", "");
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "small"));
	ASSERT_STR_EQ("reserved: worker w has room, which is kept for job 1/large, larger and before it", why(rig, run, "other"));
	rig_free(rig);
	PASS();
}

TEST one_that_flaps_is_passed_over(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_worker_row row;
	uint64_t run;

	join(rig, "steady", 1, "", "", "");
	for (int i = 1; i < LIMIT_FLAP_DROPS; i++) {
		rig_gone(rig, join(rig, "loose", 1, "", "", ""));
		ASSERT(view_worker(rig->core, 2, NULL, &row) && row.rest_ms == 0);
		rig_wait(rig, 1);
	}
	rig_gone(rig, join(rig, "loose", 1, "", "", ""));
	join(rig, "loose", 1, "", "", "");
	ASSERT(view_worker(rig->core, 2, NULL, &row));
	ASSERT_EQ_FMT((uint64_t)LIMIT_FLAP_REST_MS, row.rest_ms, "%lu");
	graph_job(&graph, "a", "")->priority = 80;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	rig_pass(rig, 1);
	ASSERT_STR_EQ("sent: it was given to worker steady, which hasn't said that it started", why(rig, run, "a"));
	ASSERT_STR_EQ("worker_flaps: worker loose lost 5 connections within 60 s, and is passed over for another 30 s",
		      why(rig, run, "b"));
	/* When its rest is over it is one like any other. */
	for (int i = 0; i < LIMIT_FLAP_REST_MS; i += 1000) {
		rig_heartbeat(rig, rig->conn);
		rig_pass(rig, 1000);
	}
	ASSERT_STR_EQ("sent: it was given to worker loose, which hasn't said that it started", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST all_slots_of_those_that_could(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 0; i < 7; i++) {
		char name[8];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "");
	}
	run = rig_submit(rig, &graph);
	join(rig, "w", 2, "", "", "");
	join(rig, "v", 3, "", "", "");
	join(rig, "off", 4, "", "", "");
	ASSERT_EQ(STATE_ASSIGNED, rig_state(rig, 7));
	rig_cancel(rig, run, "");
	for (struct rig_attempt attempt; rig_take(rig, &attempt);)
		rig_done(rig, attempt, OUTCOME_RECALLED, 0);
	set(rig, OBJECT_WORKER, SET_PAUSE, "off");
	for (int i = 0; i < 7; i++) {
		char name[8];

		snprintf(name, sizeof(name), "j%d", i);
		graph_job(&graph, name, "");
	}
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("all_slots_busy: all 5 slots of the workers that could take it are busy; 2 jobs queue for them",
		      why(rig, run, "j6"));
	rig_free(rig);
	PASS();
}

TEST parents_that_it_waits_for(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	for (int i = 1; i <= 7; i++) {
		char name[8];

		snprintf(name, sizeof(name), "p%d", i);
		graph_job(&graph, name, "");
	}
	graph_job(&graph, "few", "p1 p2 p3 p4 p5");
	graph_job(&graph, "many", "p1 p2 p3 p4 p5 p6 p7");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("waits_for_dependency: it waits for p1 (ready), p2 (ready), p3 (ready), p4 (ready), p5 (ready)",
		      why(rig, run, "few"));
	ASSERT_STR_EQ("waits_for_dependency: it waits for p1 (ready), p2 (ready), p3 (ready), p4 (ready), p5 (ready) and 2 more",
		      why(rig, run, "many"));
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 0);
	ASSERT_STR_EQ("waits_for_dependency: it waits for p2 (assigned), p3 (ready), p4 (ready), p5 (ready)",
		      why(rig, run, "few"));
	rig_free(rig);
	PASS();
}

TEST failures_and_losses_before_the_next_attempt(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->retry_max = 1;
	job->backoff_ms = 4000;
	job->deadline_ms = 60000;
	run = rig_submit(rig, &graph);
	rig_hello(rig, "w", 1);
	rig_run_one(rig, 1);
	ASSERT_STR_EQ("delayed", rig_state_named(rig, run, "a"));
	ASSERT(strstr(why(rig, run, "a"), ": 1 failure, 1 retry allowed; its deadline is in 1m"));
	ASSERT(!strstr(why(rig, run, "a"), "lost"));
	rig_free(rig);
	PASS();
}

TEST a_queue_with_a_clock(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	uint64_t run;

	graph_job(&graph, "a", "")->dispatch_timeout_ms = 5000;
	graph_job(&graph, "b", "");
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("no_worker_up: no worker is connected; it times out unless a worker takes it within 5.0s",
		      why(rig, run, "a"));
	ASSERT_STR_EQ("no_worker_up: no worker is connected", why(rig, run, "b"));
	rig_act(rig, ACT_HOLD, run, "a", 0);
	ASSERT_STR_EQ("held: a person holds back this job", why(rig, run, "a"));
	rig_act(rig, ACT_HOLD, run, "", 0);
	ASSERT_STR_EQ("held: a person holds back its run and this job", why(rig, run, "a"));
	rig_act(rig, ACT_RELEASE, run, "a", 0);
	ASSERT_STR_EQ("held: a person holds back its run", why(rig, run, "b"));
	rig_act(rig, ACT_RELEASE, run, "", 0);
	rig_pass(rig, 5000);
	ASSERT_STR_EQ("timed_out", rig_state_named(rig, run, "a"));
	ASSERT(strncmp(why(rig, run, "a"), "settled: it has ended: timed_out: ", 34) == 0);
	rig_cancel(rig, run, "b");
	ASSERT_STR_EQ("settled: it has ended: cancelled", why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST a_gate_says_who_has_and_what_then(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job = graph_job(&graph, "a", "");
	uint64_t run;

	job->gate_count = 2;
	job->gate_timeout_ms = 8000;
	job->gate_expiry = GATE_APPROVE;
	graph_job(&graph, "b", "")->gate_count = 1;
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("approval: 0 of 2 people have approved; without an answer it is approved in 8.0s", why(rig, run, "a"));
	ASSERT_STR_EQ("approval: 0 of 1 people have approved", why(rig, run, "b"));
	rig_act(rig, ACT_HOLD, run, "b", 0);
	ASSERT_STR_EQ("approval: 0 of 1 people have approved; a person holds back this job, so its time stands still",
		      why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST a_gate_says_who_may(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice people[LIMIT_GATE_PEOPLE_MAX] = { slice_str("ana"), slice_str("ben"), slice_str("bob"), slice_str("cy"),
		slice_str("di"), slice_str("ed"), slice_str("flo"), slice_str("guy") };
	struct rec_job_spec *job = graph_job(&graph, "two", "");
	uint64_t run;

	job->gate_count = 1;
	job->gate_from = (struct slice_list){ people, 3 };
	job = graph_job(&graph, "many", "");
	job->gate_count = 1;
	job->gate_from = (struct slice_list){ people, 8 };
	job = graph_job(&graph, "nobody", "");
	job->gate_count = 1;
	job->gate_from = (struct slice_list){ people, 1 };
	run = rig_submit(rig, &graph);
	ASSERT_STR_EQ("approval: 0 of 1 people have approved; ben, bob may", why(rig, run, "two"));
	ASSERT_STR_EQ("approval: 0 of 1 people have approved; ben, bob, cy, di, ed and 2 others may", why(rig, run, "many"));
	ASSERT_STR_EQ("approval: 0 of 1 people have approved; nobody may: it names only ana, who submitted it",
		      why(rig, run, "nobody"));
	rig_free(rig);
	PASS();
}

TEST the_worker_of_its_parent(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct rec_job_spec *job;
	struct rig_attempt attempt;
	uint64_t run, conn = rig_hello(rig, "w", 1);

	graph_job(&graph, "a", "");
	graph_job(&graph, "long", "a")->priority = 100;
	job = graph_job(&graph, "b", "a");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	run = rig_submit(rig, &graph);
	rig_run_one(rig, 0);
	rig_hello(rig, "free", 1);
	attempt = rig_must_take(rig);
	rig_started(rig, attempt);
	ASSERT_STR_EQ("running", rig_state_named(rig, run, "long"));
	ASSERT_STR_EQ("affinity_busy: it must have worker w, which ran a job before it, and that is busy", why(rig, run, "b"));
	set(rig, OBJECT_WORKER, SET_PAUSE, "w");
	ASSERT_STR_EQ("affinity_busy: it must have worker w, which ran a job before it, and that starts nothing new",
		      why(rig, run, "b"));
	rig_gone(rig, conn);
	ASSERT_STR_EQ("affinity_busy: it must have worker w, which ran a job before it, and that is unreachable",
		      why(rig, run, "b"));
	rig_free(rig);
	PASS();
}

TEST a_worker_that_can_never_take_it(void)
{
	struct rig *rig = rig_new();
	struct graph graph = { 0 };
	struct slice labels[] = { slice_str("gpu") };
	struct rec_job_spec *job;
	uint64_t run;

	rig_hello_labels(rig, "w", 1, labels, 1);
	graph_job(&graph, "a", "");
	job = graph_job(&graph, "b", "a");
	job->affinity = AFFINITY_PARENT;
	job->affinity_hard = true;
	job->labels = (struct slice_list){ labels, 1 };
	job = graph_job(&graph, "c", "");
	job->only_worker = slice_str("plain");
	job->labels = (struct slice_list){ labels, 1 };
	run = rig_submit(rig, &graph);
	rig_act(rig, ACT_HOLD, run, "b", 0);
	rig_run_one(rig, 0);
	rig_hello(rig, "w", 1);                  /* it comes back without its label */
	rig_hello(rig, "plain", 1);
	rig_act(rig, ACT_RELEASE, run, "b", 0);
	ASSERT_STR_EQ("affinity_never: it must have worker w, which ran a job before it, and that lacks one of: gpu: it will "
		      "wait for ever, unless the worker comes back another or the job is cancelled", why(rig, run, "b"));
	ASSERT_STR_EQ("no_worker_labels: it must have worker plain, which lacks one of: gpu", why(rig, run, "c"));
	rig_hello_labels(rig, "w", 1, labels, 1);
	ASSERT_STR_EQ("assigned", rig_state_named(rig, run, "b"));
	rig_free(rig);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_worker_of_that_name_isn_t_there);
	RUN_TEST(the_pool_that_it_must_have_has_nobody);
	RUN_TEST(labels_come_before_the_pool);
	RUN_TEST(the_most_that_anybody_has);
	RUN_TEST(what_one_that_left_had_is_not_counted);
	RUN_TEST(a_person_keeps_new_jobs_away);
	RUN_TEST(only_five_workers_are_named);
	RUN_TEST(a_pool_that_starts_nothing);
	RUN_TEST(what_it_asks_for_is_in_use);
	RUN_TEST(room_that_is_kept_for_a_larger_one);
	RUN_TEST(one_that_flaps_is_passed_over);
	RUN_TEST(all_slots_of_those_that_could);
	RUN_TEST(parents_that_it_waits_for);
	RUN_TEST(failures_and_losses_before_the_next_attempt);
	RUN_TEST(a_queue_with_a_clock);
	RUN_TEST(a_gate_says_who_has_and_what_then);
	RUN_TEST(a_gate_says_who_may);
	RUN_TEST(the_worker_of_its_parent);
	RUN_TEST(a_worker_that_can_never_take_it);
	GREATEST_MAIN_END();
}
