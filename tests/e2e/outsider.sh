# SPDX-License-Identifier: GPL-3.0-or-later
# An outsider's look at a listening master, whatever it says: it is told nothing but alerts of TLS, also when the master is short of
# descriptors, and is shut out after some seconds.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
start_cluster --slots 1 --listen 127.0.0.1:0
port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$TITAN_STATE/default/master.log" | tail -n 1)
titan token add anna -o anna.key >/dev/null
look() { timeout 100 python3 "$e2e_dir/outsider.py" 127.0.0.1 "$port" >seen 2>&1; }

ok "an outsider looks in 23 ways" look
is "and sees an end to each" "$(wc -l <seen)" 23
is "none of them told anything but alerts of TLS" "$(grep -v -e ' silent ' -e ' alert ' seen)" ""
like "TLS of other people gets an alert" "$(cat seen)" '^tls-1.3 alert '
like "what isn't TLS gets at most that" "$(cat seen)" '^ssh (alert|silent) '
titan down -y >/dev/null
until_true 20 eval '! titan status'

# Descriptors for the daemon and a few connections.
(ulimit -n 64 && exec "$TITAN" master --listen "127.0.0.1:$port" 2>short.log) &
ok "a master with 64 descriptors serves" until_true 30 titan status
crowd() { python3 -c "
import socket, sys, time
ends = [socket.create_connection(('127.0.0.1', $port)) for _ in range(120)]
print('there', flush=True)
answers = b''
for end in ends:
    end.settimeout(30)
    try:
        answers += end.recv(4096)
    except OSError:
        pass
print('heard', answers.hex(), flush=True)"; }
ok "more strangers come than it has descriptors for" eval "crowd >heard"
is "and none of them is told anything" "$(grep heard heard)" "heard "
ok "afterwards it serves as before" until_true 30 titan status
done_testing
