# SPDX-License-Identifier: GPL-3.0-or-later
# titan demo runs by itself without a terminal, checks its result, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"

exits "the demo ends well, also without a home" 0 env -i PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" "$TITAN" demo
like "it killed the master" "$out$err" '[kK]ill'
is "it leaves no directory behind" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'titan-demo*' -newer "$test_dir" | wc -l)" 0

# A reader that leaves early, a Ctrl-C and a hang-up leave nothing behind either.
mkdir "$test_dir/tmp"
demo() { env -u TITAN_STATE TMPDIR="$test_dir/tmp" "$TITAN" demo; }
# shellcheck disable=SC2317
nothing_left() { [ -z "$(ls -A "$test_dir/tmp")" ] && ! grep -qlzs "^TITAN_STATE=$test_dir/tmp/" /proc/[0-9]*/environ; }
for lines in 0 3 14; do
	out=$(demo 2>err | head -n $lines; echo "${PIPESTATUS[0]}")
	is "head -n $lines ends the demo like a broken pipe" "$(printf '%s\n' "$out" | tail -n 1)" 141
	is "without a word about it" "$(cat err)" ''
	ok "and nothing is left" nothing_left
done
exits "standard output that is full" 71 sh -c 'env -u TITAN_STATE TMPDIR="$1/tmp" "$TITAN" demo >/dev/full' sh "$test_dir"
ok "leaves nothing either" nothing_left
for signal in INT TERM HUP; do
	rm -f shown              # of the demo before: it says what is waited for
	# A background process of a shell ignores SIGINT, so it is put back.
	env -u TITAN_STATE TMPDIR="$test_dir/tmp" env --default-signal=INT "$TITAN" demo >shown 2>err &
	demo=$!
	ok "the demo runs" until_true 30 grep -q 'start demo' shown
	kill -$signal $demo
	wait $demo
	is "SIG$signal interrupts it" $? 130
	ok "and nothing is left" nothing_left
done

done_testing
