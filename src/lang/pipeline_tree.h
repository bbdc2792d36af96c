/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML as a tree of texts, lists and maps, each with its place. No anchors, tags or second documents. */
#ifndef TITAN_LANG_PIPELINE_TREE_H
#define TITAN_LANG_PIPELINE_TREE_H

#include "lang/dagline_internal.h"

enum tree_kind { TREE_TEXT, TREE_LIST, TREE_MAP };

struct tree_node {
	enum tree_kind kind;
	struct dag_spot spot;
	struct slice text;               /* of a TREE_TEXT */
	bool plain;                      /* it is written without quotes */
	struct slice key;                /* of a node in a map; keys are unique */
	struct dag_spot key_spot;
	struct tree_node *next;          /* next in the same list or map */
	struct tree_node *first, *last;
	size_t count;
};

/* Parse reader->text; *ret_root is NULL if the file has no value. */
enum err tree_read(struct dag_reader *reader, struct tree_node **ret_root);
/* NULL if the map has no such key. */
const struct tree_node *tree_find(const struct tree_node *map, const char *key);

#endif
