/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the label requirements that people write, such as "zone in (a, b)". */
#ifndef TITAN_LANG_LABEL_H
#define TITAN_LANG_LABEL_H

#include "base/arena.h"
#include "proto/error.h"

/* Turn a requirement into its form on the wire (proto/label.h); values of a list are sorted there, each once. */
enum err label_parse(struct slice text, struct arena *arena, struct slice *ret, struct error *error);

#endif
