/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hash of an act: over its columns, in the order of rows.def. */
#include "core/acts/chain.h"

#include <endian.h>

#include "base/buf.h"

static void add_number(struct buf *out, int64_t number)
{
	uint64_t bytes = htole64((uint64_t)number);

	buf_add(out, &bytes, sizeof(bytes));
}

static void add_bytes(struct buf *out, struct slice bytes)
{
	add_number(out, (int64_t)bytes.len);
	buf_add(out, bytes.data, bytes.len);
}

/* Collect the columns first: each call of the hash library costs as much as hashing 50 bytes. */
void act_hash(const struct row_act *act, uint8_t ret_hash[SHA256_SIZE])
{
	struct buf columns = { 0 };
	struct sha256 hash;

	_Static_assert(sizeof(*act) == 6 * sizeof(int64_t) + 10 * sizeof(struct slice), "a new column belongs here, too");
	buf_reserve(&columns, 512);
	add_number(&columns, act->act);
	add_number(&columns, act->turn);
	add_number(&columns, act->wall_ms);
	add_number(&columns, act->principal);
	add_bytes(&columns, act->name);
	add_bytes(&columns, act->key_id);
	add_bytes(&columns, act->origin);
	add_number(&columns, act->by_job);
	add_number(&columns, act->run);
	add_bytes(&columns, act->verb);
	add_bytes(&columns, act->target);
	add_bytes(&columns, act->before);
	add_bytes(&columns, act->after);
	add_bytes(&columns, act->reason);
	add_bytes(&columns, act->previous);
	sha256_init(&hash);
	sha256_add(&hash, buf_slice(&columns));
	sha256_end(&hash, ret_hash);
	buf_free(&columns);
}

enum err act_follows(const struct row_act *act, uint64_t number, const uint8_t hash[SHA256_SIZE], struct error *error)
{
	long long own = (long long)act->act;
	uint8_t digest[SHA256_SIZE];

	if (act->act < 1 || act->previous.len != SHA256_SIZE || act->hash.len != SHA256_SIZE)
		return error_set(error, ERR_STORE_TRUST, "act %lld: its row has no hashes", own);
	act_hash(act, digest);
	if (memcmp(digest, act->hash.data, SHA256_SIZE) != 0)
		return error_set(error, ERR_STORE_TRUST, "act %lld: its row was changed, because it doesn't have the hash in the row", own);
	if (!hash)
		return ERR_NONE;
	if ((uint64_t)act->act != number + 1)
		return error_set(error, ERR_STORE_TRUST, "act %llu is missing: act %lld follows act %llu",
				 (unsigned long long)number + 1, own, (unsigned long long)number);
	if (memcmp(act->previous.data, hash, SHA256_SIZE) != 0)
		return error_set(error, ERR_STORE_TRUST, "act %lld: the row before it was changed, because it doesn't have the hash that this row names", own);
	return ERR_NONE;
}
