/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Directories of runs: measured and removed a few files at a time, whatever is in them, and nothing beside them. */
#include "master/logprune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "greatest.h"
#include "scratch.h"

struct bench {
	char dir[SCRATCH_SIZE];
	int fd;
	struct logprune prune;
	struct log_size sizes[16];       /* of all answers */
	size_t removed, measured;
};

static void answer_cb(void *arg, struct log_answer *answer)
{
	struct bench *bench = arg;

	for (size_t i = 0; i < answer->size_count; i++)
		bench->sizes[bench->removed + bench->measured + i] = answer->sizes[i];
	*(answer->kind == LOG_REMOVED ? &bench->removed : &bench->measured) += answer->size_count;
	log_answer_free(answer);
}

static bool write_file(const struct bench *bench, const char *name, size_t bytes)
{
	char text[4096] = { 0 };

	return bytes <= sizeof(text) && io_write_file(bench->fd, name, text, bytes, 0600) == 0;
}

static bool bench_begin(struct bench *bench)
{
	*bench = (struct bench){ .fd = -1 };
	scratch_new("logprune", bench->dir);
	bench->fd = open(bench->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	logprune_init(&bench->prune, bench->fd, answer_cb, bench);
	return bench->fd >= 0;
}

static void bench_end(struct bench *bench)
{
	logprune_free(&bench->prune);
	close(bench->fd);
	io_remove_tree(AT_FDCWD, bench->dir);
}

static size_t work(struct bench *bench)
{
	size_t slices = 0;

	while (logprune_busy(&bench->prune)) {
		logprune_some(&bench->prune);
		slices++;
	}
	return slices;
}

static bool is_there(const struct bench *bench, const char *name)
{
	struct stat info;

	return fstatat(bench->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

TEST a_directory_goes_with_all_that_is_in_it(void)
{
	struct bench bench;
	char name[64];

	ASSERT(bench_begin(&bench));
	ASSERT_EQ(0, mkdirat(bench.fd, "5", 0700));
	ASSERT_EQ(0, mkdirat(bench.fd, "6", 0700));
	ASSERT_EQ(0, mkdirat(bench.fd, "5/odd", 0700));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "5/%d.1", i);
		ASSERT(write_file(&bench, name, 10));
	}
	ASSERT(write_file(&bench, "5/odd/more", 10));
	ASSERT(write_file(&bench, "6/1.1", 7));
	ASSERT_EQ(0, symlinkat("../6", bench.fd, "5/link"));
	logprune_remove(&bench.prune, 5);
	logprune_remove(&bench.prune, 7);        /* isn't there */
	ASSERT(work(&bench) > 3);
	ASSERT_EQ(2, bench.removed);
	ASSERT(bench.sizes[0].run == 5 && bench.sizes[0].bytes == 1000 && !bench.sizes[0].failed);
	ASSERT(bench.sizes[1].run == 7 && bench.sizes[1].bytes == 0 && !bench.sizes[1].failed);
	ASSERT_FALSE(is_there(&bench, "5"));
	ASSERT(is_there(&bench, "6/1.1"));
	bench_end(&bench);
	PASS();
}

TEST a_link_in_its_place_leads_nowhere(void)
{
	struct bench bench;

	ASSERT(bench_begin(&bench));
	ASSERT_EQ(0, mkdirat(bench.fd, "6", 0700));
	ASSERT(write_file(&bench, "6/1.1", 7));
	ASSERT_EQ(0, symlinkat("6", bench.fd, "5"));
	logprune_remove(&bench.prune, 5);
	work(&bench);
	ASSERT_EQ(1, bench.removed);
	ASSERT(bench.sizes[0].failed);
	ASSERT(is_there(&bench, "6/1.1"));
	bench_end(&bench);
	PASS();
}

TEST all_are_measured(void)
{
	struct bench bench;
	uint64_t bytes = 0, runs = 0;

	ASSERT(bench_begin(&bench));
	ASSERT_EQ(0, mkdirat(bench.fd, "3", 0700));
	ASSERT_EQ(0, mkdirat(bench.fd, "12", 0700));
	ASSERT_EQ(0, mkdirat(bench.fd, "lost+found", 0700));
	ASSERT(write_file(&bench, "3/1.1", 100));
	ASSERT(write_file(&bench, "3/2.1", 20));
	ASSERT(write_file(&bench, "12/9.1", 3));
	ASSERT(write_file(&bench, "lost+found/x", 1000));
	logprune_measure(&bench.prune);
	work(&bench);
	ASSERT_EQ(2, bench.measured);
	for (size_t i = 0; i < 2; i++) {
		bytes += bench.sizes[i].bytes;
		runs += bench.sizes[i].run;
	}
	ASSERT_EQ(123, bytes);
	ASSERT_EQ(15, runs);
	bench_end(&bench);
	PASS();
}

/*
 * While both the plain and the packed file exist, only one counts; otherwise the size rule would prune other runs
 * because of a temporary copy.
 */
TEST what_lies_there_in_two_forms_counts_once(void)
{
	struct bench bench;

	ASSERT(bench_begin(&bench));
	ASSERT_EQ(0, mkdirat(bench.fd, "3", 0700));
	ASSERT(write_file(&bench, "3/1.1", 1000));
	ASSERT(write_file(&bench, "3/1.1.zst", 400));
	ASSERT(write_file(&bench, "3/2.1", 100));
	ASSERT(write_file(&bench, "3/2.1.zst.new", 40));
	ASSERT(write_file(&bench, "3/3.1.zst", 10));
	ASSERT(write_file(&bench, "3/3.1.new", 70));
	logprune_measure(&bench.prune);
	work(&bench);
	ASSERT_EQ(1, bench.measured);
	ASSERT_EQ(1000 + 100 + 10, bench.sizes[0].bytes);
	bench_end(&bench);
	PASS();
}

SUITE(master_logprune)
{
	RUN_TEST(a_directory_goes_with_all_that_is_in_it);
	RUN_TEST(a_link_in_its_place_leads_nowhere);
	RUN_TEST(all_are_measured);
	RUN_TEST(what_lies_there_in_two_forms_counts_once);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_logprune);
	GREATEST_MAIN_END();
}
