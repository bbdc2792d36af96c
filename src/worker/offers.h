/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resources that a worker offers to jobs. */
#ifndef TITAN_WORKER_OFFERS_H
#define TITAN_WORKER_OFFERS_H

#include "proto/resource.h"

/*
 * Find the worker's resources. given: NAME=N with commas in between, or NULL. If cpus or memory aren't given, use those
 * of the machine, or as much of them as this process may use. text: the result in the same form.
 */
enum err offers_find(const char *given, struct resource_list *ret, char text[LIMIT_RESOURCES_TEXT_MAX],
		     struct error *error);

/* Parse a control group's cpu.max and memory.max; exported for their test. False: no limit. */
bool offers_parse_cpu_max(const char *text, uint64_t *ret_thousandths);
bool offers_parse_memory_max(const char *text, uint64_t *ret_bytes);

#endif
