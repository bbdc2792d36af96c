# SPDX-License-Identifier: GPL-3.0-or-later
#
# The runner of the tests counts what it is told, and nothing that went wrong gets past it. A crash and a
# time-out name the running test. greatest.h evaluates an argument once.

. "$(dirname "$0")/lib.sh"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

make_test() { # NAME: its body on standard input
	cat >"$scratch/$1.sh"
}

expect() { # WHAT STATUS LAST-LINE NAME...
	local what=$1 status=$2 line=$3 output got name
	local -a paths=()
	shift 3
	for name; do
		paths+=("$scratch/$name.sh")
	done
	output=$(env -u TEST_JOBS -u TEST_TIMEOUT -u TEST_AGAIN bash tests/run-tests ${options-} ${paths[@]+"${paths[@]}"} 2>&1)
	got=$?
	if [ $got = "$status" ] && [ "$(tail -n 1 <<<"$output")" = "$line" ]; then
		verdict "$what" </dev/null
	else
		verdict "$what" <<<"status $got, not $status, or another last line than: $line
$output"
	fi
}

make_test good <<<'echo "ok 1 - a"; echo "ok 2 - b # SKIP c"; echo 1..2'
make_test unit <<<'echo "Pass: 3, fail: 0, skip: 1."'
make_test bad <<<'echo "ok 1"; echo "not ok 2"; echo 1..2'
make_test status <<<'echo "ok 1"; echo 1..1; exit 3'
make_test silent <<<':'
make_test short <<<'echo 1..3; echo "ok 1"'
make_test slow <<<'echo "ok 1"; sleep 60 & wait'
# Amid exec a process has no environment to be known by.
make_test litter <<<'setsid sleep 60 >/dev/null 2>&1 & until grep -qsx sleep "/proc/$!/comm"; do :; done; echo "ok 1"; echo 1..1'
make_test skipped <<<'echo "1..0 # SKIP nothing here"'
make_test home <<<'[ "$PWD" = "$HOME" ] && [ -z "$(ls -A)" ] && echo "ok 1"; touch x; echo 1..1'

expect 'passes and skips are counted' 0 '4 passed, 0 failed, 2 skipped' good unit
expect 'a failure is counted and fails the run' 1 '2 passed, 1 failed, 1 skipped' bad good
expect 'a bad exit status is a failure' 1 '1 passed, 1 failed, 0 skipped' status
expect 'silence is a failure' 1 '0 passed, 1 failed, 0 skipped' silent
expect 'a broken plan is a failure' 1 '1 passed, 1 failed, 0 skipped' short
expect 'a whole script can be skipped' 0 '0 passed, 0 failed, 1 skipped' skipped
expect 'nothing run is a failure' 1 '0 passed, 0 failed, 0 skipped'
expect 'each test has a fresh directory' 0 '2 passed, 0 failed, 0 skipped' home home
options='-t 1' expect 'what takes too long is ended and fails' 1 '1 passed, 1 failed, 0 skipped' slow
expect 'a process left behind is a failure' 1 '1 passed, 1 failed, 0 skipped' litter
options='-j 3' expect 'several at a time count alike' 1 '6 passed, 1 failed, 3 skipped' good bad unit home skipped
options='-f' expect 'a run can stop at the first failure' 1 '1 passed, 1 failed, 0 skipped' bad good

make_test unsteady <<<'if [ -e '"$scratch"'/tried ]; then echo "ok 1"; else touch '"$scratch"'/tried; echo "not ok 1"; fi; echo 1..1'
make_test leaky <<<'[ -e '"$scratch"'/leaked ] || { touch '"$scratch"'/leaked; echo "ERROR: LeakSanitizer: x"; exit 1; }; echo "ok 1"; echo 1..1'
expect 'a test that failed once is a failure' 1 '1 passed, 1 failed, 1 skipped' unsteady good
rm "$scratch/tried"
options='-a -j 2' expect 'with -a it runs again alone, and passes' 0 '2 passed, 0 failed, 1 skipped' unsteady good
options='-a' expect 'what fails twice is a failure' 1 '1 passed, 1 failed, 0 skipped' bad
options='-a' expect 'what a sanitizer reports is a failure at once' 1 '1 passed, 1 failed, 1 skipped' leaky good

# Where a test may write is gone afterwards, also when it was killed.
mkdir "$scratch/tmp"
make_test scatters <<<'mktemp -p "$TMPDIR"; mktemp -d; echo "$TEST_MEMORY" >'"$scratch"'/memory; touch "${TEST_MEMORY:-.}/x"; kill -KILL $$'
TMPDIR=$scratch/tmp expect 'a test that is killed fails' 1 '0 passed, 1 failed, 0 skipped' scatters
{
	ls -A "$scratch/tmp"
	find "$(cat "$scratch/memory")" 2>/dev/null
} | verdict 'and leaves nothing behind'

make_program() { # NAME BODY: a test that passes and one with this body
	cat >"$scratch/$1.c" <<-END
		#include <signal.h>
		#include "greatest.h"
		GREATEST_MAIN_DEFS();
		static int calls;
		static int next_call(void) { return ++calls; }
		TEST passes(void) { ASSERT_EQ_FMT(1, next_call(), "%d"); PASS(); }
		TEST $1(void) { $2; PASS(); }
		int main(int argc, char **argv)
		{
			GREATEST_MAIN_BEGIN();
			RUN_TEST(passes);
			RUN_TEST($1);
			GREATEST_MAIN_END();
		}
	END
	${CC:-cc} -Itests -o "$scratch/$1" "$scratch/$1.c"
}

says() { # WHAT PATTERN ARGUMENT...
	local what=$1 pattern=$2 output
	shift 2
	output=$(env -u TEST_JOBS -u TEST_TIMEOUT -u TEST_AGAIN bash tests/run-tests "$@" 2>&1)
	if grep -Eq -- "$pattern" <<<"$output"; then
		verdict "$what" </dev/null
	else
		verdict "$what" <<<"nothing here matches $pattern:
$output"
	fi
}

make_program crashes 'raise(SIGKILL)'
make_program hangs 'for (;;) pause()'
make_program differs 'ASSERT_EQ_FMT(7, next_call(), "%d")'
make_test dies <<<'echo "ok 1 - first"; kill -KILL $$'
make_test finds <<<'[ -x "$TITAN" ] && echo "ok 1 - it is there"; echo 1..1'
says 'a crash names the running test' 'in crashes$' "$scratch/crashes"
says 'a time-out names the running test' 'took more than 1 s in hangs$' -t 1 "$scratch/hangs"
says 'a script that dies is told by its last result' 'after: ok 1 - first$' "$scratch/dies.sh"
says 'an assertion that fails evaluates its argument once' 'Got: 2$' "$scratch/differs"
unset TITAN
says 'a script finds the build without any setting' '^1 passed, 0 failed' "$scratch/finds.sh"
finish
