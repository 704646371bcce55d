#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what LiteRT 2.3's reference kernels give for random operators on plain numbers.

usage: record_litert_host.py [file]        default: tests/models/litert_host_ops.gz

These operators run on the host (userlib/import/tflite/tflite_host.c). File format
and helpers are those of record_ops.py. Only operators whose results are exact are
recorded, since cases hold checksums: integers, bits, moved values, and sums of
floats in a stated order.

Needs what record_litert.py needs.
"""

import gzip
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import record_ops as ops
from flatbuffer import Table, Tables
from record_ops import BOOL, F32, I8, I16, I32, I64, Net, draw, quant, rng, shape

ops.OPS.update({
    "SIGN": (158, 1, 0), "CUMSUM": (128, 1, 102), "ADD_N": (106, 1, 82), "POW": (78, 1, 56),
    "BITWISE_XOR": (160, 1, 0), "RIGHT_SHIFT": (161, 1, 0), "REDUCE_ANY": (91, 1, 27), "REDUCE_ALL": (140, 1, 27),
    "REDUCE_PROD": (81, 1, 27), "REVERSE_SEQUENCE": (112, 1, 87), "EMBEDDING_LOOKUP": (7, 1, 0), "TOPK_V2": (48, 2, 34),
    "ONE_HOT": (85, 1, 61), "FILL": (94, 1, 68), "ZEROS_LIKE": (93, 1, 67), "SCATTER_ND": (122, 1, 97),
    "SPARSE_TO_DENSE": (68, 1, 50), "MATRIX_DIAG": (113, 1, 88), "MATRIX_SET_DIAG": (115, 1, 90), "BUCKETIZE": (147, 1, 115),
    "SEGMENT_SUM": (125, 1, 100), "UNSORTED_SEGMENT_PROD": (153, 1, 118), "UNSORTED_SEGMENT_MAX": (154, 1, 119),
    "UNSORTED_SEGMENT_MIN": (157, 1, 120), "UNSORTED_SEGMENT_SUM": (155, 1, 121), "DILATE": (203, 1, 0), "FLOOR": (8, 1, 0), "CEIL": (104, 1, 0), "SQUARE": (92, 1, 66), "ROUND": (116, 1, 0),
    "SQUEEZE": (43, 1, 30), "ELU": (111, 1, 0), "RELU_0_TO_1": (152, 1, 0), "SIN": (66, 1, 0), "COS": (108, 1, 86),
    "STABLEHLO_ADD": (163, 1, 0), "STABLEHLO_AND": (176, 1, 0),
    "STABLEHLO_SHIFT_LEFT": (207, 1, 0), "STABLEHLO_PAD": (195, 1, 1010), "STABLEHLO_MULTIPLY": (165, 1, 0),
    "STABLEHLO_MAXIMUM": (166, 1, 0), "STABLEHLO_MINIMUM": (181, 1, 0), "FAKE_QUANT": (80, 2, 58),
    "DYNAMIC_UPDATE_SLICE": (151, 1, 117), "RESIZE_BILINEAR": (23, 1, 15), "BITCAST": (159, 1, 124), "STABLEHLO_GATHER": (201, 1, 1016),
    "STABLEHLO_SCATTER": (190, 1, 1007), "REDUCE_WINDOW": (205, 1, 1020), "STABLEHLO_REDUCE_WINDOW": (198, 1, 1013), "EMBEDDING_LOOKUP_SPARSE": (33, 1, 20), "NEG": (59, 1, 42),
    "ATAN2": (156, 1, 0),
})
ROUNDS = 12
OPTIMISED = ops.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES


def plain(op, t, n_in=1, options=None):
    net, dims = Net(), shape()
    operands = [net.input(t, dims) for _ in range(n_in)]
    net.output(t, dims)
    ops.record(op, net, operands, options)


def cumsum(t):
    net, dims = Net(), shape()
    operands = [net.input(t, dims), net.ints(draw(-len(dims), len(dims) - 1), [])]
    net.output(t, dims)
    ops.record("CUMSUM", net, operands, {0: ("b", draw(0, 1)), 1: ("b", draw(0, 1))})


def power():
    net, dims = Net(), shape()
    operands = [net.input(I32, dims, modulus=9), net.input(I32, dims, modulus=8)]
    net.output(I32, dims)
    ops.record("POW", net, operands)


def bits(op, t):
    net, dims = Net(), shape()
    operands = [net.input(t, dims), net.input(t, dims, modulus=7 if op == "RIGHT_SHIFT" else 0)]
    net.output(t, dims)
    ops.record(op, net, operands)


def reduce(op, t):
    net, dims = Net(), shape(1, 4)
    axes = [i for i in range(len(dims)) if draw(0, 1)] or [0]
    keep = draw(0, 1)
    out = [1 if i in axes else d for i, d in enumerate(dims) if keep or i not in axes]
    operands = [net.input(t, dims, modulus=2 if t == BOOL else 5), net.ints(axes)]
    net.output(t, out)
    ops.record(op, net, operands, {0: ("b", keep)})


def quantised_product(t):
    net, dims = Net(), shape(1, 5)
    axes = [i for i in range(len(dims)) if draw(0, 1)] or [draw(0, len(dims) - 1)]
    keep = draw(0, 1)
    operands = [net.input(t, dims, quant(t, -7, -2)), net.ints([a - len(dims) if draw(0, 1) else a for a in axes])]
    net.output(t, [1 if i in axes else d for i, d in enumerate(dims) if keep or i not in axes], quant(t, -7, 0))
    ops.record("REDUCE_PROD", net, operands, {0: ("b", keep)})


def reverse_sequence(t, lengths):
    net, dims = Net(), shape(1, 5, rank=draw(2, 4))
    time, batch = rng.permutation(len(dims))[:2].tolist()
    operands = [net.input(t, dims), net.input(lengths, [dims[batch]], modulus=dims[time] + 1)]
    net.output(t, dims)
    ops.record("REVERSE_SEQUENCE", net, operands, {0: ("i", time), 1: ("i", batch)})


def embedding(t):
    net, dims, n = Net(), shape(1, 5, rank=draw(2, 3)), draw(1, 6)
    q = quant(t) if t == I8 else None
    operands = [net.input(I32, [n], modulus=dims[0]), net.add(t, dims, q, rng.integers(-50, 50, dims))]
    net.output(t, [n] + dims[1:], q)
    ops.record("EMBEDDING_LOOKUP", net, operands)


def top_k(t):
    net, dims = Net(), shape(1, 7)
    k = draw(1, dims[-1])
    q = quant(t) if t in (I8, I16) else None
    operands = [net.input(t, dims, q, modulus=0 if t == F32 else 5), net.ints(k, [])]
    net.output(t, dims[:-1] + [k], q)
    net.output(I32, dims[:-1] + [k])
    ops.record("TOPK_V2", net, operands)


def one_hot(t, index):
    net, dims, depth = Net(), shape(1, 4, rank=draw(1, 3)), draw(1, 6)
    axis = draw(-1, len(dims))
    out = list(dims)
    out.insert(len(dims) if axis < 0 else axis, depth)
    operands = [net.input(index, dims, modulus=depth + 2), net.ints(depth, []), net.add(t, [], data=[draw(1, 9)]), net.add(t, [], data=[draw(-3, 0)])]
    net.output(t, out)
    ops.record("ONE_HOT", net, operands, {0: ("i", axis)})


def fill(t):
    net, dims = Net(), shape()
    operands = [net.ints(dims), net.input(t, [])]
    net.output(t, dims)
    ops.record("FILL", net, operands)


def scatter(t):
    net, dims = Net(), shape(1, 5, rank=draw(1, 3))
    depth, n = draw(1, len(dims)), draw(1, 5)
    operands = [net.input(I32, [n, depth], modulus=min(dims)), net.input(t, [n] + dims[depth:]), net.ints(dims)]
    net.output(t, dims)
    ops.record("SCATTER_ND", net, operands)


def sparse(t):
    net, dims = Net(), shape(2, 5, rank=draw(1, 4))
    n = draw(1, min(dims))
    places = sorted({tuple(int(rng.integers(0, d)) for d in dims) for _ in range(n)})
    one = draw(0, 1)
    operands = [net.ints(places), net.ints(dims), net.input(t, [] if one else [len(places)]), net.add(t, [], data=[draw(-4, 4)])]
    net.output(t, dims)
    ops.record("SPARSE_TO_DENSE", net, operands, {0: ("b", 0)})


def diagonal(t):
    net, dims = Net(), shape(1, 4, rank=draw(1, 3))
    operands = [net.input(t, dims)]
    net.output(t, dims + dims[-1:])
    ops.record("MATRIX_DIAG", net, operands)
    net, dims = Net(), shape(1, 5, rank=draw(2, 4))
    operands = [net.input(t, dims), net.input(t, dims[:-2] + [min(dims[-2:])])]
    net.output(t, dims)
    ops.record("MATRIX_SET_DIAG", net, operands)


def bucketize(t):
    net, dims = Net(), shape()
    bounds = sorted(float(rng.integers(-30, 30)) / 8 * (1 if t == F32 else 100) for _ in range(draw(1, 6)))
    operands = [net.input(t, dims)]
    net.output(I32, dims)
    ops.record("BUCKETIZE", net, operands, {0: ops.scalars("f", bounds)})


def update_slice(t):
    net, dims = Net(), shape(1, 5)
    part = [draw(1, d) for d in dims]
    q = quant(t) if t == I8 else None
    operands = [net.input(t, dims, q), net.input(t, part, q), net.input(I32, [len(dims)], modulus=6)]
    net.output(t, dims, q)
    ops.record("DYNAMIC_UPDATE_SLICE", net, operands)


def floor_division(op, t):
    """Divisors of both signs, never 0."""
    net, dims = Net(), shape()
    if t == F32:
        operands = [net.input(t, dims), net.add(t, dims, data=rng.choice([-3.5, -1, -.25, .5, 2, 7.75], dims))]
    else:
        operands = [net.input(t, dims), net.add(t, dims, data=rng.choice([-7, -2, -1, 1, 3, 10], dims))]
    net.output(t, dims)
    ops.record(op, net, operands)


def bilinear():
    net, (n, c, h, w, oh, ow) = Net(), shape(1, 9, rank=6)
    align, half = [(0, 0), (1, 0), (0, 1)][draw(0, 2)]
    operands = [net.input(F32, [n, h, w, c]), net.ints([oh, ow])]
    net.output(F32, [n, oh, ow, c])
    ops.record("RESIZE_BILINEAR", net, operands, {2: ("b", align), 3: ("b", half)})


def unsorted_segment(op, t):
    """Rows to segments by indices of which some may be below 0, which belong to none."""
    net, dims, n = Net(), shape(1, 5, rank=draw(1, 4)), draw(1, 5)
    rank = draw(1, len(dims))
    ids = rng.integers(-1, n, dims[:rank])
    operands = [net.input(t, dims, modulus=5 if t == I32 else 0), net.add(I32, dims[:rank], data=ids), net.ints(n, [])]
    if draw(0, 1):
        operands[1] = net.input(I32, dims[:rank], modulus=n)
    net.output(t, [n] + dims[rank:])
    ops.record(op, net, operands)


def segment_sum(t):
    net, dims = Net(), shape(1, 6, rank=draw(1, 3))
    ids = np.cumsum(np.concatenate([[0], rng.integers(0, 2, dims[0] - 1)]))
    operands = [net.input(t, dims), net.ints(ids)]
    net.output(t, [int(ids[-1]) + 1] + dims[1:])
    # The resolver of the reference kernels does not have it.
    ops.record("SEGMENT_SUM", net, operands, resolver=OPTIMISED)


def dilate(t):
    net, dims = Net(), shape(1, 5, rank=draw(1, 4))
    by = [draw(1, 3) for _ in dims]
    operands = [net.input(t, dims), net.ints(by), net.add(t, [], data=[draw(-5, 5)])]
    net.output(t, [(d - 1) * b + 1 for d, b in zip(dims, by)])
    ops.record("DILATE", net, operands)


def fake_quant():
    net, dims = Net(), shape()
    low = float(np.float32(rng.uniform(-20, 1)))
    operands = [net.input(F32, dims)]
    net.output(F32, dims)
    ops.record("FAKE_QUANT", net, operands, {0: ("f", low), 1: ("f", float(np.float32(rng.uniform(max(low, 0) + 1, 30)))), 2: ("i", draw(2, 16))})


def squeeze(t):
    net, dims = Net(), shape(1, 3)
    dims[draw(0, len(dims) - 1)] = 1
    ones = [i for i, d in enumerate(dims) if d == 1]
    operands = [net.input(t, dims)]
    net.output(t, [d for i, d in enumerate(dims) if i not in ones])
    ops.record("SQUEEZE", net, operands, {0: ops.scalars("i", ones)}, resolver=OPTIMISED)


def stablehlo_pad(t):
    """The second union of options, which 1000 and more says; some elements are left out."""
    net, dims = Net(), shape(2, 5, rank=draw(1, 4))
    low, high, inner = ([draw(*r) for _ in dims] for r in ((-1, 3), (0, 3), (0, 2)))
    operands = [net.input(t, dims), net.add(t, [], data=[draw(-5, 5)])]
    net.output(t, [a + b + d + (d - 1) * i for a, b, d, i in zip(low, high, dims, inner)])
    ops.record("STABLEHLO_PAD", net, operands, {k: ops.scalars("q", v) for k, v in enumerate((low, high, inner))})


def newest_ones():
    for t in (F32, I32, I16, I8):
        stablehlo_pad(t)
    for t in (BOOL, I32):
        net, dims = Net(), shape()
        operands = [net.input(t, dims, modulus=2 if t == BOOL else 0) for _ in range(2)]
        net.output(t, dims)
        ops.record("STABLEHLO_AND", net, operands, resolver=OPTIMISED)
    net, dims = Net(), shape()
    operands = [net.input(I32, dims), net.input(I32, dims, modulus=32)]
    net.output(I32, dims)
    ops.record("STABLEHLO_SHIFT_LEFT", net, operands, resolver=OPTIMISED)


class Bodies(Net):
    """An operator with subgraphs, each of one operator of two scalars (code, options' kind); code -1: none, the result is the second."""

    def __init__(self, t, bodies):
        super().__init__()
        self.t, self.bodies = t, bodies

    def file(self, op, operands, options):
        code, version, kind = ops.OPS[op]
        all_codes, graphs = [(code, version)], []
        fields = {0: ("I", 0), 1: ops.scalars("i", operands), 2: ops.scalars("i", self.outputs), 11: ("B", kind - 1000), 12: Table(options)}
        graphs.append((self.tensors, [i for i, _, _ in self.inputs], self.outputs, [Table(fields)]))
        for inner, inner_kind in self.bodies:
            ports = [Table({0: ops.scalars("i", []), 1: ("b", self.t), 2: ("I", 0), 3: ops.string("b%d" % k)}) for k in range(3)]
            if inner < 0:
                graphs.append((ports[:2], [0, 1], [1], []))
                continue
            all_codes.append((inner, 1))
            one = {0: ("I", len(all_codes) - 1), 1: ops.scalars("i", [0, 1]), 2: ops.scalars("i", [2])}
            if inner_kind:
                one.update({3: ("B", inner_kind), 4: Table({})})
            graphs.append((ports, [0, 1], [2], [Table(one)]))
        made = [Table({0: Tables(t), 1: ops.scalars("i", i), 2: ops.scalars("i", o), 3: Tables(p)}) for t, i, o, p in graphs]
        codes = [Table({0: ("b", min(c, 127)), 2: ("i", v), 3: ("i", c)}) for c, v in all_codes]
        return ops.flatbuffer(Table({0: ("I", 3), 1: Tables(codes), 2: Tables(made), 4: Tables(self.buffers)}), b"TFL3")


def q(values):
    return ops.scalars("q", [int(v) for v in values])


def bitcast(a, b):
    net, dims = Net(), shape(1, 4, rank=draw(1, 3))
    from_, to = (np.dtype(ops.DTYPE[t]).itemsize for t in (a, b))
    x = dims + [to // from_] if to > from_ else dims
    operands = [net.input(a, x)]
    net.output(b, dims + [from_ // to] if from_ > to else dims)
    ops.record("BITCAST", net, operands, tag="to " + ops.NAME[b])


def gather_dims():
    """Shape of the operand, which of its dimensions slices do not have, and where coordinates go."""
    dims = shape(2, 5, rank=draw(1, 3))
    left_out = [d for d in range(len(dims)) if draw(0, 1)]
    n = draw(1, len(dims))
    return dims, left_out, rng.permutation(len(dims))[:n].tolist()


def layout(dims, left_out, where):
    """Shape of the indices and their index dimension; which dimensions of the result are those of slices."""
    batch = shape(1, 3, rank=draw(1, 2))
    index_dim = draw(0, len(batch))
    indices = batch[:index_dim] + [len(where)] + batch[index_dim:]
    rank = len(batch) + len(dims) - len(left_out)
    return batch, indices, index_dim, sorted(rng.permutation(rank)[:len(dims) - len(left_out)].tolist()), rank


def stablehlo_gather(t, index):
    net, (dims, left_out, where) = Net(), gather_dims()
    size = [1 if d in left_out else draw(1, dims[d]) for d in range(len(dims))]
    batch, indices, index_dim, window, rank = layout(dims, left_out, where)
    slices, others = iter(size[d] for d in range(len(dims)) if d not in left_out), iter(batch)
    operands = [net.input(t, dims), net.input(index, indices, modulus=7)]
    net.output(t, [next(slices) if d in window else next(others) for d in range(rank)])
    ops.record("STABLEHLO_GATHER", net, operands, {0: q(window), 1: q(left_out), 2: q(where), 3: ("q", index_dim), 4: q(size)})


STABLEHLO_BODIES = ((163, 0), (165, 0), (166, 0), (181, 0), (-1, 0))


def stablehlo_scatter(t, index):
    dims, left_out, where = gather_dims()
    net = Bodies(t, [STABLEHLO_BODIES[draw(0, 4)]])
    batch, indices, index_dim, window, rank = layout(dims, left_out, where)
    slices, others = iter(draw(1, dims[d]) for d in range(len(dims)) if d not in left_out), iter(batch)
    updates = [next(slices) if d in window else next(others) for d in range(rank)]
    operands = [net.input(t, dims), net.input(index, indices, modulus=5), net.input(t, updates)]
    net.output(t, dims)
    ops.record("STABLEHLO_SCATTER", net, operands, {1: q(window), 2: q(left_out), 3: q(where), 4: ("q", index_dim), 6: ("i", 1)})


def windows(base=1, pad=0):
    dims, size, stride, dilation = (shape(*r, rank=3) for r in ((5, 7), (1, 2), (1, 3), (1, 2)))
    holes, low, high = ([draw(*r) for _ in dims] for r in ((1, base), (-pad, pad), (-pad, pad)))
    padded = [(d - 1) * b + 1 + lo + hi for d, b, lo, hi in zip(dims, holes, low, high)]
    out = [(p - ((s - 1) * k + 1)) // by + 1 for p, s, k, by in zip(padded, size, dilation, stride)]
    return dims, size, stride, holes, dilation, np.array([low, high]).T.ravel(), out


def reduce_window(t, how):
    net, (dims, size, stride, _, dilation, _, out) = Net(), windows()
    lists = [net.add(I64, [3], data=v) for v in (size, stride, dilation)]
    operands = [net.input(t, dims, modulus=2 if t == BOOL else 0), net.add(t, [], data=[draw(0, 1)])] + lists
    net.output(t, out)
    ops.record("REDUCE_WINDOW", net, operands, {0: ("i", how)})


def stablehlo_window(t, how):
    dims, size, stride, holes, dilation, pad, out = windows(2, 1)
    net = Bodies(t, [((163, 0), (165, 0), (166, 0), (181, 0))[how]])
    operands = [net.input(t, dims), net.add(t, [], data=[draw(-2, 2)])]
    net.output(t, out)
    ops.record("STABLEHLO_REDUCE_WINDOW", net, operands,
               {0: q(size), 1: q(stride), 2: q(holes), 3: q(dilation), 4: q(pad), 5: ("i", 1)})


def embedding_sparse(combiner):
    net, rank, n = Net(), draw(1, 3), draw(1, 7)
    dense, rows = shape(1, 4, rank=rank), shape(1, 5, rank=draw(2, 3))
    indices = sorted(tuple(int(rng.integers(0, d)) for d in dense) for _ in range(n))
    operands = [net.input(I32, [n], modulus=rows[0]), net.ints(indices, [n, rank]), net.ints(dense), net.input(F32, [n]), net.input(F32, rows)]
    net.output(F32, dense[:-1] + rows[1:])
    ops.record("EMBEDDING_LOOKUP_SPARSE", net, operands, {0: ("b", combiner)})


def whole_ones():
    for a, b in ((F32, I32), (I32, F32), (I32, I8), (I8, I32), (I64, I32), (F32, I16), (I16, I8), (I16, F32), (ops.U8, I32), (I32, ops.U8), (I8, ops.U8)):
        bitcast(a, b)
    for t in (F32, I32, I16, I8):
        stablehlo_gather(t, (I32, I64)[draw(0, 1)])
        stablehlo_scatter(t, (I32, I64)[draw(0, 1)])
    for t, how in ((F32, 1), (F32, 2), (F32, 3), (F32, 4), (I32, 1), (I32, 2), (I32, 3), (I32, 4), (I8, 4), (I16, 1), (BOOL, 5), (BOOL, 6)):
        reduce_window(t, how)
    for t in (F32, I32):
        for how in range(4):
            stablehlo_window(t, how)
    for combiner in range(3):
        embedding_sparse(combiner)


def later_ones():
    squeeze(F32)
    squeeze(I32)
    for op in ("FLOOR", "CEIL", "SQUARE", "ROUND", "ELU", "RELU_0_TO_1", "SIN", "COS"):
        net, dims = Net(), shape()
        operands = [net.input(F32, dims)]
        net.output(F32, dims)
        ops.record(op, net, operands, resolver=OPTIMISED)
    for t in (F32, I32):
        for op in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
            plain("STABLEHLO_" + op, t, 2)
    for t in (F32, I32):
        segment_sum(t)
        for how in ("SUM", "PROD", "MAX", "MIN"):
            unsorted_segment("UNSORTED_SEGMENT_" + how, t)
    for t in (F32, I32, I16, I8):
        dilate(t)
    fake_quant()


def all_of_them():
    bilinear()
    for t in (F32, I32, I16, I8, I64):
        for op in ("FLOOR_DIV", "FLOOR_MOD"):
            floor_division(op, t)
    for t in (F32, I32):
        plain("SIGN", t)
        plain("ADD_N", t, draw(2, 4))
        one_hot(t, I32)
    for t in (F32, I32, I64):
        cumsum(t)
        plain("ZEROS_LIKE", t)
        fill(t)
        sparse(t)
        diagonal(t)
        bucketize(t)
        scatter(t)
        one_hot(t, I64)
        update_slice(t)
    for t in (I8, I16, I32):
        bits("BITWISE_XOR", t)
        bits("RIGHT_SHIFT", t)
    power()
    for t in (I32, I64):
        reduce("REDUCE_PROD", t)
        reverse_sequence(F32, t)
        reverse_sequence(I32, t)
    reduce("REDUCE_ANY", BOOL)
    reduce("REDUCE_ALL", BOOL)
    for t in (F32, I8):
        embedding(t)
    for t in (F32, I32, I64, I8, I16):
        top_k(t)
    update_slice(I8)


def broadcast(op, t, q=None, y=None, options=None, modulus=0, out=None):
    """Two operands, one of which broadcasts now and then."""
    net, dims = Net(), shape(rank=draw(1, 5))
    other = [1 if draw(0, 3) == 0 else d for d in dims][draw(0, len(dims) - 1):]
    operands = [net.input(t, dims, q, 2 if t == BOOL else 0), net.input(t, other, q, modulus)]
    net.output(t if out is None else out, dims, y)
    ops.record(op, net, operands, options, tag="any")


def choice(op, t):
    net, dims = Net(), shape(rank=draw(1, 4))
    operands = [net.input(BOOL, dims if op == "SELECT" else [1 if draw(0, 2) == 0 else d for d in dims], modulus=2)]
    operands += [net.input(t, dims), net.input(t, dims)]
    net.output(t, dims)
    ops.record(op, net, operands, tag="any")


def reduced(op, t):
    net, dims = Net(), shape(1, 4)
    axes = [i for i in range(len(dims)) if draw(0, 1)] or [0]
    keep = draw(0, 1)
    operands = [net.input(t, dims, modulus=2 if t == BOOL else 0), net.ints(axes + axes[:draw(0, 1)])]
    net.output(t, [1 if i in axes else d for i, d in enumerate(dims) if keep or i not in axes])
    ops.record(op, net, operands, {0: ("b", keep)}, tag="any")


def padded(t, by):
    net, dims = Net(), shape(rank=draw(1, 4))
    p = [[draw(0, 2), draw(0, 2)] for _ in dims]
    operands = [net.input(t, dims, modulus=2 if t == BOOL else 0), net.add(by, [len(dims), 2], data=np.array(p)), net.add(t, [1], data=np.array([1]))]
    net.output(t, [d + a + b for d, (a, b) in zip(dims, p)])
    ops.record("PADV2", net, operands, {}, tag="any")


def taken(t, index, computed):
    net, dims, n = Net(), shape(1, 5), draw(1, 6)
    axis = draw(0, len(dims) - 1)
    operands = [net.input(t, dims)]
    operands += [net.input(index, [n], modulus=dims[axis]) if computed else net.add(index, [n], data=rng.integers(0, dims[axis], n))]
    net.output(t, dims[:axis] + [n] + dims[axis + 1:])
    ops.record("GATHER", net, operands, {0: ("i", axis)}, tag="any")
    net, n = Net(), draw(1, 5)
    operands = [net.input(t, dims), net.input(index, [n, 1], modulus=dims[0])]
    net.output(t, [n] + dims[1:])
    ops.record("GATHER_ND", net, operands, {}, tag="any")


def sliced(t):
    """An ellipsis and a new axis, in any order, and one or two plain entries."""
    dims, net = shape(2, 4, rank=draw(3, 4)), Net()
    spec = ["ellipsis", "new"] + ["plain"] * draw(1, 2)
    spec = [spec[i] for i in rng.permutation(len(spec))]
    left, out, begin, end, shrink = len(dims) - spec.count("plain"), [], [], [], 0
    at = 0
    for k, what in enumerate(spec):
        b = draw(0, 1) if what == "plain" else 0
        begin.append(b)
        end.append(b + 1)
        if what == "ellipsis":
            out += dims[at:at + left]
            at += left
        elif what == "new":
            out.append(1)
        else:
            at += 1
            if draw(0, 1):
                shrink |= 1 << k
            else:
                out.append(1)
    operands = [net.input(t, dims), net.ints(begin), net.ints(end), net.ints([1] * len(spec))]
    net.output(t, out)
    ops.record("STRIDED_SLICE", net, operands, {2: ("i", 1 << spec.index("ellipsis")), 3: ("i", 1 << spec.index("new")), 4: ("i", shrink)}, tag="axes")


def rare_ones():
    """Operators on types that most networks do not have there."""
    for t in (I64, BOOL, I16):
        for op in ("EQUAL",) + (() if t == I16 else ("NOT_EQUAL",)) + (() if t == BOOL else ("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")):
            broadcast(op, t, modulus=2 if t == BOOL else 0, out=BOOL)
    for op in ("EQUAL", "NOT_EQUAL"):
        broadcast(op, I16, (0.001, 0), out=BOOL)
    for op in ("SELECT", "SELECT_V2"):
        choice(op, I64)
    for op in ("ADD", "SUB", "MUL"):
        for t in (I32, I64):
            broadcast(op, t, options={0: ("b", draw(0, 3))})
    for op in ("MAXIMUM", "MINIMUM"):
        broadcast(op, I64)
        for t in (I8, ops.U8, I16):
            broadcast(op, t, quant(t), quant(t))
    broadcast("SQUARED_DIFFERENCE", I32)
    bits("BITWISE_XOR", ops.U8)
    bits("RIGHT_SHIFT", ops.U8)
    reduce("REDUCE_PROD", ops.U8)
    for t in (BOOL, I64):
        reduced("REDUCE_MAX", t)
        reduced("REDUCE_MIN", t)
    for t in (I32, I64):
        reduced("SUM", t)
        reduced("MEAN", t)
        plain("NEG", t)
    plain("ABS", I32)
    for t in (I64, BOOL):
        padded(t, I32)
    for by in (I8, I16, I64):
        padded(I32, by)
    for index in (I16, I64):
        taken(F32, index, draw(0, 1))
        taken(I8, index, draw(0, 1))
    for t in (F32, I8, I64):
        sliced(t)
    net, dims = Net(), shape(rank=draw(1, 4))
    axis = draw(0, len(dims) - 1)
    operands = [net.input(I32, dims), net.ints(axis, [])]
    net.output(I64, dims[:axis] + dims[axis + 1:])
    ops.record("ARG_MAX", net, operands, {0: ("b", I64)}, tag="any")
    for a, b in ((I64, ops.U32), (F32, ops.U32), (F32, ops.F16), (I16, ops.U16), (F32, ops.U16)):
        net, dims = Net(), shape()
        operands = [net.input(a, dims)]
        net.output(b, dims)
        ops.record("CAST", net, operands, {0: ("b", a), 1: ("b", b)}, tag="to %d" % b)


def computed_weights(op, t, bias, groups=1, per_channel=True):
    """Weights that an operator before computes, and perhaps the bias."""
    net, kh, kw, each, oc = Net(), draw(1, 3), draw(1, 3), draw(1, 3), groups * draw(1, 3)
    ic, stride, same = each * groups, draw(1, 2), draw(0, 1)
    wt, h, w = ops.U8 if t == ops.U8 else I8, draw(4, 7), draw(4, 7)
    qx, n = quant(t, -7, -3), oc if op != "DEPTHWISE_CONV_2D" else ic * 2
    scales = [float(np.float32(s)) for s in 2.0 ** rng.uniform(-9, -5, size=n if per_channel and wt == I8 else 1)]
    zero = draw(0, 255) if wt == ops.U8 else draw(-20, 20) if op == "FULLY_CONNECTED" and len(scales) == 1 and t == I8 else 0
    x, wd = [draw(1, 2), h, w, ic], [oc, kh, kw, each]
    y = [x[0]] + [ops.window(d, k, stride, same) for d, k in ((h, kh), (w, kw))] + [n]
    if op == "DEPTHWISE_CONV_2D":
        wd = [1, kh, kw, n]
    elif op == "FULLY_CONNECTED":
        x, wd, y = [draw(1, 4), ic * kh], [n, ic * kh], None
        y = [x[0], n]
    elif op == "TRANSPOSE_CONV":
        x, y = [1, h, w, ic], [1, h * stride, w * stride, oc] if same else [1, (h - 1) * stride + kh, (w - 1) * stride + kw, oc]
    operands = [net.input(t, x, qx), net.input(wt, wd, (scales, zero), axis=3 if op == "DEPTHWISE_CONV_2D" else 0)]
    if bias is not None:
        q = ([float(np.float32(qx[0] * s)) for s in scales], 0)
        operands.append(net.input(bias, [n], q) if draw(0, 1) else net.add(bias, [n], q, rng.integers(-3000, 3000, n)))
    elif op == "FULLY_CONNECTED":
        operands.append(-1)
    if op == "TRANSPOSE_CONV":
        operands = [net.ints(y), operands[1], operands[0]] + operands[2:]
    net.output(t, y, quant(t, -4, -1))
    activation = ("b", int(rng.choice([0, 0, 1, 3])))
    options = {0: ("b", 1 - same), 1: ("i", stride), 2: ("i", stride), 3: activation}
    if op == "DEPTHWISE_CONV_2D":
        options.update({3: ("i", 2), 4: activation})
    elif op == "FULLY_CONNECTED":
        options = {0: activation}
        if t == I16 and bias is not None:
            options[4] = ("b", bias)
    elif op == "CONV_2D" and t == I16:
        options[6] = ("b", bias)
    ops.record(op, net, operands, options, tag="computed weights")


def all_computed_weights():
    for t in (I8, ops.U8, I16):
        for bias in (I32, None) if t != I16 else (I64, I32):
            computed_weights("FULLY_CONNECTED", t, bias)
            computed_weights("FULLY_CONNECTED", t, bias, per_channel=False)
            if t != I16 or bias == I64:
                computed_weights("TRANSPOSE_CONV", t, bias)
        for groups in (1, 2, 3):
            computed_weights("CONV_2D", t, I64 if t == I16 else I32, groups)
        computed_weights("DEPTHWISE_CONV_2D", t, I64 if t == I16 else I32)


def other_activation(op, t, activation):
    """A fused activation that limits nothing, TANH, SIGN_BIT or no number of the format, of operators whose kernels only limit."""
    net, tag, y = Net(), "activation %d" % activation, {I8: (.3, 1), ops.U8: (.3, 128), I16: (.01, 0)}.get(t)
    x, field, weights = quant(t, -7, -3), ("b", activation), t if t in (F32, ops.U8) else I8
    options = {0: ("b", 1), 1: ("i", 1), 2: ("i", 2), 3: field}

    def filters(dims):
        return net.add(weights, dims, None if t == F32 else (.01, 128 if t == ops.U8 else 0), ops.random_data(weights, dims))

    if op in ("ADD", "SUB", "MUL"):
        operands = [net.input(t, [2, 3, 4], x), net.input(t, [2, 3, 4], x)]
        net.output(t, [2, 3, 4], y)
        options = {0: field}
    elif op == "DIV":
        operands = [net.input(t, [2, 3, 4], x), net.add(t, [], x and (x[0], 0), [7])]
        net.output(t, [2, 3, 4], y)
        options = {0: field}
    elif op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
        operands = [net.input(t, [1, 4, 6, 3], x)]
        net.output(t, [1, 2, 5, 3], x)
        options.update({3: ("i", 2), 4: ("i", 2), 5: field})
    elif op == "DEPTHWISE_CONV_2D":
        operands = [net.input(t, [1, 5, 6, 3], x), filters([1, 2, 3, 3])]
        net.output(t, [1, 2, 4, 3], y)
        options = {0: ("b", 1), 1: ("i", 1), 2: ("i", 2), 3: ("i", 1), 4: field}
    elif op == "TRANSPOSE_CONV":
        operands = [net.ints([1, 11, 6, 2]), filters([2, 3, 3, 4]), net.input(t, [1, 5, 4, 4], x)]
        net.output(t, [1, 11, 6, 2], y)
    elif op == "CONV_2D":
        operands = [net.input(t, [1, 5, 6, 3], x), filters([4, 2, 3, 3])]
        bias = F32 if t == F32 else I64 if t == I16 else I32
        operands.append(net.add(bias, [4], x and (x[0] * .01, 0), [5, -70, 300, 2]))
        net.output(t, [1, 2, 4, 4], y)
        options.update({6: ("b", bias)} if t == I16 else {})
    elif op == "FULLY_CONNECTED":
        operands = [net.input(t, [3, 5], x), filters([4, 5]), -1]
        net.output(t, [3, 4], y)
        options = {0: field}
    else:
        operands = [net.input(t, [2, 3], x), net.input(t, [2, 3], x)]
        net.output(t, [4, 3], x)
        options = {0: ("i", 0), 1: field}
    ops.record(op, net, operands, options, tag=tag)


def other_activations():
    for activation in (4, 5, 9):
        for t in (F32, I8, ops.U8, I16):
            for op in ("ADD", "SUB", "MUL", "DIV", "AVERAGE_POOL_2D", "MAX_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV"):
                if t != F32 or op != "AVERAGE_POOL_2D":     # whose last bits are not the kernel's
                    other_activation(op, t, activation)
            if activation == 9:
                other_activation("FULLY_CONNECTED", t, activation)
                other_activation("CONCATENATION", t, activation)
        for op in ("ADD", "SUB", "MUL"):
            for t in (I32, I64):
                other_activation(op, t, activation)
        other_activation("DIV", I32, activation)


def no_axes(op, t, q=None, y=None):
    """A reduction over an empty constant of axes, which leaves what it is given but for the scale."""
    net, dims = Net(), shape(rank=draw(1, 4))
    operands = [net.input(t, dims, q, modulus=2 if t == BOOL else 0), net.ints([], [0])]
    net.output(t, dims, y)
    ops.record(op, net, operands, {0: ("b", draw(0, 1))}, tag="no axes")


def all_no_axes():
    for op in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        for t in (F32, I32, I64):
            no_axes(op, t)
        for t in (I8, ops.U8, I16):
            q = quant(t, -7, -3)
            if op != "SUM" or t == ops.U8:
                no_axes(op, t, q, q)
            if op == "MEAN" or op == "REDUCE_PROD" and t != ops.U8:
                no_axes(op, t, q, quant(t, -7, -3))
    for op in ("REDUCE_ANY", "REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN"):
        no_axes(op, BOOL)


def sliced_anyhow(t):
    """An ellipsis and new axes at any entries, also at the same one, and more entries than dimensions. The kernel says the result's shape."""
    dims, n = shape(2, 4, rank=draw(1, 4)), draw(1, 4)
    ellipsis, new = int(rng.choice([0, 1, 2, 4])), int(rng.choice([0, 1, 2, 4, 3, 5]))
    new |= ellipsis if draw(0, 1) else 0
    ellipsis, new, shrink = (m & (1 << n) - 1 for m in (ellipsis, new, int(rng.choice([0, 0, 1, 2]))))
    entries = [[draw(-2, 1) for _ in range(n)], [int(rng.choice([3, -1, 4, 2])) for _ in range(n)],
               [1 if shrink >> k & 1 else int(rng.choice([1, 1, 2, -1])) for k in range(n)]]
    masks = {0: ("i", draw(0, (1 << n) - 1)), 1: ("i", draw(0, (1 << n) - 1)), 2: ("i", ellipsis), 3: ("i", new), 4: ("i", shrink)}
    added = bin(new & ~ellipsis).count("1")
    if n > len(dims) + added and (ellipsis or new):     # the kernel reads dimensions that are not there
        return
    out = [1]
    for _ in range(2):
        net = Net()
        operands = [net.input(t, dims)] + [net.ints(e) for e in entries]
        net.output(t, out)
        try:
            it = ops.Interpreter(model_content=net.file("STRIDED_SLICE", operands, masks), experimental_op_resolver_type=ops.OpResolverType.BUILTIN_REF)
            it.allocate_tensors()
        except (RuntimeError, ValueError):
            return
        out = it.get_output_details()[0]["shape"].tolist()
    if 0 not in out:
        ops.record("STRIDED_SLICE", net, operands, masks, tag="anyhow")


def other_types():
    """Types that these operators have had no cases of, and counts of shifts beyond the bits."""
    ops.DTYPE[ops.U16], ops.NAME[ops.U16] = np.uint16, "uint16"
    for t in (ops.U16, ops.U8, I8, I16, I32):
        net, dims = Net(), shape()
        operands = [net.input(t, dims), net.input(t, dims, modulus=40)]
        net.output(t, dims)
        ops.record("RIGHT_SHIFT", net, operands, tag="any count")
    for op in ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM"):
        for t in (BOOL, ops.U8, I8, I16, ops.U16, I64):
            net, dims = Net(), shape()
            operands = [net.input(t, dims, modulus=2 if t == BOOL else 0) for _ in range(2)]
            net.output(t, dims)
            ops.record("STABLEHLO_" + op, net, operands)
    diagonal(ops.U8)
    net, dims = Net(), shape()
    operands = [net.input(ops.U8, dims, (float(np.float32(2.0 ** rng.uniform(-8, 0))), draw(0, 255)))]
    net.output(ops.U8, dims, (1 / 16, 255))
    ops.record("LOG_SOFTMAX", net, operands)
    for t in (I8, ops.U8, I16):
        net, dims, n = Net(), shape(1, 5, rank=draw(2, 3)), draw(1, 6)
        scales = [float(np.float32(s)) for s in 2.0 ** rng.uniform(-9, -5, size=dims[0] if t != I16 and draw(0, 1) else 1)]
        operands = [net.input(I32, [n], modulus=dims[0]), net.input(t, dims, (scales, 0)) if draw(0, 1) else net.add(t, dims, (scales, 0), ops.random_data(t, dims))]
        net.output(F32, [n] + dims[1:])
        ops.record("EMBEDDING_LOOKUP", net, operands, tag=ops.NAME[t] + " to float32")


def broadcast_product(t, out):
    """A product of matrices whose leading dimensions are broadcast, each where it is 1."""
    net, m, k, n, adj = Net(), draw(1, 4), draw(1, 5), draw(1, 4), [draw(0, 1), draw(0, 1)]
    lead = shape(1, 3, rank=draw(1, 3))
    a, b = ([1 if draw(0, 1) else d for d in lead][draw(0, len(lead) - 1):] for _ in range(2))
    full = list(np.broadcast_shapes(tuple(a), tuple(b)))
    x, y = quant(t, -7, -3), {I8: quant(I8, -5, -1), I16: quant(I16, -5, -1), I32: (.5, 0)}.get(out)
    operands = [net.input(t, a + ([k, m] if adj[0] else [m, k]), x), net.input(t, b + ([n, k] if adj[1] else [k, n]), x)]
    net.output(out, full + [m, n], y)
    ops.record("BATCH_MATMUL", net, operands, {0: ("B", adj[0]), 1: ("B", adj[1])}, tag="broadcast" + " into int32" * (out == I32))


def products():
    for t in (I8, I16, F32):
        broadcast_product(t, t)
        broadcast_product(t, t)
    broadcast_product(I8, I32)
    net, dims = Net(), [3, 40]
    operands = [net.input(I16, dims)]
    net.output(I16, dims)
    ops.record("ABS", net, operands, tag="no scale")
    net, dims = Net(), shape(1, 5, rank=draw(1, 3))
    depth, n = draw(1, len(dims)), draw(1, 5)
    operands = [net.input(I32, [n, depth], modulus=min(dims)), net.input(ops.U8, [n] + dims[depth:]), net.ints(dims)]
    net.output(ops.U8, dims)
    ops.record("SCATTER_ND", net, operands)


def hybrid_product():
    """float32 by several constant matrices of 8 bits, as the converter's dynamic range has them."""
    net, m, k, n, adj = Net(), draw(1, 4), draw(1, 20), draw(1, 4), draw(0, 1)
    lead = shape(2, 6, rank=1)
    a = [1 if draw(0, 3) == 0 else lead[0]][draw(0, 1):]
    b = [1 if draw(0, 3) == 0 else lead[0]]
    operands = [net.input(F32, a + [m, k]), net.add(I8, b + ([n, k] if adj else [k, n]), (.01, 0), rng.integers(-127, 128, b + ([n, k] if adj else [k, n])))]
    net.output(F32, list(np.broadcast_shapes(tuple(a), tuple(b))) + [m, n])
    ops.record("BATCH_MATMUL", net, operands, {1: ("B", adj), 2: ("B", draw(0, 1))}, tag="by int8")


def edge_case(op, t, n_in=1, options=None, out=None, tag="", **how):
    """One operator on numbers at the edges of their type."""
    net, dims = Net(), [3, draw(2, 5), 40]
    operands = [net.input(t, dims, modulus=ops.EDGES)] + [net.input(t, dims[-rank:] if rank else [], modulus=ops.EDGES) for rank in [draw(0, 3)][:n_in - 1]]
    net.output(t if out is None else out, dims)
    ops.record(op, net, operands, options, tag=("edges " + tag).strip(), **how)


def edges_of_sums(op, t):
    net, dims = Net(), [draw(1, 4), draw(2, 5), draw(1, 8)]
    operands = [net.input(t, dims, modulus=ops.EDGES), net.ints([1])]
    net.output(t, [dims[0], dims[2]])
    ops.record(op, net, operands, {0: ("b", 0)}, tag="edges")


def edges_of_windows():
    pool = {0: ("b", 1), 1: ("i", 2), 2: ("i", 1), 3: ("i", 2), 4: ("i", 3), 5: ("b", draw(0, 3))}
    net = Net()
    operands = [net.input(F32, [1, 6, 7, 3], modulus=ops.EDGES)]
    net.output(F32, [1, 4, 3, 3])
    ops.record("MAX_POOL_2D", net, operands, pool, tag="edges")
    for op, dims, options in (("FULLY_CONNECTED", [4, 3], {0: ("b", draw(0, 3))}), ("CONV_2D", [4, 1, 1, 3], {0: ("b", 1), 1: ("i", 1), 2: ("i", 1), 3: ("b", draw(0, 3))})):
        net, image = Net(), [6] + dims[1:-1] + [3]
        operands = [net.input(F32, image, modulus=ops.EDGES), net.add(F32, dims, data=ops.random_data(F32, dims)),
                    net.add(F32, [4], data=[-0.0, 1, 3e38, -2])]
        net.output(F32, image[:-1] + [4])
        ops.record(op, net, operands, options, tag="edges")


def halves():
    """GELU and SOFTMAX of float16, which have kernels of their own."""
    ops.DTYPE[ops.F16], ops.NAME[ops.F16] = np.float16, "float16"
    for op, options in (("GELU", {0: ("b", 0)}), ("GELU", {0: ("b", 1)}), ("SOFTMAX", {0: ("f", float(rng.choice([1, 1, .37])))})):
        net, dims = Net(), shape(1, 30, rank=draw(1, 3))
        operands = [net.input(ops.F16, dims)]
        net.output(ops.F16, dims)
        ops.record(op, net, operands, options)


def angles():
    net, dims = Net(), shape(1, 4, rank=draw(1, 6))
    modulus = ops.EDGES if draw(0, 1) else 0
    operands = [net.input(F32, dims, modulus=modulus) for _ in range(2)]
    net.output(F32, dims)
    ops.record("ATAN2", net, operands)


def powers(kind):
    """Powers that int32 does not hold; one exponent for another shape has a rule of its own."""
    net, dims = Net(), shape(2, 6)
    operands = [net.input(I32, dims), net.input(I32, dims if kind == 0 else [1] * (kind - 1), modulus=40)]
    net.output(I32, [1] * (kind - 1 - len(dims)) + dims)
    ops.record("POW", net, operands, tag="wide")


def quotients_at_the_edges():
    net, dims = Net(), shape(2, 6)
    operands = [net.input(I32, dims, modulus=ops.EDGES), net.add(I32, [], data=[int(rng.choice([-1, 1, 7, -2**31, 2**31 - 1]))])]
    net.output(I32, dims)
    ops.record("DIV", net, operands, {0: ("b", int(rng.choice([0, 1, 3])))}, tag="edges")


def chosen_at_the_edges():
    """The greatest and the least along each axis where some elements are NaN, and the greatest ones."""
    dims = [draw(1, 3), draw(1, 40), draw(1, 3)]
    dims = [dims[k] for k in rng.permutation(3)]
    for op in ("ARG_MAX", "ARG_MIN"):
        for axis in range(3):
            net = Net()
            operands = [net.input(F32, dims, modulus=ops.EDGES), net.ints(axis, [])]
            net.output(I32, dims[:axis] + dims[axis + 1:])
            ops.record(op, net, operands, {0: ("b", I32)}, tag="edges")
    net, k = Net(), draw(1, dims[-1])
    operands = [net.input(F32, dims, modulus=ops.EDGES), net.ints(k, [])]
    net.output(F32, dims[:-1] + [k])
    net.output(I32, dims[:-1] + [k])
    ops.record("TOPK_V2", net, operands, tag="edges")


def buckets(t):
    """Boundaries some of which are NaN, which the kernel takes for sorted."""
    net, dims = Net(), shape()
    bounds = np.sort(rng.normal(size=draw(1, 9)) * (1 if t == F32 else 500)).astype(np.float32)
    bounds[rng.random(len(bounds)) < .3] = np.nan
    operands = [net.input(t, dims, modulus=ops.EDGES if draw(0, 1) else 0)]
    net.output(I32, dims)
    ops.record("BUCKETIZE", net, operands, {0: ops.scalars("f", bounds.tolist())}, tag="NaN")


def float_images():
    """Averages, summed element by element, and bilinear images, whose zeros are never -0."""
    net, c, kh, kw, stride, same = Net(), draw(1, 20), draw(1, 4), draw(1, 4), draw(1, 3), draw(0, 1)
    h, w = draw(kh, 9), draw(kw, 9)
    operands = [net.input(F32, [1, h, w, c])]
    net.output(F32, [1] + [ops.window(d, k, stride, same) for d, k in ((h, kh), (w, kw))] + [c])
    options = {0: ("b", 1 - same), 1: ("i", stride), 2: ("i", stride), 3: ("i", kw), 4: ("i", kh), 5: ("b", draw(0, 3))}
    ops.record("AVERAGE_POOL_2D", net, operands, options)
    net, dims, out = Net(), [1, draw(1, 6), draw(1, 6), draw(1, 4)], [draw(1, 9), draw(1, 9)]
    operands = [net.input(F32, dims, modulus=ops.EDGES), net.ints(out)]
    net.output(F32, [1] + out + dims[3:])
    align = draw(0, 1)
    ops.record("RESIZE_BILINEAR", net, operands, {2: ("b", align), 3: ("b", 0 if align else draw(0, 1))}, tag="edges")


def hybrid_products():
    """As hybrid_product(), along several dimensions: the kernel takes the scales of other rows, which is followed."""
    lead, adj = shape(1, 3, rank=draw(2, 3)), [draw(0, 1), draw(0, 1)]
    b = [1 if draw(0, 2) == 0 else d for d in lead][draw(0, len(lead)):]
    net, m, k, n, asymmetric = Net(), draw(1, 4), draw(1, 20), draw(1, 4), draw(0, 1)
    e = [1] * (3 - len(b)) + b
    if asymmetric and sum(e) - 3 >= e[1] * e[2]:     # the kernel may read sums that it has not made
        return
    operands = [net.input(F32, lead + ([k, m] if adj[0] else [m, k])),
                net.add(I8, b + ([n, k] if adj[1] else [k, n]), (.01, 0), rng.integers(-127, 128, b + ([n, k] if adj[1] else [k, n])))]
    net.output(F32, lead + [m, n])
    ops.record("BATCH_MATMUL", net, operands, {0: ("B", adj[0]), 1: ("B", adj[1]), 2: ("B", asymmetric)}, tag="by int8, several")


def hybrid_zero_point(op):
    """Weights of 8 bits with a zero point, which hybrid kernels do not read."""
    net, k, n = Net(), draw(1, 12), draw(1, 5)
    x, w, y = ([3, k], [n, k], [3, n]) if op == "FULLY_CONNECTED" else ([1, 4, 4, k], [n, 2, 2, k], [1, 3, 3, n])
    operands = [net.input(F32, x), net.add(I8, w, (.01, draw(-20, 20)), rng.integers(-127, 128, w))]
    operands.append(net.add(F32, [n], data=rng.normal(size=n)))
    net.output(F32, y)
    options = {} if op == "FULLY_CONNECTED" else {0: ("b", 1), 1: ("i", 1), 2: ("i", 1)}
    ops.record(op, net, operands, options, tag="by int8")


def exact_ones():
    halves()
    angles()
    for kind in range(5):
        powers(kind)
    quotients_at_the_edges()
    chosen_at_the_edges()
    for t in (F32, I32, I64):
        buckets(t)
    float_images()


def edges():
    for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "ABS", "NEG", "FLOOR", "SQRT", "SIGN", "SQUARE"):
        edge_case(op, F32)
    for op in ("ROUND", "CEIL"):
        edge_case(op, F32, resolver=OPTIMISED)
    edge_case("LEAKY_RELU", F32, options={0: ("f", .25)})
    for op in ("ADD", "SUB", "MUL", "DIV"):
        for activation in range(4):
            edge_case(op, F32, 2, {0: ("b", activation)}, tag="activation %d" % activation)
    for op in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        edge_case(op, F32, 2)
    for t in (F32, I32, I64):
        for op in ("LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "EQUAL", "NOT_EQUAL"):
            edge_case(op, t, 2, out=BOOL)
        for op in ("SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
            edges_of_sums(op, t)
        if t != F32:
            for op in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM"):
                edge_case(op, t, 2)
    edges_of_windows()


def main():
    to = Path(sys.argv[1] if len(sys.argv) > 1 else "tests/models/litert_host_ops.gz")
    for _ in range(ROUNDS):
        all_of_them()
    for _ in range(ROUNDS):
        later_ones()
    for _ in range(ROUNDS):
        newest_ones()
    for _ in range(ROUNDS):
        whole_ones()
    for k in range(200):
        quantised_product((I8, I16)[k % 2])
    for _ in range(ROUNDS):
        rare_ones()
    for _ in range(ROUNDS):
        all_computed_weights()
    other_activations()
    for _ in range(3):
        all_no_axes()
    for _ in range(40):
        sliced_anyhow(F32)
        sliced_anyhow(I8)
    for _ in range(ROUNDS):
        other_types()
    for _ in range(ROUNDS):
        edges()
        products()
    for _ in range(2 * ROUNDS):
        hybrid_product()
    for _ in range(ROUNDS):
        exact_ones()
    for _ in range(4 * ROUNDS):
        hybrid_products()
    for _ in range(ROUNDS // 2):
        hybrid_zero_point("FULLY_CONNECTED")
        hybrid_zero_point("CONV_2D")
    with open(to, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as z:
        z.write(b"TFLOPS1\n" + b"".join(ops.cases))
    for name, why in sorted(set(ops.refused)):
        print("refused by the reference kernels:", name, "-", why)
    count = Counter(case[2:2 + int.from_bytes(case[:2], "little")].decode() for case in ops.cases)
    for name in sorted(count):
        print(name, count[name])
    print(len(ops.cases), "cases,", to.stat().st_size, "bytes in", to)


if __name__ == "__main__":
    main()
