/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of the variables that stand for ${..} in the script of a job. */
#ifndef TITAN_PROTO_VALUE_NAME_H
#define TITAN_PROTO_VALUE_NAME_H

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

#define VALUE_PARAM "TITAN_P"            /* TITAN_P_ver for ${params.ver} */
#define VALUE_AXIS  "TITAN_M"            /* TITAN_M_os for ${matrix.os} */
#define VALUE_OUTPUT "TITAN_O"           /* TITAN_O_build__ver for ${jobs.build.outputs.ver} */
#define VALUE_CODED "X"                  /* TITAN_PX_a_2Db for ${params.a-b}: bytes that names of variables can't have are coded */

/* Does this variable, NAME or NAME=value, stand for a value? */
static inline bool value_name_is_made(struct slice name)
{
	static const char *const prefixes[] = {
		VALUE_PARAM "_", VALUE_PARAM VALUE_CODED "_", VALUE_AXIS "_", VALUE_AXIS VALUE_CODED "_", VALUE_OUTPUT "_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (name.len > strlen(prefixes[i]) && memcmp(name.data, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

#endif
