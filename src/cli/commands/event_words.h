/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events in words and as records. */
#ifndef TITAN_CLI_EVENT_WORDS_H
#define TITAN_CLI_EVENT_WORDS_H

#include "cli/show/records.h"
#include "proto/message.h"

/* The classes of events for --kind. An event of a job that is about its gate is of class gate. */
enum event_class { EVENTS_JOB, EVENTS_RUN, EVENTS_GATE, EVENTS_WORKER, EVENTS_SCHEDULE, EVENTS_ACT, EVENTS_MASTER };

#define EVENT_CLASSES "job, run, gate, worker, schedule, act, master"

enum event_class event_class(const struct rec_event_row *row);
/* Parse a list of classes divided by commas into bits 1 << N; 0: a word is unknown. */
uint64_t event_classes(struct slice words);

/* Write an event as a line for people. */
void event_line(const struct rec_event_row *row, const struct look *look, struct buf *out);
void event_records_begin(struct records *records, struct arena *arena);
void event_records_add(struct records *records, const struct rec_event_row *row);

#endif
