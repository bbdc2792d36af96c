/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * messages.def as structs: struct rec_job_spec, struct msg_submit; the enums their fields hold; and the
 * codec. Slices in a decoded message point into the frame's bytes, lists into the arena.
 */
#ifndef TITAN_PROTO_MESSAGE_H
#define TITAN_PROTO_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "proto/error.h"

#define PROTOCOL_VERSION 2
#define LOG_LOSSLESS UINT64_MAX          /* as log_max: nothing is dropped, the job waits */
#define MESSAGE_STRUCT_MAX 1536          /* no struct below is larger */

enum peer_kind { PEER_CLIENT = 1, PEER_WORKER = 2 };
enum role { ROLE_NOBODY, ROLE_VIEWER, ROLE_SUBMITTER, ROLE_APPROVER, ROLE_OPERATOR, ROLE_ADMIN, ROLE_WORKER };
/* EXPR: the parent's result means only what the job's conditions make of it. */
enum trigger { TRIGGER_OK, TRIGGER_FAILED, TRIGGER_DONE, TRIGGER_EXPR };
enum attempt_phase { PHASE_QUEUED = 1, PHASE_RUNNING = 2, PHASE_ENDED = 3 };
enum worker_state { WORKER_UP, WORKER_UNREACHABLE, WORKER_LOST };
enum pool_state { POOL_ACTIVE, POOL_DRAINING, POOL_INACTIVE };
/* What a person said of a worker: cordoned takes nothing new; draining gives back what hasn't started, too. */
enum worker_standing { STANDING_NONE, STANDING_CORDONED, STANDING_DRAINING };
/* A job had better have the worker that ran one it needs; sticky: that ran it before, or else such a one. */
enum affinity { AFFINITY_NONE, AFFINITY_PARENT, AFFINITY_STICKY };
enum act_verb { ACT_CANCEL = 1, ACT_RETRY, ACT_HOLD, ACT_RELEASE, ACT_PRIORITY, ACT_APPROVE, ACT_REJECT, ACT_PUSHBACK,
		ACT_SETTLE, ACT_REQUEUE = 12, ACT_DISCARD = 13 };
/* Objects that are no runs, and what SET does to them. */
enum object_kind { OBJECT_WORKER = 1, OBJECT_POOL, OBJECT_TENANT, OBJECT_GROUP, OBJECT_LOCK, OBJECT_SCHEDULE };
enum set_verb { SET_PUT = 1, SET_REMOVE, SET_PAUSE, SET_RESUME, SET_DRAIN, SET_TAKE, SET_DROP, SET_FIRE };
/* Schedules: while a run of it lives, and for times that nobody was there for; why one was passed over. */
enum overlap { OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_ALLOW };
enum catchup { CATCHUP_SKIP, CATCHUP_ONE, CATCHUP_ALL, CATCHUP_SPAN };
enum skip_why { SKIP_NONE, SKIP_OVERLAP, SKIP_MISSED, SKIP_REFUSED };
enum retry_scope { RETRY_FAILED, RETRY_FROM, RETRY_ONLY, RETRY_ALL };
enum settlement { SETTLE_DONE, SETTLE_FAILED, SETTLE_RETRY };
enum gate_expiry { GATE_REJECT, GATE_APPROVE };
enum loop_on_max { LOOP_MAX_FAIL, LOOP_MAX_OK };
/* Bits of retry_on and continue_on in a job_spec. */
enum retry_on { RETRY_ON_EXIT = 1, RETRY_ON_SIGNAL = 2, RETRY_ON_SPAWN = 4, RETRY_ON_TIMEOUT = 8,
		RETRY_ON_DEFAULT = 7, RETRY_ON_ALL = 15 };
enum continue_on { CONTINUE_FAILED = 1, CONTINUE_TIMED_OUT = 2, CONTINUE_DENIED = 4, CONTINUE_ALL = 7 };
enum worker_death { DEATH_ADOPT, DEATH_KILL };
enum query_what { QUERY_STATUS = 1, QUERY_RUNS = 2, QUERY_JOBS = 3, QUERY_JOB = 4, QUERY_WORKERS = 5, QUERY_GATES = 6, QUERY_EXPLAIN = 7,
		  QUERY_POOLS = 8, QUERY_TENANTS = 9, QUERY_GROUPS = 10, QUERY_LOCKS = 11, QUERY_SCHEDULES = 12, QUERY_DEAD = 13, QUERY_DECISIONS = 14, QUERY_METRICS = 15 };

/* How often a job may run when nobody can say whether it did. */
#define EXEC_MODES(X) \
	X(RETRY, "retry", "again, after a loss: at least once") \
	X(EXCLUSIVE, "exclusive", "again, but never two at once") \
	X(ONCE, "once", "started at most once; a person decides when in doubt")

enum exec_mode {
#define X(NAME, name, text) EXEC_##NAME,
	EXEC_MODES(X)
#undef X
	EXEC_MODE_COUNT
};

/* What was said of a gate, or of a job that nobody could know about. */
#define VERDICTS(X) \
	X(REJECTED, "rejected", "rejected") \
	X(APPROVED, "approved", "approved") \
	X(PUSHED_BACK, "pushed_back", "pushed back to") \
	X(EXPIRED, "expired", "nobody decided in time: denied") \
	X(EXPIRED_APPROVED, "expired_approved", "nobody decided in time: approved") \
	X(DONE, "done", "said that it is done") \
	X(FAILED, "failed", "said that it failed") \
	X(RETRY, "retry", "wanted it run again")

enum verdict {
#define X(NAME, name, text) VERDICT_##NAME,
	VERDICTS(X)
#undef X
	VERDICT_COUNT
};

/* How an attempt ended. */
#define OUTCOMES(X) \
	X(NONE, "none", "hasn't ended") \
	X(EXIT, "exit", "exited; the code says how") \
	X(SIGNAL, "signal", "a signal ended it; the code is its number") \
	X(SPAWN, "spawn", "couldn't be started; the code is an errno") \
	X(RECALLED, "recalled", "given back before it started") \
	X(STOPPED, "stopped", "ended because it was asked to; the code is the exit code or 128 + signal") \
	X(LOST, "lost", "its worker was lost") \
	X(EXIT_UNKNOWN, "exit_unknown", "it is gone, and nobody saw how") \
	X(REFUSED, "refused", "its worker lacked what a start needs; the code is an errno")

enum outcome {
#define X(NAME, name, text) OUTCOME_##NAME,
	OUTCOMES(X)
#undef X
	OUTCOME_COUNT
};

struct u64_list {
	uint64_t *at;
	size_t n;
};

struct slice_list {
	struct slice *at;
	size_t n;
};

static inline struct slice_list slice_list_copy(struct arena *arena, struct slice_list texts)
{
	struct slice_list copy = { .n = texts.n };

	copy.at = (struct slice *)arena_alloc(arena, (texts.n + 1) * sizeof(*copy.at));
	for (size_t i = 0; i < texts.n; i++)
		copy.at[i] = arena_copy(arena, texts.at[i]);
	return copy;
}

#define CTYPE_U64  uint64_t
#define CTYPE_I64  int64_t
#define CTYPE_BOOL bool
#define CTYPE_STR  struct slice
#define CTYPE_BIN  struct slice
#define CTYPE_U64S struct u64_list
#define CTYPE_STRS struct slice_list

#define RECORD(name, form, doc) struct rec_##name {
#define MESSAGE(NAME, name, opcode, from, role, doc) struct msg_##name {
#define FIELD(type, key, name, need, doc) CTYPE_##type name;
#define RECORDS(rec, key, name, need, doc) struct { struct rec_##rec *at; size_t n; } name;
#define END(name) };
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
#undef FIELD
#undef RECORDS
#undef END

enum opcode {
#define RECORD(name, form, doc)
#define MESSAGE(NAME, name, opcode, from, role, doc) OP_##NAME = opcode,
#define FIELD(type, key, name, need, doc)
#define RECORDS(rec, key, name, need, doc)
#define END(name)
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
#undef FIELD
#undef RECORDS
#undef END
	OP_LIMIT = 256
};

enum record_kind {
#define RECORD(name, form, doc) REC_##name,
#define MESSAGE(NAME, name, opcode, from, role, doc)
#define FIELD(type, key, name, need, doc)
#define RECORDS(rec, key, name, need, doc)
#define END(name)
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
#undef FIELD
#undef RECORDS
#undef END
	REC_COUNT
};

/* The tables behind the codec, for the frame printer, the manual and the authorisation check. */
enum field_type { TYPE_U64, TYPE_I64, TYPE_BOOL, TYPE_STR, TYPE_BIN, TYPE_U64S, TYPE_STRS, TYPE_RECORDS };
enum sender { FROM_CLIENT = 1, FROM_WORKER = 2, FROM_MASTER = 4, FROM_BOTH = 7 };

struct field_info {
	const char *name;
	const char *doc;
	size_t offset;
	enum field_type type;
	uint8_t key;
	bool must;
	uint8_t record;          /* enum record_kind, for TYPE_RECORDS */
};

struct shape {                   /* of a message or record */
	const char *name;
	const char *doc;
	const struct field_info *fields;
	size_t field_count;
	size_t size;             /* of the struct */
	bool array;
	uint8_t opcode;          /* of a message */
	enum sender from;
	enum role role;
};

const struct shape *message_shape(unsigned opcode);      /* NULL if there is none */
const struct shape *record_shape(enum record_kind kind);

/* A whole frame: header and map. Stops the program if it would be over LIMIT_FRAME_MAX: senders split. */
void message_encode(struct buf *out, enum opcode op, const void *msg);
/* The body of a frame whose header was read; checked (frame_check) before it is unpacked. */
enum err message_decode(enum opcode op, struct slice body, struct arena *arena, void *ret_msg,
			struct error *error);

void record_encode(struct buf *out, enum record_kind kind, const void *rec);
/* One record from the front of *bytes, which moves behind it. The bytes are checked first. */
enum err record_decode(enum record_kind kind, struct slice *bytes, struct arena *arena, void *ret_rec,
		       struct error *error);

/* May a connection with this role send this message? The one authorisation table. */
bool message_allowed(enum opcode op, enum peer_kind sender, enum role role);

/* A frame for people, on several lines, escaped. */
void message_print(struct buf *out, enum opcode op, struct slice body);

const char *outcome_name(enum outcome outcome);
const char *verdict_name(enum verdict verdict);
const char *verdict_text(enum verdict verdict);
const char *exec_mode_name(enum exec_mode mode);
bool exec_mode_by_name(struct slice name, enum exec_mode *ret_mode);
const char *worker_state_name(enum worker_state state);
const char *pool_state_name(enum pool_state state);
const char *standing_name(enum worker_standing standing);       /* "" for none */

#endif
