#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines and signals of the RTL do the tests reach? `make coverage-rtl` is the way to run it.

coverage_rtl.py BUILD run KIND/NAME...   runs these tests one at a time on the simulators that count
coverage_rtl.py BUILD table              what all tests reached, a row of Markdown for each folder of hw/
coverage_rtl.py BUILD missing PATH       what none of them reached beneath a folder or in a file

BUILD is the plain build: its programs are run, linked into BUILD/coverage-rtl beside the simulators of
`make COV=rtl`. A point is what Verilator counts: a block of statements of which either all run or none
(line), or a bit that changes (toggle). It is known by its place in the source. So one point stands for a
module's instances in all configurations, and it is reached if one of them reached it.
BUILD/coverage-rtl/reached/KIND_NAME.json keeps what a test reached, beside a hash of each file's text.

tests/expected/coverage.tsv excludes points that no test can reach: kind, file, pattern and reason, tabs
between. The pattern of a line is a part of its text, that of a toggle is the name of signals with `*` and `{72..127}`.
A row that excludes nothing is an error, as are exclusions of more than 3 % of the points.
"""
import collections
import fnmatch
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

from coverage import main, sha

BARS = {"line": 98, "toggle": 90}
MOST_EXCLUDED = 3                        # percent of all points
EXCLUDED = "tests/expected/coverage.tsv"
# Programs that tests start, which look for the simulators beside themselves.
PROGRAMS = ["weft", "weft-card", "weft-broker", "libweft.so", "libweft.so.0", "libweft_ort_ep.so", "libweft_delegate.so", "firmware"]
FIELD = re.compile("\x01([^\x02]*)\x02([^\x01']*)")


def hooks_of(path, known={}):
    """Numbers of the lines that only simulators have, by which tests plant faults (WEFT_FAULT_HOOK)."""
    if path not in known:
        known[path], inside = set(), False
        for number, text in enumerate(open(path), 1):
            inside = text.startswith("`ifdef WEFT_FAULT_HOOK") or (inside and not text.startswith(("`else", "`endif")))
            known[path] |= {number} if inside else set()
    return known[path]


def points_of(file):
    """((path, kind, line, column, name), reached) of each point in a file of Verilator's that lies in hw/."""
    for text in open(file, errors="replace"):
        if not text.startswith("C '"):
            continue
        field = dict(FIELD.findall(text))
        path = os.path.relpath(field["f"])
        if path.startswith("hw/"):
            kind = "toggle" if field["page"].startswith("v_toggle") else "line"
            yield (path, kind, int(field["l"]), int(field["n"]), field["o"]), int(text.rsplit(" ", 1)[1]) > 0


def shadow(build):
    """BUILD/coverage-rtl has every program of BUILD, its own simulators, and the tests' links to those."""
    own = os.path.join(build, "coverage-rtl")
    for name in PROGRAMS:
        there, mine = os.path.join(build, name), os.path.join(own, name)
        subprocess.run(["rm", "-rf", mine], check=True)
        if os.path.exists(there):
            subprocess.run(["cp", "-rL", there, mine], check=True)
    for kind in glob.glob(os.path.join(build, "tests", "*", "")):
        mine = os.path.join(own, "tests", os.path.basename(kind[:-1]))
        shutil.rmtree(mine, ignore_errors=True)
        os.makedirs(mine)
        for program in os.scandir(kind):
            if program.is_file() and os.access(program.path, os.X_OK):
                os.link(program.path, os.path.join(mine, program.name))
        os.symlink(os.path.abspath(os.path.join(own, "rtl")), os.path.join(mine, "rtl"))
    return own


def run(build, tests):
    """Runs tests and keeps what they reached. Returns how many failed."""
    own, failed = shadow(build), 0
    for test in tests:
        name = os.path.join(own, "reached", test.replace("/", "_"))
        data = os.path.abspath(name)
        shutil.rmtree(data, ignore_errors=True)
        os.makedirs(data)
        start = time.monotonic()
        failed += subprocess.run(["tests/run.sh", own, "check", test], env=dict(os.environ, WEFT_SEEN_RTL=data, JOBS="1")).returncode != 0
        seen = collections.defaultdict(lambda: [set(), set()])
        for file in glob.glob(data + "/*.dat"):
            for point, hit in points_of(file):
                seen[point[0]][hit].add(point[1:])
        with open(name + ".json", "w") as out:
            json.dump({"test": test, "seconds": time.monotonic() - start,
                       "files": {path: [sha(path), sorted(not_hit - hit), sorted(hit)] for path, (not_hit, hit) in seen.items()}}, out)
        shutil.rmtree(data)
    return failed


def collect(build):
    """{path: ({all points}, {points reached})} of what is known of files as they are now; how many tests; files changed since."""
    found, changed = collections.defaultdict(lambda: (set(), set())), set()
    files = sorted(glob.glob(os.path.join(build, "coverage-rtl", "reached", "*.json")))
    for file in files:
        for path, (text, not_hit, hit) in json.load(open(file))["files"].items():
            if sha(path) != text:
                changed.add(path)
                continue
            found[path][0].update(tuple(p) for p in not_hit + hit if p[1] not in hooks_of(path))
            found[path][1].update(tuple(p) for p in hit if p[1] not in hooks_of(path))
    return found, len(files), changed


def signals(pattern):
    """The expression for names of signals that a pattern matches: `*` is anything, `{72..127}` each of these numbers."""
    parts = re.split(r"(\*|\{\d+\.\.\d+\})", pattern)
    for i in range(1, len(parts), 2):
        first, _, last = parts[i].strip("{}").partition("..")
        parts[i] = ".*" if parts[i] == "*" else "(" + "|".join(str(n) for n in range(int(first), int(last) + 1)) + ")"
    return re.compile("".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts)))


def exclusions(found):
    """{(path, point)} that the list excludes. A row that excludes nothing ends the program."""
    out = set()
    for row in open(EXCLUDED) if os.path.exists(EXCLUDED) else []:
        if row.startswith("#") or not row.strip():
            continue
        kind, where, pattern, _ = row.rstrip("\n").split("\t")
        name = signals(pattern)
        hit = set()
        for path in fnmatch.filter(found, where):
            lines = open(path).read().split("\n")
            for point in found[path][0]:
                if point[0] == kind and (pattern in lines[point[1] - 1] if kind == "line" else
                                         name.fullmatch(point[3])):
                    hit.add((path, point))
        if not hit:
            sys.exit(f"coverage-rtl: {EXCLUDED}: this row excludes nothing: {row.strip()}")
        out |= hit
    return out


def share(hit, n):
    return f"{hit} of {n} ({100 * hit / max(n, 1):.1f} %)"


def table(build):
    found, n_tests, changed = collect(build)
    out = exclusions(found)
    for path in sorted(changed):
        print(f"coverage-rtl: {path} has changed since a test was run; what that test reached of it is not counted", file=sys.stderr)
    print(f"| folder | blocks of lines that {n_tests} tests reach | bits that change | of what is not excluded |\n|---|---|---|---|")
    total = collections.Counter()
    folders = collections.defaultdict(list)
    for path in found:
        folders[os.path.dirname(path)].append(path)
    for folder in sorted(folders):
        mine = collections.Counter()
        for path in folders[folder]:
            for point in found[path][0]:
                mine[point[0], "all"] += 1
                mine[point[0], "hit"] += point in found[path][1]
                mine[point[0], "out"] += (path, point) in out and point not in found[path][1]
        total += mine
        print(row(f"`{folder}`", mine))
    print(row("all", total))
    excluded, n = len(out), sum(len(v[0]) for v in found.values())
    print(f"\nExcluded: {share(excluded, n)}, at most {MOST_EXCLUDED} %. Bars: lines {BARS['line']} %, toggles {BARS['toggle']} %.")
    return excluded * 100 > MOST_EXCLUDED * n


def row(title, n):
    kept = {k: n[k, "all"] - n[k, "out"] for k in BARS}
    return (f"| {title} | {share(n['line', 'hit'], n['line', 'all'])} | {share(n['toggle', 'hit'], n['toggle', 'all'])} | " +
            ", ".join(f"{100 * n[k, 'hit'] / max(kept[k], 1):.1f} %" for k in BARS) + " |")


def missing(build, prefix):
    found, _, _ = collect(build)
    out = exclusions(found)
    for path in sorted(found):
        points, hit = found[path]
        left = sorted(p for p in points - hit if (path, p) not in out)
        if not path.startswith(prefix) or not left:
            continue
        lines = open(path).read().split("\n")
        print(f"{path}: {len(left)} of {len(points)} not reached")
        bits = collections.Counter((p[1], re.sub(r"\[\d+\]$", "", p[3])) for p in left if p[0] == "toggle")
        for p in left:
            if p[0] == "line":
                print(f"{p[1]:6d}  {p[3]}: {lines[p[1] - 1].strip()}")
        for (line, name), n in sorted(bits.items()):
            print(f"{line:6d}  {n} bits of {name}")


if __name__ == "__main__":
    sys.exit(main(run, table, missing))
