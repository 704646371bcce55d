#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""QLinearConv over its options, every pair of them, against rational numbers.

usage: qlinear_pairs.py COUNT SEED FILE

Each case is a choice for every option below. Cases are picked so that each pair
of choices of two options occurs as early as possible; once all have, the count
begins anew. What a case has to give is computed here from ONNX's definition
alone, in integers:

  y = clip(round(sum of (x - x_zp) (w - w_zp), plus b, times x_scale w_scale / y_scale) + y_zp)

with the exact quotient of float32 scales, ties to even. Standard library only.

FILE holds, all little-endian: "QLP1", the count of cases, and for each case four
blocks of 32-bit length and bytes: what it is, the model, its inputs (count, then
name and bytes of each, as blocks), the output.
"""

import itertools
import os
import struct
import sys
from random import Random

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "train"))
import onnx_writer as onnx                      # noqa: E402

OPTIONS = {
    "dims": [1, 2, 3],
    "x_type": ["int8", "uint8"],
    "w_type": ["int8", "uint8"],
    "y_type": ["int8", "uint8"],
    "x_zp": ["zero", "least", "greatest", "odd"],
    "y_zp": ["zero", "least", "greatest", "odd"],
    "w_zp": ["zero", "middle", "odd", "by channel", "by channel, zero", "by channel, far apart"],
    "w_scale": ["one", "by channel"],
    "one": ["rank 0", "rank 1"],                # how single numbers are written
    "scales": ["any", "powers of two", "few bits", "saturating", "vanishing"],
    "bias": ["none", "small", "large"],
    "auto_pad": ["absent", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"],
    "pads": ["absent", "zero", "even", "uneven", "beyond the kernel"],
    "strides": ["absent", "1", "2", "3", "mixed"],
    "dilations": ["absent", "1", "2", "mixed"],
    "group": ["one", "two", "depthwise", "depthwise, two each", "three"],
    "kernel": ["1", "2", "3", "mixed"],
    "kernel_shape": ["given", "inferred"],
    "channels": ["few", "16", "17"],
    "batch": [1, 2],
    "operands": ["constant", "constant, listed as inputs", "inputs", "weights constant"],
    "extent": ["fits", "more", "least"],
    "opset": [10, 13, 25],
}
NAMES = list(OPTIONS)
LOW = {"int8": -128, "uint8": 0}
CODE = {"int8": onnx.INT8, "uint8": onnx.UINT8}


def pairs_of(case):
    return itertools.combinations([(n, case[n]) for n in NAMES], 2)


def all_pairs():
    return {((a, x), (b, y)) for a, b in itertools.combinations(NAMES, 2) for x in OPTIONS[a] for y in OPTIONS[b]}


def complete(random, left, case):
    """Fills in what the case leaves open, each choice the one with most pairs left."""
    for name in random.sample(NAMES, len(NAMES)):
        if name in case:
            continue
        best, best_score = [], -1
        for choice in OPTIONS[name]:
            score = sum(((name, choice), (n, v)) in left or ((n, v), (name, choice)) in left for n, v in case.items())
            if score > best_score:
                best, best_score = [choice], score
            elif score == best_score:
                best.append(choice)
        case[name] = random.choice(best)
    return case


def cases(random, count):
    left = all_pairs()
    order = sorted(left, key=str)
    for _ in range(count):
        if not left:
            left = all_pairs()
        start = next((p for p in random.sample(order, 40) if p in left), None) or min(left, key=str)
        case = complete(random, left, dict(start))
        left.difference_update(pairs_of(case))
        left.difference_update((b, a) for a, b in pairs_of(case))
        yield case


# ---- a case's numbers ----

def float32(v):
    return struct.unpack("<f", struct.pack("<f", v))[0]


def scale(random, kind):
    if kind == "powers of two":
        return 2.0 ** random.randint(-4, 1)
    if kind == "few bits":
        return random.choice([1.0, 1.5, 1.25, 1.75, 0.75]) * 2.0 ** random.randint(-3, 0)
    return float32(random.uniform(0.002, 1.5))


def zero_point(random, kind, dtype):
    low = LOW[dtype]
    return {"zero": 0, "least": low, "greatest": low + 255, "middle": low + 128, "odd": low + random.randint(1, 254)}[kind]


def weight_zero_points(random, case, channels):
    kind, dtype = case["w_zp"], case["w_type"]
    low = LOW[dtype]
    if not kind.startswith("by channel"):
        return [zero_point(random, kind, dtype)]
    if kind.endswith("zero"):
        return [low + 128] * channels
    if kind.endswith("apart"):
        return [random.choice([low, low + 255, low + 128]) for _ in range(channels)]
    return [low + 128 + random.randint(-20, 20) for _ in range(channels)]


class Geometry:
    """Extents and windows; what the attributes say, and what they mean."""

    def __init__(self, random, case):
        n = self.n = case["dims"]
        self.attributes = {}
        self.kernel = [{"1": 1, "2": 2, "3": 3}.get(case["kernel"]) or random.randint(1, 3) for _ in range(n)]
        self.stride = self.list(random, case, "strides", 3)
        self.dilation = self.list(random, case, "dilations", 2)
        if case["kernel_shape"] == "given":
            self.attributes["kernel_shape"] = self.kernel
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)]
        auto = case["auto_pad"]
        if auto != "absent":
            self.attributes["auto_pad"] = auto
        self.before, self.after = [0] * n, [0] * n
        if case["pads"] != "absent" and auto in ("absent", "NOTSET"):
            self.pads(random, case["pads"], reach)
        most = {1: 12, 2: 7, 3: 4}[n]
        self.extent = []
        for i in range(n):
            least = max(1, reach[i] - self.before[i] - self.after[i])
            if auto.startswith("SAME"):
                least = 1
            self.extent.append({"least": least, "fits": least + self.stride[i] * random.randint(0, 2),
                                "more": max(least, random.randint(1, most))}[case["extent"]])
        self.out = []
        for i in range(n):
            if auto.startswith("SAME"):
                out = -(-self.extent[i] // self.stride[i])
                total = max((out - 1) * self.stride[i] + reach[i] - self.extent[i], 0)
                small, large = total // 2, total - total // 2
                self.before[i], self.after[i] = (small, large) if auto == "SAME_UPPER" else (large, small)
            else:
                out = (self.extent[i] + self.before[i] + self.after[i] - reach[i]) // self.stride[i] + 1
            self.out.append(out)

    def list(self, random, case, name, most):
        kind = case[name]
        values = [random.randint(1, most) if kind == "mixed" else 1 if kind == "absent" else int(kind) for _ in range(self.n)]
        if kind != "absent":
            self.attributes[name] = values
        return values

    def pads(self, random, kind, reach):
        for i in range(self.n):
            if kind == "even":
                self.before[i] = self.after[i] = random.randint(0, reach[i] - 1)
            elif kind == "uneven":
                self.before[i], self.after[i] = random.randint(0, reach[i] - 1), random.randint(0, reach[i] - 1)
            elif kind == "beyond the kernel":
                self.before[i], self.after[i] = reach[i] + random.randint(0, 1), random.randint(0, reach[i] + 1)
        self.attributes["pads"] = self.before + self.after


def channels_of(random, case):
    """(groups, input channels of a group, output channels of a group)"""
    most = {"few": 4, "16": 16, "17": 17}[case["channels"]]
    if case["group"] == "one":
        return 1, most if most > 4 else random.randint(1, 4), random.randint(1, most)
    if case["group"] == "depthwise":
        return most, 1, 1
    if case["group"] == "depthwise, two each":
        return most, 1, 2
    groups = 2 if case["group"] == "two" else 3
    return groups, random.randint(1, max(1, most // groups)), random.randint(1, 3)


# ---- the definition ----

def windows(g, at, values, zp):
    """x - x_zp under each window of one channel, by output element: lists of K, 0 in the padding."""
    strides = [1] * g.n
    for i in range(g.n - 2, -1, -1):
        strides[i] = strides[i + 1] * g.extent[i + 1]
    taps = list(itertools.product(*[range(k) for k in g.kernel]))
    for out in itertools.product(*[range(o) for o in g.out]):
        row = []
        for tap in taps:
            p = at
            for i in range(g.n):
                pos = out[i] * g.stride[i] - g.before[i] + tap[i] * g.dilation[i]
                if not 0 <= pos < g.extent[i]:
                    p = -1
                    break
                p += pos * strides[i]
            row.append(0 if p < 0 else values[p] - zp)
        yield row


def round_half_even(num, den):
    q, rest = divmod(num, den)
    return q + (2 * rest > den or (2 * rest == den and q & 1))


def ratio(v):
    return v.as_integer_ratio()


def convolve(case, g, v):
    groups, icg, ocg = v["groups"]
    area = 1
    for e in g.extent:
        area *= e
    taps = len(v["w"]) // (groups * ocg * icg)
    low = LOW[case["y_type"]]
    result = []
    (xn, xd), (yn, yd) = ratio(v["x_scale"]), ratio(v["y_scale"])
    for b in range(case["batch"]):
        for group in range(groups):
            rows = [list(windows(g, ((b * groups + group) * icg + i) * area, v["x"], v["x_zp"])) for i in range(icg)]
            for o in range(group * ocg, group * ocg + ocg):
                wn, wd = ratio(v["w_scale"][o % len(v["w_scale"])])
                zp = v["w_zp"][o % len(v["w_zp"])]
                weights = [[c - zp for c in v["w"][(o * icg + i) * taps:(o * icg + i + 1) * taps]] for i in range(icg)]
                num, den = xn * wn * yd, xd * wd * yn
                for e in range(len(rows[0])):
                    total = v["b"][o] if v["b"] else 0
                    for i in range(icg):
                        total += sum(a * c for a, c in zip(rows[i][e], weights[i]))
                    result.append(min(max(round_half_even(total * num, den) + v["y_zp"], low), low + 255))
    return result


# ---- the file ----

def small(dtype, values):
    return struct.pack("<%d%s" % (len(values), "b" if dtype == "int8" else "B"), *values)


def build(case, g, v):
    """Model and inputs, by the names of the operands."""
    groups, icg, ocg = v["groups"]
    graph = onnx.Graph("qlinear")
    one = [] if case["one"] == "rank 0" else [1]
    channels = [groups * ocg]
    operands = [
        ("x", CODE[case["x_type"]], [case["batch"], groups * icg] + g.extent, small(case["x_type"], v["x"])),
        ("x_scale", onnx.FLOAT, one, struct.pack("<f", v["x_scale"])),
        ("x_zp", CODE[case["x_type"]], one, small(case["x_type"], [v["x_zp"]])),
        ("w", CODE[case["w_type"]], [groups * ocg, icg] + g.kernel, small(case["w_type"], v["w"])),
        ("w_scale", onnx.FLOAT, channels if case["w_scale"] == "by channel" else one,
         struct.pack("<%df" % len(v["w_scale"]), *v["w_scale"])),
        ("w_zp", CODE[case["w_type"]], channels if case["w_zp"].startswith("by channel") else one, small(case["w_type"], v["w_zp"])),
        ("y_scale", onnx.FLOAT, one, struct.pack("<f", v["y_scale"])),
        ("y_zp", CODE[case["y_type"]], one, small(case["y_type"], [v["y_zp"]])),
    ]
    if v["b"]:
        operands.append(("b", onnx.INT32, channels, struct.pack("<%di" % len(v["b"]), *v["b"])))
    inputs = []
    for name, dtype, shape, data in operands:
        constant = case["operands"].startswith("constant") or (case["operands"] == "weights constant" and name in ("w", "b", "w_zp", "w_scale"))
        if name != "x" and constant:
            graph.add_constant(name, dtype, shape, data)
            if case["operands"].endswith("listed as inputs"):   # as files before IR version 4 have it
                graph.add_input(name, dtype, shape)
        else:
            graph.add_input(name, dtype, shape)
            inputs.append((name, data))
    attributes = dict(g.attributes)
    if groups > 1:
        attributes["group"] = groups
    graph.add_node("QLinearConv", [o[0] for o in operands], "y", **attributes)
    graph.add_output("y", CODE[case["y_type"]], [case["batch"], groups * ocg] + g.out)
    return graph.to_bytes(case["opset"]), inputs


def numbers(random, case, g):
    groups, icg, ocg = channels_of(random, case)
    area = taps = 1
    for e, k in zip(g.extent, g.kernel):
        area, taps = area * e, taps * k
    n_w = groups * ocg
    v = {"groups": (groups, icg, ocg)}
    v["x"] = [LOW[case["x_type"]] + random.randint(0, 255) for _ in range(case["batch"] * groups * icg * area)]
    v["w"] = [LOW[case["w_type"]] + random.randint(0, 255) for _ in range(n_w * icg * taps)]
    v["x_zp"], v["y_zp"] = (zero_point(random, case[t + "_zp"], case[t + "_type"]) for t in "xy")
    v["w_zp"] = weight_zero_points(random, case, n_w)
    count = n_w if case["w_scale"] == "by channel" else 1
    v["x_scale"] = scale(random, case["scales"])
    v["w_scale"] = [scale(random, case["scales"]) for _ in range(count)]
    spread = 2.0 ** (random.randint(5, 9) + (2 if icg * taps > 30 else 0))
    factor = {"saturating": 0.01, "vanishing": 2.0 ** 22}.get(case["scales"], spread)
    v["y_scale"] = float32(scale(random, case["scales"]) * factor)
    most = {"none": 0, "small": 3000, "large": 1 << 22}[case["bias"]]
    v["b"] = [random.randint(-most, most) for _ in range(n_w)] if most else None
    return v


def block(data):
    return struct.pack("<I", len(data)) + data


def main(count, seed, path):
    random = Random(seed)
    out = []
    for case in cases(random, count):
        g = Geometry(random, case)
        v = numbers(random, case, g)
        model, inputs = build(case, g, v)
        what = ", ".join("%s %s" % (n, case[n]) for n in NAMES).encode()
        listed = struct.pack("<I", len(inputs)) + b"".join(block(n.encode()) + block(d) for n, d in inputs)
        out.append(block(what) + block(model) + block(listed) + block(small(case["y_type"], convolve(case, g, v))))
    with open(path, "wb") as f:
        f.write(b"QLP1" + struct.pack("<I", count) + b"".join(out))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
