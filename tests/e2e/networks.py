# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of networks, run in the router's namespace (lib-hosts.sh).

networks.py PREFIX MASTER-PORT PROXY-PORT COUNT

Listens on PROXY-PORT and passes connections on to the master. Says "ready", then reads lines from stdin:

  schedule SEED   random faults on the ways of all hosts 1 to COUNT at once; says "fault SEED HOST KIND MS" for each
                  and "healed SEED" when every way is whole again
  cut HOST / heal HOST    drops all packets of a host without a word, or passes them again; says "done"
"""
import random, select, socket, struct, subprocess, sys, threading, time

prefix, master_port, proxy_port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
MASTER = "10.7.0.2"
saying = threading.Lock()


def say(*words):
    with saying:
        print(*words, flush=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def rules(verb, host, ways):
    """Drop packets of a host: up is towards the master or the proxy, down towards the host."""
    net = "10.7.%d.0/24" % host
    if "up" in ways:
        ip("rule", verb, "pref", str(10 + host), "from", net, "blackhole")
    if "down" in ways:
        ip("rule", verb, "pref", str(40 + host), "to", net, "blackhole")


# ---- a forged RST ----

def checksum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def send_reset(raw, source, target, sport, dport, seq, ack):
    tcp = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xffffffff, ack, 5 << 4, 0x14, 0, 0, 0)
    pseudo = source + target + struct.pack("!BBH", 0, socket.IPPROTO_TCP, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, socket.IPPROTO_TCP, 0, source, target)
    try:
        raw.sendto(header + tcp, (socket.inet_ntoa(target), 0))
    except OSError:
        pass


def reset(host, sides, seconds=1.0):
    """Ends connections of the host with RSTs, made from what it sends; to itself, the other side, or both."""
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    sniffer.bind(("h%d" % host, 0x0800))
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([sniffer], [], [], 0.1)[0]:
            continue
        packet, origin = sniffer.recvfrom(65536)
        size = (packet[0] & 15) * 4
        if origin[2] != socket.PACKET_HOST or packet[9] != socket.IPPROTO_TCP:
            continue
        sport, dport, seq, ack, offset, flags = struct.unpack("!HHIIBB", packet[size:size + 14])
        if dport not in (master_port, proxy_port) or flags & 0x07 or not flags & 0x10:
            continue
        length = struct.unpack("!H", packet[2:4])[0] - size - (offset >> 4) * 4
        source, target = packet[12:16], packet[16:20]
        if "other" in sides:
            send_reset(raw, source, target, sport, dport, seq + length, ack)
        if "host" in sides:
            send_reset(raw, target, source, dport, sport, ack, seq + length)
        break
    sniffer.close()
    raw.close()


# ---- a proxy ----

class Proxy:
    manner = {}             # of a host: None, "drip" (every byte alone) or a delay in seconds

    @staticmethod
    def pump(source, target, host):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                manner = Proxy.manner.get(host)
                if manner == "drip":
                    for at in range(len(data)):
                        target.sendall(data[at:at + 1])
                    continue
                if manner:
                    time.sleep(manner)
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    @staticmethod
    def pair(peer, host):
        try:
            master = socket.create_connection((MASTER, master_port), 5)
        except OSError:
            peer.close()
            return
        master.settimeout(None)
        for end in (peer, master):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        back = threading.Thread(target=Proxy.pump, args=(master, peer, host), daemon=True)
        back.start()
        Proxy.pump(peer, master, host)
        back.join()
        peer.close()
        master.close()

    @staticmethod
    def serve():
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", proxy_port))
        listener.listen(64)
        say("ready")
        while True:
            peer, address = listener.accept()
            host = int(address[0].split(".")[2])
            threading.Thread(target=Proxy.pair, args=(peer, host), daemon=True).start()


# ---- schedules ----

KINDS = ["both", "up", "down", "reset", "half-open", "flapping", "drip", "delay", "address"]
addresses = {}


def move_host(host):
    """Gives the host another address, as a network that it has roamed into would."""
    addresses[host] = 2 + (addresses.get(host, 2) - 1) % 100
    space = "%s-%d" % (prefix, host)
    ip("-n", space, "addr", "flush", "dev", "eth0", "scope", "global")
    ip("-n", space, "addr", "add", "10.7.%d.%d/24" % (host, addresses[host]), "dev", "eth0")
    ip("-n", space, "route", "replace", "default", "via", "10.7.%d.1" % host)


def cut(host, ways, seconds):
    rules("add", host, ways)
    time.sleep(seconds)
    rules("del", host, ways)


def fault(host, kind, seconds, chance):
    if kind in ("both", "up", "down"):
        cut(host, ("up", "down") if kind == "both" else (kind,), seconds)
    elif kind == "reset":
        reset(host, ("host", "other"))
    elif kind == "half-open":       # one side forgets the connection, and the other isn't told
        reset(host, (chance.choice(("host", "other")),))
        cut(host, ("up", "down"), seconds)
    elif kind == "flapping":
        for _ in range(5):
            fault(host, chance.choice(KINDS[:4]), seconds / 5, chance)
            time.sleep(seconds / 10)
    elif kind in ("drip", "delay"):
        Proxy.manner[host] = "drip" if kind == "drip" else chance.uniform(0.02, 0.3)
        time.sleep(seconds)
        Proxy.manner.pop(host, None)
    elif kind == "address":
        move_host(host)


def schedule_of(host, seed):
    chance = random.Random(seed * 1000 + host)
    for number in range(chance.randint(2, 4)):
        # The first kinds go round, so that a few schedules have met them all.
        kind = KINDS[(seed * count + host) % len(KINDS)] if number == 0 else chance.choice(KINDS)
        seconds = chance.choice((chance.uniform(0.05, 0.5), chance.uniform(0.5, 1.2), chance.uniform(1.2, 2.5)))
        time.sleep(chance.uniform(0.05, 0.5))
        say("fault", seed, host, kind, int(seconds * 1000))
        fault(host, kind, seconds, chance)


def schedule(seed):
    ways = [threading.Thread(target=schedule_of, args=(host, seed)) for host in range(1, count + 1)]
    for way in ways:
        way.start()
    for way in ways:
        way.join()
    say("healed", seed)


threading.Thread(target=Proxy.serve, daemon=True).start()
for line in sys.stdin:
    words = line.split()
    if words[0] == "schedule":
        schedule(int(words[1]))
    else:
        rules("add" if words[0] == "cut" else "del", int(words[1]), ("up", "down"))
        say("done")
