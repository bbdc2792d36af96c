/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan wire dump, help, completion, version: commands that work without a master. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/complete_names.h"
#include "cli/commands/command.h"
#include "cli/session/complete.h"
#include "cli/session/help.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/json.h"
#include "cli/show/look.h"
#include "proto/frame.h"
#include "proto/limits.h"

#define NAMES_MS 1000                    /* longest time that completion keeps a person waiting */

/* Print the whole frames at the front of the buffer. An incomplete frame at the end stays in it. */
static enum err dump_frames(struct cli *cli, struct buf *in, uint64_t *offset)
{
	struct buf out = { 0 };
	enum err err = ERR_NONE;

	for (;;) {
		struct frame frame;
		size_t size;
		enum frame_status status = frame_read(buf_slice(in), LIMIT_FRAME_MAX, &frame, &size, &cli->error);

		if (status == FRAME_BAD) {
			struct error why = cli->error;

			err = error_set(&cli->error, ERR_FRAME, "at byte %llu: %s", (unsigned long long)*offset, why.text);
		}
		if (status != FRAME_WHOLE)
			break;
		message_print(&out, (enum opcode)frame.opcode, frame.body);
		buf_drop(in, size);
		*offset += size;
	}
	cli_print(cli, &out);
	buf_free(&out);
	return err;
}

static enum err dump(struct cli *cli, int fd)
{
	struct buf in = { 0 };
	uint64_t offset = 0;
	enum err err = ERR_NONE;

	while (err == ERR_NONE) {
		ssize_t got = read(fd, buf_reserve(&in, 65536), 65536);

		if (got == 0)
			break;
		if (got < 0) {
			err = error_system(&cli->error, errno, "can't read frames");
			break;
		}
		in.len += (size_t)got;
		err = dump_frames(cli, &in, &offset);
	}
	if (err == ERR_NONE && in.len > 0)
		err = error_set(&cli->error, ERR_FRAME, "the input ends at byte %llu in the middle of a frame", (unsigned long long)offset);
	buf_free(&in);
	return err;
}

int cmd_wire(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;
	const char *path = invocation->arg_count > 1 ? invocation->args[1] : "-";
	int fd = cli->session->in_fd;
	enum err err;

	if (strcmp(invocation->args[0], "dump") != 0) {
		error_set(&cli->error, ERR_USAGE, "titan wire needs dump, not '%s'", invocation->args[0]);
		error_next(&cli->error, "titan wire --help");
		return cli_fail(cli);
	}
	if (strcmp(path, "-") != 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int why = errno;

		error_system(&cli->error, why, "can't open %s", path);
		cli->error.code = why == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM;
		return cli_fail(cli);
	}
	err = dump(cli, fd);
	if (fd != cli->session->in_fd)
		close(fd);
	return err == ERR_NONE ? 0 : cli_fail(cli);
}

int cmd_version(struct cli *cli)
{
	struct buf out = { 0 };
	struct json json;

	if (cli->settings.style == STYLE_JSON) {
		json_begin(&json, &out);
		json_object(&json);
		json_key(&json, "version");
		json_string(&json, TITAN_VERSION);
		json_key(&json, "protocol");
		json_u64(&json, PROTOCOL_VERSION);
		json_end(&json);
		buf_add_byte(&out, '\n');
	} else {
		buf_add_str(&out, "titan " TITAN_VERSION "\n");
	}
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

/* Add names that only the master knows. If there is no master, or another failure, add nothing. */
static void ask_names(struct cli *cli, struct completion *completion)
{
	if (completion->cluster != NULL && statedir_find(completion->cluster, &cli->statedir) != 0)
		return;
	if (completion->cluster != NULL)
		cli->settings.socket = NULL;
	if (complete_asks(completion) && cli_connect(cli) != ERR_NONE)
		return;
	complete_add(&(struct complete_source){ .client = cli->client, .statedir = &cli->statedir, .ms = NAMES_MS }, completion);
}

static int complete_words(struct cli *cli)
{
	const struct invocation *invocation = cli->invocation;
	struct completion completion;

	session_complete(invocation->args + 1, invocation->arg_count - 1, &completion);
	ask_names(cli, &completion);
	if (completion.of == COMPLETE_FILES || completion.of == COMPLETE_DIRECTORIES)
		buf_addf(&completion.words, ":%s\n", completion.of == COMPLETE_FILES ? "files" : "directories");
	cli_print(cli, &completion.words);
	completion_free(&completion);
	return 0;
}

int cmd_completion(struct cli *cli)
{
	const char *shell = cli->invocation->args[0], *script;
	struct buf out = { 0 };

	if (strcmp(shell, "words") == 0)
		return complete_words(cli);
	script = complete_script(shell);
	if (script == NULL || cli->invocation->arg_count > 1) {
		error_set(&cli->error, ERR_USAGE, "there is no completion for '%s'; choose bash, zsh or fish",
			  script == NULL ? shell : cli->invocation->args[1]);
		return cli_fail(cli);
	}
	buf_add_str(&out, script);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}

static int no_such_help(struct cli *cli, const char *topic)
{
	const char *words[COMMAND_COUNT + 16];
	size_t topic_count, count = 0;
	const char *const *topics = help_topics(&topic_count);
	const char *nearest;

	for (int id = 1; id < COMMAND_COUNT; id++)
		words[count++] = command_table[id].verb;
	for (size_t i = 0; i < topic_count && i < 16; i++)
		words[count++] = topics[i];
	nearest = text_nearest(topic, words, count);
	if (nearest != NULL)
		error_set(&cli->error, ERR_NOT_FOUND, "there is no help on '%s'; did you mean '%s'?", topic, nearest);
	else
		error_set(&cli->error, ERR_NOT_FOUND, "there is no help on '%s'", topic);
	error_next(&cli->error, "titan help");
	return cli_fail(cli);
}

int cmd_help(struct cli *cli)
{
	const char *topic = cli->invocation->arg_count > 0 ? cli->invocation->args[0] : NULL;
	const struct command_info *command = topic ? command_find(topic) : NULL;
	struct buf out = { 0 };

	if (topic == NULL)
		help_overview(&cli->out, &out);
	else if (command != NULL)
		help_command(&cli->out, command, &out);
	else if (!help_topic(&cli->out, topic, &out))
		return no_such_help(cli, topic);
	cli_print(cli, &out);
	buf_free(&out);
	return 0;
}
