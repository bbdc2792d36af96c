/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What other parts of core tell with the words of views. */
#ifndef TITAN_CORE_VIEW_TELL_H
#define TITAN_CORE_VIEW_TELL_H

#include "core/state.h"

/* view_lock.c: who has it, in words; job: that waits for it, or NULL */
void lock_tell(const struct core *core, const struct lock *lock, const struct job *job, struct buf *words);

#endif
