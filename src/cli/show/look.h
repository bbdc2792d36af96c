/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How output looks on one stream: style, colours, glyphs, bars. */
#ifndef TITAN_CLI_LOOK_H
#define TITAN_CLI_LOOK_H

#include "base/buf.h"
#include "proto/states.h"

enum style { STYLE_HUMAN, STYLE_PLAIN, STYLE_JSON, STYLE_FORMAT };

struct look {                            /* how output looks on one stream */
	enum style style;
	const char *format;
	bool colour;
	bool utf8;
	bool terminal;
	size_t columns;                  /* width of the terminal; 0: none, or unknown, so nothing is cut */
	bool quiet;                      /* print tables without a header */
	bool expanded;                   /* print each field of a row on a line of its own, instead of tables */
};

/* Write "▸ RUN" in colour. */
void look_state(const struct look *look, const struct state_info *state, struct buf *out);
void look_colour(const struct look *look, enum colour colour, enum attribute attribute, struct buf *out);
void look_plain(const struct look *look, struct buf *out);
/* Draw a bar of this many cells that shows which part of whole is done. */
void look_bar(const struct look *look, uint64_t part, uint64_t whole, int cells, struct buf *out);

#endif
