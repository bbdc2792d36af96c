# SPDX-License-Identifier: GPL-3.0-or-later
# A worker of root runs jobs as another user: with the environment and directories of that user, and nothing of root's.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ]; then
	exits "only root can start such a worker" 3 titan worker start --user daemon
	like "which is said" "$err" 'only a worker that root starts can run jobs as another user'
	done_testing
	exit
fi
id daemon >/dev/null 2>&1 || skip_all "there is no user daemon"
export XDG_CONFIG_HOME=$test_dir/config
exits "an unknown user is refused" 4 titan worker start --user no-such-user
like "by name" "$err" "this machine has no user 'no-such-user'"
exits "a name with escapes is shown without them" 4 titan worker start --user $'x\e[2Jy'
unlike "to the terminal" "$err" $'\e'
exits "root is refused" 2 titan worker start --user root
like "which says what to do" "$err" 'leave the option out to run jobs as root'
exits "by number, too" 2 titan worker start --user 0

start_cluster --slots 1 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
titan token add anna -o anna.key
anna() { TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key anna.key "$@"; }
home=$TITAN_STATE/default/worker/far
run=$(anna run --private -e 'a; a=true')
reason() { anna --json explain "$run/a" | jq -r '.[0].reason'; }
waits() { [ "$(reason)" = worker_of_owner ]; }
ok "a job of a submitter waits, as root's worker could use root's rights" until_true 30 waits
start_far() {
	setsid "$TITAN" worker start --name far --user "$1" --slots 2 >far.log 2>&1 &
	far=$!
}
has_far() { titan --json worker ls | jq -e '.[] | select(.name == "far" and .state == "up")' >/dev/null; }
start_far daemon
ok "a worker that runs jobs as another user connects" until_true 30 has_far
place=$(echo /var/lib/titan-jobs/*-"$(printf %x "$(stat -c %i "$home")")")
trap 'rm -rf "$place"; rmdir /var/lib/titan-jobs 2>/dev/null; finish' EXIT
exits "then the job runs" 0 anna --timeout 60s wait "$run"

titan cordon local >/dev/null
job() { # SCRIPT: what it prints on the worker
	local number
	number=$(titan run --private -- sh -c "$1") || return
	titan --timeout 60s wait "$number" >/dev/null
	titan logs "$number"
}
uid=$(id -u daemon)
is "the job has the user's number and groups" "$(job 'id -u; id -g; id -G')" "$uid
$(id -g daemon)
$(id -G daemon)"
is "its variables" "$(job 'echo $HOME $USER $LOGNAME $SHELL')" "$(getent passwd daemon | cut -d: -f6) daemon daemon $(getent passwd daemon | cut -d: -f7)"
is "a directory of its own" "$(job 'stat -c %u:%a . $TMPDIR; echo x >$TMPDIR/x; cat $TMPDIR/x')" "$uid:700
$uid:700
x"
is "it opens its output again" "$(job 'echo again >/dev/stdout')" again
is "it has no rights of root" "$(job 'grep -E Cap[EPI].*0000000000000000 /proc/self/status | wc -l')" 3
for path in "$home/spool" "$home/secret" "$TITAN_STATE/default/titan.sock" "$TITAN_STATE/default/titan.key" "$TITAN_STATE/default/titan.db"; do
	unlike "it can't read ${path##*/}" "$(job "cat $path >/dev/null && echo read-it; true")" read-it
done
is "it can't write beside its directory" "$(job 'touch ../x 2>/dev/null && echo wrote; true')" ""
is "it has no open files of the worker" "$(job 'ls /proc/self/fd' | wc -l)" 4
exits "a directory that it can't enter is the job's failure" 1 titan --timeout 60s run --private -w -e "j; j=true dir=$TITAN_STATE"

# The job's own socket works, if the user can run titan at all.
cp "$TITAN" "$place/titan"
chmod 755 "$place/titan"
is "it reaches the master as a job" "$(job "$place/titan --json ls | jq length >/dev/null && echo reached" | tail -n 1)" reached

# The keeper and the link die; jobs go on and are found again.
run=$(titan run --private -e "j; j='while [ ! -e $place/attempts/go ]; do sleep 0.1; done; id -u'")
ok "a job runs" until_true 30 job_is "$run" j running
pid=$(state_of '.workers[] | select(.name == "far") | .pid')
kill -9 "$pid"
ok "another keeper comes" until_true 60 has_far
touch "$place/attempts/go"
exits "the job ends well" 0 titan --timeout 60s wait "$run"
is "with its output" "$(titan logs "$run/j")" "$uid"
kill -INT $far
ok "the worker ends" until_true 30 process_gone $far
exits "as root it doesn't start again" 3 timeout 60 "$TITAN" worker start --name far
like "because of what is left of the other user" "$err" "this worker has run jobs as user $uid, and keeps to that user"
done_testing
