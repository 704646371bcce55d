#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what LiteRT 2.3's reference kernels give for random single operators.

usage: record_litert.py [file]        default: tests/models/litert_ops.gz

As record_ops.py, whose generators and file format it uses, but with the release
that the importer follows by default, and until each operator that computes has
at least 200 cases, and each that only moves values 40, spread over its types.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install ai-edge-litert==2.3.0
    /tmp/v/bin/python tools/train/record_litert.py

Not recorded: SUM of int8 and int16, whose result is partly what memory held
before (docs/tflite.md), and 16-bit operators whose options do not name the type
of a 32-bit bias, which the kernels then read as one of 64 bits.
"""

import gzip
import sys
from collections import Counter
from pathlib import Path

import numpy as np

import record_ops as ops
from record_ops import F32, I8, I16, I32, I64, U8, Net, draw, quant, rng

ops.OPS.update({"LOG": (73, 2, 0), "POW": (78, 1, 0), "ELU": (111, 1, 0)})
COMPUTES = {
    "ADD", "SUB", "MUL", "DIV", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV", "BATCH_MATMUL", "SVDF",
    "AVERAGE_POOL_2D", "MAX_POOL_2D", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "SUM", "SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION",
    "LOGISTIC", "TANH", "LEAKY_RELU", "RELU", "RELU6", "RELU_N1_TO_1", "ABS", "EXP", "LOG", "RSQRT", "SQRT", "GELU", "HARD_SWISH",
    "QUANTIZE", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "PRELU", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
    "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL",
}
ENOUGH, FEW = 200, 40


plain_output, plain_record = Net.output, ops.record


def output(net, t, dims, q=None):
    net.empty = min(dims, default=1) < 1
    return plain_output(net, t, dims, q)


def record(op, net, *rest, **named):
    """Not those without a single result."""
    if not net.empty:
        plain_record(op, net, *rest, **named)


Net.output, ops.record = output, record


def functions():
    """Functions of one element that record_ops.py does not draw in this type."""
    for op in ("EXP", "LOG", "GELU", "ABS"):
        ops.unary(op, I16, quant(I16), quant(I16), {0: ("b", draw(0, 1))} if op == "GELU" else None)
    ops.unary("LOG", I8, quant(I8), quant(I8))
    net = Net()
    operands = [net.input(I16, [2, 2000], quant(I16), modulus=32768)]
    net.output(I16, [2, 2000], quant(I16))
    ops.record("RSQRT", net, operands)
    for t in (I8, I16):
        net, x = Net(), quant(t)
        operands = [net.input(t, [400], (x[0], 0), modulus=128 if t == I8 else 32768)]
        net.output(t, [400], quant(t))
        ops.record("SQRT", net, operands)


def quotients():
    """The divisor's codes are never its zero point, at which the kernel stops."""
    for t, top, zero in ((I8, 100, draw(-128, -1)), (U8, 100, draw(100, 255))):
        net, (a, b, y) = Net(), ops.broadcast()
        q = quant(t, -7, -3)
        operands = [net.input(t, a, quant(t, -7, -3)), net.input(t, b, (q[0], zero), modulus=top)]
        net.output(t, y, quant(t, -4, 3))
        ops.record("DIV", net, operands, {0: ("b", int(rng.choice([0, 0, 1, 3])))})


def dense(t, bias):
    """Rows long enough that sums use their bits."""
    net, k, n, m = Net(), draw(8, 200), draw(1, 24), draw(1, 4)
    x = quant(t, -8, -4)
    scales = [float(np.float32(s)) for s in 2.0 ** rng.uniform(-11, -6, size=n if t != U8 and draw(0, 1) else 1)]
    weights = rng.integers(0, 256, [n, k]) if t == U8 else rng.integers(-127, 128, [n, k])
    y = float(np.float32(x[0] * max(scales) * 127 * k ** 0.5 * rng.uniform(.3, 2)))
    operands = [net.input(t, [m, k], x),
                net.add(U8 if t == U8 else I8, [n, k], (scales, draw(0, 255) if t == U8 else 0), weights)]
    if bias is None:
        operands.append(-1)
    else:
        operands.append(net.add(bias, [n], ([float(np.float32(x[0] * s)) for s in scales], 0), rng.integers(-3000, 3000, n)))
    net.output(t, [m, n], (y, quant(t)[1]))
    options = {0: ("b", int(rng.choice([0, 0, 1, 3])))}
    if t == I16 and bias is not None:
        options[4] = ("b", bias)
    ops.record("FULLY_CONNECTED", net, operands, options, "long rows")


def all_dense():
    for t in ops.Q:
        for bias in (I32, None) if t != I16 else (I64, I32, None):
            dense(t, bias)


def weighted():
    for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
        for t in ops.Q:
            for bias in (I64,) if t == I16 else (I32, None):
                ops.weighted(op, t, bias)


def moved():
    if any(counts[op] < FEW for op in ("SLICE", "SPLIT", "GATHER_ND", "MIRROR_PAD")):
        ops.all_moved()


MAKERS = (ops.all_unary, ops.requantise, ops.all_binary, weighted, ops.shapes_of_sums, moved, ops.numbers, ops.norms, ops.chosen,
          functions, quotients, all_dense)
counts, kept, seen = Counter(), [], 0


def keep_new():
    """Of what was recorded since the last call, what is still wanted."""
    global seen
    for case in ops.cases[seen:]:
        n = int.from_bytes(case[:2], "little")
        name = case[2:2 + n].decode()
        op, t = name.split()[:2]
        if counts[op] >= (ENOUGH if op in COMPUTES else FEW) and counts[op, t] >= 20:
            continue
        if op == "SUM" and t != "uint8" and t not in ("int32", "float32"):
            continue
        counts[op] += 1
        counts[op, t] += 1
        kept.append(case)
    seen = len(ops.cases)


def main():
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "tests/models/litert_ops.gz")
    for _ in range(80):
        for make in MAKERS:
            make()
        keep_new()
        if all(counts[op] >= ENOUGH for op in COMPUTES):
            break
    with open(to, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(b"TFLOPS1\n" + b"".join(kept))
    for name, why in sorted(set(ops.refused)):
        print("refused by the reference kernels:", name, "-", why)
    for op in sorted(COMPUTES):
        print(op, counts[op], " ".join("%s %d" % (t, n) for (o, t), n in sorted((k, v) for k, v in counts.items()
                                                                                if isinstance(k, tuple)) if o == op))
    print(len(kept), "cases,", to.stat().st_size, "bytes in", to)


if __name__ == "__main__":
    main()
