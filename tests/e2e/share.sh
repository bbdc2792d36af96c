# SPDX-License-Identifier: GPL-3.0-or-later
# Other unix users come by a shared socket: the kernel says who they are, and who isn't listed is refused.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "only root can run commands as other users"
place=$(mktemp -d /tmp/titan-share.XXXXXX)
[ -n "$(setpriv --reuid=61001 --regid=61001 --clear-groups stat /tmp 2>/dev/null)" ] || skip_all "other users can't enter /tmp"
trap 'rm -rf "$place"; finish' EXIT
chmod 755 "$place"
cp "$TITAN" "$place/titan"
daemon=$(id -u daemon)
socket=$place/lab.sock
listed=61001 outsider=61003 group=61000
for uid in $listed $outsider "$daemon"; do
	install -d -o "$uid" -m 700 "$place/$uid"
done
as() { # UID ARGUMENT...: as this user, in the socket's group
	local uid=$1
	(cd / && env -u TITAN_STATE HOME="$place/$uid" XDG_CONFIG_HOME="$place/$uid" XDG_STATE_HOME="$place/$uid" \
		setpriv --reuid="$uid" --regid=61009 --groups=$group "$place/titan" "${@:2}")
}
without_group() {
	(cd / && env -u TITAN_STATE HOME="$place/$1" XDG_CONFIG_HOME="$place/$1" XDG_STATE_HOME="$place/$1" \
		setpriv --reuid="$1" --regid=61009 --clear-groups "$place/titan" "${@:2}")
}
export XDG_CONFIG_HOME=$test_dir/config
mkdir -p "$TITAN_STATE/default"
chmod 700 "$TITAN_STATE" "$TITAN_STATE/default"
conf=$TITAN_STATE/default/titan.conf
share() { # USERS
	echo "share: {socket: $socket, group: $group, users: {$1}}" >"$conf"
}
restart() {
	titan -y down >/dev/null 2>&1
	titan up --slots 1 --listen "$address"
}

share "$listed: [approver, submitter, viewer], daemon: viewer"
start_cluster --slots 1 --listen 127.0.0.1:0
address=$(sed -n 's/.*listening on //p' "$TITAN_STATE/default/master.log" | tail -n 1)
is "the socket is the group's alone" "$(stat -c '%a %g' "$socket")" "660 $group"
exits "a listed user names the cluster" 0 as $listed cluster add lab "$socket"
exits "and uses it" 0 as $listed -C lab ls
like "which cluster ls shows" "$(as $listed --json cluster ls | jq -r '.[0].address')" "^$socket\$"
exits "without a name, too" 0 as $listed -H "$socket" ls
exits "a user is found by name" 0 as "$daemon" -H "$socket" ls
exits "and has only the roles of the list" 3 as "$daemon" -H "$socket" run -e 'a; a=true'
exits "a member of the group who isn't listed is refused" 3 as $outsider -H "$socket" ls
like "with a sentence" "$err" "user $outsider isn't among the users with whom $(id -un) shares this cluster"
exits "somebody outside the group doesn't get to the master" 3 without_group $listed -H "$socket" ls
like "which is said" "$err" "you may not use the socket $socket, because you aren't in its group"
exits "the owner is the owner, by this socket too" 0 titan -H "$socket" token ls
exits "a worker can't come this way" 2 as $listed -H "$socket" worker start
like "and is told how" "$err" 'a worker can.t be started or added through the shared socket'

# One person by uid and by token, with one vote.
titan token add $listed --role approver,viewer -o listed.key
token() { TITAN_STATE=$test_dir/away "$TITAN" -H "$address" --key listed.key "$@"; }
gate_waits() { titan --json approvals | jq -r '.[].job' | grep -qx "$1"; }
votes() { titan --json approvals | jq -r ".[] | select(.job == \"$1\") | .approvals"; }
run=$(titan run -e "?ok; ok='fine?' count=2")
ok "a gate waits" until_true 30 gate_waits "$run/ok"
exits "the user approves" 0 as $listed -H "$socket" approve "$run/ok"
exits "and again with a token" 0 token approve "$run/ok"
is "which is one vote" "$(votes "$run/ok")" 1
own=$(as $listed -H "$socket" run -e "?ok; ok='fine?'")
is "a run belongs to the user" "$(titan --json show "$own" | jq -r '.[0].owner')" $listed
ok "its gate waits" until_true 30 gate_waits "$own/ok"
exits "which the user doesn't approve while another person may" 3 token approve "$own/ok"
like "also not by token" "$err" "$listed submitted run $own"

# Removed from the list: from the restart of the master on.
share "daemon: viewer"
ok "the master is restarted" restart
exits "who was removed is refused" 3 as $listed -C lab ls
exits "the others aren't" 0 as "$daemon" -H "$socket" ls

# What a socket may not be.
titan -y down >/dev/null 2>&1
chmod 777 "$place"
exits "a directory that all may write to is refused by the master" 3 titan up --listen "$address"
like "with the reason" "$err" "share: other users may write to $place"
exits "and by clients" 3 as "$daemon" -H "$socket" ls
like "which don't trust what is there" "$err" 'the socket there could be anybody.s'
chmod 755 "$place"
exits "without a master a client says so" 69 as "$daemon" -H "$socket" ls
like "and who can start it" "$err" "no master listens on $socket"
rm "$socket"
echo text >"$socket"
exits "a plain file isn't replaced" 2 titan up --listen "$address"
is "it is still there" "$(cat "$socket")" text
rm "$socket"
exits "where there is no socket a client says so" 69 as "$daemon" -H "$socket" ls
echo "share: {socket: $socket, group: no-such-group, users: {daemon: viewer}}" >"$conf"
exits "an unknown group is refused" 70 titan up --listen "$address"
like "by name" "$err" "this machine has no group 'no-such-group'"
share "daemon: viewer, no-such-user: viewer"
exits "an unknown user is none" 0 titan up --slots 1 --listen "$address"
like "which the log of the master says" "$(cat "$TITAN_STATE/default/master.log")" "shares the cluster with user no-such-user, whom this machine doesn't have"
install -d -m 700 "$TITAN_STATE/other"
cp "$conf" "$TITAN_STATE/other/titan.conf"
exits "a second cluster can't take the socket" 2 titan -C other up
like "and says why" "$err" "share: another process listens on $socket"
exits "the first goes on" 0 as "$daemon" -H "$socket" ls
done_testing
