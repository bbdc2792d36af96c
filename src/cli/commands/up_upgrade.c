/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan up --upgrade: puts this program in the place of the running master. Workers keep their jobs while no master runs, and
 * the next master loads the same store, so only the master must end. Its program is held open until this one serves: if it
 * doesn't, the earlier one is started again, even if its file has been replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/text.h"
#include "cli/ask/ask.h"
#include "cli/ask/query.h"
#include "cli/commands/up.h"
#include "cli/daemon/daemon.h"

#define ARGS_MAX      40                 /* most words of the master's options */
#define CMDLINE_MAX   65536
#define RECONNECT_MS  15000
#define DELETED       " (deleted)"       /* the kernel appends this to the path of a program whose file is gone */

static uint64_t master_pid(const struct cli *cli)
{
	return client_welcome(cli->client)->pid;
}

/* Is this open file the program of this process? */
static bool is_this_program(int fd)
{
	struct stat its, own;

	return fstat(fd, &its) == 0 && stat("/proc/self/exe", &own) == 0 && its.st_dev == own.st_dev && its.st_ino == own.st_ino;
}

static int open_program(uint64_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/exe", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool upgrade_is_due(struct cli *cli, char *ret_path)
{
	size_t tail = strlen(DELETED);
	int fd = open_program(master_pid(cli));
	char path[64];
	ssize_t len;
	bool due;

	if (fd < 0)
		return false;            /* a master of another user */
	due = !is_this_program(fd);
	close(fd);
	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/exe", master_pid(cli));
	len = readlink(path, ret_path, PATH_MAX - 1);
	ret_path[len > 0 ? len : 0] = '\0';
	if (len > (ssize_t)tail && strcmp(ret_path + len - tail, DELETED) == 0)
		ret_path[(size_t)len - tail] = '\0';
	return due;
}

/* Is this word an option of titan master, with its value in the next word? Only --ready-fd isn't for another process. */
static const struct option_info *option_of_master(const char *word)
{
	const struct option_info *option = command_find("master")->options;

	for (; option->id != OPT_none; option++)
		if (option->id != OPT_master_ready_fd && strncmp(word, "--", 2) == 0 && strcmp(word + 2, option->word) == 0)
			return option;
	return NULL;
}

/* List the options with which the master was started. The words point into *text. */
static void list_options(uint64_t pid, struct buf *text, const char *words[ARGS_MAX + 1])
{
	size_t count = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%" PRIu64 "/cmdline", pid);
	if (io_read_file(AT_FDCWD, path, CMDLINE_MAX, text) != 0)
		buf_clear(text);
	buf_add_byte(text, '\0');
	for (size_t at = 0, len; at < text->len && count + 2 <= ARGS_MAX; at += len + 1) {
		const char *word = (const char *)text->data + at;
		const struct option_info *option = option_of_master(word);

		len = strlen(word);
		if (option == NULL)
			continue;
		words[count++] = word;
		if (option->argument == NULL || at + len + 1 >= text->len)
			continue;
		at += len + 1;
		words[count] = (const char *)text->data + at;
		len = strlen(words[count++]);
	}
	words[count] = NULL;
}

static enum err start_again(struct cli *cli, int program_fd, const char *const *options)
{
	struct error why = cli->error, again;

	if (daemon_start_program(&cli->statedir, program_fd, "master", "master.log", options, NULL, &again) == ERR_NONE)
		error_set(&cli->error, why.code, "the master wasn't replaced, and its earlier program runs again: %s", why.text);
	else
		error_set(&cli->error, why.code, "the master wasn't replaced: %s; its earlier program doesn't start again: %s", why.text,
			  again.text);
	return why.next[0] ? error_next(&cli->error, "%s", why.next) : cli->error.code;
}

enum err upgrade_master(struct cli *cli)
{
	uint64_t pid = master_pid(cli);
	const char *options[ARGS_MAX + 1];
	struct buf text = { 0 };
	char path[PATH_MAX];
	int program_fd = open_program(pid);
	enum err err;

	if (program_fd < 0)
		return error_system(&cli->error, errno, "can't read the program of the master (pid %" PRIu64 ")", pid);
	list_options(pid, &text, options);
	err = down_master_alone(cli);
	if (err == ERR_NONE) {
		err = daemon_start(&cli->statedir, "master", "master.log", options, NULL, &cli->error);
		/* ERR_BUSY: another process, such as a supervisor, has started a master meanwhile. */
		if (err != ERR_NONE && err != ERR_BUSY)
			err = start_again(cli, program_fd, options);
		else
			err = cli_reconnect(cli, RECONNECT_MS);
	}
	if (err == ERR_NONE && upgrade_is_due(cli, path)) {
		error_set(&cli->error, ERR_BUSY, "another process started a master as soon as the earlier one had ended, and not "
			  "from the file of this command");
		err = error_next(&cli->error, "titan doctor, then restart the master where it is started from");
	}
	close(program_fd);
	buf_free(&text);
	return err;
}
