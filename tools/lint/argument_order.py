#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No call may have two arguments that add to a graph, and no initialiser two such elements.

    tools/lint/argument_order.py [FILE.c ...]     exit status 1 and a line for each violation

The project's files are checked, and FILE.c as well.

C leaves open in which order a call's arguments are evaluated: gcc begins with the last one, clang with the first. If two of
them add tensors or operators, the graph's order, and with it the program, depends on the compiler. A function counts as
adding if it calls weft_graph_tensor(), weft_graph_op() or a function that counts. C leaves the order of an initialiser's elements
open as well.
"""
import os
import re
import sys

import must_use

ADDS = {"weft_graph_tensor", "weft_graph_op"}
NO_CODE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def that_add(bodies):
    """The keys (must_use.key_of()) of all functions that add to a graph."""
    keys, more = set(), set(ADDS)
    while more - keys:
        keys |= more
        more |= {key for key, several in bodies.items() for body in several if body.calls & keys}
    return keys


def parts_of(text, begin):
    """What commas separate between a bracket, which ends in front of `begin`, and the bracket that closes it."""
    at, depth, parts = begin, 1, []
    while at < len(text) and depth:
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 or (depth == 1 and text[at] == ","):
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return parts


def lists_of(text):
    """Yields the offset, a name and the parts of each call and initialiser in a text without comments and strings."""
    for m in re.finditer(r"\b(\w+)\(|\{", text):
        parts = parts_of(text, m.end())
        if m.group(1) and m.group(1) not in ("if", "while", "for", "switch"):
            yield m.start(), m.group(1) + "()", parts
        # Braces around statements have a semicolon between them.
        elif not m.group(1) and not any(";" in p for p in parts):
            yield m.start(), "an initialiser", parts


def main():
    texts = {f: NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), open(os.path.join(must_use.ROOT, f)).read())
             for f in must_use.sources() + [os.path.abspath(f) for f in sys.argv[1:]]}
    adding = that_add(must_use.bodies_of(texts))
    bad = []
    for path, text in texts.items():
        # A static function is known by its file; a name without a file is seen by all.
        known = {must_use.name_of(key) for key in adding if ":" not in key or key.startswith(path + ":")}
        for at, name, parts in lists_of(text):
            inner = [[n for n in re.findall(r"\b(\w+)\(", a) if n in known] for a in parts]
            inner = [names[0] for names in inner if names]
            if len(inner) > 1:
                bad.append(f"{path}:{text.count(chr(10), 0, at) + 1}: {name} evaluates {' and '.join(n + '()' for n in inner)} in an order that C leaves open")
    print("\n".join(bad + [f"{len(adding)} functions that add to a graph: {len(bad)} calls and initialisers with two of them"]))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
