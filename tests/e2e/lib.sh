# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sourced by the end-to-end tests: TAP output, a cluster for each test, waiting for states. A test never sleeps for a
# result: it waits until a condition holds, and if that takes too long it fails and prints what it saw.

set -u

TITAN=${TITAN:?path of the titan binary}
e2e_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$e2e_dir/../cages.sh"
test_dir=$(mktemp -d "${TMPDIR:-/tmp}/titan-e2e.XXXXXX") || exit 1
export TITAN_STATE=$test_dir/state HOME=$test_dir NO_COLOR=1
unset TITAN_CLUSTER XDG_STATE_HOME XDG_CONFIG_HOME
test_count=0
test_failed=0
cd "$test_dir" || exit 1

titan() { "$TITAN" "$@"; }

note() { printf '%s\n' "$*" | sed 's/^/# /'; }

ok() { # DESCRIPTION COMMAND...
	local what=$1
	shift
	test_count=$((test_count + 1))
	if "$@" >"$test_dir/ok.out" 2>&1; then
		echo "ok $test_count - $what"
	else
		note "status $? of: $*"
		note "$(tail -n 20 "$test_dir/ok.out")"
		echo "not ok $test_count - $what"
		test_failed=$((test_failed + 1))
		return 1
	fi
}

is() { # DESCRIPTION GOT WANTED
	test_count=$((test_count + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $test_count - $1"
	else
		note "got:    $2"
		note "wanted: $3"
		echo "not ok $test_count - $1"
		test_failed=$((test_failed + 1))
		return 1
	fi
}

like() { # DESCRIPTION GOT PATTERN (extended regular expression)
	test_count=$((test_count + 1))
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		echo "ok $test_count - $1"
	else
		note "got:     $2"
		note "pattern: $3"
		echo "not ok $test_count - $1"
		test_failed=$((test_failed + 1))
		return 1
	fi
}

unlike() { # DESCRIPTION GOT PATTERN
	test_count=$((test_count + 1))
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		note "got:             $2"
		note "must not match:  $3"
		echo "not ok $test_count - $1"
		test_failed=$((test_failed + 1))
		return 1
	fi
	echo "ok $test_count - $1"
}

# exits DESCRIPTION STATUS COMMAND...: stdout in $out, stderr in $err
exits() {
	local what=$1 wanted=$2 status
	shift 2
	"$@" >"$test_dir/exits.out" 2>"$test_dir/exits.err" </dev/null
	status=$?
	out=$(cat "$test_dir/exits.out")
	err=$(cat "$test_dir/exits.err")
	[ "$status" = "$wanted" ] || note "stdout: $out" "stderr: $err"
	is "$what" "$status" "$wanted"
}

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

until_true() { # SECONDS COMMAND...
	local deadline=$(($(date +%s) + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

state_of() { titan --json status 2>/dev/null | jq -r "$1"; }
master_pid() { state_of .master.pid; }
# Guardian and keeper, as of a machine that dies: a stopped one starts no keeper, and none takes the place of one that lives.
kill_worker() { # GUARDIAN
	local keeper
	kill -STOP "$1"
	keeper=$(pgrep -P "$1")
	# shellcheck disable=SC2086
	kill -KILL $keeper "$1"
}
guardian_pid() { ps -o ppid= -p "$(state_of '.workers[0].pid')" | tr -d ' '; }
job_state() { titan --json show "$1" 2>/dev/null | jq -r ".[0] | .jobs[] | select(.name == \"$2\") | .state"; }
job_is() { [ "$(job_state "$1" "$2")" = "$3" ]; }
run_state() { titan --json show "$1" 2>/dev/null | jq -r '.[0] | .state'; }
run_is() { [ "$(run_state "$1")" = "$2" ]; }
run_ended() { case $(run_state "$1") in succeeded | failed | cancelled) ;; *) return 1 ;; esac; }
process_gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null; }

# Processes of this cluster's jobs: they write to files of its workers, work in their directories or have their
# environment, whatever they did to their parents and session. Numbers of runs are no use for this: other tests have
# the same.
job_processes() {
	local pid
	for pid in /proc/[0-9]*; do
		if readlink "$pid/cwd" "$pid/fd/1" "$pid/fd/2" 2>/dev/null | grep -q "^$TITAN_STATE/[^/]*/worker/[^/]*/attempts/" ||
			grep -qzs "^TITAN_SCRATCH=$TITAN_STATE/" "$pid/environ" 2>/dev/null; then
			echo "${pid#/proc/}"
		fi
	done
}
no_job_process() { [ -z "$(job_processes)" ]; }

# Every process whose environment names this test's state directory: daemons and jobs alike.
cluster_processes() {
	local pid
	for pid in $(grep -lzs "^TITAN_STATE=$TITAN_STATE\$" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
		[ "$pid" = $$ ] || [ "$pid" = "${BASHPID:-0}" ] || echo "$pid"
	done
}

finish() {
	titan -y down >/dev/null 2>&1
	# Stopped first, so that none of them starts another meanwhile.
	for pid in $(cluster_processes); do kill -STOP "$pid" 2>/dev/null; done
	for pid in $(cluster_processes); do
		case $({ tr "\0" " " 2>/dev/null <"/proc/$pid/cmdline"; } 2>/dev/null) in
		*titan*) kill -KILL "$pid" 2>/dev/null ;;
		esac
	done
	remove_cages "$TITAN_STATE"
	rm -rf "$test_dir"
}
trap finish EXIT

# A terminal of tmux, whose server is this test's own. Its socket lies in the test's directory and is named from there, as
# the address of a socket has room for 107 bytes; titan is found by PATH, so that what is typed is as long in any checkout.
pane() { (cd "$test_dir" && tmux -S tmux.sock "$@"); }
screen() { pane capture-pane -p 2>/dev/null; }
sees() { screen | grep -Eq -- "$1"; }
keys() { pane send-keys "$@"; }
open_terminal() { # a shell with job control on 100x30
	export PS1='shell> ' ENV= LC_ALL=C.UTF-8
	mkdir "$test_dir/bin"
	ln -s "$(realpath "$TITAN")" "$test_dir/bin/titan"
	trap 'pane kill-server 2>/dev/null; finish' EXIT
	PATH=$test_dir/bin:$PATH pane -f /dev/null new-session -d -x 100 -y 30 bash --norc --noprofile -i
}
# The process of titan that runs in the foreground there, by its arguments.
terminal_pid() { pgrep -P "$(pane list-panes -F '#{pane_pid}')" -xf "titan $*" | head -n 1; }

done_testing() {
	echo "1..$test_count"
	[ "$test_failed" = 0 ]
	exit
}

start_cluster() { # titan up's arguments
	titan up "$@" >"$test_dir/up.out" 2>&1 || {
		note "$(cat "$test_dir/up.out")"
		echo "Bail out! titan up failed"
		exit 1
	}
	until_true 10 worker_is_up || {
		echo "Bail out! the local worker never came up"
		exit 1
	}
}

# What a test of chaos has done, for the table at the end of make chaos.
amount() { [ -z "${CHAOS_REPORT:-}" ] || echo "$*" >>"$CHAOS_REPORT"; }

pending() { [ "$(state_of '[.counts | to_entries[] | select(.key | IN("waiting", "ready", "delayed", "assigned", "running", "stopping")) | .value] | add // 0')" -gt 0 ]; }
nothing_pending() { ! pending; }
# Jobs whose starts are counted: one a line, a byte in a file of its own each time that it starts.
counted() { # DIRECTORY MODE COUNT [HUNDREDTHS]
	for i in $(seq "$3"); do echo "printf x >>$1/$2-$i; sleep 0.0$((RANDOM % ${4:-9}))"; done | titan run --lines --mode "$2"
}
started_twice() { find "$1" -name "$2-*" -size +1c | wc -l; }
started_at_all() { find "$1" -name "$2-*" -size +0c | wc -l; }
succeeded_of() { titan --json show "$1" | jq -r '.[0] | .ok'; }

worker_is_up() { [ "$(state_of '[.workers[] | select(.state == "up")] | length')" -ge 1 ]; }
