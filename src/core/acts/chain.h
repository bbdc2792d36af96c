/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chain of acts (invariant I20): each row has a hash over itself and over the hash of the row before it. With a
 * row's number and hash from elsewhere one can verify that no row up to it was changed. Without that, the owner of
 * the file could rewrite all rows.
 */
#ifndef TITAN_CORE_ACTS_CHAIN_H
#define TITAN_CORE_ACTS_CHAIN_H

#include "base/sha256.h"
#include "core/rows/row.h"
#include "proto/error.h"

/* Hash all columns of the row except the last, which is the hash. */
void act_hash(const struct row_act *act, uint8_t ret_hash[SHA256_SIZE]);
/*
 * Check that this row follows the act with this number and hash. number 0 and hash NULL: the row is the first one
 * kept, so what came before can't be checked. The text of ERR_STORE_TRUST says what is wrong.
 */
enum err act_follows(const struct row_act *act, uint64_t number, const uint8_t hash[SHA256_SIZE], struct error *error);

#endif
