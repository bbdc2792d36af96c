/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Takes the samples of the load when a turn begins, and answers questions about them. The sums of the cluster tell of all
 * runs, so they are only for those who see all of them; the load of workers is for everybody.
 */
#include "master/sight.h"

#include "base/mem.h"
#include "master/samples.h"

static unsigned percent(uint64_t permille)
{
	return permille < 2500 ? (unsigned)(permille / 10) + 1 : 251;
}

/* Complete the long samples of workers that end before this second. */
static void take_workers(struct master *master, int64_t first, int64_t end)
{
	struct rec_worker_row row;
	uint64_t worker = 0;

	while ((worker = view_worker_after(master->core, worker))) {
		bool up = view_worker(master->core, worker, NULL, &row) && row.state == WORKER_UP;

		samples_worker(master->samples, worker, first, end, up ? percent(row.cpu_permille) : 0,
			      up ? percent(row.mem_permille) : 0);
	}
	samples_forget_workers(master->samples, end - 1);
}

void series_begin_turn(struct master *master)
{
	int64_t second = master->now.wall_ms / 1000, open = master->samples->open;
	struct core_totals totals;
	struct samples_now now;

	if (!samples_due(master->samples, second))
		return;
	view_totals(master->core, &totals);
	samples_now(&totals, &now);
	samples_complete(master->samples, second, &now);
	if (open != 0 && second / SAMPLES_LONG_S > open / SAMPLES_LONG_S)
		take_workers(master, open / SAMPLES_LONG_S, second / SAMPLES_LONG_S);
}

static bool wants(const struct query *query, enum series which)
{
	return !query->filter || query->filter->kinds == 0 || (query->filter->kinds >> which & 1) != 0;
}

static void add_cluster(struct master *master, struct query *query, struct answer_page *page)
{
	struct rec_series_row row;

	for (int which = 0; which < SAMPLES_OF_CLUSTER; which++)
		for (int is_long = 0; is_long < 2; is_long++)
			if (wants(query, (enum series)which) && samples_row(master->samples, (enum series)which, 0, is_long != 0,
									   query->since_ms, &master->scratch, &row))
				page_add_series(page, &row);
}

/* Add the series of a worker. False: they don't fit. */
static bool add_worker(struct master *master, struct query *query, struct answer_page *page, uint64_t worker)
{
	struct rec_series_row rows[2];
	size_t count = 0;

	for (int which = SERIES_CPU; which <= SERIES_MEMORY; which++)
		if (wants(query, (enum series)which) && samples_row(master->samples, (enum series)which, worker, true, query->since_ms,
								   &master->scratch, &rows[count]))
			count++;
	if (count > 0 && !page_has_series_room(page, count, rows[0].values.n))
		return false;
	for (size_t i = 0; i < count; i++)
		page_add_series(page, &rows[i]);
	return true;
}

void query_series(struct master *master, struct master_turn *turn, struct query *query)
{
	uint64_t worker = query->cursor, next = 0;
	struct answer_page page;

	page_begin(&page, &master->scratch, query);
	page.snapshot.series_ms = master->samples->from * 1000;
	if (query->cursor == 0 && query->sight.all)
		add_cluster(master, query, &page);
	while ((wants(query, SERIES_CPU) || wants(query, SERIES_MEMORY)) && (next = view_worker_after(master->core, worker)) &&
	       add_worker(master, query, &page, next))
		worker = next;
	query_finish(master, turn, query, &page, next ? worker : 0);
}
