# SPDX-License-Identifier: Apache-2.0
"""Float .tflite networks, quantised by weft, in LiteRT.

usage: quantize_litert.py WEFT FOLDER [MODEL.tflite ...]

Five networks with random weights are written into FOLDER; further files are float
networks, too. `weft quantize` makes int8 and int16x8 of each. LiteRT's reference
kernels run what comes out, and `weft run --device golden` has to give the same
bytes on inputs that did not calibrate. The outputs stay near the float network's.

A line for each; the exit status is 1 if one differs.
"""
import glob
import os
import re
import subprocess
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "train"))
from flatbuffer import Table, Tables, flatbuffer, scalars, string  # noqa: E402

F32, I32 = 0, 2
OPS = {"ADD": (0, 1, 11), "AVERAGE_POOL_2D": (1, 1, 5), "CONCATENATION": (2, 1, 10), "CONV_2D": (3, 1, 1), "DEPTHWISE_CONV_2D": (4, 1, 2),
       "FULLY_CONNECTED": (9, 1, 8), "LOGISTIC": (14, 1, 0), "MAX_POOL_2D": (17, 1, 5), "MUL": (18, 1, 21), "RESHAPE": (22, 1, 0),
       "RESIZE_BILINEAR": (23, 1, 15), "SOFTMAX": (25, 1, 9), "TANH": (28, 1, 0), "PAD": (34, 1, 0), "TRANSPOSE": (39, 1, 0),
       "MEAN": (40, 1, 27), "SUB": (41, 1, 28), "TRANSPOSE_CONV": (67, 1, 49), "LEAKY_RELU": (98, 1, 75), "HARD_SWISH": (117, 1, 0),
       "BATCH_MATMUL": (126, 1, 101), "SIN": (66, 1, 0)}
SAME, RELU, RELU6 = 0, 1, 3


class Network:
    """A float network that is being written; tensors are numbers."""

    def __init__(self, seed, *inputs):
        self.rng = np.random.default_rng(seed)
        self.buffers, self.tensors, self.ops, self.codes, self.dims = [Table({})], [], [], [], []
        self.inputs = [self.tensor(d) for d in inputs]

    def tensor(self, dims, data=None, kind=F32):
        buffer = 0
        if data is not None:
            self.buffers.append(Table({0: scalars("B", np.ascontiguousarray(data).tobytes())}))
            buffer = len(self.buffers) - 1
        self.tensors.append(Table({0: scalars("i", dims), 1: ("b", kind), 2: ("I", buffer), 3: string("t%d" % len(self.tensors))}))
        self.dims.append(list(dims))
        return len(self.tensors) - 1

    def random(self, *dims):
        return self.tensor(dims, (self.rng.normal(size=dims) * (1.5 / np.prod(dims[1:]) ** .5 if len(dims) > 1 else .2)).astype(np.float32))

    def ints(self, values):
        return self.tensor(np.shape(values), np.array(values, np.int32), I32)

    def op(self, name, operands, dims, options=None):
        code, version, kind = OPS[name]
        if name not in self.codes:
            self.codes.append(name)
        y = self.tensor(dims)
        fields = {0: ("I", self.codes.index(name)), 1: scalars("i", operands), 2: scalars("i", [y])}
        if kind:
            fields.update({3: ("B", kind), 4: Table(options or {})})
        self.ops.append(Table(fields))
        return y

    def conv(self, x, channels, kernel=3, stride=1, activation=RELU):
        n, h, w, c = self.dims[x]
        weights = self.random(channels, kernel, kernel, c)
        return self.op("CONV_2D", [x, weights, self.random(channels)], [n, -(-h // stride), -(-w // stride), channels],
                       {0: ("b", SAME), 1: ("i", stride), 2: ("i", stride), 3: ("b", activation)})

    def depthwise(self, x, kernel=3, activation=RELU6):
        n, h, w, c = self.dims[x]
        return self.op("DEPTHWISE_CONV_2D", [x, self.random(1, kernel, kernel, c), self.random(c)], [n, h, w, c],
                       {0: ("b", SAME), 1: ("i", 1), 2: ("i", 1), 3: ("i", 1), 4: ("b", activation)})

    def dense(self, x, channels, activation=0):
        return self.op("FULLY_CONNECTED", [x, self.random(channels, self.dims[x][-1]), self.random(channels)], [self.dims[x][0], channels],
                       {0: ("b", activation)})

    def pool(self, name, x, size):
        n, h, w, c = self.dims[x]
        return self.op(name, [x], [n, h // size, w // size, c], {0: ("b", 1), 1: ("i", size), 2: ("i", size), 3: ("i", size), 4: ("i", size)})

    def reshape(self, x, *dims):
        return self.op("RESHAPE", [x, self.ints(dims)], dims)

    def transpose(self, x, *perm):
        return self.op("TRANSPOSE", [x, self.ints(perm)], [self.dims[x][p] for p in perm])

    def file(self, *outputs):
        codes = [Table({0: ("b", OPS[n][0]), 2: ("i", OPS[n][1]), 3: ("i", OPS[n][0])}) for n in self.codes]
        graph = Table({0: Tables(self.tensors), 1: scalars("i", self.inputs), 2: scalars("i", outputs), 3: Tables(self.ops)})
        return flatbuffer(Table({0: ("I", 3), 1: Tables(codes), 2: Tables([graph]), 4: Tables(self.buffers)}), b"TFL3")


def classifier():
    n = Network(1, [1, 16, 16, 3])
    x = n.depthwise(n.conv(n.inputs[0], 12, stride=2))
    x = n.op("ADD", [n.conv(x, 12, 1, activation=0), x], n.dims[x], {0: ("b", RELU)})
    x = n.pool("AVERAGE_POOL_2D", n.pool("MAX_POOL_2D", x, 2), 4)
    return n.file(n.op("SOFTMAX", [n.dense(n.reshape(x, 1, 12), 7)], [1, 7], {0: ("f", 1.0)}))


def segmenter():
    n = Network(2, [1, 16, 16, 4])
    a = n.conv(n.inputs[0], 8)
    b = n.conv(a, 12, stride=2)
    u = n.op("TRANSPOSE_CONV", [n.ints([1, 16, 16, 8]), n.random(8, 2, 2, 12), b], [1, 16, 16, 8], {0: ("b", SAME), 1: ("i", 2), 2: ("i", 2)})
    v = n.op("RESIZE_BILINEAR", [b, n.ints([16, 16])], [1, 16, 16, 12], {2: ("b", 0), 3: ("b", 1)})
    x = n.op("CONCATENATION", [a, u, v], [1, 16, 16, 28], {0: ("i", 3)})
    x = n.conv(x, 3, 1, activation=0)
    return n.file(n.op("LOGISTIC", [x], n.dims[x]), v)


def attention():
    """Two layers that share a mask."""
    n = Network(3, [12, 16])
    mask = n.tensor([1, 12, 12], np.triu(np.full([1, 12, 12], -1e9, np.float32), 1))
    x = n.inputs[0]
    for _ in range(2):
        q, k, v = (n.reshape(n.dense(x, 16), 12, 2, 8) for _ in range(3))
        q, k, v = n.transpose(q, 1, 0, 2), n.transpose(k, 1, 2, 0), n.transpose(v, 1, 0, 2)
        s = n.op("MUL", [n.op("BATCH_MATMUL", [q, k], [2, 12, 12]), n.tensor([], np.float32(.35))], [2, 12, 12])
        p = n.op("SOFTMAX", [n.op("ADD", [s, mask], [2, 12, 12])], [2, 12, 12], {0: ("f", 1.0)})
        y = n.reshape(n.transpose(n.op("BATCH_MATMUL", [p, v], [2, 12, 8]), 1, 0, 2), 12, 16)
        x = n.op("ADD", [n.dense(y, 16), x], [12, 16])
    return n.file(x)


def gates():
    n = Network(4, [1, 1, 40, 6], [1, 1, 40, 6])
    a, b = n.inputs
    a = n.op("PAD", [n.conv(a, 8, activation=0), n.ints([[0, 0], [0, 0], [2, 1], [0, 0]])], [1, 1, 43, 8])
    b = n.op("PAD", [n.conv(b, 8, activation=0), n.ints([[0, 0], [0, 0], [1, 2], [0, 0]])], [1, 1, 43, 8])
    z = n.op("LOGISTIC", [n.op("LEAKY_RELU", [a], n.dims[a], {0: ("f", .1)})], n.dims[a])
    h = n.op("SUB", [n.op("TANH", [b], n.dims[b]), n.op("MUL", [z, a], n.dims[a])], n.dims[a])
    h = n.op("MEAN", [h, n.ints([1, 2])], [1, 8], {0: ("b", 0)})
    return n.file(n.dense(n.op("SIN", [h], [1, 8]), 3))    # SIN has no integer kernel


def squeeze():
    n = Network(5, [2, 12, 12, 5])
    x = n.conv(n.inputs[0], 10, activation=0)
    x = n.op("HARD_SWISH", [x], n.dims[x])
    s = n.op("MEAN", [x, n.ints([1, 2])], [2, 10], {0: ("b", 0)})
    s = n.op("LOGISTIC", [n.dense(n.dense(s, 4, RELU), 10)], [2, 10])
    x = n.op("MUL", [x, n.reshape(s, 2, 1, 1, 10)], n.dims[x])
    return n.file(n.pool("MAX_POOL_2D", x, 3), n.conv(x, 4, 5, 3))


def arrays(detail, rng):
    return [rng.normal(size=d["shape"]).astype(np.float32) for d in detail]


def run(interpreter, inputs):
    for d, x in zip(interpreter.get_input_details(), inputs):
        interpreter.set_tensor(d["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def weft(command, *args):
    done = subprocess.run([command, *args], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip())[-300:])


def with_weft(command, model, inputs, folder):
    args = []
    for k, x in enumerate(inputs):
        np.save(os.path.join(folder, "x%d.npy" % k), x)
        args += ["-i", os.path.join(folder, "x%d.npy" % k)]
    for old in glob.glob(os.path.join(folder, "out", "*")):
        os.remove(old)
    weft(command, "run", model, "--device", "golden", "-o", os.path.join(folder, "out"), *args)
    return [np.load(glob.glob(os.path.join(folder, "out", "%d_*.npy" % k))[0]) for k in range(len(glob.glob(os.path.join(folder, "out", "*"))))]


def judge(command, source, kind, folder):
    """Counts of elements that differ, and of all; and the least cosine with the float network."""
    rng = np.random.default_rng(7)
    plain = Interpreter(source)
    plain.allocate_tensors()
    calibrate = os.path.join(folder, "calibrate")
    os.makedirs(calibrate, exist_ok=True)
    os.makedirs(os.path.join(folder, "out"), exist_ok=True)
    for old in glob.glob(os.path.join(calibrate, "*")):
        os.remove(old)
    for i in range(6):
        for d, x in zip(plain.get_input_details(), arrays(plain.get_input_details(), rng)):
            np.save(os.path.join(calibrate, "%d_%s.npy" % (i, re.sub("[^A-Za-z0-9_.-]", "_", d["name"]))), x)
    target = os.path.join(folder, "quantised.tflite")
    weft(command, "quantize", source, "-o", target, "--calibrate", calibrate, "--type", kind)
    quantised = Interpreter(target, experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    quantised.allocate_tensors()
    differ, total, least = 0, 0, 1.0
    for _ in range(3):
        inputs = arrays(plain.get_input_details(), rng)
        want, near = run(quantised, inputs), run(plain, inputs)
        got = with_weft(command, target, inputs, folder)
        for a, b, c in zip(want, got, near):
            differ += int((a != b.reshape(a.shape)).sum())
            total += a.size
            least = min(least, float((a * c).sum() / max(1e-30, ((a * a).sum() * (c * c).sum()) ** .5)))
    return differ, total, least


def main():
    command, folder, more = sys.argv[1], sys.argv[2], sys.argv[3:]
    bad = 0
    for make in (classifier, segmenter, attention, gates, squeeze):
        with open(os.path.join(folder, make.__name__ + ".tflite"), "wb") as f:
            f.write(make())
        more.append(os.path.join(folder, make.__name__ + ".tflite"))
    for source in more:
        for kind in ("int8", "int16x8"):
            name = "%s as %s" % (os.path.basename(source), kind)
            try:
                differ, total, least = judge(command, source, kind, folder)
                print("%s: %d of %d elements differ, cosine with the float network at least %.6f" % (name, differ, total, least), flush=True)
                bad += differ > 0 or not total or least < .99
            except (RuntimeError, ValueError) as error:
                print(name + ":", error, flush=True)
                bad += 1
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
