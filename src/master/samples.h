/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of the load: of the cluster in each of the last seconds and in each quarter of a minute of the last hour, of each
 * worker in each quarter of a minute. In memory alone: they begin anew with the process.
 */
#ifndef TITAN_MASTER_SAMPLES_H
#define TITAN_MASTER_SAMPLES_H

#include "base/map.h"
#include "core/view/view.h"
#include "proto/message.h"

#define SAMPLES_KEPT 240
#define SAMPLES_OF_CLUSTER SERIES_CPU     /* series of the cluster have numbers below this one */
#define SAMPLES_LONG_S 15                 /* seconds in a long sample */

/*
 * A sample is kept at the place (its number % SAMPLES_KEPT). The number of a short sample is its UTC second, that of a
 * long one its second / SAMPLES_LONG_S.
 */
struct samples {
	int64_t from;                    /* second of the first sample; 0: none was taken yet */
	int64_t open;                    /* second whose sample isn't complete yet */
	uint32_t shorts[SAMPLES_OF_CLUSTER][SAMPLES_KEPT];
	uint32_t longs[SAMPLES_OF_CLUSTER][SAMPLES_KEPT];
	uint64_t counted[SERIES_FAILED + 1];     /* the counters when the last sample was complete */
	struct map workers;              /* from number to struct worker_series */
};

/* Numbers of the present: counters since the start for series up to FAILED, jobs at this moment for the others. */
struct samples_now {
	uint64_t values[SAMPLES_OF_CLUSTER];
};

void samples_now(const struct core_totals *totals, struct samples_now *ret_now);
/* Are there samples to complete in this second? */
bool samples_due(const struct samples *samples, int64_t second);
/* Complete the samples of all seconds before this one. The numbers are those before anything happened in it. */
void samples_complete(struct samples *samples, int64_t second, const struct samples_now *now);
/* Set the samples of a worker for the long samples from first to before end, which are complete: percents + 1. */
void samples_worker(struct samples *samples, uint64_t worker, int64_t first, int64_t end, unsigned cpu, unsigned memory);
/* Remove workers without a sample of this number. */
void samples_forget_workers(struct samples *samples, int64_t last);
void samples_free(struct samples *samples);
/* The samples that ended after since_ms; worker 0: of the cluster. False: there are none. */
bool samples_row(const struct samples *samples, enum series which, uint64_t worker, bool is_long, int64_t since_ms,
		struct arena *arena, struct rec_series_row *ret_row);

#endif
