/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The key schedule of a pipeline: cron, tz, overlap, catchup. */
#include "lang/pipeline_internal.h"

#include "base/clock.h"
#include "base/cron.h"
#include "lang/zone.h"

static enum err read_cron(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct cron cron;
	const char *why;
	size_t at, len;
	enum err err = pipe_text(pipe, value, "cron", &pipe->schedule.cron);
	bool written;

	(void)job;
	if (err != ERR_NONE)
		return err;
	why = cron_parse(pipe->schedule.cron, &cron, &at, &len);
	if (why == NULL)
		return ERR_NONE;
	written = slice_eq(pipe->schedule.cron, value->text) && value->spot.len >= value->text.len;
	if (!written)
		return pipe_fail(pipe, value, ERR_INVALID, "cron: %s", why);
	/* Skip the opening quote. */
	at += value->spot.at + (value->spot.len - value->text.len) / 2;
	return dag_fail(&pipe->reader, at, len ? len : 1, ERR_INVALID, "cron: %s", why);
}

static enum err read_tz(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_text(pipe, value, "tz", &pipe->schedule.zone_name);

	(void)job;
	if (err == ERR_NONE && (pipe->schedule.zone_name.len == 0 || pipe->schedule.zone_name.len > 64))
		return pipe_fail(pipe, value, ERR_INVALID, "tz must be UTC or the name of a time zone, such as "
			"Europe/Berlin");
	if (err == ERR_NONE && !zone_may_be(pipe->schedule.zone_name))
		return pipe_fail(pipe, value, ERR_INVALID, "time zone '%.*s' isn't installed here (package tzdata); "
			"tz must be UTC or a name such as Europe/Berlin", (int)pipe->schedule.zone_name.len,
				 (const char *)pipe->schedule.zone_name.data);
	return err;
}

static enum err read_overlap(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	static const char *const words[] = { "skip", "queue", "allow" };
	struct slice text;
	enum err err = pipe_text(pipe, value, "overlap", &text);

	(void)job;
	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < 3; i++)
		if (slice_eq(text, slice_str(words[i]))) {
			pipe->schedule.overlap = i;
			return ERR_NONE;
		}
	return pipe_fail(pipe, value, ERR_INVALID, "overlap must be skip, queue or allow");
}

static enum err read_catchup(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	static const char *const words[] = { "skip", "one", "all" };
	struct slice text;
	enum err err = pipe_text(pipe, value, "catchup", &text);

	(void)job;
	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < 3; i++)
		if (slice_eq(text, slice_str(words[i]))) {
			pipe->schedule.catchup = i;
			return ERR_NONE;
		}
	pipe->schedule.catchup = CATCHUP_SPAN;
	if (pipe_span(pipe, value, &pipe->schedule.catchup_ms) != ERR_NONE)
		return pipe_fail(pipe, value, ERR_INVALID, "catchup must be skip, one, all, or a time span such as "
			"1h");
	return ERR_NONE;
}

static const struct pipe_key schedule_keys[] = {
	{ "cron", read_cron }, { "tz", read_tz }, { "overlap", read_overlap }, { "catchup", read_catchup },
};

const struct pipe_section pipe_section_schedule = PIPE_SECTION("schedule", schedule_keys, NULL);

enum err pipe_read_schedule(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	enum err err = pipe_map(pipe, value, &pipe_section_schedule, job);

	if (err == ERR_NONE && pipe->schedule.cron.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "a schedule needs the key cron: \"0 3 * * *\"");
	return err;
}
