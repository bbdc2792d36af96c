/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>

#include "cli/commands/doctor.h"
#include "cli/daemon/boot.h"

void doctor_boot(struct cli *cli, struct findings *findings)
{
	char text[BOOT_NAME_SIZE + 160];
	struct boot boot;

	boot_find(&cli->statedir, &boot);
	if (boot.way == BOOT_SYSTEMD && boot.lingers) {
		snprintf(text, sizeof(text), "the cluster starts with the machine, by the systemd user unit %s", boot.unit);
		finding_add(findings, "boot", FINDING_OK, text, NULL);
	} else if (boot.way == BOOT_SYSTEMD) {
		snprintf(text, sizeof(text), "the cluster starts when you log in, not with the machine, by the systemd user unit %s", boot.unit);
		finding_add(findings, "boot", FINDING_ADVICE, text, "loginctl enable-linger");
	} else if (boot.way == BOOT_CRON) {
		finding_add(findings, "boot", FINDING_OK, "the cluster starts with the machine, by a line in your crontab", NULL);
	} else {
		finding_add(findings, "boot", FINDING_OK, "the cluster doesn't start with the machine; titan up --boot lets it", NULL);
	}
}
