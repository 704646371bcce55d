#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages from what is already said elsewhere.

    tools/man.py BUILD OUT VERSION

Section 1 from the --help of BUILD/weft, of each of its commands and of
BUILD/weft-card and BUILD/weft-broker; section 3 from the comments of include/weft/*.h; section 7 from
docs/card.md. OUT gets man1/ man3/ man7/.
"""
import os
import re
import subprocess
import sys

HEADERS = {"weft": "weft.h", "weft_dev": "dev.h", "weft_convert": "convert.h",
           "weft_diag": "diag.h", "weft_admin": "admin.h", "weft_chip": "chip.h", "weft_popxl": "popxl.h", "weft_file": "file.h",
           "weft_npy": "npy.h", "weft_image": "image.h", "weft_golden": "golden.h", "weft_capture": "capture.h",
           "weft_replay": "replay.h", "weft_reduce": "reduce.h", "weft_conform": "conform.h", "weft_cards": "cards.h", "weft_custom": "custom.h"}

ENVIRONMENT = """\
WEFT_BROKER     the socket of the broker through which usb without a name goes, or none (weft_dev(3));
                default /run/weft/broker.sock where there is one
WEFT_CACHE      the folder in which run, info and accuracy keep compiled programs, or none;
                default $XDG_CACHE_HOME/weft, else ~/.cache/weft
TMPDIR          where bench --compile writes; default /tmp"""


def roff(text):
    """Text that stays as it is."""
    out = []
    for line in text.rstrip("\n").split("\n"):
        line = line.replace("\\", "\\e").replace("-", "\\-").replace("±", "\\(+-")
        out.append("\\&" + line if line[:1] in (".", "'") else line)
    return "\n".join(out)


def page(name, section, brief, parts, version):
    out = [f'.TH {name.upper().replace("-", chr(92) + "-")} {section} "" "weft {version}" "Weft"', ".SH NAME",
           f"{roff(name)} \\- {roff(brief)}"]
    for title, text, literal in parts:
        out.append(f".SH {title}")
        out.append(f".nf\n{roff(text)}\n.fi" if literal else roff(text))
    return "\n".join(out) + "\n"


def write(out, name, section, text):
    folder = os.path.join(out, f"man{section}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{name}.{section}"), "w", encoding="utf-8") as f:
        f.write(text)


def ask(program, *args):
    return subprocess.run([program, *args, "--help"], check=True, capture_output=True, text=True).stdout


def section_1(build, out, version):
    weft = ask(f"{build}/weft")
    commands = re.findall(r"^  (\w+) +(\S.*)$", weft, re.M)
    commands = [(n, b) for n, b in commands if n != "weft"]
    names = ", ".join(f"weft-{n}(1)" for n, _ in commands)
    usage, rest = weft.split("\n", 1)
    write(out, "weft", 1, page("weft", 1, "compile and run quantised networks on the Weft NPU", [
        ("SYNOPSIS", usage.removeprefix("usage: "), False), ("COMMANDS", rest.strip("\n"), True), ("ENVIRONMENT", ENVIRONMENT, True),
        ("SEE ALSO", f"{names}, weft-broker(1), weft(3), weft-card(7)", False)], version))
    for name, brief in commands:
        if name == "card":          # its page is that of weft-card, below
            continue
        usage, rest = ask(f"{build}/weft", name).split("\n", 1)
        write(out, f"weft-{name}", 1, page(f"weft-{name}", 1, brief, [
            ("SYNOPSIS", usage.removeprefix("usage: "), False), ("DESCRIPTION", rest.strip("\n"), True),
            ("SEE ALSO", "weft(1)", False)], version))
    usage, rest = ask(f"{build}/weft-card").split("\n", 1)
    write(out, "weft-card", 1, page("weft-card", 1, "a simulated Weft card on USB; the command weft card", [
        ("SYNOPSIS", usage.removeprefix("usage: "), False), ("DESCRIPTION", rest.strip("\n"), True),
        ('"THE COMMAND WEFT CARD"', ask(f"{build}/weft", "card").removeprefix("usage: ").strip("\n"), True),
        ("SEE ALSO", "weft(1), weft-card(7)", False)], version))
    usage, rest = ask(f"{build}/weft-broker").split("\n", 1)
    write(out, "weft-broker", 1, page("weft-broker", 1, "many processes use Weft cards at once", [
        ("SYNOPSIS", usage.removeprefix("usage: "), False), ("DESCRIPTION", rest.strip("\n"), True),
        ("SEE ALSO", "weft(1), weft-card(1), weft-card(7)", False)], version))


def comment(text):
    lines = [re.sub(r"^\s*(/\*+|\*/|\* ?)", "", line).removesuffix("*/").rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip("\n")


def section_3(out, version):
    for name, header in HEADERS.items():
        path = f"include/weft/{header}"
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            source = f.read()
        intro = comment(re.search(r"/\*\n.*?\*/", source, re.S).group(0))
        body = source[source.index('extern "C"'):].replace("WEFT_API ", "")
        body = body[body.index("#endif") + 6:body.rindex("#ifdef __cplusplus")]
        first, rest = (intro.split("\n", 1) + [""])[:2]
        brief = re.sub(r"^\w+: ", "", first).rstrip(".:")
        write(out, name, 3, page(name, 3, brief, [
            ("SYNOPSIS", f"#include <weft/{header}>\n\ncc ... $(pkg-config --cflags --libs weft)", True),
            ("DESCRIPTION", rest.strip("\n"), True), ("DECLARATIONS", body.strip("\n").expandtabs(4), True),
            ("SEE ALSO", "weft(1), weft(3), weft_dev(3), weft-card(7)", False)], version))


def section_7(out, version):
    with open("docs/card.md", encoding="utf-8") as f:
        chapters = re.split(r"^## ", f.read(), flags=re.M)
    parts = [("DESCRIPTION", re.sub(r"^# .*\n+", "", chapters[0]).strip("\n"), True)]
    for chapter in chapters[1:]:
        title, text = chapter.split("\n", 1)
        parts.append((f'"{title.upper()}"', text.strip("\n"), True))
    write(out, "weft-card", 7, page("weft-card", 7, "Weft cards: plugging in, simulating, what goes wrong", parts,
                                    version))


def main():
    build, out, version = sys.argv[1:4]
    section_1(build, out, version)
    section_3(out, version)
    section_7(out, version)


main()
