/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * messages.def as tables that describe the structs of message.h. Each row becomes a function that returns its
 * shape; inside the function the struct is always called self.
 */
#include "proto/message.h"

#define INFO(kind, number, field, need, text, rec) \
	{ .name = #field, .doc = text, .offset = offsetof(self, field), .type = TYPE_##kind, .key = number, \
	  .must = NEED_##need, .record = rec },

enum { NEED_MAY = false, NEED_MUST = true };
enum { FORM_MAP = false, FORM_ARRAY = true };

/* Declare musts_rec_job_spec, musts_msg_hello and so on: the numbers of fields that must be there. */
#define RECORD(name, form, doc) enum { musts_rec_##name = 0
#define MESSAGE(NAME, name, opcode, from, role, doc) enum { musts_msg_##name = 0
#define FIELD(type, key, name, need, doc) + (int)NEED_##need
#define RECORDS(rec, key, name, need, doc) + (int)NEED_##need
#define END(name) };
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
#undef FIELD
#undef RECORDS
#undef END

#define FROM_NOBODY 0

#define SHAPE_BEGIN(function, type, title, text, is_array, op, from_whom, who) \
	static const struct shape *function(void) \
	{ \
		typedef struct type self; \
		enum { MUSTS = musts_##type, ARRAY = is_array, OPCODE = op, FROM = from_whom, ROLES = who }; \
		static const char called[] = title, what[] = text; \
		static const struct field_info fields[] = {

#define SHAPE_END \
		}; \
		static const struct shape shape = { \
			.name = called, .doc = what, .fields = fields, \
			.field_count = sizeof(fields) / sizeof(fields[0]), .size = sizeof(self), \
			.must_count = MUSTS, .array = ARRAY, .opcode = OPCODE, .from = (enum sender)FROM, \
			.roles = (role_set)ROLES, \
		}; \
		return &shape; \
	}

#define RECORD(name, form, doc) \
	SHAPE_BEGIN(shape_rec_##name, rec_##name, #name, doc, FORM_##form, 0, FROM_NOBODY, 0)
#define MESSAGE(NAME, name, opcode, from, role, doc) \
	SHAPE_BEGIN(shape_msg_##name, msg_##name, #NAME, doc, FORM_MAP, opcode, FROM_##from, ROLES_##role)
#define FIELD(type, key, name, need, doc) INFO(type, key, name, need, doc, REC_COUNT)
#define RECORDS(rec, key, name, need, doc) INFO(RECORDS, key, name, need, doc, REC_##rec)
#define END(name) SHAPE_END
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
#undef FIELD
#undef RECORDS
#undef END

const struct shape *message_shape(unsigned opcode)
{
	switch (opcode) {
#define RECORD(name, form, doc)
#define MESSAGE(NAME, name, opcode, from, role, doc) case opcode: return shape_msg_##name();
#define FIELD(type, key, name, need, doc)
#define RECORDS(rec, key, name, need, doc)
#define END(name)
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
	default: return NULL;
	}
}

const struct shape *record_shape(enum record_kind kind)
{
	switch (kind) {
#define RECORD(name, form, doc) case REC_##name: return shape_rec_##name();
#define MESSAGE(NAME, name, opcode, from, role, doc)
#include "proto/messages.def"
#undef RECORD
#undef MESSAGE
#undef FIELD
#undef RECORDS
#undef END
	default: return NULL;
	}
}

const char *outcome_name(enum outcome outcome)
{
	static const char *const names[OUTCOME_COUNT] = {
#define X(NAME, name, text) [OUTCOME_##NAME] = name,
		OUTCOMES(X)
#undef X
	};

	return (unsigned)outcome < OUTCOME_COUNT ? names[outcome] : "unknown";
}

static const struct {
	const char *name, *text;
} verdicts[VERDICT_COUNT] = {
#define X(NAME, name, text) [VERDICT_##NAME] = { name, text },
	VERDICTS(X)
#undef X
};

const char *verdict_name(enum verdict verdict)
{
	return (unsigned)verdict < VERDICT_COUNT ? verdicts[verdict].name : "unknown";
}

const char *verdict_text(enum verdict verdict)
{
	return (unsigned)verdict < VERDICT_COUNT ? verdicts[verdict].text : "something unknown was sent";
}

static const char *const exec_mode_names[EXEC_MODE_COUNT] = {
#define X(NAME, name, text) [EXEC_##NAME] = name,
	EXEC_MODES(X)
#undef X
};

const char *exec_mode_name(enum exec_mode mode)
{
	return (unsigned)mode < EXEC_MODE_COUNT ? exec_mode_names[mode] : "unknown";
}

bool exec_mode_by_name(struct slice name, enum exec_mode *ret_mode)
{
	for (unsigned mode = 0; mode < EXEC_MODE_COUNT; mode++) {
		if (!slice_eq(name, slice_str(exec_mode_names[mode])))
			continue;
		*ret_mode = (enum exec_mode)mode;
		return true;
	}
	return false;
}

const char *worker_state_name(enum worker_state state)
{
	switch (state) {
	case WORKER_UP: return "up";
	case WORKER_UNREACHABLE: return "unreachable";
	case WORKER_ENDED: return "ended";
	case WORKER_LOST: return "lost";
	}
	return "unknown";
}

const char *pool_state_name(enum pool_state state)
{
	switch (state) {
	case POOL_ACTIVE: return "active";
	case POOL_DRAINING: return "draining";
	case POOL_INACTIVE: return "inactive";
	}
	return "unknown";
}

const char *standing_name(enum worker_standing standing)
{
	switch (standing) {
	case STANDING_NONE: return "";
	case STANDING_CORDONED: return "cordoned";
	case STANDING_DRAINING: return "draining";
	}
	return "unknown";
}
