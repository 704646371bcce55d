#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what TensorFlow Lite's reference kernels give for random single operators.

usage: record_ops.py [file]        default: tests/models/tflite_ops.gz

Writes small networks of one operator each, runs them on inputs that anyone can
make again, and keeps network and CRC-32 of every output. The test
conformance/tflite_ops makes the inputs, and must get the same outputs.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install tflite-runtime==2.14.0 'numpy<2'
    /tmp/v/bin/python tools/train/record_ops.py

The file, gzip: "TFLOPS1\\n", then per case, little-endian: u16 and name, u32 and
network, u8 inputs and for each a u32 modulus, u8 outputs and for each a u32 CRC.
Inputs: one generator x = x*1664525 + 1013904223 mod 2^32 per case, from x = 1.
Per element x advances once and gives v = x >> 8, 24 bits: v % modulus where that
is not 0; else the low bits of v >> 4 for 8 and 16 bits, v % 2001 - 1000 for 32
and 64 bits, a 64th of that for float16, and (v - 2^23) / 2^21 for float32. With modulus 2^32 - 1, every other number (an odd v)
of float32, int32 and int64 is one of SPECIAL, number (v >> 1) % 16, and the CRC counts
7fc00000 for each NaN of a result.
"""

import gzip
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
try:
    from tflite_runtime.interpreter import Interpreter, OpResolverType
except ImportError:      # tools/train/record_litert.py
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

from flatbuffer import Table, Tables, flatbuffer, scalars, string

F32, I32, U8, I64, BOOL, I16, I8 = 0, 2, 3, 4, 6, 7, 9
F16, F64, U32, U16 = 1, 10, 15, 16      # of results only
DTYPE = {F32: np.float32, I32: np.int32, U8: np.uint8, I64: np.int64, BOOL: np.bool_, I16: np.int16, I8: np.int8}
NAME = {F32: "float32", I32: "int32", U8: "uint8", I64: "int64", BOOL: "bool", I16: "int16", I8: "int8"}
Q = (I8, U8, I16)
CASTS = (F32, I32, U8, I64, I16, I8)
EDGES = 2**32 - 1            # the modulus that stands for numbers of SPECIAL
SPECIAL = {
    F32: np.array([0, 0x80000000, 0x7fc00000, 0x7f800000, 0xff800000, 1, 0x80000001, 0x007fffff,      # 0, -0, NaN, infinities, subnormals
                   0x3f000000, 0xbf000000, 0xc0200000, 0x3fc00000, 0xbe99999a, 0x7f7fffff, 0xff7fffff, 0x4b000001],   # halves, the largest
                  np.uint32).view(np.float32),
    I32: np.array([-2**31, 2**31 - 1, -2**31 + 1, -1, 0, 1, 2**30, -2**30] * 2, np.int32),
    I64: np.array([-2**63, 2**63 - 1, -2**63 + 1, -1, 0, 1, 2**62, -2**62] * 2, np.int64),
}

# name: (BuiltinOperator, version, BuiltinOptions)
OPS = {
    "ADD": (0, 3, 11), "AVERAGE_POOL_2D": (1, 3, 5), "CONCATENATION": (2, 3, 10), "CONV_2D": (3, 5, 1),
    "DEPTHWISE_CONV_2D": (4, 5, 2), "DEPTH_TO_SPACE": (5, 1, 94), "FULLY_CONNECTED": (9, 7, 8),
    "L2_NORMALIZATION": (11, 2, 13), "LOG_SOFTMAX": (50, 2, 38),
    "LOGISTIC": (14, 3, 0), "MAX_POOL_2D": (17, 3, 5), "MUL": (18, 3, 21), "RELU": (19, 3, 0),
    "RELU_N1_TO_1": (20, 1, 0), "RELU6": (21, 3, 0), "RESIZE_BILINEAR": (23, 4, 15), "SOFTMAX": (25, 3, 9),
    "SPACE_TO_DEPTH": (26, 2, 19), "SVDF": (27, 3, 6), "TANH": (28, 3, 0), "PAD": (34, 3, 0), "GATHER": (36, 5, 23),
    "BATCH_TO_SPACE_ND": (37, 2, 0), "SPACE_TO_BATCH_ND": (38, 2, 0), "TRANSPOSE": (39, 4, 0), "MEAN": (40, 3, 27),
    "SUB": (41, 5, 28), "DIV": (42, 1, 29), "STRIDED_SLICE": (45, 4, 32), "EXP": (47, 2, 0), "SPLIT": (49, 4, 35),
    "CAST": (53, 2, 37), "LESS": (58, 2, 0), "GREATER": (61, 2, 0), "GREATER_EQUAL": (62, 2, 0),
    "LESS_EQUAL": (63, 2, 0), "SELECT": (64, 1, 0), "EQUAL": (71, 2, 0), "NOT_EQUAL": (72, 2, 0), "LOGICAL_OR": (84, 1, 0),
    "LOGICAL_AND": (86, 1, 0), "LOGICAL_NOT": (87, 1, 0), "SELECT_V2": (123, 1, 0), "PRELU": (54, 1, 0), "MAXIMUM": (55, 3, 39), "ARG_MAX": (56, 2, 40), "MINIMUM": (57, 3, 39),
    "PADV2": (60, 2, 0), "SLICE": (65, 3, 48), "TRANSPOSE_CONV": (67, 3, 49), "TILE": (69, 2, 0), "SUM": (74, 2, 27),
    "SQRT": (75, 1, 0), "RSQRT": (76, 2, 0), "ARG_MIN": (79, 2, 57), "REDUCE_MAX": (82, 2, 27), "PACK": (83, 3, 59),
    "UNPACK": (88, 4, 64), "REDUCE_MIN": (89, 2, 27), "FLOOR_DIV": (90, 2, 65), "FLOOR_MOD": (95, 2, 72),
    "RESIZE_NEAREST_NEIGHBOR": (97, 4, 74), "LEAKY_RELU": (98, 2, 75), "SQUARED_DIFFERENCE": (99, 2, 76),
    "MIRROR_PAD": (100, 2, 77), "ABS": (101, 2, 78), "SPLIT_V": (102, 2, 79), "REVERSE_V2": (105, 2, 81),
    "GATHER_ND": (107, 3, 83), "QUANTIZE": (114, 2, 89), "HARD_SWISH": (117, 1, 91), "BATCH_MATMUL": (126, 3, 101),
    "BROADCAST_TO": (130, 3, 104), "GELU": (150, 2, 116),
}

rng = np.random.default_rng(2024)


def draw(lo, hi):
    return int(rng.integers(lo, hi + 1))


def shape(lo=1, hi=4, rank=None):
    return [draw(lo, hi) for _ in range(rank or draw(1, 4))]


def quant(t, lo=-9.0, hi=-1.0):
    """(scale, zero point), or nothing for types without."""
    scale = float(np.float32(2.0 ** rng.uniform(lo, hi)))
    return {I8: (scale, draw(-128, 127)), U8: (scale, draw(0, 255)), I16: (scale / 256, 0)}.get(t)


def random_data(t, dims):
    if t == F32:
        return rng.normal(size=dims).astype(np.float32)
    if t in (I32, I64):
        return rng.integers(-1000, 1001, dims).astype(DTYPE[t])
    info = np.iinfo(DTYPE[t])
    return rng.integers(info.min, info.max + 1, dims).astype(DTYPE[t])


class Net:
    """One operator and its tensors."""

    def __init__(self):
        self.buffers, self.tensors, self.inputs, self.outputs, self.moduli = [Table({})], [], [], [], []

    def add(self, t, dims, q=None, data=None, axis=0, variable=0):
        quantization = None
        if q is not None:
            scale, zero = np.atleast_1d(q[0]), np.atleast_1d(q[1])
            zero = np.broadcast_to(zero, scale.shape)
            quantization = Table({2: scalars("f", scale.tolist()), 3: scalars("q", zero.tolist()), 6: ("i", axis)})
        buffer = 0
        if data is not None:
            raw = np.ascontiguousarray(data, dtype=DTYPE[t]).tobytes()
            self.buffers.append(Table({0: scalars("B", raw)}))
            buffer = len(self.buffers) - 1
        self.tensors.append(Table({0: scalars("i", dims), 1: ("b", t), 2: ("I", buffer),
                                   3: string("t%d" % len(self.tensors)), 4: quantization, 5: ("b", variable)}))
        return len(self.tensors) - 1

    def input(self, t, dims, q=None, modulus=0, axis=0):
        self.inputs.append((self.add(t, dims, q, axis=axis), t, dims))
        self.moduli.append(modulus)
        return self.inputs[-1][0]

    def output(self, t, dims, q=None):
        self.outputs.append(self.add(t, dims, q))
        return self.outputs[-1]

    def ints(self, values, dims=None):
        values = np.array(values, dtype=np.int32)
        return self.add(I32, list(values.shape) if dims is None else dims, data=values)

    def file(self, op, operands, options):
        code, version, kind = OPS[op]
        codes = Table({0: ("b", min(code, 127)), 2: ("i", version), 3: ("i", code)})
        fields = {0: ("I", 0), 1: scalars("i", operands), 2: scalars("i", self.outputs)}
        if kind:
            fields.update({3: ("B", kind), 4: Table(options)} if kind < 1000 else {11: ("B", kind - 1000), 12: Table(options)})
        graph = Table({0: Tables(self.tensors), 1: scalars("i", [i for i, _, _ in self.inputs]),
                       2: scalars("i", self.outputs), 3: Tables([Table(fields)])})
        return flatbuffer(Table({0: ("I", 3), 1: Tables([codes]), 2: Tables([graph]), 4: Tables(self.buffers)}), b"TFL3")


def make_inputs(net):
    x, arrays = 1, []
    for (_, t, dims), modulus in zip(net.inputs, net.moduli):
        n = int(np.prod(dims))
        v = np.empty(n, dtype=np.int64)
        for i in range(n):
            x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
            v[i] = x >> 8
        u = v.copy()
        if modulus and modulus != EDGES:
            v %= modulus
        elif t == F32:
            v = (v - 2**23) / 2.0**21
        elif t in (I32, I64):
            v = v % 2001 - 1000
        elif t == F16:
            v = (v % 2001 - 1000) / 64
        else:
            v = v >> 4
        v = v.astype(DTYPE[t])
        if modulus == EDGES:
            v = np.where(u & 1, SPECIAL[t][(u >> 1) % 16], v)
        arrays.append(v.reshape(dims))
    return arrays


def counted(net, a):
    """The bytes of a result that its CRC is of."""
    one_nan = EDGES in net.moduli and a.dtype == np.float32
    return np.where(np.isnan(a), np.float32(np.nan), a).tobytes() if one_nan else np.ascontiguousarray(a).tobytes()


cases, refused = [], []


def record(op, net, operands, options=None, tag="", resolver=OpResolverType.BUILTIN_REF):
    name = " ".join(filter(None, (op, NAME[net.inputs[0][1]], tag)))
    model = net.file(op, operands, options or {})
    try:
        it = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
        it.allocate_tensors()
        for detail, array in zip(it.get_input_details(), make_inputs(net)):
            it.set_tensor(detail["index"], array)
        it.invoke()
    except (RuntimeError, ValueError) as error:
        refused.append((name, str(error).strip().splitlines()[0][:90]))
        return
    crcs = [zlib.crc32(counted(net, it.get_tensor(o["index"]))) for o in it.get_output_details()]
    out = struct.pack("<H", len(name)) + name.encode() + struct.pack("<I", len(model)) + model
    out += struct.pack("<B", len(net.inputs)) + struct.pack("<%dI" % len(net.inputs), *net.moduli)
    cases.append(out + struct.pack("<B", len(crcs)) + struct.pack("<%dI" % len(crcs), *crcs))


# ---- operators on single elements ----

UNIT = {I8: (1 / 256, -128), U8: (1 / 256, 0), I16: (1 / 32768, 0)}
TANH = {I8: (1 / 128, 0), U8: (1 / 128, 128), I16: (1 / 32768, 0)}


def unary(op, t, x, y, options=None, tag=""):
    net = Net()
    dims = [2, 300] if t != I16 else [2, 2000]
    record(op, net, [net.input(t, dims, x), net.output(t, dims, y)][:1], options, tag)


def all_unary():
    for t in Q:
        for _ in range(3):
            unary("LOGISTIC", t, quant(t), UNIT[t])
            unary("TANH", t, quant(t), TANH[t])
            unary("LEAKY_RELU", t, quant(t), quant(t), {0: ("f", float(np.float32(rng.uniform(-.2, 1.1))))})
            for op in ("RELU", "RELU6", "RELU_N1_TO_1", "ABS", "EXP"):
                if t != I16 or op in ("RELU", "RELU6"):
                    unary(op, t, quant(t), quant(t))
            unary("QUANTIZE", t, quant(t), quant(t))
            if t == I16:
                continue
            x = quant(t)
            unary("HARD_SWISH", t, x, (float(np.float32(x[0] * rng.uniform(.3, 1))), quant(t)[1]))
            unary("RSQRT", t, (quant(t)[0], -128 if t == I8 else 0), quant(t))
            unary("GELU", t, quant(t), quant(t), {0: ("b", draw(0, 1))})
    for log2 in (-14, -12, -11):
        for op, y in (("LOGISTIC", UNIT), ("TANH", TANH)):
            unary(op, I16, (2.0 ** log2 * 0.9999, 0), y[I16], tag="power of two")


def requantise():
    for a in Q + (I32, F32):
        for b in Q + (I32,):
            net = Net()
            x = quant(a) or ((1e-6, 0) if a == I32 else None)
            operands = [net.input(a, [1, 200], x)]
            net.output(b, [1, 200], quant(b) or (1e-4, 0))
            record("QUANTIZE", net, operands, tag="to " + NAME[b])


# ---- two operands ----

def broadcast():
    y = shape(1, 4)
    a, b = list(y), list(y)
    for i in range(len(y)):
        which = draw(0, 5)
        if which < 2:
            (a if which else b)[i] = 1
    if draw(0, 3) == 0:
        b = b[draw(0, len(b) - 1):]
    return a, b, list(np.broadcast_shapes(tuple(a), tuple(b)))


def binary(op, t, activation=0, powers=None):
    net, (a, b, y) = Net(), broadcast()
    qa, qb, qy = quant(t), quant(t), quant(t)
    options = {0: ("b", activation)} if op in ("ADD", "SUB", "MUL", "DIV") else {}
    if powers:
        a = b = y
        e = draw(10, 14)
        qa = qy = (2.0 ** -e, 0)
        qb = (2.0 ** -(e + draw(0, 3)), 0)
    if op in ("ADD", "SUB"):
        options[1] = ("b", 1 if powers else draw(0, 1) if t != I16 else 0)
    if op in ("MAXIMUM", "MINIMUM"):
        qb = qy = qa
    if op == "SQUARED_DIFFERENCE":
        qy = (float(np.float32(max(qa[0], qb[0]) ** 2 * rng.uniform(100, 3000))), qy[1])
    operands = [net.input(t, a, qa), net.input(t, b, qb)]
    net.output(t, y, qy)
    record(op, net, operands, options, "powers of two" if powers else "")


def all_binary():
    for _ in range(4):
        for t in Q + (I32,):
            for op in ("ADD", "SUB", "MUL"):
                binary(op, t, int(rng.choice([0, 0, 1, 3])) if t != I32 else 0)
            binary("MAXIMUM", t)
            binary("MINIMUM", t)
        binary("SQUARED_DIFFERENCE", I8)
        binary("ADD", I16, powers=True)
        binary("SUB", I16, powers=True)
        binary("DIV", F32)
    for op in ("FLOOR_DIV", "FLOOR_MOD"):
        net = Net()
        operands = [net.input(I32, [40]), net.ints(7, [])]
        net.output(I32, [40])
        record(op, net, operands)
    for t in (I8, U8):
        for dims in ([3], [1, 1, 3]):
            net = Net()
            operands = [net.input(t, [1, 5, 6, 3], quant(t)), net.add(t, dims, quant(t), random_data(t, dims))]
            net.output(t, [1, 5, 6, 3], quant(t))
            record("PRELU", net, operands)


# ---- what multiplies by weights ----

def window(size, kernel, stride, same):
    return -(-size // stride) if same else (size - kernel) // stride + 1


def weighted(op, t, bias):
    net = Net()
    kh, kw, ic, oc, sh, sw = draw(1, 3), draw(1, 4), draw(1, 4), draw(1, 4), draw(1, 2), draw(1, 3)
    valid, h, w, n = draw(0, 1), draw(5, 8), draw(5, 8), draw(1, 2)
    dense, depthwise, transposed = op == "FULLY_CONNECTED", op == "DEPTHWISE_CONV_2D", op == "TRANSPOSE_CONV"
    dilation = draw(1, 2) if sh == sw == 1 and not transposed else 1
    if depthwise:
        oc = ic * draw(1, 3)
    x = [n, h, w, ic]
    y = [n] + [window(d, (k - 1) * dilation + 1, s, not valid) for d, k, s in ((h, kh, sh), (w, kw, sw))] + [oc]
    wd = [oc, kh, kw, ic]
    if depthwise:
        wd = [1, kh, kw, oc]
    if transposed:
        x, y = [1, h, w, ic], [1, (h - 1) * sh + kh, (w - 1) * sw + kw, oc] if valid else [1, h * sh, w * sw, oc]
    if dense:
        x, y, wd = [draw(1, 4), ic], [0, oc], [oc, ic]
        y[0] = x[0]
    qx, qy, wt = quant(t, -7, -3), quant(t, -7, -3), U8 if t == U8 else I8
    per_channel = t != U8 and draw(0, 1)
    scales = [float(np.float32(s)) for s in 2.0 ** rng.uniform(-9, -5, size=oc if per_channel else 1)]
    weights = np.clip(random_data(wt, wd).astype(int), -127 if wt == I8 else 0, 255)
    operands = [net.input(t, x, qx),
                net.add(wt, wd, (scales, draw(0, 255) if wt == U8 else 0), weights, 3 if depthwise else 0)]
    if bias is not None:
        values = rng.integers(-3000, 3000, oc) * (50 if t == I16 else 1)
        operands.append(net.add(bias, [oc], ([float(np.float32(qx[0] * s)) for s in scales], 0), values))
    elif not transposed and not depthwise:
        operands.append(-1)
    if transposed:
        operands = [net.ints(y), operands[1], operands[0]] + operands[2:]
    net.output(t, y, qy)
    activation = ("b", int(rng.choice([0, 0, 1, 3])))
    options = {0: ("b", valid), 1: ("i", sw), 2: ("i", sh), 3: activation}
    if op == "CONV_2D":
        options.update({4: ("i", dilation), 5: ("i", dilation)})
    elif depthwise:
        options.update({3: ("i", oc // ic), 4: activation, 5: ("i", dilation), 6: ("i", dilation)})
    elif dense:
        options = {0: activation}
    record(op, net, operands, options, "bias " + (NAME[bias] if bias is not None else "none"))


def all_weighted():
    for op in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV"):
        for t in Q:
            for bias in (I32, None) if t != I16 else (I64, I32, None):
                if op == "TRANSPOSE_CONV" and t == I16 and bias is None:
                    continue    # later versions and TensorFlow Lite Micro sum in 64 bits, this one in 32
                for _ in range(3):
                    weighted(op, t, bias)


def matmul(t):
    net = Net()
    n, m, k, c = shape(1, 4, 4)
    adj = draw(0, 1), draw(0, 1)
    a = [n, k, m] if adj[0] else [n, m, k]
    shared = not any(adj) and draw(0, 1)    # transposed and broadcast at once, this version reads wrongly
    b = [1 if shared else n] + ([c, k] if adj[1] else [k, c])
    operands = [net.input(t, a, quant(t, -7, -3)), net.input(t, b, quant(t, -7, -3))]
    net.output(t, [n, m, c], quant(t, -5, -1))
    record("BATCH_MATMUL", net, operands, {0: ("b", adj[0]), 1: ("b", adj[1])})


def svdf():
    net, n, size, units, rank, memory = Net(), draw(1, 3), draw(1, 9), draw(1, 5), draw(1, 2), draw(1, 5)
    feature, time, state = (float(np.float32(2.0 ** rng.uniform(a, a + 3))) for a in (-9, -12, -12))
    filters = units * rank
    operands = [net.input(I8, [n, size], quant(I8, -6, -4)),
                net.add(I8, [filters, size], (feature, 0), random_data(I8, [filters, size])),
                net.add(I16, [filters, memory], (time, 0), rng.integers(-3000, 3000, [filters, memory])),
                net.add(I32, [units], (float(np.float32(state * time)), 0), rng.integers(-100000, 100000, units)),
                net.add(I16, [n, filters * memory], (state, 0), variable=1)]
    net.output(I8, [n, units], quant(I8, -5, -2))
    record("SVDF", net, operands, {0: ("i", rank), 1: ("b", 1)})


# ---- windows, reductions, images ----

def pool(op, t):
    net, same = Net(), draw(0, 1)
    h, w, c, kh, kw, sh, sw = draw(4, 8), draw(4, 8), draw(1, 3), draw(1, 3), draw(1, 3), draw(1, 3), draw(1, 3)
    q = quant(t, -6, -3)
    operands = [net.input(t, [1, h, w, c], q)]
    net.output(t, [1, window(h, kh, sh, same), window(w, kw, sw, same), c], q)
    record(op, net, operands, {0: ("b", 1 - same), 1: ("i", sw), 2: ("i", sh), 3: ("i", kw), 4: ("i", kh),
                               5: ("b", int(rng.choice([0, 1, 3])))})


def reduction(op, t):
    net, dims, keep = Net(), shape(1, 6), draw(0, 1)
    axes = sorted(rng.choice(len(dims), draw(1, len(dims)), replace=False).tolist())
    q = quant(t, -6, -3)
    operands = [net.input(t, dims, q), net.ints(axes)]
    net.output(t, [1 if i in axes else d for i, d in enumerate(dims) if keep or i not in axes],
               quant(t, -6, -3) if op in ("MEAN", "SUM") else q)
    record(op, net, operands, {0: ("b", keep)})


def softmax(t):
    net, dims = Net(), [draw(1, 4), draw(2, 40)]
    operands = [net.input(t, dims, quant(t, -7, -1))]
    net.output(t, dims, UNIT[t])
    record("SOFTMAX", net, operands, {0: ("f", float(np.float32(rng.uniform(.3, 2))))})


def resize(op, t, mode):
    net, q, first = Net(), quant(t), 2 if op == "RESIZE_BILINEAR" else 0
    n, h, w, c = draw(1, 2), draw(1, 9), draw(1, 9), draw(1, 2)
    oh, ow = (draw(1, 20), draw(1, 20)) if draw(0, 1) else (h * draw(1, 3), w * draw(1, 3))
    operands = [net.input(t, [n, h, w, c], q), net.ints([oh, ow])]
    net.output(t, [n, oh, ow, c], q)
    record(op, net, operands, {first: ("b", mode == 1), first + 1: ("b", mode == 2)})


def shapes_of_sums():
    for _ in range(4):
        svdf()
    for t in Q:
        for _ in range(3):
            pool("AVERAGE_POOL_2D", t)
            pool("MAX_POOL_2D", t)
            reduction("MEAN", t)
            reduction("REDUCE_MAX", t)
            reduction("REDUCE_MIN", t)
            softmax(t)
            if t == U8:
                reduction("SUM", t)    # of int8 the reference kernel writes no result
            if t != U8:
                matmul(t)
            for mode in range(3):
                resize("RESIZE_NEAREST_NEIGHBOR", t, mode)
                resize("RESIZE_BILINEAR", t, mode)


# ---- what only moves values ----

def moved(op, t, x, y, extra=None, options=None):
    """extra: makes the operands behind the first from the net."""
    net, q = Net(), quant(t)
    operands = [net.input(t, x, q)] + (extra(net, q) if extra else [])
    net.output(t, y, q)
    record(op, net, operands, options)


def strided(t):
    dims = shape(1, 7)
    rank = len(dims)
    step = [int(rng.choice([1, 1, 2, 3, -1, -2])) for _ in dims]
    begin, end = [draw(-d - 1, d) for d in dims], [draw(-d - 1, d + 1) for d in dims]
    begin_mask, end_mask = draw(0, 2**rank - 1), draw(0, 2**rank - 1)
    shrink = draw(0, 2**rank - 1) & draw(0, 2**rank - 1)
    index = []
    for i in range(rank):
        if shrink >> i & 1:
            begin_mask &= ~(1 << i)
            step[i], begin[i] = 1, draw(-dims[i], dims[i] - 1)
            end[i] = begin[i] + 1
            index.append(begin[i])
        else:
            index.append(slice(None if begin_mask >> i & 1 else begin[i], None if end_mask >> i & 1 else end[i], step[i]))
    y = np.zeros(dims)[tuple(index)]
    if y.size:
        moved("STRIDED_SLICE", t, dims, list(y.shape), lambda n, q: [n.ints(begin), n.ints(end), n.ints(step)],
              {0: ("i", begin_mask), 1: ("i", end_mask), 4: ("i", shrink)})


def parts(t):
    dims = shape()
    axis = draw(0, len(dims) - 1)
    sizes = [draw(1, 3) for _ in range(draw(1, 3))]
    for op in ("SPLIT", "SPLIT_V", "UNPACK"):
        net, q, d = Net(), quant(t), list(dims)
        d[axis] = {"SPLIT": 6, "SPLIT_V": sum(sizes), "UNPACK": 3}[op]
        x = net.input(t, d, q)
        for k in range({"SPLIT": 3, "SPLIT_V": len(sizes), "UNPACK": 3}[op]):
            y = d[:axis] + ([] if op == "UNPACK" else [2] if op == "SPLIT" else [sizes[k]]) + d[axis + 1:]
            net.output(t, y, q)
        if op == "SPLIT":
            record(op, net, [net.ints(axis, []), x], {0: ("i", 3)})
        elif op == "SPLIT_V":
            record(op, net, [x, net.ints(sizes[:-1] + [-1]), net.ints(axis, [])], {0: ("i", len(sizes))})
        else:
            record(op, net, [x], {0: ("i", 3), 1: ("i", axis - len(d))})


def joined(t):
    dims, k, q = shape(rank=draw(1, 3)), draw(1, 3), quant(t)
    axis = draw(0, len(dims))
    net = Net()
    operands = [net.input(t, dims, q) for _ in range(k)]
    net.output(t, dims[:axis] + [k] + dims[axis:], q)
    record("PACK", net, operands, {0: ("i", k), 1: ("i", axis)})
    net, axis, lengths = Net(), draw(0, len(dims) - 1), [draw(1, 4) for _ in range(k)]
    operands = [net.input(t, dims[:axis] + [n] + dims[axis + 1:], quant(t) if t == U8 else q) for n in lengths]
    net.output(t, dims[:axis] + [sum(lengths)] + dims[axis + 1:], q)
    record("CONCATENATION", net, operands, {0: ("i", axis)})


def gathered(t):
    dims = shape()
    axis = draw(0, len(dims) - 1)
    batch = draw(0, axis)
    wanted = dims[:batch] + shape(1, 3, draw(1, 2))
    y = dims[:axis] + wanted[batch:] + dims[axis + 1:]
    values = rng.integers(0, dims[axis], wanted)
    options = {0: ("i", axis), 1: ("i", batch)}
    moved("GATHER", t, dims, y, lambda n, q: [n.add(I32, wanted, data=values)], options)
    moved("GATHER", t, dims, y, lambda n, q: [n.input(I32, wanted, modulus=dims[axis])], options)
    d = draw(1, len(dims))
    wanted = shape(1, 3, draw(1, 2)) + [d]
    values = np.stack([rng.integers(0, dims[i], wanted[:-1]) for i in range(d)], -1)
    moved("GATHER_ND", t, dims, wanted[:-1] + dims[d:], lambda n, q: [n.add(I32, wanted, data=values)])
    moved("GATHER_ND", t, dims, wanted[:-1] + dims[d:], lambda n, q: [n.input(I32, wanted, modulus=min(dims))])


def padded(t):
    dims = shape(2, 4)
    edge = [[draw(0, 1), draw(0, 1)] for _ in dims]
    y = [d + a + b for d, (a, b) in zip(dims, edge)]
    moved("PAD", t, dims, y, lambda n, q: [n.ints(edge)])
    moved("PADV2", t, dims, y, lambda n, q: [n.ints(edge), n.add(t, [], q, random_data(t, ()))])
    moved("MIRROR_PAD", t, dims, y, lambda n, q: [n.ints(edge)], {0: ("b", draw(0, 1))})


def blocks(t):
    b, (n, h, w, c) = draw(1, 3), shape(1, 3, 4)
    if t != I16:
        moved("SPACE_TO_DEPTH", t, [n, h * b, w * b, c], [n, h, w, c * b * b], None, {0: ("i", b)})
        moved("DEPTH_TO_SPACE", t, [n, h, w, c * b * b], [n, h * b, w * b, c], None, {0: ("i", b)})
    s, top, left = [draw(1, 3), draw(1, 3)], draw(0, 2), draw(0, 2)
    edge = [[top, -(h + top) % s[0]], [left, -(w + left) % s[1]]]
    moved("SPACE_TO_BATCH_ND", t, [n, h, w, c], [n * s[0] * s[1], (h + sum(edge[0])) // s[0], (w + sum(edge[1])) // s[1], c],
          lambda net, q: [net.ints(s), net.ints(edge)])
    crop = [[draw(0, min(1, h * s[0] - 1)), 0], [0, draw(0, min(1, w * s[1] - 1))]]
    moved("BATCH_TO_SPACE_ND", t, [n * s[0] * s[1], h, w, c], [n, h * s[0] - sum(crop[0]), w * s[1] - sum(crop[1]), c],
          lambda net, q: [net.ints(s), net.ints(crop)])


def all_moved():
    for t in Q + (I32, F32):
        for _ in range(2):
            dims = shape()
            begin = [draw(0, d - 1) for d in dims]
            size = [draw(1, d - b) for d, b in zip(dims, begin)]
            moved("SLICE", t, dims, size, lambda n, q: [n.ints(begin), n.ints(size)])
            order = rng.permutation(len(dims)).tolist()
            moved("TRANSPOSE", t, dims, [dims[i] for i in order], lambda n, q: [n.ints(order)])
            times = [draw(1, 3) for _ in dims]
            moved("TILE", t, dims, [a * b for a, b in zip(dims, times)], lambda n, q: [n.ints(times)])
            ones = [1 if draw(0, 1) else d for d in dims]
            moved("BROADCAST_TO", t, ones, dims, lambda n, q: [n.ints(dims)])
            moved("REVERSE_V2", t, dims, dims, lambda n, q: [n.ints([draw(0, len(dims) - 1)])])
            for _ in range(3):
                strided(t)
            for more in (parts, joined, gathered, padded, blocks):
                more(t)


def numbers():
    for a in CASTS:
        for b in CASTS:
            net = Net()
            operands = [net.input(a, [50], modulus=100 if a == F32 and b == U8 else 0)]    # below 0 C leaves open
            net.output(b, [50])
            record("CAST", net, operands, {0: ("b", a), 1: ("b", b)}, "to " + NAME[b])
    for op in ("ARG_MAX", "ARG_MIN"):
        for t in (I8, U8):
            for wide in (I32, I64):
                net, dims = Net(), shape(2, 6, 3)
                axis = draw(0, 2)
                operands = [net.input(t, dims, quant(t), modulus=9), net.ints(axis, [])]
                net.output(wide, dims[:axis] + dims[axis + 1:])
                record(op, net, operands, {0: ("b", wide)})
    net = Net()
    operands = [net.input(F32, [60], modulus=1 << 20)]
    net.output(F32, [60])
    record("SQRT", net, operands)


# ---- what has a row of its own to look at; behind the others, whose random numbers stay ----

def norm(op, t, scale, zero, y, modulus=0, n=0):
    net, dims = Net(), shape()
    dims[-1] = n or draw(1, 200)
    operands = [net.input(t, dims, (scale, zero), modulus)]
    net.output(t, dims, y)
    record(op, net, operands)


def norms():
    for t in (I8, U8):
        y = (1 / 128, 0 if t == I8 else 128)
        for k in range(16):    # small values too: sums of squares from 0 on
            q = quant(t)
            modulus = int(rng.choice([0, 0, 2, 3, 9]))
            norm("L2_NORMALIZATION", t, q[0], draw(0, 3) if modulus else q[1], y, modulus)
        norm("L2_NORMALIZATION", t, .1, -128 if t == I8 else 0, y, n=30000)
    for k in range(40):
        norm("LOG_SOFTMAX", I8, quant(I8, -24, 7)[0] if k % 4 else quant(I8, -7, -1)[0], draw(-128, 127), (1 / 16, 127))
    norm("LOG_SOFTMAX", I8, .001, 0, (1 / 16, 127), n=4000)


def chosen():
    """Comparisons, logic, selection; operands broadcast now and then."""
    def other(dims):
        return [1 if draw(0, 3) == 0 else d for d in dims]

    for op in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"):
        for t in (F32, I32, I8, U8):
            for k in range(2):
                net, dims = Net(), shape(2, 4)
                q = [quant(t, -8, -1) if t in (I8, U8) else None for _ in range(2)]
                if k and q[0]:
                    q[1] = (q[0][0], q[1][1])
                operands = [net.input(t, dims, q[0], modulus=5 if t == I32 else 0), net.input(t, other(dims), q[1], modulus=5 if t == I32 else 0)]
                net.output(BOOL, dims)
                record(op, net, operands)
    for op in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT"):
        net, dims = Net(), shape(2, 4)
        operands = [net.input(BOOL, dims, modulus=2)] + ([net.input(BOOL, other(dims), modulus=2)] if op != "LOGICAL_NOT" else [])
        net.output(BOOL, dims)
        record(op, net, operands)
    for t in (F32, I32, I8, U8, I16):
        net, dims = Net(), shape(2, 4)
        q = quant(t) if t in Q else None
        operands = [net.input(BOOL, other(dims), modulus=2), net.input(t, dims, q), net.input(t, other(dims), q)]
        net.output(t, dims, q)
        record("SELECT_V2", net, operands)
        net, first = Net(), draw(0, 1)
        operands = [net.input(BOOL, dims[:1] if first else dims, modulus=2), net.input(t, dims, q), net.input(t, dims, q)]
        net.output(t, dims, q)
        record("SELECT", net, operands)


def main():
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "tests/models/tflite_ops.gz")
    for make in (all_unary, requantise, all_binary, all_weighted, shapes_of_sums, all_moved, numbers, norms, chosen):
        make()
    with open(to, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(b"TFLOPS1\n" + b"".join(cases))
    for name, why in sorted(set(refused)):
        print("refused by the reference kernels:", name, "-", why)
    print(len(cases), "cases,", to.stat().st_size, "bytes in", to)


if __name__ == "__main__":
    main()
