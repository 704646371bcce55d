# SPDX-License-Identifier: Apache-2.0
"""Random networks that ONNX Runtime's quantiser has quantised, in Weft and in ONNX Runtime.

usage: ort_random.py WEFT FOLDER NETWORKS [SEED]

Each network has three to eight operators, which are chosen at random. It is quantised in one to three ways by
quantize_static or quantize_dynamic. For each quantised file, two things are checked. `weft run --check` must find no tensor
of the device that differs from golden. And the outputs of `weft run --requant runtime` must be ONNX Runtime's, byte for
byte: those that it gives without optimisation, or those that it gives with all optimisations. Outputs are not compared if the network has a
ConvTranspose, because Weft computes that exactly and ONNX Runtime computes it in floats.

If a file fails, the script prints its name, keeps it in the parent of FOLDER, and ends with exit status 1. Needs numpy, onnx, sympy and onnxruntime.
"""

import logging
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

OPSET, SAMPLES, INPUTS, LARGEST = 20, 8, 2, 20000
ort.set_default_logger_severity(4)
LEVELS = (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)

weft, folder, count, seed = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1


def session(model, level=LEVELS[0]):
    options = ort.SessionOptions()
    options.graph_optimization_level, options.intra_op_num_threads, options.log_severity_level = level, 1, 4
    options.add_session_config_entry("session.x64quantprecision", "1")
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class Network:
    """A float network. New operators read the tensor x, which is the result so far and has the dimensions n, c, h and w."""

    def __init__(self, number):
        self.r, self.rng = random.Random(number), np.random.default_rng(number)
        self.nodes, self.constants, self.x, self.named = [], [], "x", 0
        self.shape = self.input = (1, self.r.choice([1, 3, 4, 8]), self.r.choice([6, 8, 9, 12]), self.r.choice([5, 8, 10]))

    def of(self, *choices):
        return self.r.choice(choices)

    def name(self):
        self.named += 1
        return "t%d" % self.named

    def constant(self, values):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), self.name()))
        return self.constants[-1].name

    def weights(self, *shape):
        """Random floats for which a sum of products keeps its size."""
        taps = int(np.prod(shape[1:])) or 1
        return self.constant((self.rng.normal(size=shape) / np.sqrt(taps)).astype(np.float32))

    def numbers(self, *shape):
        return self.constant(self.rng.normal(size=shape).astype(np.float32))

    def places(self, *values):
        return self.constant(np.array(values, np.int64))

    def op(self, op, *operands, outputs=1, **attributes):
        results = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, operands, results, **attributes))
        return results[0] if outputs == 1 else results

    def model(self):
        graph = helper.make_graph(self.nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.input)],
                                  [helper.make_tensor_value_info(self.x, TensorProto.FLOAT, None)], self.constants)
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9))

    # Each of the following methods adds one or several operators that read x, and returns the name of their result.

    def conv(self):
        c, dilation = self.shape[1], self.of(1, 1, 2)
        kernel, groups = [self.of(1, 2, 3, 5), self.of(1, 3)], self.of(*(g for g in (1, 1, 2, 3) if c % g == 0))
        out = groups * self.of(2, 5, 8, 17)
        return self.op("Conv", self.x, self.weights(out, c // groups, *kernel), self.numbers(out), kernel_shape=kernel, group=groups,
                       strides=[self.of(1, 1, 2)] * 2, dilations=[dilation] * 2, pads=[self.of(0, 1, 2) for _ in range(4)])

    def depthwise(self):
        c, kernel, more = self.shape[1], self.of(3, 5), self.of(1, 1, 2)
        return self.op("Conv", self.x, self.weights(c * more, 1, kernel, kernel), self.numbers(c * more), kernel_shape=[kernel] * 2, group=c,
                       strides=[self.of(1, 2)] * 2, pads=[kernel // 2] * 4)

    def conv_transpose(self):
        c, out, kernel, stride = self.shape[1], self.of(4, 6), self.of(2, 3), self.of(1, 2)
        return self.op("ConvTranspose", self.x, self.weights(c, out, kernel, kernel), self.numbers(out), kernel_shape=[kernel] * 2, strides=[stride] * 2)

    def pool(self):
        kernel, average = min(self.of(2, 3), *self.shape[2:]), self.of(True, False)
        # ONNX Runtime averages a whole image in another arithmetic, which --requant runtime does not have.
        average = average and self.shape[2:] != (kernel, kernel)
        more = {"count_include_pad": self.of(0, 1)} if average else {}
        return self.op("AveragePool" if average else "MaxPool", self.x, kernel_shape=[kernel] * 2, strides=[self.of(1, 2)] * 2,
                       pads=[self.of(0, kernel // 2)] * 4, ceil_mode=0 if more.get("count_include_pad") else self.of(0, 1), **more)

    def function(self):
        if self.of(True, False, False, False):
            return self.op("Clip", self.x, self.constant(np.float32(self.of(0, -1))), self.constant(np.float32(self.of(1, 6))))
        if self.of(True, False, False, False):
            return self.op("Mul", self.x, self.op("Sigmoid", self.x))
        return self.op(self.of("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Abs", "Neg", "Floor"), self.x)

    def with_constant(self):
        c, w = self.shape[1], self.shape[3]
        return self.op(self.of("Add", "Mul", "Sub", "Max", "Min"), self.x, self.numbers(*self.of((c, 1, 1), (1,), self.shape[1:], (1, 1, w))))

    def batch_norm(self):
        c = self.shape[1]
        return self.op("BatchNormalization", self.x, self.numbers(c), self.numbers(c), self.numbers(c), self.constant(self.rng.uniform(0.3, 2, c).astype(np.float32)))

    def residual(self):
        c = self.shape[1]
        y = self.op("Conv", self.x, self.weights(c, c, 3, 3), self.numbers(c), kernel_shape=[3, 3], pads=[1] * 4)
        if self.of(True, False):
            y = self.op("Relu", y)
        op = self.of("Add", "Mul", "Concat", "Max")
        return self.op(op, self.x, y, **({"axis": self.of(1, 2, 3)} if op == "Concat" else {}))

    def gate(self):
        """Squeeze and excite."""
        c = self.shape[1]
        y = self.op("Relu", self.op("Conv", self.op("GlobalAveragePool", self.x), self.weights(4, c, 1, 1), self.numbers(4), kernel_shape=[1, 1]))
        return self.op("Mul", self.x, self.op("Sigmoid", self.op("Conv", y, self.weights(c, 4, 1, 1), self.numbers(c), kernel_shape=[1, 1])))

    def move(self):
        _, c, h, w = self.shape
        ways = [lambda: self.op("Transpose", self.x, perm=list(self.of((0, 1, 3, 2), (0, 2, 3, 1), (0, 3, 1, 2)))),
                lambda: self.op("Reshape", self.x, self.places(0, h, c, w)), lambda: self.op("Tile", self.x, self.places(1, 1, 2, 1)),
                lambda: self.op("Pad", self.x, self.places(0, 0, 1, 0, 0, 0, 1, 2), mode="constant"),
                lambda: self.op("Slice", self.x, self.places(h - 1, 0), self.places(-h - 1, w), self.places(2, 3), self.places(-1, self.of(1, 2))),
                lambda: self.op("Gather", self.x, self.places(0, 0, c - 1), axis=1),
                lambda: self.op("Resize", self.x, "", self.constant(np.array([1, 1, 2, 2], np.float32)), mode=self.of("nearest", "linear"))]
        if c % 2 == 0:
            ways += [self.shuffle, self.halves]
        if c % 4 == 0:
            ways.append(lambda: self.op("DepthToSpace", self.x, blocksize=2, mode=self.of("DCR", "CRD")))
        if h % 2 == 0 and w % 2 == 0:
            ways.append(lambda: self.op("SpaceToDepth", self.x, blocksize=2))
        return self.of(*ways)()

    def shuffle(self):
        _, c, h, w = self.shape
        y = self.op("Transpose", self.op("Reshape", self.x, self.places(0, 2, c // 2, h, w)), perm=[0, 2, 1, 3, 4])
        return self.op("Reshape", y, self.places(0, c, h, w))

    def halves(self):
        a, b = self.op("Split", self.x, outputs=2, axis=1, num_outputs=2)
        return self.op(self.of("Add", "Mul"), a, self.op("Sigmoid", b))

    def product(self):
        w, n = self.shape[3], self.of(4, 8)
        weights = self.constant((self.rng.normal(size=(w, n)) / np.sqrt(w)).astype(np.float32))
        return self.op("Add", self.op("MatMul", self.x, weights), self.numbers(n))

    def grow(self):
        """Add an operator; take it back if its result is empty, too large, of another rank or beyond what codes are for."""
        before = len(self.nodes), len(self.constants), self.x
        self.x = self.of(self.conv, self.conv, self.conv, self.depthwise, self.depthwise, self.conv_transpose, self.pool, self.pool, self.function,
                         self.function, self.with_constant, self.batch_norm, self.residual, self.residual, self.gate, self.move, self.move, self.move, self.product)()
        try:
            y = session(self.model().SerializeToString()).run(None, {"x": samples(self, 1)[0]})[0]
            fits = y.ndim == 4 and 0 < y.size < LARGEST and np.isfinite(y).all() and np.abs(y).max() < 1e4
        except Exception:                # the runtime or its shape inference refuses a window that does not fit
            fits = False
        if fits:
            self.shape = y.shape
        else:
            del self.nodes[before[0]:], self.constants[before[1]:]
            self.x = before[2]
        return fits


def samples(network, n):
    rng = np.random.default_rng(7)
    return [rng.normal(size=network.input).astype(np.float32) for _ in range(n)]


class Samples(CalibrationDataReader):
    def __init__(self, network):
        self.left = iter(samples(network, SAMPLES))

    def get_next(self):
        x = next(self.left, None)
        return None if x is None else {"x": x}


def static(activations, weights, per_channel=False, format_=QuantFormat.QDQ):
    return lambda network, source, to: quantize_static(source, to, Samples(network), quant_format=format_, activation_type=activations, weight_type=weights,
                                                       per_channel=per_channel)


FORMS = {
    "qdq_s8s8": static(QuantType.QInt8, QuantType.QInt8, True), "qdq_u8u8": static(QuantType.QUInt8, QuantType.QUInt8),
    "qdq_s16s8": static(QuantType.QInt16, QuantType.QInt8), "qop_u8s8": static(QuantType.QUInt8, QuantType.QInt8, True, QuantFormat.QOperator),
    "qop_u8u8": static(QuantType.QUInt8, QuantType.QUInt8, False, QuantFormat.QOperator),
    "dynamic": lambda network, source, to: quantize_dynamic(source, to, weight_type=QuantType.QInt8),
}


def weft_run(*arguments):
    return subprocess.run([weft, "run", *arguments, "--no-cache", "--no-capture"], capture_output=True, text=True)


def complaint(network, model):
    """What is wrong with Weft's results of this file, or None."""
    runs = []
    for level in LEVELS:
        try:
            runs.append(session(str(model), level))
        except Exception:                # a level may make operators for which the runtime has no kernel
            pass
    for k, x in enumerate(samples(network, INPUTS)):
        np.save(folder / "x.npy", x)
        checked = weft_run(model, "-i", folder / "x.npy", "--check")
        if checked.returncode:
            return (checked.stderr or checked.stdout).strip()
        if any(node.op_type == "ConvTranspose" for node in network.nodes):
            continue
        shutil.rmtree(folder / "y", ignore_errors=True)
        ours = weft_run(model, "-i", folder / "x.npy", "-o", folder / "y", "--device", "golden", "--requant", "runtime")
        if ours.returncode:
            return ours.stderr.strip()
        y = np.load(next((folder / "y").glob("0_*.npy")))
        theirs = [run.run(None, {"x": x})[0] for run in runs]
        if not any(np.array_equal(y, t) for t in theirs):
            return "input %d: %s of %d elements differ" % (k, " or ".join(str(int((y != t).sum())) for t in theirs), y.size)
    return None


def main():
    logging.disable(logging.CRITICAL)
    tried = {form: 0 for form in FORMS}
    wrong = 0
    for number in range(seed * 1000, seed * 1000 + count):
        network = Network(number)
        wanted = network.of(*range(3, 9))
        for _ in range(3 * wanted):
            wanted -= network.grow()
            if not wanted:
                break
        onnx.save(network.model(), folder / "float.onnx")
        quant_pre_process(str(folder / "float.onnx"), str(folder / "ready.onnx"), skip_symbolic_shape=True)
        for form in network.r.sample(sorted(FORMS), network.of(1, 2, 3)):
            model = folder / ("random_%d_%s.onnx" % (number, form))
            FORMS[form](network, str(folder / "ready.onnx"), str(model))
            tried[form] += 1
            problem = complaint(network, model)
            if problem:
                wrong += 1
                kept = shutil.copy(model, folder.parent)
                print("%s: %s" % (kept, problem), flush=True)
    print("%d networks: %s; %d wrong" % (count, ", ".join("%d %s" % (n, form) for form, n in tried.items()), wrong))
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
