/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan dlq requeue JOB --edit: lets a person edit the job of a dead letter, and submits the edited job as a new run, because
 * the specification of a job never changes. The dead letter is discarded before the submit, and only if it is still that of
 * the round which the person edited. If the master refuses the new run, the dead letter is put back.
 */
#include <inttypes.h>
#include <string.h>

#include "base/rand.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/commands/dlq.h"
#include "cli/commands/edit.h"
#include "cli/commands/outputs.h"
#include "cli/session/output.h"
#include "proto/value_name.h"

/* Remove all settings that refer to other jobs of the run, and the variables that only members of a fan-out have. */
static void cut_loose(struct rec_job_spec *job, struct arena *arena)
{
	struct slice_list env = { arena_alloc(arena, (job->env.n + 1) * sizeof(struct slice)), 0 };
	size_t stem = spec_stem(job->name);

	for (size_t i = 0; i < job->env.n; i++)
		if (job->env.at[i].len < 6 || memcmp(job->env.at[i].data, "TITAN_", 6) != 0 ||
		    value_name_is_made(job->env.at[i]))
			env.at[env.n++] = job->env.at[i];
	job->env = env;
	job->needs = job->triggers = (struct u64_list){ 0 };
	job->needs_code = job->needs_text = job->when_code = job->when = (struct slice){ 0 };
	job->group = job->group_parallel = 0;
	job->group_fail_fast = job->final = false;
	job->always = ALWAYS_NO;
	if (stem < job->name.len) {
		struct buf name = { 0 };

		/* encode[7] becomes encode-7: only members of a fan-out can have [7] in their names. */
		buf_add(&name, job->name.data, stem);
		buf_add_byte(&name, '-');
		buf_add(&name, job->name.data + stem + 1, job->name.len - stem - 2);
		job->name = arena_copy(arena, buf_slice(&name));
		buf_free(&name);
	}
}

static enum err send(struct cli *cli, const struct rec_dead_row *letter, enum act_verb verb, uint64_t value)
{
	struct msg_act act = { .verb = verb, .run = letter->run, .job = letter->name, .value = value };
	struct msg_ok ok;
	enum err err = cli_call(cli, OP_ACT, &act, OP_OK, &cli->arena, &ok);

	if (err == ERR_NONE && ok.count == 0) {
		error_set(&cli->error, ERR_CHANGED, "somebody requeued or discarded %" PRIu64 "/%.*s meanwhile", letter->run, (int)letter->name.len,
			  (const char *)letter->name.data);
		return error_next(&cli->error, "titan dlq ls");
	}
	return err;
}

/* Put the dead letter back after a refused submit. The error stays that of the submit. */
static enum err put_back(struct cli *cli, const struct rec_dead_row *letter)
{
	const struct error why = cli->error;

	if (send(cli, letter, ACT_REINSTATE, 1) != ERR_NONE)
		cli_note(cli, "the dead letter is discarded, and can't be put back now: titan undo");
	cli->error = why;
	return why.code;
}

static void print(struct cli *cli, const struct msg_accepted *accepted)
{
	struct records records;
	struct buf out = { 0 };

	if (cli_chatty(cli)) {
		buf_addf(&out, "run %" PRIu64 " has the edited job  next: titan watch %" PRIu64 "\n", accepted->run, accepted->run);
	} else if (cli->out.style == STYLE_HUMAN || cli->out.style == STYLE_PLAIN) {
		buf_addf(&out, "%" PRIu64 "\n", accepted->run);
	} else {
		records_begin(&records, accepted_table.columns, accepted_table.count, &cli->arena);
		records_number(&records, accepted->run);
		records_number(&records, accepted->jobs);
		records_bool(&records, accepted->existing);
		records_none(&records);
		records_print_one(&records, &cli->out, &out);
	}
	cli_print(cli, &out);
	buf_free(&out);
}

static enum err edit(struct cli *cli, const char *target, struct msg_accepted *ret)
{
	struct rec_dead_row letter = { 0 };
	struct rec_job_spec job = { 0 };
	struct asked_graph asked = { .graph = { .jobs = &job, .count = 1 } };
	struct edited_graph edited = { 0 };
	uint8_t key[SUBMIT_KEY_SIZE];
	enum err err = cli_connect(cli);

	if (err == ERR_NONE)
		err = dead_letter_ask(cli, target, &letter, &job);
	if (err != ERR_NONE)
		return err;
	cut_loose(&job, &cli->arena);
	asked.graph.name = letter.run_name;
	if ((err = edit_graph(cli, &asked, &edited)) != ERR_NONE || (err = send(cli, &letter, ACT_DISCARD, letter.round + 1)) != ERR_NONE)
		return err;
	rand_system(key, sizeof(key));
	err = submit_graph(cli, &edited.source, edited.pipeline.name, key, ret);
	return err == ERR_NONE ? ERR_NONE : put_back(cli, &letter);
}

int dlq_edit(struct cli *cli)
{
	struct msg_accepted accepted = { 0 };

	if (cli->invocation->arg_count != 2) {
		error_set(&cli->error, ERR_USAGE, "--edit takes one dead letter, RUN/JOB");
		error_next(&cli->error, "titan dlq ls");
		return cli_fail(cli);
	}
	if (edit(cli, cli->invocation->args[1], &accepted) != ERR_NONE)
		return cli_fail(cli);
	print(cli, &accepted);
	return 0;
}
