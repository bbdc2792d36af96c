/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of failure policies. */
#include "lang/failure.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "proto/limits.h"

struct bit_word {
	const char *word;
	uint64_t bit;
};

static const struct bit_word retry_words[] = {
	{ "exit", RETRY_ON_EXIT }, { "signal", RETRY_ON_SIGNAL }, { "spawn", RETRY_ON_SPAWN },
	{ "timeout", RETRY_ON_TIMEOUT },
};

static const struct bit_word bad_ends[] = {
	{ "failed", CONTINUE_FAILED }, { "timed_out", CONTINUE_TIMED_OUT }, { "denied", CONTINUE_DENIED },
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static uint64_t find(const struct bit_word *words, size_t count, struct slice word)
{
	for (size_t i = 0; i < count; i++)
		if (slice_eq(word, slice_str(words[i].word)))
			return words[i].bit;
	return 0;
}

uint64_t retry_on_bit(struct slice word)
{
	return find(retry_words, COUNT(retry_words), word);
}

uint64_t continue_bit(struct slice word)
{
	return find(bad_ends, COUNT(bad_ends), word);
}

void continue_words(uint64_t bits, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < COUNT(bad_ends); i++) {
		if (!(bits & bad_ends[i].bit))
			continue;
		buf_addf(out, "%s%s", any ? ", " : "", bad_ends[i].word);
		any = true;
	}
}

bool worker_death_by_name(struct slice word, enum worker_death *ret)
{
	bool kill = slice_eq(word, slice_str("kill"));

	if (!kill && !slice_eq(word, slice_str("adopt")))
		return false;
	*ret = kill ? DEATH_KILL : DEATH_ADOPT;
	return true;
}

static bool span_parse(const uint8_t *data, size_t len, uint64_t *ret_ms)
{
	char copy[32];
	int64_t ms;

	snprintf(copy, sizeof(copy), "%.*s", (int)(len < sizeof(copy) ? len : 0), (const char *)data);
	if (len >= sizeof(copy) || clock_parse_span(copy, &ms) != 0 || ms <= 0 || ms / 1000 > LIMIT_SPAN_MAX_S)
		return false;
	*ret_ms = (uint64_t)ms;
	return true;
}

static const char *const restarts[] = { [RESTART_ALWAYS] = "always", [RESTART_ON_FAILURE] = "on_failure", [RESTART_NEVER] = "never" };

bool restart_by_name(struct slice word, uint64_t *ret)
{
	for (uint64_t i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++) {
		if (!slice_eq(word, slice_str(restarts[i])))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

const char *restart_name(uint64_t restart)
{
	return restart <= RESTART_NEVER ? restarts[restart] : "?";
}

const char *backoff_parse(struct slice text, uint64_t *ret_first_ms, uint64_t *ret_last_ms)
{
	const uint8_t *dots = text.len > 2 ? memmem(text.data, text.len, "..", 2) : NULL;
	size_t first_len = dots ? (size_t)(dots - text.data) : text.len;
	uint64_t first, last = 0;

	if (!span_parse(text.data, first_len, &first))
		return "expected one time span or two, such as 5s or 5s..2m";
	if (dots && !span_parse(dots + 2, text.len - first_len - 2, &last))
		return "expected the longest wait after the dots, as in 5s..2m";
	if (dots && last < first)
		return "the longest wait (after the dots) is shorter than the first, as in 5s..2m";
	*ret_first_ms = first;
	*ret_last_ms = last;
	return NULL;
}

static int code_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void codes_sort(struct u64_list *codes)
{
	size_t kept = 0;

	if (codes->n == 0)
		return;
	qsort(codes->at, codes->n, sizeof(*codes->at), code_order);
	for (size_t i = 0; i < codes->n; i++)
		if (i == 0 || codes->at[i] != codes->at[i - 1])
			codes->at[kept++] = codes->at[i];
	codes->n = kept;
}
