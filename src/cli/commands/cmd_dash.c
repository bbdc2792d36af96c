/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan dash: turns the typed options into the dashboard's options. */
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/ask/select.h"
#include "cli/commands/command.h"
#include "cli/dash/dash.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

/* Find the run to select. A missing run is reported at once; for a missing master the dashboard itself waits. */
static enum err choose_run(struct cli *cli, const char *text, uint64_t *ret_run)
{
	struct rec_run_row row;
	enum err err = cli_select_run(cli, text, ret_run);

	if (err != ERR_NONE)
		return err;
	err = cli_connect(cli);
	if (err == ERR_NONE)
		return cli_query_run(cli, *ret_run, &cli->arena, &row);
	return err == ERR_UNREACHABLE ? ERR_NONE : err;
}

int cmd_dash(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;
	const char *exit_after = option_value(invocation, OPT_dash_exit_after);
	struct dash_options options = {
		.ascii = option_given(invocation, OPT_dash_ascii) || !cli->out.utf8,
		.mono = cli->settings.colour == COLOUR_NEVER,
		.view = option_value(invocation, OPT_dash_view),
		.dump_file = option_value(invocation, OPT_dash_dump_screen),
		.dump_styles = option_given(invocation, OPT_dash_dump_styles),
		.size = option_value(invocation, OPT_dash_size),
		.clock = option_value(invocation, OPT_dash_clock),
		.exit_idle = exit_after != NULL,
		.session = cli->session,
		.console = { .cluster = cli->settings.cluster, .host = cli->settings.host, .key_file = cli->settings.key_file,
			     .stays = true },
	};
	int status;

	if (exit_after != NULL && strcmp(exit_after, "idle") != 0) {
		error_set(&cli->error, ERR_USAGE, "--exit-after must be idle, not '%s'", exit_after);
		return cli_fail(cli);
	}
	if (cli_refuse_in_job(cli, "see the whole cluster", "titan watch self, or titan -C CLUSTER dash") != ERR_NONE)
		return cli_fail(cli);
	if (invocation->arg_count > 0 && choose_run(cli, invocation->args[0], &options.run) != ERR_NONE)
		return cli_fail(cli);
	client_close(cli->client);
	cli->client = NULL;
	status = dash_run(&options, &cli->statedir, &cli->remote, &cli->error);
	if (status != 0)
		cli_fail(cli);
	return status;
}
