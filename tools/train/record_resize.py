#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what Resize of 8-bit integers gives.

usage: record_resize.py [file]        default: tests/models/onnx_resize.gz

Resize on integers, as QOperator files have it: ONNX Runtime's results. Between
DequantizeLinear and QuantizeLinear: the real number, rounded to nearest even, by
fractions of integers; ONNX Runtime without optimisations is asked too and may
differ by one where float32 meets a tie.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    /tmp/v/bin/python tools/train/record_resize.py

The file, gzip: "ONXRSIZE", then per case as record_nets.py has it, one run each.
"""

import gzip
import struct
import sys
import zlib
from fractions import Fraction
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h

OPSET = 19
TYPES = {"int8": (T.INT8, np.int8), "uint8": (T.UINT8, np.uint8)}


def model(kind, shape, to, sized, attrs, quant):
    """quant: scale and zero point before and behind, or None for Resize on the integers."""
    t = TYPES[kind][0]
    init, nodes = [], []
    data = "x"

    def scalars(name, scale, zp):
        init.append(h.make_tensor(name + "s", T.FLOAT, [], [scale]))
        init.append(h.make_tensor(name + "z", t, [], [zp]))
        return [name + "s", name + "z"]

    if quant:
        nodes.append(h.make_node("DequantizeLinear", ["x"] + scalars("a", *quant[0]), ["f"]))
        data = "f"
    if sized:
        init.append(h.make_tensor("to", T.INT64, [len(to)], to))
        inputs = [data, "", "", "to"]
    else:
        init.append(h.make_tensor("to", T.FLOAT, [len(to)], to))
        inputs = [data, "", "to"]
    nodes.append(h.make_node("Resize", inputs, ["g" if quant else "y"], **attrs))
    if quant:
        nodes.append(h.make_node("QuantizeLinear", ["g"] + scalars("b", *quant[1]), ["y"]))
    graph = h.make_graph(nodes, "resize", [h.make_tensor_value_info("x", t, shape)], [h.make_tensor_value_info("y", t, None)], init)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", OPSET)], ir_version=9)


def make_input(kind, shape):
    """As tests/support/recorded_nets.h makes it."""
    x, v = 1, np.empty(int(np.prod(shape)), np.int64)
    for i in range(v.size):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        v[i] = x >> 12
    return v.astype(TYPES[kind][1]).reshape(shape)


def ort_run(m, x):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level = 4
    return ort.InferenceSession(m.SerializeToString(), o, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]


def place(mode, i, n_in, n_out, scale):
    if mode == "asymmetric":
        return i / scale
    if mode == "align_corners":
        return Fraction(i * (n_in - 1), n_out - 1) if n_out > 1 else Fraction(0)
    if mode == "pytorch_half_pixel" and n_out == 1:
        return Fraction(0)
    return (i + Fraction(1, 2)) / scale - Fraction(1, 2)


def along(x, axis, mode, n_out, scale):
    """x of Fractions, one axis resized."""
    n_in = x.shape[axis]
    rows = []
    for i in range(n_out):
        at = min(max(place(mode, i, n_in, n_out, scale), Fraction(0)), Fraction(n_in - 1))
        k = int(at)
        rows.append(x.take(k, axis) * (1 - (at - k)) + x.take(min(k + 1, n_in - 1), axis) * (at - k))
    return np.stack(rows, axis)


def exact(kind, x, shape, scales, mode, quant):
    (sa, za), (sb, zb) = quant
    y = np.array([Fraction(int(v) - za) for v in x.ravel()], dtype=object).reshape(x.shape)
    for axis in range(2, x.ndim):
        if shape[axis] != x.shape[axis] or scales[axis] != 1:
            y = along(y, axis, mode, shape[axis], scales[axis])
    y = y * (Fraction(float(np.float32(sa))) / Fraction(float(np.float32(sb))))
    info = np.iinfo(TYPES[kind][1])
    codes = [min(max(round(v) + zb, info.min), info.max) for v in y.ravel()]     # round() of a Fraction: ties to even
    return np.array(codes, TYPES[kind][1]).reshape(y.shape)


def cases():
    places = ("half_pixel", "asymmetric", "pytorch_half_pixel", "align_corners")
    quants = {"int8": ((0.05, -3), (0.05, -3)), "uint8": ((0.04, 130), (0.03, 117))}
    sizes = [((2, 3, 5, 4), ["2", "2"]), ((1, 4, 3, 3), ["4", "2"]), ((1, 2, 8, 8), ["1/2", "1/2"]), ((1, 3, 4, 6), ["3/2", "1"]),
             ((1, 2, 3, 7), ["3", "3"]), ((1, 5, 7), ["2"]), ((1, 2, 5, 4), (9, 7)), ((1, 2, 7, 7), (1, 3))]
    for kind in TYPES:
        for mode in places:
            for shape, to in sizes:
                for how in ("linear", "nearest", "qdq"):
                    if how == "nearest" and (mode == "align_corners") == (kind == "int8"):
                        continue
                    yield kind, mode, shape, to, how, quants[kind] if how == "qdq" else None


def record(kind, mode, shape, to, how, quant):
    sized = isinstance(to, tuple)
    scales = [Fraction(1)] * 2 + ([Fraction(n, m) for n, m in zip(to, shape[2:])] if sized else [Fraction(s) for s in to])
    out = [int(s * n) for s, n in zip(scales, shape)]
    attrs = {"mode": "nearest" if how == "nearest" else "linear", "coordinate_transformation_mode": mode}
    if how == "nearest":
        attrs["nearest_mode"] = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")[len(str(to)) % 4]
    m = model(kind, shape, out if sized else [float(s) for s in scales], sized, attrs, quant)
    x = make_input(kind, shape)
    y = ort_run(m, x)
    if quant:
        real = exact(kind, x, out, scales, mode, quant)
        if real.shape != y.shape or np.abs(real.astype(int) - y.astype(int)).max() > 1:
            sys.exit("ONNX Runtime is far from the real number")
        y = real
    name = "%s %s %s %s to %s" % (how, kind, mode, "x".join(map(str, shape)), "x".join(map(str, out)))
    file = m.SerializeToString()
    return (struct.pack("<H", len(name)) + name.encode() + struct.pack("<I", len(file)) + file + bytes([1]) + b"\0\0\0\0" +
            bytes([1, 1]) + struct.pack("<I", zlib.crc32(np.ascontiguousarray(y).tobytes())))


def main():
    default = Path(__file__).resolve().parents[2] / "tests" / "models" / "onnx_resize.gz"
    out, n = b"ONXRSIZE", 0
    for case in cases():
        out += record(*case)
        n += 1
    with open(sys.argv[1] if len(sys.argv) > 1 else default, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", filename="", mtime=0) as z:
        z.write(out)
    print(n, "cases")


main()
