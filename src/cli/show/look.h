/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How things are shown on one stream: style, colours, glyphs, bars. */
#ifndef TITAN_CLI_LOOK_H
#define TITAN_CLI_LOOK_H

#include "base/buf.h"
#include "proto/states.h"

enum style { STYLE_HUMAN, STYLE_PLAIN, STYLE_JSON, STYLE_FORMAT };

struct look {                            /* how things are shown on one stream */
	enum style style;
	const char *format;
	bool colour;
	bool utf8;
	bool terminal;
	bool quiet;                      /* no header */
};

/* "▸ RUN", coloured. */
void look_state(const struct look *look, const struct state_info *state, struct buf *out);
void look_colour(const struct look *look, enum colour colour, enum attribute attribute, struct buf *out);
void look_plain(const struct look *look, struct buf *out);
/* A bar of this many cells. */
void look_bar(const struct look *look, uint64_t part, uint64_t whole, int cells, struct buf *out);

#endif
