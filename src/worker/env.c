/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Builds the environment of jobs. HOME and the user's name are the only variables taken from the keeper's own
 * environment, unless jobs run as another user. Names that begin with TITAN_ are reserved; a job's specification may only set those of a fan-out, a push
 * back, a loop, and those that stand for values in its script.
 */
#include "worker/env.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/value_name.h"
#include "worker/job_user.h"

#define USER_PATH "/usr/local/bin:/usr/bin:/bin"
#define ROOT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define FACTS     9                      /* most strings that differ from attempt to attempt */

static void add(struct env *env, const char *name, const char *value)
{
	buf_addf(&env->base, "%s=%s", name, value);
	buf_add_byte(&env->base, '\0');
	env->base_count++;
}

/*
 * Set PATH to the system's directories, then this program's own, so that a job that runs titan gets this
 * program if the system has none.
 */
static void add_path(struct env *env, bool root)
{
	const char *path = root ? ROOT_PATH : USER_PATH;
	char own[PATH_MAX], with_own[PATH_MAX + 128];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char *slash;

	own[len > 0 ? len : 0] = '\0';
	slash = strrchr(own, '/');
	if (!slash || slash == own || strchr(own, ':')) {
		add(env, "PATH", path);
		return;
	}
	*slash = '\0';
	snprintf(with_own, sizeof(with_own), "%s:%s", path, own);
	add(env, "PATH", with_own);
}

void env_init(struct env *env, const char *worker, const char *cluster, const char *socket, const struct job_user *job_user)
{
	const char *home = job_user ? job_user->home : getenv("HOME"), *user = job_user ? job_user->name : getenv("USER");
	char number[24];

	*env = (struct env){ 0 };
	snprintf(number, sizeof(number), "%u", (unsigned)geteuid());
	if (!user || !user[0])
		user = getenv("LOGNAME");
	if (!user || !user[0])
		user = geteuid() == 0 ? "root" : number;
	add_path(env, geteuid() == 0 && !job_user);
	add(env, "HOME", home && home[0] == '/' ? home : "/");
	add(env, "USER", user);
	add(env, "LOGNAME", user);
	add(env, "SHELL", job_user ? job_user->shell : "/bin/sh");
	add(env, "LANG", "C.UTF-8");
	add(env, "TITAN_WORKER", worker);
	add(env, "TITAN_CLUSTER", cluster);
	add(env, "TITAN_SOCKET", socket);
}

void env_free(struct env *env)
{
	buf_free(&env->base);
	buf_free(&env->facts);
	mem_free(env->list);
	*env = (struct env){ 0 };
}

static size_t name_len(const char *string)
{
	return strcspn(string, "=");
}

static bool is_set(char *const *list, size_t count, const char *string)
{
	size_t len = name_len(string);

	for (size_t i = 0; i < count; i++)
		if (strncmp(list[i], string, len) == 0 && list[i][len] == '=')
			return true;
	return false;
}

/* Return the number of variables. */
static size_t write_facts(struct buf *out, const struct env_facts *facts)
{
	size_t count = FACTS - 2;        /* but TITAN_FILES and TITAN_OUTPUT */

	buf_clear(out);
	buf_addf(out, "TITAN_RUN=%" PRIu64, facts->run);
	buf_add_byte(out, '\0');
	buf_addf(out, "TITAN_JOB=%" PRIu64, facts->job);
	buf_add_byte(out, '\0');
	buf_addf(out, "TITAN_EPOCH=%" PRIu64, facts->epoch);
	buf_add_byte(out, '\0');
	buf_addf(out, ENV_MARK "%s.%" PRIu64 ".%" PRIu64, facts->mark, facts->job, facts->epoch);
	buf_add_byte(out, '\0');
	buf_addf(out, "TITAN_TOKEN=%s", facts->token);
	buf_add_byte(out, '\0');
	buf_addf(out, "TITAN_SCRATCH=%s", facts->dir);
	buf_add_byte(out, '\0');
	buf_addf(out, "TMPDIR=%s", facts->dir);
	buf_add_byte(out, '\0');
	if (facts->has_files) {
		buf_addf(out, "TITAN_FILES=%s", facts->dir);
		buf_add_byte(out, '\0');
		count++;
	}
	if (facts->puts_out) {
		buf_addf(out, "TITAN_OUTPUT=%s/" OUTPUTS_FILE, facts->dir);
		buf_add_byte(out, '\0');
		count++;
	}
	return count;
}

static bool may_be_given(const char *string)
{
	return strncmp(string, "TITAN_", 6) != 0 || strncmp(string, "TITAN_INDEX=", 12) == 0 ||
	       strncmp(string, "TITAN_ITEM=", 11) == 0 || strncmp(string, "TITAN_PUSHBACK=", 15) == 0 ||
	       strncmp(string, "TITAN_ITERATION=", 16) == 0 || value_name_is_made(slice_str(string));
}

char **env_compose(struct env *env, const struct env_facts *facts, const char *extra, size_t count)
{
	size_t used = 0, given, facts_count;
	char *at;

	if (env->cap < count + env->base_count + FACTS + 1) {
		env->cap = 2 * (count + env->base_count + FACTS + 1);
		env->list = mem_resize(env->list, env->cap, sizeof(*env->list));
	}
	/*
	 * If a name is given twice, keep the first value: some programs would read the last one and others the first.
	 */
	for (size_t i = 0; i < count; i++, extra += strlen(extra) + 1)
		if (name_len(extra) > 0 && extra[name_len(extra)] == '=' && may_be_given(extra) &&
		    (count > 64 || !is_set(env->list, used, extra)))
			env->list[used++] = (char *)extra;
	given = used;
	facts_count = write_facts(&env->facts, facts);
	at = (char *)env->facts.data;
	for (size_t i = 0; i < facts_count; i++, at += strlen(at) + 1)
		if (!is_set(env->list, given, at))
			env->list[used++] = at;
	at = (char *)env->base.data;
	for (size_t i = 0; i < env->base_count; i++, at += strlen(at) + 1)
		if (!is_set(env->list, given, at))
			env->list[used++] = at;
	env->list[used] = NULL;
	env->path = NULL;
	for (size_t i = 0; i < used && !env->path; i++)
		if (strncmp(env->list[i], "PATH=", 5) == 0)
			env->path = env->list[i] + 5;
	return env->list;
}

void env_leave(struct env *env, struct buf *ret_facts, char ***ret_list)
{
	*ret_facts = env->facts;
	*ret_list = env->list;
	env->facts = (struct buf){ 0 };
	env->list = NULL;
	env->cap = 0;
	env->path = NULL;
}
