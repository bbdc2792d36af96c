/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Encodes the body of a row of `change`: entries, one after another. An entry begins with a byte, the number of the
 * table (plus 128 if the row didn't exist), and the key's columns. If the row existed, a bit for each other column
 * follows, which is set if the column is neither 0 nor empty; then those columns. Integers are zigzag varints, other
 * values have a length and bytes. Tables and columns are numbered as in rows.def, so new ones may only be added at the
 * end.
 */
#include "store/past.h"

#define ABSENT 0x80

bool past_covers(enum row_table table)
{
	return table != TABLE_event && table != TABLE_act && table != TABLE_change && table != TABLE_pruned_run &&
	       table != TABLE_attempt && table != TABLE_value_space && table != TABLE_value && table != TABLE_value_request;
}

static void add_number(struct buf *out, uint64_t value)
{
	uint8_t *at = buf_reserve(out, 10);
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		at[len++] = (uint8_t)(value | 0x80);
	at[len++] = (uint8_t)value;
	out->len += len;
}

static void add_value(struct buf *out, const struct row *row, const struct table_column *column)
{
	if (column->type == COLUMN_INT) {
		int64_t value = row_int(row, column);

		add_number(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
	} else {
		struct slice value = row_slice(row, column);

		add_number(out, value.len);
		buf_add_slice(out, value);
	}
}

/*
 * Is the column in the entry? Zeros and empty values are left out, and so are the bodies of graphs, which stay in spec.
 */
static bool is_told(const struct row *row, const struct table_column *column)
{
	if (column->type == COLUMN_INT)
		return row_int(row, column) != 0;
	return row_slice(row, column).len > 0 && !(row->table == TABLE_spec && column->type == COLUMN_BLOB);
}

size_t past_add(struct buf *out, const struct row *row, bool there)
{
	const struct store_table *table = &table_list[row->table];
	const struct table_column *columns = table->columns();
	size_t start = out->len, key_len;
	uint64_t bits = 0;

	buf_add_byte(out, (uint8_t)(row->table | (there ? 0 : ABSENT)));
	for (size_t i = 0; i < table->key_count; i++)
		add_value(out, row, &columns[i]);
	key_len = out->len - start;
	if (!there)
		return key_len;
	for (size_t i = table->key_count; i < table->column_count; i++)
		bits |= (uint64_t)is_told(row, &columns[i]) << (i - table->key_count);
	add_number(out, bits);
	for (size_t i = table->key_count; i < table->column_count; i++)
		if (bits >> (i - table->key_count) & 1)
			add_value(out, row, &columns[i]);
	return key_len;
}

/* ---- decoding ---- */

static bool take_number(struct slice *body, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && body->len > 0; shift += 7) {
		uint8_t byte = *body->data;

		body->data++;
		body->len--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_value = value;
			return true;
		}
	}
	return false;
}

static bool take_value(struct slice *body, struct row *row, const struct table_column *column)
{
	char *place = (char *)row + column->offset;
	struct slice value;
	uint64_t number;

	if (!take_number(body, &number))
		return false;
	if (column->type == COLUMN_INT) {
		int64_t back = (int64_t)(number >> 1 ^ (0 - (number & 1)));

		memcpy(place, &back, sizeof(back));
		return true;
	}
	if (number > body->len)
		return false;
	value = slice_make(body->data, number);
	body->data += number;
	body->len -= number;
	memcpy(place, &value, sizeof(value));
	return true;
}

static bool take_columns(struct slice *body, struct row *row, const struct store_table *table)
{
	const struct table_column *columns = table->columns();
	uint64_t bits;

	if (!take_number(body, &bits) || bits >> (table->column_count - table->key_count) != 0)
		return false;
	for (size_t i = table->key_count; i < table->column_count; i++)
		if (bits >> (i - table->key_count) & 1 && !take_value(body, row, &columns[i]))
			return false;
	return true;
}

bool past_next(struct slice *body, struct row *ret_row, bool *ret_there, bool *ret_sound)
{
	const struct store_table *table;
	bool sound = true;

	*ret_sound = true;
	if (body->len == 0)
		return false;
	memset(ret_row, 0, sizeof(*ret_row));
	ret_row->table = *body->data & (ABSENT - 1);
	*ret_there = !(*body->data & ABSENT);
	body->data++;
	body->len--;
	if (ret_row->table >= TABLE_COUNT) {
		*ret_sound = false;
		return false;
	}
	table = &table_list[ret_row->table];
	for (size_t i = 0; i < table->key_count && sound; i++)
		sound = take_value(body, ret_row, &table->columns()[i]);
	*ret_sound = sound && (!*ret_there || take_columns(body, ret_row, table));
	return *ret_sound;
}
