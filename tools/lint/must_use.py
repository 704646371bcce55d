#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function of userlib and driver that can fail may have its result dropped.

    tools/lint/must_use.py BUILD     exit status 1 and a line for each violation
    tools/lint/must_use.py --write   puts WEFT_MUST_USE where headers lack it

A function can fail if it returns int and has a negative errno in a return or an assignment, or hands on what such a
function says; or if it returns bool, allocates or calls one that can fail, and is named for no question (is_, has_, ...). Not
counted are those that only write a message and hand its error back, and UNCOUNTED. In headers such functions carry WEFT_MUST_USE
(include/weft/api.h). Functions that no header has are marked in a copy of both folders in BUILD/must_use, which is
compiled for these warnings alone: so a new function is looked at without anybody's having thought of it.
"""
import collections
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARK = "WEFT_MUST_USE"
HEAD = re.compile(r"^((?:static )?(?:inline )?)(int|bool) (\w+)\(", re.M)
# Their result may be dropped: it says what was found, and a failure is told otherwise.
UNCOUNTED = {
    "take": "whether the text goes on with a letter that may be missing",
    "is_plus": "leaves what it should set as it is",
    "arrange": "whether anything was moved",
    "leave": "hands on the error that it was given",
    "weft_dev_leave": "hands on the error that it was given",
    "no_memory": "notes the error",
    "complain": "notes the error",
}
# Programs of others, in their own way.
LEFT_OUT = ("userlib/python", "userlib/tflite/examples")


def sources():
    """The C files and headers of both folders, relative to ROOT."""
    files = subprocess.check_output(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "userlib", "driver"], text=True).split()
    return [f for f in files if f.endswith((".c", ".h")) and "/gen/" not in f and not f.startswith(LEFT_OUT) and os.path.exists(os.path.join(ROOT, f))]


def key_of(path, head):
    """What a function is known by here: its name, with the file's in front if only that file sees it."""
    return f"{path}:{head.group(3)}" if path.endswith(".c") and head.group(1).startswith("static") else head.group(3)


def name_of(key):
    return key.rpartition(":")[2]


class Body:
    """A function's result type and its text between the braces; calls: the keys of what it calls, once bodies_of() has set them."""

    def __init__(self, kind, text):
        self.kind, self.text, self.calls = kind, text, set()


def bodies_of(texts):
    """{key: [Body]} of all functions that are defined."""
    bodies = collections.defaultdict(list)
    for path, text in texts.items():
        text = text.replace(MARK + " ", "")
        own, here = {}, []
        for m in HEAD.finditer(text):
            begin, end = text.find("{", m.end()), text.find(";", m.end())
            if begin >= 0 and not 0 <= end < begin:
                here.append(Body(m.group(2), text[begin:text.find("\n}", begin)]))
                own[m.group(3)] = key_of(path, m)
                bodies[key_of(path, m)].append(here[-1])
        for body in here:
            body.calls = {own.get(name, name) for name in re.findall(r"\b(\w+)\(", body.text)}
    return bodies


def that_fail(bodies):
    """The keys of those that can fail: returning int, and returning bool."""
    ints, bools = set(), set()
    each = [(key, body) for key, several in bodies.items() for body in several]
    reporters = {key for key, body in each if name_of(key) in UNCOUNTED or "va_start" in body.text}
    more = {key for key, body in each if body.kind == "int" and re.search(r"(return [^;]*|= )-E[A-Z]{2,}\b|return -errno", body.text)}
    while more - ints:
        ints |= more
        for key, body in each:
            known = "|".join(name_of(k) for k in body.calls & ints)
            if body.kind == "int" and known and re.search(r"return [^;]*\b(err|error|status|%s)\b" % known, body.text):
                more.add(key)
    more = {key for key, body in each if body.kind == "bool" and
            (re.search(r"\balloc|_grow\(|_push\(|_append\(|weft_\w*alloc\w*\(|-ENOMEM", body.text) or body.calls & ints)}
    while more - bools:
        bools |= more
        more |= {key for key, body in each if body.kind == "bool" and body.calls & bools}
    questions = {key for key in bools if re.search(r"(^|_)(is|has|may|can|are|needs)_", name_of(key))}
    return ints - reporters, bools - reporters - questions


def marked(path, text, ints, bools):
    """The file's text with the mark at all that can fail and lack it."""
    def put(m):
        counted = key_of(path, m) in (bools if m.group(2) == "bool" else ints)
        return f"{m.group(1)}{MARK} {m.group(2)} {m.group(3)}(" if counted else m.group(0)
    return HEAD.sub(put, text)


def compile_copy(build, texts, ints, bools):
    """Warnings of dropped results, where everything is marked."""
    copy = os.path.join(build, "must_use")
    shutil.rmtree(copy, ignore_errors=True)
    os.makedirs(copy)
    for entry in os.listdir(ROOT):
        if entry not in ("userlib", "driver") and not entry.startswith(".") and os.path.abspath(os.path.join(ROOT, entry)) != os.path.abspath(build):
            os.symlink(os.path.join(ROOT, entry), os.path.join(copy, entry))
    for folder in ("userlib", "driver"):
        shutil.copytree(os.path.join(ROOT, folder), os.path.join(copy, folder), ignore=shutil.ignore_patterns("build", "__pycache__"))
    for name, text in texts.items():
        with open(os.path.join(copy, name), "w") as f:
            f.write(marked(name, text, ints, bools))
    flags = ["-std=gnu11", "-Wunused-result", "-include", "weft/api.h", "-Iinclude", "-I.", "-I" + os.path.join(os.path.abspath(build), "gen"),
             '-DWEFT_VERSION="0"', "-DONNX_ML", "-S", "-o", "/dev/null"]
    flags += subprocess.run(["pkg-config", "--cflags", "libpng", "libjpeg", "libusb-1.0"], capture_output=True, text=True).stdout.split()

    def one(name):
        return subprocess.run([os.environ.get("CC", "gcc"), *flags, name], cwd=copy, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stderr
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = "".join(pool.map(one, [n for n in texts if n.endswith(".c")]))
    return [line for line in said.splitlines() if "[-Wunused-result]" in line or "error:" in line]


def main():
    texts = {f: open(os.path.join(ROOT, f)).read() for f in sources()}
    ints, bools = that_fail(bodies_of(texts))
    headers = {f: marked(f, t, ints, bools) for f, t in texts.items() if f.endswith(".h")}
    if sys.argv[1:] == ["--write"]:
        for f, t in headers.items():
            if t != texts[f]:
                open(os.path.join(ROOT, f), "w").write(t)
        return 0
    bad = [f"{f}: {line.strip()}: lacks {MARK} (tools/lint/must_use.py --write)" for f, t in headers.items()
           for line, new in zip(texts[f].splitlines(), t.splitlines()) if line != new]
    bad += compile_copy(sys.argv[1] if len(sys.argv) > 1 else "build", texts, ints, bools)
    print("\n".join(bad + [f"{len(ints) + len(bools)} functions that can fail: {len(bad)} places where that is dropped"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
