#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines do the tests reach? For a build with COV=1; `make coverage` is the way to run it.

coverage.py BUILD run KIND/NAME...   runs these tests one at a time and keeps what each reached
coverage.py BUILD table              lines reached by all tests that were run, for each part, as rows of Markdown
coverage.py BUILD missing PATH       the lines beneath a folder or in a file that no test reached, with their text

A line counts if gcc made code of it. gcov counts C of the host. For firmware, the interpreter of the control
core writes which instructions it executed (sim/model/rv32_seen.h), and the ELF files of ROM and firmware say of
which lines they were made; the RTL's runs of it do not count. What a process reached before a signal ended it
is lost. BUILD/reached/KIND_NAME.json keeps a test's lines, each file's beside a hash of its text: what is known
of a file that has changed since is dropped, and `table` says so. tools/mutate.py takes from there which tests
reach a line, and how long they run.
"""
import collections
import glob
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import time

# Title, folders, and the least share of lines that is to be reached (percent; None: no bar).
PARTS = [
    ("importers", ["userlib/import/"], 95),
    ("driver", ["driver/"], 95),
    ("verifier", ["driver/verify/"], 95),
    ("firmware and boot ROM", ["firmware/"], 95),
    ("golden", ["sim/golden/"], None),
    ("functional model", ["sim/model/"], None),
    ("co-simulation", ["sim/cosim/", "sim/rtl/"], None),
    ("graph", ["userlib/graph/"], None),
    ("compiler", ["userlib/compile/"], None),
    ("sessions", ["userlib/run/", "userlib/files/"], None),
    ("quantiser", ["userlib/quantize/"], None),
    ("captures, segments, profiles", ["userlib/replay/", "userlib/segment/", "userlib/profile/"], None),
    ("diagnosis", ["userlib/diag/"], None),
    ("other parts of the library", ["userlib/conform/", "userlib/export/"], None),
    ("simulated card", ["tools/card/"], None),
    ("commands", ["tools/weft/"], None),
]
FIRMWARE = {"boot.elf": "boot", "main.elf": "main"}


def sha(path, known={}):
    """A hash of the file's text, None if it is gone."""
    if path not in known:
        known[path] = hashlib.sha256(open(path, "rb").read()).hexdigest()[:16] if os.path.exists(path) else None
    return known[path]


def of_project(path):
    """The path from the project's root, None for system headers and generated files."""
    path = os.path.relpath(os.path.join(os.getcwd(), path))
    return None if path.startswith(("..", "build/", "include/", "tests/")) or "/gen/" in path else path


def gcov(files):
    """{path: {line: count}} of gcov's reports on .gcda files, or on .gcno files: then nothing was reached."""
    lines = collections.defaultdict(dict)
    for at in range(0, len(files), 100):
        done = subprocess.run(["gcov", "--json-format", "--stdout"] + files[at:at + 100], capture_output=True)
        if done.returncode:     # a file that it cannot read reached nothing; it goes on with the others
            print(f"coverage: gcov ends with {done.returncode}: {done.stderr.decode().strip()[-300:]}", file=sys.stderr)
        for report in done.stdout.splitlines():
            for file in json.loads(report)["files"] if report.startswith(b"{") else []:
                path = of_project(file["file"])
                for line in file["lines"] if path else []:
                    n = line["line_number"]
                    lines[path][n] = lines[path].get(n, 0) + line["count"]
    return lines


def host_lines(build):
    """{path: lines that have code} of everything that was compiled for the host."""
    made = [f for f in glob.glob(build + "/obj/**/*.gcno", recursive=True) if "/obj/tests/" not in f and "/obj/inside/" not in f]
    return {path: set(lines) for path, lines in gcov(made).items()}


def words_of(elf):
    """{address: instruction word} of what an ELF file loads."""
    data = open(elf, "rb").read()
    table, n = struct.unpack_from("<I", data, 28)[0], struct.unpack_from("<H", data, 44)[0]
    words = {}
    for i in range(n):
        kind, offset, address, _, size, _, flags, _ = struct.unpack_from("<8I", data, table + 32 * i)
        if kind == 1 and flags & 1:
            words.update((address + k, struct.unpack_from("<I", data, offset + k)[0]) for k in range(0, size - 3, 4))
    return words


def line_table(elf):
    """[(path, line, first address, end)] of an ELF file's line table; rows without an instruction are left out."""
    said = subprocess.run(["riscv64-unknown-elf-objdump", "-W", "--dwarf=decodedline", elf], capture_output=True, text=True, check=True).stdout
    names = {os.path.basename(f): f for f in glob.glob("firmware/*") + glob.glob("include/weft/*.h") + glob.glob("include/weft/gen/*.h")}
    rows, last = [], None
    for text in said.splitlines():
        word = text.split()
        if len(word) < 3 or not (word[1].isdigit() or word[1] == "-") or not word[2].startswith("0x") and word[2] != "0":
            continue
        address = int(word[2], 16)
        if last and address > last[2]:
            rows.append(last + (address,))
        path = names.get(os.path.basename(word[0]))
        last = (path, int(word[1]), address) if word[1] != "-" and path else None
    return rows


def core_lines(build, seen):
    """{path: {line: count}} of the firmware, where `seen` holds (address, word) that the core executed."""
    lines = collections.defaultdict(dict)
    for elf in (e for e in (os.path.join(build, "firmware", f) for f in FIRMWARE) if os.path.exists(e)):
        words = words_of(elf)
        for path, line, start, end in line_table(elf):
            hit = any((a, words.get(a)) in seen for a in range(start, end, 4))
            if path.startswith("firmware/"):
                lines[path][line] = lines[path].get(line, 0) + hit
    return lines


def run(build, tests):
    """Runs tests and keeps what they reached. Returns how many failed."""
    failed = 0
    for test in tests:
        name = test.replace("/", "_")
        data = os.path.abspath(os.path.join(build, "reached", name))
        shutil.rmtree(data, ignore_errors=True)
        os.makedirs(data + "/core")
        env = dict(os.environ, GCOV_PREFIX=data, GCOV_PREFIX_STRIP=str(os.getcwd().rstrip("/").count("/")), WEFT_SEEN=data + "/core", JOBS="1")
        start = time.monotonic()
        failed += subprocess.run(["tests/run.sh", build, "check", test], env=env, stdout=sys.stdout).returncode != 0
        seconds = time.monotonic() - start
        sys.stdout.flush()
        counts = glob.glob(data + "/**/*.gcda", recursive=True)
        for file in counts:
            note = file[:-5] + ".gcno"
            made = os.path.join(os.getcwd(), os.path.relpath(note, data))
            if os.path.exists(made):
                os.symlink(made, note)
        reached = gcov([f for f in counts if os.path.exists(f[:-5] + ".gcno")])
        seen = set()
        for file in glob.glob(data + "/core/*"):
            seen.update(tuple(int(w, 16) for w in text.split()) for text in open(file))
        for path, lines in (core_lines(build, seen) if seen else {}).items():
            for n, count in lines.items():
                reached[path][n] = reached[path].get(n, 0) + count
        known = {path: [sha(path), sorted(n for n, count in lines.items() if count)] for path, lines in reached.items()}
        with open(data + ".json", "w") as out:
            json.dump({"test": test, "seconds": seconds, "files": known}, out)
        shutil.rmtree(data)
    return failed


def collect(build):
    """{path: (lines with code, lines reached)}, the tests that were run, and files that changed since."""
    code, reached, changed = host_lines(build), collections.defaultdict(set), set()
    for path, lines in core_lines(build, set()).items():
        code.setdefault(path, set()).update(lines)
    files = sorted(glob.glob(os.path.join(build, "reached", "*.json")))
    for file in files:
        for path, (text, lines) in json.load(open(file))["files"].items():
            if sha(path) == text:
                reached[path].update(lines)
            elif lines:
                changed.add(path)
    # Code of a line that another build of the same text has (a program of its own, a test's object) counts too.
    return {path: (lines, reached[path] & lines) for path, lines in code.items()}, len(files), changed


def table(build):
    found, n_tests, changed = collect(build)
    for path in sorted(changed):
        print(f"coverage: {path} has changed since a test was run; what that test reached of it is not counted", file=sys.stderr)
    print(f"| part | folders | lines | reached by {n_tests} tests | bar |\n|---|---|---|---|---|")
    for title, folders, bar in PARTS:
        mine = [v for path, v in found.items() if path.startswith(tuple(folders)) and not (title == "driver" and path.startswith("driver/verify/"))]
        lines, hit = sum(len(v[0]) for v in mine), sum(len(v[1]) for v in mine)
        if not hit:     # another folder's lines were counted (COUNT)
            continue
        print(f"| {title} | {', '.join(f'`{f[:-1]}`' for f in folders)} | {lines} | {hit} ({100 * hit / max(lines, 1):.1f} %) | {f'{bar} %' if bar else ''} |")


def missing(build, prefix):
    found, _, _ = collect(build)
    for path in sorted(found):
        lines, hit = found[path]
        if not path.startswith(prefix) or lines == hit:
            continue
        text = open(path).read().split("\n")
        print(f"{path}: {len(hit)} of {len(lines)}, {len(lines - hit)} missing")
        for n in sorted(lines - hit):
            print(f"{n:6d}  {text[n - 1]}")


def main(run, table, missing):
    """Does what the command line says: BUILD run TEST..., BUILD table or BUILD missing PATH. Returns the exit status."""
    build, what, rest = os.path.relpath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if what == "run":
        return min(run(build, rest), 1)
    if what == "table":
        return table(build)
    if what == "missing":
        return missing(build, rest[0])
    sys.exit(f"{os.path.basename(sys.argv[0])}: no command {what}")


if __name__ == "__main__":
    sys.exit(main(run, table, missing))
