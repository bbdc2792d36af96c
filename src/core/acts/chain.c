/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hash of an act: over its columns, in the order of rows.def. */
#include "core/acts/chain.h"

static void add_bytes(struct sha256 *hash, struct slice bytes)
{
	sha256_add_u64(hash, bytes.len);
	sha256_add(hash, bytes);
}

void act_hash(const struct row_act *act, uint8_t ret_hash[SHA256_SIZE])
{
	struct sha256 hash;

	_Static_assert(sizeof(*act) == 6 * sizeof(int64_t) + 10 * sizeof(struct slice), "a new column belongs here, too");
	sha256_init(&hash);
	sha256_add_u64(&hash, (uint64_t)act->act);
	sha256_add_u64(&hash, (uint64_t)act->turn);
	sha256_add_u64(&hash, (uint64_t)act->wall_ms);
	sha256_add_u64(&hash, (uint64_t)act->principal);
	add_bytes(&hash, act->name);
	add_bytes(&hash, act->key_id);
	add_bytes(&hash, act->origin);
	sha256_add_u64(&hash, (uint64_t)act->by_job);
	sha256_add_u64(&hash, (uint64_t)act->run);
	add_bytes(&hash, act->verb);
	add_bytes(&hash, act->target);
	add_bytes(&hash, act->before);
	add_bytes(&hash, act->after);
	add_bytes(&hash, act->reason);
	add_bytes(&hash, act->previous);
	sha256_end(&hash, ret_hash);
}

enum err act_follows(const struct row_act *act, uint64_t number, const uint8_t hash[SHA256_SIZE], struct error *error)
{
	long long own = (long long)act->act;
	uint8_t digest[SHA256_SIZE];

	if (act->act < 1 || act->previous.len != SHA256_SIZE || act->hash.len != SHA256_SIZE)
		return error_set(error, ERR_STORE_TRUST, "act %lld: its row has no hashes", own);
	act_hash(act, digest);
	if (memcmp(digest, act->hash.data, SHA256_SIZE) != 0)
		return error_set(error, ERR_STORE_TRUST, "act %lld: its row was changed, its hash is another's", own);
	if (!hash)
		return ERR_NONE;
	if ((uint64_t)act->act != number + 1)
		return error_set(error, ERR_STORE_TRUST, "act %llu is missing: act %lld follows act %llu",
				 (unsigned long long)number + 1, own, (unsigned long long)number);
	if (memcmp(act->previous.data, hash, SHA256_SIZE) != 0)
		return error_set(error, ERR_STORE_TRUST, "act %lld: the act before it was changed, its hash is another's", own);
	return ERR_NONE;
}
