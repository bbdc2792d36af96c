/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which rows of a list are wanted, and in which order: --limit, --all, --name, --since, --until, --where, --sort. People get a
 * limited number of rows by default; programs (--json, --plain, --format) get all of them.
 */
#ifndef TITAN_CLI_LISTING_H
#define TITAN_CLI_LISTING_H

#include "cli/session/cli.h"
#include "cli/show/records.h"
#include "cli/show/where.h"

#define LISTING_ROWS 50                  /* rows for people, if no limit was given */

/* The options of one command; OPT_none: it has no such option. */
struct listing_options {
	enum option_id limit, all, name, since, until, sort, where;
};

struct listing {
	const struct listing_options *options;
	uint64_t limit;                  /* UINT64_MAX: none */
	struct slice name;               /* a pattern; empty: any name */
	int64_t since_ms, until_ms;      /* UTC; 0: no limit */
	const char *sort; /* name of a column, maybe with - before it; NULL: in the order sent by the master */
	uint64_t shown;                  /* number of rows that listing_wants has accepted */
	/* How many rows there are without a limit, and how many objects these stand for; 0: not known. */
	uint64_t lines, total;
	bool cut;                        /* there are more rows than the limit */
	struct where where;
};

/* Read the options. records has its columns but no rows yet, so that --sort is checked before the master is asked. */
enum err listing_read(struct cli *cli, const struct listing_options *options, struct records *records, struct listing *ret);
/* Refuse list options that were given to another verb of the command, such as titan dlq show. */
enum err listing_refuse(struct cli *cli, const struct listing_options *options, const char *action);
/* Does a row with this name and time match? wall_ms 0: the row has no time. */
bool listing_matches(const struct listing *listing, struct slice name, int64_t wall_ms);
/*
 * May another row be added? With --sort, always: rows are cut after sorting. False: the limit is reached, and the list
 * is cut.
 */
bool listing_wants(struct listing *listing);
/* Call this after a row was added. With --where, a row that isn't wanted is dropped; false then. */
bool listing_keep(struct listing *listing, struct records *records);
/* Does --where keep this row, which was added to records of its own? Another row may be added then, and so on. */
bool listing_keeps(struct listing *listing, struct records *records);
/* Read an option --where over these columns. An error is printed with its place, and its text is empty then. */
enum err listing_where(struct cli *cli, enum option_id option, const struct records *records, struct where *ret);
/* Sort and cut the rows as wanted. */
enum err listing_sort(struct cli *cli, struct listing *listing, struct records *records);
/* If the list was cut, print that on standard error, with the command that shows more rows. what: such as "run". */
void listing_tell(struct cli *cli, const struct listing *listing, const char *what);

#endif
