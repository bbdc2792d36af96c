/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inputs: the files and directories that a job finds in its own directory, as input records, one after the other. */
#ifndef TITAN_PROTO_INPUT_H
#define TITAN_PROTO_INPUT_H

#include "proto/message.h"

#define INPUT_HASH_SIZE 32
#define INPUT_OWN ".titan"               /* how the names of titan's own files in that directory begin */

/* Is this a name that an input may have: relative, without . and .. and empty parts, and none of titan's own? */
bool input_path_fits(struct slice path);
/* Do the files of this directory stand beside all others, under the names that they have in it? */
bool input_is_all(const struct rec_input *input);
/* Take the next record off *rest. False: there is none, or the bytes aren't an input. */
bool input_next(struct slice *rest, struct arena *arena, struct rec_input *ret);
/* Return the reason why a job can't have these inputs; NULL: it can. *ret_path gets the name of the wrong input; it points into inputs. */
const char *inputs_fault(struct slice inputs, struct slice *ret_path);
/* The same of a list of contents, whose records have no paths. */
const char *contents_fault(struct slice contents);
/* Are the names equal, or is one inside the other? */
bool inputs_collide(struct slice one, struct slice other);
/* Is there an input with this name, or one inside it or around it? */
bool inputs_have_path(struct slice inputs, struct slice path);
/* Is the content in the list? */
bool inputs_have(struct slice inputs, const struct rec_input *input);

#endif
