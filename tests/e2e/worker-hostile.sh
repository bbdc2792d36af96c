# SPDX-License-Identifier: GPL-3.0-or-later
# A machine that was taken over, behind a bridge: ssh to it runs as the owner, and that is worth nothing. Whatever it sends through
# the bridge, it has the rights of its worker at most.
# time-out: 600 s
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib-ssh.sh"

export TITAN_HEARTBEAT=200ms TITAN_LEASE=4s TITAN_GRACE=6s
start_cluster --slots 1
start_sshd </dev/null
machine good
machine evil
# Once it is taken over, the bridge of that machine leads to whom the attacker likes.
cat >"$test_dir/attack.py" <<'END'
# usage: attack.py NONCE HOW: answers as a bridge does, then sends bytes, or lends the connection to a local port
import os, select, socket, sys, threading
nonce, how, where = sys.argv[1:4]
os.write(1, nonce.encode() + b"\n")
def note(text):
    with open(where + "/attacks", "a") as f: f.write(how + " " + text + "\n")
if how.startswith("lend"):
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
    with open(where + "/port.new", "w") as f: f.write(str(s.getsockname()[1]))
    os.rename(where + "/port.new", where + "/port")
    c, _ = s.accept()
    while True:
        for r in select.select([0, c], [], [])[0]:
            data = os.read(0, 65536) if r == 0 else c.recv(65536)
            if not data: note("closed"); sys.exit(0)
            os.write(1, data) if r != 0 else c.sendall(data)
data = open(how, "rb").read()
os.write(1, data)
got = b""
while True:
    more = os.read(0, 65536)
    if not more: break
    got += more
note("closed after %d bytes, %s" % (len(got), "with a welcome" if b"default" in got else "without a welcome"))
END
far_as evil 'case "$(cat '"$test_dir"'/how 2>/dev/null) $SSH_ORIGINAL_COMMAND" in
[a-z/]*" far bridge "*) set -- $SSH_ORIGINAL_COMMAND; n=${!#}; exec python3 '"$test_dir"'/attack.py "${n%\'\''}" "$(cat '"$test_dir"'/how)" '"$test_dir"' ;;
esac
exec /bin/bash -c "$SSH_ORIGINAL_COMMAND"'
exits "two machines get workers" 0 titan worker add --ssh-config "$ssh_config" good evil
cp "$far_home"/evil/.local/share/titan/evil.*/worker.key evil.key
cp "$far_home"/good/.local/share/titan/good.*/worker.key good.key
titan -q token add root --role admin -o admin.key
seconds=60

# The bridge ends, and the next one leads to the attacker.
take_over() { # HOW
	rm -f "$test_dir/port" "$test_dir/attacks"
	echo "$1" >"$test_dir/how"
	next_bridge
}
# End the present bridge; as its file is written anew, the next one doesn't wait.
next_bridge() {
	pkill_bridge
	sleep 0.2
	cp "$TITAN_STATE/default/machines/evil" record
	mv record "$TITAN_STATE/default/machines/evil"
}
pkill_bridge() { for pid in $(pgrep -f "far bridge $far_home/evil" ) $(pgrep -f "attack.py .* $test_dir"); do kill -KILL "$pid" 2>/dev/null; done; }
attacked() { [ -s "$test_dir/attacks" ]; }

# HELLO as the master's unix socket takes it from its owner: a client's, and a worker's.
python3 - "$test_dir" <<'END'
import struct, sys
def frame(op, body): return struct.pack(">IHBB", len(body), op, 1, 0) + body
open(sys.argv[1] + "/garbage", "wb").write(bytes(range(256)) * 64)
open(sys.argv[1] + "/http", "wb").write(b"GET / HTTP/1.0\r\n\r\n" * 10)
END
# What the real client sends first, taken from its socket.
python3 - "$test_dir/hello" "$test_dir" <<'END' &
import os, socket, sys
d = sys.argv[2] + "/tap/default"; os.makedirs(d, 0o700); os.chmod(sys.argv[2] + "/tap", 0o700)
s = socket.socket(socket.AF_UNIX); s.bind(d + "/titan.sock"); s.listen(1)
c, _ = s.accept()
open(sys.argv[1] + ".new", "wb").write(c.recv(65536)); os.rename(sys.argv[1] + ".new", sys.argv[1])
END
tap=$!
until_true 20 test -S "$test_dir/tap/default/titan.sock"
TITAN_STATE=$test_dir/tap timeout 20 "$TITAN" --timeout 10s ls >/dev/null 2>&1
wait $tap
ok "a client's HELLO was recorded" test -s "$test_dir/hello"
for what in garbage http hello; do
	take_over "$test_dir/$what"
	ok "the bridge sends $what" until_true $seconds attacked
	like "which the master doesn't answer as it would its owner" "$(cat "$test_dir/attacks")" 'without a welcome'
done

# Real clients and workers of the attacker, through the bridge, with keys that it has or has stolen.
lent() { [ -s "$test_dir/port" ]; }
through() { # COMMAND...
	take_over lend
	until_true $seconds lent || { note "no bridge came"; return 99; }
	TITAN_STATE=$test_dir/attacker "$TITAN" -H "127.0.0.1:$(cat "$test_dir/port")" "$@"
}
exits "its own key opens no client" 3 through --timeout 20s --key evil.key ls
exits "nor ends the master" 3 through --timeout 20s --key evil.key token ls
exits "the key of another worker isn't taken there" 3 through --timeout 20s --key good.key ls
exits "not even an administrator's" 3 through --timeout 20s --key admin.key ls
ok "all the while the master and the other worker are well" has_worker good up
take_over lend
until_true $seconds lent
TITAN_STATE=$test_dir/attacker "$TITAN" worker start -H "127.0.0.1:$(cat "$test_dir/port")" --key good.key --name good >imposter.log 2>&1 &
imposter=$!
refused() { grep -q 'lost\|refused\|removed or has expired' "$test_dir/imposter.log" "$test_dir"/attacker/default/*.log 2>/dev/null || attacked; }
ok "it can't be another worker" until_true $seconds refused
kill -INT $imposter 2>/dev/null
ok "whose connection stays" has_worker good up
run=$(titan run -e 'a; a="echo fine"')
exits "and jobs run" 0 titan --timeout 60s wait "$run"
is "the attacker submitted nothing" "$(titan --json ls | jq length)" 1
unlike "and did nothing" "$(titan --json history | jq -r '.[].person' | sort -u)" 'evil|good'

# When the machine is itself again, so is its worker.
rm "$test_dir/how"
next_bridge
ok "the machine's own worker comes back" until_true 120 has_worker evil up
exits "the machines are given up" 0 titan worker rm evil good
done_testing
