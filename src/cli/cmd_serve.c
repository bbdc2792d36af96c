/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan master and worker: this process becomes one. */
#include <errno.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/up.h"
#include "master/master.h"
#include "proto/limits.h"
#include "worker/worker.h"

static enum err read_ready_fd(struct cli *cli, enum option_id id, int *ret_fd)
{
	uint64_t fd = 0;
	enum err err = option_number(cli->invocation, id, 0, INT32_MAX, &fd, &cli->error);

	if (err == ERR_NONE)
		*ret_fd = option_given(cli->invocation, id) ? (int)fd : -1;
	return err;
}

int cmd_master(struct cli *cli)
{
	struct master_options options = { .place = cli->place };
	struct intervals intervals;
	int status;

	if (read_ready_fd(cli, OPT_master_ready_fd, &options.ready_fd) != ERR_NONE ||
	    intervals_read(cli->invocation, &intervals, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	options.heartbeat_ms = intervals.heartbeat_ms;
	options.lease_ms = intervals.lease_ms;
	options.grace_ms = intervals.grace_ms;
	status = master_run(&options, &cli->error);
	if (status != 0)
		cli_fail(cli);
	return status;
}

/* All labels given, with commas between. */
static enum err read_labels(struct cli *cli, const char **ret_labels)
{
	const struct invocation *invocation = cli->invocation;
	struct buf labels = { 0 };

	for (size_t i = 0; i < invocation->option_count; i++) {
		const char *label = invocation->options[i].value;

		if (invocation->options[i].id != OPT_worker_label)
			continue;
		if (!text_is_name(slice_str(label))) {
			buf_free(&labels);
			return error_set(&cli->error, ERR_USAGE, "--label: '%s' can't be a label: letters, digits and _ . - only",
					 label);
		}
		buf_addf(&labels, "%s%s", labels.len ? "," : "", label);
	}
	*ret_labels = labels.len ? arena_strdup(&cli->arena, buf_slice(&labels)) : NULL;
	buf_free(&labels);
	return ERR_NONE;
}

int cmd_worker(struct cli *cli)
{
	const char *name = option_value(cli->invocation, OPT_worker_name);
	struct worker_options options = { .place = cli->place, .name = name ? name : LOCAL_WORKER };
	uint64_t slots = 0, containment = CONTAIN_AUTO;
	int status;

	if (!text_is_name(slice_str(options.name))) {
		error_set(&cli->error, ERR_USAGE, "--name: '%s' can't be a worker's name: letters, digits and _ . - only",
			  options.name);
		return cli_fail(cli);
	}
	if (read_labels(cli, &options.labels) != ERR_NONE ||
	    read_ready_fd(cli, OPT_worker_ready_fd, &options.ready_fd) != ERR_NONE ||
	    option_choice(cli->invocation, OPT_worker_containment, &containment, &cli->error) != ERR_NONE ||
	    option_number(cli->invocation, OPT_worker_slots, 1, LIMIT_SLOTS_MAX, &slots, &cli->error) != ERR_NONE)
		return cli_fail(cli);
	options.slots = (uint32_t)slots;
	options.containment = (enum containment)containment;
	status = keeper_run(&options, &cli->error);
	if (status != 0)
		cli_fail(cli);
	return status;
}
