# SPDX-License-Identifier: GPL-3.0-or-later
# Cancelling asks first, kills what ignores SIGTERM, and leaves no process behind; an ended job stays as it is.
. "$(dirname "$0")/lib.sh"

start_cluster --slots 1

run=$(titan run -e "a -> b; a='sleep 1000'; b=true")
ok "a job runs" until_true 10 job_is "$run" a running
exits "its run is cancelled" 0 titan -y cancel "$run"
ok "the run ends" until_true 10 run_is "$run" cancelled
is "the running job is cancelled" "$(job_state "$run" a)" cancelled
is "and the waiting one" "$(job_state "$run" b)" cancelled
ok "no process is left" until_true 5 no_job_process

run=$(titan run -e "stubborn; stubborn='trap \"\" TERM; (trap \"\" TERM; setsid sleep 1000 & sleep 1000) & sleep 1000'")
ok "a job that ignores SIGTERM and forks away runs" until_true 10 job_is "$run" stubborn running
exits "it is cancelled" 0 titan -y cancel "$run"
ok "it is killed after the grace" until_true 20 run_is "$run" cancelled
ok "with all of its processes" until_true 5 no_job_process

run=$(titan run -e "{a, b} -> c; a='sleep 1000'; b='sleep 1000'; c=true")
ok "one of two runs" until_true 10 job_is "$run" a running
exits "the queued one is cancelled" 0 titan -y cancel "$run/b"
ok "it is cancelled at once" until_true 5 job_is "$run" b cancelled
is "what depends on it is skipped" "$(job_state "$run" c)" skipped
is "the other goes on" "$(job_state "$run" a)" running
exits "cancelling it again says that it has finished" 1 titan -y cancel "$run/b"
titan -y cancel "$run" >/dev/null
until_true 20 run_is "$run" cancelled

exits "an unknown run can't be cancelled" 4 titan -y cancel 999999
like "and says what to do" "$err" 'titan ls'

done_testing
