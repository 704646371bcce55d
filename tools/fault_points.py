#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the simulator of a build with fault points can be disturbed.

fault_points.py DIR PREFIX: reads what Verilator wrote of the design and prints a line of
C++ for each place: what sim/rtl/fault.vlt made forceable, as far as anything depends on
it, and the arrays named below.
"""
import glob
import re
import sys

# Arrays that only clocked processes read, or that fault.vlt names: a bit that is
# changed after a clock edge is what everybody sees. (path, names, bits that exist)
ARRAYS = [
    (r"u_array", r"(skew|op)_(a|w|ax|wx)|acc_lo|shadow_lo|shadow_hi", None),
    (r"u_array", r"acc_hi", 16),
    (r"u_array", r"(shadow_)?state", 2),
    (r"u_ram", r"mem", None),
    (r"u_(order|beats|addr|data|out|reply)", r"mem", None),    # queues of the DMA
    (r"u_sp", r"bank_rdata", None),
    (r"u_post", r"value|value_hi|factor|shift1|prod|shift2|negative|shifted|state[123]|minus[123]|bias[123]"
                r"|below3|excess3|[qrt]_buf_q|info_buf_q|wr_data_q|wr_info_q", None),
]
MEMBER = re.compile(r"^\s*(.*?)/\*(\d+):0\*/(.*?)\s(\w+);$")


def pretty(name):
    name = re.sub(r"__BRA__(\d+)__KET__", r"[\1]", name.split("weft_npu__DOT__", 1)[1])
    return name.replace("__DOT__", ".").replace("]__.", "].")


def used(directory):
    """Forceable names that something reads after the start."""
    names = set()
    for file in glob.glob(f"{directory}/*.cpp"):
        if "Slow" not in file and "Trace" not in file:
            names.update(re.findall(r"(\w+)__VforceVal", open(file).read()))
    return names


def main():
    directory, prefix = sys.argv[1:]
    members = {}
    for line in open(f"{directory}/{prefix}___024root.h"):
        m = MEMBER.match(line)
        if m and "weft_npu__DOT__" in m.group(4):
            members[m.group(4)] = (m.group(1), int(m.group(2)) + 1, m.group(3))
    live = used(directory)
    for name, (kind, bits, tail) in members.items():
        wire = name.removesuffix("__VforceEn")
        if wire != name:
            if wire in live:
                sig = f"&r->{wire}" if wire in members else "nullptr"
                print(f'FORCE("{pretty(wire)}", {bits}, {sig}, &r->{name}, &r->{wire}__VforceVal)')
        elif kind.startswith("VlUnpacked") and "__Vdly" not in name:
            path, _, last = name.rpartition("__DOT__")
            for where, what, limit in ARRAYS:
                if path.split("__DOT__")[-1] == where and re.fullmatch(what, last):
                    print(f'ARRAY("{pretty(name)}", {limit or bits}, r->{name})')
            if path.endswith("u_ram") and last == "mem":
                print(f'ADDRESS("{pretty(path)}.addr_i", r->{name})')


main()
