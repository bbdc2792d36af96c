/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A master notices every time that the wall clock is set. The test replaces the kernel's timer, because a test can't
 * set the clock.
 */
#include "greatest.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include "master_box.h"

GREATEST_MAIN_DEFS();

/* Memory shared with the master's process. */
static struct {
	/* arming: a timer that is cancelled when the clock is set reports that once, and must be armed again */
	atomic_uint armings;
} *clock_timer;
static int clock_fd = -1;

int timerfd_create(int clock_id, int flags)
{
	(void)flags;
	if (clock_id != CLOCK_REALTIME)
		abort();
	return fcntl(clock_fd, F_DUPFD_CLOEXEC, 3);
}

int timerfd_settime(int fd, int flags, const struct itimerspec *new_value, struct itimerspec *old_value)
{
	(void)fd;
	(void)old_value;
	if (flags != (TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) || new_value->it_value.tv_sec <= 0)
		abort();
	clock_timer->armings++;
	return 0;
}

static void setup_cb(void *data)
{
	box_setup_cb(data);
	clock_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	clock_timer = mmap(NULL, sizeof(*clock_timer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (clock_fd < 0 || clock_timer == MAP_FAILED)
		abort();
}

static void teardown_cb(void *data)
{
	box_teardown_cb(data);
	close(clock_fd);
	munmap(clock_timer, sizeof(*clock_timer));
}

static bool armed(unsigned times)
{
	for (int i = 0; i < BOX_WAIT_MS / 5 && clock_timer->armings < times; i++)
		usleep(5000);
	return clock_timer->armings == times;
}

TEST every_set_of_the_wall_clock_is_noticed(void)
{
	uint64_t one = 1;

	ASSERT(box_start());
	ASSERT(armed(1));
	for (unsigned set = 1; set <= 3; set++) {
		ASSERT_EQ((ssize_t)sizeof(one), write(clock_fd, &one, sizeof(one)));
		ASSERT(armed(1 + set));
	}
	ASSERT_EQ(0, box_stop(SIGTERM));
	PASS();
}

SUITE(master_clock)
{
	SET_SETUP(setup_cb, NULL);
	SET_TEARDOWN(teardown_cb, NULL);
	RUN_TEST(every_set_of_the_wall_clock_is_noticed);
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_SUITE(master_clock);
	GREATEST_MAIN_END();
}
