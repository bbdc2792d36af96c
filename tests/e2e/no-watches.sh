# SPDX-License-Identifier: GPL-3.0-or-later
# A worker to which the system gives no inotify instance, as where a user has many workers, runs jobs and shows their output.
. "$(dirname "$0")/lib.sh"

"$TITAN" master 2>master.log &
until_true 20 titan status || skip_all "no master"
# The limit of a user namespace holds for it alone.
unshare --user --map-root-user sh -c 'echo 0 >/proc/sys/user/max_inotify_instances' 2>unshare.err || skip_all "no user namespaces: $(cat unshare.err)"
unshare --user --map-root-user sh -c "echo 0 >/proc/sys/user/max_inotify_instances; exec '$TITAN' worker start --name blind --slots 2" 2>worker.log &
worker=$!
ok "the worker is up" until_true 30 worker_is_up
ok "and says what it lacks" until_true 10 grep -rq 'max_user_instances' worker.log "$TITAN_STATE"
run=$(titan run -e "a; a='echo one; until [ -e $test_dir/go ]; do sleep 0.1; done; echo two'")
shows() { titan logs "$run/a" | grep -qx "$1"; }
ok "the output of a running job is seen" until_true 30 shows one
ok "while it runs" job_is "$run" a running
touch go
exits "the job ends" 0 titan --timeout 60s wait "$run"
is "its output is whole" "$(titan logs "$run/a" | tr '\n' ' ')" "one two "
kill -INT "$worker"
until_true 30 process_gone "$worker"
done_testing
