/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line that is being typed: readline, its history and completion. There can be only one at a time, because readline
 * has one. Nothing here waits: keys are taken when they are there.
 */
#ifndef TITAN_CLI_REPL_TYPING_H
#define TITAN_CLI_REPL_TYPING_H

#include "base/buf.h"

struct typing {
	/*
	 * Called when a complete command was typed, perhaps of several lines, or when commands were pasted; NULL:
	 * Ctrl-D was typed.
	 */
	void (*entered_cb)(void *owner, const char *text);
	/*
	 * Complete the last word of this text: add "WORD<tab>HELP" lines to words. True: the word is the name of a
	 * file.
	 */
	bool (*complete_cb)(void *owner, const char *text, struct buf *words);
	void *owner;
};

void typing_open(const struct typing *typing);
void typing_close(void);
void typing_keys(void);                  /* take the keys that have been typed */
void typing_start(const char *prompt);   /* show the prompt and take keys; does nothing if it is shown */
void typing_stop(void);                  /* give the terminal back to a command that is about to run */
/* Print lines above the prompt and a new prompt below them; the typed line is kept. Either may be NULL. */
void typing_tell(const char *lines, const char *prompt);
void typing_clear(void);                 /* Ctrl-C was pressed: drop the line that is being typed */
void typing_resize(void);
void typing_suspend(void);               /* Ctrl-Z */

#endif
