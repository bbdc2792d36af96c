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
	bool plain;                      /* the text has no quotes in the file: ~ and null mean "no value" */
	struct slice key;                /* key of a node in a map; keys are unique */
	struct dag_spot key_spot;
	struct tree_node *next;          /* the next node in the same list or map */
	struct tree_node *first, *last;
	size_t count;
};

/* Parse reader->text; *ret_root is NULL if the file is empty. */
enum err tree_read(struct dag_reader *reader, struct tree_node **ret_root);
/* Find a key in a map; NULL if there is none. */
const struct tree_node *tree_find(const struct tree_node *map, const char *key);
/* Add a copy of this node to a map or list. */
void tree_add(struct arena *arena, struct tree_node *map, const struct tree_node *node);
/* Add the keys of two maps to a third; of a key in both, the value of `over` counts. */
void tree_lay(struct arena *arena, struct tree_node *map, const struct tree_node *below, const struct tree_node *over);
void tree_drop(struct tree_node *map, const char *key);

#endif
