/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The chain of acts (I20): each row has a hash of itself and of the row before it. Whoever has a row's number and hash
 * from elsewhere can tell that no row up to it was changed; without that the owner of the file could write all of them
 * anew.
 */
#ifndef TITAN_CORE_ACTS_CHAIN_H
#define TITAN_CORE_ACTS_CHAIN_H

#include "base/sha256.h"
#include "core/rows/rows.h"
#include "proto/error.h"

/* Of all columns of the row but the last, which is the hash. */
void act_hash(const struct row_act *act, uint8_t ret_hash[SHA256_SIZE]);
/*
 * Does this row follow the act with this number and hash? number 0 and hash NULL: it is the first that is kept, and what
 * went before it isn't known. ERR_STORE_TRUST says what is wrong.
 */
enum err act_follows(const struct row_act *act, uint64_t number, const uint8_t hash[SHA256_SIZE], struct error *error);

#endif
