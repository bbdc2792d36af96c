/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Durable turns and rows a second, at several rows a turn, next to the machine's own rate of synced appends.
 *   bench_store [DIRECTORY [SECONDS]]     a directory on the disk in question; a second for each measurement
 * One line for each: turns one by one, then 16 under way. No verdict: that depends on the machine.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/io.h"
#include "proto/states.h"
#include "store/store.h"

#define UNDER_WAY 16
#define PAGE      4120           /* size in the log: a page and its header */

static int wake_fd;
static int64_t next_job = 1;

static void wake_cb(void *arg)
{
	uint64_t one = 1;

	(void)arg;
	CHECK(write(wake_fd, &one, sizeof(one)) == sizeof(one));
}

static struct outbox *take(struct store *store)
{
	struct pollfd wake = { .fd = wake_fd, .events = POLLIN };
	struct outbox *outbox;
	uint64_t count;

	while (!(outbox = store_take(store))) {
		CHECK(poll(&wake, 1, -1) == 1);
		CHECK(read(wake_fd, &count, sizeof(count)) == sizeof(count));
	}
	return outbox;
}

/* Half of the rows are new jobs; the other half are jobs of the turn before, which have ended. */
static void fill(struct outbox *outbox, uint64_t turn, size_t rows)
{
	outbox_clear(outbox);
	outbox->turn = turn;
	for (size_t i = 0; i < rows; i++) {
		struct row *row = outbox_row(outbox, TABLE_job);
		bool is_new = i % 2 == 0;

		row->job.job = is_new ? next_job++ : next_job - (int64_t)rows / 2 - 1;
		row->job.run = 1;
		row->job.state = is_new ? STATE_ASSIGNED : STATE_SUCCEEDED;
		row->job.epoch = (INT64_C(1) << 32) + 1;
		row->job.started_ms = row->job.ended_ms = INT64_C(1795010529120);
		row->job.cpu_us = 1234;
	}
}

static void measure(const char *dir, size_t rows, size_t under_way, double seconds)
{
	struct outbox boxes[UNDER_WAY] = { 0 };
	char path[PATH_MAX + 16];
	struct store_options options = { .path = path };
	struct store_stats stats;
	struct error error;
	struct store *store;
	uint64_t turn = 0;
	int64_t began_ns;
	double took;

	snprintf(path, sizeof(path), "%s/titan.db", dir);
	CHECK(store_open(&options, &store, &error) == ERR_NONE);
	store_start(store, wake_cb, NULL);
	next_job = 1;
	began_ns = clock_mono_ns();
	for (size_t i = 0; i < under_way; i++) {
		fill(&boxes[i], ++turn, rows);
		store_commit(store, &boxes[i]);
	}
	while (clock_mono_ns() - began_ns < (int64_t)(seconds * (double)NS_PER_S)) {
		struct outbox *outbox = take(store);

		fill(outbox, ++turn, rows);
		store_commit(store, outbox);
	}
	for (size_t i = 0; i < under_way; i++)
		outbox_free(take(store));
	took = (double)(clock_mono_ns() - began_ns) / (double)NS_PER_S;
	store_stats(store, &stats);
	printf("rows_a_turn=%zu under_way=%zu turns_a_second=%.0f rows_a_second=%.0f commits_a_second=%.0f "
	       "longest_ms=%.2f\n", rows, under_way, (double)turn / took, (double)(turn * rows) / took,
	       (double)stats.commits / took, (double)stats.longest_commit_ns / (double)NS_PER_MS);
	store_close(store);
	CHECK(unlink(path) == 0);
}

static void measure_disk(const char *dir, double seconds)
{
	static uint8_t page[PAGE];
	char path[PATH_MAX + 16];
	int64_t long_ns = (int64_t)(seconds * (double)NS_PER_S);
	uint64_t count = 0;
	int64_t began_ns;
	int fd;

	snprintf(path, sizeof(path), "%s/append", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	/* Write twice over the same space: growing a file costs more, and the log grows only at first. */
	for (int pass = 0; pass < 2; pass++) {
		uint64_t before = count;

		count = 0;
		began_ns = clock_mono_ns();
		while (pass == 0 ? clock_mono_ns() - began_ns < long_ns : count < before) {
			CHECK(pwrite(fd, page, sizeof(page), (off_t)(count * PAGE)) == PAGE);
			CHECK(fdatasync(fd) == 0);
			count++;
		}
		printf("synced_%s_a_second=%.0f\n", pass == 0 ? "appends" : "overwrites",
		       (double)count / ((double)(clock_mono_ns() - began_ns) / (double)NS_PER_S));
	}
	close(fd);
	CHECK(unlink(path) == 0);
}

int main(int argc, char **argv)
{
	static const size_t rows[] = { 1, 8, 64, 512 };
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1.0;
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/bench-store-XXXXXX", argc > 1 ? argv[1] : ".");
	CHECK(mkdtemp(dir));
	wake_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(wake_fd >= 0);
	measure_disk(dir, seconds);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		measure(dir, rows[i], 1, seconds);
		measure(dir, rows[i], UNDER_WAY, seconds);
	}
	CHECK(io_remove_tree(AT_FDCWD, dir) == 0);
	return 0;
}
