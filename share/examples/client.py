# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of titan in Python alone, written from titan-protocol(7): submits two jobs, follows them, reads their output.

usage: client.py [STATE-DIRECTORY-OF-A-CLUSTER]   (~/.local/state/titan/default)
Inside a job it needs no argument: it connects through TITAN_SOCKET.
"""
import os
import socket
import struct
import sys

# ---- MessagePack, as much of it as the protocol has ----


def pack(value):
    if value is False or value is True:
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        if value < 0:
            return b"\xd3" + struct.pack(">q", value)
        return bytes([value]) if value < 128 else b"\xcf" + struct.pack(">Q", value)
    if isinstance(value, str):
        data = value.encode("utf-8", "surrogateescape")
        return b"\xdb" + struct.pack(">I", len(data)) + data
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, list):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(key) + pack(value[key]) for key in value)
    raise TypeError(type(value))


class Unpacker:
    def __init__(self, data):
        self.data = data
        self.at = 0

    def take(self, size):
        piece = self.data[self.at:self.at + size]
        if len(piece) < size:
            raise ValueError("the frame is cut")
        self.at += size
        return piece

    def number(self, form):
        return struct.unpack(">" + form, self.take(struct.calcsize(form)))[0]

    def text(self, size):
        return self.take(size).decode("utf-8", "surrogateescape")  # any bytes: they come out as they were

    def array(self, size):
        return [self.value() for _ in range(size)]

    def map(self, size):
        return {self.value(): self.value() for _ in range(size)}

    def value(self):
        tag = self.take(1)[0]
        if tag < 0x80:
            return tag
        if tag < 0x90:
            return self.map(tag & 15)
        if tag < 0xa0:
            return self.array(tag & 15)
        if tag < 0xc0:
            return self.text(tag & 31)
        if tag >= 0xe0:
            return tag - 256
        if tag in (0xc0, 0xc2, 0xc3):
            return {0xc0: None, 0xc2: False, 0xc3: True}[tag]
        if 0xcc <= tag <= 0xd3:
            return self.number("BHIQbhiq"[tag - 0xcc])
        sized = {0xc4: ("B", self.take), 0xc5: ("H", self.take), 0xc6: ("I", self.take),
                 0xd9: ("B", self.text), 0xda: ("H", self.text), 0xdb: ("I", self.text),
                 0xdc: ("H", self.array), 0xdd: ("I", self.array), 0xde: ("H", self.map), 0xdf: ("I", self.map)}
        form, read = sized[tag]
        return read(self.number(form))


# ---- frames ----

VERSION = 2
HELLO, WELCOME, ERROR, SUBMIT, ACCEPTED = 0x01, 0x03, 0x04, 0x10, 0x14
QUERY, SUBSCRIBE, UNSUBSCRIBE, SNAPSHOT, DELTA = 0x20, 0x21, 0x22, 0x23, 0x24
LOG_READ, LOG_DATA = 0x28, 0x29
CLIENT = 1                                        # peer_kind
RUNS, JOBS = 2, 3                                 # query_what
RUN_STATES = ["approval", "running", "waiting", "failed", "cancelled", "succeeded"]
JOB_STATES = ["waiting", "delayed", "checking", "approval", "ready", "assigned", "running", "stopping", "unknown",
              "succeeded", "failed", "timed_out", "cancelled", "denied", "quarantined", "skipped"]


class Refused(Exception):
    pass


class Client:
    def __init__(self, path, token=None):
        self.stream = socket.socket(socket.AF_UNIX)
        # The address of a socket has 107 bytes: a longer path is named through its directory.
        directory = os.open(os.path.dirname(path), os.O_PATH)
        self.stream.connect("/proc/self/fd/%d/%s" % (directory, os.path.basename(path)))
        os.close(directory)
        self.last_id = 0
        hello = {1: VERSION, 2: CLIENT, 6: os.getpid()}
        if token:
            hello[12] = token
        self.send(HELLO, hello)
        opcode, self.welcome = self.receive()
        if opcode != WELCOME:
            raise Refused("expected WELCOME, got 0x%02x" % opcode)

    def send(self, opcode, body):
        data = pack(body)
        self.stream.sendall(struct.pack(">BBBBI", VERSION, opcode, 0, 0, len(data)) + data)

    def read(self, size):
        data = b""
        while len(data) < size:
            piece = self.stream.recv(size - len(data))
            if not piece:
                raise ConnectionError("the master has closed the connection")
            data += piece
        return data

    def receive(self):
        """The next frame: its opcode and its map. An ERROR is raised."""
        _, opcode, _, _, size = struct.unpack(">BBBBI", self.read(8))
        body = Unpacker(self.read(size)).value()
        if opcode == ERROR:
            raise Refused("%s (error %d)%s" % (body[3], body[2], "; try: " + body[4] if 4 in body else ""))
        return opcode, body

    def request(self, opcode, body):
        self.last_id += 1
        self.send(opcode, {1: self.last_id, **body})
        return self.last_id

    def answer(self, opcode, request):
        """The answer to a request; other frames are passed over."""
        while True:
            got, body = self.receive()
            if got == opcode and body.get(1) == request:
                return body

    def submit(self, name, jobs):
        """jobs: job_spec records. The same key again would give the same run."""
        specs = b"".join(pack(job) for job in jobs)
        request = self.request(SUBMIT, {2: os.urandom(16), 3: name, 4: specs, 5: len(jobs)})
        return self.answer(ACCEPTED, request)[2]

    def follow(self, run):
        """The run_row whenever it changes, until the run has ended."""
        request = self.request(SUBSCRIBE, {2: RUNS, 3: run})
        while True:
            opcode, body = self.receive()
            if opcode not in (SNAPSHOT, DELTA) or body.get(1) != request:
                continue
            for row in body.get(3, []):
                yield row
                if row.get(7, 0) != 0:            # ended_ms
                    self.send(UNSUBSCRIBE, {1: request})
                    return

    def jobs(self, run):
        """All job_rows of a run, page by page."""
        cursor = 0
        while True:
            page = self.answer(SNAPSHOT, self.request(QUERY, {2: JOBS, 3: run, 5: cursor}))
            yield from page.get(4, [])
            cursor = page.get(6, 0)
            if cursor == 0:
                return

    def log(self, run, job, epoch):
        """(stream, bytes) of a job's output, in order of arrival."""
        offset = 0
        while True:
            page = self.answer(LOG_DATA, self.request(LOG_READ, {2: run, 3: job, 4: epoch, 5: offset}))
            for piece in page.get(3, []):
                yield piece[3], piece[6]          # an output record is a list: stream is the 4th, data the 7th
            offset = page.get(2, 0)
            if page.get(4, False):
                return


def main():
    home = sys.argv[1] if len(sys.argv) > 1 else os.path.expanduser("~/.local/state/titan/default")
    if len(sys.argv) == 1 and "TITAN_SOCKET" in os.environ:
        client = Client(os.environ["TITAN_SOCKET"], os.environ["TITAN_TOKEN"])
    else:
        client = Client(os.path.join(os.path.abspath(home), "titan.sock"))
    print("cluster", client.welcome[2])
    hello = {1: "hello", 3: "echo hello; printf 'broken \\377 text\\n' >&2"}
    # Needs hello (index 0), which must end; its condition: state of need 0 is succeeded (bit 9), so a mask of 512.
    world = {1: "world", 2: ["echo", "world"], 4: [0], 5: [3], 39: bytes([3, 0, 1, 512 & 127 | 128, 512 >> 7])}
    run = client.submit("from-python", [hello, world])
    print("run", run)
    for row in client.follow(run):
        print("state", RUN_STATES[row.get(3, 0)])
    for row in client.jobs(run):
        print("job", row[4], JOB_STATES[row.get(5, 0)])
        if row.get(6, 0) == 0:                    # no epoch, no attempt
            continue
        for stream, data in client.log(run, row[1], row[6]):
            print("out" if stream == 1 else "err", data)


if __name__ == "__main__":
    main()
