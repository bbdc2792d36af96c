/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML as a tree of texts, lists and maps that know their place. No anchors, tags or second documents. */
#ifndef TITAN_LANG_PIPELINE_TREE_H
#define TITAN_LANG_PIPELINE_TREE_H

#include "lang/dagline_internal.h"

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree_node {
	enum tree_kind kind;
	struct dag_spot spot;
	struct slice text;               /* of a TREE_TEXT */
	bool plain;                      /* it stands without quotes */
	struct slice key;                /* in a map; a key is there once */
	struct dag_spot key_spot;
	struct tree_node *next;          /* in its list or map */
	struct tree_node *first, *last;
	size_t count;
};

/* reader->text is read; *ret_root is NULL for a file without a value. */
enum err tree_read(struct dag_reader *reader, struct tree_node **ret_root);
const struct tree_node *tree_find(const struct tree_node *map, const char *key);         /* or NULL */

#endif
