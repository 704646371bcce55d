# SPDX-License-Identifier: Apache-2.0
"""Float .onnx networks, quantised by weft, in ONNX Runtime.

usage: quantize_ort.py WEFT FOLDER [MODEL.onnx ...]

Four networks with random weights are written into FOLDER; further files are float
networks of one input, too. `weft quantize` makes int8 and int16x8 of each. ONNX Runtime has to
run what comes out at every level of optimisation. Its quantiser (quantize_static, QDQ, per
channel, least and greatest values) makes int8 from the same samples; the mean squared
error of weft's outputs, against the float network's, must not be greater, but for a thousandth:
weft moves scales by units in the last place so that a RESCALE has ONNX's bits.

A line for each says how many elements of the outputs differ from golden's at each level, and by
how much of the greatest: between integers ONNX Runtime computes in float32, so that an element
near a tie may move by a step. The exit status is 1 if a network is refused or less accurate.
Needs numpy, onnx, sympy and onnxruntime.
"""
import os
import re
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

LEVELS = ["DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL"]
SAMPLES, JUDGED = 16, 8
OPSET = 17


class Network:
    """A float network that is being written."""

    def __init__(self, seed, shape):
        self.rng, self.nodes, self.constants, self.shape = np.random.default_rng(seed), [], [], shape

    def constant(self, values):
        name = "c%d" % len(self.constants)
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def random(self, *shape):
        return self.constant((self.rng.normal(size=shape) * (1.5 / np.prod(shape[1:]) ** .5 if len(shape) > 1 else .2)).astype(np.float32))

    def op(self, kind, *inputs, **attributes):
        name = "v%d" % len(self.nodes)
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def conv(self, x, channels, of, kernel=3, **attributes):
        pads = [kernel // 2] * 4
        return self.op("Conv", x, self.random(channels, of, kernel, kernel), self.random(channels), pads=pads, **attributes)

    def write(self, path, output):
        self.nodes[-1].output[0] = "y"
        graph = helper.make_graph(self.nodes, "float", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        onnx.save(onnx.shape_inference.infer_shapes(model), path)


def residual(path):
    n = Network(1, [1, 3, 16, 16])
    a = n.op("Relu", n.conv("x", 12, 3, strides=[2, 2]))
    b = n.op("Relu", n.op("Add", n.conv(n.op("Relu", n.conv(a, 12, 12)), 12, 12), a))
    b = n.op("Flatten", n.op("GlobalAveragePool", b))
    n.write(path, n.op("Gemm", b, n.random(10, 12), n.random(10), transB=1))


def separable(path):
    n = Network(2, [1, 4, 20, 20])
    x = n.op("Clip", n.conv("x", 16, 4), n.constant(np.float32(0)), n.constant(np.float32(6)))
    x = n.op("Relu", n.conv(x, 16, 1, group=16))
    x = n.op("MaxPool", n.conv(x, 24, 16, 1), kernel_shape=[2, 2], strides=[2, 2])
    n.write(path, n.conv(x, 5, 24))


def dense(path):
    n = Network(3, [1, 40])
    x = n.op("Relu", n.op("Gemm", "x", n.random(64, 40), n.random(64), transB=1))
    x = n.op("Relu", n.op("Gemm", x, n.random(32, 64), n.random(32), transB=1))
    n.write(path, n.op("MatMul", x, n.random(32, 7)))


def branches(path):
    n = Network(4, [1, 6, 12, 12])
    a, b = n.op("Relu", n.conv("x", 8, 6, 1)), n.op("Relu", n.conv("x", 8, 6, 5))
    x = n.op("AveragePool", n.op("Concat", a, b, axis=1), kernel_shape=[3, 3], strides=[3, 3])
    n.write(path, n.conv(x, 4, 16))


def session(path, level="ENABLE_ALL"):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, "ORT_" + level)
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def shape_of(port):
    return [d if isinstance(d, int) and d > 0 else 1 for d in port.shape]


def weft(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip())[-300:])


def golden(command, model, name, x, folder):
    out = os.path.join(folder, "out")
    os.makedirs(out, exist_ok=True)
    for old in os.listdir(out):
        os.remove(os.path.join(out, old))
    np.save(os.path.join(folder, "x.npy"), x)
    weft(command, "run", model, "--device", "golden", "-o", out, "-i", f"{name}={folder}/x.npy")
    return [np.load(os.path.join(out, f)) for f in sorted(os.listdir(out))]


class Reader(CalibrationDataReader):
    def __init__(self, name, samples):
        self.rest = iter([{name: x} for x in samples])

    def get_next(self):
        return next(self.rest, None)


def error(outputs, right):
    """Mean squared error over mean square."""
    return sum(float(((a - b) ** 2).sum()) for a, b in zip(outputs, right)) / max(1e-30, sum(float((b ** 2).sum()) for b in right))


def static_error(model, name, samples, judged, right, folder):
    """Infinite where ONNX Runtime does not load what its own quantiser wrote (of an old opset)."""
    path = os.path.join(folder, "static.onnx")
    quantize_static(model, path, Reader(name, samples), quant_format=QuantFormat.QDQ, per_channel=True,
                    activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)
    try:
        s = session(path)
    except Exception:                                # noqa: BLE001
        return float("inf")
    return np.mean([error(s.run(None, {name: x}), r) for x, r in zip(judged, right)])


def differences(quantised, name, x, want):
    words = []
    for level in LEVELS:
        try:
            got = session(quantised, level).run(None, {name: x})
        except Exception as problem:                   # noqa: BLE001  the runtime's own classes differ between releases
            return False, f"refused at {level}: {str(problem)[:200]}"
        count = sum(int((a != b).sum()) for a, b in zip(want, got))
        most = max(float(np.abs(a.astype(float) - b).max() / max(np.abs(a).max(), 1e-30)) for a, b in zip(want, got))
        words.append(f"{count}" + (f" ({most:.1e})" if count else ""))
    return True, f"of {sum(a.size for a in want)} elements differ at the four levels " + ", ".join(words)


def judge(command, model, kind, folder):
    """True if all is well; and a line."""
    plain = session(model)
    port = plain.get_inputs()[0]
    random = np.random.default_rng(1)
    draw = lambda: random.normal(size=shape_of(port)).astype(np.float32)
    samples, judged = [draw() for _ in range(SAMPLES)], [draw() for _ in range(JUDGED)]
    calibrate = os.path.join(folder, "samples")
    os.makedirs(calibrate, exist_ok=True)
    for old in os.listdir(calibrate):
        os.remove(os.path.join(calibrate, old))
    for i, x in enumerate(samples):
        np.save(os.path.join(calibrate, f"{i}_" + re.sub(r"[^A-Za-z0-9._-]", "_", port.name) + ".npy"), x)
    quantised = os.path.join(folder, "q.onnx")
    weft(command, "quantize", model, "-o", quantised, "--calibrate", calibrate, "--type", kind)
    runs, words = differences(quantised, port.name, judged[0], golden(command, quantised, port.name, judged[0], folder))
    if not runs or kind != "int8":
        return runs, words
    right = [plain.run(None, {port.name: x}) for x in judged]
    s = session(quantised)
    ours = np.mean([error(s.run(None, {port.name: x}), r) for x, r in zip(judged, right)])
    theirs = static_error(model, port.name, samples, judged, right, folder)
    return bool(ours <= theirs * 1.001), f"{words}; error {ours:.2e}, quantize_static {theirs:.2e}"


def main():
    command, folder, models = sys.argv[1], sys.argv[2], sys.argv[3:]
    bad = 0
    print("onnxruntime", ort.__version__, flush=True)
    for make in (residual, separable, dense, branches):
        models.append(os.path.join(folder, make.__name__ + ".onnx"))
        make(models[-1])
    for model in models:
        for kind in ("int8", "int16x8"):
            try:
                good, words = judge(command, model, kind, folder)
            except RuntimeError as problem:
                good, words = False, str(problem)
            bad += not good
            print(f"{'ok  ' if good else 'FAIL'} {os.path.basename(model)} {kind}: {words}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
