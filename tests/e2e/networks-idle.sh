# SPDX-License-Identifier: GPL-3.0-or-later
# A way that forgets connections while they are idle, as a NAT does, without a word to either side: both sides notice within the
# lease, and connect again when there is a way again. And probes keep an idle connection in the tables of a NAT.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-hosts.sh"

command -v python3 >/dev/null || skip_all "no python3"
command -v ss >/dev/null || skip_all "no ss"
mkdir -p -m 700 "$TITAN_STATE/default"
echo 'trust_submitters: yes' >"$TITAN_STATE/default/titan.conf"
make_hosts 2
master_on_host --lease 20s
mkfifo orders
on_host router python3 "$e2e_dir/networks.py" "$hosts" "$master_port" 7999 2 <orders >faults 2>faults.err &
exec 8>orders
ok "the router listens to orders" until_true 20 grep -q ready faults || done_testing
titan token add anna --role viewer,submitter -o anna.key >/dev/null
anna() { TITAN_STATE=$test_dir/far on_host 1 "$TITAN" -H "$master_host:$master_port" --key anna.key "$@"; }
# In the background, $! is the client itself and no shell around it: a kill of the shell alone would leave the client.
anna_waits() {
	export TITAN_STATE=$test_dir/far
	exec nsenter --net="/run/netns/$(host_space 1)" "$TITAN" -H "$master_host:$master_port" --key anna.key wait "$1" >wait.out 2>wait.err
}
order() { # cut|heal HOST
	local said
	said=$(grep -c done faults)
	echo "$1 $2" >&8
	until_true 10 eval '[ "$(grep -c done faults)" -gt '"$said"' ]'
}
# The connections of anna, as her host or the master's has them; with the timers of TCP.
sockets_at() { on_host "$1" ss -tnoH state established "( sport = :$master_port or dport = :$master_port )" | grep -F 10.7.1.2; }
connected_at() { sockets_at "$1" >/dev/null; }
# A client that waits has subscribed and opened its second connection. Before that, a lost way ends the command.
subscribed() { [ "$(sockets_at 0 | wc -l)" = 2 ]; }
gone_at() { ! connected_at "$1"; }
probed_soon() { # HOST: the next probe of an idle connection is less than a minute away
	sockets_at "$1" | grep -Eq 'timer:\(keepalive,([0-9.]+(sec|ms)|[0-9]{1,5}ms)'
}

wait_for_go() { anna run -e "a; a='until [ -e $test_dir/go ]; do sleep 0.1; done'" >run.out 2>&1 && cat run.out; }
run=$(wait_for_go)
anna_waits "$run" &
waiter=$!
ok "a client waits" until_true 20 subscribed
ok "its host probes the idle connection within a minute" until_true 20 probed_soon 1
ok "and so does the master's" until_true 20 probed_soon 0
kill "$waiter"
ok "a client that is killed is gone" until_true 20 gone_at 0
wait "$waiter" 2>/dev/null

# The same with a lease of 4 s, and the way is lost.
kill "$(master_pid)"
until_true 20 eval '! titan status'
master_on_host --lease 4s --grace 60s
worker_on_host 2 "$master_host:$master_port" --slots 1
ok "a worker is up" until_true 30 workers_up 1
anna_waits "$run" &
waiter=$!
ok "the client waits" until_true 20 subscribed
first=$(sockets_at 1 | awk '{ print $3 }')
order cut 1
order cut 2
began=$(date +%s%3N)
ok "the master notices that the client is gone" until_true 30 gone_at 0
note "after $(($(date +%s%3N) - began)) ms"
changed_at_client() { [ "$(sockets_at 1 | awk '{ print $3 }')" != "$first" ]; }
ok "the client notices that the master is gone" until_true 30 changed_at_client
note "after $(($(date +%s%3N) - began)) ms"
order heal 1
ok "the worker is unreachable" until_true 30 eval '[ "$(state_of ".workers[0].state")" = unreachable ]'
ok "and knows" until_true 30 grep -q 'the master sends nothing' w2.log
order heal 2
ok "the worker is back" until_true 60 workers_up 1
ok "the client is back" until_true 60 connected_at 0
touch go
wait "$waiter"
is "and hears how its run ended" "$?" 0
note "$(cat wait.err)"
exec 8>&-
done_testing
