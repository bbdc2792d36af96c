/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From argv to a command's function, and back to an exit status. */
#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/commands/moment.h"
#include "cli/commands/up.h"
#include "cli/commands/workers.h"
#include "cli/session/conf_files.h"
#include "cli/session/help.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/session/session.h"
#include "cli/show/look.h"
#include "net/client.h"

static command_fn *const commands[COMMAND_COUNT] = {
#define GLOBAL(ident, letter, word, argument, help)
#define COMMAND(ident, verb, group, role, pattern, least, most, help, text) [COMMAND_##ident] = cmd_##ident,
#define OPTION(command, ident, letter, word, argument, help)
#define EXAMPLE(command, line)
#define END(ident)
#include "proto/commands.def"
#undef GLOBAL
#undef COMMAND
#undef OPTION
#undef EXAMPLE
#undef END
};

static void look_init(struct look *look, const struct settings *settings, const struct session *session, const struct sink *sink)
{
	look->style = settings->style;
	look->quiet = settings->quiet;
	look->format = settings->format;
	look->terminal = sink->terminal;
	look->columns = sink->terminal && sink->columns_cb ? sink->columns_cb(sink->arg) : 0;
	look->utf8 = session->utf8;
	look->expanded = session->expanded;
	look->colour = settings->colour == COLOUR_ALWAYS || (settings->colour == COLOUR_AUTO && look->terminal);
}

/* titan without arguments: on a terminal open the console, else print the help as an error. */
static int bare(struct cli *cli)
{
	struct buf text = { 0 };

	if (cli->session->asks && cli->session->out.terminal) {
		int status = up_start(cli, true);

		return status != 0 ? status : cmd_dash(cli);
	}
	if (cli->err.style == STYLE_JSON) {
		error_set(&cli->error, ERR_USAGE, "no command is given, and there is no terminal for the dashboard");
		error_next(&cli->error, "titan --help");
		return cli_fail(cli);
	}
	help_overview(&cli->err, &text);
	cli_tell(cli, buf_slice(&text));
	buf_free(&text);
	return err_exit_status(ERR_USAGE);
}

static int help_wanted(struct cli *cli)
{
	struct buf text = { 0 };

	if (cli->invocation->command == NULL)
		help_overview(&cli->out, &text);
	else
		help_command(&cli->out, cli->invocation->command, &text);
	cli_print(cli, &text);
	buf_free(&text);
	return 0;
}

/* Does the command need a state directory? Help, version and some others don't. */
static bool needs_place(const struct invocation *invocation)
{
	if (option_given(invocation, OPT_help) || option_given(invocation, OPT_version))
		return false;
	switch (invocation->command ? invocation->command->id : COMMAND_none) {
	case COMMAND_help:
	case COMMAND_version:
	case COMMAND_wire:
	case COMMAND_demo:               /* the demo makes a state directory of its own */
		return false;
	case COMMAND_completion:         /* of the completion command, only titan completion words asks a master */
		return strcmp(invocation->arg_count > 0 ? invocation->args[0] : "", "words") == 0;
	default:
		return true;
	}
}

/*
 * A guardian that replaced itself by a newer version must live on: an error in titan.conf files is reported and
 * ignored.
 */
static enum err unless_renewed(struct cli *cli, enum err err)
{
	if (err == ERR_NONE || !settings_renewed())
		return err;
	cli_fail(cli);
	cli->error = (struct error){ 0 };
	return ERR_NONE;
}

/* Does the command start or become a daemon, or show settings? Only those read the cluster's own titan.conf. */
static bool serves_cluster(const struct invocation *invocation)
{
	enum command_id id = invocation->command ? invocation->command->id : COMMAND_up;

	return id == COMMAND_up || id == COMMAND_config || id == COMMAND_master || (id == COMMAND_worker && worker_starts(invocation));
}

/* Is the command about the cluster's processes or files on this machine? */
static bool is_of_this_machine(const struct invocation *invocation)
{
	switch (invocation->command ? invocation->command->id : COMMAND_dash) {
	case COMMAND_up:
	case COMMAND_down:
	case COMMAND_master:
	case COMMAND_restore:
	case COMMAND_fsck:
	case COMMAND_audit:
	case COMMAND_backup:
		return true;
	default:
		return false;
	}
}

static enum err prepare(struct cli *cli, struct conf_files *files)
{
	enum err err = needs_place(cli->invocation) ? unless_renewed(cli, conf_read_files(cli, files)) : ERR_NONE;
	int found;

	if (err == ERR_NONE)
		err = settings_read(cli->invocation, &cli->settings, &cli->error);
	if (err != ERR_NONE)
		return err;
	look_init(&cli->out, &cli->settings, cli->session, &cli->session->out);
	look_init(&cli->err, &cli->settings, cli->session, &cli->session->err);
	if (cli->settings.timeout_ms >= 0)
		cli->deadline_ns = clock_mono_ns() + cli->settings.timeout_ms * NS_PER_MS;
	if (needs_place(cli->invocation) && (err = clusters_find(&cli->settings, &cli->remote, &cli->error)) != ERR_NONE)
		return err;
	if (cli->remote.address[0] && is_of_this_machine(cli->invocation)) {
		error_set(&cli->error, ERR_USAGE, "titan %s works only on the machine of the master, which is at %s",
			  cli->invocation->command->verb, cli->remote.address);
		return error_next(&cli->error, "run the command there, or name a cluster of this machine with -C");
	}
	found = statedir_find(cli->settings.cluster, &cli->statedir);
	if (found == -ENOENT && !needs_place(cli->invocation))
		return ERR_NONE;
	if (found == -EINVAL)
		return error_set(&cli->error, ERR_USAGE, "'%s' isn't a valid name for a cluster; use only letters, "
			"digits and _ . -",
				 cli->settings.cluster);
	if (found == -ENOENT) {
		error_set(&cli->error, ERR_USAGE, "the state directory is unknown: neither TITAN_STATE nor HOME is set");
		return error_next(&cli->error, "TITAN_STATE=/some/where titan ...");
	}
	if (found != 0)
		return error_system(&cli->error, -found, "can't find the state directory");
	if (needs_place(cli->invocation) && serves_cluster(cli->invocation))
		return unless_renewed(cli, conf_read_cluster(cli, files));
	return ERR_NONE;
}

static int run_command(struct cli *cli)
{
	if (cli->session->interrupts && cli_catch_signals(cli) != ERR_NONE)
		return cli_fail(cli);
	if (option_given(cli->invocation, OPT_help))
		return help_wanted(cli);
	if (option_given(cli->invocation, OPT_version))
		return cmd_version(cli);
	if (cli->invocation->command == NULL)
		return bare(cli);
	if (moment_of(cli) != NULL && moment_connect(cli, moment_of(cli)) != ERR_NONE)
		return cli_fail(cli);
	return commands[cli->invocation->command->id](cli);
}

/* Look for --json before parsing argv, so that parse errors are printed as JSON too. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0 || strncmp(argv[i], "--json=", 7) == 0)
			return true;
	return false;
}

/* Read and drop signals that arrived while they were blocked: they must not end the session's next command. */
static void release_signals(struct cli *cli)
{
	struct signalfd_siginfo info;

	if (cli->signal_fd < 0)
		return;
	while (read(cli->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	close(cli->signal_fd);
	sigprocmask(SIG_SETMASK, &cli->signals_before, NULL);
}

int session_run(struct session *session, int argc, char **argv)
{
	struct lost_output output = { 0 };
	struct cli cli = { .session = session, .output = &output, .signal_fd = -1, .deadline_ns = TIME_NEVER };
	struct invocation invocation = { 0 };
	struct settings plain = { 0 };
	struct conf_files files = { 0 };
	int status;

	plain.style = wants_json(argc, argv) ? STYLE_JSON : STYLE_HUMAN;
	look_init(&cli.err, &plain, session, &session->err);
	cli.invocation = &invocation;
	if (invocation_parse(argc, argv, &cli.arena, &invocation, &cli.error) == ERR_NONE) {
		invocation.conf = &files;
		status = prepare(&cli, &files) == ERR_NONE ? run_command(&cli) : cli_fail(&cli);
	} else {
		status = cli_fail(&cli);
	}
	if (output.lost)
		status = cli_fail(&cli);
	client_close(cli.client);
	release_signals(&cli);
	arena_free(&cli.arena);
	return status;
}
