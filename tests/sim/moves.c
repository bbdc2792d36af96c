/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counts how often each move of proto/states.def was made. Moves that the simulator can't reach are listed in
 * not_driven.def.
 */
#include "sim.h"

#include <stdio.h>

#define STATE_ANY STATE_COUNT
#define EVENT_ANY EVENT_COUNT

static const struct {
	int from, event, to;
	const char *reason;
} not_driven[] = {
#define NOT_DRIVEN(from, event, to, reason) { STATE_##from, EVENT_##event, STATE_##to, reason },
#include "not_driven.def"
#undef NOT_DRIVEN
};

static const char *reason_of(const struct move_info *move)
{
	for (size_t i = 0; i < sizeof(not_driven) / sizeof(not_driven[0]); i++)
		if ((not_driven[i].from == STATE_ANY || not_driven[i].from == (int)move->from) &&
		    (not_driven[i].event == EVENT_ANY || not_driven[i].event == (int)move->event) &&
		    (not_driven[i].to == STATE_ANY || not_driven[i].to == (int)move->to))
			return not_driven[i].reason;
	return NULL;
}

static void print_move(const struct move_info *move, unsigned long long made, const char *reason)
{
	printf("%-12s %-17s %-12s %llu%s%s\n", state_table[move->from].name, event_names[move->event],
	       state_table[move->to].name, made, reason ? "  " : "", reason ? reason : "");
}

/*
 * Print the counts. Returns false if a move of not_driven.def was made, or another was made less often than least.
 */
bool moves_print(uint64_t least)
{
	size_t driven = 0, never = 0, rare = 0, wrong = 0;

	for (int listed = 0; listed < 2; listed++) {
		if (listed)
			printf("not driven:\n");
		for (size_t i = 0; i < MOVE_COUNT; i++) {
			const struct move_info *move = &move_table[i];
			uint64_t made = sim_totals.moves[move->from][move->event][move->to];
			const char *reason = reason_of(move);

			if ((reason != NULL) != (listed != 0))
				continue;
			print_move(move, (unsigned long long)made, reason);
			driven += !listed;
			never += !listed && made == 0;
			rare += !listed && made < least;
			wrong += listed && made > 0;
		}
	}
	printf("moves=%u driven=%u never=%u under_%llu=%u listed_and_made=%u\n", (unsigned)MOVE_COUNT, (unsigned)driven,
	       (unsigned)never, (unsigned long long)least, (unsigned)rare, (unsigned)wrong);
	if (wrong)
		printf("moves: some were made that tests/sim/not_driven.def says can't be: its lines must go\n");
	return wrong == 0 && rare == 0;
}
