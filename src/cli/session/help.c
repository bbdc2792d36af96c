/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --help and titan help, made from the tables, and the few topics that aren't commands. */
#include "cli/session/help.h"

#include "cli/show/look.h"
#include "cli/show/where.h"
#include "lang/expr.h"
#include "proto/error.h"

#define WIDTH 78
#define COMMAND_COLUMN 14
#define OPTION_COLUMN 30
#define STATE_COLUMN 25
#define STATUS_COLUMN 7
#define WORD_COLUMN 27

static void heading(const struct look *look, const char *text, struct buf *out)
{
	look_colour(look, COLOUR_DEFAULT, ATTR_BOLD, out);
	buf_add_str(out, text);
	look_plain(look, out);
	buf_add_byte(out, '\n');
}

/* Wrap text into lines that begin at column. at: the column at which the present line ends. */
static void wrap(const char *text, size_t column, size_t at, struct buf *out)
{
	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		if (at > column && at + 1 + len > WIDTH) {
			buf_add_byte(out, '\n');
			at = 0;
		}
		if (at > column) {
			buf_add_byte(out, ' ');
			at++;
		}
		for (; at < column; at++)
			buf_add_byte(out, ' ');
		buf_add(out, text, len);
		at += len;
		text += len + strspn(text + len, " ");
	}
	buf_add_byte(out, '\n');
}

static void options_help(const struct option_info *options, struct buf *out)
{
	for (; options->id != OPT_none; options++) {
		size_t start = out->len;

		buf_addf(out, options->letter ? "  -%c, " : "      ", options->letter);
		buf_addf(out, "--%s", options->word);
		if (options->argument)
			buf_addf(out, " %s", options->argument);
		if (out->len - start >= OPTION_COLUMN) {
			buf_add_byte(out, '\n');
			start = out->len;
		}
		wrap(options->help, OPTION_COLUMN, out->len - start, out);
	}
}

void help_overview(const struct look *look, struct buf *out)
{
	size_t count;
	const char *const *topics = help_topics(&count);
	struct buf more = { 0 };

	buf_add_str(out, "titan [OPTION..] COMMAND [OPTION..] [ARGUMENT..]\n\n");
	wrap("titan alone, on a terminal, starts a master and a worker, if none is running, and opens the dashboard.", 0, 0, out);
	for (int group = 0; group < GROUP_COUNT; group++) {
		buf_add_byte(out, '\n');
		heading(look, command_groups[group], out);
		for (int id = 1; id < COMMAND_COUNT; id++) {
			if ((int)command_table[id].group == group) {
				buf_addf(out, "  %-12s", command_table[id].verb);
				wrap(command_table[id].help, COMMAND_COLUMN, COMMAND_COLUMN, out);
			}
		}
	}
	buf_add_byte(out, '\n');
	heading(look, "Options of every command", out);
	options_help(global_options, out);
	buf_add_str(&more, "More: titan COMMAND --help, man titan-COMMAND; titan help");
	for (size_t i = 0; i < count; i++)
		buf_addf(&more, "%s %s", i ? " |" : "", topics[i]);
	buf_add_byte(out, '\n');
	wrap(buf_cstr(&more), 0, 0, out);
	buf_free(&more);
}

void help_command(const struct look *look, const struct command_info *command, struct buf *out)
{
	struct buf form = { 0 };

	buf_addf(&form, "%s %s%s", command->verb, command->pattern, command->options->id != OPT_none ? " [OPTION..]" : "");
	buf_add_str(out, "titan");
	wrap(buf_cstr(&form), strlen("titan "), strlen("titan"), out);
	buf_free(&form);
	buf_add_byte(out, '\n');
	wrap(command->help, 0, 0, out);
	if (command->text[0] != '\0') {
		buf_add_byte(out, '\n');
		wrap(command->text, 0, 0, out);
	}
	if (command->options->id != OPT_none) {
		buf_add_byte(out, '\n');
		heading(look, "Options", out);
		options_help(command->options, out);
	}
	buf_add_byte(out, '\n');
	heading(look, "Examples", out);
	for (const char *const *example = command->examples; *example != NULL; example++)
		buf_addf(out, "  %s\n", *example);
	buf_addf(out, "\nMore: titan help options (accepted by all commands), man titan-%s\n", command->verb);
}

/* ---- topics ---- */

static void topic_options(const struct look *look, struct buf *out)
{
	heading(look, "Options of every command", out);
	options_help(global_options, out);
	buf_add_str(out, "\nThese options stand before or after the command and its arguments; -- ends the options. Options of one\n"
			 "command stand after its name: titan COMMAND --help.\n");
}

static void topic_dag(const struct look *look, struct buf *out)
{
	heading(look, "A graph on one line", out);
	buf_add_str(out,
		    "  fetch -> {unpack, lint -> check} -> enc*8 -> notify!; lint:failed -> mail;\n"
		    "  fetch='curl -O x'; enc='ffmpeg $i' retry=3 timeout=5m; ...\n"
		    "\n"
		    "  a -> b            b needs a\n"
		    "  {a, b -> c}       parallel branches; {a, b} -> {c, d} joins all with all\n"
		    "  a*8  a*{x,y}      a fan-out: a[0], a[1].. with TITAN_INDEX, TITAN_ITEM and i\n"
		    "                    in the environment\n"
		    "  a:failed -> b     b runs when a failed; also a:done, whatever became of it\n"
		    "  a!                runs whatever became of what it needs\n"
		    "  a='COMMAND'       and behind it any of: retry=N timeout=SPAN\n"
		    "                    backoff=SPAN[..LONGEST] retry_on=exit,signal,spawn,timeout\n"
		    "                    crash_limit=N continue_on=failed,timed_out,denied\n"
		    "                    on_worker_death=adopt|kill log=lossless|SIZE\n"
		    "                    prio=N dir=/PATH env=NAME=VALUE mode=retry|exclusive|once\n"
		    "                    outputs=NAME,NAME\n"
		    "                    label=LABEL delay=SPAN deadline=SPAN|TIME\n"
		    "                    dispatch_timeout=SPAN when='CONDITION' cpus=N memory=SIZE\n"
		    "                    gpus=N resource=NAME=N worker=NAME prefer=LABEL\n"
		    "                    pool=NAME affinity=parent|sticky lock=NAME[=shared]\n"
		    "                    requires=CAPABILITY topic=TOPIC\n"
		    "                    concurrency=NAME[=LIMIT] description=TEXT\n"
		    "  a='' kind=noop    a job that runs nothing: a join or a milestone\n"
		    "  a -> ?b -> c      b is a gate that people approve; b='QUESTION' and behind it\n"
		    "                    any of: count=N from=NAME approve_timeout=SPAN\n"
		    "\n"
		    "Statements end with ; or a line. # begins a comment. In '..' everything stands\n"
		    "for itself, in \"..\" \\n, \\t, \\\" and \\\\ are known. A command without shell\n"
		    "syntax is executed directly, any other one by sh.\n");
}

static void topic_exit(const struct look *look, struct buf *out)
{
	static const enum err codes[] = {
#define ERROR(name, wire, exit_status, again, text) ERR_##name,
#include "proto/errors.def"
#undef ERROR
	};
	struct buf texts = { 0 };

	heading(look, "Exit statuses", out);
	buf_add_str(out, "    0  all is well; for commands that wait: all jobs succeeded\n");
	for (int status = 1; status < 256; status++) {
		buf_clear(&texts);
		for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
			if (err_exit_status(codes[i]) == status)
				buf_addf(&texts, "%s%s", texts.len ? "; " : "", err_text(codes[i]));
		if (texts.len == 0)
			continue;
		buf_addf(out, "  %3d", status);
		wrap(buf_cstr(&texts), STATUS_COLUMN, 5, out);
	}
	buf_free(&texts);
}

static void topic_output(const struct look *look, struct buf *out)
{
	heading(look, "Output", out);
	buf_add_str(out, "  Data goes to standard output, everything else to standard error.\n"
			 "  --json      one JSON value (watch, logs, events, run --follow: one a line)\n"
			 "              errors as well: {\"error\":{\"code\",\"status\",\"text\",\"next\"}} on standard error\n"
			 "  --plain     fields separated by tabs, no header, times in UTC, spans in ms\n"
			 "  --format    a template such as '{run} {state}'; it may use the fields of --json, \\t and \\n\n"
			 "  NO_COLOR and TERM=dumb turn colours off; --color overrides them.\n");
}

static void topic_selectors(const struct look *look, struct buf *out)
{
	heading(look, "Selectors", out);
	buf_add_str(out, "  4127            the run with this number\n"
			 "  last            the newest run\n"
			 "  self            inside a job: the run that it belongs to\n"
			 "  4127/load       a job of run 4127\n"
			 "  4127/encode[7]  one job of a fan-out\n"
			 "  4127/encode     all jobs of a fan-out, in commands that change several\n"
			 "  all             all runs; for changes all live runs, for retry all that ended badly\n"
			 "  4120-4127       the runs with these numbers\n"
			 "  FAIL            all jobs in this state, by its word on screens (titan help states)\n"
			 "  label=gpu,state=FAIL\n"
			 "                  all jobs with these properties: state, label, name, worker of the\n"
			 "                  job; run, owner, tenant of its run. With only the last three: runs.\n"
			 "                  Ended runs are searched only if a state is given.\n"
			 "Of the runs, --where EXPR selects jobs by any field (titan help expressions).\n"
			 "Every command that takes runs or jobs reads these. One that needs a single run or job\n"
			 "takes any selector that stands for exactly one. A change of several asks first;\n"
			 "without a terminal it needs -y.\n");
}

struct words {
	struct buf *out;
	const struct look *look;
	const char *heading;             /* of the words so far */
};

static void word_line(void *arg, const char *title, const char *word, const char *meaning)
{
	struct words *words = arg;
	struct buf *out = words->out;
	size_t start;

	if (words->heading == NULL || strcmp(words->heading, title) != 0)
		heading(words->look, title, out);
	words->heading = title;
	start = out->len;
	buf_addf(out, "  %s", word);
	if (out->len - start >= WORD_COLUMN) {
		buf_add_byte(out, '\n');
		start = out->len;
	}
	wrap(meaning, WORD_COLUMN, out->len - start, out);
}

static void topic_expressions(const struct look *look, struct buf *out)
{
	struct words words = { .out = out, .look = look };

	expr_words(word_line, &words);
	heading(look, "Names after --where", out);
	buf_add_str(out, "  The fields that the rows have with --json. A field that ends in _ms is a time\n"
			 "  span, and may be written without it: age > 1h. Other words for fields:\n ");
	for (size_t i = 0; i < where_alias_count; i++)
		buf_addf(out, "%s %s (%s)", i > 0 ? "," : "", where_aliases[i].word, where_aliases[i].key);
	buf_add_str(out, ".\n\nValues of different types can't be compared. A comparison with a value that isn't\n"
			 "there is false, and a != b is always the opposite of a == b; has(a) tells whether\n"
			 "a is there. Examples: titan ls --where 'failed > 0 and age > 1h', titan show last\n"
			 "--where 'state in [failed, timed_out] and exit == 137', and in a pipeline\n"
			 "when: jobs.build.outputs.changed == \"yes\".\n");
}

static void state_line(const struct look *look, const struct state_info *state, struct buf *out)
{
	buf_add_str(out, "  ");
	look_state(look, state, out);
	/* Pad by hand: a glyph takes one cell but several bytes. */
	for (size_t cells = strlen(state->word) + 2; cells < 10; cells++)
		buf_add_byte(out, ' ');
	buf_addf(out, "%-12s ", state->name);
	wrap(state->fact, STATE_COLUMN, STATE_COLUMN, out);
}

static void topic_states(const struct look *look, struct buf *out)
{
	heading(look, "States of a job", out);
	for (int i = 0; i < STATE_COUNT; i++)
		state_line(look, &state_table[i], out);
	heading(look, "Shown over a state", out);
	for (int i = 0; i < FLAG_COUNT; i++)
		state_line(look, &flag_table[i], out);
}

static void topic_environment(const struct look *look, struct buf *out)
{
	heading(look, "Environment", out);
	buf_add_str(out, "  TITAN_CLUSTER    name of the cluster, if --cluster isn't given\n"
			 "  TITAN_STATE      directory with the state of all clusters\n"
			 "                   (default: $XDG_STATE_HOME/titan, ~/.local/state/titan)\n"
			 "  TITAN_HEARTBEAT, TITAN_LEASE, TITAN_GRACE\n"
			 "                   settings of titan master, if its options aren't given\n"
			 "  NO_COLOR, TERM   whether output has colours\n"
			 "The environment overrides the settings in .titan.conf, ~/.config/titan/titan.conf\n"
			 "and /etc/titan/titan.conf: see titan.conf(5).\n");
}

static const char *const topic_names[] = { "dag", "environment", "exit", "expressions", "options", "output", "selectors", "states" };
static void (*const topic_texts[])(const struct look *look, struct buf *out) = {
	topic_dag, topic_environment, topic_exit, topic_expressions, topic_options, topic_output, topic_selectors, topic_states,
};

const char *const *help_topics(size_t *ret_count)
{
	*ret_count = sizeof(topic_names) / sizeof(topic_names[0]);
	return topic_names;
}

bool help_topic(const struct look *look, const char *topic, struct buf *out)
{
	for (size_t i = 0; i < sizeof(topic_names) / sizeof(topic_names[0]); i++) {
		if (strcmp(topic_names[i], topic) == 0) {
			topic_texts[i](look, out);
			return true;
		}
	}
	return false;
}
