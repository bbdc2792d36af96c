/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of the chain of acts: loading, checks, freeing. It depends on no other part of core. */
#include "base/check.h"
#include "core/acts/acts.h"
#include "core/acts/chain.h"

enum err load_act(struct core *core, const struct row_act *row, struct error *error)
{
	struct acts *acts = &core->acts;
	enum err err = act_follows(row, acts->loaded, acts->loaded ? acts->head : NULL, error);

	if (err != ERR_NONE)
		return err;
	acts->loaded = (uint64_t)row->act;
	memcpy(acts->head, row->hash.data, SHA256_SIZE);
	return ERR_NONE;
}

enum err acts_loaded(const struct core *core, struct error *error)
{
	const struct acts *acts = &core->acts;

	if (acts->loaded == acts->count)
		return ERR_NONE;
	if (acts->loaded > acts->count)
		return error_set(error, ERR_STORE_TRUST, "act %llu has a row, but by the count the latest act is act %llu",
				 (unsigned long long)acts->loaded, (unsigned long long)acts->count);
	return error_set(error, ERR_STORE_TRUST, "act %llu is missing: the latest act in the store is act %llu",
			 (unsigned long long)acts->count, (unsigned long long)acts->loaded);
}

void acts_check(const struct core *core)
{
	static const uint8_t none[SHA256_SIZE];

	CHECK(core->acts.loaded == core->acts.count && !core->acts.due);
	CHECK((core->acts.count == 0) == (memcmp(core->acts.head, none, SHA256_SIZE) == 0));
}

void acts_free(struct core *core)
{
	buf_free(&core->acts.before);
	buf_free(&core->acts.after);
	buf_free(&core->acts.text);
}
