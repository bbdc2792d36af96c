/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acts (I20): a request that changed something has exactly one act row, in its own turn; a refused request has
 * none; each act row has the hash of the one before it.
 */
#include "oracle.h"

void oracle_asked(struct sim_world *world, const struct core_input *input, const struct outbox *outbox, size_t rows, size_t frames)
{
	bool refused = false, changed = false;
	size_t acts = 0;

	for (size_t i = rows; i < outbox->row_count; i++)
		acts += outbox->rows[i].table == TABLE_act;
	for (size_t i = frames; i < outbox->frame_count; i++) {
		const struct outgoing *frame = &outbox->frames[i];

		if (frame->conn != input->conn)
			continue;
		refused = refused || (frame->op == OP_ERROR && frame->error.id == input->request);
		changed = changed || (frame->op == OP_OK && frame->ok.id == input->request && frame->ok.count > 0 &&
				      input->kind != INPUT_SUBMIT) ||
			  (frame->op == OP_ACCEPTED && frame->accepted.id == input->request && !frame->accepted.existing);
	}
	if (refused && acts > 0)
		world_fail(world, "I20: request %u was refused, and is an act", (unsigned)input->request);
	if (changed && acts != 1)
		world_fail(world, "I20: request %u changed something, and has %u acts", (unsigned)input->request, (unsigned)acts);
	if (acts > 1)
		world_fail(world, "I20: request %u has %u acts", (unsigned)input->request, (unsigned)acts);
	for (size_t i = rows; acts > 0 && i < outbox->row_count; i++)
		if (outbox->rows[i].table == TABLE_act && (uint64_t)outbox->rows[i].act.principal != input->by.principal)
			world_fail(world, "I20: an act is said to be somebody else's");
}

static void acts_row(struct sim_world *world, const struct row *row, struct oracle_job *job, const struct outbox *outbox)
{
	struct oracle *oracle = &world->oracle;
	const struct row_act *act = &row->act;

	(void)job;
	if (row->table != TABLE_act || row->deleted)
		return;
	if (act->act != oracle->act + 1)
		world_fail(world, "I20: act %u follows act %u", (unsigned)act->act, (unsigned)oracle->act);
	if (act->previous.len != SHA256_SIZE || act->hash.len != SHA256_SIZE ||
	    memcmp(act->previous.data, oracle->act_hash, SHA256_SIZE) != 0)
		world_fail(world, "I20: act %u doesn't have the hash of the one before it", (unsigned)act->act);
	if (act->turn != (int64_t)outbox->turn)
		world_fail(world, "I20: act %u says another turn than its own", (unsigned)act->act);
	oracle->act = act->act;
	memcpy(oracle->act_hash, act->hash.data, SHA256_SIZE);
}

const struct oracle_check oracle_acts = { .row = acts_row };
