/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changes of values that had a request key. A client that lost its connection sends the same request again; it is done
 * once, and answered with the first answer. The latest LIMIT_VALUE_REQUESTS_MAX keys are remembered.
 */
#include "core/values/internal.h"

#include "base/check.h"
#include "base/map.h"
#include "base/planted.h"
#include "base/sha256.h"
#include "core/rows/durable.h"

#define ID_SIZE 24                       /* principal and request key */

struct value_request {
	uint64_t revision;
	uint8_t id[ID_SIZE];
	uint8_t digest[SHA256_SIZE];
	struct blob *answer;             /* value_row records without values */
	struct value_request *newer;
};

static void digest_of(const struct core_input *input, uint8_t ret_digest[SHA256_SIZE])
{
	const struct msg_values *msg = &input->values.msg;
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add_u64(&hash, msg->space);
	sha256_add_u64(&hash, msg->run);
	sha256_add_u64(&hash, msg->definition.len);
	sha256_add(&hash, msg->definition);
	for (size_t i = 0; i < msg->ops.n; i++) {
		const struct rec_value_op *op = &msg->ops.at[i];
		const uint64_t numbers[] = { op->verb, op->version, (uint64_t)op->by, op->ttl_ms, op->key.len, op->value.len };

		for (size_t at = 0; at < sizeof(numbers) / sizeof(numbers[0]); at++)
			sha256_add_u64(&hash, numbers[at]);
		sha256_add(&hash, op->key);
		sha256_add(&hash, op->value);
	}
	sha256_end(&hash, ret_digest);
}

static void id_of(const struct core_input *input, uint8_t ret_id[ID_SIZE])
{
	number_put(ret_id, input->by.principal);
	memcpy(ret_id + sizeof(uint64_t), input->values.msg.request.data, ID_SIZE - sizeof(uint64_t));
}

const struct value_request *repeated_find(const struct core *core, const struct core_input *input)
{
	uint8_t id[ID_SIZE];

	id_of(input, id);
	return name_map_get(&core->value_requests, slice_make(id, sizeof(id)));
}

enum err repeated_answer(struct core *core, const struct value_request *known, const struct core_input *input,
			 struct msg_valued *ret, struct error *error)
{
	struct arena *arena = &core->outbox->arena;
	uint8_t digest[SHA256_SIZE];
	struct slice bytes;

	digest_of(input, digest);
	if (memcmp(digest, known->digest, sizeof(digest)) != 0)
		return error_set(error, ERR_KEY_REUSED, "the request key was used before for another change of values");
	ret->revision = known->revision;
	ret->rows.at = arena_alloc(arena, LIMIT_VALUE_OPS_MAX * sizeof(*ret->rows.at));
	for (bytes = outbox_hold(core->outbox, known->answer); bytes.len > 0 && ret->rows.n < LIMIT_VALUE_OPS_MAX; ret->rows.n++)
		if (record_decode(REC_value_row, &bytes, arena, &ret->rows.at[ret->rows.n], error) != ERR_NONE)
			return error->code;
	return ERR_NONE;
}

static void oldest_forget(struct core *core)
{
	struct value_request *oldest = core->value_request_oldest;
	struct row *row = outbox_row(core->outbox, TABLE_value_request);

	row->deleted = true;
	row->value_request.revision = (int64_t)oldest->revision;
	core->value_request_oldest = oldest->newer;
	if (!oldest->newer)
		core->value_request_newest = NULL;
	name_map_remove(&core->value_requests, slice_make(oldest->id, ID_SIZE));
	blob_release(oldest->answer);
	mem_free(oldest);
}

static struct value_request *request_add(struct core *core, uint64_t revision, const uint8_t id[ID_SIZE], const uint8_t digest[SHA256_SIZE],
					 struct slice answer)
{
	struct value_request *request = mem_zalloc(sizeof(*request));

	request->revision = revision;
	memcpy(request->id, id, ID_SIZE);
	memcpy(request->digest, digest, SHA256_SIZE);
	request->answer = blob_make(answer);
	if (core->value_request_newest)
		core->value_request_newest->newer = request;
	else
		core->value_request_oldest = request;
	core->value_request_newest = request;
	name_map_put(&core->value_requests, slice_make(request->id, ID_SIZE), request);
	return request;
}

void repeated_keep(struct core *core, const struct core_input *input, const struct msg_valued *answer)
{
	uint8_t id[ID_SIZE], digest[SHA256_SIZE];
	const struct value_request *request;
	struct buf bytes = { 0 };
	struct row *row;

	for (size_t i = 0; i < answer->rows.n; i++) {
		struct rec_value_row brief = answer->rows.at[i];

		brief.value = slice_make(NULL, 0);
		record_encode(&bytes, REC_value_row, &brief);
	}
	id_of(input, id);
	digest_of(input, digest);
	request = request_add(core, answer->revision, id, digest, buf_slice(&bytes));
	buf_free(&bytes);
	row = outbox_row(core->outbox, TABLE_value_request);
	row->value_request = (struct row_value_request){
		.revision = (int64_t)request->revision,
		.request = arena_copy(&core->outbox->arena, slice_make(request->id, ID_SIZE)),
		.digest = arena_copy(&core->outbox->arena, slice_make(request->digest, SHA256_SIZE)),
		.answer = outbox_hold(core->outbox, request->answer),
	};
	if (core->value_requests.count > LIMIT_VALUE_REQUESTS_MAX)
		oldest_forget(core);
}

enum err load_value_request(struct core *core, const struct row_value_request *row, struct error *error)
{
	if (row->request.len != ID_SIZE || row->digest.len != SHA256_SIZE || row->answer.len == 0 || !number_sane(row->revision, 1) ||
	    (core->value_request_newest && core->value_request_newest->revision >= (uint64_t)row->revision) ||
	    name_map_get(&core->value_requests, row->request))
		return error_set(error, ERR_STORE_TRUST, "a stored request key of a change of values is invalid, out of order or there twice");
	if (!PLANTED(value_request_forgotten_at_load))
		request_add(core, (uint64_t)row->revision, row->request.data, row->digest.data, row->answer);
	if (core->revision < (uint64_t)row->revision)
		core->revision = (uint64_t)row->revision;
	return ERR_NONE;
}

void repeated_free(struct core *core)
{
	while (core->value_request_oldest) {
		struct value_request *next = core->value_request_oldest->newer;

		blob_release(core->value_request_oldest->answer);
		mem_free(core->value_request_oldest);
		core->value_request_oldest = next;
	}
	name_map_free(&core->value_requests);
}
