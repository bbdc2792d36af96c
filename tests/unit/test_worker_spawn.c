/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The start of a process where the kernel, or what stands for it, lets no process share memory with another: qemu-user. */
#include "tests/greatest.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/spawn.h"

/* From here on clone refuses to share memory, except with a thread. */
static bool share_no_memory(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, CLONE_VM | CLONE_THREAD),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLONE_VM, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* In a process of its own: start the program; returns its exit code, or 200 and more if that failed. */
static int started_apart(const char *name, const char *word)
{
	char *words[] = { NULL, (char *)name, (char *)"-c", (char *)word, NULL };
	char *none[] = { NULL };
	struct spawn_request request = { .argv = words + 1, .envp = none, .path = "/usr/bin:/bin", .dir_fd = -1, .dir = "/", .cage_fd = -1 };
	struct spawner *late = NULL;
	int status, status_fd;
	pid_t pid;

	if (spawn_prepare() < 0 || !share_no_memory())
		return 200;
	request.in_fd = request.out_fd = request.err_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (spawn_run(&request, &pid, &status_fd, &late) != 0 || late)
		return 201;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 202;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 203;
}

static int in_a_child(const char *name, const char *word)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(started_apart(name, word));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST process_starts_as_a_copy_where_memory_cant_be_shared(void)
{
	ASSERT_EQ_FMT(7, in_a_child("sh", "exit 7"), "%d");
	ASSERT_EQ_FMT(0, in_a_child("/bin/sh", "true"), "%d");
	/* The copy can't say why it started nothing. */
	ASSERT_EQ_FMT(127, in_a_child("/nowhere/program", ""), "%d");
	PASS();
}

SUITE(spawn)
{
	RUN_TEST(process_starts_as_a_copy_where_memory_cant_be_shared);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(spawn);
	GREATEST_MAIN_END();
}
