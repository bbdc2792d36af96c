/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The life of a job as text: lists for titan-states(7), an ASCII drawing, and a graph for dot(1). */
#include "proto/dead.h"
#include "proto/reasons.h"
#include "proto/states.h"

#include "base/text.h"
#include "gen/gen.h"

static const char *const kinds[] = { [KIND_WAITS] = "waits", [KIND_HOLDS] = "holds", [KIND_TERMINAL] = "terminal" };
static const char *const colours[] = {
	[COLOUR_DEFAULT] = "default", [COLOUR_RED] = "red", [COLOUR_GREEN] = "green", [COLOUR_YELLOW] = "yellow",
	[COLOUR_BLUE] = "blue", [COLOUR_MAGENTA] = "magenta", [COLOUR_CYAN] = "cyan",
};

/* Write a glyph by its number, because manual pages are ASCII. */
static void glyph(const char *text, struct buf *out)
{
	uint32_t code;
	int width;

	text_next(slice_str(text), &code, &width);
	if (code < 0x80)
		buf_addf(out, "%s", text);
	else
		buf_addf(out, "\\[u%04X]", code);
}

static void state_line(const struct state_info *state, struct buf *out)
{
	buf_addf(out, ".It %s Ta %s Ta ", state->name, state->word);
	glyph(state->glyph, out);
	buf_addf(out, " Ta %s%s Ta %s Ta %s\n", state->ascii[0] == '.' || state->ascii[0] == '?' ? "\\&" : "",
		 state->ascii, kinds[state->kind], colours[state->colour]);
}

void gen_flags(struct buf *out)
{
	buf_add_str(out, ".Bl -tag -width LATER\n");
	for (int i = 0; i < FLAG_COUNT; i++) {
		buf_addf(out, ".It %s\n", flag_table[i].word);
		gen_sentence(flag_table[i].fact, out);
	}
	buf_add_str(out, ".El\n");
}

void gen_states(struct buf *out)
{
	buf_add_str(out, ".Bl -column quarantined ASSIGN xx xx terminal magenta\n"
			 ".It Sy state Ta Sy word Ta Sy glyph Ta Sy ASCII Ta Sy kind Ta Sy colour\n");
	for (int i = 0; i < STATE_COUNT; i++)
		state_line(&state_table[i], out);
	buf_add_str(out, ".El\n.Bl -tag -width quarantined\n");
	for (int i = 0; i < STATE_COUNT; i++) {
		buf_addf(out, ".It %s\n", state_table[i].name);
		gen_sentence(state_table[i].fact, out);
	}
	buf_add_str(out, ".El\n");
}

void gen_events(struct buf *out)
{
	buf_add_str(out, ".Bl -tag -width dispatch_timeout\n");
	for (int i = 0; i < EVENT_COUNT; i++) {
		buf_addf(out, ".It %s\n", event_names[i]);
		gen_sentence(event_texts[i], out);
	}
	buf_add_str(out, ".El\n");
}

void gen_moves(struct buf *out)
{
	for (int from = 0; from < STATE_COUNT; from++) {
		buf_addf(out, ".Ss From %s\n.Bl -column dispatch_timeout quarantined\n", state_table[from].name);
		for (int i = 0; i < MOVE_COUNT; i++) {
			const struct move_info *move = &move_table[i];

			if ((int)move->from != from)
				continue;
			buf_addf(out, ".It %s Ta %s Ta ", event_names[move->event], state_table[move->to].name);
			gen_text(move->reason, out);
			buf_add_byte(out, '\n');
		}
		buf_add_str(out, ".El\n");
	}
}

/* List the event together with all others that lead to the same states: they share a branch of the drawing. */
static void branch_events(int from, int event, uint32_t targets, struct buf *out)
{
	buf_add_str(out, event_names[event]);
	for (int other = event + 1; other < EVENT_COUNT; other++)
		if (state_targets((enum job_state)from, (enum job_event)other) == targets)
			buf_addf(out, ", %s", event_names[other]);
}

static bool branch_is_first(int from, int event, uint32_t targets)
{
	for (int before = 0; before < event; before++)
		if (state_targets((enum job_state)from, (enum job_event)before) == targets)
			return false;
	return targets != 0;
}

static int branch_count(int from)
{
	int count = 0;

	for (int event = 0; event < EVENT_COUNT; event++)
		count += branch_is_first(from, event, state_targets((enum job_state)from, (enum job_event)event));
	return count;
}

void gen_dead(struct buf *out)
{
	buf_add_str(out, ".Bl -tag -width Ds\n");
	for (int reason = DEAD_NONE + 1; reason < DEAD_COUNT; reason++) {
		buf_addf(out, ".It %s\n", dead_name((uint64_t)reason));
		gen_sentence(dead_text((uint64_t)reason), out);
	}
	buf_add_str(out, ".El\n");
}

void gen_reasons(struct buf *out)
{
	buf_add_str(out, ".Bl -tag -width Ds\n");
	for (int reason = REASON_NONE + 1; reason < REASON_COUNT; reason++) {
		buf_addf(out, ".It %s\n", reason_name((uint64_t)reason));
		gen_sentence(reason_text((uint64_t)reason), out);
	}
	buf_add_str(out, ".El\n");
}

void gen_diagram(struct buf *out)
{
	buf_add_str(out, ".Bd -literal\n");
	for (int from = 0; from < STATE_COUNT; from++) {
		int left = branch_count(from);

		buf_addf(out, "%s%s\n", state_table[from].name,
			 state_terminal((enum job_state)from) ? "  (terminal)" : "");
		for (int event = 0; event < EVENT_COUNT; event++) {
			uint32_t targets = state_targets((enum job_state)from, (enum job_event)event);
			const char *gap = "";

			if (!branch_is_first(from, event, targets))
				continue;
			buf_addf(out, "  %s-- ", --left > 0 ? "|" : "`");
			branch_events(from, event, targets, out);
			buf_add_str(out, "\n  ");
			buf_addf(out, "%s      --> ", left > 0 ? "|" : " ");
			for (int to = 0; to < STATE_COUNT; to++) {
				if ((targets >> to & 1) == 0)
					continue;
				buf_addf(out, "%s%s", gap, state_table[to].name);
				gap = " | ";
			}
			buf_add_byte(out, '\n');
		}
	}
	buf_add_str(out, ".Ed\n");
}

void gen_dot(struct buf *out)
{
	buf_add_str(out, "// A job's life, from proto/states.def. dot -Tsvg states.dot >states.svg\n"
			 "digraph states {\n"
			 "\trankdir=LR;\n"
			 "\tnode [shape=box, fontname=\"monospace\"];\n"
			 "\tedge [fontname=\"monospace\", fontsize=10];\n");
	for (int i = 0; i < STATE_COUNT; i++)
		buf_addf(out, "\t%s [label=\"%s\\n%s\"%s];\n", state_table[i].name, state_table[i].name,
			 state_table[i].word, state_terminal((enum job_state)i) ? ", peripheries=2" : "");
	for (int i = 0; i < MOVE_COUNT; i++)
		buf_addf(out, "\t%s -> %s [label=\"%s\"];\n", state_table[move_table[i].from].name,
			 state_table[move_table[i].to].name, event_names[move_table[i].event]);
	buf_add_str(out, "}\n");
}
