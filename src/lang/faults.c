/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the first errors of a text, in the order of their places. */
#include "lang/faults.h"

static size_t place(struct dag_spot spot)
{
	return spot.len > 0 ? spot.at + 1 : 0;
}

void faults_add(struct dag_faults *faults, struct dag_spot spot, const struct error *error)
{
	size_t at = 0;

	for (size_t i = 0; i < faults->count; i++) {
		if (place(faults->at[i].spot) == place(spot) && strcmp(faults->at[i].error.text, error->text) == 0)
			return;
		at += place(faults->at[i].spot) <= place(spot);
	}
	if (faults->count == FAULTS_MAX)
		faults->left_out++;
	else
		faults->count++;
	if (at == FAULTS_MAX)
		return;
	memmove(&faults->at[at + 1], &faults->at[at], (faults->count - at - 1) * sizeof(faults->at[0]));
	faults->at[at] = (struct dag_fault){ spot, *error };
}
