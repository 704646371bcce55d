#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the C++ that Verilator writes for --coverage-toggle small: fold_counts.py FOLDER

Verilator writes an `if` for each bit of each signal, and a call for each point's name. That is 211 MB for w8, which
clang had not compiled after 20 minutes. Here the bits of a word become one comparison, and the names a table. What is
counted stays the same, but that a point is 1 instead of the number of times that it was reached; statements
that do not look as expected stay as they are. Makefile runs it between Verilator and the compiler.
"""
import glob
import os
import re
import sys

MARK = "/* counts folded */\n"
HELPER = """
static void folded_toggles(std::atomic<uint32_t> *points, uint64_t changed)
{
    for (; changed; changed &= changed - 1)
        points[__builtin_ctzll(changed)].store(1, std::memory_order_relaxed);
}
struct FoldedPoint { uint32_t n; const char *file; int line, column; const char *hier, *page, *comment, *lines; };
"""
ADD = "fetch_add(1, std::memory_order_relaxed)"
TOGGLE = re.compile(r"    if \(([^;{}]*?__Vtogcov__[^;{}]*?)\) \{\s+vlSymsp->__Vcoverage\[(\d+)\]\." + re.escape(ADD) +
                    r";\s+([^;{}]*?);\s+\}\n")
POINT = re.compile(r'\s+vlSelf->__vlCoverInsert\(&\(vlSymsp->__Vcoverage\[(\d+)\]\), first, ((?:"[^"]*"|[^";])*)\);\n')
# What changed, of a word of at most 32 bits and of one of up to 64, without blanks.
WORD = re.compile(r"\(0x([0-9a-f]+)U&\((.*)\)\)|\(([0-9]+)U&\((.*)\)\)")
LONG = re.compile(r"\(IData\)\(\((.*)>>(0x[0-9a-f]+|\d+)U\)\)\^\(IData\)\(\((.*)>>(0x[0-9a-f]+|\d+)U\)\)")
CAST = re.compile(r"\(IData\)\(\((.*)\)\)|\(IData\)\((.*)\)")


def bare(text):
    cast = CAST.fullmatch(text)
    return (cast[1] or cast[2]) if cast else text


def bit_of(condition, assignment):
    """(signal, its last value, number of the bit) of a comparison of one bit; None: it is another kind of comparison."""
    word = WORD.fullmatch("".join(condition.split()))
    if not word:
        return None
    mask, text = (int(word[1], 16), word[2]) if word[1] else (int(word[3]), word[4])
    if mask & (mask - 1) or text.count("^") != 1:
        return None
    wide = LONG.fullmatch(text)
    if wide and wide[2] == wide[4] and mask == 1:
        now, last, bit = wide[1], wide[3], int(wide[2], 0)
    else:
        now, last = (bare(t) for t in text.split("^"))
        bit = mask.bit_length() - 1
    plain = re.compile(r"vlSelf->\w+(\[(0x[0-9a-f]+|\d+)U\])*")
    if not plain.fullmatch(now) or not plain.fullmatch(last) or not "".join(assignment.split()).startswith(last + "="):
        return None
    return now, last, bit


def fold_toggles(text):
    """Each run of comparisons of consecutive bits of a signal, whose points are consecutive, becomes one."""
    out, at, run = [], 0, None

    def flush():
        if run:
            now, last, bit, point, n = run
            mask = f"{((1 << n) - 1) << bit:#x}ULL"
            out.append(f"    if (const uint64_t changed = ({now} ^ {last}) & {mask}) {{\n"
                       f"        folded_toggles(&vlSymsp->__Vcoverage[{point}], changed >> {bit});\n"
                       f"        {last} ^= static_cast<decltype({now} + 0)>(changed);\n    }}\n")

    for found in TOGGLE.finditer(text):
        bit = bit_of(found[1], found[3])
        follows = run and bit and found.start() == at and list(bit[:2]) == run[:2] and bit[2] == run[2] + run[4] and int(found[2]) == run[3] + run[4]
        if follows:
            run[4] += 1
        else:
            flush()
            run = None
            out.append(text[at:found.start()])
            if bit:
                run = [*bit, int(found[2]), 1]
            else:
                out.append(found[0])
        at = found.end()
    flush()
    out.append(text[at:])
    return "".join(out)


def fold_points(text):
    """Each run of calls that name points becomes a table and a loop."""
    out, at, rows = [], 0, []

    def flush():
        if rows:
            out.append("\n    {\n    static const FoldedPoint points[] = {\n" + "".join(rows) + "    };\n"
                       "    for (const FoldedPoint &p : points)\n"
                       "        vlSelf->__vlCoverInsert(&(vlSymsp->__Vcoverage[p.n]), first, p.file, p.line, p.column, p.hier, p.page, p.comment, p.lines);\n"
                       "    }\n")
            rows.clear()

    for found in POINT.finditer(text):
        if found.start() != at:
            flush()
            out.append(text[at:found.start()])
        rows.append(f"{{{found[1]}, {found[2]}}},\n")
        at = found.end()
    flush()
    out.append(text[at:])
    return "".join(out)


def fold(path):
    text = open(path).read()
    if text.startswith(MARK) or "__Vcoverage[" not in text:
        return
    head = re.search(r'(?:#include [^\n]*\n)(?!.*#include )', text, re.S)
    folded = fold_points(fold_toggles(text[head.end():])).replace(ADD, "store(1, std::memory_order_relaxed)")
    with open(path + ".part", "w") as out:
        out.write(MARK + text[:head.end()] + HELPER + folded)
    os.replace(path + ".part", path)


if __name__ == "__main__":
    for name in glob.glob(os.path.join(sys.argv[1], "*.cpp")):
        fold(name)
