/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events in words and as records. */
#ifndef TITAN_CLI_EVENT_WORDS_H
#define TITAN_CLI_EVENT_WORDS_H

#include "cli/show/records.h"
#include "proto/message.h"

/* What people ask for with --kind; a job's event that is about a gate is one of gates. */
enum event_class { EVENTS_JOB, EVENTS_RUN, EVENTS_GATE, EVENTS_WORKER, EVENTS_SCHEDULE, EVENTS_ACT, EVENTS_MASTER };

#define EVENT_CLASSES "job, run, gate, worker, schedule, act, master"

enum event_class event_class(const struct rec_event_row *row);
/* The classes in a list with commas, as bits 1 << N; 0: one of the words is none. */
uint64_t event_classes(struct slice words);

/* Write an event as a line for people. */
void event_line(const struct rec_event_row *row, const struct look *look, struct buf *out);
void event_records_begin(struct records *records, struct arena *arena);
void event_records_add(struct records *records, const struct rec_event_row *row);

#endif
