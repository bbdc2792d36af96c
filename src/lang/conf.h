/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan.conf(5): settings in YAML, with lower precedence than options and the environment. Pure: the caller reads the
 * file and says which of the four kinds of file it is. A value is kept as the text that its option accepts, and is
 * checked here, where line and column are known.
 */
#ifndef TITAN_LANG_CONF_H
#define TITAN_LANG_CONF_H

#include "lang/dagline.h"
#include "proto/message.h"

struct dag_reader;
struct tree_node;

#define CONF_MAX 65536                   /* most bytes of a titan.conf */

enum conf_key {
#define CONF(ident, word, SHAPE, argument, least, most, places, variable, options, text) CONF_##ident,
#include "lang/conf.def"
#undef CONF
	CONF_COUNT
};

enum conf_shape {
	CONF_IS_NAME, CONF_IS_LABELS, CONF_IS_CHOICE, CONF_IS_NUMBER, CONF_IS_SPAN, CONF_IS_INTERVAL, CONF_IS_SIZE, CONF_IS_ADDRESSES,
	CONF_IS_TEAMS, CONF_IS_SHARE, CONF_IS_LATER,
};

enum conf_place {                        /* the four kinds of titan.conf files, as bits */
	FROM_CLUSTER = 1,                /* the titan.conf in the directory of a cluster's state */
	FROM_PROJECT = 2,                /* .titan.conf in the working directory or one above it */
	FROM_USER = 4,
	FROM_SYSTEM = 8,
	FROM_PEOPLE = FROM_PROJECT | FROM_USER | FROM_SYSTEM,
	FROM_MACHINE = FROM_CLUSTER | FROM_USER | FROM_SYSTEM,
};

struct conf_info {
	const char *word;
	enum conf_shape shape;
	const char *argument;
	uint64_t least, most;            /* smallest and largest number */
	unsigned places;
	const char *variable;            /* environment variable; "": none */
	const char *options;
	const char *text;
};

extern const struct conf_info conf_table[CONF_COUNT];

struct conf_team {                       /* a group of people */
	struct slice name;
	struct slice_list members;
};

struct conf_share {                      /* other users of this machine, and the socket for them */
	struct slice socket, group;      /* group: its name or number */
	struct conf_user { struct slice name; role_set roles; } *users;  /* name: the user's name or number */
	size_t user_count;
};

struct conf {                            /* the settings of one file; NULL: not set. Lists are joined by commas. */
	const char *values[CONF_COUNT];
	struct conf_team *teams;
	size_t team_count;
	struct conf_share share;
};

#define CONF_FILES 4

struct conf_files {                      /* all files that were read, those of higher precedence first */
	struct {
		const char *path;
		enum conf_place place;
		struct conf conf;
	} files[CONF_FILES];
	size_t count;
};

/* Parse a file. Texts of the result are in the arena. *ret_spot is set on failure only. */
enum err conf_parse(struct slice text, enum conf_place place, struct arena *arena, struct conf *ret,
		    struct dag_spot *ret_spot, struct error *error);
/* The value from the first file that sets the key; NULL: no file sets it. */
const char *conf_value(const struct conf_files *files, enum conf_key key);
/* The file that sets the key and counts; NULL: no file sets it. */
const struct conf *conf_setting(const struct conf_files *files, enum conf_key key);
/* conf_people.c: read the value of share or teams; *ret_shown is the value as one text. */
enum err conf_read_share(struct dag_reader *reader, const struct tree_node *node, struct conf *conf, const char **ret_shown);
enum err conf_read_teams(struct dag_reader *reader, const struct tree_node *node, struct conf *conf, const char **ret_shown);
/* Write which files may set the key, such as "the user's and the system's". */
void conf_places(unsigned places, struct buf *out);

#endif
