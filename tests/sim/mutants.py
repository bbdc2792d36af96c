#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanical mutants of the core's and the ledger's guards: one comparison, connective or condition flipped at a time.

A mutant is killed when a unit test of the core fails with it, or the simulator does, or one of them never
ends; what survives is tried again under the address sanitizer, which sees what is read beyond its end. Assertions (CHECK, check*.c) are no guards: nothing is decided there. Survivors are listed;
tests/sim/mutants-survivors has a line "file: mutated line | reason" for those that change nothing that anybody
can see. Ends with "mutants=N killed=N survived=N explained=N score=N%", the score being the killed share of those
that aren't explained, and exits 1 when it is under 90 %, or when an explained one is killed or isn't there any
more (its line goes).

usage: mutants.py SOURCE-DIRECTORY BUILD-DIRECTORY [--seed N] [--count N] [--from K] [--take N] [--schedules N]
                  [--file NAME] [--jobs N] [--quick] [--again FILE]
       --count 0 takes all there are, by file; about 3,800
       --quick tries no more than is quick; --again takes those that survived in FILE, what this printed before:
       so a campaign is a quick sweep, about two hours of a core, and another one of what that left
       --from K, --take N: of those only N from the K-th on, so that all can be tried in pieces; each piece says
       where the next begins, and its counts are to be added up
"""
import argparse
import concurrent.futures
import glob
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import threading

FLIPS = [
    (r"(?<![<\-=>])<(?![<=])", "<="), (r"(?<!<)<=", "<"), (r"(?<![>\-=<])>(?![>=])", ">="), (r"(?<!>)>=", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
]
CONDITION = re.compile(r"\b(?:if|while) \((?=.*\))")
FLAGS = ["-std=gnu17", "-O1", "-fPIC", "-w", "-D_GNU_SOURCE", '-DTITAN_VERSION="mutant"']
SANITIZED = ["-fsanitize=address,bounds", "-fno-sanitize-recover=all"]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--take", type=int, default=0)
    parser.add_argument("--schedules", type=int, default=800)
    parser.add_argument("--file", action="append", help="only files whose name has this in it")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--again")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--compiler", default=os.environ.get("CC", "cc"))
    return parser.parse_args()


def blank(match):
    return " " * len(match.group())


def bare_text(text):
    """The text with comments, strings, characters, directives and assertions blanked; places stay."""
    text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', blank, text)
    text = re.sub(r"^#(?:.*\\\n)*.*$", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M)
    for found in list(re.finditer(r"\bCHECK\(", text)):
        end = closing(text, found.end() - 1)
        text = text[:found.start()] + re.sub(r"[^\n]", " ", text[found.start():end]) + text[end:]
    return without_points(text)


def begins_operand(text, at):
    """Does an expression begin at `at`?"""
    if text[at - 1] == "=":
        return text[at - 2] not in "=!<>" and text[at] != "="
    return text[at - 1] in "(;{},?:" or text[max(0, at - 6):at] == "return"


def group_around(text, start, end):
    """Where the operands begin and end that stand beside those from start to end, in the same parentheses or statement."""
    depth = 0
    while start > 0 and not (depth == 0 and begins_operand(text, start)):
        start -= 1
        depth += (text[start] == ")") - (text[start] == "(")
    depth = 0
    while end < len(text) and not (depth == 0 and text[end] in ");,?:"):
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    return start, end


def without_points(text):
    """Points of planted bugs blanked, with what is constant beside them: PLANTED(x) && ..., !PLANTED(x) || ..."""
    while (found := re.search(r"(!?)\bPLANTED\(\w+\)", text)):
        start, end = found.span()
        left, right = group_around(text, start, end)
        before = re.search(r"(&&|\|\|)\s*$", text[left:start])
        after = re.match(r"\s*(&&|\|\|)", text[end:right])
        beside = (before or after).group(1) if before or after else None
        if beside == ("||" if found.group(1) else "&&"):
            start, end = left, right
        elif before:
            start = left + before.start()
        elif after:
            end += after.end()
        elif text[right:right + 1] == "?" and not found.group(1):
            end = text.index(":", right)
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def closing(text, at):
    """Behind the parenthesis that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return len(text)


def guards(path):
    """(start, end, replacement) of each guard in a file."""
    text = open(path).read()
    bare = bare_text(text)
    for pattern, replacement in FLIPS:
        for match in re.finditer(pattern, bare):
            yield match.start(), match.end(), replacement
    for match in CONDITION.finditer(bare):
        end = closing(bare, match.end() - 1)
        if bare[match.end():end - 1].isspace():
            continue                     # the point of a planted bug, and nothing else
        yield match.end() - 1, end, "(!" + text[match.end() - 1:end] + ")"


def limits(seconds, memory):
    def apply():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(19 - os.nice(0))
    return apply


class Bench:
    """The tests and the simulator, linked once against a library of the core that each mutant brings."""

    def __init__(self, options, work, sanitized=False):
        self.options, self.work, self.sanitized = options, work, sanitized
        self.flags = FLAGS + (SANITIZED if sanitized else [])
        source = options.source
        self.include = ["-I" + source, "-I" + source + "/src", "-I" + source + "/tests"]
        makefile = open(options.build + "/Makefile").read()
        self.libs = []
        for name in ("MSGPACK", "UTF8PROC", "CRYPTO"):
            found = re.search(r"^%s_LIBS = (.*)$" % name, makefile, re.M)
            self.libs += found.group(1).split() if found else []
        core = sorted(glob.glob(source + "/src/core/**/*.c", recursive=True)) + [source + "/src/worker/ledger.c"]
        self.mutated = [p for p in core if not os.path.basename(p).startswith("check")] + \
            [source + "/src/core/life/hooks.def"]
        below = sorted(glob.glob(source + "/proto/*.c")) + sorted(glob.glob(source + "/src/base/*.c"))
        below = [self.compile(p) for p in below]
        self.below = self.library(below, os.path.join(work, "libbelow.so"))
        self.core = {p: self.compile(p) for p in core}
        self.sound = self.library(self.core.values(), os.path.join(work, "libcore.so"), [self.below])
        tests = sorted(glob.glob(source + "/tests/unit/test_core_*.c")) + [source + "/tests/unit/test_worker_ledger.c"]
        self.tests = [self.program([self.compile(p)], os.path.basename(p)[:-2]) for p in tests]
        self.sim = self.program([self.compile(p) for p in sorted(glob.glob(source + "/tests/sim/*.c"))], "titan-sim")

    def compile(self, path, to=None, quick=()):
        to = to or os.path.join(self.work, os.path.relpath(path, self.options.source).replace("/", "_") + ".o")
        done = subprocess.run(["nice", "-n", "19", self.options.compiler, *self.flags, *quick, *self.include,
                               "-c", path, "-o", to],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return to

    def link(self, arguments):
        sanitized = SANITIZED if self.sanitized else []
        done = subprocess.run([self.options.compiler, *sanitized, *arguments, *self.libs, "-lpthread"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)

    def library(self, objects, to, others=()):
        self.link(["-shared", "-Wl,-soname," + os.path.basename(to), *objects, *others, "-o", to])
        return to

    def program(self, objects, name):
        to = os.path.join(self.work, name)
        self.link([*objects, self.sound, self.below, "-o", to])
        return to

    def fails(self, place, command, seconds):
        environment = dict(os.environ, LD_LIBRARY_PATH=place + ":" + self.work)
        memory = resource.RLIM_INFINITY if self.sanitized else 2 << 30
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=place, env=environment,
                              preexec_fn=limits(4 * seconds if self.sanitized else seconds, memory))
        return done.returncode != 0

    def killed_by(self, place):
        """By what is quickest to say so; what killed the last one is likely to kill its neighbour."""
        slow = [test for test in self.tests if test.endswith("test_core_load")]
        for test in [test for test in self.tests if test not in slow]:
            if self.fails(place, [test], 20):
                self.tests = [test] + [other for other in self.tests if other != test]
                return os.path.basename(test)
        if self.fails(place, [self.sim, "--schedules", "100"], 60):
            return "simulator"
        if self.sanitized or self.options.quick:
            return None
        for test in slow:
            if self.fails(place, [test], 20):
                return os.path.basename(test)
        more = [self.sim, "--seed", "101", "--schedules", str(max(1, self.options.schedules - 100))]
        return "simulator" if self.fails(place, more, 60) else None


def sanitized_bench(bench, once=threading.Lock(), made=[]):
    """Built when the first mutant survives."""
    with once:
        if not made:
            work = os.path.join(bench.work, "sanitized")
            os.makedirs(work, exist_ok=True)
            made.append(Bench(bench.options, work, True))
            if (by := made[0].killed_by(work)):
                sys.exit("mutants: the sound tree doesn't pass its own tests under the sanitizer: " + by)
        return made[0]


def shown(path, text, start, end, replacement):
    """The line as it would be, and its number."""
    begin = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    line = text[begin:start] + replacement + text[end:stop if stop >= 0 else len(text)]
    return text.count("\n", 0, start) + 1, " ".join(line.split())


def try_mutant(bench, mutant):
    path, start, end, replacement = mutant
    place = tempfile.mkdtemp(dir=bench.work)
    text = open(path).read()
    source = os.path.join(place, os.path.basename(path))
    open(source, "w").write(text[:start] + replacement + text[end:])
    try:
        if path.endswith(".def"):        # its rows are code where it is included
            there = os.path.join(place, os.path.relpath(os.path.dirname(path), bench.options.source + "/src"))
            os.makedirs(there)
            shutil.move(source, there)
            path = source = path[:-3] + "c"
        own = bench.compile(source, os.path.join(place, os.path.basename(path) + ".o"), ["-O0", "-I" + place])
        bench.library([own if other == path else made for other, made in bench.core.items()],
                      os.path.join(place, "libcore.so"), [bench.below])
        verdict = bench.killed_by(place)
    except RuntimeError:
        verdict = "compiler"
    shutil.rmtree(place)
    if verdict is None and not bench.sanitized and not bench.options.quick:
        return try_mutant(sanitized_bench(bench), mutant)
    return mutant, shown(mutant[0], text, start, end, replacement), verdict


def known_reasons(source):
    path = source + "/tests/sim/mutants-survivors"
    reasons = {}
    for line in open(path) if os.path.exists(path) else []:
        if " | " in line and not line.startswith("#"):
            text, reason = line.rsplit(" | ", 1)
            reasons[text.strip()] = reason.strip()
    return reasons


def stale_reasons(bench, reasons):
    """Those whose line isn't there any more."""
    there = set()
    for path in bench.mutated:
        text = open(path).read()
        for guard in guards(path):
            there.add(os.path.basename(path) + ": " + shown(path, text, *guard)[1])
    return sorted(set(reasons) - there)


def survived_before(path):
    """ "file: mutated line" of each line "survived file:number: mutated line". """
    found = (re.match(r"survived ([^:]+):\d+: (.*)", line) for line in open(path))
    return {match.group(1) + ": " + match.group(2) for match in found if match}


def judge(bench, options, mutants, reasons):
    killed = survived = explained = wrong = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for mutant, (number, line), verdict in pool.map(lambda m: try_mutant(bench, m), mutants):
            name = os.path.basename(mutant[0])
            reason = reasons.get(name + ": " + line)
            if verdict == "compiler":
                continue
            if verdict:
                killed += 1
                if reason:
                    print("explained, and killed by %s: %s:%d  %s" % (verdict, name, number, line), flush=True)
                    wrong += 1
            elif reason:
                explained += 1
            else:
                survived += 1
                print("survived %s:%d: %s" % (name, number, line), flush=True)
    score = 100.0 * killed / max(1, killed + survived)
    print("mutants=%d killed=%d survived=%d explained=%d score=%.1f%% seed=%d" %
          (killed + survived + explained, killed, survived, explained, score, options.seed))
    return score >= 90 and not wrong


def main():
    options = arguments()
    options.source, options.build = os.path.abspath(options.source), os.path.abspath(options.build)
    work = tempfile.mkdtemp(prefix="titan-mutants.")
    try:
        bench = Bench(options, work)
        if (by := bench.killed_by(work)):
            sys.exit("mutants: the sound tree doesn't pass its own tests: " + by)
        reasons = known_reasons(options.source)
        stale = stale_reasons(bench, reasons)
        for line in stale:
            print("no such line any more: " + line)
        mutants = [(path, *guard) for path in bench.mutated for guard in guards(path)]
        if options.file:
            mutants = [m for m in mutants if any(part in os.path.basename(m[0]) for part in options.file)]
        if options.again:
            again = survived_before(options.again)
            mutants = [m for m in mutants if os.path.basename(m[0]) + ": " + shown(m[0], open(m[0]).read(), *m[1:])[1] in again]
        if options.count and options.count < len(mutants):
            mutants = random.Random(options.seed).sample(mutants, options.count)
        total = len(mutants)
        mutants = mutants[options.first:options.first + options.take if options.take else total]
        good = judge(bench, options, mutants, reasons)
        print("tried %d to %d of %d" % (options.first, options.first + len(mutants) - 1, total))
        sys.exit(0 if good and not stale else 1)
    finally:
        shutil.rmtree(work, ignore_errors=True)


main()
