/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The files of jobs on the submitter's side: what their names stand for, and their upload. */
#ifndef TITAN_CLI_JOB_FILES_H
#define TITAN_CLI_JOB_FILES_H

#include "cli/commands/asset.h"
#include "lang/dagline.h"

struct job_files {
	struct asset_source **sources;   /* the files and directories that were read, each once */
	size_t count;
	struct buf inputs;               /* the files of --file, as input records */
};

/* Read and hash the files of titan run --file. */
enum err job_files_option(struct cli *cli, struct job_files *files);
/* Find out what all files are that the jobs of the graph and of its sub-runs name. Errors are told with their place. */
enum err job_files_find(struct cli *cli, struct dagline *dag, struct job_files *files);
bool job_files_any(const struct dagline *dag);                                   /* does a job of the graph name files? */
enum err job_files_send(struct cli *cli, const struct job_files *files);         /* upload what the master lacks */
void job_files_free(struct job_files *files);

#endif
