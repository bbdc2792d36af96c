/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A helper has a few seconds. One that hangs in its driver can't even be killed: it stays in its place until it is gone, so
 * there is never more than one. Where the program isn't installed nothing is started.
 */
#include "worker/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"

#define CARDS_LOOKED_AT 64
#define EVERY_NS (5 * NS_PER_S)          /* between the starts of two helpers */
#define ABSENT_NS (60 * NS_PER_S)        /* how long not to look for the program again */
#define TIME_NS (5 * NS_PER_S)           /* the time that a helper has */
#define VALID_NS (30 * NS_PER_S)         /* how long a told load counts */

uint64_t gpu_of_kernel(const char *sysfs)
{
	uint64_t busiest = 0, percent;
	struct buf text = { 0 };
	char path[4096];

	for (int card = 0; card < CARDS_LOOKED_AT; card++) {
		snprintf(path, sizeof(path), "%s/class/drm/card%d/device/gpu_busy_percent", sysfs, card);
		buf_clear(&text);
		if (io_read_file(AT_FDCWD, path, 64, &text) == 0 && sscanf(buf_cstr(&text), "%" SCNu64, &percent) == 1 &&
		    percent <= 100 && percent > busiest)
			busiest = percent;
	}
	buf_free(&text);
	return busiest * 10;
}

bool gpu_parse(const char *text, uint64_t *ret_permille)
{
	uint64_t busiest = 0;
	bool any = false;

	for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
		char *end;
		unsigned long percent;

		line += strspn(line, " \t");
		if (*line < '0' || *line > '9')
			continue;
		percent = strtoul(line, &end, 10);
		end += strspn(end, " \t\r%");
		if (percent > 100 || (*end != '\n' && *end != '\0'))
			continue;
		any = true;
		busiest = percent > busiest ? percent : busiest;
	}
	if (any)
		*ret_permille = busiest * 10;
	return any;
}

/* Find the program in PATH. Only absolute directories count, so that a job's directory can't hold one. */
static bool find_program(char path[4096])
{
	const char *at = getenv("PATH");

	for (; at && *at; at += strcspn(at, ":"), at += *at == ':') {
		size_t len = strcspn(at, ":");

		if (*at != '/' || len > 4000)
			continue;
		snprintf(path, 4096, "%.*s/" GPU_HELPER, (int)len, at);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

static void run_program(const char *path, int out_fd, pid_t parent)
{
	char *const argv[] = { (char[]){ GPU_HELPER }, (char[]){ "--query-gpu=utilization.gpu" }, (char[]){ "--format=csv,noheader,nounits" }, NULL };
	char *const environment[] = { (char[]){ "LC_ALL=C" }, NULL };
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent || null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDERR_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
	    close_range(3, ~0U, 0) != 0)
		_exit(127);
	execve(path, argv, environment);
	_exit(127);
}

static void start(struct gpu_helper *helper, int64_t now_ns)
{
	pid_t parent = getpid();
	char path[4096];
	int pipe_fds[2];

	helper->next_ns = now_ns + ABSENT_NS;
	if (!find_program(path) || pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) != 0)
		return;
	helper->next_ns = now_ns + EVERY_NS;
	helper->pid = fork();
	if (helper->pid == 0)
		run_program(path, pipe_fds[1], parent);
	close(pipe_fds[1]);
	if (helper->pid < 0) {
		helper->pid = 0;
		close(pipe_fds[0]);
		return;
	}
	helper->fd = pipe_fds[0];
	helper->started_ns = now_ns;
	helper->len = 0;
}

/* Read what the helper has written; more than the text holds is dropped. */
static void take_output(struct gpu_helper *helper)
{
	char rest[256];
	ssize_t count;

	do {
		bool full = helper->len == GPU_TEXT_MAX;

		count = read(helper->fd, full ? rest : helper->text + helper->len, full ? sizeof(rest) : GPU_TEXT_MAX - helper->len);
		helper->len += !full && count > 0 ? (size_t)count : 0;
	} while (count > 0 || (count < 0 && errno == EINTR));
	helper->text[helper->len] = '\0';
}

static void look(struct gpu_helper *helper, int64_t now_ns)
{
	pid_t ended;
	int status = 0;

	take_output(helper);
	ended = waitpid(helper->pid, &status, WNOHANG);
	if (ended == 0) {
		if (now_ns - helper->started_ns >= TIME_NS)
			kill(helper->pid, SIGKILL);
		return;
	}
	take_output(helper);             /* what it wrote between the read and its end */
	close(helper->fd);
	helper->pid = 0;
	if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 && gpu_parse(helper->text, &helper->permille))
		helper->told_ns = now_ns;
}

uint64_t gpu_of_helper(struct gpu_helper *helper, int64_t now_ns)
{
	if (helper->pid > 0)
		look(helper, now_ns);
	if (helper->pid == 0 && now_ns >= helper->next_ns)
		start(helper, now_ns);
	return helper->told_ns > 0 && now_ns - helper->told_ns < VALID_NS ? helper->permille : 0;
}

void gpu_helper_end(struct gpu_helper *helper)
{
	if (helper->pid == 0)
		return;
	kill(helper->pid, SIGKILL);
	close(helper->fd);
	helper->pid = 0;
}
