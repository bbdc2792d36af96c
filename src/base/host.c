/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the identity of the machine from its files. */
#include "base/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/map.h"

#define FILE_MAX 256

static bool read_id(const char *path, const char *kind, char out[HOST_ID_SIZE])
{
	struct buf text = { 0 };
	size_t len = 0;

	if (io_read_file(AT_FDCWD, path, FILE_MAX, &text) == 0)
		len = strcspn(buf_cstr(&text), " \t\r\n");
	if (len > 0 && len < HOST_ID_SIZE - 16)
		snprintf(out, HOST_ID_SIZE, "%s:%.*s", kind, (int)len, buf_cstr(&text));
	buf_free(&text);
	return out[0] != '\0';
}

void host_id(char out[HOST_ID_SIZE])
{
	out[0] = '\0';
	if (!read_id("/etc/machine-id", "machine", out))
		read_id("/proc/sys/kernel/random/boot_id", "boot", out);
}

uint64_t host_view(void)
{
	struct stat mounts, root;
	uint64_t facts[4];

	if (stat("/proc/self/ns/mnt", &mounts) != 0 || stat("/", &root) != 0)
		return 0;
	facts[0] = mounts.st_dev;
	facts[1] = mounts.st_ino;
	facts[2] = root.st_dev;
	facts[3] = root.st_ino;
	return hash_bytes(facts, sizeof(facts), 1) | 1;
}
