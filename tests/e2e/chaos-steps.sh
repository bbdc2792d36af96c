# SPDX-License-Identifier: GPL-3.0-or-later
# The master is killed at one write after another while graphs are submitted and jobs run; in other rounds it runs out
# of memory at one allocation after another. Everything that it acknowledged is there afterwards, and no ended job runs
# again.
# time-out: 1500 s
#
# CHAOS_STEPS: how many of each (8); CHAOS_SEED: where they begin (1).
. "$(dirname "$0")/lib.sh"

steps=${CHAOS_STEPS:-8}
seed=${CHAOS_SEED:-1}
exec 2>"$test_dir/stderr"
export ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
gone() { process_gone "$master"; }
serves() { titan status; }
up_or_gone() { serves || gone; }
answered_or_gone() { process_gone "$client" || gone; }

# start COMMAND...: a master below it, or none; waits until it serves or is gone
start() {
	"$@" "$TITAN" master --lease 2s --grace 3s 2>>"$test_dir/master.log" &
	master=$!
	until_true 20 up_or_gone
}
stop() { kill -TERM "$(master_pid)" 2>/dev/null; wait "$master"; }

: >"$test_dir/acked"
number=0
# Graphs until the master has gone, twenty at most: the name of each accepted one is noted.
submit_until_gone() {
	local _
	for _ in $(seq 20); do
		number=$((number + 1))
		"$TITAN" run --name "n$number" -e "a -> b; a='echo $number >>$test_dir/ran'; b='true'" >/dev/null 2>&1 &
		client=$!
		until_true 20 answered_or_gone
		gone && kill -KILL "$client" 2>/dev/null
		wait "$client" && echo "n$number" >>"$test_dir/acked"
		gone && return 0
	done
	return 0
}

all_there() {
	titan --json ls -a | jq -r '.[].name' | sort >"$test_dir/names"
	sort "$test_dir/acked" | comm -23 - "$test_dir/names" >"$test_dir/lost"
	[ ! -s "$test_dir/lost" ]
}

# What is durable after each life is looked at by a master without faults.
look() { # WHAT
	wait "$master" 2>/dev/null
	start env
	all_there || { bad=$((bad + 1)); note "after $1 lost: $(tr '\n' ' ' <"$test_dir/lost")"; }
	stop
}

start env
"$TITAN" worker start --name local --slots 4 2>>"$test_dir/worker.log" &
until_true 20 worker_is_up
stop

if strace -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:signal=KILL:when=1000 true 2>/dev/null; then
	bad=0
	ended=0
	for call in pwrite64 fdatasync; do
		for step in $(seq "$seed" $((seed + steps - 1))); do
			start strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$step"
			submit_until_gone
			gone && ended=$((ended + 1))
			gone || stop
			look "$call $step"
		done
	done
	is "killed at each of $((2 * steps)) persisted steps it has lost nothing that it acknowledged" $bad 0
	amount "$steps writes, $steps syncs"
	ok "in most of its lives it was killed" test $ended -ge $steps
else
	note "strace can't trace here: no steps"
fi

cat >nomem.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
static long calls;
static long at(void) { static long n; if (!n) { const char *t = getenv("NOMEM_AT"); n = t ? atol(t) : -1; } return n; }
static int fails(void) { return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == at(); }
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *malloc(size_t n) { if (fails()) { errno = ENOMEM; return 0; } return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { if (fails()) { errno = ENOMEM; return 0; } return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { if (fails()) { errno = ENOMEM; return 0; } return __libc_realloc(p, n); }
END
if nm "$TITAN" 2>/dev/null | grep -qE "__(asan|tsan)_init"; then
	note "a sanitizer owns malloc: no failures of it"
elif ${CC:-cc} -shared -fPIC -o nomem.so nomem.c 2>/dev/null; then
	bad=0
	ended=0
	for step in $(seq 0 $((steps - 1))); do
		# Closer together at first, where the store is opened and loaded.
		at=$((seed + step * step * 23 + step * 7))
		start env LD_PRELOAD="$test_dir/nomem.so" NOMEM_AT=$at
		submit_until_gone
		gone && ended=$((ended + 1))
		gone || stop
		look "allocation $at"
	done
	is "without memory at each of $steps calls it has lost nothing that it acknowledged" $bad 0
	amount "$steps allocations"
	note "$ended of $steps ended the master"
else
	note "no compiler: no failures of malloc"
fi

start env
ok "graphs were accepted" test "$(wc -l <"$test_dir/acked")" -ge "$((steps / 2))"
ok "everything ends" until_true 120 nothing_pending
is "every acknowledged graph has run" "$(titan --json ls -a | jq -r '.[] | select(.state == "succeeded") | .name' | sort | comm -13 - <(sort "$test_dir/acked") | wc -l)" 0
is "and no job of it twice" "$(sort -n "$test_dir/ran" | uniq -d | wc -l)" 0
titan -y down >/dev/null 2>&1

done_testing
