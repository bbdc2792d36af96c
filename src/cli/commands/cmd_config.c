/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan config: each setting with its value and its source. options.c chooses between the same sources when a command
 * runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands/command.h"
#include "cli/commands/outputs.h"
#include "cli/commands/prune.h"
#include "cli/session/options.h"
#include "cli/session/output.h"
#include "cli/show/records.h"
#include "lang/conf.h"
#include "proto/limits.h"

#define STATE_KEY "state_dir" /* a row that isn't a key of titan.conf: the directory of this cluster's state */

struct found {
	const char *value;               /* NULL: none */
	const char *source;              /* flag, environment, cluster, project, user, system or default */
	const char *where;               /* the option, the variable or the file; NULL for a default */
};

static const struct column columns[] = {
	{ "setting", "SETTING", false }, { "value", "VALUE", false }, { "source", "FROM", false },
	{ "source_name", "WHERE", false }, { "meaning", NULL, false },
};
const struct table config_table = TABLE_OF(columns);

static const char *place_name(enum conf_place place)
{
	return place == FROM_CLUSTER ? "cluster" : place == FROM_PROJECT ? "project" : place == FROM_USER ? "user" : "system";
}

static const char *span_text(struct cli *cli, int64_t ms)
{
	char text[CLOCK_TEXT_SIZE];

	return arena_strdup(&cli->arena, slice_str(clock_write_span(ms, text)));
}

static const char *number_text(struct cli *cli, long number, const char *unit)
{
	char text[40];

	snprintf(text, sizeof(text), "%ld%s", number, unit);
	return arena_strdup(&cli->arena, slice_str(text));
}

static const char *default_of(struct cli *cli, enum conf_key key)
{
	switch (key) {
	case CONF_cluster:
	case CONF_pool:
		return "default";
	case CONF_color:
		return "auto";
	case CONF_trust_submitters:
		return "no";
	case CONF_privacy:
		return "own";
	case CONF_slots:
		return number_text(cli, sysconf(_SC_NPROCESSORS_ONLN), "");
	case CONF_heartbeat:
		return span_text(cli, LIMIT_HEARTBEAT_MS);
	case CONF_lease:
		return span_text(cli, LIMIT_LEASE_MS);
	case CONF_grace:
		return span_text(cli, LIMIT_GRACE_MS);
	case CONF_keep_past:
		return span_text(cli, PAST_MS);
	case CONF_keep_past_size:
		return number_text(cli, PAST_BYTES >> 20, "M");
	case CONF_keep_acts:
		return span_text(cli, ACTS_MS);
	case CONF_prune_every:
		return span_text(cli, PRUNE_EVERY_MS);
	default:
		return NULL;
	}
}

/* The global option that sets the key, if it was typed with this command. */
static bool from_option(const struct invocation *invocation, enum conf_key key, struct found *found)
{
	static const struct { enum conf_key key; enum option_id id; const char *word; } options[] = {
		{ CONF_cluster, OPT_cluster, "--cluster" }, { CONF_color, OPT_color, "--color" },
		{ CONF_timeout, OPT_timeout, "--timeout" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].key == key && option_given(invocation, options[i].id)) {
			*found = (struct found){ option_value(invocation, options[i].id), "flag", options[i].word };
			return true;
		}
	return false;
}

static bool from_environment(const char *variable, struct found *found)
{
	const char *value = variable[0] != '\0' ? getenv(variable) : NULL;

	if (value == NULL || value[0] == '\0')
		return false;
	*found = (struct found){ value, "environment", variable };
	return true;
}

/* Settings that settings_read takes from more than one variable. */
static bool from_special(struct cli *cli, enum conf_key key, struct found *found)
{
	const char *term = getenv("TERM");

	if (key == CONF_cluster && cli->settings.socket != NULL) {
		*found = (struct found){ "the cluster of the job that calls titan", "environment", "TITAN_SOCKET" };
		return true;
	}
	if (key != CONF_color || cli->settings.colour != COLOUR_NEVER)
		return false;
	*found = (struct found){ "never", "environment", "NO_COLOR" };
	if (from_environment("NO_COLOR", &(struct found){ 0 }))
		return true;
	found->where = "TERM";
	return term != NULL && strcmp(term, "dumb") == 0;
}

static struct found find(struct cli *cli, enum conf_key key)
{
	const struct conf_files *files = cli->invocation->conf;
	struct found found = { 0 };

	if (from_option(cli->invocation, key, &found) || from_special(cli, key, &found) ||
	    from_environment(conf_table[key].variable, &found))
		return found;
	for (size_t i = 0; files != NULL && i < files->count; i++)
		if (files->files[i].conf.values[key] != NULL)
			return (struct found){ files->files[i].conf.values[key], place_name(files->files[i].place),
					       files->files[i].path };
	return (struct found){ default_of(cli, key), "default", NULL };
}

static struct found find_state(const struct cli *cli)
{
	struct found found = { 0 };

	if (!from_environment("TITAN_STATE", &found) && !from_environment("XDG_STATE_HOME", &found))
		found = (struct found){ NULL, "default", NULL };
	found.value = cli->statedir.dir;
	return found;
}

static void add_row(struct records *records, const char *key, const struct found *found, const char *text)
{
	records_text(records, slice_str(key));
	records_text(records, slice_str(found->value));
	records_text(records, slice_str(found->source));
	records_text(records, slice_str(found->where));
	records_text(records, slice_str(text));
}

/* Was this key asked for? Without arguments all are. */
static bool wanted(const struct invocation *invocation, const char *key)
{
	for (size_t i = 0; i < invocation->arg_count; i++)
		if (strcmp(invocation->args[i], key) == 0)
			return true;
	return invocation->arg_count == 0;
}

static enum err check_keys(struct cli *cli)
{
	const char *words[CONF_COUNT + 1];
	size_t count = 0;

	for (int key = 0; key < CONF_COUNT; key++)
		if (conf_table[key].shape != CONF_IS_LATER)
			words[count++] = conf_table[key].word;
	words[count++] = STATE_KEY;
	for (size_t i = 0; i < cli->invocation->arg_count; i++) {
		const char *word = cli->invocation->args[i], *nearest;
		size_t at = 0;

		while (at < count && strcmp(words[at], word) != 0)
			at++;
		if (at < count)
			continue;
		nearest = text_nearest(word, words, count);
		error_set(&cli->error, ERR_NOT_FOUND, "there is no setting '%s'%s%s%s", word, nearest ? "; did you mean '" : "",
			  nearest ? nearest : "", nearest ? "'?" : "");
		return error_next(&cli->error, "titan config");
	}
	return ERR_NONE;
}

int cmd_config(struct cli *cli)
{
	struct records records;
	struct buf out = { 0 };
	struct found found;

	records_begin(&records, columns, sizeof(columns) / sizeof(columns[0]), &cli->arena);
	if (records_check(&records, &cli->out, &cli->error) != ERR_NONE || check_keys(cli) != ERR_NONE)
		return cli_fail(cli);
	for (int key = 0; key < CONF_COUNT; key++) {
		if (conf_table[key].shape == CONF_IS_LATER || !wanted(cli->invocation, conf_table[key].word))
			continue;
		found = find(cli, (enum conf_key)key);
		add_row(&records, conf_table[key].word, &found, conf_table[key].text);
	}
	if (wanted(cli->invocation, STATE_KEY)) {
		found = find_state(cli);
		add_row(&records, STATE_KEY, &found, "the directory with the state of this cluster");
	}
	records_print(&records, &cli->out, &out);
	cli_print(cli, &out);
	buf_free(&out);
	if (cli_chatty(cli))
		cli_note(cli, "what each setting means: titan config --json, man titan.conf");
	return 0;
}
