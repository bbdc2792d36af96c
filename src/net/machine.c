/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "net/machine.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/wordfile.h"

#define FIELDS 10

extern char **environ;

bool destination_is_good(const char *text)
{
	const char *at = strrchr(text, '@'), *host = at ? at + 1 : text;

	if (text[0] == '-' || text[0] == '\0' || host[0] == '-' || host[0] == '\0' || at == text || strlen(text) >= DESTINATION_MAX)
		return false;
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("@._-:[]%+", *c))
			return false;
	return true;
}

void machine_name_of(const char *destination, char ret_name[LIMIT_NAME_MAX_LEN + 1])
{
	const char *at = strrchr(destination, '@');
	size_t len = 0;

	for (const char *c = at ? at + 1 : destination; *c && len < LIMIT_NAME_MAX_LEN; c++)
		if (*c != '[' && *c != ']')
			ret_name[len++] = isalnum((unsigned char)*c) || strchr("._-", *c) ? *c : '-';
	ret_name[len] = '\0';
}

static void fields_of(struct machine *machine, struct word_field ret[FIELDS])
{
	const struct word_field fields[FIELDS] = {
		{ "destination", machine->destination, sizeof(machine->destination) },
		{ "ssh_config", machine->ssh_config, sizeof(machine->ssh_config) },
		{ "token", machine->token, sizeof(machine->token) },
		{ "base", machine->base, sizeof(machine->base) },
		{ "hash", machine->hash, sizeof(machine->hash) },
		{ "address", machine->address, sizeof(machine->address) },
		{ "slots", machine->slots, sizeof(machine->slots) },
		{ "pool", machine->pool, sizeof(machine->pool) },
		{ "labels", machine->labels, sizeof(machine->labels) },
		{ "stopped", machine->stopped, sizeof(machine->stopped) },
	};

	memcpy(ret, fields, sizeof(fields));
}

static void path_of(const struct statedir *statedir, const char *name, char out[PATH_MAX])
{
	char below[LIMIT_NAME_MAX_LEN + 16];

	snprintf(below, sizeof(below), MACHINES "/%s", name);
	statedir_path(statedir, below, out);
}

enum err machine_read(const struct statedir *statedir, const char *name, struct machine *ret, struct error *error)
{
	struct word_field fields[FIELDS];
	char path[PATH_MAX];
	enum err err;

	*ret = (struct machine){ .name = "" };
	if (!text_is_name(slice_str(name)))
		return error_set(error, ERR_NOT_FOUND, "'%s' isn't the name of a worker", name);
	path_of(statedir, name, path);
	if (access(path, F_OK) != 0)
		return error_set(error, ERR_NOT_FOUND, "worker %s wasn't put on a machine by titan worker add", name);
	fields_of(ret, fields);
	err = words_read_file(path, fields, FIELDS, error);
	/* These values become part of a command, so check them again: the file may have been changed by hand. */
	if (err == ERR_NONE && (!destination_is_good(ret->destination) || !machine_path_is_plain(ret->base) ||
				!text_is_name(slice_str(ret->token)) || !text_is_name(slice_str(ret->hash))))
		err = error_set(error, ERR_INVALID, "%s: destination, base, token or hash of the machine are wrong", path);
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return err;
}

enum err machine_write(const struct statedir *statedir, const struct machine *machine, struct error *error)
{
	struct machine copy = *machine;
	struct word_field fields[FIELDS];
	char path[PATH_MAX];
	int result;

	statedir_path(statedir, MACHINES, path);
	result = io_make_dirs(path, 0700);
	if (result < 0)
		return error_system(error, -result, "can't make the directory %s", path);
	path_of(statedir, machine->name, path);
	fields_of(&copy, fields);
	return words_write_file(path, fields, FIELDS, error);
}

enum err machine_remove(const struct statedir *statedir, const char *name, struct error *error)
{
	char path[PATH_MAX];

	path_of(statedir, name, path);
	if (unlink(path) != 0 && errno != ENOENT)
		return error_system(error, errno, "can't remove %s", path);
	return ERR_NONE;
}

bool machine_path_is_plain(const char *path)
{
	if (path[0] != '/' || strlen(path) >= PATH_MAX / 4)
		return false;
	for (const char *c = path; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("/._-+@,=", *c))
			return false;
	return true;
}

void machine_far(const struct machine *machine, const char *hash, const char *verb, const char *argument, struct buf *out)
{
	buf_addf(out, "exec /bin/sh -c 'exec %s/titan.%.16s far %s %s/%s%s%s'", machine->base, hash, verb, machine->base,
		 machine->token, argument[0] ? " " : "", argument);
}

void machine_ssh(const struct machine *machine, const char *command, const char *ret_argv[MACHINE_SSH_ARGS])
{
	/* ControlPath and StrictHostKeyChecking aren't set here, so that the person's ssh configuration decides. */
	static const char *const begin[] = {
		"ssh", "-T", "-oBatchMode=yes", "-oConnectTimeout=10", "-oServerAliveInterval=15", "-oServerAliveCountMax=3",
		"-oRemoteCommand=none", "-oRequestTTY=no", "-oClearAllForwardings=yes", "-oForwardAgent=no", "-oForwardX11=no",
		"-oPermitLocalCommand=no",
	};
	size_t count = 0;

	for (; count < sizeof(begin) / sizeof(begin[0]); count++)
		ret_argv[count] = begin[count];
	if (machine->ssh_config[0] != '\0') {
		ret_argv[count++] = "-F";
		ret_argv[count++] = machine->ssh_config;
	}
	ret_argv[count++] = "--";
	ret_argv[count++] = machine->destination;
	ret_argv[count++] = command;
	ret_argv[count] = NULL;
}

/* The environment for ssh: messages in English, no password windows, and with alone no agent. */
static const char **environment(bool alone)
{
	const char **list;
	size_t count = 0, used = 0;

	while (environ[count])
		count++;
	list = mem_array(count + 2, sizeof(*list));
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) != 0 && strncmp(environ[i], "SSH_ASKPASS", 11) != 0 &&
		    !(alone && strncmp(environ[i], "SSH_AUTH_SOCK=", 14) == 0))
			list[used++] = environ[i];
	list[used++] = "LC_ALL=C";
	list[used] = NULL;
	return list;
}

int machine_spawn(const char *const *argv, int in_fd, int out_fd, int err_fd, bool alone, pid_t *ret_pid)
{
	const char **env = environment(alone);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t none, defaults;
	int result;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, err_fd, STDERR_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
	result = posix_spawnp(ret_pid, argv[0], &files, &attributes, (char *const *)argv, (char *const *)env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	mem_free(env);
	return -result;
}
