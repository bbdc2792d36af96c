/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * messages.def as structs such as struct rec_job_spec and struct msg_submit; enums.def as the enums of their
 * fields; and the codec. In a decoded message, slices point into the frame's bytes and lists into the arena.
 */
#ifndef TITAN_PROTO_MESSAGE_H
#define TITAN_PROTO_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "proto/error.h"

#define PROTOCOL_VERSION 3
#define PROTOCOL_BEFORE  (PROTOCOL_VERSION - 1)         /* the oldest version that is served: proto/version.h */
#define LOG_LOSSLESS UINT64_MAX          /* log_max of a lossless job: no output is dropped, the job waits instead */
#define MESSAGE_STRUCT_MAX 1536          /* most bytes of any struct in this file */

#define ENUM(name, doc) enum name {
#define VALUE(PREFIX, NAME, number, doc) PREFIX##_##NAME = number,
#define END(name) };
#include "proto/enums.def"
#undef ENUM
#undef VALUE
#undef END


/* Sets of roles; NOBODY is in none. The names in the enum are the ones that messages.def uses. */
typedef unsigned role_set;
#define ROLE_BIT_OF(role) ((role) ? 1u << (role) : 0u)
#define ROLE_BIT(NAME) ROLE_BIT_OF(ROLE_##NAME)
enum {
	ROLES_WORKER = ROLE_BIT(WORKER),
	ROLES_ADMIN = ROLE_BIT(ADMIN),
	ROLES_SUBMITTER = ROLE_BIT(SUBMITTER) | ROLES_ADMIN,
	ROLES_UPLOADER = ROLE_BIT(OPERATOR) | ROLES_SUBMITTER,     /* those who may put assets */
	ROLES_PERSON = ROLE_BIT(VIEWER) | ROLE_BIT(APPROVER) | ROLE_BIT(OPERATOR) | ROLES_SUBMITTER,
	ROLES_JOINER = ROLE_BIT(JOINER),
	/* ROLES_ANYBODY: such a message is allowed even before HELLO */
	ROLES_ANYBODY = ROLES_PERSON | ROLES_WORKER | ROLES_JOINER,
};

/* How often a job may run if it isn't known whether it has run. */
#define EXEC_MODES(X) \
	X(RETRY, "retry", "after its worker is lost it runs again, so it runs at least once") \
	X(EXCLUSIVE, "exclusive", "after its worker is lost it runs again, but never twice at the same time") \
	X(ONCE, "once", "it starts at most once; if its worker is lost, a person decides")

enum exec_mode {
#define X(NAME, name, text) EXEC_##NAME,
	EXEC_MODES(X)
#undef X
	EXEC_MODE_COUNT
};

/* People's votes on a gate, and their settlements of an unknown job. */
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
	X(EXIT, "exit", "the process exited; the code is its exit code") \
	X(SIGNAL, "signal", "a signal ended the process; the code is the signal number") \
	X(SPAWN, "spawn", "the process couldn't be started; the code is an errno") \
	X(RECALLED, "recalled", "the worker gave it back before it started") \
	X(STOPPED, "stopped", "it was told to end; the code is the exit code or 128 + signal") \
	X(LOST, "lost", "its worker was lost") \
	X(EXIT_UNKNOWN, "exit_unknown", "its process is gone, and nobody saw how it ended") \
	X(REFUSED, "refused", "the worker lacked something to start it; the code is an errno") \
	X(BAD_OUTPUT, "bad_output", "it exited with 0, and an output is wrong; the code is the line of TITAN_OUTPUT, or 0") \
	X(NO_DIR, "no_dir", "it couldn't be started in the job's working directory; the code is an errno") \
	X(ELSEWHERE, "elsewhere", "the worker doesn't share the submitter's directory; the code is an errno") \
	X(STAGE_FAILED, "stage_failed", "the worker couldn't put its files in place; the code is an errno") \
	X(BAD_ARTIFACTS, "bad_artifacts", "it exited with 0, and its artifacts couldn't be kept")

enum outcome {
#define X(NAME, name, text) OUTCOME_##NAME,
	OUTCOMES(X)
#undef X
	OUTCOME_COUNT
};

/* Did the job fail because its process couldn't be started? */
static inline bool outcome_is_no_start(uint64_t outcome)
{
	return outcome == OUTCOME_SPAWN || outcome == OUTCOME_NO_DIR || outcome == OUTCOME_STAGE_FAILED;
}

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

/* The tables behind the codec; also used by the frame printer, the manual and the check of rights. */
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

struct shape {                   /* the fields of a message or record */
	const char *name;
	const char *doc;
	const struct field_info *fields;
	size_t field_count;
	size_t must_count;       /* how many of the fields must be there */
	size_t size;             /* size of the C struct */
	bool array;
	uint8_t opcode;          /* opcode of the message; 0: the shape is a record */
	enum sender from;
	role_set roles;          /* roles that may send the message; proto/rights.h says about what */
};

const struct shape *message_shape(unsigned opcode);      /* the shape of a message; NULL if there is none */
const struct shape *record_shape(enum record_kind kind);

/*
 * Encode a whole frame, header and map. Stops the program if it would be over LIMIT_FRAME_MAX: the sender
 * must split.
 */
void message_encode(struct buf *out, enum opcode op, const void *msg);
/* Decode the body of a frame; frame_check runs before anything is unpacked. */
enum err message_decode(enum opcode op, struct slice body, struct arena *arena, void *ret_msg,
			struct error *error);

void record_encode(struct buf *out, enum record_kind kind, const void *rec);
/* Decode one record from the front of *bytes and move *bytes behind it. The bytes are checked first. */
enum err record_decode(enum record_kind kind, struct slice *bytes, struct arena *arena, void *ret_rec,
		       struct error *error);

/* Print a frame for people, on several lines, escaped. */
void message_print(struct buf *out, enum opcode op, struct slice body);

const char *outcome_name(enum outcome outcome);
const char *verdict_name(enum verdict verdict);
const char *verdict_text(enum verdict verdict);
const char *exec_mode_name(enum exec_mode mode);
bool exec_mode_by_name(struct slice name, enum exec_mode *ret_mode);
const char *worker_state_name(enum worker_state state);
const char *pool_state_name(enum pool_state state);
const char *standing_name(enum worker_standing standing);       /* returns the standing's name; "" for none */

#endif
