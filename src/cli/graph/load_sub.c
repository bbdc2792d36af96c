/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loads the pipeline files that a pipeline's jobs name as their work, and the files that those name in turn. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/graph/load_internal.h"
#include "cli/session/output.h"
#include "lang/pipeline_matrix.h"
#include "proto/limits.h"

struct sub_link { /* a pipeline file in the chain from the first file to the present one */
	const struct sub_link *up;
	const char *path;                /* path as shown in messages */
	const char *real;
	struct slice text;
	const struct pipeline_texts *texts;  /* the text and what it includes, once it was read */
	unsigned depth;
};

static enum err load_all(struct cli *cli, const struct sub_link *link, struct dagline *dag);

static void chain_add(struct buf *out, const struct sub_link *link)
{
	if (link->up) {
		chain_add(out, link->up);
		buf_add_str(out, " -> ");
	}
	buf_add_str(out, link->path);
}

/* Print cli->error with the place where one file names another. */
static enum err named_wrong(struct cli *cli, const struct sub_link *link, const struct dag_node *node)
{
	load_explain_in(cli, link->texts, link->path, node->sub_spot);
	return cli->error.code;
}

static enum err chain_wrong(struct cli *cli, const struct sub_link *link, const struct dag_node *node, enum err code,
			    const char *path, const char *why)
{
	struct buf chain = { 0 };

	chain_add(&chain, link);
	error_set(&cli->error, code, "%s: %s -> %s", why, buf_cstr(&chain), path);
	buf_free(&chain);
	return named_wrong(cli, link, node);
}

static enum err sub_file(struct cli *cli, const struct sub_link *link, const struct dag_node *node, struct sub_link *ret)
{
	const char *path = load_path_beside(cli, link->path, node->sub_path);
	char real[PATH_MAX];

	if (realpath(path, real) == NULL) {
		int why = errno;

		error_system(&cli->error, why, "can't open %s", path);
		if (why == ENOENT)
			cli->error.code = ERR_NOT_FOUND;
		return named_wrong(cli, link, node);
	}
	for (const struct sub_link *at = link; at != NULL; at = at->up)
		if (strcmp(at->real, real) == 0)
			return chain_wrong(cli, link, node, ERR_CYCLE, path, "this pipeline would contain itself");
	if (link->depth == LIMIT_SUBRUN_DEPTH)
		return chain_wrong(cli, link, node, ERR_TOO_LARGE, path, "pipelines are nested too deep");
	*ret = (struct sub_link){
		.up = link, .path = path, .real = arena_strdup(&cli->arena, slice_str(real)), .depth = link->depth + 1,
	};
	return ERR_NONE;
}

static enum err sub_size(struct cli *cli, const struct sub_link *link, const struct dag_node *node, const struct dag_sub *sub)
{
	const struct job_defaults none = { 0 };
	struct arena arena = { 0 };
	struct slice bytes = dag_sub_bytes(sub, &none, &arena);

	arena_free(&arena);
	if (bytes.len <= LIMIT_JOB_SPEC_MAX * 3 / 4)
		return ERR_NONE;
	error_set(&cli->error, ERR_TOO_LARGE, "the sub-run has %llu jobs with %zu bytes, and at most %d bytes are "
		"allowed; move some jobs into another pipeline", (unsigned long long)sub->dag.job_count, bytes.len, LIMIT_JOB_SPEC_MAX * 3 / 4);
	return named_wrong(cli, link, node);
}

static enum err sub_load(struct cli *cli, const struct sub_link *link, const struct dag_node *node, struct sub_link *file,
			 uint64_t place, struct dag_sub *ret)
{
	struct pipeline_source source = { .text = file->text, .taken = node->sub_taken, .unknown = node->sub_unknown };
	struct dag_node filled = *node;
	struct pipeline pipeline;
	enum err err;

	if (node->matrix != NULL)
		matrix_fill(node, place, &cli->arena, &filled);
	source.given = filled.sub_given;
	err = load_source(cli, file->path, &source, &pipeline);
	file->texts = &pipeline.texts;
	if (err == ERR_NONE)
		err = load_all(cli, file, &pipeline.dag);
	file->texts = NULL;
	if (err != ERR_NONE) {
		if (cli->error.text[0] != '\0')
			return named_wrong(cli, link, node);
		return err;
	}
	*ret = (struct dag_sub){ .name = pipeline.name, .max_jobs = pipeline.max_jobs,
				 .concurrency = pipeline.concurrency, .outputs = pipeline.outputs, .dag = pipeline.dag };
	return sub_size(cli, link, node, ret);
}

/* Load a job's pipeline once for all jobs of its fan-out that have the same parameters. */
static enum err node_load(struct cli *cli, const struct sub_link *link, struct dag_node *node)
{
	struct sub_link file;
	struct buf text = { 0 };
	enum err err = sub_file(cli, link, node, &file);

	if (err != ERR_NONE)
		return err;
	err = load_file(cli, file.path, &text);
	file.text = arena_copy(&cli->arena, buf_slice(&text));
	buf_free(&text);
	if (err != ERR_NONE)
		return named_wrong(cli, link, node);
	node->sub_count = node->matrix != NULL && node->sub_given.n > 0 ? node->width : 1;
	node->subs = arena_zalloc(&cli->arena, node->sub_count, sizeof(*node->subs));
	for (uint32_t place = 0; place < node->sub_count && err == ERR_NONE; place++)
		err = sub_load(cli, link, node, &file, place, &node->subs[place]);
	return err;
}

/* Find the paths of a job's files, which are relative to this file. */
static enum err find_files(struct cli *cli, const struct sub_link *link, struct dag_node *node)
{
	for (size_t i = 0; i < node->file_count; i++) {
		struct dag_file *file = &node->files[i];
		struct slice included;
		size_t begin;

		pipeline_place(link->texts, file->spot.at, &included, &file->text, &begin);
		file->text_name = included.len > 0 ? load_path_beside(cli, link->path, included) : link->path;
		file->spot.at -= begin;
		if (file->known || !dag_file_is_path(file->src))
			continue;
		file->path = load_path_beside(cli, link->path, file->src);
		if (access(file->path, R_OK) < 0) {
			error_system(&cli->error, errno, "can't read %s", file->path);
			cli->error.code = ERR_NOT_FOUND;
			load_explain(cli, file->text, file->text_name, &file->spot);
			return ERR_NOT_FOUND;
		}
	}
	return ERR_NONE;
}

/* Check the outputs that other jobs use of one whose pipeline was just loaded. */
static enum err check_outputs(struct cli *cli, const struct sub_link *link, const struct dagline *dag, const struct dag_node *from)
{
	for (size_t i = 0; i < dag->node_count; i++)
		for (size_t k = 0; k < dag->nodes[i]->take_count; k++) {
			const struct dag_take *take = &dag->nodes[i]->takes[k];

			if (take->found || take->up > 0 || !slice_eq(take->job, from->name) || dag_declares(from, take->output))
				continue;
			dag_undeclared(from, take->output, &cli->error);
			load_explain(cli, link->text, link->path, &take->spot);
			return cli->error.code;
		}
	return ERR_NONE;
}

static enum err load_all(struct cli *cli, const struct sub_link *link, struct dagline *dag)
{
	enum err err = ERR_NONE;

	for (size_t i = 0; i < dag->node_count && err == ERR_NONE; i++) {
		struct dag_node *node = dag->nodes[i];

		err = find_files(cli, link, node);
		if (err != ERR_NONE)
			break;
		/* A graph that is written inside its job is parsed already, but its own jobs may name files. */
		if (node->sub_count > 0)
			err = load_all(cli, link, &node->subs[0].dag);
		else if (node->sub_path.len > 0 && !node->sub_guessed &&
			 (err = node_load(cli, link, node)) == ERR_NONE)
			err = check_outputs(cli, link, dag, node);
	}
	return err;
}

enum err load_subs(struct cli *cli, const char *path, struct pipeline *pipeline)
{
	char real[PATH_MAX];
	struct sub_link link = { .path = path, .real = realpath(path, real) ? real : path, .texts = &pipeline->texts };

	return load_all(cli, &link, &pipeline->dag);
}
