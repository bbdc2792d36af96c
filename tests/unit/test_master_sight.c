/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A person who may see only some runs finds no trace of others. Every query and every request of the protocol is tried,
 * and the answers are searched for names, texts and numbers of another person's runs, all of whose texts contain "zoe".
 */
#include <unistd.h>

#include "greatest.h"
#include "master_box.h"
#include "proto/rights.h"

#define LIVE    1 /* zoe's runs: one is live, with a running and a waiting job; one was pruned; one has ended */
#define PRUNED  2
#define ENDED   3
#define MINE    4                        /* anna's */
#define NO_RUN  99

static struct person person;
static struct peer peer;
static uint64_t zoes_job, zoes_epoch;
static char found[256];                  /* the trace that a search found */

static bool begin_as(const char *name, role_set roles)
{
	struct msg_hello hello = { .version = PROTOCOL_VERSION, .kind = PEER_CLIENT };
	struct msg_welcome welcome;

	person = (struct person){ .uid = getuid(), .name = name, .roles = roles };
	box_people = (struct people){ &person, 1 };
	return box_start() && peer_connect(&peer) && peer_send(&peer, OP_HELLO, &hello) && peer_expect(&peer, OP_WELCOME, &welcome);
}

static void end(void)
{
	peer_close(&peer);
	box_stop(SIGTERM);
}

static void job_add(struct buf *jobs, const char *name, bool gate)
{
	struct slice argv[] = { slice_str("echo"), slice_str("zoe-command") }, locks[] = { slice_str("zoe-lock") };
	struct slice groups[] = { slice_str("zoe-group=1") };
	struct rec_job_spec spec = { .name = slice_str(name) };

	if (gate) {
		spec.gate_count = 1;
		spec.gate_message = slice_str("zoe-question");
	} else {
		spec.argv = (struct slice_list){ argv, 2 };
		spec.mode = EXEC_EXCLUSIVE;
		spec.locks = (struct slice_list){ locks, 1 };
		spec.concurrency = (struct slice_list){ groups, 1 };
	}
	record_encode(jobs, REC_job_spec, &spec);
}

static bool submit(const char *key, const char *name, uint64_t wanted)
{
	struct buf jobs = { 0 };
	struct msg_submit msg = { .id = ++peer.last_id, .key = slice_str(key), .name = slice_str(name), .count = 3 };
	struct msg_accepted accepted;
	bool sent;

	job_add(&jobs, "zoe-job", false);
	job_add(&jobs, "zoe-second", false);
	job_add(&jobs, "zoe-gate", true);
	msg.jobs = buf_slice(&jobs);
	msg.tenant = slice_str("zoe-tenant");
	msg.concurrency = slice_str("zoe-runs=5");
	sent = peer_send(&peer, OP_SUBMIT, &msg) && peer_expect(&peer, OP_ACCEPTED, &accepted);
	buf_free(&jobs);
	return sent && accepted.run == wanted;
}

static bool answered_ok(void)
{
	struct msg_ok ok;

	return peer_expect(&peer, OP_OK, &ok);
}

static bool cancel(uint64_t run)
{
	struct msg_act msg = { .id = ++peer.last_id, .verb = ACT_CANCEL, .run = run };

	return peer_send(&peer, OP_ACT, &msg) && answered_ok();
}

static bool schedule(void)
{
	struct rec_schedule_spec when = { .cron = slice_str("@daily") };
	struct buf jobs = { 0 };
	struct msg_submit msg = { .id = ++peer.last_id, .key = slice_str("schedule-of-zoe!"), .name = slice_str("zoe-schedule"),
				  .count = 1, .schedule = { .at = &when, .n = 1 } };
	bool sent;

	job_add(&jobs, "zoe-daily", false);
	msg.jobs = buf_slice(&jobs);
	sent = peer_send(&peer, OP_SUBMIT, &msg) && answered_ok();
	buf_free(&jobs);
	return sent;
}

static bool lock_and_token(void)
{
	static const uint8_t secret[32] = { 7 };
	struct msg_set lock = { .id = ++peer.last_id, .kind = OBJECT_LOCK, .verb = SET_TAKE, .name = slice_str("zoe-own-lock"),
				.text = slice_str("zoe-owner"), .span_ms = 3600000 };
	struct msg_set token = { .id = ++peer.last_id, .kind = OBJECT_TOKEN, .verb = SET_PUT, .name = slice_str("zoe.abcdef"),
				 .text = slice_str("zoe"), .number = ROLE_BIT(VIEWER), .secret = slice_make(secret, 32) };

	return peer_send(&peer, OP_SET, &lock) && answered_ok() && peer_send(&peer, OP_SET, &token) && answered_ok();
}

/* Prune the older of the two ended runs; the rule keeps one. */
static bool prune(void)
{
	struct msg_prune msg = { .id = ++peer.last_id, .keep = 1 + 1, .dead = true };
	struct msg_snapshot snapshot;

	return peer_send(&peer, OP_PRUNE, &msg) && peer_expect(&peer, OP_SNAPSHOT, &snapshot);
}

/* Let the only worker of these tests take zoe's first job, which it keeps. */
static bool worker_takes(struct peer *worker)
{
	struct frame frame;
	struct msg_assign assign;

	if (!peer_worker(worker, "w", 1, NULL, 0))
		return false;
	while (peer_frame(worker, &frame))
		if (frame.opcode == OP_ASSIGN) {
			arena_reset(&worker->arena);
			if (message_decode(OP_ASSIGN, frame.body, &worker->arena, &assign, NULL) != ERR_NONE)
				return false;
			zoes_job = assign.items.at[0].job;
			zoes_epoch = assign.items.at[0].epoch;
			return true;
		}
	return false;
}

static bool fill(void)
{
	struct peer worker;
	bool filled = begin_as("zoe", ROLES_PERSON) && submit("key-of-zoe-run-1", "zoe-live", LIVE) &&
		      submit("key-of-zoe-run-2", "zoe-pruned", PRUNED) && submit("key-of-zoe-run-3", "zoe-ended", ENDED) &&
		      cancel(PRUNED) && cancel(ENDED) && schedule() && lock_and_token() && worker_takes(&worker);

	if (!filled)
		return false;
	peer_close(&worker);
	end();
	/* Runs leave memory at the end of the master at the latest; the newest of the two ended runs is kept. */
	filled = begin_as("zoe", ROLES_PERSON) && prune();
	end();
	return filled;
}

/* ---- searching ---- */

static bool holds_text(struct slice bytes, const char *text)
{
	return memmem(bytes.data, bytes.len, text, strlen(text)) != NULL;
}

/* Does any row of the answer have the number of one of zoe's runs? */
static bool names_a_run(const struct msg_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->runs.n; i++)
		if (snapshot->runs.at[i].run < MINE)
			return true;
	for (size_t i = 0; i < snapshot->jobs.n; i++)
		if (snapshot->jobs.at[i].run < MINE)
			return true;
	for (size_t i = 0; i < snapshot->events.n; i++)
		if (snapshot->events.at[i].run != 0 && snapshot->events.at[i].run < MINE)
			return true;
	for (size_t i = 0; i < snapshot->acts.n; i++)
		if (snapshot->acts.at[i].run != 0 && snapshot->acts.at[i].run < MINE)
			return true;
	for (size_t i = 0; i < snapshot->locks.n; i++)
		if (snapshot->locks.at[i].run != 0 && snapshot->locks.at[i].run < MINE)
			return true;
	for (size_t i = 0; i < snapshot->workers.n; i++)
		if (snapshot->workers.at[i].reserved != 0)
			return true;
	return snapshot->dead.n + snapshot->decisions.n + snapshot->tries.n + snapshot->pruned_runs.n > 0;
}

/* Take the next frame and search it. False: it has a trace of zoe's runs, or no frame came. */
static bool clean_frame(const char *what, struct frame *ret_frame)
{
	struct msg_snapshot snapshot;
	struct buf text = { 0 };
	bool clean;

	if (!peer_frame(&peer, ret_frame)) {
		snprintf(found, sizeof(found), "%s: no answer", what);
		return false;
	}
	clean = !holds_text(ret_frame->body, "zoe");
	arena_reset(&peer.arena);
	if (ret_frame->opcode == OP_SNAPSHOT &&
	    message_decode(OP_SNAPSHOT, ret_frame->body, &peer.arena, &snapshot, NULL) == ERR_NONE)
		clean = clean && !names_a_run(&snapshot);
	if (!clean) {
		message_print(&text, (enum opcode)ret_frame->opcode, ret_frame->body);
		snprintf(found, sizeof(found), "%s: %.200s", what, buf_cstr(&text));
		buf_free(&text);
	}
	return clean;
}

static bool clean_query(const struct msg_query *msg)
{
	struct msg_snapshot snapshot = { .cursor = 1 };
	struct msg_query query = *msg;
	struct frame frame;
	char what[64];

	snprintf(what, sizeof(what), "question %llu of run %llu", (unsigned long long)query.what, (unsigned long long)query.run);
	for (int page = 0; page < 100 && snapshot.cursor != 0; page++) {
		query.id = ++peer.last_id;
		if (!peer_send(&peer, OP_QUERY, &query) || !clean_frame(what, &frame))
			return false;
		if (frame.opcode != OP_SNAPSHOT)
			break;
		arena_reset(&peer.arena);
		if (message_decode(OP_SNAPSHOT, frame.body, &peer.arena, &snapshot, NULL) != ERR_NONE)
			return false;
		query.cursor = snapshot.cursor;
	}
	return true;
}

/* The answer to a request as text, without the numbers of the request and of the run. */
static char *answer_about(enum opcode op, void *msg, uint64_t *id, uint64_t *run, uint64_t number)
{
	static char texts[2][4096];
	static int turn;
	char *out = texts[turn++ % 2], digits[24];
	struct buf text = { 0 };
	struct frame frame;
	size_t len = 0;

	*id = ++peer.last_id;
	*run = number;
	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);
	if (!peer_send(&peer, op, msg) || !peer_frame(&peer, &frame))
		return strcpy(out, "no answer");
	message_print(&text, (enum opcode)frame.opcode, frame.body);
	for (const char *at = buf_cstr(&text); *at && len < sizeof(texts[0]) - 1; at++)
		if (*at < '0' || *at > '9')
			out[len++] = *at;
	out[len] = '\0';
	if (holds_text(frame.body, "zoe"))
		snprintf(out, sizeof(texts[0]), "a trace: %.1000s", buf_cstr(&text));
	buf_free(&text);
	return out;
}

/* Is a request about each of zoe's runs answered like one about a run that doesn't exist? */
static bool same_as_none(enum opcode op, void *msg, uint64_t *id, uint64_t *run)
{
	for (uint64_t number = LIVE; number <= ENDED; number++) {
		const char *none = answer_about(op, msg, id, run, NO_RUN), *hidden = answer_about(op, msg, id, run, number);

		if (strcmp(none, hidden) == 0)
			continue;
		snprintf(found, sizeof(found), "0x%02x, run %llu: %.90s, not %.90s", op, (unsigned long long)number, hidden, none);
		return false;
	}
	return true;
}

/* ---- tests ---- */

TEST submitter_finds_no_trace_in_any_answer(void)
{
	static const char *const jobs[] = { "", "zoe-job", "zoe-gate" };
	static const uint64_t runs[] = { 0, LIVE, ENDED, PRUNED, NO_RUN };

	ASSERT(fill());
	ASSERT(begin_as("anna", ROLE_BIT(SUBMITTER)));
	for (uint64_t what = 1; what <= QUERY_TRIES; what++)
		for (size_t run = 0; run < sizeof(runs) / sizeof(runs[0]); run++)
			for (size_t job = 0; job < 3; job++) {
				/* A refusal repeats the name of the job that was asked for, which is no trace. */
				bool named = job > 0 && (what == QUERY_JOB || what == QUERY_EXPLAIN);
				struct msg_query query = { .what = what, .run = runs[run], .reasons = true,
							   .job = slice_str(named ? "j" : jobs[job]) };

				ASSERTm(found, clean_query(&query));
			}
	end();
	PASS();
}

TEST request_about_a_hidden_run_is_answered_like_one_about_none(void)
{
	ASSERT(fill());
	ASSERT(begin_as("anna", ROLE_BIT(SUBMITTER)));
	for (uint64_t what = 1; what <= QUERY_TRIES; what++) {
		struct msg_query query = { .what = what, .job = slice_str(what == QUERY_NAMES ? "" : "zob") };

		if (sight_of_query(what) == SIGHT_RUN)
			ASSERTm(found, same_as_none(OP_QUERY, &query, &query.id, &query.run));
	}
	for (uint64_t verb = 1; verb <= ACT_DISCARD; verb++) {
		struct msg_act act = { .verb = verb, .value = verb == ACT_RETRY ? RETRY_ALL : 0 };

		ASSERTm(found, same_as_none(OP_ACT, &act, &act.id, &act.run));
	}
	for (int i = 0; i < 2; i++) {
		struct msg_log_read read = { .job = zoes_job, .epoch = zoes_epoch };
		struct msg_submit again = { .key = slice_str("key-of-anna-agai") }, into = { .key = slice_str("key-of-anna-into"), .count = 1 };
		struct buf jobs = { 0 };

		ASSERTm(found, same_as_none(OP_LOG_READ, &read, &read.id, &read.run));
		ASSERTm(found, same_as_none(OP_SUBMIT, &again, &again.id, &again.again));
		graph_encode(&jobs, 0, 1, false);
		into.jobs = buf_slice(&jobs);
		ASSERTm(found, same_as_none(OP_SUBMIT, &into, &into.id, &into.into));
		buf_free(&jobs);
	}
	end();
	PASS();
}

TEST subscriber_is_told_nothing_of_hidden_runs(void)
{
	struct msg_subscribe all = { .id = 1000, .what = QUERY_RUNS }, jobs = { .what = QUERY_JOBS }, one = { .what = QUERY_RUNS };
	struct msg_act ends = { .id = 1001, .verb = ACT_CANCEL, .run = MINE };
	struct msg_query status = { .what = QUERY_STATUS };
	bool told = false;
	struct frame frame;
	struct peer worker;

	ASSERT(fill());
	ASSERT(begin_as("anna", ROLE_BIT(SUBMITTER)));
	ASSERTm(found, same_as_none(OP_SUBSCRIBE, &jobs, &jobs.id, &jobs.run) && same_as_none(OP_SUBSCRIBE, &one, &one.id, &one.run));
	ASSERT(peer_send(&peer, OP_SUBSCRIBE, &all));
	ASSERTm(found, clean_frame("snapshot", &frame));
	ASSERT(worker_takes(&worker));
	ASSERT(peer_done(&worker, zoes_job, zoes_epoch, 0));
	/* Frames about zoe's job would have come before the end of anna's own run. */
	ASSERT(peer_submit(&peer, "key-of-annas-run", "mine", 1, false) && peer_send(&peer, OP_ACT, &ends));
	while (!told) {
		struct msg_delta delta;

		ASSERTm(found, clean_frame("delta", &frame));
		arena_reset(&peer.arena);
		if (frame.opcode != OP_DELTA)
			continue;
		ASSERT_EQ(ERR_NONE, message_decode(OP_DELTA, frame.body, &peer.arena, &delta, NULL));
		for (size_t i = 0; i < delta.runs.n; i++) {
			ASSERT_EQ(MINE, delta.runs.at[i].run);
			told |= delta.runs.at[i].ended_ms != 0;
		}
		ASSERT_EQ(0, delta.jobs.n);
	}
	ASSERTm(found, clean_query(&status));
	peer_close(&worker);
	end();
	PASS();
}

static bool run_shows(uint64_t run)
{
	struct msg_snapshot snapshot;

	return peer_query(&peer, QUERY_RUNS, 0, "", run + 1, 1, &snapshot) && snapshot.runs.n == 1 && snapshot.runs.at[0].run == run;
}

TEST everybody_sees_all_runs_if_privacy_is_open(void)
{
	ASSERT(fill());
	box_privacy_open = true;
	ASSERT(begin_as("anna", ROLE_BIT(SUBMITTER)));
	ASSERT(run_shows(LIVE) && run_shows(ENDED));
	end();
	PASS();
}

TEST viewer_and_operator_see_all_runs(void)
{
	struct msg_snapshot snapshot;

	ASSERT(fill());
	for (unsigned i = 0; i < 2; i++) {
		ASSERT(begin_as("anna", i ? ROLE_BIT(VIEWER) : ROLE_BIT(OPERATOR)));
		ASSERT(run_shows(LIVE) && run_shows(ENDED));
		ASSERT(peer_query(&peer, QUERY_PRUNED, 0, "", 0, 0, &snapshot));
		ASSERT_EQ(1, snapshot.pruned_runs.n);
		ASSERT_EQ(PRUNED, snapshot.pruned_runs.at[0].run);
		end();
	}
	PASS();
}

TEST approver_sees_the_runs_in_which_it_decides(void)
{
	struct msg_snapshot snapshot;

	ASSERT(fill());
	ASSERT(begin_as("carl", ROLE_BIT(APPROVER)));
	ASSERT(run_shows(LIVE));
	ASSERT_FALSE(run_shows(ENDED));
	ASSERT(peer_query(&peer, QUERY_GATES, 0, "", 0, 0, &snapshot));
	ASSERT_EQ(1, snapshot.jobs.n);
	ASSERT(peer_query(&peer, QUERY_JOBS, LIVE, "", 0, 0, &snapshot));
	ASSERT_EQ(3, snapshot.jobs.n);
	end();
	PASS();
}

SUITE(master_sight)
{
	SET_SETUP(box_setup_cb, NULL);
	SET_TEARDOWN(box_teardown_cb, NULL);
	RUN_TEST(submitter_finds_no_trace_in_any_answer);
	RUN_TEST(request_about_a_hidden_run_is_answered_like_one_about_none);
	RUN_TEST(subscriber_is_told_nothing_of_hidden_runs);
	RUN_TEST(everybody_sees_all_runs_if_privacy_is_open);
	RUN_TEST(viewer_and_operator_see_all_runs);
	RUN_TEST(approver_sees_the_runs_in_which_it_decides);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_sight);
	GREATEST_MAIN_END();
}
