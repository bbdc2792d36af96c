/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.def as constants such as LIMIT_FRAME_MAX. */
#ifndef TITAN_PROTO_LIMITS_H
#define TITAN_PROTO_LIMITS_H

enum limit {
#define LIMIT(name, value, doc) LIMIT_##name = value,
#include "proto/limits.def"
#undef LIMIT
};

#endif
