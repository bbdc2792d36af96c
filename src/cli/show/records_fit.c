/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes tables fit a terminal. Columns with nothing in them go first. Then the widest texts are cut, down to what fit.def
 * says; if that isn't enough, columns are left out by their ranks; if that isn't enough either, all is cut further.
 */
#include "cli/show/records_table.h"

#define LEAST_CUT 2                     /* a character and the sign that there is more */

struct fit {
	const char *key;
	unsigned rank;
	size_t least;
};

static const struct fit fits[] = {
#define FIT(key, rank, least) { #key, rank, least },
#define FIT_OTHERS(rank, least) { NULL, rank, least },
#include "cli/show/fit.def"
#undef FIT
#undef FIT_OTHERS
};

static const struct fit *fit_of(const char *key)
{
	const struct fit *fit = fits;

	while (fit->key != NULL && strcmp(fit->key, key) != 0)
		fit++;
	return fit;
}

/* What a table needs, once all that could be cut is cut. */
struct needs {
	size_t least[RECORDS_COLUMNS_MAX];
	unsigned rank[RECORDS_COLUMNS_MAX];
};

static bool is_shown(const struct printing *printing, const struct records *records, size_t column)
{
	return records->columns[column].title != NULL && !printing->left_out[column];
}

/* The width of the whole table with these widths of its columns. */
static size_t total(const struct printing *printing, const struct records *records, const size_t *widths)
{
	size_t sum = 0;

	for (size_t i = 0; i < records->column_count; i++)
		if (is_shown(printing, records, i))
			sum += widths[i] + (sum > 0 ? TABLE_GAP : 0);
	return sum;
}

/* Leave out the columns of the highest rank, the last of them first, until the rest fits or none of them may go. */
static void leave_out(struct printing *printing, const struct records *records, const struct needs *needs)
{
	while (total(printing, records, needs->least) > printing->look->columns) {
		size_t next = records->column_count;

		for (size_t i = 0; i < records->column_count; i++)
			if (is_shown(printing, records, i) && needs->rank[i] > 0 &&
			    (next == records->column_count || needs->rank[i] >= needs->rank[next]))
				next = i;
		if (next == records->column_count)
			return;
		printing->left_out[next] = true;
	}
}

/*
 * Cut the widest column that is wider than its least by one cell, until the table fits. A column that could be left out counts
 * as twice as wide as it is, so that the others keep more.
 */
static void cut(struct printing *printing, const struct records *records, const struct needs *needs)
{
	const size_t *least = needs->least;
	size_t sum = total(printing, records, printing->widths);

	while (sum > printing->look->columns) {
		size_t widest = records->column_count, most = 0;

		for (size_t i = 0; i < records->column_count; i++) {
			size_t width = printing->widths[i] * (needs->rank[i] > 0 ? 2 : 1);

			if (is_shown(printing, records, i) && printing->widths[i] > least[i] && width > most) {
				widest = i;
				most = width;
			}
		}
		if (widest == records->column_count)
			return;
		printing->widths[widest]--;
		sum--;
	}
}

/* A terminal for which even that is too wide: cut anything, columns of exact values last, then keep the first columns. */
static void squeeze(struct printing *printing, const struct records *records, struct needs *needs)
{
	for (size_t i = 0; i < records->column_count; i++)
		needs->least[i] = printing->exact[i] ? printing->widths[i] : LEAST_CUT;
	cut(printing, records, needs);
	for (size_t i = 0; i < records->column_count; i++) {
		needs->least[i] = LEAST_CUT;
		needs->rank[i] = (unsigned)i;
	}
	leave_out(printing, records, needs);
	cut(printing, records, needs);
}

void table_fit(struct printing *printing, const struct records *records)
{
	struct needs needs = { 0 };

	if (printing->look->columns == 0 || total(printing, records, printing->widths) <= printing->look->columns)
		return;
	for (size_t i = 0; i < records->column_count; i++) {
		const struct fit *fit = fit_of(records->columns[i].key);
		bool may_cut = fit->least > 0 && !printing->exact[i];

		needs.rank[i] = fit->rank;
		needs.least[i] = may_cut && fit->least < printing->widths[i] ? fit->least : printing->widths[i];
		printing->left_out[i] = fit->rank > 0 && !printing->filled[i];
	}
	leave_out(printing, records, &needs);
	cut(printing, records, &needs);
	squeeze(printing, records, &needs);
}
