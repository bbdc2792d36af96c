/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which contents are wanted, and who may read them: what versions of assets and artifacts of jobs name, and what was uploaded or asked for within the
 * last hour. Knowing a hash gives no right: a person may read what they uploaded and what their own assets name; only people who
 * see everything may read all. For the thread of the goods.
 */
#ifndef TITAN_MASTER_GOODS_BOOK_H
#define TITAN_MASTER_GOODS_BOOK_H

#include "base/map.h"
#include "goods/blobs.h"

struct goods_asker {
	struct slice name;               /* name of the principal */
	bool all;                        /* it sees everything */
};

struct goods_book {
	struct blobs *blobs;
	struct name_map contents;        /* from a hash to struct content */
	struct name_map versions;        /* from NAME@VERSION to struct version_ref */
	struct map jobs;                 /* from serial numbers of jobs to the struct version_ref of their artifacts */
	struct name_map owners;          /* names of principals, to struct owner */
	uint32_t owner_count;
	/* the manifest that book_lists read last, and the hashes of its files, sorted */
	uint8_t listed[SHA256_SIZE];
	uint8_t *list;
	size_t list_count;
};

struct goods_sum {                       /* a checked file or directory */
	uint64_t bytes, files;
	uint64_t content;                /* bytes of the file or of the manifest */
};

void book_free(struct goods_book *book);
/* Is the content there, and may the asker read it? If so, it stays for a while. */
bool book_has(struct goods_book *book, const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE], uint64_t *ret_size);
/* Note that the asker uploaded the content. */
void book_uploaded(struct goods_book *book, const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE]);
/* Are the content and, of a directory, all its files there, and may the asker read them? If so, they stay for a while. */
enum err book_check(struct goods_book *book, const struct goods_asker *asker, const uint8_t hash[SHA256_SIZE], bool dir,
		    struct goods_sum *ret_sum, struct error *error);
/* Does the manifest with this hash name the content? Consecutive questions about one manifest read it once. */
bool book_lists(struct goods_book *book, const uint8_t manifest[SHA256_SIZE], const uint8_t hash[SHA256_SIZE]);
/* A version of an asset is durable, or its removal is: then contents that nothing else names are removed. */
void book_put(struct goods_book *book, struct slice version, struct slice owner, const uint8_t hash[SHA256_SIZE], bool dir);
void book_remove(struct goods_book *book, struct slice version);
/* The row of a job that names this manifest is durable; it replaces what the job named before. */
void book_put_job(struct goods_book *book, uint64_t job, struct slice owner, const uint8_t hash[SHA256_SIZE]);
void book_remove_job(struct goods_book *book, uint64_t job);     /* the job may have none */
/* Remove all contents that nothing names and nobody asked for within the last hour. Returns how many were removed. */
uint64_t book_sweep(struct goods_book *book);

#endif
