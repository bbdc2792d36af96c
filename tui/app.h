/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dashboard without a terminal: keys, sizes, messages and time go in; frames and requests come out.
 * It never blocks, reads no clock and writes nothing. Times are UTC ms.
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
	enum view view;          /* to begin with; VIEW_ANY: Home */
	uint64_t run;            /* to select; 0: the newest */
};

enum app_want { APP_SEND, APP_QUIT, APP_SUSPEND, APP_REDRAW };

struct app_request {
	enum app_want want;
	enum opcode op;          /* of APP_SEND, with its message */
	union {
		struct msg_subscribe subscribe;
		struct msg_unsubscribe unsubscribe;
		struct msg_act act;
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
/* A whole frame from the master. A body that can't be decoded is an error of the connection. */
enum err app_message(struct app *app, enum opcode op, struct slice body, int64_t now_ms, struct error *error);
void app_tick(struct app *app, int64_t now_ms);

/* The next thing to do, in order; false when there is none. Slices in it live until the next call. */
bool app_take(struct app *app, struct app_request *ret_request);
bool app_dirty(const struct app *app);                   /* app_draw would show something new */
int64_t app_wait_ms(const struct app *app, int64_t now_ms);      /* until app_tick is due */
bool app_settled(const struct app *app);                 /* all that was asked for is here */
void app_draw(struct app *app, struct grid *grid, int64_t now_ms);

#endif
