/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of schedules call of each other; what others do is in internal.h. */
#ifndef TITAN_CORE_SCHEDULE_H
#define TITAN_CORE_SCHEDULE_H

#include "core/internal.h"

/* schedule_list.c */
void schedule_drop(struct core *core, size_t at);
void schedule_parts_release(struct schedule *schedule);
void schedule_row_put(struct core *core, const struct schedule *schedule);
void schedule_parts_rows(struct core *core, const struct schedule *schedule, size_t count, bool deleted);

/* schedule.c */
/* A run of it, for the time that is due. */
enum err schedule_begin(struct core *core, struct schedule *schedule, int64_t due_ms, struct error *error);
int64_t schedule_next_after(const struct schedule *schedule, int64_t wall_ms);   /* 0: there is none */
bool schedule_has_come(const struct core *core, int64_t ms);
bool schedule_next_may_begin(const struct schedule *schedule);                   /* the next in its line */
void schedule_arm(struct core *core, struct schedule *schedule);
void schedule_arm_queue(struct core *core, struct schedule *schedule);
void schedule_disarm(struct core *core, uint64_t *stamp);
void schedule_times_come(struct core *core, struct schedule *schedule);          /* all that has come by now */

#endif
