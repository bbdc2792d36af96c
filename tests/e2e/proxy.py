# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands between a worker or a client and the master's socket, and misbehaves as its arguments say.

proxy.py OWN REAL partition COUNT SEED SECONDS   COUNT partitions of up to SECONDS, each of a kind by chance; says
                                                 "partition N KIND" for each and "healed" behind the last
proxy.py OWN REAL drip                           passes every byte alone
proxy.py OWN REAL cut UP DOWN [SECONDS]          the first connection ends behind UP bytes of the one that connected, or DOWN
                                                 of the master (-1: never); later ones pass

Says "ready" when it listens.
"""
import os, random, select, socket, sys, time


def near(path):
    """The same file by a name that fits into the address of a socket, which has 107 bytes."""
    return "/proc/self/fd/%d/%s" % (os.open(os.path.dirname(path), os.O_PATH), os.path.basename(path))


own, real, how = near(sys.argv[1]), near(sys.argv[2]), sys.argv[3]
listener = socket.socket(socket.AF_UNIX)
try:
    os.unlink(own)
except OSError:
    pass
listener.bind(own)
os.chmod(own, 0o600)
listener.listen(64)
print("ready", flush=True)

pairs = []      # [peer, master, [bytes passed up, and down], [where each ends]]
KINDS = ["both", "up", "down", "reset", "half-open", "flapping"]


class State:
    up = down = True        # do bytes pass in this direction?
    accepts = True
    limits = (-1, -1)       # bytes until the connection ends


def drop(pair):
    for end in pair[:2]:
        end.close()
    pairs.remove(pair)


def move(pair, source, target, kind, limit):
    """Reads what is there and passes it on; False when the connection has ended."""
    try:
        data = source.recv(65536 if how != "drip" else 1)
    except BlockingIOError:
        return True
    except OSError:
        return False
    if not data:
        return False
    if limit >= 0 and pair[2][kind] + len(data) >= limit:
        data = data[:limit - pair[2][kind]]
        limit = -2
    try:
        target.setblocking(True)
        target.sendall(data)
        target.setblocking(False)
    except OSError:
        return False
    pair[2][kind] += len(data)
    return limit != -2


def run(seconds):
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        if left <= 0:
            return
        sources = [listener] if State.accepts else []
        for pair in pairs:
            sources += ([pair[0]] if State.up else []) + ([pair[1]] if State.down else [])
        for source in select.select(sources, [], [], min(left, 1))[0]:
            if source is listener:
                accept()
                continue
            for pair in list(pairs):
                if source in pair[:2]:
                    kind = 0 if source is pair[0] else 1
                    if not move(pair, source, pair[1 - kind], kind, pair[3][kind]):
                        drop(pair)


def accept():
    peer = listener.accept()[0]
    master = socket.socket(socket.AF_UNIX)
    try:
        master.connect(real)
    except OSError:
        peer.close()
        return
    peer.setblocking(False)
    master.setblocking(False)
    pairs.append([peer, master, [0, 0], State.limits])
    State.limits = (-1, -1)


def partition(kind, seconds):
    if kind == "reset":
        for pair in list(pairs):
            drop(pair)
        run(0.05)
        return
    if kind == "flapping":
        for _ in range(5):
            partition(random.choice(KINDS[:5]), seconds / 5)
            run(seconds / 10)
        return
    State.up = kind == "down"
    State.down = kind == "up"
    State.accepts = kind == "half-open"     # new ones are taken, and nothing of them passes
    run(seconds)
    State.up = State.down = State.accepts = True


if how == "partition":
    count, seed, seconds = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
    random.seed(seed)
    run(seconds)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        print("partition", number + 1, kind, flush=True)
        partition(kind, random.uniform(0.05, seconds))
        run(random.uniform(0.05, seconds))
    print("healed", flush=True)
elif how == "cut":
    State.limits = (int(sys.argv[4]), int(sys.argv[5]))
    if len(sys.argv) > 6:
        run(float(sys.argv[6]))
        sys.exit(0)
while True:
    run(3600)
