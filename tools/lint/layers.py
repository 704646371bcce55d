#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom, and how many files a folder may hold.

    tools/lint/layers.py [ROOT]     exit status 1 and a line for each violation

Every #include "..." and #include <weft/...> of the C and C++ files is looked up in
LAYERS by the longest folder that fits the including file. Public headers (include/)
may be included from everywhere; a folder's own files too, but not those of the
folders above or below it unless the table says so.
"""
import os
import re
import sys

# Folder: what its files may include besides include/ and the folder itself. An entry that
# ends with "/" is a folder with everything below it, any other one is a file.
LAYERS = {
    "include": [],
    "firmware": [],
    "driver": ["driver/"],
    # The simulators are the driver's backends and the golden model of every importer; they
    # know the driver by these headers, and nothing of what is above it.
    "sim/golden": ["sim/golden/"],
    "sim/model": ["driver/backend.h", "driver/clock.h", "driver/model.h"],
    "sim/cosim": ["driver/model.h", "sim/model/"],
    "sim/rtl": ["driver/backend.h", "driver/clock.h", "driver/model.h", "sim/cosim/", "sim/model/", "sim/rtl/"],
    # Networks: files, the graph, what reads and writes it.
    "userlib/files": ["driver/sys.h"],
    "userlib/graph": ["userlib/graph/", "userlib/files/", "sim/golden/"],
    "userlib/import": ["userlib/files/", "userlib/graph/", "sim/golden/"],
    "userlib/import/onnx": ["userlib/files/", "userlib/graph/", "sim/golden/", "driver/sys.h",
                            "userlib/import/bound.h", "userlib/import/fb.h"],
    "userlib/import/tflite": ["userlib/files/", "userlib/graph/", "sim/golden/",
                              "userlib/import/bound.h", "userlib/import/fb.h"],
    "userlib/import/tosa": ["userlib/files/", "userlib/graph/", "sim/golden/",
                            "userlib/import/bound.h", "userlib/import/fb.h"],
    "userlib/export": ["userlib/files/", "userlib/graph/", "userlib/import/tosa/", "sim/golden/"],
    "userlib/quantize": ["userlib/graph/", "userlib/import/onnx/", "userlib/quantize/tflite/", "userlib/run/"],
    "userlib/quantize/tflite": ["userlib/graph/", "userlib/import/tflite/", "userlib/import/bound.h", "userlib/import/fb.h",
                                "userlib/export/fb_write.h", "userlib/quantize/blocks.h", "userlib/quantize/observe.h"],
    # The compiler knows the graph, golden's arithmetic and the rules of streams.
    "userlib/compile": ["userlib/compile/", "userlib/graph/", "userlib/files/", "sim/golden/", "driver/verify/"],
    # The runtime: one session and what looks at it.
    "userlib/run": ["userlib/files/", "userlib/graph/", "userlib/import/", "userlib/export/", "userlib/compile/",
                    "userlib/profile/", "userlib/segment/", "driver/", "sim/golden/"],
    "userlib/profile": ["userlib/run/", "userlib/segment/", "userlib/files/", "driver/"],
    "userlib/segment": ["userlib/run/", "userlib/files/", "driver/"],
    "userlib/replay": ["userlib/run/", "userlib/files/", "driver/"],
    "userlib/diag": ["userlib/run/", "driver/"],
    "userlib/conform": [],
    # Users of the public API, loaded by other runtimes. The delegate writes .tflite files as the
    # library's exporter writes .tosa files.
    "userlib/plugin": [],
    "userlib/ort": ["userlib/plugin/", "userlib/files/beneath.h"],
    "userlib/tflite": ["userlib/plugin/", "userlib/export/fb_write.h"],
    # Commands are users of the public API like any other.
    "tools": ["tools/"],
    "tests": ["tests/", "userlib/", "driver/", "sim/", "tools/", "firmware/"],
}

# Written by other tools while the project is built.
GENERATED = re.compile(r"owner_key\.h|onnx\.pb-c\.h|fault_points\.h|fst_config\.h|verilated\w*\.h|V\w+\.h")

MOST_FILES = 25
MOST_LISTED = 4
# Folders of one kind of file, in which the names are the order.
LARGE = {
    "userlib/import/onnx": "one file for each family of operators",
    "userlib/import/tflite": "one file for each family of operators",
    "sim/golden": "one file for each operator",
}


def layer_of(path):
    """The table's folder of a file: the longest one that it lies in."""
    folder = os.path.dirname(path)
    while folder and folder not in LAYERS:
        folder = os.path.dirname(folder)
    return folder


def target_of(path, name, quoted, files):
    """The file of the project that an #include means; None: none of the project."""
    places = [os.path.normpath(os.path.join(os.path.dirname(path), name)), name] if quoted else []
    return next((p for p in places + [f"include/{name}"] if p in files), None)


def allowed(path, target, layer):
    # Prefix "userlib/compile" is a layer whose files lie in folders below, too.
    if target.startswith("include/") or os.path.dirname(target) == os.path.dirname(path):
        return True
    return any(target.startswith(entry) if entry.endswith("/") else target == entry for entry in LAYERS[layer])


def includes(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            m = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if m and (m.group(1) == '"' or m.group(2).startswith("weft/")):
                yield number, m.group(2), m.group(1) == '"'


def check_includes(root, files):
    bad = []
    for path in sorted(files):
        layer = layer_of(path)
        if not layer:
            bad.append(f"{path}:1: no layer in tools/lint/layers.py has this folder")
            continue
        for number, name, quoted in includes(root, path):
            target = target_of(path, name, quoted, files)
            if not target:
                if not GENERATED.fullmatch(name):
                    bad.append(f'{path}:{number}: "{name}" is no file of the project')
            elif not allowed(path, target, layer):
                bad.append(f"{path}:{number}: {layer} may not include {target}")
    return bad


def check_sizes(files):
    count, bad = {}, []
    for path in files:
        if path.endswith((".c", ".h")) and path.split("/")[0] in ("userlib", "driver", "sim", "tools"):
            folder = os.path.dirname(path)
            count[folder] = count.get(folder, 0) + 1
    for folder, n in sorted(count.items()):
        if n > MOST_FILES and folder not in LARGE:
            bad.append(f"{folder}: {n} .c and .h files, above {MOST_FILES}: divide it")
    if len(LARGE) > MOST_LISTED:
        bad.append(f"tools/lint/layers.py: {len(LARGE)} large folders are listed, above {MOST_LISTED}")
    for folder in sorted(LARGE):
        if count.get(folder, 0) <= MOST_FILES:
            bad.append(f"tools/lint/layers.py: {folder} is listed as large and has {count.get(folder, 0)} files")
    return bad


def sources(root):
    """C and C++ files of the project's folders, generated ones in the tree included."""
    files = set()
    for top in ("include", "firmware", "driver", "sim", "userlib", "tools", "tests"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            files |= {os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith((".c", ".h", ".cc"))}
    return files


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    files = sources(root)
    bad = check_includes(root, files) + check_sizes(files)
    for line in bad:
        print(line)
    if not bad:
        print(f"{len(files)} files include only what their layer may")
    return 1 if bad else 0


sys.exit(main())
