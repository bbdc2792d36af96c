/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan progress: called inside a job, reports how far the job is. */
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/commands/command.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "proto/limits.h"

/* Read "3/12". */
static bool read_part(struct slice word, struct msg_progress *msg)
{
	const uint8_t *slash = memchr(word.data, '/', word.len);
	size_t len = slash ? (size_t)(slash - word.data) : 0;

	return slash != NULL && text_parse_u64(slice_make(word.data, len), &msg->done) &&
	       text_parse_u64(slice_make(slash + 1, word.len - len - 1), &msg->total) && msg->total > 0 &&
	       msg->done <= msg->total && msg->total < INT64_MAX;
}

/* Read "37", "37%" or "37.5%". */
static bool read_percent(struct slice word, struct msg_progress *msg)
{
	const uint8_t *dot;
	uint64_t tenth = 0;
	size_t len;

	if (word.len > 0 && word.data[word.len - 1] == '%')
		word.len--;
	dot = word.len > 0 ? memchr(word.data, '.', word.len) : NULL;
	len = dot ? (size_t)(dot - word.data) : word.len;
	if (!text_parse_u64(slice_make(word.data, len), &msg->done) || msg->done > 100 ||
	    (dot && (word.len - len != 2 || !text_parse_u64(slice_make(dot + 1, 1), &tenth))))
		return false;
	msg->done = msg->done * 10 + tenth;
	return msg->done <= LIMIT_PROGRESS_WHOLE;
}

/* Join all words behind the first one. */
static struct slice read_text(struct cli *cli)
{
	struct buf text = { 0 };
	struct slice copy;

	for (size_t i = 1; i < cli->invocation->arg_count; i++) {
		buf_add_str(&text, i > 1 ? " " : "");
		buf_add_str(&text, cli->invocation->args[i]);
	}
	copy = arena_copy(&cli->arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

int cmd_progress(struct cli *cli)
{
	const char *word = cli->invocation->args[0];
	struct msg_progress msg = { .text = read_text(cli) };
	struct msg_ok ok;

	if (!(strchr(word, '/') ? read_part(slice_str(word), &msg) : read_percent(slice_str(word), &msg))) {
		error_set(&cli->error, ERR_USAGE, "'%s' must be 0 to 100, such as 37 or 37.5%%, or a part of a number, such as 3/12", word);
		return cli_fail(cli);
	}
	if (msg.text.len > LIMIT_PROGRESS_MAX) {
		error_set(&cli->error, ERR_USAGE, "the text may have at most %d bytes; this one has %zu", LIMIT_PROGRESS_MAX, msg.text.len);
		return cli_fail(cli);
	}
	if (cli->settings.socket == NULL) {
		error_set(&cli->error, ERR_USAGE, "titan progress works only inside a job, where TITAN_SOCKET is set");
		return cli_fail(cli);
	}
	if (cli_connect(cli) != ERR_NONE || cli_call(cli, OP_PROGRESS, &msg, OP_OK, &cli->arena, &ok) != ERR_NONE)
		return cli_fail(cli);
	return 0;
}
