/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides whether a word names a pipeline or a script, by the word and by the file with this name. */
#ifndef TITAN_CLI_PROGRAM_H
#define TITAN_CLI_PROGRAM_H

enum program_kind {
	PROGRAM_PIPELINE,                /* a name ending in .yaml or .yml, a pipe, or - */
	PROGRAM_SCRIPT,                  /* a path with a slash, which needn't exist; or an executable file */
	PROGRAM_BOTH,                    /* an executable file whose name ends like a pipeline's */
	PROGRAM_NEITHER,
};

enum program_kind program_kind(const char *word);

#endif
