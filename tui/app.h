/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard without a terminal: keys, sizes, messages and time go in; frames and requests come out. It
 * never blocks, reads no clock and writes nothing. Times are in UTC ms.
 */
#ifndef TITAN_TUI_APP_H
#define TITAN_TUI_APP_H

#include "proto/message.h"
#include "tui/cells.h"
#include "tui/keys.h"

#define APP_MIN_WIDTH  60
#define APP_MIN_HEIGHT 16

struct app;

struct app_options {
	bool ascii, mono;
	enum view view;          /* the first view; VIEW_ANY: Home */
	uint64_t run;            /* the run to select; 0: the newest */
};

enum app_want { APP_SEND, APP_QUIT, APP_SUSPEND, APP_REDRAW, APP_COMMAND, APP_INTERRUPT, APP_ANSWER, APP_CLOSE, APP_COPY, APP_PAGER };

struct app_request {
	enum app_want want;
	enum opcode op;          /* for APP_SEND: opcode of the message in msg */
	struct slice text;       /* for APP_COMMAND the command that was typed, for APP_ANSWER the line, for APP_COPY what to copy, for APP_PAGER a command */
	union {
		struct msg_subscribe subscribe;
		struct msg_unsubscribe unsubscribe;
		struct msg_act act;
		struct msg_set set;
		struct msg_log_read log_read;
		struct msg_query query;
	} msg;
};

struct app *app_new(const struct app_options *options);
void app_free(struct app *app);

void app_resize(struct app *app, int width, int height);
void app_key(struct app *app, uint32_t key, int64_t now_ms);
void app_connected(struct app *app, const struct msg_welcome *welcome, int64_t now_ms);
void app_disconnected(struct app *app, const char *why, int64_t retry_at_ms, int64_t now_ms);
/*
 * Take a whole frame from the master. An error means that the body can't be decoded; the caller then closes the
 * connection.
 */
enum err app_message(struct app *app, enum opcode op, struct slice body, int64_t now_ms, struct error *error);
/*
 * Show what a command prints, in a pane: begin, then any bytes, then the exit status. Meanwhile the requests APP_INTERRUPT
 * (end the command), APP_ANSWER (a line for its standard input, in text) and APP_CLOSE (end it, the pane is closed) can come.
 */
void app_output_begin(struct app *app, struct slice command);
void app_output_add(struct app *app, struct slice bytes);
void app_output_end(struct app *app, int status);
void app_tick(struct app *app, int64_t now_ms);

/* Take the next request in order; false: there is none. Its slices are valid until the next call. */
bool app_take(struct app *app, struct app_request *ret_request);
bool app_dirty(const struct app *app);                   /* would app_draw draw anything new? */
int64_t app_wait_ms(const struct app *app, int64_t now_ms);      /* returns the time until app_tick is due */
bool app_loaded(const struct app *app);                 /* has all data that was asked for arrived? */
void app_draw(struct app *app, struct grid *grid, int64_t now_ms);

#endif
