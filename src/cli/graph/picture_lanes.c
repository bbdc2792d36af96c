/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Draws a graph as lines of text, like the dashboard: lanes on the left, then name, state, details and parents. Below a
 * folded fan-out its first failed jobs are listed.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/graph/picture.h"
#include "cli/show/look.h"
#include "cli/show/row_words.h"
#include "tui/lanes.h"

#define LANES_UNKNOWN 80                 /* assumed width of the output if it isn't known */
#define NAME_WIDEST   40
#define FAILED_SHOWN  8
#define PARENTS_SHOWN 400                /* most bytes of a job's list of parents, which may be thousands */

struct drawing {
	const struct picture *picture;
	const struct look *look;
	struct lanes lanes;
	size_t name_width;
	struct buf line;
	size_t width;                    /* width of the line so far */
	struct buf *out;
};

/* ---- writing one line of the picture ---- */

/* Add a text as far as it fits; it must be escaped already. */
static void add(struct drawing *drawing, struct slice text, const struct state_info *face)
{
	size_t width = text_width(text), len = text.len;

	if (drawing->look->columns > 0 && drawing->width + width > drawing->look->columns)
		len = text_clip(text, drawing->look->columns > drawing->width ? drawing->look->columns - drawing->width : 0, &width);
	if (face)
		look_colour(drawing->look, face->colour, face->attribute, &drawing->line);
	buf_add(&drawing->line, text.data, len);
	if (face)
		look_plain(drawing->look, &drawing->line);
	drawing->width += width;
}

static void add_str(struct drawing *drawing, const char *text)
{
	add(drawing, slice_str(text), NULL);
}

static void pad(struct drawing *drawing, size_t width)
{
	while (drawing->width < width)
		add_str(drawing, " ");
}

static void end_line(struct drawing *drawing)
{
	while (drawing->line.len > 0 && drawing->line.data[drawing->line.len - 1] == ' ')
		drawing->line.len--;
	buf_add_byte(&drawing->line, '\n');
	buf_add_slice(drawing->out, buf_slice(&drawing->line));
	buf_clear(&drawing->line);
	drawing->width = 0;
}

static const char *glyph(const struct drawing *drawing, const struct state_info *face)
{
	return drawing->look->utf8 ? face->glyph : face->ascii;
}

/* Draw the lanes of a row. node: text for the cell of the row's node, or NULL. */
static void add_lanes(struct drawing *drawing, const uint8_t lanes[LANES_MAX], const struct state_info *node)
{
	bool ascii = !drawing->look->utf8;

	for (int i = 0; i < drawing->lanes.width && i < LANES_MAX; i++) {
		if (lanes[i] & LANE_NODE && node)
			add(drawing, slice_str(glyph(drawing, node)), node);
		else
			add_str(drawing, lane_text(lanes[i] & 15u, ascii));
		add_str(drawing, lanes[i] & LANE_RIGHT ? lane_text(LANE_LEFT | LANE_RIGHT, ascii) : " ");
	}
}

/* ---- nodes ---- */

static void add_count(struct drawing *drawing, enum job_state state, uint32_t count)
{
	char text[32];

	if (count == 0)
		return;
	snprintf(text, sizeof(text), "%s%" PRIu32, glyph(drawing, &state_table[state]), count);
	add(drawing, slice_str(text), &state_table[state]);
	add_str(drawing, " ");
}

static struct tally count_members(const struct picture *picture, const struct fold_node *node, uint32_t counts[STATE_COUNT])
{
	for (uint32_t i = 0; i < node->member_count; i++)
		counts[picture->graph.states[picture->fold.members[node->member_start + i]]]++;
	return tally_of(counts);
}

static enum job_state group_state(const struct tally *tally, const uint32_t counts[STATE_COUNT])
{
	if (tally->run > 0)
		return counts[STATE_RUNNING] > 0 ? STATE_RUNNING : STATE_STOPPING;
	if (tally->queue > 0)
		return counts[STATE_READY] > 0 ? STATE_READY : STATE_ASSIGNED;
	if (tally->wait > 0)
		return STATE_WAITING;
	if (tally->fail > 0)
		return STATE_FAILED;
	return tally->ok > 0 ? STATE_SUCCEEDED : STATE_SKIPPED;
}

static const struct state_info *job_face(const struct picture *picture, uint32_t job)
{
	const struct rec_job_row row = { .state = picture->graph.states[job], .dead = picture->graph.jobs[job].dead };

	return job_look(&row);
}

static void add_outcome(struct drawing *drawing, uint32_t at)
{
	const struct tui_job *job = &drawing->picture->graph.jobs[at];
	const struct rec_job_row row = {
		.state = drawing->picture->graph.states[at], .outcome = job->outcome, .code = job->code,
		.started_ms = job->started_ms, .ended_ms = job->ended_ms,
	};
	struct arena arena = { 0 };
	struct buf text = { 0 };
	int64_t span = job->ended_ms > 0 ? job_span_ms(&row, job->ended_ms) : -1;

	if (row.state != STATE_SUCCEEDED)
		text_escape(&text, job_outcome_text(&row, &arena), TEXT_KEEP_NONE);
	if (span >= 0) {
		buf_add_str(&text, text.len ? " " : "");
		text_add_span(&text, span);
	}
	if (text.len > 0) {
		buf_add_str(&text, "  ");
		add(drawing, buf_slice(&text), NULL);
	}
	buf_free(&text);
	arena_free(&arena);
}

static void add_parents(struct drawing *drawing, uint32_t number)
{
	const struct fold *fold = &drawing->picture->fold;
	struct buf text = { 0 };
	uint32_t k = fold->parent_start[number];

	for (; k < fold->parent_start[number + 1] && text.len < PARENTS_SHOWN; k++) {
		buf_add_str(&text, text.len ? ", " : drawing->look->utf8 ? "← " : "< ");
		picture_name(drawing->picture, fold->parents[k], &text);
	}
	if (k < fold->parent_start[number + 1])
		buf_addf(&text, " and %" PRIu32 " more", fold->parent_start[number + 1] - k);
	add(drawing, buf_slice(&text), NULL);
	buf_free(&text);
}

static size_t names_at(const struct drawing *drawing)
{
	return 2 * (size_t)drawing->lanes.width + 4;
}

/* Draw the failed jobs of a folded fan-out. Beside them, the lines to later rows continue. */
static void draw_failed(struct drawing *drawing, const struct fold_node *node, const struct lane_row *next)
{
	const struct picture *picture = drawing->picture;
	uint8_t between[LANES_MAX] = { 0 };
	uint32_t shown = 0, more = 0;
	char text[64];

	for (size_t i = 0; next && i < LANES_MAX; i++)
		between[i] = next->lanes[i] & LANE_UP ? LANE_UP | LANE_DOWN : 0;
	for (uint32_t i = 0; i < node->member_count; i++) {
		uint32_t job = picture->fold.members[node->member_start + i];
		struct buf name = { 0 };

		if (!state_needs_eyes(picture->graph.states[job]))
			continue;
		if (shown++ >= FAILED_SHOWN) {
			more++;
			continue;
		}
		add_lanes(drawing, between, NULL);
		pad(drawing, names_at(drawing) + 2);
		text_escape(&name, picture->graph.jobs[job].name, TEXT_KEEP_NONE);
		add(drawing, buf_slice(&name), NULL);
		buf_free(&name);
		pad(drawing, names_at(drawing) + drawing->name_width + 1);
		add(drawing, slice_str(job_face(picture, job)->word), job_face(picture, job));
		add_str(drawing, " ");
		pad(drawing, names_at(drawing) + drawing->name_width + 8);
		add_outcome(drawing, job);
		end_line(drawing);
	}
	if (more == 0)
		return;
	add_lanes(drawing, between, NULL);
	pad(drawing, names_at(drawing) + 2);
	snprintf(text, sizeof(text), "and %" PRIu32 " more failed", more);
	add_str(drawing, text);
	end_line(drawing);
}

static void draw_node(struct drawing *drawing, const struct lane_row *row, const struct lane_row *next)
{
	const struct picture *picture = drawing->picture;
	const struct fold_node *node = &picture->fold.nodes[row->node];
	uint32_t job = picture->fold.members[node->member_start], counts[STATE_COUNT] = { 0 };
	struct tally tally = count_members(picture, node, counts);
	const struct state_info *face = node->folded ? &state_table[group_state(&tally, counts)] : job_face(picture, job);
	struct buf name = { 0 };
	char missing[16];

	add_lanes(drawing, row->lanes, face);
	if (row->missing > 0) {
		snprintf(missing, sizeof(missing), "+%" PRIu32, row->missing > 99 ? 99 : row->missing);
		add_str(drawing, missing);
	}
	pad(drawing, names_at(drawing) - 2 + (row->missing > 9));
	add_str(drawing, node->folded ? "+ " : "  ");
	picture_name(picture, row->node, &name);
	add(drawing, slice_make(name.data, text_clip(buf_slice(&name), drawing->name_width, &(size_t){ 0 })), NULL);
	buf_free(&name);
	pad(drawing, names_at(drawing) + drawing->name_width + 1);
	if (picture->run != 0) {
		add(drawing, slice_str(face->word), face);
		add_str(drawing, " ");
		pad(drawing, names_at(drawing) + drawing->name_width + 8);
	}
	if (picture->run != 0 && node->folded) {
		add_count(drawing, STATE_SUCCEEDED, tally.ok);
		add_count(drawing, STATE_RUNNING, tally.run);
		add_count(drawing, STATE_FAILED, tally.fail);
		add_count(drawing, STATE_READY, tally.queue);
		add_count(drawing, STATE_WAITING, tally.wait);
		add_count(drawing, STATE_SKIPPED, tally.other);
		add_str(drawing, " ");
	} else if (picture->run != 0) {
		add_outcome(drawing, job);
	}
	add_parents(drawing, row->node);
	end_line(drawing);
	if (node->folded && tally.fail > 0)
		draw_failed(drawing, node, next);
}

static size_t widest_name(const struct picture *picture)
{
	struct buf name = { 0 };
	size_t widest = 0;

	for (uint32_t i = 0; i < picture->fold.count && widest < NAME_WIDEST; i++) {
		size_t width;

		buf_clear(&name);
		picture_name(picture, i, &name);
		/* Failed jobs of a fan-out are indented and may have a longer name. */
		width = text_width(buf_slice(&name)) + (picture->fold.nodes[i].folded ? 4 : 0);
		widest = width > widest ? width : widest;
	}
	buf_free(&name);
	return widest < NAME_WIDEST ? widest : NAME_WIDEST;
}

void picture_lanes(const struct picture *picture, const struct look *look, struct buf *out)
{
	struct drawing drawing = { .picture = picture, .look = look, .out = out };
	int cap = (int)((look->columns ? look->columns : LANES_UNKNOWN) * 3 / 20);

	cap = cap < 4 ? 4 : cap > 24 ? 24 : cap;
	drawing.name_width = widest_name(picture);
	lanes_build(&drawing.lanes, picture->fold.count, picture->fold.child_start, picture->fold.children, cap);
	for (size_t i = 0; i < drawing.lanes.count; i++) {
		const struct lane_row *row = &drawing.lanes.rows[i], *next = i + 1 < drawing.lanes.count ? row + 1 : NULL;

		if (row->node != LANE_LINK) {
			draw_node(&drawing, row, next);
			continue;
		}
		add_lanes(&drawing, row->lanes, NULL);
		end_line(&drawing);
	}
	lanes_free(&drawing.lanes);
	buf_free(&drawing.line);
}
