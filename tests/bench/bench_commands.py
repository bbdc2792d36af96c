#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a person waits for short commands: usage: bench_commands.py TITAN. A master must be running.

Prints a line for each figure: its name and the median time in ms of many starts, taken in turns so that all suffer the
same from what else the machine does. The prompt of the console is measured on a terminal, from its start to its first
prompt.
"""
import os
import pty
import select
import statistics
import sys
import time

TITAN = sys.argv[1]
STARTS = 100
PROMPTS = 20
TO_NULL = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in range(3)]


def start_ms(command):
    before = time.monotonic_ns()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=TO_NULL)
    if os.waitpid(pid, 0)[1] != 0:
        sys.exit(f"{' '.join(command)} failed")
    return (time.monotonic_ns() - before) / 1e6


def prompt_ms():
    seen = b""
    before = time.monotonic_ns()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(TITAN, [TITAN, "repl"])
    while b"> " not in seen and select.select([fd], [], [], 10)[0]:
        seen += os.read(fd, 4096)
    took = (time.monotonic_ns() - before) / 1e6
    os.write(fd, b"\x04")
    try:
        while os.read(fd, 4096):
            pass
    except OSError:
        pass
    os.close(fd)
    os.waitpid(pid, 0)
    return took


commands = {"command_true": ["/bin/true"], "command_version": [TITAN, "version"], "command_ls": [TITAN, "ls"]}
times = {name: [] for name in commands}
for _ in range(STARTS):
    for name, command in commands.items():
        times[name].append(start_ms(command))
times["command_repl_prompt"] = [prompt_ms() for _ in range(PROMPTS)]
for name, taken in times.items():
    print(name, "%.2f" % statistics.median(taken))
