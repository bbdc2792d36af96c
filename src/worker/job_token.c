/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The secret is a file of mode 0600 in a directory of mode 0700: only the user who owns the worker can read it. */
#include "worker/job_token.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/rand.h"
#include "base/sha256.h"
#include "base/text.h"

#define SECRET_FILE "secret"
#define PROOF_BYTES 16

int job_token_secret(int dir_fd, uint8_t ret_secret[JOB_TOKEN_SECRET])
{
	struct buf found = { 0 };
	uint8_t secret[JOB_TOKEN_SECRET];
	int result = io_read_file(dir_fd, SECRET_FILE, 2 * JOB_TOKEN_SECRET, &found);

	if (result >= 0 && found.len == JOB_TOKEN_SECRET) {
		memcpy(ret_secret, found.data, JOB_TOKEN_SECRET);
		buf_free(&found);
		return 0;
	}
	buf_free(&found);
	/* A secret cut short by a crash is replaced: jobs started with the old one are refused. */
	if (result < 0 && result != -ENOENT && result != -EFBIG)
		return result;
	rand_system(secret, sizeof(secret));
	result = io_write_file(dir_fd, SECRET_FILE, secret, sizeof(secret), 0600);
	if (result >= 0)
		memcpy(ret_secret, secret, JOB_TOKEN_SECRET);
	return result < 0 ? result : 0;
}

void job_token_write(const uint8_t secret[JOB_TOKEN_SECRET], uint64_t job, uint64_t epoch, char out[JOB_TOKEN_TEXT])
{
	uint8_t digest[SHA256_SIZE];
	struct sha256 hash;
	int len;

	sha256_init(&hash);
	sha256_add(&hash, slice_make(secret, JOB_TOKEN_SECRET));
	sha256_add_u64(&hash, job);
	sha256_add_u64(&hash, epoch);
	sha256_end(&hash, digest);
	len = snprintf(out, JOB_TOKEN_TEXT, "%" PRIu64 ".%" PRIu64 ".", job, epoch);
	for (size_t i = 0; i < PROOF_BYTES; i++)
		len += snprintf(out + len, JOB_TOKEN_TEXT - (size_t)len, "%02x", digest[i]);
}

/* Parse the number up to the next dot; false if there is none. */
static bool take_number(struct slice *text, uint64_t *ret_number)
{
	const uint8_t *dot = text->len > 0 ? memchr(text->data, '.', text->len) : NULL;
	size_t len;

	if (!dot)
		return false;
	len = (size_t)(dot - text->data);
	if (!text_parse_u64(slice_make(text->data, len), ret_number))
		return false;
	*text = slice_make(dot + 1, text->len - len - 1);
	return true;
}

bool job_token_read(const uint8_t secret[JOB_TOKEN_SECRET], struct slice text, uint64_t *ret_job, uint64_t *ret_epoch)
{
	struct slice rest = text;
	char wanted[JOB_TOKEN_TEXT];
	uint64_t job, epoch;
	unsigned differs = 0;

	if (!take_number(&rest, &job) || !take_number(&rest, &epoch))
		return false;
	job_token_write(secret, job, epoch, wanted);
	if (strlen(wanted) != text.len)
		return false;
	/* Compare in constant time, so that a proof can't be guessed byte by byte. */
	for (size_t i = 0; i < text.len; i++)
		differs |= (unsigned)((uint8_t)wanted[i] ^ text.data[i]);
	if (differs)
		return false;
	*ret_job = job;
	*ret_epoch = epoch;
	return true;
}
