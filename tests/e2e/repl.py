#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A person at the console, played over a pty: usage: repl.py CASE [ARGUMENT...]. Exits with 0 if the case went well.

Nothing here depends on how fast things happen: each step waits until the console shows what it should.
"""
import os
import pty
import re
import select
import signal
import sys
import time

TITAN = os.environ["TITAN"]
SECONDS = 60
ESCAPES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][A-Z0-9]?|\r|\x07")


class Console:
    def __init__(self, *args, term="xterm"):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            os.environ["LC_ALL"] = "C.UTF-8"
            os.execv(TITAN, [TITAN, "repl", *args])
        os.set_blocking(self.fd, True)
        import fcntl
        import struct
        import termios
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        self.seen = b""     # all output without escape sequences
        self.at = 0         # what came before has been looked at

    def read(self, timeout):
        if not select.select([self.fd], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        if not data:
            raise SystemExit("the console ended; it said: " + self.text()[-2000:])
        self.raw = getattr(self, "raw", b"") + data
        self.seen = ESCAPES.sub(b"", self.raw)
        return True

    def text(self):
        return self.seen.decode("utf-8", "replace")

    def expect(self, pattern, count=1):
        """Wait until the pattern has come count times since the last call."""
        until = time.monotonic() + SECONDS
        while True:
            found = list(re.finditer(pattern, self.text()[self.at:]))
            if len(found) >= count:
                self.at += found[count - 1].end()
                return found[count - 1]
            if time.monotonic() > until:
                raise SystemExit(f"{pattern!r} didn't come {count} times; since then: {self.text()[self.at:]!r}")
            self.read(1)

    def type(self, text):
        """Type without waiting for echoes, but read meanwhile so that nobody gets stuck."""
        data = text.encode()
        while data:
            ready = select.select([self.fd], [self.fd], [], SECONDS)
            if ready[0]:
                self.read(0)
            if ready[1]:
                data = data[os.write(self.fd, data[:64]):]

    def enter(self, text):
        self.type(text + "\r")

    def prompt(self):
        return self.expect(r"titan \S+\[rw\][^>]*> ")

    def end(self):
        self.type("\x04")
        while True:
            try:
                self.read(1)
            except SystemExit:
                break
        _, status = os.waitpid(self.pid, 0)
        if os.waitstatus_to_exitcode(status) != 0:
            raise SystemExit(f"the console ended with {os.waitstatus_to_exitcode(status)}")


def begin(*args):
    console = Console(*args)
    console.prompt()
    return console


def commands():
    console = begin()
    console.enter("version")
    console.expect(r"titan \d+\.\d+")
    console.prompt()
    console.enter("show 4711")
    console.expect(r"there is no run 4711")
    console.prompt()
    console.enter("titan version --json")
    console.expect(r'"version"')
    console.prompt()
    console.enter("master")
    console.expect("never get its prompt back")
    console.prompt()
    console.end()


def graphs():
    console = begin()
    console.enter("run -e fetch -> {unpack,")
    console.expect(r"\.\.\.> ")
    console.enter("lint} -> pub; fetch=true; unpack=true; lint=true; pub='echo {' --wait")
    console.expect(r"[Rr]un \d+|#\d+|\d+")
    console.prompt()
    console.enter("run --wait <<END")
    console.expect(r"\.\.\.> ")
    console.enter("name: typed")
    console.enter("jobs: {one: {run: 'echo {'}}")
    console.enter("END")
    console.prompt()
    console.enter("ls --format {name}={state}")
    console.expect(r"typed=succeeded")
    console.prompt()
    console.end()


def completion(run):
    console = begin()
    console.type("canc\t")
    console.expect(r"cancel ")
    console.type(f"{run}/sl\t")
    console.expect(f"{run}/slow")
    console.type("\x15?")
    console.expect(r"cancel +\S+")
    console.type("cordon ?")
    console.expect(r"  local")
    console.type("\x15\\wat\t")
    console.expect(r"\\watch")
    console.type("\x15!echo a?b\r")
    console.expect(r"\na\?b")
    console.prompt()
    console.end()


def backslashes(directory):
    os.environ["EDITOR"] = f"{directory}/editor --flag"
    console = begin()
    console.enter("\\x")
    console.expect("is on")
    console.prompt()
    console.enter("worker ls")
    console.expect(r"WORKER +local")
    console.prompt()
    console.enter("\\x off")
    console.expect("is off")
    console.enter("\\json")
    console.expect("JSON is on")
    console.enter("worker ls")
    console.expect(r'": ?"local"')
    console.enter("\\json off")
    console.expect("JSON is off")
    console.enter("\\timing on")
    console.expect("timing is on")
    console.enter(f"\\o {directory}/out")
    console.prompt()
    console.enter("version")
    console.expect(r"Time: [0-9.]+ ms")
    console.enter("\\o")
    console.prompt()
    with open(f"{directory}/out") as file:
        if not file.read().startswith("titan "):
            raise SystemExit("\\o didn't write the file")
    console.enter("\\watch i=100ms c=3")
    console.expect(r"every 100ms: version \s*titan \d", 3)
    console.prompt()
    console.enter("\\watch i=100ms")
    console.expect(r"every 100ms: version \s*titan \d", 2)
    console.type("\x03")
    console.prompt()
    console.enter("\\e")
    console.expect(r"was edited")
    console.prompt()
    console.enter("!echo $((6 * 7)) $TITAN_CLUSTER")
    console.expect(r"\n42")
    console.prompt()
    console.enter("\\nonsense")
    console.expect(r"unknown command \\nonsense")
    console.enter("\\c elsewhere")
    console.expect(r"titan elsewhere\[(\.\.\.|no master)\]> ")
    console.enter("\\c")
    console.expect(r"titan default\[rw\][^>]*> ")
    console.end()


def interrupt(run):
    console = begin()
    console.enter(f"wait {run}")
    console.expect(f"wait {run}\n")
    console.type("\x03")
    console.prompt()
    console.type("this is never run\x03")
    console.expect(r"\^C")
    console.prompt()
    console.enter("run -e {")
    console.expect(r"\.\.\.> ")
    console.type("\x03")
    console.prompt()
    console.enter("version")
    console.expect(r"titan \d+\.\d+")
    console.prompt()
    console.end()


def paste():
    console = begin()
    lines = "".join(f"!echo pasted-$(({number} + 1000))-end\n" for number in range(200))
    console.type("\x1b[200~" + lines + "\x1b[201~")
    console.enter("")
    for number in range(200):
        console.expect(f"pasted-{number + 1000}-end")
    console.prompt()
    console.end()


def storm(go):
    """News come as fast as runs fail, while a long line is typed."""
    console = begin()
    line = "".join(chr(ord("a") + number % 26) for number in range(1500))
    open(go, "w").close()
    console.expect(r"run \d+ \S+ failed")
    console.type("!echo ")
    for at in range(0, len(line), 10):
        console.type(line[at:at + 10])
        console.read(0.01)
    console.enter("")
    found = console.expect(r"\n" + line + r"\n")
    assert found
    console.expect(r"titan \S+\[rw\][^>]*> ")
    console.end()


def lost(pid):
    console = begin()
    console.type("!echo who")
    console.expect("who")
    os.kill(int(pid), signal.SIGKILL)
    console.expect(r"titan default\[(no master|\.\.\.)\]> !echo who")
    if os.system(f"'{TITAN}' up >/dev/null 2>&1") != 0:
        raise SystemExit("titan up failed")
    console.expect(r"titan default\[rw\][^>]*> !echo who")
    console.enter("le")
    console.expect(r"\nwhole")
    console.prompt()
    console.end()


def remembered():
    console = begin()
    for line in ["version", "status", " show 1", "version --token abc123", "run x --env API_KEY=hidden", "version"]:
        console.enter(line)
        console.prompt()
    console.type("\x1b[A")
    console.expect("version")
    console.type("\x15")
    console.end()


def gate(first, second):
    console = begin()
    open(first, "w").close()
    console.expect(r"titan default\[rw\] 1⚑> ")
    open(second, "w").close()
    console.expect(r"waits for people +approvals \d+")
    console.expect(r"titan default\[rw\] 2⚑> ")
    console.end()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
