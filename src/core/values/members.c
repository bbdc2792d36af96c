/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set as bytes: its members in order, each after its length. A set is small, so it is read from the beginning. */
#include "core/values/internal.h"

static int compare(struct slice one, struct slice other)
{
	size_t len = one.len < other.len ? one.len : other.len;
	int order = len > 0 ? memcmp(one.data, other.data, len) : 0;

	return order != 0 ? order : (one.len > other.len) - (one.len < other.len);
}

bool members_next(struct slice *body, struct slice *ret_member)
{
	size_t len;

	if (body->len < MEMBER_HEAD)
		return false;
	len = body->data[0] | (size_t)body->data[1] << 8;
	if (body->len - MEMBER_HEAD < len)
		return false;
	*ret_member = slice_make(body->data + MEMBER_HEAD, len);
	*body = slice_make(body->data + MEMBER_HEAD + len, body->len - MEMBER_HEAD - len);
	return true;
}

bool members_sane(struct slice body)
{
	struct slice last = { 0 }, member;

	while (members_next(&body, &member)) {
		if (member.len == 0 || member.len > LIMIT_VALUE_KEY_MAX || compare(last, member) >= 0)
			return false;
		last = member;
	}
	return body.len == 0;
}

uint64_t members_count(struct slice body)
{
	struct slice member;
	uint64_t count = 0;

	while (members_next(&body, &member))
		count++;
	return count;
}

bool members_find(struct slice body, struct slice member, size_t *ret_at)
{
	const uint8_t *begin = body.data;
	struct slice next;

	*ret_at = 0;
	while (members_next(&body, &next)) {
		int order = compare(next, member);

		if (order >= 0)
			return order == 0;
		*ret_at = (size_t)(body.data - begin);
	}
	return false;
}

static struct blob *joined(struct slice first, struct slice second, struct slice third)
{
	struct buf bytes = { 0 };
	struct blob *blob;

	buf_add_slice(&bytes, first);
	buf_add_slice(&bytes, second);
	buf_add_slice(&bytes, third);
	blob = blob_make(buf_slice(&bytes));
	buf_free(&bytes);
	return blob;
}

struct blob *members_with(struct slice body, size_t at, struct slice member)
{
	uint8_t bytes[MEMBER_HEAD + LIMIT_VALUE_KEY_MAX] = { (uint8_t)member.len, (uint8_t)(member.len >> 8) };

	memcpy(bytes + MEMBER_HEAD, member.data, member.len);
	return joined(slice_make(body.data, at), slice_make(bytes, MEMBER_HEAD + member.len),
		      at < body.len ? slice_make(body.data + at, body.len - at) : slice_make(NULL, 0));
}

struct blob *members_without(struct slice body, size_t at)
{
	struct slice rest = slice_make(body.data + at, body.len - at), member = { 0 };

	members_next(&rest, &member);
	return joined(slice_make(body.data, at), rest, slice_make(NULL, 0));
}
