#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanical mutants of the core's and the ledger's guards: one comparison or connective flipped at a time.

A mutant is killed when a unit test of the core fails with it, or the simulator does, or one of them never
ends. Survivors are listed; tests/sim/mutants-survivors gives the reason for those that are known. Ends with
a line "mutants=N killed=N survived=N unexplained=N", and exits 1 when less than 90 % were killed.

usage: mutants.py SOURCE-DIRECTORY BUILD-DIRECTORY [--seed N] [--count N] [--schedules N]
       --count 0 takes all there are
"""
import argparse
import concurrent.futures
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

FLIPS = [
    (r"(?<![<\-=>])<(?![<=])", "<="), (r"<=", "<"), (r"(?<![>\-=<])>(?![>=])", ">="), (r">=", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
]
FLAGS = ["-std=gnu17", "-O1", "-D_GNU_SOURCE", '-DTITAN_VERSION="mutant"']


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--schedules", type=int, default=600)
    parser.add_argument("--compiler", default=os.environ.get("CC", "cc"))
    return parser.parse_args()


def guards(path):
    """(line number, column, end, replacement) of each guard in a file; not in comments, texts, checks."""
    inside = False
    for number, line in enumerate(open(path), 1):
        bare = re.sub(r'"[^"]*"', lambda m: " " * len(m.group()), line)
        if inside:
            inside = "*/" not in bare
            continue
        bare = re.sub(r"/\*.*?\*/", lambda m: " " * len(m.group()), bare)
        if "/*" in bare:
            inside = True
            bare = bare[: bare.index("/*")]
        if bare.lstrip().startswith("#") or "CHECK(" in bare:
            continue
        for pattern, replacement in FLIPS:
            for match in re.finditer(pattern, bare):
                yield number, match.start(), match.end(), replacement


class Bench:
    """The objects of the sound tree, compiled once."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.include = ["-I" + options.source, "-I" + options.source + "/src", "-I" + options.source + "/tests"]
        makefile = open(options.build + "/Makefile").read()
        self.libs = [options.build + "/libproto.a", options.build + "/libbase.a"]
        for name in ("MSGPACK", "UTF8PROC", "CRYPTO"):
            found = re.search(r"^%s_LIBS = (.*)$" % name, makefile, re.M)
            self.libs += found.group(1).split() if found else []
        self.mutated = sorted(glob.glob(options.source + "/src/core/*.c")) + [options.source + "/src/worker/ledger.c"]
        self.mutated = [p for p in self.mutated if not p.endswith("/check.c")]
        self.core = {p: self.compile(p) for p in sorted(glob.glob(options.source + "/src/core/*.c")) + self.mutated[-1:]}
        self.sim = [self.compile(p) for p in sorted(glob.glob(options.source + "/tests/sim/*.c"))]
        tests = sorted(glob.glob(options.source + "/tests/unit/test_core_*.c"))
        tests.append(options.source + "/tests/unit/test_worker_ledger.c")
        self.tests = [self.compile(p) for p in tests]

    def compile(self, path, to=None):
        to = to or os.path.join(self.work, os.path.relpath(path, self.options.source).replace("/", "_") + ".o")
        done = subprocess.run([self.options.compiler, *FLAGS, *self.include, "-c", path, "-o", to],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return to

    def link(self, objects, to):
        subprocess.run([self.options.compiler, *objects, *self.libs, "-lpthread", "-o", to], check=True, capture_output=True)

    def fails(self, command, seconds):
        try:
            return subprocess.run(command, capture_output=True, timeout=seconds, cwd=self.work).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def killed_by(self, core, place):
        for test in self.tests:
            program = os.path.join(place, "test")
            self.link([test, *core], program)
            if self.fails([program], 60):
                return os.path.basename(test)[: -len(".c.o")]
        program = os.path.join(place, "sim")
        self.link([*self.sim, *core], program)
        return "simulator" if self.fails([program, "--schedules", str(self.options.schedules)], 120) else None


def try_mutant(bench, mutant):
    path, number, start, end, replacement = mutant
    place = tempfile.mkdtemp(dir=bench.work)
    lines = open(path).read().split("\n")
    line = lines[number - 1]
    lines[number - 1] = line[:start] + replacement + line[end:]
    source = os.path.join(place, os.path.basename(path))
    open(source, "w").write("\n".join(lines))
    try:
        own = bench.compile(source, source + ".o")
        core = [own if other == path else made for other, made in bench.core.items()]
        verdict = bench.killed_by(core, place)
    except RuntimeError:
        verdict = "compiler"
    shutil.rmtree(place)
    return mutant, line.strip(), lines[number - 1].strip(), verdict


def known_reasons(source):
    path = source + "/tests/sim/mutants-survivors"
    reasons = {}
    for line in open(path) if os.path.exists(path) else []:
        if "|" in line and not line.startswith("#"):
            text, reason = line.rsplit("|", 1)
            reasons[text.strip()] = reason.strip()
    return reasons


def main():
    options = arguments()
    options.source, options.build = os.path.abspath(options.source), os.path.abspath(options.build)
    work = tempfile.mkdtemp(prefix="titan-mutants.")
    try:
        bench = Bench(options, work)
        if bench.killed_by(list(bench.core.values()), work):
            sys.exit("mutants: the sound tree doesn't pass its own tests")
        mutants = [(path, *guard) for path in bench.mutated for guard in guards(path)]
        if options.count and options.count < len(mutants):
            mutants = random.Random(options.seed).sample(mutants, options.count)
        reasons = known_reasons(options.source)
        killed = survived = unexplained = stillborn = 0
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for mutant, before, after, verdict in pool.map(lambda m: try_mutant(bench, m), mutants):
                name = "%s:%d" % (os.path.relpath(mutant[0], options.source), mutant[1])
                if verdict == "compiler":
                    stillborn += 1
                elif verdict:
                    killed += 1
                else:
                    survived += 1
                    reason = reasons.get(after)
                    unexplained += reason is None
                    print("survived %s  %s   (%s)" % (name, after, reason or "no reason is known"), flush=True)
        print("mutants=%d killed=%d survived=%d unexplained=%d" % (killed + survived, killed, survived, unexplained))
        sys.exit(0 if killed >= 0.9 * (killed + survived) else 1)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
