/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opens an editor on a file with the text. The file is in a directory of its own, which only this user can enter, because an
 * editor may put backups beside the file. The directory is removed when the editor has ended, also if the editor failed.
 */
#include "cli/session/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/session/output.h"
#include "proto/limits.h"

struct edited {
	char directory[PATH_MAX / 2];
	char path[PATH_MAX];
};

static const char *editor_name(void)
{
	const char *editor = getenv("VISUAL");

	if (!editor || editor[0] == '\0')
		editor = getenv("EDITOR");
	return editor && editor[0] != '\0' ? editor : "vi";
}

static enum err write_file(struct cli *cli, const struct edited *edited, struct slice text)
{
	int err, fd = open(edited->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return error_system(&cli->error, errno, "can't make %s", edited->path);
	err = io_write_all(fd, text.data, text.len);
	close(fd);
	return err == 0 ? ERR_NONE : error_system(&cli->error, -err, "can't write %s", edited->path);
}

static enum err make_file(struct cli *cli, const char *name, struct slice text, struct edited *ret)
{
	const char *place = getenv("XDG_RUNTIME_DIR");

	if (!place || place[0] != '/')
		place = getenv("TMPDIR");
	snprintf(ret->directory, sizeof(ret->directory), "%s/titan-edit.XXXXXX", place && place[0] == '/' ? place : "/tmp");
	if (!mkdtemp(ret->directory)) {
		int why = errno;

		ret->directory[0] = '\0';
		return error_system(&cli->error, why, "can't make a directory for the editor in %s", place && place[0] == '/' ? place : "/tmp");
	}
	snprintf(ret->path, sizeof(ret->path), "%s/%s", ret->directory, name);
	return write_file(cli, ret, text);
}

/* Remove the directory with the file and all that the editor left there, such as backups. */
static void remove_file(const struct edited *edited)
{
	if (edited->directory[0] != '\0')
		io_remove_tree(AT_FDCWD, edited->directory);
}

/*
 * In the new process: execute the editor. An editor that is named without options is executed directly. Otherwise a shell
 * splits the options, as git does; the path of the file is an argument of that shell and never part of its script.
 */
static void run_editor(const char *editor, const char *path)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (strpbrk(editor, "|&;<>()$`\\\"' \t\n*?[#~=%"))
		execl("/bin/sh", "sh", "-c", "eval \"$1 \\\"\\$2\\\"\"", "sh", editor, path, (char *)NULL);
	else
		execlp(editor, editor, path, (char *)NULL);
	_exit(127);
}

static enum err open_editor(struct cli *cli, const struct edited *edited)
{
	const char *editor = editor_name();
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	int status;
	pid_t pid;

	/* Ctrl-C is for the editor: titan ignores it until the editor has ended. */
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	pid = fork();
	if (pid == 0)
		run_editor(editor, edited->path);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	if (pid < 0)
		return error_system(&cli->error, errno, "can't start the editor");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return ERR_NONE;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		error_set(&cli->error, ERR_NOT_FOUND, "the editor '%s' can't be started", editor);
	else
		error_set(&cli->error, ERR_DECLINED, "the editor '%s' ended with %s %d, so nothing was done", editor,
			  WIFEXITED(status) ? "status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return error_next(&cli->error, "set EDITOR or VISUAL to another one");
}

static enum err read_file(struct cli *cli, const struct edited *edited, struct slice *ret)
{
	struct buf text = { 0 };
	int err = io_read_file(AT_FDCWD, edited->path, LIMIT_PIPELINE_MAX, &text);

	if (err == 0)
		*ret = arena_copy(&cli->arena, buf_slice(&text));
	buf_free(&text);
	return err == 0 ? ERR_NONE : error_system(&cli->error, -err, "can't read %s after the editor has ended", edited->path);
}

/* Let the person edit the file once, and check the text. *ret_again: the check refused the changed text. */
static enum err edit_once(struct cli *cli, const struct edited *edited, struct slice original, editor_check *check_cb, void *arg, bool *ret_again)
{
	struct slice text;
	enum err err = open_editor(cli, edited);

	*ret_again = false;
	if (err != ERR_NONE || (err = read_file(cli, edited, &text)) != ERR_NONE)
		return err;
	if (slice_eq(text, original))
		return error_set(&cli->error, ERR_DECLINED, "the text wasn't changed, so nothing was done");
	err = check_cb(cli, text, arg);
	*ret_again = err != ERR_NONE;
	return err;
}

enum err editor_edit(struct cli *cli, const char *name, struct slice text, editor_check *check_cb, void *arg)
{
	struct edited edited = { 0 };
	enum err err = make_file(cli, name, text, &edited);
	bool again = err == ERR_NONE;

	while (again) {
		err = edit_once(cli, &edited, text, check_cb, arg, &again);
		again = again && cli_offer(cli, "edit it again");
	}
	remove_file(&edited);
	return err;
}
