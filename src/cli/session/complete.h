/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Completion scripts of shells. All words come from titan completion words, so a script knows no command. */
#ifndef TITAN_CLI_COMPLETE_H
#define TITAN_CLI_COMPLETE_H

const char *complete_script(const char *shell);          /* NULL: unknown shell */

#endif
