#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what LiteRT 2.3's reference kernels give for networks with control flow and state.

usage: record_flow.py [NAME ...]          all networks, or those: their cases are replaced
       record_flow.py --one NAME KIND OUT one case

Loops, branches, lists, variables and recurrent layers as TensorFlow's converter
writes them; conformance/tflite_flow runs them on the same inputs, run after run
where a network keeps state.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install tensorflow-cpu==2.21.0 ai-edge-litert==2.3.0
    python3.11 -m venv /tmp/m && /tmp/m/bin/pip install tflite-micro 'numpy<2'
    MICRO_PYTHON=/tmp/m/bin/python /tmp/v/bin/python tools/train/record_flow.py

The file, gzip: "TFLFLOW1", then per case, little-endian: u16 and name, u32 and
network, u8 inputs, u8 runs, u8 outputs, and for each run its inputs and its
outputs, each as u32 and its bytes. A name such as coder_at_encode names a signature. Each network is made in a process of its own,
since the converter's calibration may end the process.
"""

import gzip
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from flatbuffer import Table, Tables, Vector, flatbuffer, scalars, string

RUNS = 4
NETS = {}


def net(*kinds, runs=RUNS):
    def note(f):
        NETS[f.__name__] = (f, kinds, runs)
        return f
    return note


def layers(shape, *make):
    """A Keras network of one sample, with random weights."""
    import numpy as np
    import tensorflow as tf
    i = x = tf.keras.Input(batch_shape=(1,) + shape)
    for m in make:
        x = m(tf.keras.layers)(x)
    model = tf.keras.Model(i, x)
    rng = np.random.default_rng(4)
    for w in model.weights:
        if w.dtype == "float32" and "seed" not in w.path:
            w.assign(np.asarray(w) + rng.normal(size=w.shape).astype("f4") * 0.1)
    return model


def function(f, *specs):
    import tensorflow as tf
    return tf.function(f, input_signature=[tf.TensorSpec(s, t) for s, t in specs]).get_concrete_function()


# ---- recurrent layers ----

@net("f32", "f16")
def lstm():
    return layers((7, 5), lambda L: L.LSTM(6), lambda L: L.Dense(4))


@net("f32")
def lstm_sequences():
    """A list of results; the second one reads the first one backwards."""
    return layers((7, 5), lambda L: L.LSTM(6, return_sequences=True), lambda L: L.LSTM(4, go_backwards=True))


@net("f32")
def lstm_both_ways():
    return layers((6, 5), lambda L: L.Bidirectional(L.LSTM(4, return_sequences=True)), lambda L: L.Dense(3))


@net("f32")
def gru():
    return layers((7, 5), lambda L: L.GRU(6, return_sequences=True), lambda L: L.GRU(3, reset_after=False))


@net("dyn")
def recurrent_wide():
    """Weights of more than 1024 elements, which the converter quantises."""
    return layers((7, 12), lambda L: L.LSTM(24, return_sequences=True), lambda L: L.GRU(24), lambda L: L.Dense(48))


@net("f32")
def gru_both_ways():
    return layers((6, 5), lambda L: L.Bidirectional(L.GRU(4)), lambda L: L.Dense(3))


@net("f32", "f16")
def rnn():
    return layers((7, 5), lambda L: L.SimpleRNN(6, return_sequences=True), lambda L: L.SimpleRNN(5))


@net("f32")
def lstm_images():
    return layers((3, 5, 6, 2), lambda L: L.ConvLSTM2D(3, 3, padding="same"))


@net("f32", "int8", "int16")
def gru_unrolled():
    return layers((4, 5), lambda L: L.GRU(6, unroll=True), lambda L: L.Dense(3))


@net("int8", "int16")
def lstm_unrolled():
    return layers((4, 5), lambda L: L.LSTM(6, unroll=True), lambda L: L.Dense(3))


@net("int8", "int16")
def rnn_unrolled():
    return layers((4, 5), lambda L: L.SimpleRNN(6, unroll=True, return_sequences=True), lambda L: L.Dense(3))


@net("f32", "f16")
def volumes():
    """Convolutions of three dimensions."""
    return layers((4, 5, 6, 2), lambda L: L.Conv3D(4, 3, strides=(1, 2, 1), padding="same", activation="relu"), lambda L: L.Conv3D(3, 2),
                  lambda L: L.Conv3DTranspose(2, 3, strides=2, padding="same"), lambda L: L.Conv3DTranspose(2, 2))


@net("f32", "f16", "int8")
def groups():
    """Convolutions of several groups, of several channels each."""
    return layers((6, 7, 8), lambda L: L.Conv2D(8, 3, groups=4, padding="same", activation="relu"), lambda L: L.Conv2D(6, 1, groups=2))


@net("f32")
def boxes():
    """Non-maximum suppression, hard and soft."""
    import tensorflow as tf

    def f(x, s):
        b = tf.concat([tf.minimum(x[:, :2], x[:, 2:]), tf.maximum(x[:, :2], x[:, 2:])], 1)
        i, n = tf.raw_ops.NonMaxSuppressionV4(boxes=b, scores=s, max_output_size=6, iou_threshold=0.3, score_threshold=0.1, pad_to_max_output_size=True)
        j, t, m = tf.raw_ops.NonMaxSuppressionV5(boxes=x, scores=s, max_output_size=7, iou_threshold=1.0, score_threshold=0.2,
                                                 soft_nms_sigma=0.5, pad_to_max_output_size=True)
        return i, n, j, t, m
    return function(f, ((12, 4), tf.float32), ((12,), tf.float32))


# ---- fused recurrent layers, which today's converter does not write any more ----

def layer(net, rng, cells, inputs, outputs, hybrid, coupled=False, peephole=False, project=False, norm=False):
    """The operands of one LSTM, without its states: weights, peepholes, biases, projection; normalisation."""
    import numpy as np
    from record_ops import F32, I8

    def weights(rows, columns=None, of=1.0):
        dims = [rows] if columns is None else [rows, columns]
        if hybrid and (columns is not None or of == 0.5):
            return net.add(I8, dims, (float(np.float32(rng.uniform(0.004, 0.02))), 0), rng.integers(-127, 128, dims))
        return net.add(F32, dims, data=rng.normal(size=dims) * of)
    gates = [k for k in range(4) if k or not coupled]

    def each(make):
        return [make() if k in gates else -1 for k in range(4)]
    w = each(lambda: weights(cells, inputs)) + each(lambda: weights(cells, outputs))
    w += [weights(cells, of=0.5) if peephole and (k or not coupled) else -1 for k in range(3)]
    w += each(lambda: weights(cells))
    w += [weights(outputs, cells), weights(outputs, of=0.1)] if project else [-1, -1]
    return w, each(lambda: weights(cells, of=0.9)) if norm else []


def draws(rng, n, cells):
    """For an LSTM of int8 in n: what draws a scale, adds a matrix of weights, and adds a vector of codes for the cells."""
    import numpy as np
    import record_ops as ops

    def scale(lo, hi):
        return float(np.float32(rng.uniform(lo, hi)))

    def weights(rows, columns):
        return n.add(ops.I8, [rows, columns], (scale(0.004, 0.02), 0), rng.integers(-127, 128, (rows, columns)))

    def codes(t, q, most):
        return n.add(t, [cells], (q, 0), rng.integers(-most, most + 1, cells))
    return scale, weights, codes


@net("plain", "coupled", "peephole", "projection", "normalised", "all", "hybrid", "hybrid_all", "asymmetric")
def fused_lstm(kind):
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(len(kind)), ops.Net()
    hybrid, every = kind.startswith("hybrid") or kind == "asymmetric", kind.endswith("all")
    batch, steps, inputs, cells, outputs = 2, 5, 6, 8, 5 if every or kind == "projection" else 8
    x = n.input(ops.F32, [steps, batch, inputs] if kind == "plain" else [batch, steps, inputs])
    w, norm = layer(n, rng, cells, inputs, outputs, hybrid, kind in ("coupled", "hybrid_all"), every or kind == "peephole",
                    every or kind == "projection", every or kind == "normalised")
    states = [n.add(ops.F32, [batch, outputs], variable=1), n.add(ops.F32, [batch, cells], variable=1)]
    n.output(ops.F32, [steps, batch, outputs] if kind == "plain" else [batch, steps, outputs])
    ops.OPS["LSTM"] = (44, 3, 71)
    return n.file("LSTM", [x] + w + states + norm, {0: ("b", 4), 1: ("f", 0.7 if every else 0.0), 2: ("f", 0.4 if every else 0.0),
                                                    3: ("b", int(kind == "plain")), 4: ("b", int(kind == "asymmetric"))})


@net("plain", "coupled", "all", "hybrid")
def fused_lstm_step(kind):
    """LSTM over one step, whose states are zero before each."""
    import numpy as np
    import record_ops as ops
    rng, n, every = np.random.default_rng(20 + len(kind)), ops.Net(), kind == "all"
    batch, inputs, cells, outputs = 3, 6, 8, 5 if every else 8
    x = n.input(ops.F32, [batch, inputs])
    w, norm = layer(n, rng, cells, inputs, outputs, kind == "hybrid", kind == "coupled", every, every, every)
    states = [n.add(ops.F32, [batch, outputs], variable=1), n.add(ops.F32, [batch, cells], variable=1)]
    n.output(ops.F32, [batch, outputs])
    ops.OPS["LSTM"] = (16, 3, 14)
    return n.file("LSTM", [x] + w + states + norm, {0: ("b", 4), 1: ("f", 0.7 if every else 0.0), 2: ("f", 0.4 if every else 0.0),
                                                    3: ("b", 0), 4: ("b", 0)})


@net("plain", "coupled", "peephole", "projection", "normalised", "limits", "all", "all_coupled", "step", "step_all")
def fused_lstm_int8(kind):
    """LSTM of int8 with a cell state of int16; the scales of what lies between its parts are those of tensors that it never writes."""
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(40 + len(kind)), ops.Net()
    every, coupled, step = "all" in kind, "coupled" in kind, kind.startswith("step")
    peephole, project, norm = (every or kind in names for names in (("peephole",), ("projection", "limits"), ("normalised",)))
    batch, steps, inputs, cells, outputs = 2, 6, 7, 8, 8 if not project else 5

    scale, weights, codes = draws(rng, n, cells)

    def each(make):
        return [make() if k or not coupled else -1 for k in range(4)]
    x_dims, y_dims = ([batch, inputs], [batch, outputs]) if step else ([batch, steps, inputs], [batch, steps, outputs])
    x_scale, y_scale, hidden = scale(0.01, 0.03), 0.0071, 0.0063 if project else 0.0071
    zero = -9 if project else 11
    operands = [n.input(ops.I8, x_dims, (x_scale, 5))] + each(lambda: weights(cells, inputs)) + each(lambda: weights(cells, outputs))
    operands += [codes(ops.I16, scale(1e-5, 4e-5), 32767) if peephole and (k or not coupled) else -1 for k in range(3)]
    operands += each(lambda: codes(ops.I32, scale(1e-5, 3e-5) / 1024 if norm else x_scale * 0.01, 400000 if norm else 3000))
    operands += [weights(outputs, cells), n.add(ops.I32, [outputs], (5e-5, 0), rng.integers(-2000, 2001, outputs))] if project else [-1, -1]
    operands += [n.add(ops.I8, [batch, outputs], (y_scale, 11), variable=1), n.add(ops.I16, [batch, cells], (2.0 ** -11, 0), variable=1)]
    operands += each(lambda: codes(ops.I16, scale(2e-5, 6e-5), 32767)) if norm else [-1] * 4
    between = [n.add(ops.I16, [1], (scale(2e-4, 5e-4), 0)) for _ in range(4)] + [n.add(ops.I8, [1], (hidden, zero))]
    n.output(ops.I8, y_dims, (y_scale, 11))
    limits = kind == "limits"
    options = {0: ("b", 4), 1: ("f", 0.9 if limits else 0.0), 2: ("f", 0.4 if limits else 0.0)}
    op = Table({0: ("I", 0), 1: scalars("i", operands), 2: scalars("i", n.outputs), 3: ("B", 14 if step else 71),
                4: Table(options if step else {**options, 3: ("b", 0)}), 8: scalars("i", between)})
    graph = Table({0: Tables(n.tensors), 1: scalars("i", [i for i, _, _ in n.inputs]), 2: scalars("i", n.outputs), 3: Tables([op])})
    code = 16 if step else 44
    return flatbuffer(Table({0: ("I", 3), 1: Tables([Table({0: ("b", code), 2: ("i", 3), 3: ("i", code)})]), 2: Tables([graph]), 4: Tables(n.buffers)}), b"TFL3")


@net("u32")
def unsigned(_):
    """Operators on uint32, which TOSA has not."""
    import numpy as np
    import record_ops as ops
    ops.DTYPE[ops.U32] = np.uint32
    n, dims = ops.Net(), [4, 9]
    x = [n.input(ops.U32, dims), n.input(ops.U32, dims)]
    big = n.add(ops.U32, dims, data=np.random.default_rng(6).integers(0, 2**32, dims))
    return several(n, [(161, 1, [big, x[0]], [n.output(ops.U32, dims)], 0, {})] +
                   [(code, 1, [y, x[1]], [n.output(ops.U32, dims)], 0, {}) for code, y in ((163, big), (165, big), (166, x[0]), (181, x[0]))])


@net("f32", "f32_inputs", "u8", "u8_inputs")
def fused_lstm_basic(kind):
    """LSTM of kernel type BASIC: states are variables, or inputs with all four results read."""
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(70 + len(kind)), ops.Net()
    batch, inputs, cells, real, plain = 3, 7, 6, kind.startswith("f32"), kind.endswith("inputs")
    t, q = (ops.F32, None) if real else (ops.U8, (1 / 128, 128))
    states = [(ops.F32 if real else ops.I16, None if real else (2.0 ** -11, 0)), (t, q)]

    def state(which, quantised):
        return n.input(which, [batch, cells], quantised) if plain else n.add(which, [batch, cells], quantised, variable=1)

    dims = [4 * cells, inputs + cells]
    w = n.add(t, dims, None if real else (0.006, 117), rng.normal(size=dims) if real else rng.integers(0, 256, dims))
    bias = n.add(ops.F32 if real else ops.I32, [4 * cells], None if real else (0.006 / 128, 0), rng.normal(size=4 * cells) * (1 if real else 9000))
    operands = [n.input(t, [batch, inputs], q), state(t, q), w, bias, state(*states[0])]
    scratch = ((t, [batch, inputs + cells], q), (ops.F32 if real else ops.I16, [batch, 4 * cells], None if real else (2.0 ** -12, 0)))
    results = [n.output(t, [batch, cells], q), n.output(states[0][0], [batch, cells], states[0][1])]
    results += [n.output(*s) if plain else n.add(*s) for s in scratch]
    return several(n, [(16, 2, operands, results, 14, {0: ("b", 4), 3: ("b", 1)})])


@net("plain", "limits", "wide", "narrow")
def fused_lstm_products8(kind):
    """LSTM of int8 whose products have 8 bits, with the scales of twelve tensors between its parts."""
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(60 + len(kind)), ops.Net()
    batch, inputs, cells, outputs = (3, 40, 24, 9) if kind == "wide" else (2, 7, 8, 5)
    scale, weights, codes = draws(rng, n, cells)
    x_scale, y_scale = scale(0.01, 0.03), scale(0.004, 0.009)
    operands = [n.input(ops.I8, [batch, inputs], (x_scale, -7)), -1] + [weights(cells, inputs) for _ in range(3)]
    operands += [-1] + [weights(cells, outputs) for _ in range(3)] + [-1] * 4
    operands += [codes(ops.I32, scale(1e-5, 3e-5) / 1024, 40000) for _ in range(3)]
    operands += [weights(outputs, cells), n.add(ops.I32, [outputs], (5e-7, 0), rng.integers(-200000, 200001, outputs))]
    operands += [n.add(ops.I8, [batch, outputs], (y_scale, 11), variable=1), n.add(ops.I16, [batch, cells], (2.0 ** -15, 0), variable=1)]
    operands += [-1] + [codes(ops.I16, scale(2e-5, 6e-5), 32767) for _ in range(3)]
    small = 0.002 if kind == "narrow" else 0.03     # narrow: products beyond 8 bits
    between = [n.add(ops.I8 if k % 3 else ops.I16, [1], (scale(small / 2, small) if k % 3 else scale(2e-4, 5e-4),
                                                        int(rng.integers(-20, 21)) if k % 3 else 0)) for k in range(12)]
    n.output(ops.I8, [batch, outputs], (y_scale, 11))
    limits = kind == "limits"
    op = Table({0: ("I", 0), 1: scalars("i", operands), 2: scalars("i", n.outputs), 3: ("B", 14),
                4: Table({0: ("b", 4), 1: ("f", 0.3 if limits else 0.0), 2: ("f", 0.2 if limits else 0.0)}), 8: scalars("i", between)})
    graph = Table({0: Tables(n.tensors), 1: scalars("i", [i for i, _, _ in n.inputs]), 2: scalars("i", n.outputs), 3: Tables([op])})
    return flatbuffer(Table({0: ("I", 3), 1: Tables([Table({0: ("b", 16), 2: ("i", 3), 3: ("i", 16)})]), 2: Tables([graph]), 4: Tables(n.buffers)}), b"TFL3")


@net("lstm", "lstm_narrow", "lstm_hybrid", "lstm_major", "lstm_other", "rnn", "rnn_narrow", "rnn_major", "rnn_hybrid", "rnn_other", "rnn_other_major")
def fused_auxiliary(kind):
    """Both ways with an auxiliary input; in "other" it has no weights and is what the way back reads."""
    import numpy as np
    import record_ops as ops
    rng, n, lstm = np.random.default_rng(80 + len(kind)), ops.Net(), kind.startswith("lstm")
    hybrid, major, other, batch = "hybrid" in kind, "major" in kind, "other" in kind, 2
    extra = 6 if other else 4 if "narrow" in kind else 9
    dims = [5, batch] if major else [batch, 5]
    x, aux = n.input(ops.F32, dims + [6]), n.input(ops.F32, dims + [extra])

    def weights(*dims):
        if hybrid and len(dims) == 2:
            return n.add(ops.I8, list(dims), (float(np.float32(rng.uniform(0.004, 0.02))), 0), rng.integers(-127, 128, dims))
        return n.add(ops.F32, list(dims), data=rng.normal(size=dims) * 0.4)
    state = [n.add(ops.F32, [batch, 5], variable=1) for _ in range(4)]
    if lstm:
        operands = [x] + layer(n, rng, 5, 6, 5, hybrid)[0] + layer(n, rng, 5, 6, 5, hybrid)[0] + state + [aux]
        operands += [-1] * 8 if other else [weights(5, extra) for _ in range(8)]
        ops.OPS["AUX"], options = (52, 3, 69), {0: ("b", 4), 3: ("b", 0), 4: ("b", int(major))}
    else:
        operands = [x] + [weights(5, 6), weights(5, 5), weights(5), state[0]] + [weights(5, 6), weights(5, 5), weights(5), state[1], aux]
        operands += [-1] * 2 if other else [weights(5, extra) for _ in range(2)]
        ops.OPS["AUX"], options = (46, 3 if hybrid else 1, 70), {0: ("b", int(major)), 1: ("b", 4), 2: ("b", 0)}
    for _ in range(2):
        n.output(ops.F32, dims + [5])
    return n.file("AUX", operands, options)


@net("ties", "flat", "soft")
def fused_boxes(kind):
    """NON_MAX_SUPPRESSION of scores many of which are equal, or of boxes without an area; the file has another rank of the indices."""
    import numpy as np
    import record_ops as ops
    rng, n, count, most = np.random.default_rng(90 + len(kind)), ops.Net(), 60, 14
    corners = rng.normal(size=(count, 4))
    if kind == "flat":
        corners[::5, 2:] = corners[::5, :2]
    boxes = n.add(ops.F32, [count, 4], data=corners) if kind == "flat" else n.input(ops.F32, [count, 4])
    scores = n.input(ops.F32, [count]) if kind == "flat" else n.add(ops.F32, [count], data=rng.integers(-2, 6, count) / 4)
    numbers = [n.ints(most, [])] + [n.add(ops.F32, [], data=np.array(v)) for v in (0.4, 0.1) + ((0.5,) if kind == "soft" else ())]
    n.output(ops.I32, [most] if kind == "soft" else [1, most])
    if kind == "soft":
        n.output(ops.F32, [most])
    n.output(ops.I32, [])
    ops.OPS["BOXES"] = (121, 1, 93) if kind == "soft" else (120, 1, 92)
    return n.file("BOXES", [boxes, scores] + numbers, {})


@net("float32", "int8", "int64")
def fused_rank_seven(kind):
    """A dimension more than TOSA's tensors have."""
    import record_ops as ops
    n, t = ops.Net(), {"float32": ops.F32, "int8": ops.I8, "int64": ops.I64}[kind]
    x, k = n.input(t, [2, 1, 3, 2, 2, 3]), n.ints(3, [])
    n.output(t, [2, 1, 3, 1, 2, 2, 3])
    ops.OPS["MORE"] = (70, 1, 52)
    return n.file("MORE", [x, k], {})


@net("float32", "int32", "int64")
def fused_float64(kind):
    """float64, which TOSA does not have."""
    import record_ops as ops
    n, t = ops.Net(), {"float32": ops.F32, "int32": ops.I32, "int64": ops.I64}[kind]
    x = n.input(t, [3, 7])
    n.output(ops.F64, [3, 7])
    ops.OPS["WIDER"] = (53, 1, 37)
    return n.file("WIDER", [x], {0: ("b", t), 1: ("b", ops.F64)})


@net("merged", "apart", "hybrid")
def fused_lstm_both_ways(kind):
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(len(kind)), ops.Net()
    batch = 1 if kind == "merged" else 2    # LiteRT 2.3 reads states beyond their end otherwise
    x = n.input(ops.F32, [batch, 5, 6])
    w = layer(n, rng, 5, 6, 5, kind == "hybrid")[0] + layer(n, rng, 5, 6, 5, kind == "hybrid")[0]
    states = [n.add(ops.F32, [batch, 5], variable=1) for _ in range(4)]
    for c in (10,) if kind == "merged" else (5, 5):
        n.output(ops.F32, [batch, 5, c])
    ops.OPS["LSTM"] = (52, 3, 69)
    return n.file("LSTM", [x] + w + states + [-1] * 9, {0: ("b", 4), 3: ("b", int(kind == "merged")), 4: ("b", 0)})


@net("plain", "relu", "hybrid", "asymmetric", "both_ways", "step")
def fused_rnn(kind):
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(len(kind)), ops.Net()
    hybrid, both = kind in ("hybrid", "asymmetric"), kind == "both_ways"

    def weights(*dims):
        if hybrid and len(dims) == 2:
            return n.add(ops.I8, list(dims), (0.008, 0), rng.integers(-127, 128, dims))
        return n.add(ops.F32, list(dims), data=rng.normal(size=dims) * 0.4)
    x = n.input(ops.F32, [3, 6] if kind == "step" else [3, 4, 6])
    operands = [x]
    for c in (5, 5) if both else (5,):
        operands += [weights(c, 6), weights(c, c), weights(c), n.add(ops.F32, [3, c], variable=1)]
    n.output(ops.F32, [3, 5] if kind == "step" else [3, 4, 10 if both else 5])
    code, activation = 24 if kind == "step" else 46 if both else 35, 1 if kind == "relu" else 4
    ops.OPS["RNN"] = (code, 3 if hybrid else 1, {24: 7, 35: 31, 46: 70}[code])
    options = {0: ("b", activation), 1: ("b", 0)} if kind == "step" else {0: ("b", 0), 1: ("b", activation), 2: ("b", int(both or kind == "asymmetric"))}
    return n.file("RNN", operands + ([-1] * 3 if both else []), options)


# ---- loops and branches ----

@net("f32", runs=8)
def newton():
    """The number of rounds depends on the values."""
    import tensorflow as tf

    def f(x):
        a = tf.reduce_sum(x * x) + 0.5

        def more(y):
            return tf.abs(y * y - a) > 1e-3 * a
        y, = tf.while_loop(more, lambda y: [0.5 * (y + a / y)], [a])
        return y, x / y
    return function(f, ((5,), tf.float32))


@net("f32", runs=8)
def collatz():
    """Integers; a branch within a loop."""
    import tensorflow as tf

    def f(x):
        def round(v, n):
            v = tf.cond(tf.equal(tf.math.floormod(v, 2), 0), lambda: tf.math.floordiv(v, 2), lambda: 3 * v + 1)
            return v, n + 1
        return tf.while_loop(lambda v, n: v > 1, round, [tf.reduce_max(x) + 7, tf.constant(0)])
    return function(f, ((3,), tf.int32))


@net("f32", runs=8)
def branches():
    """Three ways; one of them has a convolution."""
    import numpy as np
    import tensorflow as tf
    w = tf.constant(np.random.default_rng(3).normal(size=(3, 3, 2, 4)).astype("f4"))

    def f(x):
        m = tf.reduce_mean(x)
        return tf.cond(m > 0.05, lambda: tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")),
                       lambda: tf.cond(m < -0.05, lambda: tf.concat([x, -x], 3), lambda: tf.zeros((1, 4, 5, 4)) + m))
    return function(f, ((1, 4, 5, 2), tf.float32))


@net("f32")
def nested():
    """A loop in a loop; one value that no round changes, and one that is constant."""
    import numpy as np
    import tensorflow as tf
    c = tf.constant(np.random.default_rng(3).normal(size=(4, 4)).astype("f4") * 0.4)

    def f(x, y):
        def inner(k, a):
            return k + 1, tf.tanh(tf.matmul(a, c) + y)

        def outer(i, a):
            _, a = tf.while_loop(lambda k, a: k < i, inner, [tf.constant(0), a])
            return i + 1, a + x
        return tf.while_loop(lambda i, a: i < 4, outer, [tf.constant(1), x])[1]
    return function(f, ((3, 4), tf.float32), ((3, 4), tf.float32))


@net("f32")
def list_of_rows():
    """A list that a loop fills; rows and windows at computed places."""
    import tensorflow as tf

    def f(x):
        rows = tf.TensorArray(tf.float32, 6, element_shape=(4,))

        def round(i, rows):
            return i + 1, rows.write(i, tf.cumsum(x[i] * x[5 - i]) + tf.reduce_sum(tf.slice(x, [i, 0], [2, 4])))
        return tf.while_loop(lambda i, _: i < 6, round, [tf.constant(0), rows])[1].stack()
    return function(f, ((8, 4), tf.float32))


# ---- variables ----

@net("f32", runs=8)
def counter():
    """Two variables, one of them written in a branch."""
    import tensorflow as tf

    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.sum = tf.Variable(tf.zeros((3,)), name="sum")
            self.n = tf.Variable(0, name="n")

        @tf.function(input_signature=[tf.TensorSpec((3,), tf.float32)])
        def __call__(self, x):
            self.n.assign_add(1)
            s = self.sum + x
            self.sum.assign(s)
            return s / tf.cast(self.n, tf.float32)
    return Counter()


@net("f32", runs=6)
def stateful():
    """A recurrent layer by hand, whose state outlives the run; weights are variables, too."""
    import numpy as np
    import tensorflow as tf
    rng = np.random.default_rng(5)

    class Cell(tf.Module):
        def __init__(self):
            super().__init__()
            self.h = tf.Variable(tf.zeros((1, 4)), name="h")
            self.w = tf.Variable(rng.normal(size=(7, 4)).astype("f4") * 0.5, name="w", trainable=False)

        @tf.function(input_signature=[tf.TensorSpec((5, 3), tf.float32)])
        def __call__(self, x):
            def round(i, h):
                return i + 1, tf.tanh(tf.matmul(tf.concat([x[i:i + 1], h], 1), self.w))
            h = tf.while_loop(lambda i, _: i < 5, round, [tf.constant(0), self.h.read_value()])[1]
            self.h.assign(h)
            return h
    return Cell()


# ---- Fourier transforms ----

@net("f32")
def spectrum():
    """Real transforms of rows and of images, and all that is read of complex numbers."""
    import tensorflow as tf

    def f(x):
        rows, images = tf.signal.rfft(x, [8]), tf.signal.rfft2d(x, [4, 16])
        return tf.abs(rows), tf.math.real(rows), tf.math.imag(images), tf.abs(images)
    return function(f, ((2, 5, 12), tf.float32))


# ---- single operators ----

@net("int8", "uint8", "weights")
def dequantize_channels(kind):
    """DEQUANTIZE with several scales, of an input or of a constant."""
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(8), ops.Net()
    t = {"int8": ops.I8, "uint8": ops.U8, "weights": ops.I8}[kind]
    q = (rng.uniform(0.01, 0.3, 4).astype("f4"), np.array([3, 0, -7, 12]) + (100 if kind == "uint8" else 0))
    if kind != "weights":
        x = n.add(t, [2, 4, 5], q, axis=1)
        n.inputs.append((x, t, [2, 4, 5]))
        n.moduli.append(0)
        n.output(ops.F32, [2, 4, 5])
    else:
        x = n.add(t, [4, 3], q, rng.integers(-128, 128, (4, 3)), axis=0)
        n.input(ops.F32, [1])
        n.output(ops.F32, [4, 3])
    ops.OPS["DEQUANTIZE"] = (6, 5, 26)
    return n.file("DEQUANTIZE", [x], {})


def svdf_net(rank, batch, wide, memory=5):
    """SVDF with a memory of int16 (wide), or of int8, which only TensorFlow Lite for Microcontrollers has."""
    import numpy as np
    import record_ops as ops
    rng, n = np.random.default_rng(9), ops.Net()
    units, inputs = 6, 10
    x = n.input(ops.I8, [batch, inputs], (0.05, 11))
    w = n.add(ops.I8, [units * rank, inputs], (0.02, 0), rng.integers(-127, 128, (units * rank, inputs)))
    most, time, memory_type, scale = (32768, 0.01 / 256, ops.I16, 0.08 / 256) if wide else (128, 0.01, ops.I8, 0.08)
    t = n.add(memory_type, [units * rank, memory], (time, 0), rng.integers(1 - most, most, (units * rank, memory)))
    b = n.add(ops.I32, [units], (time * scale, 0), rng.integers(-3000, 3000, units) * (1 if not wide else 65536))
    state = n.add(memory_type, [batch, units * rank * memory], (scale, 0), variable=1)
    n.output(ops.I8, [batch, units], (0.06, -20))
    ops.OPS["SVDF"] = (27, 3, 6)
    return n.file("SVDF", [x, w, t, b, state], {0: ("i", rank), 1: ("b", 1)})


@net("int8", "rank", runs=8)
def micro_svdf(kind):
    return svdf_net(2 if kind == "rank" else 1, 2 if kind == "rank" else 1, False)


def real_svdf(kind):
    """SVDF of float32, with weights of float32, or of int8 ("hybrid")."""
    import numpy as np
    import record_ops as ops
    rng, n, rank, batch = np.random.default_rng(10), ops.Net(), 2, 3
    units, inputs, memory = 6, 10, 5

    def weights(*dims):
        if kind == "f32":
            return n.add(ops.F32, list(dims), data=rng.normal(size=dims) * 0.4)
        return n.add(ops.I8, list(dims), (0.008, 0), rng.integers(-127, 128, dims))
    x = n.input(ops.F32, [batch, inputs])
    operands = [x, weights(units * rank, inputs), weights(units * rank, memory), n.add(ops.F32, [units], data=rng.normal(size=units)),
                n.add(ops.F32, [batch, units * rank * memory], variable=1)]
    n.output(ops.F32, [batch, units])
    ops.OPS["SVDF"] = (27, 3, 6)
    return n.file("SVDF", operands, {0: ("i", rank), 1: ("b", int(kind != "hybrid")), 2: ("b", int(kind == "asymmetric"))})


@net("int8", "rank", "short", "f32", "hybrid", "asymmetric", runs=8)
def svdf(kind):
    """Run after run, each beginning with the memory that the one before left."""
    if kind in ("f32", "hybrid", "asymmetric"):
        return real_svdf(kind)
    return svdf_net(2 if kind == "rank" else 1, 2 if kind == "rank" else 1, True, 1 if kind == "short" else 5)


@net("L2_POOL_2D", "LOCAL_RESPONSE_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION_0", "ATAN2", "ATAN2_64", "ATAN2_16")
def float_operator(kind):
    """Operators on floats whose last bits are not the runtime's."""
    import numpy as np
    import record_ops as ops
    n, dims, field = ops.Net(), [1, 5, 6, 4], {}
    t = {"ATAN2_64": ops.F64, "ATAN2_16": ops.F16}.get(kind, ops.F32)
    ops.DTYPE.update({ops.F64: np.float64, ops.F16: np.float16})
    x = [n.input(t, dims) for _ in range(2 if kind.startswith("ATAN2") else 1)]
    if kind == "L2_POOL_2D":
        field = {0: ("b", 1), 1: ("i", 2), 2: ("i", 1), 3: ("i", 2), 4: ("i", 3)}
    elif not kind.startswith("ATAN2"):
        field = {0: ("i", 0 if kind.endswith("_0") else 1), 1: ("f", 0.75), 2: ("f", 0.5), 3: ("f", 0.6)}
    n.output(t, [1, 3, 3, 4] if kind == "L2_POOL_2D" else dims)
    ops.OPS[kind] = (156, 1, 0) if kind.startswith("ATAN2") else {"L2_POOL_2D": (12, 1, 5)}.get(kind, (13, 1, 13))
    return n.file(kind, x, field)


@net("16", "32")
def embedding_blocks(kind):
    """EMBEDDING_LOOKUP of int4 whose blocks of the last dimension have float16 scales."""
    import numpy as np
    rng, rows, columns, block = np.random.default_rng(13), 9, 64, int(kind)
    codes = rng.integers(0, 16, rows * columns).astype("u1")
    scales = rng.uniform(0.001, 0.2, (rows, columns // block)).astype("f2")
    details = Table({4: ("b", 2), 5: Table({0: ("i", 2), 1: ("i", 3), 2: ("i", block)})})

    def tensor(name, shape, kind, buffer, quantization=None):
        return Table({0: scalars("i", shape), 1: ("b", kind), 2: ("I", buffer), 3: string(name), 4: quantization})

    tensors = [tensor("ids", [4], 2, 0), tensor("rows", [rows, columns], 17, 1, details), tensor("scales", list(scales.shape), 1, 2),
               tensor("zeros", list(scales.shape), 2, 3), tensor("y", [4, columns], 0, 0)]
    op = Table({0: ("I", 0), 1: scalars("i", [0, 1]), 2: scalars("i", [4])})
    graph = Table({0: Tables(tensors), 1: scalars("i", [0]), 2: scalars("i", [4]), 3: Tables([op])})
    buffers = [Table({})] + [Table({0: Vector(len(b), b, 16)}) for b in (
        (codes[0::2] | codes[1::2] << 4).tobytes(), scales.tobytes(), bytes(4 * scales.size))]
    code = Table({0: ("b", 7), 2: ("i", 4), 3: ("i", 7)})
    return flatbuffer(Table({0: ("I", 3), 1: Tables([code]), 2: Tables([graph]), 4: Tables(buffers)}), b"TFL3")


@net("f32", "int8", "uint8")
def composite(kind):
    """STABLEHLO_COMPOSITE twice, of x * w + x, whose weights are constants of the decomposition and of the caller."""
    import numpy as np
    import record_ops as ops
    from flatbuffers import flexbuffers
    t = {"f32": ops.F32, "int8": ops.I8, "uint8": ops.U8}[kind]
    zero, rng, dims = 100 if kind == "uint8" else -5, np.random.default_rng(12), [1, 4, 6]

    def q(scale):
        return None if kind == "f32" else (scale, zero)

    values = rng.uniform(-2, 2, dims) if kind == "f32" else rng.integers(0, 127, dims)
    main, inner = ops.Net(), ops.Net()
    x = main.input(t, dims, q(0.1))
    w = main.add(t, dims, q(0.02), values)
    outs = [main.add(t, dims, q(0.2)), main.output(t, dims, q(0.2))]
    a, b = inner.add(t, dims, q(0.1)), inner.add(t, dims, q(0.02))
    product, total = inner.add(t, dims, q(0.15)), inner.add(t, dims, q(0.2))

    def op(code, operands, results, kind=0, options=None):
        return Table({0: ("I", code), 1: scalars("i", operands), 2: scalars("i", results), 3: ("B", kind) if kind else None, 4: options})

    def composite_op(operands, results):
        return Table({0: ("I", 2), 1: scalars("i", operands), 2: scalars("i", results), 11: ("B", 21),
                      12: Table({0: string("weft.scaled"), 1: ("i", 1), 2: scalars("B", flexbuffers.Dumps({})), 4: ("i", 1)})})

    inside = [op(0, [a, b], [product], 21, Table({})), op(1, [product, a], [total], 11, Table({}))]
    graphs = [Table({0: Tables(n.tensors), 1: scalars("i", i), 2: scalars("i", o), 3: Tables(p)}) for n, i, o, p in (
        (main, [x], [outs[1]], [composite_op([x, w], outs[:1]), composite_op([outs[0], w], outs[1:])]), (inner, [a, b], [total], inside))]
    codes = [Table({0: ("b", min(c, 127)), 2: ("i", v), 3: ("i", c)}) for c, v in ((18, 2), (0, 2), (206, 1))]
    return flatbuffer(Table({0: ("I", 3), 1: Tables(codes), 2: Tables(graphs), 4: Tables(main.buffers)}), b"TFL3")


# ---- several operators, by hand ----

def several(n, steps):
    """The file of net n with more than one operator; a step is a code, its version, its operands and results, and its options."""
    codes, ops = [], []
    for code, version, operands, results, kind, options in steps:
        fields = {0: ("I", len(codes)), 1: scalars("i", operands), 2: scalars("i", results)}
        if kind:
            fields.update({3: ("B", kind), 4: Table(options)} if kind < 1000 else {11: ("B", kind - 1000), 12: Table(options)})
        codes.append(Table({0: ("b", min(code, 127)), 2: ("i", version), 3: ("i", code)}))
        ops.append(Table(fields))
    graph = Table({0: Tables(n.tensors), 1: scalars("i", [i for i, _, _ in n.inputs]), 2: scalars("i", n.outputs), 3: Tables(ops)})
    return flatbuffer(Table({0: ("I", 3), 1: Tables(codes), 2: Tables([graph]), 4: Tables(n.buffers)}), b"TFL3")


def added(n, t, dims, steps, x):
    """The file of net n that adds its tensor x, computed by the steps, to an input of the same shape."""
    i = n.input(t, dims)
    return several(n, steps + [(0, 1, [i, x], [n.output(t, dims)], 11, {})])


@net("up", "down", "i64", "f32", "f32_down")
def plain_range(kind):
    """RANGE of constants."""
    import record_ops as ops
    n = ops.Net()
    t = {"i64": ops.I64, "f32": ops.F32, "f32_down": ops.F32}.get(kind, ops.I32)
    values = {"up": (-3, 9, 2), "down": (7, -4, -3), "i64": (2, 11, 3), "f32": (0.1, 2.0, 0.3), "f32_down": (5, -5, -0.7)}[kind]
    size = {"up": 6, "down": 4, "i64": 3, "f32": 7, "f32_down": 15}[kind]
    y = n.add(t, [size])
    steps, x = [(96, 2, [n.add(t, [], data=[v]) for v in values], [y], 73, {})], y
    if t == ops.I64:
        t, x = ops.I32, n.add(ops.I32, [size])
        steps.append((53, 1, [y], [x], 37, {0: ("b", ops.I64), 1: ("b", t)}))
    return added(n, t, [size], steps, x)


@net("1", "4")
def rank_of(kind):
    """RANK of an input."""
    import record_ops as ops
    n = ops.Net()
    y, x = n.add(ops.I32, []), n.input(ops.F32, [2, 3, 1, 4][:int(kind)])
    return added(n, ops.I32, [], [(110, 1, [x], [y], 86, {})], y)


@net("i32", "i64")
def broadcast_args(kind):
    """BROADCAST_ARGS of two constants, and BROADCAST_TO by it."""
    import record_ops as ops
    n = ops.Net()
    t = ops.I64 if kind == "i64" else ops.I32
    x, y = n.input(ops.F32, [3, 1, 4]), n.add(t, [4])
    a, b = n.add(t, [3], data=[3, 1, 4]), n.add(t, [4], data=[2, 1, 5, 1])
    return several(n, [(145, 1, [a, b], [y], 0, {}), (130, 3, [x, y], [n.output(ops.F32, [2, 3, 5, 4])], 104, {})])


@net("bool", "f32", "i32", "open")
def where_constant(kind):
    """WHERE of a constant, whose places are counted when the network is loaded."""
    import numpy as np
    import record_ops as ops
    n, rng = ops.Net(), np.random.default_rng(14)
    t = {"f32": ops.F32, "i32": ops.I32}.get(kind, ops.BOOL)
    dims = {"bool": [7], "f32": [3, 4], "i32": [2, 3, 2], "open": [4, 5]}[kind]
    values = rng.integers(0, 2, dims) * rng.integers(1, 5, dims)
    found = [int(np.count_nonzero(values)), len(dims)]
    y, x = n.add(ops.I64, [1, len(dims)] if kind == "open" else found), n.add(ops.I32, [1, len(dims)] if kind == "open" else found)
    if kind == "open":
        for i in (y, x):
            n.tensors[i].fields[7] = scalars("i", [-1, len(dims)])
    steps = [(109, 1, [n.add(t, dims, data=values)], [y], 85, {}), (53, 1, [y], [x], 37, {0: ("b", ops.I64), 1: ("b", ops.I32)})]
    return added(n, ops.I32, found, steps, x)


@net("i32", "i64", "f32", "int8")
def unique_constant(kind):
    """UNIQUE of a constant: its values in the order in which they first stand, and where each element is among them."""
    import numpy as np
    import record_ops as ops
    n, rng = ops.Net(), np.random.default_rng(15)
    t = {"i32": ops.I32, "i64": ops.I64, "f32": ops.F32, "int8": ops.I8}[kind]
    index = ops.I64 if kind == "f32" else ops.I32
    values = rng.integers(-3, 4, 13)
    found = len(set(values.tolist()))
    y, i = n.add(t, [found]), n.add(index, [13])
    a, b = n.add(ops.I32, [found]), n.add(ops.I32, [13])
    steps = [(103, 1, [n.add(t, [13], data=values)], [y, i], 80, {0: ("b", index)} if index == ops.I64 else {}),
             (53, 1, [y], [a], 37, {0: ("b", t), 1: ("b", ops.I32)}), (53, 1, [i], [b], 37, {0: ("b", index), 1: ("b", ops.I32)})]
    out = [(n.input(ops.I32, [k]), c, n.output(ops.I32, [k])) for k, c in ((found, a), (13, b))]
    return several(n, steps + [(0, 1, [p, c], [y], 11, {}) for p, c, y in out])


def sparse(n, t, values, order, formats, blocks=(), index=("i", 1), q=None):
    """Adds the constant `values`, stored as its elements that are not 0: levels in that order, of which formats says which are sparse; blocks has
    (dimension, size). Returns the tensor."""
    import numpy as np
    rank, dims = values.ndim, list(values.shape)
    split = dict(blocks)
    levels = [d // split.get(i, 1) for i, d in enumerate(dims)] + [size for _, size in blocks]
    a = values.reshape([p for i, d in enumerate(dims) for p in ((d // split[i], split[i]) if i in split else (d,))])
    at, outer, inner = 0, [], []
    for i in range(rank):
        outer.append(at)
        at += 1
        if i in split:
            inner.append(at)
            at += 1
    a = a.transpose([(outer + inner)[k] for k in order])
    nodes, meta = [()], []
    for level, k in enumerate(order):
        children = [[c for c in range(levels[k]) if not formats[level] or np.any(a[p + (c,)])] for p in nodes]
        if formats[level]:
            segments = np.cumsum([0] + [len(c) for c in children]).tolist()
            meta.append(Table({0: ("b", 1), 2: ("B", index[1]), 3: Table({0: scalars(index[0], segments)}),
                               4: ("B", index[1]), 5: Table({0: scalars(index[0], sum(children, []))})}))
        else:
            meta.append(Table({1: ("i", levels[k])}))
        nodes = [p + (c,) for p, cs in zip(nodes, children) for c in cs]
    kept = [a[p] for p in nodes]
    i = n.add(t, dims, q, np.array(kept))
    n.tensors[i].fields[6] = Table({0: scalars("i", order), 1: scalars("i", [d for d, _ in blocks]) if blocks else None, 2: Tables(meta)})
    return i


@net("f32", "int8", "f16", "columns", "blocks", "image", "u8", "u16")
def densify(kind):
    """DENSIFY of a constant with few elements that are not 0, added to an input."""
    import numpy as np
    import record_ops as ops
    n, rng = ops.Net(), np.random.default_rng(16)
    dims = {"blocks": [8, 12], "image": [3, 4, 4, 8]}.get(kind, [5, 6])
    values = rng.integers(-100, 101, dims) * (rng.integers(0, 4, dims) == 0)
    q = (0.05, 0)
    if kind == "f16":
        ops.DTYPE[1] = np.float16
        x, y = sparse(n, 1, values, [0, 1], [0, 1]), n.add(1, dims)
        z = n.add(ops.F32, dims)
        return added(n, ops.F32, dims, [(124, 1, [x], [y], 99, {}), (6, 3, [y], [z], 26, {})], z)
    if kind == "int8":
        x, y = sparse(n, ops.I8, values, [0, 1], [0, 1], q=q), n.add(ops.I8, dims, q)
        i = n.input(ops.I8, dims, (0.1, 3))
        return several(n, [(124, 1, [x], [y], 99, {}), (0, 2, [i, y], [n.output(ops.I8, dims, (0.15, -4))], 11, {})])
    form = {"columns": ([1, 0], [0, 1]), "blocks": ([0, 1, 2, 3], [0, 1, 0, 0], ((0, 4), (1, 2))),
            "image": ([0, 1, 2, 3, 4], [1, 0, 1, 1, 0], ((3, 4),)), "u8": ([0, 1], [1, 1], (), ("B", 3)),
            "u16": ([0, 1], [1, 1], (), ("H", 2))}.get(kind, ([0, 1], [0, 1]))
    x, y = sparse(n, ops.F32, values, *form), n.add(ops.F32, dims)
    return added(n, ops.F32, dims, [(124, 1, [x], [y], 99, {})], y)


@net("f32", "int8", "blocks")
def sparse_weights(kind):
    """FULLY_CONNECTED with a sparse matrix of weights."""
    import numpy as np
    import record_ops as ops
    n, rng, rows, columns = ops.Net(), np.random.default_rng(17), 8, 32
    form = {"f32": ([0, 1], [0, 1]), "int8": ([0, 1, 2], [0, 1, 0], ((1, 16),)), "blocks": ([0, 1, 2], [0, 1, 0], ((1, 4),))}[kind]
    size = {"f32": 1, "int8": 16, "blocks": 4}[kind]
    w = rng.integers(-127, 128, (rows, columns)) * np.repeat(rng.integers(0, 2, (rows, columns // size)), size, 1)
    if kind != "int8":
        x, w = n.input(ops.F32, [3, columns]), sparse(n, ops.F32, w / 64, *form)
        return several(n, [(9, 8, [x, w, n.add(ops.F32, [rows], data=rng.normal(size=rows))], [n.output(ops.F32, [3, rows])], 8, {})])
    x, w = n.input(ops.I8, [3, columns], (0.05, 7)), sparse(n, ops.I8, w, *form, q=(0.01, 0))
    b = n.add(ops.I32, [rows], (0.0005, 0), rng.integers(-2000, 2000, rows))
    return several(n, [(9, 8, [x, w, b], [n.output(ops.I8, [3, rows], (0.12, -9))], 8, {})])


@net("f32", "int8", "uint8", "one_scale")
def computed_weights(kind):
    """Convolutions and dense products of float32 by computed weights and biases; int8 ones have a scale for each channel."""
    import record_ops as ops
    n, t = ops.Net(), {"f32": ops.F32, "uint8": ops.U8}.get(kind, ops.I8)

    def weights(dims, axis=0):
        scales = 0.02 if kind in ("uint8", "one_scale") else [0.01 + 0.004 * k for k in range(dims[axis])]
        return n.input(t, dims, None if t == ops.F32 else (scales, 0), axis=axis)

    b, dense = [n.input(ops.F32, [c]) for c in ((4, 6, 5) if kind in ("f32", "int8") else (4, 1, 5))], n.input(ops.F32, [3, 12])
    image = n.input(ops.F32, [2, 5, 6, 4])
    steps = [(3, 5, [image, weights([4, 1, 3, 4]), b[0]], [n.output(ops.F32, [2, 3, 2, 4])], 1, {0: ("b", 1), 1: ("i", 2), 2: ("i", 2)}),
             (9, 5 if kind == "f32" else 7, [dense, weights([5, 12]), b[2]], [n.output(ops.F32, [3, 5])], 8, {})]
    if t != ops.U8:
        steps.append((67, 3, [n.ints([2, 10, 12, 4]), weights([4, 3, 3, 4]), image], [n.output(ops.F32, [2, 10, 12, 4])], 49,
                      {0: ("b", 0), 1: ("i", 2), 2: ("i", 2)}))
    if kind in ("f32", "int8"):
        steps.append((3, 5, [image, weights([6, 2, 2, 2]), b[1]], [n.output(ops.F32, [2, 5, 6, 6])], 1, {0: ("b", 0), 1: ("i", 1), 2: ("i", 1)}))
        steps.append((4, 6, [image, weights([1, 2, 2, 8], 3)], [n.output(ops.F32, [2, 2, 3, 8])], 2,
                      {0: ("b", 1), 1: ("i", 2), 2: ("i", 2), 3: ("i", 2)}))
    return several(n, steps)


@net("tanh", "sign_bit", "none", "volume")
def other_activations(kind):
    """Fused activations beyond the limits: products by 8 bits and recurrent layers compute them, convolutions of volumes and pools do not."""
    import numpy as np
    import record_ops as ops
    n, rng, which = ops.Net(), np.random.default_rng(5), {"tanh": 4, "sign_bit": 5, "none": 9, "volume": 4}[kind]
    if kind == "volume":
        x, w = n.input(ops.F32, [1, 4, 5, 6, 2]), n.add(ops.F32, [2, 2, 2, 2, 3], data=rng.normal(size=[2, 2, 2, 2, 3]))
        image, pool = n.input(ops.F32, [1, 4, 6, 3]), {0: ("b", 1), 1: ("i", 1), 2: ("i", 2), 3: ("i", 2), 4: ("i", 2), 5: ("b", 4)}
        return several(n, [(132, 1, [x, w], [n.output(ops.F32, [1, 3, 4, 5, 3])], 106, {0: ("b", 1), 1: ("i", 1), 2: ("i", 1), 3: ("i", 1), 4: ("b", 4)}),
                           (1, 1, [image], [n.output(ops.F32, [1, 2, 5, 3])], 5, pool), (12, 1, [image], [n.output(ops.F32, [1, 2, 5, 3])], 5, pool)])
    x, image = n.input(ops.F32, [3, 12]), n.input(ops.F32, [3, 4, 12])
    w = n.add(ops.I8, [5, 12], (0.01, 0), rng.integers(-127, 128, [5, 12]))
    cell = [n.add(ops.F32, d, data=rng.normal(size=d)) for d in ([5, 12], [5, 5], [5])]
    memory = [n.add(ops.F32, d, data=rng.normal(size=d)) for d in ([10, 12], [10, 3], [5])]
    states = [n.add(ops.F32, d, variable=1) for d in ([3, 5], [3, 5], [3, 30])]
    return several(n, [(9, 4, [x, w, cell[2]], [n.output(ops.F32, [3, 5])], 8, {0: ("b", which)}),
                       (24, 1, [x] + cell + [states[0]], [n.output(ops.F32, [3, 5])], 7, {0: ("b", which)}),
                       (35, 1, [image] + cell + [states[1]], [n.output(ops.F32, [3, 4, 5])], 31, {1: ("b", which)}),
                       (27, 1, [x] + memory + [states[2]], [n.output(ops.F32, [3, 5])], 6, {0: ("i", 2), 1: ("b", which)})])


@net("int8")
def trimmed_images(kind):
    """Dynamic range: the whole image decides on the scale, also what no window reaches, which the largest number is in."""
    import numpy as np
    import record_ops as ops
    n, rng = ops.Net(), np.random.default_rng(5)
    image = n.input(ops.F32, [4, 6, 6, 3])
    w = [n.add(ops.I8, dims, ([0.01 + 0.003 * k for k in range(6)], 0), rng.integers(-127, 128, dims), axis)
         for dims, axis in (([6, 2, 3, 3], 0), ([1, 2, 3, 6], 3))]
    b = n.add(ops.F32, [6], data=rng.normal(size=6))
    return several(n, [(3, 5, [image, w[0], b], [n.output(ops.F32, [4, 2, 2, 6])], 1, {0: ("b", 1), 1: ("i", 3), 2: ("i", 3)}),
                       (4, 6, [image, w[1], b], [n.output(ops.F32, [4, 2, 2, 6])], 2, {0: ("b", 1), 1: ("i", 3), 2: ("i", 3), 3: ("i", 2)})])


@net("two", "four", "one", "constant")
def case_of(kind):
    """STABLEHLO_CASE: an index chooses one of several subgraphs, the last one if it is none of them."""
    import record_ops as ops
    dims, count = [2, 3], {"two": 2, "four": 4, "one": 1, "constant": 3}[kind]
    main = ops.Net()
    index = main.add(ops.I32, [], data=[1]) if kind == "constant" else main.input(ops.I32, [])
    x = [index, main.input(ops.F32, dims), main.input(ops.F32, dims)]
    main.output(ops.F32, dims)
    main.output(ops.F32, dims)
    graphs, codes = [(main, [i for i, _, _ in main.inputs], main.outputs, [Table({0: ("I", 0), 1: scalars("i", x), 2: scalars("i", main.outputs),
                      11: ("B", 23), 12: Table({0: scalars("i", list(range(1, count + 1)))})})])], [209, 0, 18, 41, 55]
    for k in range(count):
        g = ops.Net()
        a, b = g.input(ops.F32, dims), g.input(ops.F32, dims)
        y, z = g.output(ops.F32, dims), g.output(ops.F32, dims)
        graphs.append((g, [a, b], [y, z], [Table({0: ("I", 1 + (k + j) % 4), 1: scalars("i", [a, b]), 2: scalars("i", [r]), 3: ("B", o), 4: Table({})})
                                           for j, r in enumerate((y, z)) for o in [(11, 21, 28, 39)[(k + j) % 4]]]))
    tables = [Table({0: Tables(n.tensors), 1: scalars("i", i), 2: scalars("i", o), 3: Tables(p)}) for n, i, o, p in graphs]
    buffers = main.buffers
    return flatbuffer(Table({0: ("I", 3), 1: Tables([Table({0: ("b", min(c, 127)), 2: ("i", 1), 3: ("i", c)}) for c in codes]), 2: Tables(tables),
                             4: Tables(buffers)}), b"TFL3")


@net("f32")
def case_of_variables(_):
    """STABLEHLO_CASE hands two variables to its subgraphs, of which each reads the second one alone."""
    import record_ops as ops
    dims, resource = [2, 3], 13
    main = ops.Net()
    index, x, w = main.input(ops.I32, []), main.input(ops.F32, dims), main.input(ops.F32, dims)
    a, b, y = main.add(resource, []), main.add(resource, []), main.output(ops.F32, dims)
    handles = [Table({0: ("I", 0), 1: scalars("i", []), 2: scalars("i", [r]), 3: ("B", 111), 4: Table({1: string(name)})}) for r, name in ((a, "a"), (b, "b"))]
    writes = [Table({0: ("I", 1), 1: scalars("i", [r, v]), 2: scalars("i", [])}) for r, v in ((a, x), (b, w))]
    choice = Table({0: ("I", 2), 1: scalars("i", [index, a, b]), 2: scalars("i", [y]), 11: ("B", 23), 12: Table({0: scalars("i", [1, 2])})})
    graphs = [(main, [i for i, _, _ in main.inputs], main.outputs, handles + writes + [choice])]
    for k in range(2):
        g = ops.Net()
        p, q, v = g.add(resource, []), g.add(resource, []), g.add(ops.F32, dims)
        r = g.output(ops.F32, dims)
        graphs.append((g, [p, q], [r], [Table({0: ("I", 3), 1: scalars("i", [q]), 2: scalars("i", [v])}),
                                        Table({0: ("I", 4 + k), 1: scalars("i", [v, v]), 2: scalars("i", [r]), 3: ("B", (11, 21)[k]), 4: Table({})})]))
    tables = [Table({0: Tables(n.tensors), 1: scalars("i", i), 2: scalars("i", o), 3: Tables(p)}) for n, i, o, p in graphs]
    return flatbuffer(Table({0: ("I", 3), 1: Tables([Table({0: ("b", min(c, 127)), 2: ("i", 1), 3: ("i", c)}) for c in (142, 144, 209, 143, 0, 18)]),
                             2: Tables(tables), 4: Tables(main.buffers)}), b"TFL3")


# ---- a decoder with a cache of keys and values, by decoder.py ----

def decoder(kind, tokens):
    import decoder as d
    return d.convert(d.options(["-", "--type", kind, "--tokens", str(tokens), "--layers", "2", "--width", "32", "--heads", "2", "--vocab", "40",
                                "--context", "12"]))


@net("int8", "int16")
def decoder_prefill(kind):
    return decoder(kind, 5)


@net("int8", "int16")
def decoder_step(kind):
    return decoder(kind, 1)


# ---- signatures ----

def coder():
    import numpy as np
    import tensorflow as tf
    rng = np.random.default_rng(6)

    class Coder(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(rng.normal(size=(5, 3)).astype("f4"), name="w", trainable=False)

        @tf.function(input_signature=[tf.TensorSpec((1, 5), tf.float32, name="sample")])
        def encode(self, sample):
            return {"code": tf.tanh(tf.matmul(sample, self.w))}

        @tf.function(input_signature=[tf.TensorSpec((1, 3), tf.float32, name="code")])
        def decode(self, code):
            return {"sample": tf.matmul(code, self.w, transpose_b=True)}
    return Coder()


@net("f32")
def coder_at_encode():
    return coder()


@net("f32")
def coder_at_decode():
    return coder()


# ---- conversion and recording ----

def convert(model, kind):
    import numpy as np
    import tensorflow as tf
    if isinstance(model, tf.keras.Model):
        c = tf.lite.TFLiteConverter.from_keras_model(model)
        shapes = [tuple(t.shape) for t in model.inputs]
    elif isinstance(model, tf.Module):
        folder = tempfile.mkdtemp()
        both = {n: getattr(model, n) for n in ("encode", "decode") if hasattr(model, n)}
        tf.saved_model.save(model, folder, signatures=both or None)
        c = tf.lite.TFLiteConverter.from_saved_model(folder)
        c.experimental_enable_resource_variables = True
    else:
        c = tf.lite.TFLiteConverter.from_concrete_functions([model])
    lite = tf.lite.OpsSet
    if kind != "f32":
        c.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "f16":
        c.target_spec.supported_types = [tf.float16]
    if kind.startswith("int"):
        rng = np.random.default_rng(5)
        c.representative_dataset = lambda: ([rng.normal(size=s).astype("f4") for s in shapes] for _ in range(16))
        wide = lite.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        c.target_spec.supported_ops = [wide if kind == "int16" else lite.TFLITE_BUILTINS_INT8]
        c.inference_input_type = c.inference_output_type = getattr(tf, kind)
    return c.convert()


def run(file, runs, signature=None, anew=False):
    """The case's inputs and outputs, run by run; anew: layers' states are zero again before each."""
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter, OpResolverType
    try:
        it = Interpreter(model_content=file, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
        it.allocate_tensors()
    except ValueError:   # some versions of operators that only move values are registered with the fast ones alone
        it = Interpreter(model_content=file, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        it.allocate_tensors()
    if signature:
        return run_signature(it.get_signature_runner(signature), runs)
    ins, outs, rng = it.get_input_details(), it.get_output_details(), np.random.default_rng(11)
    out = bytes([len(ins), runs, len(outs)])
    for _ in range(runs):
        for d in ins:
            t = d["dtype"]
            if t in (np.float32, np.float64, np.float16):
                a = rng.normal(size=d["shape"])
            elif t in (np.int8, np.int16):
                a = rng.integers(np.iinfo(t).min, np.iinfo(t).max + 1, d["shape"])
            else:
                a = rng.integers(0, 9, d["shape"])
            a = np.asarray(a).astype(t)
            it.set_tensor(d["index"], a)
            out += struct.pack("<I", a.nbytes) + a.tobytes()
        if anew:
            it.reset_all_variables()
        it.invoke()
        for d in outs:
            a = np.ascontiguousarray(it.get_tensor(d["index"]))
            out += struct.pack("<I", a.nbytes) + a.tobytes()
    return out


MICRO = """
import struct, sys
import numpy as np
from tflite_micro import runtime
it = runtime.Interpreter.from_bytes(open(sys.argv[1], "rb").read())
d, rng, runs = it.get_input_details(0), np.random.default_rng(11), int(sys.argv[2])
out = bytes([1, runs, 1])
for _ in range(runs):
    a = rng.integers(-128, 128, d["shape"]).astype(np.int8)
    it.set_input(a, 0)
    it.invoke()
    y = it.get_output(0)
    out += struct.pack("<I", a.nbytes) + a.tobytes() + struct.pack("<I", y.nbytes) + np.ascontiguousarray(y).tobytes()
sys.stdout.buffer.write(out)
"""


def run_micro(file, runs):
    """As run(), by TensorFlow Lite for Microcontrollers, of the Python that MICRO_PYTHON names."""
    with tempfile.NamedTemporaryFile(suffix=".tflite") as f:
        f.write(file)
        f.flush()
        return subprocess.run([os.environ["MICRO_PYTHON"], "-c", MICRO, f.name, str(runs)], capture_output=True, check=True).stdout


def run_signature(runner, runs):
    """As run(), for one float input and one output."""
    import numpy as np
    rng, out = np.random.default_rng(11), bytes([1, runs, 1])
    (name, detail), = runner.get_input_details().items()
    for _ in range(runs):
        a = rng.normal(size=detail["shape"]).astype(np.float32)
        (y,) = runner(**{name: a}).values()
        out += struct.pack("<I", a.nbytes) + a.tobytes() + struct.pack("<I", y.nbytes) + y.tobytes()
    return out


def one(name, kind, path):
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")
    import tensorflow as tf
    make, _, runs = NETS[name]
    tf.keras.utils.set_random_seed(7)
    file = make(kind) if make.__code__.co_argcount else convert(make(), kind)
    text = (name + "." + kind).encode()
    Path(path).write_bytes(struct.pack("<H", len(text)) + text + struct.pack("<I", len(file)) + file +
                           (run_micro(file, runs) if name.startswith("micro") else run(file, runs, name.partition("_at_")[2], name.startswith("fused_lstm_products8"))))


def stored(path):
    """The cases of a file by name."""
    cases = {}
    if path.exists():
        data, at = gzip.decompress(path.read_bytes()), 8
        while at < len(data):
            begin = at
            (n,) = struct.unpack_from("<H", data, at)
            name = data[at + 2:at + 2 + n].decode()
            at += 2 + n
            at += 4 + struct.unpack_from("<I", data, at)[0]
            n_in, runs, n_out = data[at:at + 3]
            at += 3
            for _ in range(runs * (n_in + n_out)):
                at += 4 + struct.unpack_from("<I", data, at)[0]
            cases[name] = data[begin:at]
    return cases


def main():
    if sys.argv[1:2] == ["--one"]:
        return one(*sys.argv[2:])
    path = Path(__file__).resolve().parents[2] / "tests" / "models" / "litert_flow.gz"
    old, cases = stored(path), {}
    for name, (_, kinds, _) in NETS.items():
        for kind in kinds:
            key = name + "." + kind
            if sys.argv[1:] and name not in sys.argv[1:]:
                cases.update({key: old[key]} if key in old else {})
                continue
            with tempfile.TemporaryDirectory() as folder:
                case = Path(folder) / "case"
                p = subprocess.run([sys.executable, __file__, "--one", name, kind, str(case)], capture_output=True, text=True, check=False)
                if p.returncode:
                    print("%s: exit %d: %s" % (key, p.returncode, p.stderr.strip()[-300:]), flush=True)
                    continue
                cases[key] = case.read_bytes()
                print("%s: %d bytes" % (key, len(cases[key])), flush=True)
    with open(path, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", filename="", mtime=0) as z:
        z.write(b"TFLFLOW1" + b"".join(cases.values()))
    return 0


sys.exit(main())
