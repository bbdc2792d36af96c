/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "master/logread_answer.h"

#include <errno.h>

#define REPLY_MAX 262144                 /* most bytes of records in an answer */

void logread_refuse(struct log_answer *reply, const struct msg_log_read *read, int result)
{
	struct error error;
	struct msg_error msg = { .id = read->id };

	if (result == -EINVAL)
		error_set(&error, ERR_INVALID, "no record of the log begins at offset %llu; read from offset 0",
			  (unsigned long long)read->offset);
	else if (result == -EBADMSG)
		error_set(&error, ERR_DAMAGED, "the log of job %llu of run %llu is damaged: the index at the end of "
			"logs/%llu/%llu.%llu.zst can't be read", (unsigned long long)read->job,
			  (unsigned long long)read->run, (unsigned long long)read->run, (unsigned long long)read->job,
			  (unsigned long long)read->epoch);
	else if (result == -EOPNOTSUPP)
		error_set(&error, ERR_INVALID, "the log of job %llu of run %llu is compressed, and this master was built "
			  "without zstd", (unsigned long long)read->job, (unsigned long long)read->run);
	else
		error_system(&error, -result, "can't read the log of job %llu of run %llu",
			     (unsigned long long)read->job, (unsigned long long)read->run);
	if (result == -EBADMSG || result == -EOPNOTSUPP)
		error_next(&error, "zstd -dc logs/%llu/%llu.%llu.zst", (unsigned long long)read->run,
			   (unsigned long long)read->job, (unsigned long long)read->epoch);
	msg.code = error.code;
	msg.text = slice_str(error.text);
	msg.next = slice_str(error.next);
	message_encode(&reply->frames, OP_ERROR, &msg);
}

/* Skip a frame that can't be unpacked, and mention it in the answer. */
static void skip_damage(const struct logfile *file, struct msg_log_data *data, struct arena *arena)
{
	uint64_t beyond = logfile_beyond(file, data->offset);
	struct buf text = { 0 };

	buf_addf(&text, "logs/%llu/%llu.%llu.zst is damaged: %llu bytes at offset %llu can't be read",
		 (unsigned long long)file->run, (unsigned long long)file->job, (unsigned long long)file->epoch,
		 (unsigned long long)(beyond - data->offset), (unsigned long long)data->offset);
	data->damage = arena_copy(arena, buf_slice(&text));
	buf_free(&text);
	data->offset = beyond;
}

int logread_pieces(const struct logfile *file, const struct live_tail *live_tail, const struct msg_log_read *read,
		   struct arena *arena, struct msg_log_data *data)
{
	uint64_t end = file->size, back = read->back < REPLY_MAX ? read->back : REPLY_MAX;
	int result = 0;

	if (back > 0) {
		end = read->offset < end ? read->offset : end;
		result = logfile_back(file, end, back, &data->start);
		data->offset = data->start;
	}
	if (result == 0)
		result = logfile_read(file, data->offset, end, REPLY_MAX, arena, &data->pieces.at, &data->pieces.n,
				      &data->offset);
	/* The wanted end is in the middle of a record: return that record. */
	if (result == -EINVAL && back > 0)
		result = logfile_read(file, data->start, UINT64_MAX, 1, arena, &data->pieces.at, &data->pieces.n,
				      &data->offset);
	if (result == -EBADMSG) {
		skip_damage(file, data, arena);
		result = 0;
	}
	data->end = data->offset >= file->size;
	data->kept = file->kept;
	data->newest = read->newest;
	if (data->end)
		data->live_tail.at = live_tail_list(live_tail, arena, &data->newest, &data->live_tail.n);
	return result;
}
