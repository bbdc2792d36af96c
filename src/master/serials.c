/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Converts a job's index in its run to its serial number and back, for runs read as rows: the jobs of one extent have
 * consecutive numbers. It walks forwards only, so a page costs no more than its rows.
 */
#include "master/internal.h"

void serials_begin(struct graph_serials *serials, const struct store_query *specs, uint64_t first)
{
	*serials = (struct graph_serials){ .specs = specs, .first = first };
}

/* Walk on to the next part of the run's graph. */
static void serials_next(struct graph_serials *serials)
{
	const struct row_spec *spec = &serials->specs->rows[serials->part].spec;

	serials->index += (uint64_t)spec->count;
	serials->first += (uint64_t)spec->count;
	if (++serials->part == serials->specs->row_count)
		return;
	spec = &serials->specs->rows[serials->part].spec;
	if (spec->first > 0)
		serials->first = (uint64_t)spec->first;
}

uint64_t serials_of(struct graph_serials *serials, uint64_t index)
{
	while (serials->part < serials->specs->row_count) {
		if (index - serials->index < (uint64_t)serials->specs->rows[serials->part].spec.count)
			return serials->first + (index - serials->index);
		serials_next(serials);
	}
	return UINT64_MAX;
}

bool serials_index(struct graph_serials *serials, uint64_t job, uint64_t *ret_index)
{
	while (serials->part < serials->specs->row_count) {
		if (job - serials->first < (uint64_t)serials->specs->rows[serials->part].spec.count) {
			*ret_index = serials->index + (job - serials->first);
			return true;
		}
		serials_next(serials);
	}
	return false;
}
