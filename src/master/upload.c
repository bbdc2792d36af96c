/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph being uploaded. It owns its parts until the core has taken references to them. The bytes aren't decoded or
 * checked here: the core does that once the graph is complete. The digest covers the name's length, the name, the bytes
 * in order, and the job count, so the same graph has the same digest however it was cut into chunks.
 */
#include "master/upload.h"

#include "base/mem.h"
#include "proto/limits.h"

#define BYTES_MAX (UINT64_C(1) << 30)    /* most bytes of a graph */
#define LIMIT_DIGITS 9                   /* most digits in =LIMIT behind a group's name */

enum err upload_begin(uint64_t id, struct slice key, struct slice name, uint64_t declared,
		      struct upload **ret_upload, struct error *error)
{
	struct upload *upload;

	if (key.len != sizeof(upload->key))
		return error_set(error, ERR_INVALID, "a submit key must have %zu bytes, not %zu", sizeof(upload->key),
				 key.len);
	if (name.len > LIMIT_NAME_MAX_LEN)
		return error_set(error, ERR_TOO_LARGE, "the name of the run has %zu bytes; at most %d are allowed", name.len,
				 LIMIT_NAME_MAX_LEN);
	if (declared == 0)
		return error_set(error, ERR_INVALID, "the graph has no jobs");
	if (declared > LIMIT_RUN_JOBS_MAX)
		return error_set(error, ERR_TOO_LARGE, "the graph has %llu jobs; at most %d are allowed",
				 (unsigned long long)declared, LIMIT_RUN_JOBS_MAX);
	upload = mem_zalloc(sizeof(*upload));
	upload->id = id;
	memcpy(upload->key, key.data, sizeof(upload->key));
	upload->name.len = name.len;
	upload->name.data = mem_alloc(name.len + 1);
	if (name.len > 0)
		memcpy((uint8_t *)(uintptr_t)upload->name.data, name.data, name.len);
	upload->declared = declared;
	sha256_init(&upload->digest);
	sha256_add_u64(&upload->digest, name.len);
	sha256_add(&upload->digest, upload->name);
	*ret_upload = upload;
	return ERR_NONE;
}

static enum err text_take(struct slice *kept, struct slice text, const char *what, size_t most, struct error *error)
{
	uint8_t *copy;

	if (text.len > most)
		return error_set(error, ERR_TOO_LARGE, "the name of %s has %zu bytes; at most %zu are allowed", what, text.len, most);
	if (text.len == 0)
		return ERR_NONE;
	copy = mem_alloc(text.len);
	memcpy(copy, text.data, text.len);
	*kept = slice_make(copy, text.len);
	return ERR_NONE;
}

enum err upload_context(struct upload *upload, struct slice context, struct error *error)
{
	if (context.len > LIMIT_CONTEXT_MAX)
		return error_set(error, ERR_TOO_LARGE, "the directory and environment of all jobs take %zu bytes; at most %d"
				 " are allowed", context.len, LIMIT_CONTEXT_MAX);
	upload->context = arena_copy(&upload->arena, context);
	return ERR_NONE;
}

void upload_schedule(struct upload *upload, const struct rec_schedule_spec *spec, struct slice revision)
{
	record_encode(&upload->schedule, REC_schedule_spec, spec);
	upload->revision = arena_copy(&upload->arena, revision);
}

void upload_into(struct upload *upload, uint64_t run, struct slice_list parents)
{
	upload->into = run;
	upload->parents = slice_list_copy(&upload->arena, parents);
}

enum err upload_share(struct upload *upload, struct slice tenant, struct slice concurrency, struct error *error)
{
	enum err err = text_take(&upload->tenant, tenant, "the tenant", LIMIT_NAME_MAX_LEN, error);

	if (err == ERR_NONE)
		err = text_take(&upload->concurrency, concurrency, "the concurrency group", LIMIT_NAME_MAX_LEN + LIMIT_DIGITS, error);
	return err;
}

enum err upload_add(struct upload *upload, struct slice jobs, uint64_t count, struct error *error)
{
	struct graph_part *part;

	if (count > upload->declared - upload->count)
		return error_set(error, ERR_INVALID, "more jobs were sent than the %llu that were announced",
				 (unsigned long long)upload->declared);
	if (count == 0 || jobs.len == 0)
		return error_set(error, ERR_INVALID, "a part of the graph has no jobs");
	if (jobs.len > BYTES_MAX - upload->bytes)
		return error_set(error, ERR_TOO_LARGE, "the graph has more than %llu bytes",
				 (unsigned long long)BYTES_MAX);
	if (upload->part_count == upload->part_cap) {
		upload->part_cap = upload->part_cap ? upload->part_cap * 2 : 1;
		upload->parts = mem_resize(upload->parts, upload->part_cap, sizeof(*upload->parts));
	}
	part = &upload->parts[upload->part_count++];
	part->body = blob_make(jobs);
	part->count = (uint32_t)count;
	upload->count += count;
	upload->bytes += jobs.len;
	sha256_add(&upload->digest, jobs);
	return ERR_NONE;
}

/*
 * The fields besides the jobs. Each goes into the digest with its number, so that the same value in another field gives
 * another digest.
 */
enum part { PART_MAX_JOBS = 1, PART_TENANT, PART_INTO, PART_PARENT, PART_CONCURRENCY, PART_SCHEDULE, PART_CONTEXT };

static void digest_number(struct upload *upload, enum part part, uint64_t number)
{
	if (number == 0)
		return;
	sha256_add_u64(&upload->digest, part);
	sha256_add_u64(&upload->digest, number);
}

static void digest_text(struct upload *upload, enum part part, struct slice text)
{
	if (text.len == 0)
		return;
	digest_number(upload, part, text.len);
	sha256_add(&upload->digest, text);
}

/* Which directory a path meant at the submit is left out: the same submit in a directory that was made anew is still the same. */
static void digest_context(struct upload *upload)
{
	struct slice bytes = upload->context;
	struct rec_run_context context;
	struct arena arena = { 0 };
	struct buf plain = { 0 };

	if (bytes.len == 0 || record_decode(REC_run_context, &bytes, &arena, &context, NULL) != ERR_NONE || context.here_boot == 0) {
		digest_text(upload, PART_CONTEXT, upload->context);
	} else {
		context.here_boot = context.here_view = context.here_device = context.here_inode = 0;
		context.here_source.len = 0;
		record_encode(&plain, REC_run_context, &context);
		digest_text(upload, PART_CONTEXT, buf_slice(&plain));
	}
	buf_free(&plain);
	arena_free(&arena);
}

enum err upload_finish(struct upload *upload, uint8_t ret_digest[32], struct error *error)
{
	if (upload->count != upload->declared)
		return error_set(error, ERR_INVALID, "the graph was announced with %llu jobs, but %llu were sent",
				 (unsigned long long)upload->declared, (unsigned long long)upload->count);
	sha256_add_u64(&upload->digest, upload->count);
	digest_number(upload, PART_MAX_JOBS, upload->max_jobs);
	digest_text(upload, PART_TENANT, upload->tenant);
	digest_number(upload, PART_INTO, upload->into);
	for (size_t i = 0; i < upload->parents.n; i++)
		digest_text(upload, PART_PARENT, upload->parents.at[i]);
	digest_text(upload, PART_CONCURRENCY, upload->concurrency);
	digest_text(upload, PART_SCHEDULE, buf_slice(&upload->schedule));
	digest_context(upload);
	sha256_end(&upload->digest, ret_digest);
	return ERR_NONE;
}

void upload_drop(struct upload *upload)
{
	for (size_t i = 0; i < upload->part_count; i++)
		blob_release(upload->parts[i].body);
	mem_free(upload->parts);
	upload->parts = NULL;
	upload->part_count = upload->part_cap = 0;
	upload->refused = true;
}

void upload_free(struct upload *upload)
{
	if (!upload)
		return;
	upload_drop(upload);
	mem_free((void *)(uintptr_t)upload->name.data);
	mem_free((void *)(uintptr_t)upload->tenant.data);
	mem_free((void *)(uintptr_t)upload->concurrency.data);
	sha256_drop(&upload->digest);
	buf_free(&upload->schedule);
	arena_free(&upload->arena);
	mem_free(upload);
}
