# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the parts really call, as the linker sees it: core is pure, and only the store knows SQLite.

. "$(dirname "$0")/lib.sh"

build=${TITAN_BUILDDIR:-build}
if ! command -v nm >/dev/null || [ ! -f "$build/libcore.a" ]; then
	skip 'what the parts call' "no nm, or nothing built in $build"
	finish
fi

wanted() { # LIBRARY...: symbols it takes from elsewhere
	local library
	for library; do
		nm -A -u "$build/lib$library.a" 2>/dev/null | sed -E "s,.*/lib$library\.a:,$library/," | awk '{ print $1, $NF }'
	done
}

world='open(at)?(64)?|creat|read|write|pread|pwrite|fsync|fopen(64)?|printf|fprintf|puts|putchar|socket|send|recv|poll'
world+='|epoll_[a-z]+|time|clock_gettime|gettimeofday|getrandom|rand|random|getenv|sleep|nanosleep|usleep|fork|vfork'
world+='|posix_spawn|exec[a-z]+|kill|pthread_[a-z_]+'
wanted core | grep -E " (__)?($world)(_chk)?(@.*)?\$" | verdict 'core does no I/O, knows no clock and no thread'
wanted core | grep -E ' (sqlite3_|ev_|SSL_|newterm|initscr)' | verdict 'core calls neither SQLite nor libev nor curses'
wanted base proto tui core lang net master worker cli | grep -E ' sqlite3_' | verdict 'only store calls SQLite'
wanted base proto tui core lang store | grep -E ' ev_[a-z]' | verdict 'libev is called in net and above only'
wanted base proto core store net master worker cli | grep -E ' (newterm|initscr|endwin|doupdate|wnoutrefresh)$' |
	verdict 'only tui calls curses'
finish
