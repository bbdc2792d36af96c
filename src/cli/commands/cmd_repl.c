/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan repl: the console. */
#include "cli/commands/command.h"
#include "cli/repl/repl.h"
#include "cli/session/options.h"
#include "cli/session/output.h"

int cmd_repl(struct cli *cli)
{
	const struct repl_options options = {
		.cluster = cli->settings.cluster,
		.host = cli->settings.host,
		.key_file = cli->settings.key_file,
		.json = cli->settings.style == STYLE_JSON,
		.quiet = cli->settings.quiet,
		.keep_going = option_given(cli->invocation, OPT_repl_keep_going),
	};

	if (cli_refuse_in_job(cli, "open the console", "titan help jobs") != ERR_NONE)
		return cli_fail(cli);
	return repl_run(cli->session, &options, &cli->statedir, &cli->remote);
}
