#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command whose standard output is a terminal of a given width.

usage: on-terminal.py COLUMNS FILE COMMAND [ARGUMENT...]

What the command prints goes to FILE, without colours; the exit status is the command's. Lines that are wider than the
terminal are named on standard error, with the words "is wider", but not those that are meant to be copied as they are: a
command behind its key, an example, a value of one word. Standard error of the command stays what it is.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata


WHOLE = re.compile(r"command +.*|  titan .*|([a-z' ]+  )?\s*[^ ,]+,?")


def width_of(text):
    width = 0
    for char in text:
        if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
            continue
        width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width


columns, path, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
master, terminal = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal, env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
os.close(terminal)
data = b""
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    data += part
status = process.wait()
text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", data.decode()).replace("\r\n", "\n")
with open(path, "w") as out:
    out.write(text)
for line in text.split("\n"):
    line = line.rsplit("\r", 1)[-1]
    if width_of(line) > columns and not WHOLE.fullmatch(line):
        print(f"is wider than {columns}: {line}", file=sys.stderr)
sys.exit(status if status >= 0 else 128 - status)
