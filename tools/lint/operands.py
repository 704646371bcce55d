#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the array systolic? Reads Yosys JSON of weft_array after `proc; opt`.

usage: operands.py ARRAY.json N

op_a[r*N+c] and op_w[r*N+c] are the operand registers of PE(r,c). Each bit may
feed the multiplier of its own PE and the register of one neighbour: op_a of
(r,c+1), op_w of (r+1,c). Nothing else, so no operand is broadcast.
"""
import json
import sys
from collections import defaultdict


def fail(text):
    print(f"operands: {text}", file=sys.stderr)
    sys.exit(1)


def main():
    if len(sys.argv) != 3:
        fail("usage: operands.py ARRAY.json N")
    n = int(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8") as f:
        module = json.load(f)["modules"]["weft_array"]
    cells = module["cells"]

    register = {}  # bit -> (operand, index)
    for operand in ("op_a", "op_w"):
        for i in range(n * n):
            net = module["netnames"].get(f"{operand}[{i}]")
            if net is None:
                fail(f"no net {operand}[{i}]")
            for bit in net["bits"]:
                if not isinstance(bit, int):
                    fail(f"{operand}[{i}] has a constant bit")
                if register.setdefault(bit, (operand, i)) != (operand, i):
                    fail(f"{operand}[{i}] shares a bit with {register[bit]}")

    readers = defaultdict(set)
    holds = {}  # flip-flop cell -> registers in its output
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                for bit in bits:
                    if bit in register:
                        readers[bit].add(name)
            elif cell["type"].startswith(("$dff", "$sdff", "$adff", "$aldff")):
                holds[name] = {register[b] for b in bits if b in register}
    for port in module["ports"].values():
        for bit in port["bits"]:
            if bit in register:
                fail(f"{register[bit]} is a port")

    multiplier = {}  # cell -> PE
    worst = 0
    for bit, (operand, i) in register.items():
        r, c = divmod(i, n)
        if operand == "op_a":
            next_reg = ("op_a", i + 1) if c + 1 < n else None
        else:
            next_reg = ("op_w", i + n) if r + 1 < n else None
        worst = max(worst, len(readers[bit]))
        for name in readers[bit]:
            kind = cells[name]["type"]
            if kind == "$mul":
                if multiplier.setdefault(name, i) != i:
                    fail(f"multiplier {name} takes operands of PE {multiplier[name]} and {i}")
            elif name in holds:
                if holds[name] != {next_reg}:
                    fail(f"{operand}[{i}] feeds register {holds[name]}, its neighbour is {next_reg}")
            else:
                fail(f"{operand}[{i}] (row {r}, column {c}) feeds {kind} {name}")
    if len(multiplier) != n * n:
        fail(f"{len(multiplier)} multipliers, expected {n * n}")
    if worst > 2:
        fail(f"an operand bit feeds {worst} cells")
    print(f"          {len(register)} operand bits of {n * n} PEs feed at most {worst} cells: "
          "own multiplier, one neighbour")


main()
