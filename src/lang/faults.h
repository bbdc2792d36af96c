/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The errors of one text. A reader that can go on behind an error keeps the error here, so that the author of the text
 * sees all errors at once.
 */
#ifndef TITAN_LANG_FAULTS_H
#define TITAN_LANG_FAULTS_H

#include "lang/dagline.h"

#define FAULTS_MAX 20

struct dag_fault {
	struct dag_spot spot;            /* len is 0 if the error has no place in the text */
	struct error error;
};

struct dag_faults {
	struct dag_fault at[FAULTS_MAX]; /* ascending by place; errors without a place come first */
	size_t count;
	size_t left_out;                 /* further errors, for which there was no room */
};

/* Add an error. An error with the same place and text as one before is dropped. */
void faults_add(struct dag_faults *faults, struct dag_spot spot, const struct error *error);

#endif
