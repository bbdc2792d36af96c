/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a job may do over its own connection: submit runs, add jobs to its own run, look at its own run and at those
 * that its run's jobs submitted, cancel those, and use assets in the name of its run's owner. Each request is checked
 * anew, because the attempt may have ended since the last one.
 */
#include "master/dispatch.h"

union request {
	uint64_t id;                     /* id of the request, the first field of every request */
	struct msg_submit submit;
	struct msg_graph_begin begin;
	struct msg_query query;
	struct msg_subscribe subscribe;
	struct msg_log_read log_read;
	struct msg_act act;
	struct msg_set set;
	uint8_t bytes[MESSAGE_STRUCT_MAX];
};

bool scope_has_run(const struct peer_session *session, uint64_t run)
{
	return run == session->own_run || view_begun_by(session->master->core, run) == session->own_run;
}

static enum err not_yours(const struct peer_session *session, uint64_t run, struct error *error)
{
	error_set(error, ERR_DENIED, "a job of run %llu may not ask about run %llu; it may ask about its own run and "
		"runs that it submitted",
		  (unsigned long long)session->own_run, (unsigned long long)run);
	return error_next(error, "titan show %llu", (unsigned long long)session->own_run);
}

static enum err not_for_jobs(const char *what, struct error *error)
{
	return error_set(error, ERR_DENIED, "a job may not %s; it may submit runs, and look at or cancel its own run "
		"and runs that it submitted", what);
}

static enum err own(const struct peer_session *session, uint64_t run, struct error *error)
{
	return scope_has_run(session, run) ? ERR_NONE : not_yours(session, run, error);
}

static enum err check_query(const struct peer_session *session, const struct msg_query *msg, struct error *error)
{
	switch (msg->what) {
	case QUERY_RUNS:
		/* Other runs are left out of the answer; only a query about one of them is refused. */
		return msg->run == 0 ? ERR_NONE : own(session, msg->run, error);
	case QUERY_JOBS:
	case QUERY_JOB:
	case QUERY_EXPLAIN:
	case QUERY_SPECS:
		return own(session, msg->run, error);
	case QUERY_ASSETS:
		return ERR_NONE;
	case QUERY_NAMES:
		return msg->run == 0 ? not_for_jobs("list all runs of the cluster", error) : own(session, msg->run, error);
	default:
		return not_for_jobs("ask about the cluster", error);
	}
}

static enum err check(const struct peer_session *session, enum opcode op, const union request *msg, struct error *error)
{
	switch (op) {
	case OP_GRAPH_CHUNK:
	case OP_GRAPH_COMMIT:
	case OP_UNSUBSCRIBE:
	case OP_PROGRESS:
	case OP_VALUES:                  /* core knows what the job was granted */
	case OP_VALUES_WATCH:
	case OP_GOODS_HAVE:              /* a job may do with assets what the owner of its run may */
	case OP_GOODS_PUT:
	case OP_GOODS_PACK:
	case OP_GOODS_READ:
	case OP_ARTIFACTS:
		return ERR_NONE;
	case OP_SET:
		return msg->set.kind == OBJECT_ASSET ? ERR_NONE : not_for_jobs("change the cluster", error);
	case OP_MOMENT:
		return not_for_jobs("show an earlier time", error);
	case OP_SUBMIT:
		if (msg->submit.again > 0)
			return own(session, msg->submit.again, error);
		return msg->submit.schedule.n == 0 ? ERR_NONE : not_for_jobs("make schedules", error);
	case OP_GRAPH_BEGIN:
		return msg->begin.schedule.n == 0 ? ERR_NONE : not_for_jobs("make schedules", error);
	case OP_QUERY:
		return check_query(session, &msg->query, error);
	case OP_SUBSCRIBE:
		return msg->subscribe.run != 0 ? own(session, msg->subscribe.run, error) :
						 not_for_jobs("watch the whole cluster", error);
	case OP_LOG_READ:
		return own(session, msg->log_read.run, error);
	case OP_ACT:
		return msg->act.verb == ACT_CANCEL ? own(session, msg->act.run, error) :
						     not_for_jobs("decide, settle, hold or retry", error);
	default:
		return not_for_jobs("change the cluster", error);
	}
}

/*
 * Check a job's request. An error closes the connection; a refused request is answered here, and *ret_refused is set.
 */
enum err scope_check(const struct incoming_frame *in, enum opcode op, bool *ret_refused)
{
	struct peer_session *session = in->session;
	union request msg;
	struct error error;
	enum err err = view_caller(session->master->core, &session->caller, &session->own_run, in->error);

	if (err != ERR_NONE || op == OP_HELLO || op == OP_ERROR)
		return err;
	err = decode(in, op, &msg);
	if (err == ERR_NONE && check(session, op, &msg, &error) != ERR_NONE) {
		session_refuse(session, msg.id, &error);
		*ret_refused = true;
	}
	return err;
}
