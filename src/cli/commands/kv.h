/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of titan kv. */
#ifndef TITAN_CLI_KV_H
#define TITAN_CLI_KV_H

#include "cli/session/cli.h"
#include "cli/show/records.h"
#include "proto/limits.h"

struct kv_place {                        /* a key, or the beginning of keys, in its namespace */
	uint64_t space, run;
	struct slice definition;
	struct slice prefix;             /* the namespace as typed, with its colon; empty: none was typed */
	struct slice key;
};

/* kv_key.c */
/*
 * Read run:K, run/4127:K, def:K, def/nightly:K, cluster:K or, inside a job, K. With `whole` nothing at all stands for all
 * keys of the default namespace: inside a job that of its run, else that of the cluster.
 */
enum err kv_read_place(struct cli *cli, const char *word, bool whole, struct kv_place *ret);
/* The key as commands accept it: the namespace and the key. */
struct slice kv_address(struct arena *arena, const struct kv_place *place, struct slice key);
/* Read the value of VALUE, --file, or standard input. at: index of the argument. */
enum err kv_read_value(struct cli *cli, size_t at, struct slice *ret);
/*
 * Send a request and wait for the answer. A change gets a request key; if the connection is lost it is sent again, and is
 * done once. With --dry-run a change is only checked.
 */
enum err kv_call(struct cli *cli, const struct kv_place *place, const struct rec_value_op *ops, size_t count, struct msg_valued *ret);
bool kv_changes(const struct rec_value_op *ops, size_t count);   /* does any of the operations change something? */
void kv_dry_tell(struct cli *cli, bool changes);         /* with --dry-run: tell a person that nothing was changed */
/* Two cells: the value as text, and in base64 if it is no text. */
void kv_value_cells(struct records *records, struct slice value, bool there);
const char *kv_kind_word(uint64_t kind);

/* kv_watch.c, kv_txn.c */
int kv_watch(struct cli *cli);
int kv_txn(struct cli *cli);

#endif
