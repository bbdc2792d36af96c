/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line that is being typed: readline, its history and completion. Only one at a time, because readline has one line.
 * Nothing here waits: keys are taken when they are there.
 */
#ifndef TITAN_CLI_REPL_TYPING_H
#define TITAN_CLI_REPL_TYPING_H

#include "base/buf.h"

struct typing {
	/* A whole command was typed, perhaps of several lines, or pasted commands; NULL: Ctrl-D. */
	void (*entered_cb)(void *owner, const char *text);
	/* Complete the last word of this text: "WORD<tab>HELP" lines to words. True: a name of a file is wanted. */
	bool (*complete_cb)(void *owner, const char *text, struct buf *words);
	void *owner;
};

void typing_open(const struct typing *typing);
void typing_close(void);
void typing_keys(void);                  /* take the keys that are there */
void typing_start(const char *prompt);   /* show the prompt and take keys; does nothing if it is shown */
void typing_stop(void);                  /* give the terminal back, for a command that runs */
/* Print lines above the prompt, and show a new prompt below; the typed line stays as it is. Either may be NULL. */
void typing_tell(const char *lines, const char *prompt);
void typing_clear(void);                 /* Ctrl-C: forget what was typed */
void typing_resize(void);
void typing_suspend(void);               /* Ctrl-Z */

#endif
