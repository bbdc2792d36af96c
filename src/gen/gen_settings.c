/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The settings and kinds of a job, and the settings of titan.conf, as lists of a manual page. */
#include "gen/gen.h"

#include "lang/conf.h"
#include "proto/spec.h"

static void add_kinds(unsigned kinds, struct buf *out)
{
	bool first = true;

	for (unsigned kind = KIND_UNSAID + 1; kind < KIND_COUNT; kind++) {
		if (!(kinds & KIND_BIT(kind)))
			continue;
		buf_addf(out, "%s%s", first ? "" : ", ", job_kind_name((enum job_kind)kind));
		first = false;
	}
}

void gen_settings(struct buf *out)
{
	buf_add_str(out, ".Bl -tag -width approval.on_timeout -compact\n");
	for (size_t i = 0; i < setting_count; i++) {
		const struct setting *setting = &setting_table[i];
		struct buf text = { 0 };

		if (setting->yaml[0] == '\0')
			continue;
		buf_addf(out, ".It Ic %s\n", setting->yaml);
		buf_add_str(&text, setting->text);
		if (setting->line[0] != '\0')
			buf_addf(&text, "; on one line: %s", setting->line);
		if (setting->fallback[0] != '\0')
			buf_addf(&text, "; default: %s", setting->fallback);
		if ((setting->kinds & FOR_ANY) != FOR_ANY) {
			buf_add_str(&text, "; of: ");
			add_kinds(setting->kinds, &text);
		}
		gen_sentence(buf_cstr(&text), out);
		buf_free(&text);
	}
	buf_add_str(out, ".El\n");
}

void gen_conf(struct buf *out)
{
	buf_add_str(out, ".Bl -tag -width keep_history -compact\n");
	for (size_t i = 0; i < CONF_COUNT; i++) {
		const struct conf_info *info = &conf_table[i];
		struct buf text = { 0 };

		buf_addf(out, ".It Ic %s : Ar %s\n", info->word, info->argument);
		buf_add_str(&text, info->text);
		if (info->options[0] != '\0')
			buf_addf(&text, "; default for %s", info->options);
		if (info->variable[0] != '\0')
			buf_addf(&text, ", overridden by %s", info->variable);
		buf_add_str(&text, info->shape == CONF_IS_LATER ? "; not available yet: reserved for a later "
			"version; files: " : "; files: ");
		conf_places(info->places, &text);
		gen_sentence(buf_cstr(&text), out);
		buf_free(&text);
	}
	buf_add_str(out, ".El\n");
}
