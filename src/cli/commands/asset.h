/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of titan asset and titan artifact: sending contents to the master, and fetching them. */
#ifndef TITAN_CLI_ASSET_H
#define TITAN_CLI_ASSET_H

#include "cli/session/cli.h"
#include "goods/manifest.h"

struct asset_source {                    /* a file or directory of this machine, read and hashed */
	enum asset_kind kind;
	uint8_t hash[SHA256_SIZE];       /* of the file, or of the manifest */
	uint64_t bytes, files;
	int fd;                          /* the file or the directory */
	const char *path;
	struct manifest manifest;        /* of a directory */
	struct buf manifest_bytes;
	struct arena arena;
};

struct asset_name {                      /* NAME or NAME@VERSION */
	struct slice name;
	uint64_t version;                /* 0: not given */
};

/* cmd_asset.c */
enum err asset_name_read(struct cli *cli, struct slice word, struct asset_name *ret);
/* Find the version, or the newest one. */
enum err asset_version_find(struct cli *cli, const struct asset_name *wanted, struct rec_asset_row *ret);

/* asset_send.c */
enum err asset_read(struct cli *cli, const char *path, struct asset_source *ret);
void asset_source_free(struct asset_source *source);
/*
 * Upload all that the master lacks, and go on after a lost connection. Returns how many bytes were sent. cli is connected.
 */
enum err asset_send(struct cli *cli, const struct asset_source *source, uint64_t *ret_sent);

/* asset_fetch.c */
/* Write a version to a new file or directory; path "-": standard output. replace: an existing file may be replaced. */
enum err asset_fetch(struct cli *cli, const struct rec_asset_row *row, const char *path, bool replace);
/* Read the manifest with this hash; its paths point into bytes, the entries are in the arena. */
enum err asset_fetch_manifest(struct cli *cli, struct slice hash, struct buf *bytes, struct arena *arena, struct manifest *ret);
/* Write all that the manifest names to a new directory. */
enum err asset_fetch_entries(struct cli *cli, const struct manifest *manifest, const char *path);

#endif
