/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the function for the verb in titan OBJECT VERB, and reports a wrong verb or wrong arguments. */
#include "cli/commands/object.h"

#include "base/text.h"
#include "cli/session/guesses.h"
#include "cli/session/output.h"

#define VERBS_MAX 16

int object_usage(struct cli *cli)
{
	error_next(&cli->error, "titan %s --help", cli->invocation->command->verb);
	return cli_fail(cli);
}

static const struct object_verb *find(const struct object_verb *verbs, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(verbs[i].word, word) == 0)
			return &verbs[i];
	return NULL;
}

static int unknown_verb(struct cli *cli, const struct object_verb *verbs, size_t count, const char *word)
{
	const char *object = cli->invocation->command->verb, *near[VERBS_MAX], *meant;
	struct buf list = { 0 };
	size_t near_count = 0;

	for (size_t i = 0; i < count; i++) {
		buf_addf(&list, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", verbs[i].word);
		if (!guess_destroys(verbs[i].word) && near_count < VERBS_MAX)
			near[near_count++] = verbs[i].word;
	}
	for (size_t at = 0; (meant = guess_verb(word, &at)) != NULL && find(verbs, count, meant) == NULL;)
		;
	if (meant == NULL)
		meant = text_nearest(word, near, near_count);
	if (meant != NULL)
		error_set(&cli->error, ERR_USAGE, "titan %s: unknown word '%s'; did you mean '%s'?", object, word, meant);
	else
		error_set(&cli->error, ERR_USAGE, "titan %s: unknown word '%s'; expected %s", object, word, buf_cstr(&list));
	buf_free(&list);
	return object_usage(cli);
}

int object_run(struct cli *cli, const struct object_verb *verbs, size_t count)
{
	const struct invocation *invocation = cli->invocation;
	const char *object = invocation->command->verb;
	const struct object_verb *verb = invocation->arg_count > 0 ? find(verbs, count, invocation->args[0]) : &verbs[0];
	int given = invocation->arg_count > 0 ? (int)invocation->arg_count - 1 : 0;

	if (verb == NULL)
		return unknown_verb(cli, verbs, count, invocation->args[0]);
	if (given < verb->least) {
		error_set(&cli->error, ERR_USAGE, "titan %s %s needs %s", object, verb->word, verb->needs);
		return object_usage(cli);
	}
	if (verb->most >= 0 && given > verb->most) {
		error_set(&cli->error, ERR_USAGE, "titan %s %s: unexpected argument '%s'", object, verb->word,
			  invocation->args[1 + verb->most]);
		return object_usage(cli);
	}
	return verb->run_cb(cli);
}
