/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets a person change a text in an editor: $VISUAL, else $EDITOR, else vi. */
#ifndef TITAN_CLI_EDITOR_H
#define TITAN_CLI_EDITOR_H

#include "cli/session/cli.h"

/* Check the changed text, which stays valid after the call. On failure the check sets cli->error. */
typedef enum err editor_check(struct cli *cli, struct slice text, void *arg);

/*
 * Open the text in an editor, as a file of this name that only this user can read and that is removed afterwards. If the
 * check refuses the text, the person is asked whether to edit it again. ERR_DECLINED: the person changed nothing, or the
 * editor failed.
 */
enum err editor_edit(struct cli *cli, const char *name, struct slice text, editor_check *check_cb, void *arg);

#endif
