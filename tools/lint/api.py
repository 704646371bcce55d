#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is what the libraries export what include/weft says?

    tools/lint/api.py BUILD        compare; exit status 1 if something differs
    tools/lint/api.py --map        print the version script that fits the headers

Every function that a header in include/weft declares carries WEFT_API, and is
exported by BUILD/libweft.so under the version of userlib/libweft.map, and defined
globally in BUILD/libweft.a. Neither exports anything else. A function that writes a
text says how much room it needs (WEFT_ROOM), or is given a length. A header with functions
says which of them several threads may call at a time.
"""
import glob
import re
import subprocess
import sys

MAP = "userlib/libweft.map"


def declared():
    """The functions that the headers declare: name -> file, and what lacks the mark."""
    names, unmarked = {}, []
    for path in sorted(glob.glob("include/weft/**/*.h", recursive=True)):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", f.read(), flags=re.S)
        text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif", "", text, flags=re.S | re.M)
        text = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        inner = None
        while inner != text:
            inner, text = text, re.sub(r"\{[^{}]*\}", " @ ", text)
        for statement in re.split(r";|@(?=\s*(?:static|WEFT_API|\Z))", text):
            m = re.search(r"\b(weft_\w+)\s*\((?!\*)", statement)
            words = statement.split()
            if not m or not words or words[0] in ("typedef", "static"):
                continue
            names[m.group(1)] = path
            if re.search(r"(?<!const )char \*\w+\s*[,)]", statement) and not re.search(r"\bsize_t (n|len)\b", statement):
                unmarked.append(f"{path}: {m.group(1)}() writes a text without WEFT_ROOM or a length")
            if words[0] != "WEFT_API":
                unmarked.append(f"{path}: {m.group(1)}() has no WEFT_API")
    return names, unmarked


def symbols(*nm):
    """What nm lists as defined: (name, version or "")."""
    out = subprocess.run(["nm", "--defined-only", *nm], check=True, capture_output=True, text=True).stdout
    found = set()
    for line in out.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] != "A":      # A: the version nodes themselves
            name, _, version = words[2].partition("@")
            found.add((name, version.lstrip("@")))
    return found


def versions():
    """The version script: name -> node."""
    with open(MAP, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    nodes = {}
    for node, body in re.findall(r"(\w+)\s*\{(.*?)\}", text, re.S):
        for name in re.findall(r"\b(weft_\w+)\s*;", body):
            nodes[name] = node
    return nodes


def compare(what, want, got):
    return [f"{what}: {name} is missing" for name in sorted(want - got)] + \
           [f"{what}: {name} is exported, and no header in include/weft declares it" for name in sorted(got - want)]


def silent_on_threads():
    """The headers that declare functions and do not have the word "thread"."""
    bad = []
    for path in sorted(glob.glob("include/weft/*.h")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if "WEFT_API " in text.replace("#define WEFT_API ", "") and "thread" not in text.lower():
            bad.append(f"{path}: does not say which functions may be called by several threads at a time")
    return bad


def check(build):
    names, bad = declared()
    bad += silent_on_threads()
    nodes = versions()
    bad += compare(MAP, set(names), set(nodes))
    shared = symbols("-D", f"{build}/libweft.so")
    bad += compare("libweft.so", set(names), {name for name, _ in shared})
    bad += [f"libweft.so: {n} has version \"{v}\", {MAP} says {nodes[n]}" for n, v in sorted(shared)
            if n in nodes and v != nodes[n]]
    bad += compare("libweft.a", set(names), {name for name, _ in symbols("-g", f"{build}/libweft.a")})
    for line in bad:
        print(line)
    if not bad:
        print(f"{len(names)} functions, in the headers, libweft.so and libweft.a alike")
    return 1 if bad or not names else 0


def print_map():
    names, _ = declared()
    print("/* The functions of include/weft by the version in which they came. tools/lint/api.py compares. */")
    print("WEFT_0 {\nglobal:")
    print("".join(f"\t{n};\n" for n in sorted(names)) + "local:\n\t*;\n};")


if sys.argv[1:] == ["--map"]:
    print_map()
else:
    sys.exit(check(sys.argv[1]))
