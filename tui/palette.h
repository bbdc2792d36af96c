/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The 256 colours of terminals: 8 dark ones, 8 bright ones, a cube of 6x6x6, and 24 greys. */
#ifndef TITAN_TUI_PALETTE_H
#define TITAN_TUI_PALETTE_H

#include "proto/states.h"

unsigned palette_nearest(unsigned red, unsigned green, unsigned blue);   /* returns one of the cube or a grey */
unsigned palette_ansi(unsigned index);           /* returns the nearest of the 8 dark colours, 0 to 7 */
enum colour palette_colour(unsigned index);      /* returns the dashboard's nearest colour; black, grey, white: the default */

#endif
