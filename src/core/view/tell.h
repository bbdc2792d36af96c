/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence about who has a lock, which other parts of core need as well. */
#ifndef TITAN_CORE_VIEW_TELL_H
#define TITAN_CORE_VIEW_TELL_H

#include "core/state.h"

/* view_lock.c: describe who has a lock; job: the job that waits for it, or NULL */
void lock_tell(const struct core *core, const struct lock *lock, const struct job *job, struct buf *words);

#endif
