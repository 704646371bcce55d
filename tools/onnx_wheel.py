#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's node tests out of the wheel that PyPI has of the package onnx.

    tools/onnx_wheel.py FOLDER

FOLDER gets the wheel, by pip download, and node/<test>/... from it. What is there
already is kept. Exit status 1 if there is no wheel to be had.
"""
import glob
import os
import subprocess
import sys
import zipfile

VERSION = "1.18.0"
INSIDE = "onnx/backend/test/data/node/"


def download(folder):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--disable-pip-version-check",
               "--dest", folder, f"onnx=={VERSION}"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def main():
    folder = sys.argv[1]
    node = os.path.join(folder, "node")
    if os.path.isdir(node):
        return 0
    os.makedirs(folder, exist_ok=True)
    pattern = os.path.join(folder, f"onnx-{VERSION}-*.whl")
    if not glob.glob(pattern) and not download(folder):
        print(f"onnx_wheel.py: pip cannot download onnx=={VERSION}", file=sys.stderr)
        return 1
    partial = f"{node}.{os.getpid()}"
    with zipfile.ZipFile(glob.glob(pattern)[0]) as wheel:
        for name in wheel.namelist():
            if not name.startswith(INSIDE) or name.endswith("/"):
                continue
            path = os.path.join(partial, name[len(INSIDE):])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(wheel.read(name))
    os.rename(partial, node)
    return 0


if __name__ == "__main__":
    sys.exit(main())
