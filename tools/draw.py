#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw ten functions of userlib at random and show their comments without their code.

    tools/draw.py SEED            the comments, declarations and files
    tools/draw.py SEED --code     the same functions with their code

Whoever did not write them says from the comment alone what each function does,
then looks at the code. A comment that led astray is a defect.

Functions of at most three lines are not drawn: their names say it all.
"""
import pathlib
import random
import re
import sys

HEAD = re.compile(r"^[A-Za-z_][\w\s\*]*?\b(\w+)\([^;{]*\)\n\{\n", re.M)


def comment_before(text, at):
    """The comment that ends right before position at, or the empty string.

    A remark behind a declaration on the line above belongs to that declaration, and a banner
    between sections (---- file.c ----) to nothing.
    """
    before = text[:at].rstrip(" \t")
    if not before.endswith("*/\n"):
        return ""
    start = before.rindex("/*")
    comment = before[start:].strip()
    begins_line = not before[before.rfind("\n", 0, start) + 1:start].strip()
    return comment if begins_line and "----" not in comment else ""


def functions(path):
    """(name, declaration, comment, body) of each function defined in the file."""
    text = path.read_text()
    for m in HEAD.finditer(text):
        end = text.index("\n}\n", m.end() - 1) + 2
        yield m.group(1), text[m.start():m.end() - 3], comment_before(text, m.start()), text[m.start():end]


def declared_comment(name, headers):
    """The comment above the function's declaration in a header, where its definition has none."""
    for text in headers:
        # A comment above may name the function, too; what counts is the declaration.
        for m in re.finditer(r"^[A-Za-z_][^\n;]*\b%s\([^;{]*\)[^;{]*;" % re.escape(name), text, re.M):
            comment = comment_before(text, m.start())
            if comment:
                return comment
    return ""


def main():
    args = [a for a in sys.argv[1:] if a != "--code"]
    if len(args) != 1 or not args[0].isdigit():
        sys.exit("usage: draw.py SEED [--code]")
    root = pathlib.Path(__file__).resolve().parent.parent
    files = sorted((root / "userlib").rglob("*.c"))
    headers = [p.read_text() for d in ("userlib", "include") for p in sorted((root / d).rglob("*.h"))]
    drawable = [(p, f) for p in files for f in functions(p) if f[3].count("\n") > 6]
    for path, (name, declaration, comment, body) in random.Random(int(args[0])).sample(drawable, 10):
        comment = comment or declared_comment(name, headers) or "(no comment)"
        print("=== %s" % path.relative_to(root))
        print(comment)
        print(body if "--code" in sys.argv else declaration)
        print()


if __name__ == "__main__":
    main()
