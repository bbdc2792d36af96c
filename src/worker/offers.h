/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a worker offers to jobs that ask for more than a slot. */
#ifndef TITAN_WORKER_OFFERS_H
#define TITAN_WORKER_OFFERS_H

#include "proto/resource.h"

/*
 * given: NAME=N with commas between, or NULL. What isn't given of cpus and memory is this machine's, or of it
 * what this process may use. text: all of it, written as given is.
 */
enum err offers_find(const char *given, struct resource_list *ret, char text[LIMIT_RESOURCES_TEXT_MAX],
		     struct error *error);

/* For its test: a control group's cpu.max and memory.max; false: no bound. */
bool offers_parse_cpu_max(const char *text, uint64_t *ret_thousandths);
bool offers_parse_memory_max(const char *text, uint64_t *ret_bytes);

#endif
