# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections to a master's socket that are no use to anybody, until this is killed.

holders.py SOCKET KIND COUNT...   KIND: mute (says nothing, half a frame, or nonsense), slow (a byte of HELLO now and then,
                                  again and again), idle (HELLO, and no more), deaf (subscribes to everything, and never reads)

Says "ready" when all of them have tried once.
"""
import os, resource, socket, sys, time

CLIENT, RUNS = 1, 2
HELLO = b"\x82\x01\x02\x02" + bytes([CLIENT])              # version 2, kind
SUBSCRIBE = b"\x82\x01\x07\x02" + bytes([RUNS])            # id 7, what
MUTE = [b"", b"\x02", b"\x02\x01\x00\x00\x00\x00\x10\x00", b"\x02\x01\x00\x00\x00\x00\x00\x40" + b"\x81" * 8]


def near(path):
    """The same file by a name that fits into the address of a socket, which has 107 bytes."""
    return "/proc/self/fd/%d/%s" % (os.open(os.path.dirname(path), os.O_PATH), os.path.basename(path))


def frame(opcode, body):
    return bytes([2, opcode, 0, 0]) + len(body).to_bytes(4, "big") + body


def connect(number):
    end = socket.socket(socket.AF_UNIX)
    end.settimeout(0.2)
    try:
        end.connect(path)
        if kind == "mute":
            end.sendall(MUTE[number % len(MUTE)])
        elif kind in ("idle", "deaf"):
            end.sendall(frame(1, HELLO))
            end.recv(4096)
        if kind == "deaf":
            end.sendall(frame(0x21, SUBSCRIBE))
    except OSError:
        end.close()
        return None
    return end


path = near(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held = {}
for kind, count in zip(sys.argv[2::2], sys.argv[3::2]):
    held[kind] = [connect(number) for number in range(int(count))]
print("ready", " ".join("%s %d" % (kind, sum(end is not None for end in ends)) for kind, ends in held.items()), flush=True)
said = 0
while True:
    time.sleep(0.5)
    kind = "slow"
    slow = held.get(kind, [])
    said += 1
    for number, end in enumerate(slow):
        try:
            if not end:
                slow[number] = connect(number)
            else:
                end.sendall(frame(1, HELLO + b"x" * 100)[said % 100:][:1])
        except OSError:
            end.close()
            slow[number] = None
