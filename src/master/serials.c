/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a job's place in its run to its serial number and back, for runs that are rows: those that came together
 * have numbers that follow each other. Walks forwards only, so that a page costs what it has.
 */
#include "master/internal.h"

void serials_begin(struct graph_serials *serials, const struct store_query *specs, uint64_t first)
{
	*serials = (struct graph_serials){ .specs = specs, .first = first };
}

/* The part behind the one that it stands at. */
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
