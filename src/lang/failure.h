/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words that say what happens when a job fails, the same in pipelines and one-line graphs. */
#ifndef TITAN_LANG_FAILURE_H
#define TITAN_LANG_FAILURE_H

#include "proto/message.h"

#define RETRY_ON_WORDS "exit, signal, spawn, timeout"
#define CONTINUE_WORDS "failed, timed_out, denied"
#define RESTART_WORDS "always, on_failure or never"

/* The bit of enum retry_on or enum continue_on for this word; 0: there is no such word. */
uint64_t retry_on_bit(struct slice word);
uint64_t continue_bit(struct slice word);
/* Write the words for these bits of enum continue_on, such as "failed, denied". */
void continue_words(uint64_t bits, struct buf *out);
bool worker_death_by_name(struct slice word, enum worker_death *ret);
/* restart of a service; false: there is no such word */
bool restart_by_name(struct slice word, uint64_t *ret);
const char *restart_name(uint64_t restart);
/* Parse "5s" or "5s..2m"; *ret_last_ms is 0 for the first form. Return NULL, or what is wrong. */
const char *backoff_parse(struct slice text, uint64_t *ret_first_ms, uint64_t *ret_last_ms);
/* Sort the codes and drop duplicates. */
void codes_sort(struct u64_list *codes);

#endif
