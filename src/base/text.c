/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers and names in text, and the edit distance of names. */
#include "base/text.h"

#include <inttypes.h>

#define NAME_MAX_LEN 128
#define DISTANCE_MAX_LEN 256

bool text_parse_u64(struct slice text, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (c < '0' || c > '9' || __builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
			return false;
	}
	if (text.len == 0)
		return false;
	*ret_value = value;
	return true;
}

bool text_is_name(struct slice text)
{
	if (text.len == 0 || text.len > NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool word = letter || (c >= '0' && c <= '9') || c == '_';

		if (!word && (i == 0 || (c != '.' && c != '-')))
			return false;
	}
	return true;
}

bool text_glob(struct slice pattern, struct slice text)
{
	size_t at = 0, in = 0, star = SIZE_MAX, from = 0;

	while (in < text.len) {
		if (at < pattern.len && pattern.data[at] == '*') {
			star = at++;     /* at first the star stands for nothing */
			from = in;
		} else if (at < pattern.len && (pattern.data[at] == '?' || pattern.data[at] == text.data[in])) {
			at++;
			in++;
		} else if (star != SIZE_MAX) {
			at = star + 1;   /* the star stands for one character more */
			in = ++from;
		} else {
			return false;
		}
	}
	while (at < pattern.len && pattern.data[at] == '*')
		at++;
	return at == pattern.len;
}

bool text_is_job_name(struct slice text)
{
	size_t len = text.len;

	if (len == 0 || len > NAME_MAX_LEN)
		return false;
	if (text.data[len - 1] == ']') {
		size_t digits = 0;

		for (len--; len > 0 && text.data[len - 1] >= '0' && text.data[len - 1] <= '9'; len--)
			digits++;
		if (digits == 0 || len == 0 || text.data[len - 1] != '[')
			return false;
		len--;
	}
	return text_is_name(slice_make(text.data, len));
}

bool text_is_team(struct slice text)
{
	return text.len > 0 && text.data[0] == '@';
}

bool text_is_person(struct slice text)
{
	return text_is_name(text_is_team(text) ? slice_make(text.data + 1, text.len - 1) : text);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The distance below which words of this length count as similar. Single letters are one edit apart, which isn't
 * similar.
 */
size_t text_near(size_t len)
{
	return len < 2 ? 1 : len < 4 ? 2 : 3;
}

/* The edit distance of two words. Swapping two neighbours counts as one edit, because it is the most common slip. */
size_t text_distance(struct slice a, struct slice b, size_t give_up)
{
	uint16_t rows[3][DISTANCE_MAX_LEN + 1];
	uint16_t *before = rows[0], *last = rows[1], *row = rows[2];

	if (a.len > DISTANCE_MAX_LEN || b.len > DISTANCE_MAX_LEN)
		return give_up + 1;
	if ((a.len > b.len ? a.len - b.len : b.len - a.len) > give_up)
		return give_up + 1;
	for (size_t j = 0; j <= b.len; j++)
		row[j] = (uint16_t)j;
	for (size_t i = 1; i <= a.len; i++) {
		uint16_t *oldest = before;
		size_t least = i;

		before = last;
		last = row;
		row = oldest;
		row[0] = (uint16_t)i;
		for (size_t j = 1; j <= b.len; j++) {
			bool same = a.data[i - 1] == b.data[j - 1];
			size_t swapped = last[j - 1] + (same ? 0u : 1u);
			size_t cost = smaller(swapped, smaller(last[j], row[j - 1]) + 1u);

			if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] &&
			    a.data[i - 2] == b.data[j - 1])
				cost = smaller(cost, before[j - 2] + 1u);
			row[j] = (uint16_t)cost;
			least = smaller(least, cost);
		}
		/* a swap uses the row before the last one, whose cost has grown by one since */
		if (least > give_up + 1)
			return give_up + 1;
	}
	return smaller(row[b.len], give_up + 1);
}

void text_add_span(struct buf *out, int64_t ms)
{
	int64_t s = ms / 1000;

	if (ms < 10000)
		buf_addf(out, "%" PRId64 ".%" PRId64 "s", s, ms % 1000 / 100);
	else if (s < 60)
		buf_addf(out, "%" PRId64 "s", s);
	else if (s < 3600)
		buf_addf(out, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
	else if (s < 86400)
		buf_addf(out, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
	else
		buf_addf(out, "%" PRId64 "d%02" PRId64 "h", s / 86400, s / 3600 % 24);
}

const char *text_nearest(const char *word, const char *const *words, size_t count)
{
	size_t len = strlen(word);
	size_t best = text_near(len);
	const char *nearest = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t distance = text_distance(slice_str(word), slice_str(words[i]), best);

		if (distance < best) {
			best = distance;
			nearest = words[i];
		}
	}
	return nearest;
}

bool text_matches(struct slice pattern, struct slice text)
{
	size_t at = 0, star = SIZE_MAX, star_text = 0, i = 0;

	while (i < text.len) {
		if (at < pattern.len && pattern.data[at] == '*') {
			star = at++;
			star_text = i;
		} else if (at < pattern.len && (pattern.data[at] == '?' || pattern.data[at] == text.data[i])) {
			at++;
			i++;
		} else if (star != SIZE_MAX) {
			/*
			 * Let the last star match one more byte. Earlier stars needn't change: what they matched still
			 * fits.
			 */
			at = star + 1;
			i = ++star_text;
		} else {
			return false;
		}
	}
	while (at < pattern.len && pattern.data[at] == '*')
		at++;
	return at == pattern.len;
}
