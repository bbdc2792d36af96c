/* SPDX-License-Identifier: GPL-3.0-or-later */
/* titan doctor's checks of the state directory, its disk, and how the processes of a job can be kept together. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/statedir.h"
#include "cli/commands/doctor.h"
#include "worker/cage.h"
#include "worker/spawn.h"

#define MIB              UINT64_C(1048576)
#define DISK_LEAST_MIB   64              /* MiB; with less the master soon refuses runs */
#define DISK_ENOUGH_MIB  1024
#define FILES_ENOUGH     10000
#define FUTURE_S         60

/* Find the directory itself, or the nearest existing one above it. */
static void existing(const char *dir, char out[PATH_MAX])
{
	char *slash;

	snprintf(out, PATH_MAX, "%s", dir);
	while (access(out, F_OK) != 0 && errno == ENOENT && (slash = strrchr(out, '/')) != NULL)
		slash == out ? (void)(slash[1] = '\0') : (void)(*slash = '\0');
}

/* Check owner and mode. Returns false if the directory isn't there. */
static bool check_owner(const char *dir, struct findings *findings)
{
	char text[PATH_MAX + 128], next[PATH_MAX + 128];
	struct stat info;

	if (lstat(dir, &info) != 0) {
		if (errno == ENOENT) {
			snprintf(text, sizeof(text), "the state directory %s doesn't exist yet; titan up makes it", dir);
			finding_add(findings, "directory", FINDING_OK, text, NULL);
		} else {
			snprintf(text, sizeof(text), "titan can't read the state directory %s: %s", dir, strerror(errno));
			snprintf(next, sizeof(next), "ls -ld %s", dir);
			finding_add(findings, "directory", FINDING_PROBLEM, text, next);
		}
		return false;
	}
	if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
		snprintf(text, sizeof(text), "%s %s", dir, S_ISDIR(info.st_mode) ? "belongs to another user" : "isn't a directory");
		snprintf(next, sizeof(next), "set TITAN_STATE to a directory of your own; ls -ld %s", dir);
		finding_add(findings, "directory", FINDING_PROBLEM, text, next);
	} else if (info.st_mode & (S_IRWXG | S_IRWXO)) {
		snprintf(text, sizeof(text), "other users may enter %s, so titan refuses to use it", dir);
		snprintf(next, sizeof(next), "chmod 700 %s", dir);
		finding_add(findings, "directory", FINDING_PROBLEM, text, next);
	} else {
		snprintf(text, sizeof(text), "%s is yours alone", dir);
		finding_add(findings, "directory", FINDING_OK, text, NULL);
	}
	return true;
}

/* Report a parent directory that every user may write: another user could replace the state directory. */
static void check_exposed(const struct statedir *statedir, struct findings *findings)
{
	char above[PATH_MAX], text[PATH_MAX + 128], next[PATH_MAX + 64];

	if (!statedir_is_exposed(statedir, above))
		return;
	snprintf(text, sizeof(text), "every user may write to %s, and so could replace the state directory in it", above);
	snprintf(next, sizeof(next), "chmod o-w %s", above);
	finding_add(findings, "directory", FINDING_ADVICE, text, next);
}

/* SQLite's locks and shared memory don't work on network file systems. */
static void check_filesystem(const char *dir, struct findings *findings)
{
	static const struct { long type; const char *name; } remote[] = {
		{ 0x6969, "NFS" }, { 0x517b, "SMB" }, { (long)0xff534d42, "CIFS" }, { (long)0xfe534d42, "SMB 2" }, { 0x01021997, "9P" },
	};
	struct statfs info;
	char text[PATH_MAX + 128];

	for (size_t i = 0; statfs(dir, &info) == 0 && i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((long)info.f_type == remote[i].type) {
			snprintf(text, sizeof(text), "%s is on a network file system (%s), on which file locks are unreliable",
				 dir, remote[i].name);
			finding_add(findings, "directory", FINDING_PROBLEM, text, "set TITAN_STATE to a directory on a local disk");
		}
}

static void check_disk(const char *dir, struct findings *findings)
{
	struct statvfs info;
	uint64_t free_mib;
	enum finding_state verdict;
	char text[PATH_MAX + 128], next[PATH_MAX + 128];

	if (statvfs(dir, &info) != 0)
		return;
	snprintf(next, sizeof(next), "free space (df %s), or remove old runs: titan prune --dry-run --older 30d", dir);
	if (info.f_flag & ST_RDONLY) {
		snprintf(text, sizeof(text), "%s is on a file system that is mounted read-only", dir);
		finding_add(findings, "disk", FINDING_PROBLEM, text, "set TITAN_STATE to a directory on another disk");
		return;
	}
	free_mib = (uint64_t)info.f_bavail * info.f_frsize / MIB;
	verdict = free_mib < DISK_LEAST_MIB ? FINDING_PROBLEM : free_mib < DISK_ENOUGH_MIB ? FINDING_ADVICE : FINDING_OK;
	snprintf(text, sizeof(text), "%" PRIu64 " MiB are free on the disk of %s", free_mib, dir);
	finding_add(findings, "disk", verdict, text, verdict == FINDING_OK ? NULL : next);
	if (info.f_files > 0 && info.f_favail < FILES_ENOUGH) {
		snprintf(text, sizeof(text), "only %" PRIu64 " more files can be made on the disk of %s", (uint64_t)info.f_favail, dir);
		finding_add(findings, "disk", info.f_favail < FILES_ENOUGH / 10 ? FINDING_PROBLEM : FINDING_ADVICE, text, next);
	}
}

/* A store written in the future means that the clock was set back since. */
static void check_future(const struct statedir *statedir, struct findings *findings)
{
	char path[PATH_MAX];
	struct stat info;

	if (stat(statedir_path(statedir, "titan.db", path), &info) == 0 && info.st_mtime > time(NULL) + FUTURE_S)
		finding_add(findings, "clock", FINDING_ADVICE, "the store was last written at a time in the future: the clock was set back", "date; timedatectl");
}

static void check_containment(struct findings *findings)
{
	struct cages *cages = NULL;
	char mark[40], text[160];
	int failed, pids;

	snprintf(mark, sizeof(mark), "doctor-%d", (int)getpid());
	failed = cages_open(mark, &cages);
	cages_close(cages);
	if (failed == 0) {
		finding_add(findings, "containment", FINDING_OK, "each job can have a control group, which no process of the job can leave", NULL);
		return;
	}
	pids = spawn_try_own_pids();
	if (pids == 0)
		snprintf(text, sizeof(text), "control groups can't be made (%s); each job can have its own process numbers instead",
			 strerror(-failed));
	else
		snprintf(text, sizeof(text), "jobs have neither control groups (%s) nor process-number spaces (%s): a process that a job hides may outlive the job", strerror(-failed), strerror(pids));
	finding_add(findings, "containment", pids == 0 ? FINDING_OK : FINDING_ADVICE, text,
		    pids == 0 ? NULL : "systemd-run --user --scope -p Delegate=yes titan worker start");
}

void doctor_place(struct cli *cli, struct findings *findings)
{
	char dir[PATH_MAX];

	existing(cli->statedir.dir, dir);
	if (check_owner(cli->statedir.dir, findings)) {
		check_exposed(&cli->statedir, findings);
		check_future(&cli->statedir, findings);
	}
	check_filesystem(dir, findings);
	check_disk(dir, findings);
	check_containment(findings);
}
