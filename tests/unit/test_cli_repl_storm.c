/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The console on a pty, while a fake master sends news at a fixed rate: notice number N is sent N milliseconds after the
 * first, never earlier. All that was typed meanwhile must arrive, and all news must be told.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cli_rig.h"

#include "tests/greatest.h"

#define STORM_LEAST   3000               /* a storm has at least this many notices */
#define STORMS_MOST   5                  /* a machine that is too busy for the rate gets this many attempts */
#define RATE_LEAST    950
#define RATE_MOST     1050
#define LINE_LEN      1500
#define PIECE_LEN     5                  /* characters typed at once */
#define GIVE_UP_S     120

/* ---- the master's side ---- */

static struct storm {
	struct rig_peer *peer;
	uint64_t id;                     /* of the console's subscription */
	volatile bool over;
	volatile uint64_t sent;
	uint64_t first_run;
	int64_t began_ns, ended_ns;
} storm;

static bool subscribed(struct rig_peer *peer, const struct msg_subscribe *msg, int nth)
{
	const struct msg_snapshot nothing = { .id = msg->id, .turn = 1, .resume = 1 };

	(void)nth;
	storm.peer = peer;
	storm.id = msg->id;
	rig_say(peer, OP_SNAPSHOT, &nothing);
	return true;
}

/* Tell the console that one more run has failed. */
static void send_notice(void)
{
	uint64_t counts[STATE_COUNT] = { [STATE_FAILED] = 1 };
	struct rec_run_row row = {
		.run = storm.first_run + storm.sent, .name = slice_str("storm"), .state = RUN_FAILED, .jobs = 1,
		.submitted_ms = 1000, .ended_ms = 5000, .counts = { counts, STATE_COUNT },
	};
	const struct msg_delta delta = {
		.id = storm.id, .turn = row.run, .resume = row.run, .runs = { .at = &row, .n = 1 },
	};

	rig_say(storm.peer, OP_DELTA, &delta);
	storm.sent++;
}

static void *storm_cb(void *arg)
{
	(void)arg;
	storm.began_ns = clock_mono_ns();
	while (!storm.over || storm.sent < STORM_LEAST) {
		int64_t due_ns = storm.began_ns + (int64_t)storm.sent * NS_PER_MS, wait_ns = due_ns - clock_mono_ns();

		if (wait_ns > 0)
			nanosleep(&(struct timespec){ .tv_nsec = wait_ns }, NULL);
		else
			send_notice();
	}
	storm.ended_ns = clock_mono_ns();
	return NULL;
}

/* ---- the person's side ---- */

static char program[4096];

static struct console {
	pid_t pid;
	int fd;
	struct buf seen;                 /* all output, without escape sequences and carriage returns */
	enum { IN_TEXT, IN_ESCAPE, IN_SEQUENCE, IN_CHARSET } at;
} console;

/* Replace the process by a console on this terminal. */
static void exec_console(const char *terminal)
{
	char *argv[] = { program, (char[]){ "repl" }, NULL };
	int fd;

	setsid();
	fd = open(terminal, O_RDWR);
	ioctl(fd, TIOCSCTTY, 0);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execv(program, argv);
	_exit(127);
}

static bool console_begin(void)
{
	const struct winsize size = { .ws_row = 50, .ws_col = 200 };
	char terminal[128];

	console = (struct console){ .fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };
	if (console.fd < 0 || grantpt(console.fd) != 0 || unlockpt(console.fd) != 0 ||
	    ptsname_r(console.fd, terminal, sizeof(terminal)) != 0 || ioctl(console.fd, TIOCSWINSZ, &size) != 0)
		return false;
	console.pid = fork();
	if (console.pid == 0)
		exec_console(terminal);
	return console.pid > 0;
}

static void take_byte(uint8_t byte)
{
	switch (console.at) {
	case IN_TEXT:
		if (byte == 0x1b)
			console.at = IN_ESCAPE;
		else if (byte != '\r' && byte != '\a')
			buf_add_byte(&console.seen, byte);
		break;
	case IN_ESCAPE:
		console.at = byte == '[' ? IN_SEQUENCE : byte == '(' || byte == ')' ? IN_CHARSET : IN_TEXT;
		break;
	case IN_SEQUENCE:
		console.at = byte >= 0x40 && byte <= 0x7e ? IN_TEXT : IN_SEQUENCE;
		break;
	case IN_CHARSET:
		console.at = IN_TEXT;
		break;
	}
}

/* Read what the console prints, for at most this long. */
static void look(int wait_ms)
{
	struct pollfd ready = { .fd = console.fd, .events = POLLIN };
	uint8_t bytes[65536];
	ssize_t got = poll(&ready, 1, wait_ms) == 1 ? read(console.fd, bytes, sizeof(bytes)) : 0;

	for (ssize_t i = 0; i < got; i++)
		take_byte(bytes[i]);
}

static bool expect(const char *text)
{
	int64_t until_ns = clock_mono_ns() + GIVE_UP_S * NS_PER_S;

	while (strstr(buf_cstr(&console.seen), text) == NULL) {
		if (clock_mono_ns() > until_ns) {
			printf("# '%.40s' didn't come; the last that came: %s\n", text,
			       buf_cstr(&console.seen) + (console.seen.len > 2000 ? console.seen.len - 2000 : 0));
			return false;
		}
		look(100);
	}
	return true;
}

static bool type(const char *text, size_t len)
{
	return write(console.fd, text, len) == (ssize_t)len;
}

/* How many notices the console has told: a line for each of the first, and then their number. */
static uint64_t count_told(void)
{
	static const char failed[] = " storm failed: ", more[] = "... and ";
	uint64_t told = 0;

	for (const char *at = buf_cstr(&console.seen); (at = strstr(at, failed)) != NULL; at += sizeof(failed) - 1)
		told++;
	for (const char *at = buf_cstr(&console.seen); (at = strstr(at, more)) != NULL; at += sizeof(more) - 1)
		told += strtoull(at + sizeof(more) - 1, NULL, 10);
	return told;
}

static bool all_told(void)
{
	int64_t until_ns = clock_mono_ns() + GIVE_UP_S * NS_PER_S;

	while (count_told() < storm.sent && clock_mono_ns() < until_ns)
		look(100);
	return count_told() == storm.sent;
}

/* ---- the test ---- */

/* A line whose every part is different, so that a lost, doubled or misplaced key shows. */
static void make_line(char *line, int nth)
{
	size_t len = 0;

	for (unsigned i = 0; len < LINE_LEN; i++)
		len += (size_t)snprintf(line + len, 16, "%x.", i * 7 + (unsigned)nth);
}

/* Type a line during a storm. *ret_rate: notices a second. */
static bool type_in_storm(int nth, double *ret_rate)
{
	char line[LINE_LEN + 32], wanted[LINE_LEN + 64];
	pthread_t thread;
	bool typed = true;

	make_line(line, nth);
	storm.over = false;
	storm.sent = 0;
	storm.first_run = 1 + (uint64_t)nth * 10000000;
	buf_clear(&console.seen);
	if (pthread_create(&thread, NULL, storm_cb, NULL) != 0)
		return false;
	typed = expect(" storm failed: ") && type("!echo ", 6);
	for (size_t at = 0; line[at] != '\0' && typed; at += strnlen(line + at, PIECE_LEN)) {
		typed = type(line + at, strnlen(line + at, PIECE_LEN));
		look(10);
	}
	storm.over = true;
	while (storm.sent < STORM_LEAST)
		look(10);                        /* a console that nobody reads would stop at a full pty */
	pthread_join(thread, NULL);
	*ret_rate = (double)storm.sent * 1e9 / (double)(storm.ended_ns - storm.began_ns);
	printf("# %llu notices, %.0f a second, while %zu keys were typed\n", (unsigned long long)storm.sent, *ret_rate, strlen(line));
	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	return typed && all_told() && type("\n", 1) && expect(wanted);
}

TEST storm_of_a_thousand_notices_a_second_loses_no_key(void)
{
	double rate = 0;

	ASSERT(console_begin());
	ASSERT(expect("titan default[rw]> "));
	for (int i = 0; i < STORMS_MOST && (rate < RATE_LEAST || rate > RATE_MOST); i++)
		ASSERT(type_in_storm(i, &rate));
	if (rate < RATE_LEAST || rate > RATE_MOST)
		SKIPm("this machine is too busy to send 1,000 notices a second");
	PASS();
}

static void end_console(void *data)
{
	(void)data;
	close(console.fd);                       /* the console's terminal is gone, so it ends */
	waitpid(console.pid, NULL, 0);
	buf_free(&console.seen);
	rig_teardown_cb(NULL);
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	const char *build = getenv("TITAN_BUILDDIR"), *slash = strrchr(argv[0], '/');

	GREATEST_MAIN_BEGIN();
	if (build)
		snprintf(program, sizeof(program), "%s/titan", build);
	else
		snprintf(program, sizeof(program), "%.*s/../../titan", slash ? (int)(slash - argv[0]) : 1, slash ? argv[0] : ".");
	setenv("TERM", "xterm", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("SHELL", "/bin/sh", 1);
	rig_setup_cb(NULL);
	rig.subscribed_cb = subscribed;
	SET_TEARDOWN(end_console, NULL);
	RUN_TEST(storm_of_a_thousand_notices_a_second_loses_no_key);
	GREATEST_MAIN_END();
}
