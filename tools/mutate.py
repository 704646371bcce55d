#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Would the tests notice a wrong line? `make mutate` is the way to run it.

mutate.py [--from COMMIT] BUILD PART [SEEDS [TEST...]]   PART: golden, compiler, driver, firmware or rtl; SEEDS: 1-60, or 3,17

Each seed draws one fault of one line of the part: an operator swapped for its neighbour, a constant off by one,
a condition negated, or a statement left out; each of these four kinds is as likely. A draw that does not compile is
drawn again. With --from, faults are drawn from the sources of that commit and planted into the same lines of today's;
one whose line has changed since is drawn again. So a campaign can go on after a change, which would draw other faults.

The changed file is compiled beside the build in BUILD and linked into the tests that reach the line,
as `make coverage` found them; they run one at a time, the quickest first, until one fails, crashes or does not end.
Where the test passes at once without the fault, the fault is killed; where it fails then, too, both run again.
For firmware, ROM and image are made again, and the tests that run them. Where tests are named, only these run,
but for those of which `make coverage` knows that they do not come to the line. For rtl (tools/mutate_rtl.py) it is the simulators
that hold the file, one after the other, and the tests that run on each. How long a test takes without a fault is
measured once (BUILD/mutate/PART/sound*.json). A line for each fault:

  killed      the test that noticed it; "under sanitizers": as sanitize/c runs it
  survived    how many tests reach the line, and none fails
  unreached   no test that `make coverage` ran, or none that was named, comes to the line
  same        the compiler makes the same code of it as without the fault
  equivalent  tests/expected/mutants.tsv has it, and says why no input shows a difference

The last line counts; its share is of the faults that are neither same nor equivalent. Exit status 1 if one
survived or was not reached. What was built stays in BUILD/mutate. Parts may run at the
same time.
"""
import argparse
import difflib
import functools
import glob
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time

import coverage
import mutate_rtl
import mutate_sites

PARTS = {
    "golden": ["sim/golden/**/*.c"],
    "compiler": ["userlib/compile/**/*.c"],
    "driver": ["driver/**/*.c"],
    "firmware": ["firmware/*.c"],
    "rtl": ["hw/**/*.sv"],
}
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "/": "*", "%": "*",
         "&&": "||", "||": "&&", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "|", "+=": "-=", "-=": "+="}
KINDS = ("swap", "constant", "negate", "drop")
EXPECTED = "tests/expected/mutants.tsv"
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all"
UNKNOWN_SECONDS = 60    # what a test may take that `make coverage` did not run
TRIES = 3               # how often a test runs with a fault if it fails without it as well
SANITIZED_SECONDS = 5   # the most processor time that a test may take to run once more with sanitizers, where it is several times slower


def blank(text):
    """The text with comments, strings, characters and preprocessor lines replaced by spaces: lines and columns stay."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:\\\n|[^\n])*', mutate_sites.spaces, text, flags=re.S | re.M)


def sites(path):
    """{kind: [(line index, first column, end column, what to put there)]} of a file; the code of functions and tables is indented."""
    found = {kind: [] for kind in KINDS}
    code = blank(open(path).read()).split("\n")
    for i, line in enumerate(code):
        if not line.startswith("\t"):
            continue
        for m in mutate_sites.OPERATOR.finditer(line):
            found["swap"].append((i, m.start(), m.end(), SWAPS[m.group(1)]))
        for m in re.finditer(r"(?<![\w.])(0x[0-9a-f]+|\d+)(?=[uUlL]*\b)(?![\w.]*\.)", line):
            for step in (1, -1) if int(m.group(1), 0) else (1,):
                found["constant"].append((i, m.start(), m.end(), str(int(m.group(1), 0) + step)))
        found["negate"] += [(i, start, end, None) for start, end in mutate_sites.conditions(line)]
        before = mutate_sites.before(code, i)
        whole = re.match(r"\t+([A-Za-z_*(+-].*;)\s*$", line)
        if whole and before.endswith((";", "{", "}", ")", ":")) and not re.match(r"(return|goto)\b", whole.group(1)):
            found["drop"].append((i, whole.start(1), whole.end(1), ";"))
    return found


def lines_of(path):
    return open(path).read().split("\n")


@functools.cache
def moved(root, path):
    """{index of a line of the file below root: its index in today's file}, without the lines that have changed."""
    if not os.path.exists(path):
        return {}
    blocks = difflib.SequenceMatcher(None, lines_of(os.path.join(root, path)), lines_of(path), False).get_matching_blocks()
    return {a + k: b + k for a, b, n in blocks for k in range(n)}


class Fault:
    """One line of one file, changed."""

    def __init__(self, path, site):
        i, start, end, put = site
        self.path, self.line = path, i + 1
        lines = lines_of(path)
        self.old = lines[i]
        middle = f"!({self.old[start:end]})" if put is None else put
        self.new = lines[i] = self.old[:start] + middle + self.old[end:]
        self.text = "\n".join(lines)

    def key(self):
        """As in EXPECTED: where the file has the line more than once, the lines behind it belong to it until it is the only one."""
        lines = [line.strip() for line in lines_of(self.path)]
        at, n = self.line - 1, 1
        while sum(lines[i:i + n] == lines[at:at + n] for i in range(len(lines))) > 1:
            n += 1
        return self.path, " ".join(lines[at:at + n]), self.new.strip()

    def __str__(self):
        return f"{self.path}:{self.line}: {self.old.strip()}  ->  {self.new.strip()}"


@functools.cache
def pool_of(part, root):
    """{kind: [(path, site)]} of all files of a part as they are below the folder root."""
    pool, of_rtl = {kind: [] for kind in KINDS}, part == "rtl"
    for path in sorted(p for pattern in PARTS[part] for p in glob.glob(pattern, root_dir=root, recursive=True) if "/gen/" not in p):
        if of_rtl and not mutate_rtl.in_simulators(path, root):
            continue
        file = os.path.join(root, path)
        for kind, all_sites in (mutate_rtl.sites(file, KINDS, SWAPS) if of_rtl else sites(file)).items():
            pool[kind] += [(path, site) for site in all_sites]
    return pool


def draws(part, seed, root):
    """Faults of a part without end, the same for the same seed and sources below root, in lines that today's sources have."""
    rng, pool = random.Random(f"{part} {seed}"), pool_of(part, root)
    while True:
        path, (line, *what) = rng.choice(pool[rng.choice(KINDS)])
        if line in moved(root, path):
            yield Fault(path, (moved(root, path)[line], *what))


def sources_of(commit, part, out):
    """The folder that has the part's sources as they were at that commit, "." if it is empty."""
    if not commit:
        return "."
    root = os.path.join(out, "from")
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(root)
    folders = [pattern.split("*")[0] for pattern in PARTS[part]]
    packed = subprocess.run(["git", "archive", commit, *folders], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", root], input=packed, check=True)
    return root


def make_says(build, *goals):
    """The commands that make would run for goals that are to be made again, one string."""
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    return subprocess.run(["make", "-n", "V=1", "CCACHE=", f"O={build}", *goals], capture_output=True, text=True, check=True).stdout.replace("\\\n", "")


def export(path):
    """Makes the hidden symbols of an object of x86-64 visible, in place, so that a shared library has them."""
    data = bytearray(open(path, "rb").read())
    table, entry, number = (struct.unpack_from(f, data, at)[0] for f, at in (("<Q", 40), ("<H", 58), ("<H", 60)))
    for k in range(number):
        kind, = struct.unpack_from("<I", data, table + k * entry + 4)
        start, size = struct.unpack_from("<QQ", data, table + k * entry + 24)
        for at in range(start, start + size, 24) if kind == 2 else ():
            data[at + 5] &= 0xfc
    with open(path, "wb") as f:
        f.write(data)


class Host:
    """
    Faults in what runs on the host: one object in place of one of the library's. Tests are linked once, with a library that
    shows all of its functions; each fault makes that library anew. The command `weft` takes it, too.
    """

    kinds = ("unit/", "model/", "conformance/", "card/")

    def __init__(self, build, out):
        self.build, self.out, self.linked, self.lines, self.wanted, self.coming = build, out, {}, {}, (), ()
        self.flags, self.plain, self.inside, self.made = {}, {}, None, ""
        self.map = os.path.join(out, "all.map")
        with open(self.map, "w") as f:
            f.write("WEFT_0 { global: *; };\n")
        shutil.rmtree(os.path.join(out, "build"), ignore_errors=True)

    def inside_objects(self):
        """{the library's object: its copy in which all is visible, without what debuggers need, for it is linked often}."""
        if self.inside is None:
            said = make_says(self.build, "-W", f"{self.build}/obj/inside.a", f"{self.build}/libweft.so", "-W", "userlib/libweft.map")
            line = next(l for l in said.split("\n") if f" -o {self.build}/libweft.so" in l)
            self.inside, self.lib_line = {}, line.lstrip()
            for o in re.findall(r"\S+\.o(?= )", line):
                copy = self.inside[o] = os.path.join(self.build, "mutate", os.path.relpath(o, self.build))
                if not os.path.exists(copy) or os.path.getmtime(copy) < os.path.getmtime(o):
                    os.makedirs(os.path.dirname(copy), exist_ok=True)
                    mine = f"{copy}.{os.getpid()}"      # another part may make the same one
                    subprocess.run(["objcopy", "--strip-debug", o, mine], check=True)
                    export(mine)
                    os.replace(mine, copy)
        return self.inside

    def library(self, object_file):
        """Makes the library of the shadow build with that object (None: as it is)."""
        if self.made == object_file:
            return
        objects = dict(self.inside_objects())
        if object_file:
            objects[self.object_of] = object_file
        said = " ".join(objects.get(word, word) for word in self.lib_line.split())
        target = os.path.join(self.out, "build", "libweft.so.0")
        said = re.sub(r"--version-script=\S+", f"--version-script={self.map} -Wl,-Bsymbolic -fuse-ld=gold", said)
        said = re.sub(r" -o \S+", f" -o {target}.new", said)
        subprocess.run(said, shell=True, check=True, capture_output=True)
        os.replace(target + ".new", target)
        self.made = object_file

    def compile(self, path, text, name, more=""):
        """The object of a file with this text, with `more` for the compiler: its path, None if it does not compile."""
        made = os.path.join(self.build, "obj", path[:-2] + ".o")
        if path not in self.flags:       # all at once, for make takes a second
            wanted = [path, *(p for p in self.coming if p not in self.flags)]
            said = make_says(self.build, *(w for p in wanted for w in ("-W", p)), *(os.path.join(self.build, "obj", p[:-2] + ".o") for p in wanted))
            for line in said.split("\n"):
                for p in wanted:
                    if f" -c {p} " in line:
                        self.flags[p] = line[:line.index(f" -c {p} ")].replace(" -MMD -MP", "") + f" -g0 -w -iquote {os.path.dirname(p)}"
        source, out = os.path.join(self.out, name + ".c"), os.path.join(self.out, name + ".o")
        with open(source, "w") as f:
            f.write(f'#line 1 "{path}"\n' + text)
        done = subprocess.run(f"{self.flags[path].lstrip()} {more} -c {source} -o {out}", shell=True, capture_output=True)
        if done.returncode:
            return None
        export(out)
        self.object_of, self.made = made, ""
        return out

    def parts_of(self, test):
        """The files on which it depends how long the test takes without a fault."""
        return [f"{self.build}/{f}" for f in (f"obj/tests/{test}.o", "obj/inside.a", "firmware/weft-fw.img")]

    def same(self, path, object_file):
        made = open(object_file, "rb").read()
        if path not in self.plain:      # by the same name, which the object holds
            self.plain[path] = open(self.compile(path, open(path).read(), "fault"), "rb").read()
            with open(object_file, "wb") as f:
                f.write(made)
        return self.plain[path] == made

    def link(self, test, object_file):
        """The test's program, for which the library has that object (None: as it is). Its path."""
        self.library(object_file)
        if test not in self.linked:
            if test not in self.lines:      # all at once, for make takes a second
                wanted = [t for t in {test, *self.wanted} if os.path.exists(f"{self.build}/obj/tests/{t}.o")]
                said = make_says(self.build, *(w for t in wanted for w in ("-W", f"{self.build}/obj/tests/{t}.o")),
                                 *(f"{self.build}/tests/{t}" for t in wanted))
                self.lines.update((t, l) for l in said.split("\n") for t in re.findall(rf" -o {self.build}/tests/(\S+)$", l))
            program, line = os.path.join(self.out, "build", "tests", test), self.lines[test]
            line = line.replace(f"-o {self.build}/tests/{test}", f"-o {program}").lstrip()
            shadow = os.path.abspath(os.path.join(self.out, "build"))
            visible = os.path.join(self.out, "test.o")      # so that functions which it puts in the place of another library's take it
            shutil.copy(f"{self.build}/obj/tests/{test}.o", visible)
            export(visible)
            line = line.replace(f"{self.build}/obj/tests/{test}.o", visible)
            line = line.replace(f"{self.build}/obj/inside.a", f"-Wl,-rpath,{shadow} {shadow}/libweft.so.0")
            os.makedirs(os.path.dirname(program), exist_ok=True)
            subprocess.run(line.replace(" ", " -fuse-ld=gold -Wl,--strip-all,--allow-shlib-undefined ", 1), shell=True, check=True, capture_output=True)
            self.linked[test] = program
        return self.linked[test]

    def shadow(self):
        """The build that tests see: links to BUILD's, but for tests."""
        shadow = os.path.join(self.out, "build")
        os.makedirs(shadow, exist_ok=True)
        for name in ("weft", "libweft.so.0"):      # the library is where the command is
            if os.path.exists(f"{self.build}/{name}") and not os.path.exists(f"{shadow}/{name}"):
                shutil.copy(f"{self.build}/{name}", f"{shadow}/{name}")
        for entry in os.listdir(self.build):
            if entry == "libweft.so" and not os.path.lexists(f"{shadow}/{entry}"):
                os.symlink("libweft.so.0", f"{shadow}/{entry}")
            if entry not in ("tests", "obj", "mutate", "coverage", "san", "san-clang", "tsan", "fuzz") and not os.path.lexists(f"{shadow}/{entry}"):
                os.symlink(os.path.abspath(f"{self.build}/{entry}"), f"{shadow}/{entry}")
        for kind in ("unit", "model", "card", "conformance", "cosim"):
            os.makedirs(f"{shadow}/tests/{kind}", exist_ok=True)
            if not os.path.lexists(f"{shadow}/tests/{kind}/rtl"):
                os.symlink(os.path.abspath(f"{self.build}/rtl"), f"{shadow}/tests/{kind}/rtl")
        return shadow


class Core(Host):
    """Faults in ROM and firmware: both programs made again, the tests are the build's own."""

    kinds = ("card/",)     # others have compiled parts of it for the host

    def __init__(self, build, out):
        super().__init__(build, out)
        self.root = os.path.join(out, "core")

    def compile(self, path, text, name):
        """Makes ROM and image of a copy of firmware/ where the file has this text. The folder they are in, or None."""
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(self.root)
        for entry in os.listdir("."):
            if entry not in ("firmware", "build", ".git"):
                os.symlink(os.path.abspath(entry), os.path.join(self.root, entry))
        shutil.copytree("firmware", self.root + "/firmware")
        with open(os.path.join(self.root, path), "w") as f:
            f.write(text)
        os.makedirs(self.root + "/build")
        goals = [f"build/firmware/{n}" for n in ("boot.bin", "boot.hex", "weft-fw.img")]
        done = subprocess.run(["make", "-s", "O=build", *goals], cwd=self.root, capture_output=True)
        return self.root + "/build/firmware" if done.returncode == 0 else None

    def same(self, path, made):
        parts = [hashlib.sha256(open(f"{made}/{n}", "rb").read()).digest() for n in ("boot.bin", "main.bin")]
        return parts == [hashlib.sha256(open(f"{self.build}/firmware/{n}", "rb").read()).digest() for n in ("boot.bin", "main.bin")]

    def link(self, test, made):
        firmware = os.path.join(self.out, "build", "firmware")
        if os.path.islink(firmware):
            os.remove(firmware)
        os.symlink(os.path.abspath(made or f"{self.build}/firmware"), firmware)
        program = super().link(test, None) if not os.path.exists(os.path.join(self.out, "build", "tests", test)) else os.path.join(self.out, "build", "tests", test)
        return program


def passes(program, shadow, seconds, sanitized=False):
    """
    Does a test's program end with 0? `seconds`: of processor time and of the clock that it took without a fault.
    Twice the processor time and 2 s more is too long; the clock has ten times and a minute, for a machine that
    has other work. `sanitized`: the library has an object with instructions of the address sanitizer.
    """
    limit = (int(2 * seconds[0]) + 2) * (3 if sanitized else 1)

    def limits():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        if not sanitized:
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    temp = os.path.join(os.path.abspath(shadow), "tmp")
    shutil.rmtree(temp, ignore_errors=True)
    os.makedirs(temp)
    env = dict(os.environ, TMPDIR=temp, WEFT_BUILD=shadow, WEFT_LEVEL="check", CMOCKA_MESSAGE_OUTPUT="TAP")
    if sanitized:
        env["LD_PRELOAD"] = " ".join(subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
                                     for name in ("libasan.so", "libubsan.so"))
    with open(os.path.join(shadow, "log"), "w") as log:
        child = subprocess.Popen([program], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, preexec_fn=limits)
        end, failed = time.monotonic() + 10 * seconds[1] + 60, False
        while child.poll() is None and time.monotonic() < end and not failed:
            time.sleep(0.05)
            failed = re.search(r"\nnot ok \d+ - ", open(log.name, errors="replace").read())    # one case is enough; "not ok 4 # SKIP" is none
        status = child.poll()
        try:    # what it started is in its group
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    return status == 0


def reaching(build):
    """[(seconds, test, {path: lines})] of the tests that `make coverage` ran, the quickest first. For a file that has changed since, None."""
    tests = []
    for file in glob.glob(os.path.join(build, "coverage", "reached", "*.json")):
        known = json.load(open(file))
        lines = {path: set(numbers) if text == coverage.sha(path) else None for path, (text, numbers) in known["files"].items()}
        tests.append((known["seconds"], known["test"], lines))
    return sorted(tests, key=lambda t: t[0])


def equivalents():
    """{(path, line, changed line): reason}."""
    rows = [l.rstrip("\n").split("\t") for l in open(EXPECTED)] if os.path.exists(EXPECTED) else []
    return {tuple(r[:3]): r[3] for r in rows if len(r) == 4 and not r[0].startswith("#")}


def comes_to(place, fault, tests, code):
    """
    [(seconds, test)] of the tests that come to the fault's line, and what to call that. Tables, and lines in the
    middle of an expression, have no code of their own: for these it is the tests that come to the file.
    """
    if not code:
        code.update(coverage.collect(os.path.join(place.build, "coverage"))[0])
    if fault.line in code.get(fault.path, ((), ()))[0]:
        return [(seconds, test) for seconds, test, lines in tests if fault.line in (lines.get(fault.path) or ())], "line"
    return [(seconds, test) for seconds, test, lines in tests if fault.path in lines], "file"


def kills(place, test, made, shadow, seconds):
    """
    Does the test notice the fault? Without the fault it must pass right after it failed, so that a moment in which the
    machine is too slow for the test counts for nothing.
    """
    for _ in range(TRIES):
        if passes(place.link(test, made), shadow, seconds):
            return False
        if passes(place.link(test, None), shadow, seconds):
            return True
    return False


def is_sound(place, test, shadow, seconds, plain=None):
    """
    Does the test pass without a fault? One that cannot be linked, for what else it needs was not built, does not. `plain`: the
    object of the faultless file with sanitizers.
    """
    try:
        good = passes(place.link(test, plain), shadow, seconds, plain is not None)
    except subprocess.CalledProcessError:
        good = False
    if not good:
        print(f"mutate: {test} does not pass without a fault{' under sanitizers' if plain else ''}; it judges none", file=sys.stderr, flush=True)
    return good


class Sound:
    """
    Tests that pass without a fault, and the seconds that they take then: [processor time, clock]. They are kept in a file,
    so that a campaign runs each once, until the library, the firmware or the test is built anew.
    """

    def __init__(self, place, name="sound"):
        self.place, self.path = place, os.path.join(place.out, name + ".json")
        self.known = json.load(open(self.path)) if os.path.exists(self.path) else {}

    def seconds(self, test, guess):
        """[processor time, clock] of the test, None if it judges none. `guess`: what it may take if nobody knows."""
        built = [os.path.getmtime(f) for f in self.place.parts_of(test) if os.path.exists(f)]
        if self.known.get(test, {}).get("built") != built:
            at, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            good = is_sound(self.place, test, self.place.shadow(), [guess, guess])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.known[test] = {"built": built, "seconds": [round(spent, 1), round(time.monotonic() - at, 1)] if good else None}
            with open(self.path, "w") as f:
                json.dump(self.known, f)
        return self.known[test]["seconds"]


def sanitizers_notice(place, fault, mine, shadow):
    """
    The test of `unit` that fails if the fault's file is compiled with the sanitizers of addresses and undefined behaviour, as all
    files are for sanitize/c, which runs these tests. None if none of those does that take SANITIZED_SECONDS at most.
    """
    plain = place.compile(fault.path, open(fault.path).read(), "plain_san", SANITIZE)
    made = place.compile(fault.path, fault.text, "fault_san", SANITIZE)
    for seconds, test in mine:
        if not test.startswith("unit/") or seconds[0] > SANITIZED_SECONDS:
            continue
        place.made = ""         # the same names hold other objects than for the fault before
        if not passes(place.link(test, made), shadow, seconds, True) and is_sound(place, test, shadow, seconds, plain):
            return test
    return None


def named_for(fault, tests, named):
    """[(seconds, test)] of the tests that were named but for those known not to come to the fault's line or file, and what to call that."""
    known = {test: (seconds, lines.get(fault.path, set())) for seconds, test, lines in tests}
    has_code = any(lines and fault.line in lines for _, lines in known.values())
    is_known = any(lines for _, lines in known.values())
    mine = []
    for test in named:
        seconds, lines = known.get(test, (UNKNOWN_SECONDS, None))
        if lines is None or not is_known or (fault.line in lines if has_code else lines):
            mine.append((seconds, test))
    return mine, "line" if has_code else "file"


def judge(place, fault, made, tests, sound, code, named):
    """
    (word, why) for a fault that compiles. `code` remembers which lines have code. `named`: the tests to run, empty for those
    of `make coverage`.
    """
    known = equivalents().get(fault.key())
    if known:
        return "equivalent", known
    if place.same(fault.path, made):
        return "same", "the compiler makes the same code"
    shadow = place.shadow()
    reach, place_name = named_for(fault, tests, named) if named else comes_to(place, fault, tests, code)
    mine = []
    for guess, test in reach:
        if (named or test.startswith(place.kinds)) and os.path.exists(f"{place.build}/obj/tests/{test}.o"):
            seconds = sound.seconds(test, guess)
            mine += [(seconds, test)] if seconds else []
    mine.sort(key=lambda m: m[0][1])
    for seconds, test in mine:
        if kills(place, test, made, shadow, seconds):
            return "killed", test
    noticed = sanitizers_notice(place, fault, mine, shadow) if mine and type(place) is Host else None
    if noticed:
        return "killed", f"{noticed} under sanitizers"
    return ("survived", f"{len(mine)} tests reach the {place_name}") if mine else ("unreached", "")


def judged_c(build, out, part, seeds, root, named):
    """(seed, fault, word, why) of the first fault of each seed that compiles."""
    tests = reaching(build)
    if not tests and not named:
        sys.exit("mutate: no test's lines are known; run make coverage")
    place = (Core if part == "firmware" else Host)(build, out)
    place.shadow()
    place.wanted = named or [test for _, test, _ in tests if test.startswith(place.kinds)]
    place.coming = sorted({next(draws(part, seed, root)).path for seed in seeds})
    sound, code = Sound(place), {}
    for seed in seeds:
        for fault in draws(part, seed, root):
            made = place.compile(fault.path, fault.text, "fault")
            if made:
                break
        yield seed, fault, *judge(place, fault, made, tests, sound, code, named)


def judged_rtl(build, out, part, seeds, root, named):
    """The same of faults in the RTL."""
    place = mutate_rtl.Rtl(build, out)
    for seed in seeds:
        for fault in draws(part, seed, root):
            reason = equivalents().get(fault.key())
            word, why = ("equivalent", reason) if reason else place.judge(fault, named, lambda name: Sound(place, f"sound_{name}"), kills)
            if word != "broken":
                break
        yield seed, fault, word, why


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="commit", default="")
    parser.add_argument("build", type=os.path.relpath)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("seeds", nargs="?", default="1-60")
    parser.add_argument("named", nargs="*", metavar="test")
    args = parser.parse_args()
    build, part, named = args.build, args.part, args.named
    seeds = []
    for word in args.seeds.split(","):
        first, _, last = word.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    out = os.path.join(build, "mutate", part)
    os.makedirs(out, exist_ok=True)
    root = sources_of(args.commit, part, out)
    judged = judged_rtl if part == "rtl" else judged_c
    counts = {}
    for seed, fault, word, why in judged(build, out, part, seeds, root, named):
        counts[word] = counts.get(word, 0) + 1
        print(f"{word:10s} {part} {seed}: {fault}{'  (' + why + ')' if why else ''}", flush=True)
    real = sum(counts.get(w, 0) for w in ("killed", "survived", "unreached"))
    print(", ".join(f"{n} {w}" for w, n in sorted(counts.items())) + f": {100 * counts.get('killed', 0) / max(real, 1):.0f} % of {real} killed")
    return int(counts.get("killed", 0) != real)


if __name__ == "__main__":
    sys.exit(main())
