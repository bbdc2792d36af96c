/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of titan demo, and the check of its result: the list of expected ends must fit the graph. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/io.h"
#include "cli/ask/logread.h"
#include "cli/ask/query.h"
#include "cli/demo/demo.h"
#include "cli/show/row_words.h"
#include "net/client.h"

#define LEDGER_MAX 65536

/* Every job appends its name to one file; each name must be there exactly once. */
#define NOTE(name) "echo " name " >> \\\"$DEMO/ledger\\\""

const char demo_graph[] =
	"fetch -> {unpack, lint} -> encode*6 -> index -> publish -> notify!;"
	"fetch -> flaky -> index;"
	"unpack -> broken -> report -> notify;"
	"broken:failed -> alarm;"
	"fetch  = \"sleep 0.3; echo fetched 3 files; " NOTE("fetch") "\";"
	"unpack = \"sleep 0.3; echo unpacked; " NOTE("unpack") "\";"
	"lint   = \"sleep 0.2; echo clean; " NOTE("lint") "\";"
	"encode = \"sleep 1.5; echo part $i is encoded; " NOTE("encode[$i]") "\";"
	"index  = \"sleep 0.2; echo 6 parts; " NOTE("index") "\";"
	"publish = \"sleep 0.2; echo published; " NOTE("publish") "\";"
	"flaky  = \"test -e $DEMO/again || { touch $DEMO/again; echo no luck >&2; exit 1; }; " NOTE("flaky")
	"\" retry=2 backoff=300ms;"
	"broken = \"echo this job is meant to fail >&2; " NOTE("broken") "; exit 3\";"
	"report = \"" NOTE("report") "\";"
	"alarm  = \"echo broken has failed; " NOTE("alarm") "\";"
	"notify = \"echo all is settled; " NOTE("notify") "\";";

struct expected {
	const char *name;
	enum job_state state;
	uint64_t tries;
	unsigned lines;
};

static const struct expected expected_jobs[] = {
	{ "fetch", STATE_SUCCEEDED, 1, 1 },     { "unpack", STATE_SUCCEEDED, 1, 1 },
	{ "lint", STATE_SUCCEEDED, 1, 1 },      { "encode[0]", STATE_SUCCEEDED, 1, 1 },
	{ "encode[1]", STATE_SUCCEEDED, 1, 1 }, { "encode[2]", STATE_SUCCEEDED, 1, 1 },
	{ "encode[3]", STATE_SUCCEEDED, 1, 1 }, { "encode[4]", STATE_SUCCEEDED, 1, 1 },
	{ "encode[5]", STATE_SUCCEEDED, 1, 1 }, { "index", STATE_SUCCEEDED, 1, 1 },
	{ "publish", STATE_SUCCEEDED, 1, 1 },   { "flaky", STATE_SUCCEEDED, 2, 1 },
	{ "broken", STATE_FAILED, 1, 1 },       { "report", STATE_SKIPPED, 0, 0 },
	{ "alarm", STATE_SUCCEEDED, 1, 1 },     { "notify", STATE_SUCCEEDED, 1, 1 },
};

#define EXPECTED_COUNT (sizeof(expected_jobs) / sizeof(expected_jobs[0]))

static enum err check_job(struct demo *demo, const struct expected *expected, const struct rec_job_row *jobs,
			  size_t count)
{
	for (size_t i = 0; i < count; i++) {
		enum job_state state = job_state_checked(jobs[i].state);

		if (!slice_eq(jobs[i].name, slice_str(expected->name)))
			continue;
		if (state != expected->state)
			return error_set(&demo->cli->error, ERR_INVALID, "%s is %s, but should be %s", expected->name,
					 state_table[state].name, state_table[expected->state].name);
		if (jobs[i].tries != expected->tries)
			return error_set(&demo->cli->error, ERR_INVALID, "%s had %" PRIu64 " tries, but should have "
				"%" PRIu64,
					 expected->name, jobs[i].tries, expected->tries);
		return ERR_NONE;
	}
	return error_set(&demo->cli->error, ERR_INVALID, "job %s is missing", expected->name);
}

static unsigned count_lines(struct slice text, const char *name)
{
	size_t len = strlen(name);
	unsigned count = 0;

	while (text.len > 0) {
		const uint8_t *end = memchr(text.data, '\n', text.len);
		size_t line = end ? (size_t)(end - text.data) : text.len;

		if (line == len && memcmp(text.data, name, len) == 0)
			count++;
		line += end ? 1 : 0;
		text = slice_make(text.data + line, text.len - line);
	}
	return count;
}

static enum err check_ledger(struct demo *demo)
{
	struct buf text = { 0 };
	char path[PATH_MAX + 16];
	enum err err = ERR_NONE;
	int result;

	snprintf(path, sizeof(path), "%s/ledger", demo->dir);
	result = io_read_file(AT_FDCWD, path, LEDGER_MAX, &text);
	if (result != 0)
		err = error_system(&demo->cli->error, -result, "can't read %s", path);
	for (size_t i = 0; err == ERR_NONE && i < EXPECTED_COUNT; i++) {
		unsigned lines = count_lines(buf_slice(&text), expected_jobs[i].name);

		if (lines != expected_jobs[i].lines)
			err = error_set(&demo->cli->error, ERR_INVALID, "%s wrote its line %u times, but should have written it %u times",
					expected_jobs[i].name, lines, expected_jobs[i].lines);
	}
	buf_free(&text);
	return err;
}

static enum err check_log(struct demo *demo, const struct rec_job_row *jobs, size_t count, const char *name,
			  const char *wanted)
{
	struct buf text = { 0 };
	enum err err = ERR_NOT_FOUND;

	for (size_t i = 0; i < count; i++)
		if (slice_eq(jobs[i].name, slice_str(name)))
			err = log_tail(demo->cli, &jobs[i], 10, &text);
	if (err == ERR_NONE && !slice_eq(buf_slice(&text), slice_str(wanted)))
		err = error_set(&demo->cli->error, ERR_INVALID, "the log of %s differs from what the job wrote", name);
	buf_free(&text);
	return err;
}

enum err demo_check(struct demo *demo)
{
	struct cli *cli = demo->cli;
	struct rec_job_row *jobs;
	size_t count;
	enum err err = cli_query_jobs(cli, demo->run, SIZE_MAX, &cli->arena, &jobs, &count);

	if (err == ERR_NONE && count != EXPECTED_COUNT)
		err = error_set(&cli->error, ERR_INVALID, "there are %zu jobs, but should be %zu", count, EXPECTED_COUNT);
	for (size_t i = 0; err == ERR_NONE && i < EXPECTED_COUNT; i++)
		err = check_job(demo, &expected_jobs[i], jobs, count);
	if (err == ERR_NONE)
		err = check_ledger(demo);
	if (err == ERR_NONE)
		err = check_log(demo, jobs, count, "encode[3]", "part 3 is encoded\n");
	if (err == ERR_NONE)
		err = check_log(demo, jobs, count, "broken", "this job is meant to fail\n");
	if (err == ERR_NONE && !demo->pulled)
		err = error_set(&cli->error, ERR_INVALID, "the master wasn't killed, because the run ended too fast");
	if (err == ERR_NONE && client_welcome(cli->client)->boot < 2)
		err = error_set(&cli->error, ERR_INVALID, "the master doesn't report that it was restarted");
	return err;
}
