/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.def as constants: LIMIT_FRAME_MAX and so on. */
#ifndef TITAN_PROTO_LIMITS_H
#define TITAN_PROTO_LIMITS_H

enum limit {
#define LIMIT(name, value, doc) LIMIT_##name = value,
#include "proto/limits.def"
#undef LIMIT
};

#endif
