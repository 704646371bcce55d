#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prove that the maps of this folder compute what they replace (Yosys, SAT).

    prove.py DIR

For each case a module is mapped to cells of an ECP5 and compared with itself unmapped, for all
inputs and whatever comes into the first cell of a chain of carries. Files go to DIR. Prints a
line for each case; exit status 0, or 1 where one differs or Yosys fails.
"""
import os
import subprocess
import sys

# Of a and b, signed and not, and the bit s.
SUMS = ("a + b", "a - b", "a + b + s", "s ? a - b : a + b", "a + 1", "-a", "a < b", "a <= b", "a > b", "a >= b", "a < 11",
        "$signed(a) < $signed(b)", "$signed(a) <= $signed(b)", "$signed(a) > $signed(b)", "$signed(a) >= $signed(b)")
SUM_WIDTHS = (5, 6, 7, 8)
# Widths of a and b. The widest product is too much for a solver: there b is one of some values.
PRODUCTS = ((4, 9, None), (9, 4, None)) + tuple((9, 9, b) for b in (-256, -255, -86, -1, 0, 1, 85, 170, 254, 255))

FRONT = """
read_verilog {dir}/{name}.v
hierarchy -top top
proc
flatten
design -stash plain
read_verilog {dir}/{name}.v
read_verilog -lib +/ecp5/cells_sim.v
hierarchy -top top
proc
"""
BACK = """
select -assert-min {least} t:{cell}
read_verilog -overwrite +/ecp5/cells_sim.v
hierarchy -top top
proc
flatten
setundef -undriven -anyseq
setundef -anyseq
opt_clean
design -stash mapped
design -copy-from plain -as gold top
design -copy-from mapped -as gate top
miter -equiv -flatten -make_outputs gold gate both
sat -verify -prove trigger 0 both
"""
MAP_SUMS = """
techmap -map tools/board/compare.v
techmap -map +/cmp2lut.v -D LUT_WIDTH=4
alumacc
opt_expr
techmap -map tools/board/ecp5_arith.v -map +/techmap.v
"""
MAP_PRODUCT = """
techmap -map tools/board/ecp5_mul.v t:$mul a:fabric %i
select -assert-count 0 t:$mul
"""
# Selectors: one of each of these numbers of bits.
CHOICES = (4, 8, 16)
MAP_CHOICE = """
techmap
opt -fast
muxcover -nodecode -mux4=210 -mux8=430
techmap -map tools/board/ecp5_mux.v
select -assert-none t:$_MUX4_ t:$_MUX8_
"""


def prove(folder, name, verilog, commands, cell=("CCU2C", 6)):
    """Run one case; True where nothing differs. cell: what the map has to make, and how many at least."""
    with open(f"{folder}/{name}.v", "w") as file:
        file.write(verilog)
    with open(f"{folder}/{name}.ys", "w") as file:
        file.write(FRONT.format(dir=folder, name=name) + commands + BACK.format(cell=cell[0], least=cell[1]))
    run = subprocess.run(["yosys", "-q", f"{folder}/{name}.ys"], capture_output=True, text=True, check=False)
    print(f"  {'PROVED' if run.returncode == 0 else 'FAILED':7s} {name}", flush=True)
    if run.returncode:
        print(run.stdout[-400:] + run.stderr[-400:], file=sys.stderr)
    return run.returncode == 0


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    good = True
    for width in SUM_WIDTHS:
        wires = "".join(f"  wire [{width}:0] y{i} = {sum_};\n  assign y[{i * (width + 1)} +: {width + 1}] = y{i};\n"
                        for i, sum_ in enumerate(SUMS))
        good &= prove(folder, f"sums_{width}", f"module top(input [{width - 1}:0] a, b, input s, "
                      f"output [{(width + 1) * len(SUMS) - 1}:0] y);\n{wires}endmodule\n", MAP_SUMS)
    for a, b, value in PRODUCTS:
        at = "b" if value is None else f"$signed({b}'d{value % 2**b})"
        # The value comes behind the map, so that all of the map is there.
        inside = f"module product(input signed [{a - 1}:0] a, input signed [{b - 1}:0] b, output signed [17:0] y);\n" \
                 "  assign y = a * (* fabric *) b;\nendmodule\n"
        good &= prove(folder, f"product_{a}_{b}" + ("" if value is None else f"_{value % 2**b}"),
                      f"{inside}module top(input signed [{a - 1}:0] a, input signed [{b - 1}:0] b, output signed [17:0] y);\n"
                      f"  product p(.a(a), .b({at}), .y(y));\nendmodule\n", MAP_PRODUCT)
    for ways in CHOICES:
        bits = ways.bit_length() - 1
        good &= prove(folder, f"select_{ways}", f"module top(input [{ways - 1}:0] a, input [{bits - 1}:0] s, output y);\n"
                      f"  assign y = a[s];\nendmodule\n", MAP_CHOICE, ("PFUMX", ways // 4))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
