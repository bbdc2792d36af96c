# SPDX-License-Identifier: GPL-3.0-or-later
# Clients that say nothing, say half a frame, or never read an answer keep nobody else from working.
# time-out: 600 s
#
# CHAOS_CLIENTS: how many (200).
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || skip_all "no python3"
clients=${CHAOS_CLIENTS:-200}
start_cluster --slots 2
cat >"$test_dir/hold.py" <<'P'
import socket, sys, time
kinds = [b"", b"\x02", b"\x02\x01\x00\x00\x00\x00\x10\x00", b"\x02\x01\x00\x00\x00\x00\x00\x40" + b"\x81" * 8]
held = []
for i in range(int(sys.argv[2])):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(0.2)
    try:
        s.connect(sys.argv[1])
        s.sendall(kinds[i % len(kinds)])
        held.append(s)
    except OSError:
        s.close()
print(len(held), flush=True)
time.sleep(600)
P
python3 "$test_dir/hold.py" "$TITAN_STATE/default/titan.sock" "$clients" >"$test_dir/held" &
holder=$!
held() { [ -s "$test_dir/held" ]; }
ok "idle and half-spoken clients are there" until_true 60 held
note "$(cat "$test_dir/held") of $clients connected"
exits "a run is accepted and ends beside them" 0 titan --timeout 60s run -w -e "a -> b; a=true; b=true"
pid=$(master_pid)
few() { [ "$(find "/proc/$pid/fd" -lname 'socket:*' | wc -l)" -lt 20 ]; }
ok "those that never said HELLO are gone after a while" until_true 30 few
kill "$holder"
wait "$holder" 2>/dev/null
worker_is_up
is "the worker never noticed" $? 0

done_testing
