/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * titan-static: the worker alone, linked statically, so that it runs on a machine where nothing is installed. It has no
 * master, no store and no terminal. "titan worker add" copies it to other machines.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/io.h"
#include "base/text.h"
#include "net/keyfile.h"
#include "proto/label.h"
#include "proto/limits.h"
#include "worker/far.h"

static int usage(FILE *out)
{
	fputs("usage: titan-static worker start -H ADDRESS --key FILE [OPTION...]\n"
	      "       titan-static version [--hash]\n\n"
	      "The worker of titan as one static program, for machines where nothing is installed.\n\n"
	      "  -H, --host ADDRESS   the master's address\n"
	      "      --key FILE       the worker's key, made by titan token add NAME --worker\n"
	      "      --name NAME      name of the worker (default: the one in the key)\n"
	      "      --slots N        number of jobs that the worker runs at once (default: one for each core)\n"
	      "      --label LABEL    give the worker a label that jobs may ask for; may be repeated\n"
	      "      --pool NAME      the pool that the worker belongs to\n"
	      "      --state DIR      directory of the worker's files (default: titan-worker in $HOME)\n", out);
	return out == stderr ? err_exit_status(ERR_USAGE) : 0;
}

static int refuse(const char *text, const char *value)
{
	fprintf(stderr, "titan-static: %s '%s'\n   try: titan-static --help\n", text, value);
	return err_exit_status(ERR_USAGE);
}

static bool copy_text(char *out, size_t size, const char *text)
{
	return (size_t)snprintf(out, size, "%s", text) < size;
}

/* The name in a key's id, which is the id up to its random end. */
static void name_of_key(const struct key *key, char *out, size_t size)
{
	const char *end = strrchr(key_id(key), '.');

	snprintf(out, size, "%.*s", (int)(end ? end - key_id(key) : (int)strlen(key_id(key))), key_id(key));
}

static int run_worker(struct far_config *config, const char *key_path, const char *state)
{
	char dir[PATH_MAX], path[PATH_MAX];
	struct worker_options options;
	struct error error = { 0 };
	struct key key;
	int status;

	if (keyfile_read(key_path, &key, &error) != ERR_NONE) {
		fprintf(stderr, "titan-static: %s\n", error.text);
		return err_exit_status(error.code);
	}
	if (config->name[0] == '\0')
		name_of_key(&key, config->name, sizeof(config->name));
	explicit_bzero(&key, sizeof(key));
	snprintf(dir, sizeof(dir), "%s/titan-worker", getenv("HOME") ? getenv("HOME") : "");
	if ((state ? io_absolute(state, dir) : 0) != 0 || io_absolute(key_path, path) != 0)
		return refuse("too long a path:", state ? state : key_path);
	snprintf(config->cluster, sizeof(config->cluster), "default");
	far_options(dir, config, path, &options);
	status = guardian_run(&options, &error);
	if (error.code != ERR_NONE)
		fprintf(stderr, "titan-static: %s\n", error.text);
	return status;
}

static int worker_start(int argc, char **argv)
{
	static const struct option options[] = {
		{ "host", required_argument, NULL, 'H' }, { "key", required_argument, NULL, 'k' },
		{ "name", required_argument, NULL, 'n' }, { "slots", required_argument, NULL, 's' },
		{ "label", required_argument, NULL, 'l' }, { "pool", required_argument, NULL, 'p' },
		{ "state", required_argument, NULL, 'd' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	static struct far_config config;
	const char *key = NULL, *state = NULL;
	struct error error;
	struct slice label;
	uint64_t slots;
	int letter;

	while ((letter = getopt_long(argc, argv, "H:s:l:h", options, NULL)) != -1) {
		size_t used = strlen(config.labels);

		switch (letter) {
		case 'H':
			if (address_check(optarg, &error) != ERR_NONE || !copy_text(config.address, sizeof(config.address), optarg))
				return refuse("this is no address:", optarg);
			break;
		case 'n':
		case 'p':
			if (!text_is_name(slice_str(optarg)))
				return refuse("a name has only letters, digits and _ . -, not", optarg);
			copy_text(letter == 'n' ? config.name : config.pool, LIMIT_NAME_MAX_LEN + 1, optarg);
			break;
		case 's':
			if (!text_parse_u64(slice_str(optarg), &slots) || slots == 0 || slots > LIMIT_SLOTS_MAX)
				return refuse("--slots: this is no number of slots:", optarg);
			copy_text(config.slots, sizeof(config.slots), optarg);
			break;
		case 'l':
			label = slice_str(optarg);
			if (labels_check((struct slice_list){ &label, 1 }, &error) != ERR_NONE || used + strlen(optarg) + 2 > sizeof(config.labels))
				return refuse("--label: this isn't a valid label:", optarg);
			snprintf(config.labels + used, sizeof(config.labels) - used, "%s%s", used ? "," : "", optarg);
			break;
		case 'k':
			key = optarg;
			break;
		case 'd':
			state = optarg;
			break;
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	}
	if (optind < argc)
		return refuse("unexpected argument", argv[optind]);
	if (config.address[0] == '\0' || key == NULL)
		return refuse("a worker needs --host and --key; missing is", key ? "--host" : "--key");
	return run_worker(&config, key, state);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	prctl(PR_SET_NAME, "titan");
	if (argc == 2 && strcmp(word, "link") == 0)
		return link_main();
	if (strcmp(word, FAR_WORD) == 0)
		return far_main(argc, argv);
	if (strcmp(word, "version") == 0 || strcmp(word, "--version") == 0)
		return far_version(argc > 2 && strcmp(argv[2], "--hash") == 0);
	if (argc > 2 && strcmp(word, "worker") == 0 && strcmp(argv[2], "start") == 0)
		return worker_start(argc - 2, argv + 2);
	return usage(strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ? stdout : stderr);
}
