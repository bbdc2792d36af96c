/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by text_escape.c and text_width.c only. */
#ifndef TITAN_BASE_TEXT_INTERNAL_H
#define TITAN_BASE_TEXT_INTERNAL_H

#include "base/text.h"

#define SGR_PARAMS_MAX 16

struct sgr {
	unsigned params[SGR_PARAMS_MAX];
	size_t count;
};

/* Parse the SGR sequence (ESC [ numbers m) at the front; return its bytes, 0 if there is none. ret_sgr may be NULL. */
size_t text_sgr_parse(struct slice text, struct sgr *ret_sgr);

#endif
