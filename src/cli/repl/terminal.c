/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The console on a terminal: one loop over keys, signals, and a connection that subscribes to the cluster's runs. This
 * connection serves prompt, notices and completion; each command opens its own.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/ask/complete_names.h"
#include "cli/repl/repl_internal.h"
#include "cli/repl/typing.h"

#define FRAMES_ONCE   64                 /* most messages taken before keys are looked at again */
#define TELL_NS       (100 * NS_PER_MS)  /* news is printed at most this often */
#define FIRST_MS      10                 /* how long the first prompt waits for the connection */
#define COMPLETE_MS   250                /* how long completion waits for the master */
#define CATCH_UP_MAX  4096 /* most messages taken after a command, to find out which news the command already printed */

struct terminal {
	struct repl *repl;
	struct steady_link link;
	struct notices notices;
	struct arena arena;
	struct buf cluster;              /* name of the cluster as the master gave it; empty: never connected */
	uint64_t subscription, mark; /* id of the subscription, and the mark for resuming it after a lost connection */
	/*
	 * writes: the role allows changes; stale: prompt or news must be printed; paging: the snapshot has more pages
	 */
	bool writes, stale, paging;
	bool more;                       /* more messages may be waiting on the connection */
	int64_t told_ns;
	sigset_t signals_before;
};

/* ---- the prompt ---- */

static void prompt(struct terminal *terminal, struct buf *out)
{
	const char *name = terminal->repl->cluster ? terminal->repl->cluster : terminal->repl->statedir.cluster;

	if (terminal->cluster.len > 0)
		name = buf_cstr(&terminal->cluster);
	buf_add_str(out, "titan ");
	text_escape(out, slice_str(name), TEXT_KEEP_NONE);
	buf_addf(out, "[%s]", terminal->link.client ? terminal->writes ? "rw" : "ro" : terminal->link.opening ? "..." : "no master");
	if (terminal->link.client && terminal->notices.waiting > 0)
		buf_addf(out, " %llu%s", (unsigned long long)terminal->notices.waiting, terminal->notices.utf8 ? "⚑" : "?");
	buf_add_str(out, "> ");
}

static void show_prompt(struct terminal *terminal)
{
	struct buf text = { 0 };

	prompt(terminal, &text);
	typing_start(buf_cstr(&text));
	buf_free(&text);
}

/*
 * Print news, and the prompt if it changed. This isn't done for every message, so that many messages leave time for
 * keys.
 */
static void tell(struct terminal *terminal)
{
	struct buf lines = { 0 }, text = { 0 };

	if (!terminal->stale || clock_mono_ns() - terminal->told_ns < TELL_NS)
		return;
	terminal->stale = false;
	terminal->told_ns = clock_mono_ns();
	if (!terminal->repl->options->quiet)
		notices_take(&terminal->notices, &lines);
	prompt(terminal, &text);
	typing_tell(buf_cstr(&lines), buf_cstr(&text));
	buf_free(&lines);
	buf_free(&text);
}

/* ---- the connection ---- */

static void lost(struct terminal *terminal)
{
	steady_link_lost(&terminal->link, clock_wall_ms());
	terminal->stale = true;
}

static void subscribe(struct terminal *terminal)
{
	const struct msg_welcome *welcome = client_welcome(terminal->link.client);
	struct msg_subscribe msg = { .what = QUERY_RUNS, .since = terminal->mark };
	struct error error;

	buf_clear(&terminal->cluster);
	buf_add_slice(&terminal->cluster, welcome->cluster);
	terminal->writes = welcome->role >= ROLE_SUBMITTER;
	terminal->stale = true;
	terminal->paging = terminal->mark == 0;
	msg.id = terminal->subscription = client_next_id(terminal->link.client);
	if (client_send(terminal->link.client, OP_SUBSCRIBE, &msg, &error) != ERR_NONE ||
	    client_flush(terminal->link.client, &error) != ERR_NONE)
		lost(terminal);
}

static void take_snapshot(struct terminal *terminal, struct slice body)
{
	struct msg_snapshot msg;
	struct error error;

	if (message_decode(OP_SNAPSHOT, body, &terminal->arena, &msg, &error) != ERR_NONE || msg.id != terminal->subscription)
		return;
	notices_runs(&terminal->notices, msg.runs.at, msg.runs.n, false);
	notices_workers(&terminal->notices, msg.workers.at, msg.workers.n, false);
	notices_counts(&terminal->notices, &msg.counts);
	terminal->mark = msg.resume ? msg.resume : terminal->mark;
	terminal->stale = true;
}

static void take_delta(struct terminal *terminal, struct slice body)
{
	struct msg_delta msg;
	struct error error;
	uint64_t waiting = terminal->notices.waiting;

	if (message_decode(OP_DELTA, body, &terminal->arena, &msg, &error) != ERR_NONE || msg.id != terminal->subscription)
		return;
	notices_runs(&terminal->notices, msg.runs.at, msg.runs.n, true);
	notices_workers(&terminal->notices, msg.workers.at, msg.workers.n, true);
	notices_counts(&terminal->notices, &msg.counts);
	terminal->mark = msg.resume ? msg.resume : terminal->mark;
	terminal->stale |= terminal->notices.count > 0 || terminal->notices.waiting != waiting;
}

static void frame_cb(void *owner, const struct incoming *frame)
{
	struct terminal *terminal = owner;

	arena_reset(&terminal->arena);
	if (frame->op == OP_SNAPSHOT)
		take_snapshot(terminal, frame->body);
	else if (frame->op == OP_DELTA)
		take_delta(terminal, frame->body);
}

static void read_messages(struct terminal *terminal, int most)
{
	struct incoming frame;
	struct error error;

	terminal->more = true;
	for (int i = 0; i < most && terminal->link.client; i++) {
		enum err err = client_receive(terminal->link.client, 0, &frame, &error);

		if (err == ERR_PENDING) {
			terminal->more = false;
			return;
		}
		if (err == ERR_NONE)
			frame_cb(terminal, &frame);
		else
			lost(terminal);
	}
	terminal->more = terminal->link.client != NULL;
}

static void link_event(struct terminal *terminal, bool ready)
{
	struct error error;

	if (terminal->link.opening && ready) {
		if (steady_link_opened(&terminal->link, clock_wall_ms(), &error))
			subscribe(terminal);
		else
			terminal->stale = true;
	} else if (terminal->link.client && (ready || terminal->more)) {
		read_messages(terminal, FRAMES_ONCE);
	}
	if (!terminal->link.client && !terminal->link.opening && clock_wall_ms() >= terminal->link.retry_at_ms) {
		steady_link_retry(&terminal->link);
		terminal->more = false;
	}
}

/* ---- typed text and its completion ---- */

static void move_to_cluster(struct terminal *terminal)
{
	terminal->repl->moved = false;
	steady_link_close(&terminal->link);
	notices_free(&terminal->notices);
	terminal->notices = (struct notices){ .utf8 = terminal->repl->session->utf8 };
	buf_clear(&terminal->cluster);
	terminal->mark = 0;
	steady_link_begin(&terminal->link, &terminal->repl->statedir, &terminal->repl->remote);
	steady_link_retry(&terminal->link);
}

/* Run all commands of a text, which was pasted or returned by the editor. */
static void run_text(struct terminal *terminal, const char *text)
{
	struct repl *repl = terminal->repl;
	struct signalfd_siginfo info;

	while (*text != '\0' && !repl->over) {
		struct arena arena = { 0 };
		struct typed_line line;
		bool whole = typed_take(text, &arena, &line);
		char *typed = mem_text(slice_make(text + line.skipped, line.len - line.skipped));
		int status = 0;

		if (whole)
			status = repl_do(repl, &line, typed);
		else
			repl_say(repl, "titan: a quote, a brace or a <<WORD input isn't closed\n");
		mem_free(typed);
		text += line.len;
		arena_free(&arena);
		/* Ctrl-C also drops the rest of a pasted text. */
		if (status == err_exit_status(ERR_INTERRUPTED))
			break;
	}
	while (read(repl->signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGINT)
		;
}

static void entered_cb(void *owner, const char *text)
{
	struct terminal *terminal = owner;
	struct repl *repl = terminal->repl;

	if (text == NULL) {
		repl->over = true;
		return;
	}
	terminal->notices.silent_ms = clock_wall_ms();
	run_text(terminal, text);
	while (repl->edited && !repl->over) {
		char *edited = repl->edited;

		repl->edited = NULL;
		repl_say(repl, "%s", edited);
		run_text(terminal, edited);
		mem_free(edited);
	}
	if (repl->moved)
		move_to_cluster(terminal);
	if (terminal->link.client)
		read_messages(terminal, CATCH_UP_MAX);
	terminal->notices.silent_ms = 0;
	terminal->told_ns = 0;
	if (!repl->over)
		show_prompt(terminal);
}

static void add_names(struct terminal *terminal, struct completion *completion)
{
	const struct complete_source source = {
		.client = terminal->link.client, .statedir = &terminal->repl->statedir, .ms = COMPLETE_MS,
		.frame_cb = frame_cb, .owner = terminal,
	};

	if (complete_add(&source, completion) != ERR_NONE && terminal->link.client)
		lost(terminal);
}

static bool complete_cb(void *owner, const char *text, struct buf *words)
{
	struct terminal *terminal = owner;
	struct arena arena = { 0 };
	struct completion completion;
	struct typed_line line;
	size_t len = strlen(text);
	bool file = false;

	typed_take(text, &arena, &line);
	if (line.kind == TYPED_BACKSLASH && line.count == 1) {
		backslash_complete(line.words[0], words);
	} else if (line.kind == TYPED_BACKSLASH && strcmp(line.words[0], "\\c") != 0) {
		file = strcmp(line.words[0], "\\o") == 0;
	} else if (line.kind == TYPED_COMMAND || line.kind == TYPED_EMPTY || line.kind == TYPED_BACKSLASH) {
		const char **all = arena_zalloc(&arena, line.count + 3, sizeof(*all));
		size_t count = 0;

		for (size_t i = 0; i < line.count; i++)
			all[count++] = line.words[i];
		if (line.kind == TYPED_BACKSLASH)
			all[0] = "-C";
		/* After a space, completion is for a new word. */
		if (len == 0 || strchr(" \t\n", text[len - 1]))
			all[count++] = "";
		session_complete(all, count, &completion);
		add_names(terminal, &completion);
		buf_add_slice(words, buf_slice(&completion.words));
		file = completion.of == COMPLETE_FILES || completion.of == COMPLETE_DIRECTORIES;
		completion_free(&completion);
	} else {
		file = true;             /* after !: a shell command, so complete names of files */
	}
	arena_free(&arena);
	return file;
}

/* ---- the loop ---- */

static void read_signals(struct terminal *terminal)
{
	struct signalfd_siginfo info;

	while (read(terminal->repl->signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGINT:
			typing_clear();
			break;
		case SIGWINCH:
			typing_resize();
			break;
		case SIGTSTP:
			typing_suspend();
			break;
		default:
			terminal->repl->over = true;
			break;
		}
	}
}

static int sleep_ms(const struct terminal *terminal)
{
	int64_t wait = -1;

	if (terminal->more)
		return 0;
	if (terminal->stale)
		wait = (TELL_NS - (clock_mono_ns() - terminal->told_ns)) / NS_PER_MS + 1;
	if (!terminal->link.client && !terminal->link.opening) {
		int64_t retry = terminal->link.retry_at_ms - clock_wall_ms();

		wait = wait < 0 || retry < wait ? retry : wait;
		wait = wait < 0 ? 0 : wait;
	}
	return wait < 0 ? -1 : wait > 60000 ? 60000 : (int)wait;
}

static void wait_for_events(struct terminal *terminal)
{
	struct pollfd fds[] = {
		{ .fd = terminal->repl->signals, .events = POLLIN },
		{ .fd = terminal->repl->session->in_fd, .events = POLLIN },
		{ .fd = steady_link_fd(&terminal->link), .events = steady_link_events(&terminal->link) },
	};

	poll(fds, 3, sleep_ms(terminal));
	/* Handle the connection before keys: a key may end the line, and the command then replaces the connection. */
	link_event(terminal, fds[2].revents != 0);
	if (fds[0].revents)
		read_signals(terminal);
	if (fds[1].revents)
		typing_keys();
	if (fds[1].revents & (POLLHUP | POLLERR))
		terminal->repl->over = true;     /* the terminal is gone */
	if (!terminal->repl->over)
		tell(terminal);
}

/* Wait shortly for the first connection, so that the first prompt already shows the cluster. */
static void first_connection(struct terminal *terminal)
{
	struct pollfd fd = { .events = POLLIN };

	steady_link_begin(&terminal->link, &terminal->repl->statedir, &terminal->repl->remote);
	steady_link_retry(&terminal->link);
	fd.fd = steady_link_fd(&terminal->link);
	poll(&fd, 1, FIRST_MS);
	link_event(terminal, fd.revents != 0);
	fd.fd = steady_link_fd(&terminal->link);
	if (terminal->link.client && poll(&fd, 1, FIRST_MS) > 0)
		read_messages(terminal, FRAMES_ONCE);
}

static int catch_signals(struct terminal *terminal)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGWINCH);
	sigaddset(&signals, SIGTSTP);
	sigprocmask(SIG_BLOCK, &signals, &terminal->signals_before);
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

int terminal_run(struct repl *repl)
{
	struct terminal terminal = { .repl = repl, .notices = { .utf8 = repl->session->utf8 } };
	const struct typing typing = { .entered_cb = entered_cb, .complete_cb = complete_cb, .owner = &terminal };

	repl->signals = catch_signals(&terminal);
	if (repl->signals < 0) {
		repl_say(repl, "titan: can't watch for signals: %s\n", strerror(errno));
		return err_exit_status(ERR_SYSTEM);
	}
	repl->inner.interrupts = true;
	first_connection(&terminal);
	typing_open(&typing);
	show_prompt(&terminal);
	terminal.stale = false;
	while (!repl->over)
		wait_for_events(&terminal);
	typing_close();
	steady_link_close(&terminal.link);
	notices_free(&terminal.notices);
	arena_free(&terminal.arena);
	buf_free(&terminal.cluster);
	close(repl->signals);
	sigprocmask(SIG_SETMASK, &terminal.signals_before, NULL);
	return 0;
}

int repl_run(struct session *session, const struct repl_options *options, const struct statedir *statedir,
	     const struct remote_cluster *remote)
{
	struct repl repl;
	int status;

	repl_init(&repl, session, options, statedir);
	repl.remote = *remote;
	status = session->asks && session->out.terminal ? terminal_run(&repl) : script_run(&repl);
	repl_free(&repl);
	return status;
}
