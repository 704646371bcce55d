#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts large clocked processes of Yosys RTLIL into one process per signal.

usage: processes.py IN.il OUT.il

Yosys 0.23 takes proc_mux through the whole decision tree of a process for each
signal that it assigns, and proc_dff through all registers for each of them:
quadratic in the length of an always block, hours for hw/array. Here each signal
gets a process with the part of the tree that assigns it, and each register one
with its clock edge. In RTLIL the assignments of a process depend on each other's
order only where their left sides overlap, so the netlist is the same, cell for
cell. Names differ, to which mapping to LUTs is sensitive by about a percent.

Left as they are: processes with other than one clock edge (asynchronous resets),
those that write memories, and those too short to matter.
"""
import sys

SHORT = 200  # lines


class Case:
    def __init__(self, head):
        self.head = head      # lines: attributes and `case ...`
        self.actions = []     # (signals on the left, line)
        self.switches = []    # (lines: attributes and `switch ...`, cases)


def left_side(text):
    """Signals that `assign LEFT RIGHT` assigns."""
    signals = []
    depth = 0
    for token in text.split(" ")[1:]:
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif token[0] in "\\$":
            signals.append(token)
        elif token[0] != "[":
            raise ValueError(f"not a signal: {token}")
        # A range may follow, but no other token that belongs to the left side.
        if depth == 0:
            return signals
    raise ValueError(text)


def parse(lines):
    """Tree of the lines in front of the first `sync`, and the lines from there on."""
    root = Case([])
    open_cases = [root]
    attributes = []
    for at, line in enumerate(lines):
        line = line.strip()
        word = line.split(" ", 1)[0]
        if word == "sync":
            if len(open_cases) != 1:
                raise ValueError("sync inside a switch")
            return root, lines[at:]
        if word == "attribute":
            attributes.append(line)
        elif word == "assign":
            signals = left_side(line)
            if signals:
                open_cases[-1].actions.append((signals, line))
            attributes = []
        elif word == "switch":
            open_cases[-1].switches.append((attributes + [line], []))
            open_cases.append(None)  # replaced by its first case
            attributes = []
        elif word == "case":
            open_cases.pop()
            case = Case(attributes + [line])
            open_cases[-1].switches[-1][1].append(case)
            open_cases.append(case)
            attributes = []
        elif word == "end":
            open_cases.pop()
        else:
            raise ValueError(f"unknown: {line}")
    raise ValueError("no sync")


class Groups:
    """Signals that one assignment has together on its left side stay together."""

    def __init__(self):
        self.parent = {}

    def find(self, signal):
        parent = self.parent
        parent.setdefault(signal, signal)
        while parent[signal] != signal:
            parent[signal] = parent[parent[signal]]
            signal = parent[signal]
        return signal

    def join_all(self, case):
        for signals, _ in case.actions:
            for signal in signals:
                self.parent[self.find(signal)] = self.find(signals[0])
        for _, cases in case.switches:
            for inner in cases:
                self.join_all(inner)


def cut(case, groups):
    """Lines of a case by group; a switch keeps all its cases, in their order."""
    own = {}
    for signals, line in case.actions:
        own.setdefault(groups.find(signals[0]), []).append(line)
    for head, cases in case.switches:
        inner = [cut(c, groups) for c in cases]
        for group in dict.fromkeys(g for lines in inner for g in lines):
            lines = own.setdefault(group, [])
            lines += head
            for c, part in zip(cases, inner):
                lines += c.head
                lines += part.get(group, [])
            lines.append("end")
    return own


def updates(syncs):
    """Lines by register: what the edge does to it."""
    own = {}
    for line in syncs[1:]:
        own.setdefault(line.split()[1], [syncs[0]]).append(line)
    return own


def splits(body):
    syncs = [at for at, line in enumerate(body) if line.startswith("    sync ")]
    if len(body) < SHORT or len(syncs) != 1 or body[syncs[0]].split()[1] not in ("posedge", "negedge", "always"):
        return False
    return all(line.split()[0] == "update" for line in body[syncs[0] + 1:])


def split(head, body):
    root, syncs = parse(body)
    groups = Groups()
    groups.join_all(root)
    trees = list(cut(root, groups).values())
    out = []
    combinational = syncs[0].split()[1] == "always"
    if not combinational:
        trees += updates(syncs).values()
    for number, lines in enumerate(trees):
        out += [f"{head}${number}", *lines, "  end"]
    if combinational:
        out += ["  connect" + line.split("update", 1)[1] for line in syncs[1:]]
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: processes.py IN.il OUT.il")
    with open(sys.argv[1], encoding="utf-8") as f:
        lines = f.read().split("\n")
    out = []
    at = 0
    while at < len(lines):
        if not lines[at].startswith("  process "):
            out.append(lines[at])
            at += 1
            continue
        end = lines.index("  end", at)
        body = lines[at + 1:end]
        if splits(body):
            out += split(lines[at], body)
        else:
            out += lines[at:end + 1]
        at = end + 1
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(out))


if __name__ == "__main__":
    main()
