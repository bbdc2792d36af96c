/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides whether a word names a pipeline or a script, by the word and the file that has this name. */
#ifndef TITAN_CLI_PROGRAM_H
#define TITAN_CLI_PROGRAM_H

enum program_kind {
	PROGRAM_PIPELINE,                /* a name with .yaml or .yml, a pipe, or - */
	PROGRAM_SCRIPT,                  /* a path with a slash, or an executable file; it may not exist */
	PROGRAM_BOTH,                    /* an executable file with the name of a pipeline */
	PROGRAM_NEITHER,
};

enum program_kind program_kind(const char *word);

#endif
