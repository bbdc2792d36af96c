/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses between the sources of a setting: an option first, then the environment, then titan.conf. invocation.c parses
 * argv, conf_files.c finds the files.
 */
#include "cli/session/options.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/when.h"
#include "cli/show/look.h"
#include "proto/limits.h"

bool option_given(const struct invocation *invocation, enum option_id id)
{
	for (size_t i = 0; i < invocation->option_count; i++)
		if (invocation->options[i].id == id)
			return true;
	return false;
}

const char *option_value(const struct invocation *invocation, enum option_id id)
{
	const char *value = NULL;

	for (size_t i = 0; i < invocation->option_count; i++)
		if (invocation->options[i].id == id)
			value = invocation->options[i].value;
	return value;
}

static const struct option_info *option_info(const struct invocation *invocation, enum option_id id)
{
	const struct option_info *option = invocation->command->options;

	for (const struct option_info *global = global_options; global->id != OPT_none; global++)
		if (global->id == id)
			return global;
	while (option->id != OPT_none && option->id != id)
		option++;
	return option;
}

static const char *option_word(const struct invocation *invocation, enum option_id id)
{
	return option_info(invocation, id)->word;
}

enum err parse_number(const char *text, const char *what, uint64_t least, uint64_t most, uint64_t *ret_value,
		      struct error *error)
{
	const char *digits = text[0] == '-' ? text + 1 : text;
	uint64_t value;
	bool fits = text_parse_u64(slice_str(text), &value);

	if (digits[0] == '\0' || digits[strspn(digits, "0123456789")] != '\0')
		return error_set(error, ERR_USAGE, "%s: '%s' is not a number", what, text);
	if (!fits || value < least || value > most)
		return error_set(error, ERR_USAGE, "%s: %s must be between %llu and %llu", what, text,
				 (unsigned long long)least, (unsigned long long)most);
	*ret_value = value;
	return ERR_NONE;
}

enum err parse_span(const char *text, const char *what, int64_t *ret_ms, struct error *error)
{
	if (strcmp(text, "0") == 0) {
		*ret_ms = 0;
		return ERR_NONE;
	}
	if (clock_parse_span(text, ret_ms) != 0)
		return error_set(error, ERR_USAGE, "%s: '%s' isn't a time span such as 500ms, 30s, 5m, 2h or 1d",
				 what, text);
	return ERR_NONE;
}

enum err option_number(const struct invocation *invocation, enum option_id id, uint64_t least, uint64_t most,
		       uint64_t *value, struct error *error)
{
	const char *text = option_value(invocation, id);
	char what[64];

	if (text == NULL)
		return ERR_NONE;
	snprintf(what, sizeof(what), "--%s", option_word(invocation, id));
	return parse_number(text, what, least, most, value, error);
}

enum err option_choice(const struct invocation *invocation, enum option_id id, uint64_t *value, struct error *error)
{
	const struct option_info *option = option_info(invocation, id);
	const char *text = option_value(invocation, id), *at = option->argument;
	uint64_t place = 0;

	if (text == NULL)
		return ERR_NONE;
	for (;; place++) {
		size_t len = strcspn(at, "|");

		if (strlen(text) == len && memcmp(text, at, len) == 0)
			break;
		if (at[len] == '\0')
			return error_set(error, ERR_USAGE, "--%s: '%s' must be one of %s", option->word, text,
					 option->argument);
		at += len + 1;
	}
	*value = place;
	return ERR_NONE;
}

enum err option_span(const struct invocation *invocation, enum option_id id, int64_t *value_ms,
		     struct error *error)
{
	const char *text = option_value(invocation, id);
	char what[64];

	if (text == NULL)
		return ERR_NONE;
	snprintf(what, sizeof(what), "--%s", option_word(invocation, id));
	return parse_span(text, what, value_ms, error);
}

enum err option_when(const struct invocation *invocation, enum option_id id, int64_t *value_ms, struct error *error)
{
	const char *text = option_value(invocation, id);

	if (text == NULL || when_parse(text, clock_wall_ms(), value_ms) == 0)
		return ERR_NONE;
	return error_set(error, ERR_USAGE, "--%s: '%s' isn't a time; use " WHEN_FORMS, option_word(invocation, id), text);
}

static enum err read_colour(const char *value, enum colour_when *ret, struct error *error)
{
	static const char *const words[] = { "auto", "always", "never" };

	for (int i = 0; i < 3; i++) {
		if (strcmp(value, words[i]) == 0) {
			*ret = (enum colour_when)i;
			return ERR_NONE;
		}
	}
	return error_set(error, ERR_USAGE, "--color: '%s' must be auto, always or never", value);
}

static enum err read_style(const struct invocation *invocation, struct settings *settings, struct error *error)
{
	const char *format = option_value(invocation, OPT_format);
	bool json = option_given(invocation, OPT_json);
	bool plain = option_given(invocation, OPT_plain);

	if (json + plain + (format != NULL) > 1)
		return error_set(error, ERR_USAGE, "give only one of --json, --plain and --format");
	settings->style = json ? STYLE_JSON : plain ? STYLE_PLAIN : format ? STYLE_FORMAT : STYLE_HUMAN;
	settings->format = format;
	return ERR_NONE;
}

/*
 * Read the socket and token that a worker sets for its jobs. A worker never sets TITAN_STATE: a job that sets it means
 * another cluster.
 */
static void read_job_socket(struct settings *settings)
{
	const char *socket = getenv("TITAN_SOCKET"), *token = getenv("TITAN_TOKEN"), *state = getenv("TITAN_STATE");

	if (socket == NULL || token == NULL || socket[0] == '\0' || token[0] == '\0' || (state != NULL && state[0] != '\0'))
		return;
	settings->own_run = getenv("TITAN_RUN");
	settings->socket = socket;
	settings->token = token;
}

static const char *variable(const char *name)     /* value of the variable; NULL if it is unset or empty */
{
	const char *value = getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

enum err settings_read(const struct invocation *invocation, struct settings *ret, struct error *error)
{
	struct settings settings = { .timeout_ms = -1 };
	const char *colour = option_value(invocation, OPT_color), *said = conf_value(invocation->conf, CONF_color);
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	char what[SETTING_NAME_SIZE];
	const char *text;
	enum err err;

	settings.cluster = option_value(invocation, OPT_cluster);
	settings.host = option_value(invocation, OPT_host);
	if (settings.cluster == NULL && settings.host == NULL)
		read_job_socket(&settings);
	if (settings.host == NULL && settings.cluster == NULL && settings.socket == NULL)
		settings.host = variable("TITAN_HOST");
	settings.key_file = option_value(invocation, OPT_key);
	if (settings.key_file == NULL)
		settings.key_file = option_value(invocation, OPT_worker_join);
	if (settings.key_file == NULL)
		settings.key_file = variable("TITAN_KEY_FILE");
	if (settings.cluster == NULL)
		settings.cluster = getenv("TITAN_CLUSTER");
	if (settings.cluster != NULL && settings.cluster[0] == '\0')
		settings.cluster = NULL;
	/* A job belongs to its worker's cluster, whatever titan.conf is in the job's directory. */
	if (settings.cluster == NULL && settings.socket == NULL && !option_given(invocation, OPT_cluster))
		settings.cluster = conf_value(invocation->conf, CONF_cluster);
	if ((no_colour != NULL && no_colour[0] != '\0') || (term != NULL && strcmp(term, "dumb") == 0))
		settings.colour = COLOUR_NEVER;
	else if (said != NULL && (err = read_colour(said, &settings.colour, error)) != ERR_NONE)
		return err;
	if (colour != NULL && (err = read_colour(colour, &settings.colour, error)) != ERR_NONE)
		return err;
	if ((err = read_style(invocation, &settings, error)) != ERR_NONE)
		return err;
	text = setting_value(invocation, OPT_timeout, CONF_timeout, what);
	if (text != NULL && (err = parse_span(text, what, &settings.timeout_ms, error)) != ERR_NONE)
		return err;
	settings.quiet = option_given(invocation, OPT_quiet);
	settings.yes = option_given(invocation, OPT_yes);
	settings.no_input = option_given(invocation, OPT_no_input);
	*ret = settings;
	return ERR_NONE;
}

const char *setting_value(const struct invocation *invocation, enum option_id id, enum conf_key key,
			  char ret_what[SETTING_NAME_SIZE])
{
	const struct conf_info *info = &conf_table[key];
	const char *given = option_value(invocation, id);
	const char *value = info->variable[0] != '\0' ? getenv(info->variable) : NULL;

	if (given != NULL) {
		snprintf(ret_what, SETTING_NAME_SIZE, "--%s", option_word(invocation, id));
		return given;
	}
	if (value != NULL && value[0] != '\0') {
		snprintf(ret_what, SETTING_NAME_SIZE, "%s", info->variable);
		return value;
	}
	snprintf(ret_what, SETTING_NAME_SIZE, "%s in titan.conf", info->word);
	return conf_value(invocation->conf, key);
}

enum err setting_number_value(const struct invocation *invocation, enum option_id id, enum conf_key key, uint64_t least,
			      uint64_t most, uint64_t *value, struct error *error)
{
	char what[SETTING_NAME_SIZE];
	const char *text = setting_value(invocation, id, key, what);

	return text != NULL ? parse_number(text, what, least, most, value, error) : ERR_NONE;
}

bool settings_renewed(void)
{
	return getenv("TITAN_GUARDIAN") != NULL;
}

enum err interval_read(const struct invocation *invocation, enum option_id id, enum conf_key key, int64_t *ret_ms,
		       struct error *error)
{
	char what[SETTING_NAME_SIZE];
	const char *text = setting_value(invocation, id, key, what);
	enum err err = text ? parse_span(text, what, ret_ms, error) : ERR_NONE;

	if (err == ERR_NONE && text && *ret_ms == 0)
		return error_set(error, ERR_USAGE, "%s: '%s' must be more than 0", what, text);
	return err;
}

enum err intervals_read(const struct invocation *invocation, struct intervals *ret, struct error *error)
{
	struct intervals intervals = { 0 };
	enum err err;

	if ((err = interval_read(invocation, OPT_master_heartbeat, CONF_heartbeat, &intervals.heartbeat_ms,
				 error)) != ERR_NONE ||
	    (err = interval_read(invocation, OPT_master_lease, CONF_lease, &intervals.lease_ms, error)) != ERR_NONE ||
	    (err = interval_read(invocation, OPT_master_grace, CONF_grace, &intervals.grace_ms, error)) != ERR_NONE)
		return err;
	/* The worker's lease must expire before its jobs are given to another worker. */
	if ((intervals.grace_ms ? intervals.grace_ms : LIMIT_GRACE_MS) <=
	    (intervals.lease_ms ? intervals.lease_ms : LIMIT_LEASE_MS)) {
		error_set(error, ERR_USAGE, "the grace must be longer than the lease, or else a job could run twice "
			"at the same time");
		return error_next(error, "titan help master");
	}
	/* If only a short lease was set, the default heartbeat would be too slow to renew it. */
	if (intervals.heartbeat_ms == 0 && intervals.lease_ms > 0 && intervals.lease_ms < 4 * LIMIT_HEARTBEAT_MS)
		intervals.heartbeat_ms = intervals.lease_ms > 4 ? intervals.lease_ms / 4 : 1;
	if ((intervals.heartbeat_ms ? intervals.heartbeat_ms : LIMIT_HEARTBEAT_MS) >=
	    (intervals.lease_ms ? intervals.lease_ms : LIMIT_LEASE_MS)) {
		error_set(error, ERR_USAGE, "the lease must be longer than the time between heartbeats, because "
			"heartbeats renew it");
		return error_next(error, "titan help master");
	}
	*ret = intervals;
	return ERR_NONE;
}
