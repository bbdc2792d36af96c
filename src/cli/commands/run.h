/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by titan run (cmd_run.c), its options (run_options.c), its source (run_source.c) and run_program.c. */
#ifndef TITAN_CLI_RUN_H
#define TITAN_CLI_RUN_H

#include "cli/graph/submit.h"
#include "cli/session/cli.h"
#include "cli/graph/here.h"
#include "lang/dagline.h"

enum run_source {                        /* the places that jobs can come from */
	FROM_LINE,                       /* -e */
	FROM_LINES,                      /* --lines */
	FROM_AGAIN,                      /* --again */
	FROM_STDIN,                      /* - */
	FROM_PIPELINE,
	FROM_SCRIPT,
	FROM_COMMAND,                    /* behind -- */
};

/* Find the one source that was given. The errors say which file can't be run and why. */
enum err run_source_read(struct cli *cli, enum run_source *ret);

/* Refuse options of titan run that exclude each other. */
enum err run_check_usage(struct cli *cli, enum run_source source);
/* Read the options that are defaults for jobs without settings of their own. */
enum err run_read_defaults(struct cli *cli, enum run_source source, struct job_defaults *defaults);
enum err run_read_key(struct cli *cli, uint8_t key[SUBMIT_KEY_SIZE]);

struct program {                         /* a script or a command that becomes the only job */
	struct slice name;
	struct slice_list argv;
	const struct job_defaults *defaults;
};

enum err run_program_read(struct cli *cli, enum run_source source, struct program *ret);
/* Set what the command line says about a job without settings of its own. */
void run_default_spec(const struct job_defaults *defaults, struct rec_job_spec *ret_spec);
void run_program_job(const void *program, uint64_t index, struct arena *scratch, struct rec_job_spec *ret_spec);

#endif
