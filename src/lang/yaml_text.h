/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes texts as YAML values, each in the plainest form that reads back as the same text. */
#ifndef TITAN_LANG_YAML_TEXT_H
#define TITAN_LANG_YAML_TEXT_H

#include "proto/message.h"

/* Write a value of a block map or list: plain or quoted, or several lines as a block with so many spaces before each. */
void yaml_text(struct buf *out, struct slice text, size_t indent);
/* Write a value inside [..] or {..}: plain or quoted. */
void yaml_word(struct buf *out, struct slice text);
/* Write the words as a list, such as [a, "b c"]. */
void yaml_words(struct buf *out, const struct slice_list *words);

#endif
