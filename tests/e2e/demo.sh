# SPDX-License-Identifier: GPL-3.0-or-later
# The demonstration runs by itself without a terminal, checks itself, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"

exits "the demo ends well, also without a home" 0 env -i PATH="$PATH" TMPDIR="${TMPDIR:-/tmp}" "$TITAN" demo
like "it killed the master" "$out$err" '[kK]ill'
is "it leaves no directory behind" "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'titan-demo*' -newer "$test_dir" | wc -l)" 0

done_testing
