/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goes from the log of one try of a job to that of another. The master is asked for the tries when a key asks for one. */
#include "base/mem.h"
#include "tui/views.h"

static void keep(struct log_view *log, const struct rec_try_row *row)
{
	log->tries = mem_resize(log->tries, log->try_count + 1, sizeof *log->tries);
	log->tries[log->try_count] = *row;
	log->tries[log->try_count++].worker = slice_make(NULL, 0);
}

/* The number of the try whose log is shown, from 0; try_count: it is the newest one. */
static size_t shown_try(const struct log_view *log)
{
	size_t at = 0;

	while (at < log->try_count && log->tries[at].epoch != log->epoch)
		at++;
	return at;
}

void log_take_tries(struct app *app, const struct msg_snapshot *msg)
{
	struct log_view *log = &app->log;
	const struct tui_job *job = log_job(app);
	size_t at, to;

	log->tries_id = 0;
	log->try_count = 0;
	for (size_t i = 0; i < msg->tries.n; i++)
		if (msg->tries.at[i].job == log->job && !(job && msg->tries.at[i].epoch == job->epoch))
			keep(log, &msg->tries.at[i]);
	at = shown_try(log);
	to = log->try_step < 0 ? at - 1 : at + 1;
	if (log->try_step < 0 && at == 0)
		app_notice(app, false, "there is no earlier try");
	else if (to > log->try_count || (to == log->try_count && !job))
		app_notice(app, false, "there is no later try");
	else
		log_show_try(app, to < log->try_count ? log->tries[to].epoch : job->epoch);
	at = shown_try(log);
	log->try_no = at < log->try_count ? log->tries[at].try_no : 0;
}

void log_move_try(struct app *app, int step)
{
	struct log_view *log = &app->log;

	if (!log->opened || log->tries_id != 0 || app->link != LINK_LIVE)
		return;
	log->try_step = step;
	log->tries_id = send_query_tries(app, log->run, log->job);
}
