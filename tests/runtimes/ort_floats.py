# SPDX-License-Identifier: Apache-2.0
"""Float operators with --requant runtime against ONNX Runtime: its floats, bit for bit.

usage: ort_floats.py WEFT FOLDER SEED

Random MatMul, Gemm, Conv, ConvTranspose, AveragePool, GlobalAveragePool, linear Resize, LayerNormalization, BatchNormalization,
InstanceNormalization, ReduceMean, ReduceSum, LSTM, Softmax, LogSoftmax, Erf, Sigmoid and Tanh, biases of int32, QLinearAveragePool, and products of
int16 and uint16 between DequantizeLinear and QuantizeLinear, by themselves. ONNX Runtime runs each with one thread and without
optimisation. Exit status 1 if an element differs. Needs numpy, onnx and onnxruntime 1.31.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

weft, folder, rng = sys.argv[1], Path(sys.argv[2]), np.random.default_rng(int(sys.argv[3]))


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


def of(*choices):
    return choices[rng.integers(len(choices))]


def network(nodes, inputs, constants, opset):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(c, n) for n, c in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def one(op, *operands, opset=17, **attributes):
    """A network of one operator, all of whose operands are inputs."""
    inputs = {"x%d" % k: x for k, x in enumerate(operands)}
    return network([helper.make_node(op, list(inputs), ["y"], **attributes)], inputs, {}, opset), inputs


def matmul():
    m, k, n = of(1, 2, 5, 20), of(3, 7, 16, 64, 67, 130, 300), of(1, 2, 3, 7, 16, 40, 200)
    lead = of((), (2,), (3, 1))
    return one("MatMul", floats(*lead, m, k), floats(*of((), lead), k, n))


def gemm():
    m, k, n, turned, a_turned = of(1, 2, 5, 20), of(3, 7, 16, 64, 67, 130, 300), of(1, 2, 3, 7, 16, 40, 200), of(0, 1), of(0, 0, 1)
    bias = of((), (floats(n),))
    return one("Gemm", floats(k, m) if a_turned else floats(m, k), floats(n, k) if turned else floats(k, n), *bias, transA=a_turned, transB=turned)


def conv():
    group, size, kernel = of(1, 1, 2, 4), of(4, 7, 12), of(1, 3, 4)
    c, o = group * of(1, 3, 8, 40), group * of(1, 2, 7)
    return one("Conv", floats(1, c, size, size), floats(o, c // group, kernel, kernel), *of((), (floats(o),)), group=group,
               strides=[of(1, 2)] * 2, pads=[of(0, 1)] * 4)


def average():
    opset, kernel, stride = of(17, 21), [of(1, 2, 3, 4), of(2, 3, 5)], of(1, 2, 3)
    dilations = {"dilations": [of(1, 2), of(1, 2)]} if opset == 21 else {}
    return one("AveragePool", floats(1, 4, 14, 14), opset=opset, kernel_shape=kernel, strides=[stride, stride], pads=[of(0, kernel[0] // 2), 1] * 2,
               count_include_pad=of(0, 1), ceil_mode=of(0, 1), **dilations)


def average_of_codes():
    """QLinearAveragePool, at scales of which many averages are ties. What ceil_mode adds does not count."""
    kernel, stride, count = [of(1, 2, 3), of(2, 3)], of(1, 2, 3), of(0, 1)
    type_ = of(np.int8, np.uint8)
    constants = {"s": np.float32(of(0.05, 0.1)), "z": type_(100), "t": np.float32(of(0.03, 0.07, 0.0125)), "tz": type_(90)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
             helper.make_node("QLinearAveragePool", ["q", "s", "z", "t", "tz"], ["a"], domain="com.microsoft", kernel_shape=kernel, strides=[stride, stride],
                              pads=[of(0, 1)] * 4 if min(kernel) > 1 else [0] * 4, count_include_pad=count, ceil_mode=0 if count else of(0, 1)),
             helper.make_node("DequantizeLinear", ["a", "t", "tz"], ["y"])]
    inputs = {"x": floats(1, 3, 14, 13) * 2}
    return network(nodes, inputs, constants, 17), inputs


def average_all():
    return one("GlobalAveragePool", floats(2, 9, of(1, 3, 4, 7), of(2, 5, 8)))


def resize():
    x, how = floats(1, of(1, 4), 9, 7), {"mode": "linear", "coordinate_transformation_mode": of("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")}
    constants = of({"scales": np.array([1, 1, *of((2, 2), (1.5, 3), (0.5, 0.5), (4, 2))], np.float32)}, {"sizes": np.array([*x.shape[:2], 13, 20])})
    node = helper.make_node("Resize", ["x", ""] + ([] if "scales" in constants else [""]) + list(constants), ["y"], **how)
    return network([node], {"x": x}, constants, of(13, 19)), {"x": x}


def layer_norm():
    n = of(3, 7, 8, 9, 13, 16, 22, 48, 100)
    return one("LayerNormalization", floats(2, 5, n), floats(n), *of((), (floats(n),)), axis=-1, epsilon=1e-5)


def erf():
    return one("Erf", floats(300) * 2)


def sigmoid():
    return one("Sigmoid", np.concatenate([floats(300) * of(1, 8), np.array([-100, -18, -17.33, 0, 18, 40, np.nan, -np.inf, np.inf], np.float32)]))


def tanh():
    return one("Tanh", np.concatenate([floats(300) * of(1, 4), np.array([-100, -9, -0.0, 9, 40, np.nan, -np.inf, np.inf], np.float32)]))


def conv_transpose():
    group, size, kernel = of(1, 1, 2), of(1, 4, 7), of(2, 3, 4)
    c, o = group * of(1, 3, 8, 40, 150), group * of(1, 2, 7)
    sides = of((size, size), (size,))
    return one("ConvTranspose", floats(1, c, *sides), floats(c, o // group, *[kernel] * len(sides)), *of((), (floats(o),)), group=group,
               strides=[of(1, 2)] * len(sides), pads=[of(0, 1) if size > 1 else 0] * (2 * len(sides)))


def softmax():
    """Processors with AVX-512 sum rows of more than eight elements in other lanes, so that these are left out there."""
    lanes = 8 if "avx512f" in Path("/proc/cpuinfo").read_text() else 1000
    n = of(*(k for k in (1, 2, 5, 8, 13, 24, 30, 100) if k <= lanes))
    return one(of("Softmax", "LogSoftmax"), floats(3, 4, n) * of(1, 10), axis=-1)


def batch_norm():
    c = of(1, 5, 16)
    return one("BatchNormalization", floats(2, c, of(1, 3, 8), 5), floats(c), floats(c), floats(c), np.abs(floats(c)), epsilon=1e-5)


def instance_norm():
    c = of(1, 3, 16)
    return one("InstanceNormalization", floats(2, c, of(1, 3, 8), of(1, 2, 5, 7, 8)), floats(c), floats(c), epsilon=1e-5)


def reduce():
    """Sums over neighbouring axes, of which the last may be one."""
    shape, axes = [of(1, 2, 3), of(1, 3, 7, 16), of(1, 2, 5, 8, 20), of(1, 4, 7)], list(range(of(0, 1, 2, 3), 4))
    axes = axes[:of(1, 2, 4)]
    op, opset = of("ReduceMean", "ReduceSum"), of(11, 18)
    x, constants = floats(*shape), {"axes": np.array(axes)} if opset == 18 else {}
    node = helper.make_node(op, ["x", *constants], ["y"], keepdims=of(0, 1), **({} if constants else {"axes": axes}))
    return network([node], {"x": x}, constants, opset), {"x": x}


def lstm():
    """Its weights are constants, as exporters write them."""
    steps, batch, size, hidden, way = of(1, 4, 9), of(1, 2), of(3, 12, 40), of(2, 7, 24), of("forward", "reverse", "bidirectional")
    d = 2 if way == "bidirectional" else 1
    constants = {"w": floats(d, 4 * hidden, size) * np.float32(0.3), "r": floats(d, 4 * hidden, hidden) * np.float32(0.3), "b": floats(d, 8 * hidden)}
    node = helper.make_node("LSTM", ["x", *list(constants)[:of(2, 3)]], ["y"], hidden_size=hidden, direction=way)
    return network([node], {"x": floats(steps, batch, size)}, constants, 17), {"x": floats(steps, batch, size)}


def wide_bias():
    """A bias of int32 that float32 does not hold, as quantisation to int16 leaves them."""
    constants = {"b": rng.integers(-2**31, 2**31, 40).astype(np.int32), "s": (np.abs(floats(40)) * 1e-8 + 1e-9).astype(np.float32), "z": np.zeros(40, np.int32)}
    nodes = [helper.make_node("DequantizeLinear", ["b", "s", "z"], ["d"], axis=0), helper.make_node("Add", ["x", "d"], ["y"])]
    inputs = {"x": floats(3, 40)}
    return network(nodes, inputs, constants, 17), inputs


def sixteen_bits():
    """x, quantised to int16 or uint16, times weights of int8; the product is quantised, and leaves as floats."""
    type_ = of(np.int16, np.uint16)
    middle = 0 if type_ is np.int16 else 32768
    zero = [type_(middle + (0 if of(True, False) else rng.integers(-9000, 9000))) for _ in range(2)]
    m, k, n = of(1, 4, 20), of(16, 48, 200), of(5, 48, 130)
    constants = {"s": np.float32(2e-4), "z": zero[0], "tz": zero[1], "w": rng.integers(-127, 128, (k, n)).astype(np.int8), "ws": (np.abs(floats(n)) * 1e-3 + 1e-4).astype(np.float32),
                 "wz": np.zeros(n, np.int8), "t": np.float32(1e-4 * np.sqrt(k))}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"]), helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
             helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=1), helper.make_node("MatMul", ["xd", "wd"], ["p"]),
             helper.make_node("QuantizeLinear", ["p", "t", "tz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "t", "tz"], ["y"])]
    inputs = {"x": floats(m, k)}
    return network(nodes, inputs, constants, 21), inputs


def runtime(model, inputs):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, inputs)[0]


def golden(model, inputs):
    onnx.save(model, folder / "one.onnx")
    command = [weft, "run", folder / "one.onnx", "--device", "golden", "--requant", "runtime", "-o", folder]
    for name, x in inputs.items():
        np.save(folder / (name + ".npy"), x)
        command += ["-i", "%s=%s/%s.npy" % (name, folder, name)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.load(next(folder.glob("0_*.npy")))


def main():
    wrong = 0
    for kind, rounds in ((matmul, 40), (gemm, 40), (conv, 40), (average, 20), (average_of_codes, 12), (average_all, 8), (resize, 20), (layer_norm, 20), (erf, 4), (sigmoid, 8), (tanh, 8), (conv_transpose, 30),
                         (softmax, 12), (batch_norm, 8), (instance_norm, 20), (reduce, 60), (lstm, 20), (wide_bias, 4), (sixteen_bits, 40)):
        differ = elements = 0
        for _ in range(rounds):
            model, inputs = kind()
            want = runtime(model, inputs)
            bad = int((golden(model, inputs).ravel().view(np.int32) != want.ravel().view(np.int32)).sum())
            if bad:
                print(kind.__name__, [x.shape for x in inputs.values()], str(model.graph.node[0].attribute)[:400].replace("\n", " "), bad, "of", want.size, "differ")
            differ, elements = differ + bad, elements + want.size
        print("%-16s %3d networks, %d of %d elements differ" % (kind.__name__, rounds, differ, elements))
        wrong += differ
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
