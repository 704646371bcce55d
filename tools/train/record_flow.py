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
    /tmp/v/bin/python tools/train/record_flow.py

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


def run(file, runs, signature=None):
    """The case's inputs and outputs, run by run."""
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
            if t == np.float32:
                a = rng.normal(size=d["shape"])
            elif t in (np.int8, np.int16):
                a = rng.integers(np.iinfo(t).min, np.iinfo(t).max + 1, d["shape"])
            else:
                a = rng.integers(0, 9, d["shape"])
            a = np.asarray(a).astype(t)
            it.set_tensor(d["index"], a)
            out += struct.pack("<I", a.nbytes) + a.tobytes()
        it.invoke()
        for d in outs:
            a = np.ascontiguousarray(it.get_tensor(d["index"]))
            out += struct.pack("<I", a.nbytes) + a.tobytes()
    return out


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
    file = convert(make(), kind)
    text = (name + "." + kind).encode()
    Path(path).write_bytes(struct.pack("<H", len(text)) + text + struct.pack("<I", len(file)) + file + run(file, runs, name.partition("_at_")[2]))


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
