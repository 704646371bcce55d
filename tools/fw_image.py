#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make what goes into the chip out of what the linker made.

    tools/fw_image.py image MAIN.bin OUT.img VERSION   firmware image with its header
    tools/fw_image.py hex BOOT.bin OUT.hex             one 32-bit word a line, for $readmemh

VERSION is major.minor.patch. Layout: [struct.image] of include/spec/chip.toml.
"""
import os
import re
import struct
import sys
import tomllib
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def spec(name):
    with open(os.path.join(ROOT, "include", "spec", name), "rb") as f:
        return tomllib.load(f)


def version_word(table):
    return table["major"] << 16 | table["minor"]


def layout(name):
    """A constant of firmware/layout.h."""
    with open(os.path.join(ROOT, "firmware", "layout.h"), encoding="utf-8") as f:
        return int(re.search(rf"#define {name} +(0x[0-9a-f]+)", f.read())[1], 16)


def padded(path):
    with open(path, "rb") as f:
        data = f.read()
    return data + bytes(-len(data) % 4)


def image(source, target, version):
    chip, code = spec("chip.toml"), padded(source)
    const = chip["struct_const"]
    major, minor, patch = map(int, version.split("."))
    load = layout("RAM_IMAGE")
    words = [const["IMAGE_MAGIC"]["value"], const["IMAGE_VERSION"]["value"], len(code), load, load,
             major << 16 | minor << 8 | patch, version_word(chip["version"]),
             version_word(spec("msg.toml")["version"])] + [0] * 6 + [zlib.crc32(code)]
    header = struct.pack(f"<{len(words)}I", *words)
    with open(target, "wb") as f:
        f.write(header + struct.pack("<I", zlib.crc32(header)) + code)


def hex_file(source, target):
    code = padded(source)
    with open(target, "w", encoding="utf-8") as f:
        f.writelines(f"{w:08x}\n" for (w,) in struct.iter_unpack("<I", code))


def main(args):
    if len(args) == 4 and args[0] == "image":
        image(*args[1:])
    elif len(args) == 3 and args[0] == "hex":
        hex_file(*args[1:])
    else:
        print("usage: tools/fw_image.py image MAIN.bin OUT.img VERSION | hex BOOT.bin OUT.hex", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
