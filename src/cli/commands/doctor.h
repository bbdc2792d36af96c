/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The findings of titan doctor, and the groups of checks. */
#ifndef TITAN_CLI_DOCTOR_H
#define TITAN_CLI_DOCTOR_H

#include "cli/session/cli.h"
#include "cli/show/records.h"

enum finding_state { FINDING_OK, FINDING_ADVICE, FINDING_PROBLEM };

struct findings {
	struct records records;
	size_t problems, advice;
};

/* Add a finding. next: what to do about it; NULL with FINDING_OK. Both texts are copied. */
void finding_add(struct findings *findings, const char *check, enum finding_state verdict, const char *text, const char *next);

/* doctor_machine.c: checks of this machine that need no master */
void doctor_machine(struct cli *cli, struct findings *findings);
/* doctor_place.c: the state directory, its disk, and the containment of jobs. */
void doctor_place(struct cli *cli, struct findings *findings);
/*
 * doctor_host.c: what titan worker add would find on another machine: the host for ssh, or the name of a worker that was put on
 * one. Fails only if the command must end.
 */
enum err doctor_host(struct cli *cli, const char *host, struct findings *findings);
/* doctor_boot.c: whether the cluster starts with the machine */
void doctor_boot(struct cli *cli, struct findings *findings);

#endif
