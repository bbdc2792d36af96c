# SPDX-License-Identifier: GPL-3.0-or-later
# Workers that titan worker add put on machines come back when their machine and the master do, also those that connect by
# themselves. What a person has stopped stays stopped.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
port=$(free_port)
start_cluster --slots 1 --listen "127.0.0.1:$port"
start_sshd </dev/null
machine web1
machine web2
exits "one connects by itself" 0 titan worker add --ssh-config "$ssh_config" --slots 1 --label web --address "127.0.0.1:$port" web1
like "at the master's address" "$out" "^web1 +web1 +added +127.0.0.1:$port +1\$"
exits "and so does another" 0 titan worker add --ssh-config "$ssh_config" --slots 1 --label web --address "127.0.0.1:$port" web2

pid() { titan --json worker ls | jq -r ".[] | select(.name == \"$1\") | .pid"; }
# As when the machine loses its power: all at once, and nothing there starts it again.
far_kill() { local p; for p in $(pgrep -f "far run $far_home/$1"); do kill -STOP "$p"; done; for p in $(pgrep -f "far run $far_home/$1"); do kill -KILL "$p"; done; }
comes_back() { has_worker "$1" up && [ "$(pid "$1")" != "$2" ]; }

before=$(pid web1)
other=$(pid web2)
far_kill web1
ok "a worker whose processes are gone is started again" until_true 120 comes_back web1 "$before"
is "and the other is left alone" "$(pid web2)" "$other"
run=$(titan run -e "a='echo back'" --label web)
exits "it runs jobs" 0 titan --timeout 60s wait "$run"

# The machine of the master ends, too.
before=$(pid web1)
master=$(master_pid)
kill -STOP "$master"
far_kill web1
far_kill web2
kill -KILL "$master"
exits "the master comes back" 0 titan up --listen "127.0.0.1:$port"
ok "and so does the worker" until_true 120 comes_back web1 "$before"
ok "and the other" until_true 120 comes_back web2 "$other"

exits "a worker is stopped" 0 titan worker stop --now web1
ok "it is gone" until_true 60 eval '! has_worker web1 up'
kill -KILL "$(master_pid)"
exits "the master starts again" 0 titan up --listen "127.0.0.1:$port"
far_kill web2
ok "what nobody stopped comes back" until_true 120 comes_back web2 "$(pid web2)"
is "and what was stopped is still stopped" "$(pgrep -fc "far run $far_home/web1")" 0
exits "until it is started" 0 titan worker start web1
ok "by a person" until_true 60 has_worker web1 up

# Even the stop itself, which the machine knows before the master's file says it, isn't undone.
dir=$(ls -d "$far_home"/web1/.local/share/titan/web1.*)
exits "stopped once more" 0 titan worker stop --now web1
program=$(ls "$far_home"/web1/.local/share/titan/titan.* | head -n 1)
exits "a wake of a stopped worker is refused" 69 env HOME="$far_home/web1" "$program" far wake "$dir"
like "with a sentence" "$err" 'worker web1 was stopped'
exits "machines are given up" 0 titan worker rm web1 web2
done_testing
