/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The process of a job with artifacts: runs the job's command, and when that has succeeded keeps the files that it left. */
#ifndef TITAN_CLI_COLLECT_H
#define TITAN_CLI_COLLECT_H

/* argv: the program, COLLECT_WORD, the patterns, --, the command. Returns an exit status. */
int collect_main(int argc, char **argv);

#endif
