/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the key run. A value never becomes text of a script: each ${..} becomes a variable, quoted as its place in the script
 * needs it, and the value goes into the job's environment. A command that needs no shell gets the value inside one word.
 */
#include "lang/pipeline_internal.h"

#include "base/text.h"
#include "lang/shell_place.h"
#include "proto/limits.h"
#include "proto/value_name.h"

#define MARK       0xff                  /* stands for a value; no text in UTF-8 has this byte */

static const struct refusal {
	const char *text, *next;
} refusals[] = {
	[SHELL_SINGLE] = { "no value can be put in between single quotes",
			   "a program in the quotes can read it from env:; plain text can end its quotes: 'a '${params.x}' b'" },
	[SHELL_HERE_LITERAL] = { "no value can be put into a here-document whose end word is quoted",
				 "write <<END without quotes; for the text itself write $\\{params.x}" },
	[SHELL_HERE_END] = { "a value can't be the end word of a here-document", "write a fixed word" },
	[SHELL_BACKQUOTE] = { "no value can be put in between backquotes", "write $(...) instead of `...`" },
	[SHELL_ARITHMETIC] = { "a shell that computes with a value could run commands that stand in it",
			       "give it as env: {N: VALUE}, check that $N is a number, and compute with $N" },
	[SHELL_ESCAPED] = { "a backslash can't stand before a value",
			    "remove the backslash: values are quoted; for the text itself write $\\{params.x}" },
	[SHELL_NAME] = { "a value can't be the name of a variable", "choose the variable with case ... esac" },
	[SHELL_EVAL] = { "eval, trap, alias and let run what stands in a value",
			 "give it as env: {FILE: VALUE}, and let the shell read the variable: trap 'rm \"$FILE\"' EXIT" },
	[SHELL_LIST] = { "a value is one word, so this loop would have one pass",
			 "give it as env: {LIST: VALUE}, and write: for i in $LIST" },
	[SHELL_LOST] = { "this script is nested too deeply to put a value in here", "give it as env: {NAME: VALUE}, and write \"$NAME\"" },
};

/* ---- variables ---- */

static bool is_plain_name(struct slice name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.data[i] == '.' || name.data[i] == '-')
			return false;
	return true;
}

static void add_coded(struct buf *out, struct slice name)
{
	for (size_t i = 0; i < name.len; i++) {
		uint8_t byte = name.data[i];

		if (byte != '.' && byte != '-' && byte != '_')
			buf_add_byte(out, byte);
		else
			buf_addf(out, "_%02X", byte);
	}
}

/* Split JOB.outputs.NAME. Names of jobs may have dots. */
static bool split_output(struct slice text, struct slice *job, struct slice *output)
{
	static const char word[] = ".outputs.";
	const size_t len = sizeof(word) - 1;

	for (size_t at = text.len > len ? text.len - len : 0; at > 0; at--) {
		if (memcmp(text.data + at, word, len) != 0)
			continue;
		*job = slice_make(text.data, at);
		*output = slice_make(text.data + at + len, text.len - at - len);
		return text_is_name(*job) && text_is_name(*output);
	}
	return false;
}

/*
 * Name the variable of a reference: TITAN_P_ver for ${params.ver}, TITAN_M_os for ${matrix.os}. Names with . or - can't be
 * names of variables: they are written with codes, behind TITAN_PX_ or TITAN_MX_.
 */
static void add_variable(struct buf *out, const struct matrix_ref *ref)
{
	bool plain = is_plain_name(ref->name);
	struct slice job, output;

	if (ref->kind == FAULT_OUTPUT && split_output(ref->name, &job, &output)) {
		buf_add_str(out, VALUE_OUTPUT "_");
		add_coded(out, job);
		buf_add_str(out, "__");
		add_coded(out, output);
		return;
	}

	buf_addf(out, "%s%s_", ref->kind == FAULT_PARAM ? VALUE_PARAM : VALUE_AXIS, plain ? "" : VALUE_CODED);
	if (plain)
		buf_add_slice(out, ref->name);
	else
		add_coded(out, ref->name);
}

static bool is_made_already(const struct pipe_job *job, struct slice lead)
{
	for (size_t i = 0; i < job->made.n; i++)
		if (job->made.at[i].len >= lead.len && memcmp(job->made.at[i].data, lead.data, lead.len) == 0)
			return true;
	return false;
}

static enum err too_long(struct pipe *pipe, const struct tree_node *node, const struct matrix_ref *ref)
{
	struct dag_spot spot = pipe_part_spot(pipe, node, ref->at, ref->len);

	dag_fail(&pipe->reader, spot.at, spot.len, ERR_TOO_LARGE, "this value is too long: a job's variables and arguments have at most 128 KiB");
	error_next(pipe->reader.error, "write the value to a file, and give the name of the file");
	return ERR_TOO_LARGE;
}

/* Count the bytes of a text with its values. */
static enum err count_bytes(struct pipe *pipe, const struct tree_node *node, size_t bytes)
{
	pipe->text_bytes += bytes;
	if (pipe->text_bytes <= LIMIT_PIPELINE_TEXT_MAX)
		return ERR_NONE;
	return pipe_fail(pipe, node, ERR_TOO_LARGE, "the pipeline has more than %d bytes after its parameters were filled in",
			 LIMIT_PIPELINE_TEXT_MAX);
}

/* Add the variable of this reference to those of the job. In a job with a matrix its value is filled in later. */
static enum err make_variable(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, const struct matrix_ref *ref)
{
	struct slice_list values = matrix_values(&pipe->words, ref);
	struct buf entry = { 0 };
	struct slice *grown;
	enum err err = ERR_NONE;

	add_variable(&entry, ref);
	buf_add_byte(&entry, '=');
	for (size_t i = 0; i < values.n; i++)
		if (entry.len + values.at[i].len > LIMIT_VARIABLE_MAX)
			err = too_long(pipe, node, ref);
	if (err == ERR_NONE && !is_made_already(job, buf_slice(&entry))) {
		if (pipe->words.axis_count > 0)
			buf_add(&entry, node->text.data + ref->at, ref->len);
		else
			buf_add_slice(&entry, values.at[0]);
		grown = arena_zalloc(pipe->reader.arena, job->made.n + 1, sizeof(*grown));
		if (job->made.n > 0)
			memcpy(grown, job->made.at, job->made.n * sizeof(*grown));
		grown[job->made.n++] = arena_copy(pipe->reader.arena, buf_slice(&entry));
		job->made.at = grown;
		err = count_bytes(pipe, node, entry.len);
	}
	buf_free(&entry);
	return err;
}

enum err pipe_read_ref(struct pipe *pipe, const struct tree_node *node, const struct matrix_ref *ref, struct dag_take *ret)
{
	struct slice taken = matrix_taken(&pipe->words, ref);
	const uint8_t *slash;

	ret->spot = pipe_part_spot(pipe, node, ref->at, ref->len);
	if (taken.len == 0 && !split_output(ref->name, &ret->job, &ret->output)) {
		dag_fail(&pipe->reader, ret->spot.at, ret->spot.len, ERR_INVALID, "this is no output of a job");
		error_next(pipe->reader.error, "write ${jobs.JOB.outputs.NAME}");
		return ERR_INVALID;
	}
	for (; taken.len > 3 && memcmp(taken.data, "../", 3) == 0; taken = slice_make(taken.data + 3, taken.len - 3))
		ret->up++;
	slash = taken.len > 0 ? memchr(taken.data, '/', taken.len) : NULL;
	if (slash != NULL) {
		/* What belongs to a graph around was checked there. */
		ret->found = ret->up > 0;
		ret->job = slice_make(taken.data, (size_t)(slash - taken.data));
		ret->output = slice_make(slash + 1, (size_t)(taken.data + taken.len - slash - 1));
	}
	return ERR_NONE;
}

/* Note that the job takes this output of another job into the variable, unless it does so already. */
static enum err add_take(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, const struct matrix_ref *ref,
			 struct slice variable)
{
	struct dag_node *own = job->node;
	struct dag_take take = { .variable = variable };
	enum err err = pipe_read_ref(pipe, node, ref, &take);

	if (err != ERR_NONE)
		return err;
	for (size_t i = 0; i < own->take_count; i++)
		if (slice_eq(own->takes[i].variable, variable))
			return ERR_NONE;
	if (own->take_count == LIMIT_TAKES_MAX)
		return dag_fail(&pipe->reader, take.spot.at, take.spot.len, ERR_TOO_LARGE, "a job may use at most %d outputs of others",
				LIMIT_TAKES_MAX);
	dag_take_add(&pipe->reader, own, &take);
	return ERR_NONE;
}

static bool is_output(const struct pipe *pipe, const struct matrix_ref *ref)
{
	return ref->kind == FAULT_OUTPUT || matrix_taken(&pipe->words, ref).len > 0;
}

bool pipe_is_output(const struct pipe *pipe, const struct tree_node *node)
{
	struct matrix_ref ref;

	return node->kind == TREE_TEXT && matrix_next(node->text, 0, &ref) && is_output(pipe, &ref) && ref.len == node->text.len;
}

enum err pipe_read_take(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, struct slice variable)
{
	struct matrix_ref ref;

	matrix_next(node->text, 0, &ref);
	return add_take(pipe, job, node, &ref, variable);
}

struct slice pipe_taken_up(struct pipe *pipe, struct slice taken)
{
	struct buf text = { 0 };
	struct slice copy;

	buf_add_str(&text, "../");
	buf_add_slice(&text, taken);
	copy = arena_copy(pipe->reader.arena, buf_slice(&text));
	buf_free(&text);
	return copy;
}

enum err pipe_read_taken(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, bool inside, struct slice *ret)
{
	struct buf text = { 0 };
	struct dag_take take = { .variable = node->key };
	struct matrix_ref ref;
	enum err err;

	matrix_next(node->text, 0, &ref);
	err = pipe_read_ref(pipe, node, &ref, &take);
	if (err != ERR_NONE)
		return err;
	/* The take is only there to be checked: a job with a sub-run has no environment. */
	if (inside)
		dag_take_add(&pipe->reader, job->node, &take);
	buf_add_slice(&text, node->key);
	buf_add_byte(&text, '=');
	for (unsigned i = inside ? 0 : 1; i <= take.up; i++)
		buf_add_str(&text, "../");
	buf_add_slice(&text, take.job);
	buf_add_byte(&text, '/');
	buf_add_slice(&text, take.output);
	*ret = arena_copy(pipe->reader.arena, buf_slice(&text));
	buf_free(&text);
	return ERR_NONE;
}

/* ---- places ---- */

static bool has_blank(struct slice text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == ' ' || text.data[i] == '\t' || text.data[i] == '\n')
			return true;
	return false;
}

/* The interpreter of the job's script; empty: sh. */
static struct slice shell_of(const struct pipe *pipe, const struct pipe_job *job)
{
	return job->node->plain.interpreter.len > 0 ? job->node->plain.interpreter : pipe->defaults.plain.interpreter;
}

/* Refuse values in a script of another language than that of sh: they would be parsed as code there. */
static enum err refuse_all(struct pipe *pipe, const struct tree_node *node, struct slice shell)
{
	bool python = slice_eq(shell, slice_str("python3"));
	struct matrix_ref ref;
	enum err err = ERR_NONE;

	for (size_t from = 0; matrix_next(node->text, from, &ref); from = ref.at + ref.len) {
		struct dag_spot spot = pipe_part_spot(pipe, node, ref.at, ref.len);

		if (ref.kind == REF_LITERAL)
			continue;
		pipe->reader.guessed.len = 0;
		dag_fail(&pipe->reader, spot.at, spot.len, ERR_INVALID, "no value can be put into a script of %.*s, where it would be code",
			 (int)shell.len, (const char *)shell.data);
		error_next(pipe->reader.error, python ? "give it as env: {NAME: VALUE}, and write os.environ['NAME']"
						      : "give it as env: {NAME: VALUE}, and let the script read that variable");
		pipe_note(pipe, ERR_INVALID, &err);
	}
	return err;
}

/* Check the places of all references, and that the name of a command isn't several words. */
static enum err check_places(struct pipe *pipe, const struct tree_node *node)
{
	struct shell_reader reader;
	struct matrix_ref ref;
	enum err err = ERR_NONE;

	shell_begin(&reader, node->text);
	for (size_t from = 0; matrix_next(node->text, from, &ref); from = ref.at + ref.len) {
		struct dag_spot spot = pipe_part_spot(pipe, node, ref.at, ref.len);
		struct slice_list values = matrix_values(&pipe->words, &ref);
		enum shell_place place;

		if (ref.kind == REF_LITERAL)
			continue;
		place = shell_place(&reader, ref.at, ref.len);
		if (refusals[place].text != NULL) {
			/* This is wrong whatever the value is. */
			pipe->reader.guessed.len = 0;
			dag_fail(&pipe->reader, spot.at, spot.len, ERR_INVALID, "%s", refusals[place].text);
			error_next(pipe->reader.error, "%s", refusals[place].next);
			pipe_note(pipe, ERR_INVALID, &err);
		}
		for (size_t i = 0; place == SHELL_WORD && reader.is_command && i < values.n; i++) {
			if (!has_blank(values.at[i]))
				continue;
			dag_fail(&pipe->reader, spot.at, spot.len, ERR_INVALID, "a value is one word, so its blanks would be part of a program's name");
			error_next(pipe->reader.error, "give it as env: {COMMAND: VALUE}, and write $COMMAND without quotes");
			pipe_note(pipe, ERR_INVALID, &err);
			break;
		}
	}
	return err;
}

/* ---- commands and scripts ---- */

/* Split a command that needs no shell into words, with MARK for each reference. */
static bool split_marked(const struct pipe *pipe, struct slice text, struct buf *words, size_t *count)
{
	struct buf marked = { 0 };
	struct matrix_ref ref;
	size_t from = 0;
	bool plain = true;

	while (plain && matrix_next(text, from, &ref)) {
		plain = ref.kind != REF_LITERAL && !is_output(pipe, &ref);
		buf_add(&marked, text.data + from, ref.at - from);
		buf_add_byte(&marked, MARK);
		from = ref.at + ref.len;
	}
	buf_add(&marked, text.data + from, text.len - from);
	plain = plain && text_split_plain(buf_slice(&marked), words, count);
	buf_free(&marked);
	return plain;
}

/* Put the references back into a word; *from is the end of the latest one in the text. */
static struct slice unmark(struct pipe *pipe, struct slice text, struct slice word, size_t *from)
{
	struct buf out = { 0 };
	struct matrix_ref ref;
	struct slice copy;

	while (word.len > 0) {
		const uint8_t *mark = memchr(word.data, MARK, word.len);
		size_t len = mark ? (size_t)(mark - word.data) : word.len;

		matrix_escape(slice_make(word.data, len), &out);
		if (mark != NULL && matrix_next(text, *from, &ref)) {
			buf_add(&out, text.data + ref.at, ref.len);
			*from = ref.at + ref.len;
		}
		len += mark != NULL;
		word = slice_make(word.data + len, word.len - len);
	}
	copy = arena_copy(pipe->reader.arena, buf_slice(&out));
	buf_free(&out);
	return copy;
}

static enum err make_words(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node, struct slice words, size_t count)
{
	struct slice_list list = { arena_zalloc(pipe->reader.arena, count, sizeof(struct slice)), count };
	enum err err = ERR_NONE;
	struct slice_list templates = { arena_zalloc(pipe->reader.arena, count, sizeof(struct slice)), count };
	size_t from = 0, code;

	for (size_t i = 0; err == ERR_NONE && i < count; i++) {
		size_t len = strnlen((const char *)words.data, words.len);
		struct slice template = unmark(pipe, node->text, slice_make(words.data, len), &from), longest = { 0 };
		struct matrix_ref ref = { 0 };

		words = slice_make(words.data + len + 1, words.len - len - 1);
		if (!matrix_expand(&pipe->words, template, MATRIX_LONGEST, pipe->reader.arena, &longest, &ref) || longest.len > LIMIT_VARIABLE_MAX) {
			matrix_next(node->text, 0, &ref);
			return too_long(pipe, node, &ref);
		}
		err = count_bytes(pipe, node, longest.len);
		templates.at[i] = template;
		list.at[i] = pipe->words.axis_count > 0 ? template : longest;
	}
	code = pipe_code_word(templates);
	if (err == ERR_NONE && code > 0)
		err = pipe_check_code(pipe, node, templates.at[0], templates.at[code]);
	job->node->words = list;
	return err;
}

static enum err make_script(struct pipe *pipe, struct pipe_job *job, const struct tree_node *node)
{
	struct slice text = node->text;
	struct shell_reader reader;
	struct matrix_ref ref;
	struct buf out = { 0 };
	size_t from = 0;
	enum err err = ERR_NONE;

	shell_begin(&reader, text);
	while (err == ERR_NONE && matrix_next(text, from, &ref)) {
		buf_add(&out, text.data + from, ref.at - from);
		from = ref.at + ref.len;
		if (ref.kind == REF_LITERAL) {
			buf_add_byte(&out, '$');
			buf_add_slice(&out, ref.name);
		} else {
			bool word = shell_place(&reader, ref.at, ref.len) == SHELL_WORD;
			struct buf name = { 0 };

			add_variable(&name, &ref);
			buf_add_str(&out, word ? "\"${" : "${");
			buf_add_slice(&out, buf_slice(&name));
			/* A job that ended otherwise than well has no outputs: then the shell ends with an error. */
			buf_add_str(&out, is_output(pipe, &ref) ? "?" : "");
			buf_add_str(&out, word ? "}\"" : "}");
			if (is_output(pipe, &ref))
				err = add_take(pipe, job, node, &ref, arena_copy(pipe->reader.arena, buf_slice(&name)));
			else
				err = make_variable(pipe, job, node, &ref);
			buf_free(&name);
		}
	}
	buf_add(&out, text.data + from, text.len - from);
	if (err == ERR_NONE && out.len > LIMIT_COMMAND_MAX)
		err = pipe_fail(pipe, node, ERR_TOO_LARGE, "a script may have at most %d bytes; with a variable for each ${..} this one has %zu",
				LIMIT_COMMAND_MAX, out.len);
	if (err == ERR_NONE)
		err = count_bytes(pipe, node, out.len);
	job->node->command = arena_copy(pipe->reader.arena, buf_slice(&out));
	buf_free(&out);
	return err;
}

enum err pipe_read_run(struct pipe *pipe, struct pipe_job *job, const struct tree_node *value)
{
	struct buf words = { 0 };
	size_t count = 0;
	enum err err = pipe_check_refs(pipe, value, "run");
	struct slice shell = shell_of(pipe, job);

	if (err == ERR_NONE && value->text.len == 0)
		return pipe_fail(pipe, value, ERR_INVALID, "run is empty");
	if (err == ERR_NONE)
		err = shell_reads_sh(shell) ? check_places(pipe, value) : refuse_all(pipe, value, shell);
	if (err == ERR_NONE && shell.len == 0 && memmem(value->text.data, value->text.len, "${", 2) != NULL && split_marked(pipe, value->text, &words, &count))
		err = make_words(pipe, job, value, buf_slice(&words), count);
	else if (err == ERR_NONE)
		err = make_script(pipe, job, value);
	buf_free(&words);
	return err;
}
