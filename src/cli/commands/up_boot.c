/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan up --boot and --no-boot: whether the cluster starts with the machine. */
#include "cli/commands/up.h"
#include "cli/daemon/boot.h"
#include "cli/session/output.h"

/* The options of this command that titan up must have at the start of the machine, too. */
static void list_options(const struct cli *cli, const char *ret[5])
{
	const char *slots = option_value(cli->invocation, OPT_up_slots), *listen = option_value(cli->invocation, OPT_up_listen);
	size_t count = 0;

	if (slots != NULL) {
		ret[count++] = "--slots";
		ret[count++] = slots;
	}
	if (listen != NULL) {
		ret[count++] = "--listen";
		ret[count++] = listen;
	}
	ret[count] = NULL;
}

static enum err set(struct cli *cli, const char **ret_way)
{
	const char *options[5];
	struct boot boot;

	list_options(cli, options);
	if (boot_set(&cli->statedir, options, &boot, &cli->error) != ERR_NONE)
		return cli->error.code;
	*ret_way = boot.way == BOOT_SYSTEMD ? "systemd" : "cron";
	if (boot.way == BOOT_SYSTEMD && !boot.lingers)
		cli_note(cli, "titan: the unit %s starts when you log in, not yet with the machine\n   try: loginctl enable-linger", boot.unit);
	return ERR_NONE;
}

enum err up_boot(struct cli *cli, const char **ret_way)
{
	struct boot boot;

	if (cli->invocation->command == NULL)
		return ERR_NONE;
	if (option_given(cli->invocation, OPT_up_boot))
		return set(cli, ret_way);
	if (!option_given(cli->invocation, OPT_up_no_boot))
		return ERR_NONE;
	*ret_way = "no";
	return boot_unset(&cli->statedir, &boot, &cli->error);
}
