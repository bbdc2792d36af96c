# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced, after lib.sh, by tests that need several hosts: network namespaces with a router between them. Host 0 is the
# master's, at 10.7.0.2; host K is at 10.7.K.2, and the router at 10.7.K.1 on each side. A host is a network of its own
# and nothing else: files, processes and users are this machine's, so titan's unix socket works from everywhere.

hosts=titan-${test_dir##*.}
master_host=10.7.0.2

host_space() { echo "$hosts-$1"; }                             # K, or "router"
on_host() { # K COMMAND...: in the network of that host
	local space
	space=$(host_space "$1")
	shift
	nsenter --net="/run/netns/$space" "$@"
}
host_address() { # K LAST-NUMBER: (again) give the host this address and no other
	local space
	space=$(host_space "$1")
	ip -n "$space" addr flush dev eth0 scope global
	ip -n "$space" addr add "10.7.$1.$2/24" dev eth0 && ip -n "$space" route replace default via "10.7.$1.1"
}
add_host() { # K
	local space router
	space=$(host_space "$1") router=$(host_space router)
	ip netns add "$space" && ip -n "$router" link add "h$1" type veth peer name eth0 netns "$space" &&
		ip -n "$space" link set lo up && ip -n "$space" link set eth0 up && ip -n "$router" link set "h$1" up &&
		ip -n "$router" addr add "10.7.$1.1/24" dev "h$1" && host_address "$1" 2
}
host_spaces() { ip netns list 2>/dev/null | cut -d' ' -f1 | grep "^$hosts-"; }
processes_on_hosts() { for space in $(host_spaces); do [ "$space" = "$hosts-router" ] || ip netns pids "$space"; done; }
hosts_are_idle() { [ -z "$(processes_on_hosts)" ]; }
remove_hosts() {
	local space
	titan -y down >/dev/null 2>&1
	until_true 10 hosts_are_idle
	for space in $(host_spaces); do
		# shellcheck disable=SC2046
		kill -KILL $(ip netns pids "$space") 2>/dev/null
		ip netns del "$space"
	done
	[ ! -d "$test_dir/far" ] || remove_cages "$test_dir/far"
}
# The router's rules about lost packets come before its rule about its own addresses, so that they hold for a proxy on it, too.
make_router() {
	local router
	router=$(host_space router)
	ip netns add "$router" && ip -n "$router" link set lo up &&
		nsenter --net="/run/netns/$router" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward' &&
		ip -n "$router" rule add pref 100 lookup local && ip -n "$router" rule del pref 0
}
make_hosts() { # COUNT: hosts 0 to COUNT, or the test is skipped with the reason
	local k
	command -v ip >/dev/null && command -v nsenter >/dev/null || skip_all "no iproute2 or nsenter"
	trap 'remove_hosts; finish' EXIT
	make_router 2>"$test_dir/hosts.err" || skip_all "no network namespaces: $(tail -n 1 "$test_dir/hosts.err")"
	for k in $(seq 0 "$1"); do
		add_host "$k" 2>"$test_dir/hosts.err" || skip_all "no virtual networks: $(tail -n 1 "$test_dir/hosts.err")"
	done
}

# A master on host 0 that the others dial at $master_host:$master_port; the next one listens there, too.
master_on_host() { # titan master's arguments
	local try
	# The kernel may need a moment to free the store of a master that was killed.
	for try in 1 2 3; do
		on_host 0 "$TITAN" master --listen "$master_host:${master_port:-0}" "$@" 2>"$test_dir/master.log" &
		until_true 30 eval "titan status || ! kill -0 $! 2>/dev/null"
		if titan status >/dev/null 2>&1; then break; fi
		note "start $try: $(tail -n 2 "$test_dir/master.log" | head -n 1)"
		sleep 1
	done
	titan status >/dev/null 2>&1 || {
		note "$(cat "$test_dir/master.log")"
		echo "Bail out! the master didn't start"
		exit 1
	}
	master_port=$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' "$test_dir/master.log" | tail -n 1)
}
worker_on_host() { # K ADDRESS titan-worker-start's-arguments: the worker is called wK
	local k=$1 address=$2
	shift 2
	[ -f "$test_dir/w$k.key" ] || titan token add "w$k" --worker -o "$test_dir/w$k.key" >/dev/null || return
	TITAN_STATE=$test_dir/far on_host "$k" setsid "$TITAN" worker start -H "$address" --key "$test_dir/w$k.key" "$@" \
		>"$test_dir/w$k.log" 2>&1 &
}
workers_up() { # COUNT
	[ "$(state_of '[.workers[] | select(.state == "up")] | length')" = "$1" ]
}
