/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan.conf(5): settings in YAML, which stand below options and the environment. Pure: whoever calls has read the file and
 * says which of the four places it is from. A setting is kept as the text that its option would take, and is checked here,
 * where its line and column are known.
 */
#ifndef TITAN_LANG_CONF_H
#define TITAN_LANG_CONF_H

#include "lang/dagline.h"

#define CONF_MAX 65536                   /* bytes of a file */

enum conf_key {
#define CONF(ident, word, SHAPE, argument, least, most, places, variable, options, text) CONF_##ident,
#include "lang/conf.def"
#undef CONF
	CONF_COUNT
};

enum conf_shape {
	CONF_IS_NAME, CONF_IS_NAMES, CONF_IS_CHOICE, CONF_IS_NUMBER, CONF_IS_SPAN, CONF_IS_INTERVAL, CONF_IS_SIZE, CONF_IS_LATER,
};

enum conf_place {                        /* the files, as bits */
	FROM_CLUSTER = 1,                /* in the directory of a cluster's state */
	FROM_PROJECT = 2,                /* .titan.conf in the working directory, or above it */
	FROM_USER = 4,
	FROM_SYSTEM = 8,
	FROM_PEOPLE = FROM_PROJECT | FROM_USER | FROM_SYSTEM,
	FROM_MACHINE = FROM_CLUSTER | FROM_USER | FROM_SYSTEM,
};

struct conf_info {
	const char *word;
	enum conf_shape shape;
	const char *argument;
	uint64_t least, most;            /* of a number */
	unsigned places;
	const char *variable;            /* of the environment; "": none */
	const char *options;
	const char *text;
};

extern const struct conf_info conf_table[CONF_COUNT];

struct conf {                            /* what one file says; NULL: nothing. Lists have commas between. */
	const char *values[CONF_COUNT];
};

#define CONF_FILES 4

struct conf_files {                      /* all that were read; what one says counts for those behind it, too */
	struct {
		const char *path;
		struct conf conf;
	} files[CONF_FILES];
	size_t count;
};

/* Texts of the result are in the arena. ret_spot is set on failure alone. */
enum err conf_parse(struct slice text, enum conf_place place, struct arena *arena, struct conf *ret,
		    struct dag_spot *ret_spot, struct error *error);
/* The first that says it; NULL: none does, or there are no files. */
const char *conf_value(const struct conf_files *files, enum conf_key key);
/* "the user's and the system's": the files that may say it. */
void conf_places(unsigned places, struct buf *out);

#endif
