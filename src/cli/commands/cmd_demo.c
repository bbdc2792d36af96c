/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan demo: runs a real graph on a cluster of its own, and kills the master in the middle. Then it checks the result:
 * status 0 means that nothing was lost, nothing was done twice, and nothing was left behind.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/rand.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/demo/demo.h"
#include "cli/follow/follow.h"
#include "cli/follow/follow_internal.h"
#include "cli/graph/submit.h"
#include "cli/session/output.h"
#include "cli/show/look.h"
#include "lang/dagline.h"

/* The demo kills the master once this many jobs have ended and this many are running. */
#define PULL_ENDED 3
#define PULL_RUNNING 3
#define DARK_MS 1200                     /* time without a master */

static void caption(struct demo *demo, const char *text)
{
	struct buf out = { 0 };

	if (demo->cli->settings.quiet)
		return;
	look_colour(&demo->cli->out, COLOUR_CYAN, ATTR_BOLD, &out);
	buf_addf(&out, "%s %s", demo->cli->out.utf8 ? "──" : "--", text);
	look_plain(&demo->cli->out, &out);
	buf_add_byte(&out, '\n');
	cli_print(demo->cli, &out);
	buf_free(&out);
}

static enum err pull_plug(struct follow *follow, uint64_t ended, uint64_t running, void *arg)
{
	struct demo *demo = arg;
	char text[128];

	if (demo->pulled || ended < PULL_ENDED || running < PULL_RUNNING)
		return ERR_NONE;
	snprintf(text, sizeof(text), "PULL THE PLUG: kill -9 %d (the master), with %" PRIu64 " jobs running",
		 (int)demo->master, running);
	demo->pulled = true;
	demo_kill_master(demo);
	follow_say(follow, text);
	return ERR_NONE;
}

static enum err plug_in(struct follow *follow, void *arg)
{
	struct demo *demo = arg;
	char text[64];
	enum err err;

	if (demo->master != 0)
		return ERR_NONE;
	follow_say(follow, "the jobs run on at the worker; the demo starts the master again");
	err = cli_pause(demo->cli, DARK_MS);
	if (err == ERR_NONE)
		err = demo_start_master(demo);
	if (err == ERR_NONE) {
		snprintf(text, sizeof(text), "the master runs again (pid %d)", (int)demo->master);
		follow_say(follow, text);
	}
	return err;
}

struct demo_source {
	struct dagline dag;
	struct job_defaults defaults;
};

static void demo_job(const void *arg, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec)
{
	const struct demo_source *source = arg;

	dagline_job(&source->dag, index, &source->defaults, scratch, ret_spec);
}

static enum err submit(struct demo *demo)
{
	struct demo_source source = { 0 };
	struct graph_source graph = { .job_cb = demo_job, .arg = &source };
	struct msg_accepted accepted;
	struct dag_spot spot;
	struct slice env;
	uint8_t key[SUBMIT_KEY_SIZE];
	struct buf text = { 0 };
	enum err err = dagline_parse(slice_str(demo_graph), &demo->cli->arena, &source.dag, &spot, &demo->cli->error);

	if (err != ERR_NONE)
		return err;
	buf_addf(&text, "DEMO=%s", demo->dir);
	env = buf_slice(&text);
	source.defaults.env = (struct slice_list){ &env, 1 };
	graph.count = source.dag.job_count;
	graph.context = dag_context(&source.dag, &source.defaults, &demo->cli->arena);
	rand_system(key, sizeof(key));
	err = submit_graph(demo->cli, &graph, slice_str("demo"), key, &accepted);
	if (err == ERR_NONE)
		demo->run = accepted.run;
	buf_free(&text);
	return err;
}

static enum err play(struct demo *demo)
{
	struct follow_options options = { .tick_cb = pull_plug, .lost_cb = plug_in, .arg = demo, .passing = true };
	enum run_state state;
	enum err err = demo_stage(demo);

	if (err != ERR_NONE)
		return err;
	caption(demo, "starting a master and a worker with 4 slots in a temporary directory");
	caption(demo, "running 16 jobs: a fan-out, a retry, a failure, and the jobs that depend on them");
	err = submit(demo);
	if (err == ERR_NONE)
		err = follow_run(demo->cli, demo->run, &options, &state);
	if (err == ERR_NONE)
		err = demo_check(demo);
	if (err != ERR_NONE)
		return err;
	caption(demo, "every job ended as expected, once: 'broken' was meant to fail and 'report' to be skipped");
	err = demo_leave(demo);
	if (err == ERR_NONE)
		caption(demo, "no result was lost, no job was done twice, and no process is left");
	return err;
}

int cmd_demo(struct cli *cli)
{
	/*
	 * If the reader of the output leaves, as head does, the demo must still end its own processes: ignore SIGPIPE.
	 */
	const struct sigaction on_broken_pipe = { .sa_handler = SIG_IGN };
	struct sigaction before;
	struct demo demo = { .cli = cli };
	enum err err = cli_catch_signals(cli);

	cli->settings.style = STYLE_HUMAN;
	cli->settings.socket = NULL;     /* inside a job, too, the demo uses a cluster of its own */
	sigaction(SIGPIPE, &on_broken_pipe, &before);
	if (err == ERR_NONE)
		err = play(&demo);
	client_close(cli->client);
	cli->client = NULL;
	demo_clear(&demo);
	sigaction(SIGPIPE, &before, NULL);
	if (cli->output->reader_left) {
		/* don't report lost output, as most programs don't when their reader leaves */
		cli->output->lost = false;
		return 128 + SIGPIPE;
	}
	if (err == ERR_NONE && !cli->settings.quiet && cli->out.terminal)
		cli_note(cli, "   try: titan up");
	return err == ERR_NONE ? 0 : cli_fail(cli);
}
