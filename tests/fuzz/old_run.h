/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run that graphs are added to: it has every job whose name begins with o and has no dot, and
 * fan-outs of three that begin with f.
 */
#ifndef TITAN_TESTS_OLD_RUN_H
#define TITAN_TESTS_OLD_RUN_H

#include "base/check.h"
#include "lang/dagline.h"

static inline enum err old_run_find_cb(void *arg, struct slice name, struct dag_found *ret, struct error *error)
{
	(void)arg;
	CHECK(name.len > 0);
	*ret = (struct dag_found){ .fan = name.data[0] == 'f', .width = name.data[0] == 'f' ? 3 : 1 };
	if ((name.data[0] == 'f' || name.data[0] == 'o') && !memchr(name.data, '.', name.len))
		return ERR_NONE;
	return error_set(error, ERR_NOT_FOUND, "there is none");
}

static inline struct slice old_run_near_cb(void *arg, struct slice name)
{
	(void)arg;
	return name.len > 3 ? slice_str("old") : slice_make(NULL, 0);
}

static const struct dag_old old_run = { .run = 7, .find_cb = old_run_find_cb, .near_cb = old_run_near_cb };

/* Own jobs ascend; those of the run may stand anywhere, and none is there twice. */
static inline void old_run_check_needs(const struct dagline *dag, uint64_t index, const struct rec_job_spec *spec)
{
	uint64_t last = 0;

	for (size_t i = 0; i < spec->needs.n; i++) {
		uint64_t need = spec->needs.at[i];

		CHECK(need < dag->job_count + dag->parents.n && need != index);
		if (need < dag->job_count) {
			CHECK(need >= last);
			last = need + 1;
		}
		for (size_t k = 0; k < i && k < 64; k++)
			CHECK(spec->needs.at[k] != need);
	}
}

#endif
