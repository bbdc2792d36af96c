/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * msgpack-c's packers, writing into a buffer. Only this file includes them for packing. Nearly all values are small:
 * those whose first byte says all of the number or length are written here.
 */
#include "proto/pack.h"

#include <msgpack.h>

static int append_cb(void *data, const char *bytes, size_t len)
{
	buf_add(data, bytes, len);
	return 0;
}

static msgpack_packer packer_for(struct buf *out)
{
	return (msgpack_packer){ .data = out, .callback = append_cb };
}

static void add_byte(struct buf *out, uint64_t byte)
{
	*buf_reserve(out, 1) = (uint8_t)byte;
	out->len++;
}

void pack_u64(struct buf *out, uint64_t value)
{
	msgpack_packer packer = packer_for(out);

	if (value < 0x80)
		add_byte(out, value);
	else
		msgpack_pack_uint64(&packer, value);
}

void pack_i64(struct buf *out, int64_t value)
{
	msgpack_packer packer = packer_for(out);

	msgpack_pack_int64(&packer, value);
}

void pack_bool(struct buf *out, bool value)
{
	msgpack_packer packer = packer_for(out);

	if (value)
		msgpack_pack_true(&packer);
	else
		msgpack_pack_false(&packer);
}

void pack_str(struct buf *out, struct slice value)
{
	msgpack_packer packer = packer_for(out);

	if (value.len < 0x20)
		add_byte(out, 0xa0 | value.len);
	else
		msgpack_pack_str(&packer, value.len);
	buf_add_slice(out, value);
}

void pack_bin(struct buf *out, struct slice value)
{
	msgpack_packer packer = packer_for(out);

	msgpack_pack_bin(&packer, value.len);
	buf_add_slice(out, value);
}

void pack_array(struct buf *out, size_t count)
{
	msgpack_packer packer = packer_for(out);

	if (count < 0x10)
		add_byte(out, 0x90 | count);
	else
		msgpack_pack_array(&packer, count);
}

void pack_map(struct buf *out, size_t count)
{
	msgpack_packer packer = packer_for(out);

	if (count < 0x10)
		add_byte(out, 0x80 | count);
	else
		msgpack_pack_map(&packer, count);
}
