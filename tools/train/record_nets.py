#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what TensorFlow Lite's reference kernels give for small networks.

usage: record_nets.py OLDER [file]        default: tests/models/tflite_nets.gz

Networks of several operators as Keras and TFLiteConverter write them, random
weights, quantised: what converters make around the operators that
record_ops.py has one by one. Shapes are computed from SHAPE for any batch,
extents are left open, streaming networks keep variables. The test
conformance/tflite_nets makes the inputs, and must get the same outputs, run
after run.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install tensorflow-cpu==2.21.0 ai-edge-litert==2.3.0
    /tmp/v/bin/pip install --no-deps --target /tmp/older ai-edge-litert==1.2.0
    /tmp/v/bin/python tools/train/record_nets.py /tmp/older
ai-edge-litert 2.3.0 rescales fully connected layers in float32, so networks that
have them run on 1.2.0, which in turn lacks versions of other operators.

The file, gzip: "TFLNETS1", then per case, little-endian: u16 and name, u32 and
network, u8 inputs and for each a u32 modulus (0 here), u8 runs, u8 outputs, and
for each run and output a u32 CRC-32. Inputs are made as in record_ops.py; the
generator goes on from run to run.
"""

import gzip
import os
import struct
import sys
import subprocess
import tempfile
import zlib
from pathlib import Path

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", TF_ENABLE_ONEDNN_OPTS="0")

import numpy as np
import tensorflow as tf

K, L = tf.keras, tf.keras.layers
NETS = {}


def net(f):
    NETS[f.__name__] = f
    return f


class Fn(L.Layer):
    """A function as a layer."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def call(self, x):
        return self.f(x)


# ---- networks ----

@net
def decoder():
    """Upsampling by EXPAND_DIMS, TILE and RESHAPE to open extents; transposed convolutions."""
    i = K.Input((6, 7, 3))
    x = L.Conv2D(8, 3, padding="same", activation="relu")(i)
    x = L.UpSampling2D(2)(x)
    x = L.Conv2D(8, 3, 2, padding="same")(x)
    x = L.MaxPooling2D(2, padding="same")(x)
    x = L.Conv2DTranspose(6, 3, 2, padding="same", activation="relu")(x)
    return K.Model(i, L.Conv2DTranspose(3, 2, 2)(x))


@net
def skips():
    """Transposed convolutions and convolutions of strides into CONCATENATION; a result read by others as well."""
    i = K.Input((8, 12, 3))
    a = L.Conv2D(8, 3, 2, padding="same", activation="relu")(i)
    b = L.Conv2D(12, 3, 2, padding="same", activation="relu")(a)
    x = L.Conv2DTranspose(8, 2, 2)(b)
    y = L.Conv2D(4, 3, padding="same")(x)
    x = L.Concatenate()([x, a, y])
    x = L.Conv2DTranspose(5, 3, 2, padding="same")(x)
    return K.Model(i, L.Concatenate()([x, L.Conv2D(3, 1)(x)]))


@net
def attention():
    """Layer normalisation, with NEG in float32, and one head."""
    i = K.Input((5, 12))
    y = L.LayerNormalization()(i)
    y = L.MultiHeadAttention(1, 4)(y, y)
    return K.Model(i, L.Dense(3)(L.Add()([i, y])))


@net
def dilated_audio():
    """1-D convolutions with dilation: SPACE_TO_BATCH_ND of rank 3, batches left open."""
    i = K.Input((24, 4))
    x = L.Conv1D(6, 3, padding="same", dilation_rate=2, activation="relu")(i)
    x = L.Conv1D(5, 3, padding="causal", dilation_rate=3)(x)
    return K.Model(i, L.GlobalMaxPooling1D()(x))


@net
def recurrent():
    """A state of zeros made by FILL; gates."""
    i = K.Input((3, 5))
    return K.Model(i, L.Dense(2)(L.LSTM(4, unroll=True)(i)))


@net
def flatten():
    """RESHAPE to an extent that PACK gives."""
    i = K.Input((4, 5, 3))
    x = L.Flatten()(L.Conv2D(4, 3)(i))
    x = L.Dense(24, activation="relu")(x)
    x = L.Reshape((2, 3, 4))(x)
    return K.Model(i, L.Softmax()(L.GlobalAveragePooling2D()(x)))


class Stream(tf.Module):
    """Rows come one at a time; a convolution over the last four."""

    def __init__(self, rng):
        super().__init__()
        self.state = tf.Variable(tf.zeros((1, 3, 1, 6)), name="state")
        self.last = tf.Variable(tf.zeros((1, 2, 1, 5)), name="last")
        self.w = tf.constant(rng.normal(size=(4, 1, 6, 5)).astype("f4") * 0.3)
        self.v = tf.constant(rng.normal(size=(3, 1, 5, 1)).astype("f4") * 0.4)

    @tf.function(input_signature=[tf.TensorSpec((1, 1, 1, 6), tf.float32)])
    def __call__(self, x):
        x = tf.concat([self.state, x], 1)
        self.state.assign(x[:, -3:])
        x = tf.nn.relu(tf.nn.conv2d(x, self.w, 1, "VALID"))
        x = tf.concat([self.last, x], 1)
        self.last.assign(x[:, -2:])
        return tf.reshape(tf.nn.depthwise_conv2d(x, self.v, (1, 1, 1, 1), "VALID"), (1, 5))


@net
def stream():
    return Stream(np.random.default_rng(9))


# ---- conversion ----

def randomise(model):
    rng = np.random.default_rng(4)
    for w in model.weights:
        if "bias" in w.path:
            w.assign(rng.normal(size=w.shape).astype("f4") * 0.2)


def converter(model, kind, folder):
    if isinstance(model, Stream):
        tf.saved_model.save(model, folder)
        c = tf.lite.TFLiteConverter.from_saved_model(folder)
        c.experimental_enable_resource_variables = True
        shapes = [(1, 1, 1, 6)]
    else:
        randomise(model)
        c = tf.lite.TFLiteConverter.from_keras_model(model)
        shapes = [(1,) + tuple(t.shape[1:]) for t in model.inputs]
    rng = np.random.default_rng(5)
    c.optimizations = [tf.lite.Optimize.DEFAULT]
    c.representative_dataset = lambda: ([rng.normal(size=s).astype("f4") for s in shapes] for _ in range(16))
    if kind == "int16":
        c.target_spec.supported_ops = [tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]
    else:
        c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    c.inference_input_type = c.inference_output_type = getattr(tf, kind)
    return c


# ---- recording ----

# Runs on either version, in a process of its own: arguments are network and runs.
REFERENCE = """
import sys, zlib
import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType
def load(kernels):
    it = Interpreter(model_path=sys.argv[1], experimental_op_resolver_type=kernels)
    it.allocate_tensors()
    return it
try:
    it = load(OpResolverType.BUILTIN_REF)
except ValueError:  # some versions of operators that only move values are registered with the fast ones alone
    it = load(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
x, ins, outs = 1, it.get_input_details(), it.get_output_details()
for _ in range(int(sys.argv[2])):
    for d in ins:
        v = np.empty(int(np.prod(d["shape"])), dtype=np.int64)
        for i in range(v.size):
            x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
            v[i] = x >> 12
        it.set_tensor(d["index"], v.astype(d["dtype"]).reshape(d["shape"]))
    it.invoke()
    print("crc", *[zlib.crc32(np.ascontiguousarray(it.get_tensor(d["index"])).tobytes()) for d in outs])
print("ports", len(ins), len(outs))
"""


def record(name, file, older, folder):
    runs = 12 if name.startswith("stream") else 2
    path = Path(folder) / "net.tflite"
    path.write_bytes(file)
    dense = name.split(".")[0] in ("attention", "recurrent", "flatten")
    env = dict(os.environ, PYTHONPATH=older) if dense else None
    out = subprocess.run([sys.executable, "-c", REFERENCE, str(path), str(runs)], env=env, capture_output=True, text=True)
    lines = [line.split() for line in out.stdout.splitlines()]
    crc = [int(v) for line in lines if line and line[0] == "crc" for v in line[1:]]
    ports = [int(v) for line in lines if line and line[0] == "ports" for v in line[1:]]
    if not ports:
        sys.exit(name + ": " + out.stderr[-400:])
    print("%-24s %6d bytes, %d runs, %d of %d results differ" % (name, len(file), runs, len(set(crc)), len(crc)))
    text = name.encode()
    return (struct.pack("<H", len(text)) + text + struct.pack("<I", len(file)) + file + bytes([ports[0]]) +
            b"\0\0\0\0" * ports[0] + bytes([runs, ports[1]]) + struct.pack("<%dI" % len(crc), *crc))


def main():
    default = Path(__file__).resolve().parents[2] / "tests" / "models" / "tflite_nets.gz"
    older, path = sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else default
    out = b"TFLNETS1"
    for name, make in NETS.items():
        for kind in ("int8", "uint8", "int16"):
            if (kind == "uint8" and name not in ("flatten", "stream")) or (kind == "int16" and name not in ("flatten", "decoder")):
                continue
            K.utils.set_random_seed(7)
            with tempfile.TemporaryDirectory() as folder:
                out += record(name + "." + kind, converter(make(), kind, folder).convert(), older, folder)
    with open(path, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", filename="", mtime=0) as z:
        z.write(out)


main()
