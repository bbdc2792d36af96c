# SPDX-License-Identifier: GPL-3.0-or-later
# Trees that fork twice, leave their session and ignore SIGTERM: cancelled, none of their processes survives.
# time-out: 900 s
#
# CHAOS_TREES: how many (40).
. "$(dirname "$0")/lib.sh"

trees=${CHAOS_TREES:-40}
cat >"$test_dir/tree" <<'T'
#!/bin/sh
trap '' TERM HUP INT
(setsid sh -c 'trap "" TERM HUP INT; sleep 3600 & exec sleep 3600' &)
(trap '' TERM; setsid sleep 3600 &) &
exec sleep 3600
T
chmod +x "$test_dir/tree"
all_run() { [ "$(state_of .jobs.running)" = "$trees" ]; }

start_cluster --slots "$trees"
run=$(yes "$test_dir/tree" | head -n "$trees" | titan run --lines)
ok "$trees trees run" until_true 60 all_run
many() { [ "$(job_processes | wc -l)" -ge $((3 * trees)) ]; }
ok "of at least $((3 * trees)) processes" until_true 60 many
titan -y cancel "$run" >/dev/null
ok "cancelled, the run ends" until_true 300 run_is "$run" cancelled
ok "and not one survives" until_true 20 no_job_process

done_testing
