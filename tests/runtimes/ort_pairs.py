# SPDX-License-Identifier: Apache-2.0
"""--requant runtime-avx2 against ONNX Runtime on an emulated processor with AVX2 and without VNNI, byte for byte.

usage: ort_pairs.py WEFT FOLDER SEED
       ort_pairs.py --run JOBS RESULTS      (what the emulated processor does)

Random QLinearConv, ConvInteger, QLinearMatMul, QGemm, MatMulInteger, MatMulIntegerToFloat, DynamicQuantizeMatMul, DynamicQuantizeLSTM and chains of
them, of uint8 and int8, many of whose codes are the ends of their types. ONNX Runtime runs each with one thread and without
optimisation under qemu-x86_64 -cpu Haswell. Exit status 1 if an element differs, or if no network's sums saturate. Needs numpy, onnx,
onnxruntime 1.31 and qemu-user.
"""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

EMULATED = ["qemu-x86_64", "-cpu", "Haswell"]
TYPES = {"u": np.uint8, "s": np.int8}


def run_all(jobs):
    """The first results of (model, inputs), by the processor at hand."""
    import onnxruntime

    results = []
    for model, inputs in jobs:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        results.append(onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, inputs)[0])
    return results


if sys.argv[1] == "--run":
    Path(sys.argv[3]).write_bytes(pickle.dumps(run_all(pickle.loads(Path(sys.argv[2]).read_bytes()))))
    sys.exit(0)

import onnx
from onnx import TensorProto, helper, numpy_helper

weft, folder, rng = sys.argv[1], Path(sys.argv[2]), np.random.default_rng(int(sys.argv[3]))


def of(*choices):
    return choices[rng.integers(len(choices))]


def codes(kind, *shape):
    """Codes, of which most may be the ends of the type."""
    low, high = np.iinfo(TYPES[kind]).min, np.iinfo(TYPES[kind]).max
    how, any_code = rng.integers(4), rng.integers(low, high + 1, shape)
    ends = [any_code, rng.choice([low, high, low + 1, high - 1], shape), np.where(rng.random(shape) < 0.8, high, any_code), any_code // of(1, 2, 3)]
    return ends[how].astype(TYPES[kind])


def floats(*shape):
    return rng.normal(size=shape).astype(np.float32)


def network(nodes, inputs, constants, kind):
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in inputs.items()],
                              [helper.make_tensor_value_info("y", kind, None)], [numpy_helper.from_array(np.asarray(c), n) for n, c in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    return model.SerializeToString(), inputs


def code_type(kind):
    return TensorProto.UINT8 if kind == "u" else TensorProto.INT8


def kinds():
    return of("us", "us", "us", "uu", "ss")


def zero(kind, chance):
    return TYPES[kind](rng.integers(1, 100) if rng.random() < chance else 0)


def put(inputs, constants, name, x):
    """A factor that is an input or a constant."""
    (constants if rng.random() < 0.7 else inputs)[name] = x


def factors(a, b, lead=False):
    """Names and sizes of a product's factors, a [.., m, k] and b [.., k, n]."""
    m, k, n = of(1, 1, 2, 5, 9), of(1, 2, 3, 4, 7, 16, 31, 130, 300), of(1, 3, 8, 15, 16, 33, 130)
    batch = of((), (2,), (3, 1)) if lead else ()
    return codes(a, *batch, m, k), codes(b, *(of((), batch) if lead else ()), k, n), k, n


def result(kind, k):
    """Scale and zero point of a product's codes."""
    return {"ys": np.float32(max(1, 127 * 127 * np.sqrt(k) * of(0.02, 0.05, 0.2))), "yz": TYPES[kind](rng.integers(0, 100))}


def matmul_integer():
    a, b = of("us", "us", "uu", "ss", "su")
    x, w, k, n = factors(a, b, True)
    inputs, constants = {"x": x}, {"xz": zero(a, 0.5), "wz": codes(b, n) if w.ndim == 2 and of(True, False) else zero(b, 0.3)}
    put(inputs, constants, "w", w)
    return network([helper.make_node("MatMulInteger", ["x", "w", "xz", "wz"], ["y"])], inputs, constants, TensorProto.INT32)


def qlinear_matmul():
    a, b = kinds()
    x, w, k, n = factors(a, b, True)
    each = w.ndim == 2 and of(True, False)
    inputs, constants = {"x": x}, {"xs": np.float32(1), "xz": zero(a, 0.5), "ws": rng.uniform(0.5, 2, n).astype(np.float32) if each else np.float32(1),
                                   "wz": np.zeros(n, TYPES[b]) if each else zero(b, 0.3), **result(a, k)}
    put(inputs, constants, "w", w)
    return network([helper.make_node("QLinearMatMul", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["y"])], inputs, constants, code_type(a))


def qgemm():
    a, b = kinds()
    x, w, k, n = factors(a, b)
    turned, a_turned, each = of(0, 1), of(0, 0, 1), of(True, False)
    inputs, constants = {"x": x.T.copy() if a_turned else x}, {
        "xs": np.float32(1), "xz": zero(a, 0.5), "ws": rng.uniform(0.5, 2, n).astype(np.float32) if each else np.float32(1),
        "wz": np.zeros(n, TYPES[b]) if each else zero(b, 0.3), "c": rng.integers(-10000, 10000, n).astype(np.int32), **result(a, k)}
    put(inputs, constants, "w", w.T.copy() if turned else w)
    return network([helper.make_node("QGemm", ["x", "xs", "xz", "w", "ws", "wz", of("c", ""), "ys", "yz"], ["y"], domain="com.microsoft", transA=a_turned,
                                     transB=turned)], inputs, constants, code_type(a))


def to_float():
    a, b = kinds()
    x, w, k, n = factors(a, b)
    inputs, constants = {"x": x}, {"xs": np.float32(0.01), "ws": rng.uniform(0.01, 0.02, n).astype(np.float32), "xz": zero(a, 0.5),
                                   "wz": np.full(n, zero(b, 0.3), TYPES[b])}
    put(inputs, constants, "w", w)
    return network([helper.make_node("MatMulIntegerToFloat", ["x", "w", "xs", "ws", "xz", "wz"], ["y"], domain="com.microsoft")], inputs, constants,
                   TensorProto.FLOAT)


def dynamic_matmul():
    b = of("s", "s", "u")
    x, w, k, n = factors("u", b)
    x = floats(*x.shape) + np.float32(of(-1, 0, 2))
    constants = {"w": w, "ws": rng.uniform(0.01, 0.02, n).astype(np.float32), "wz": np.full(n, zero(b, 0.3), TYPES[b])}
    return network([helper.make_node("DynamicQuantizeMatMul", ["x", "w", "ws", "wz"], ["y"], domain="com.microsoft")], {"x": x}, constants, TensorProto.FLOAT)


def dynamic_lstm():
    b, size, hidden, way = of("s", "s", "u"), of(3, 8, 17, 40), of(2, 7, 24), of("forward", "reverse", "bidirectional")
    d = 2 if way == "bidirectional" else 1
    constants = {"w": codes(b, d, size, 4 * hidden), "r": codes(b, d, hidden, 4 * hidden), "b": floats(d, 8 * hidden), "s": np.full(d, 2e-4, np.float32),
                 "z": np.full(d, 0 if b == "s" else 128, TYPES[b])}
    return network([helper.make_node("DynamicQuantizeLSTM", ["x", "w", "r", "b", "", "", "", "", "s", "z", "s", "z"], ["y"], domain="com.microsoft",
                                     hidden_size=hidden, direction=way)], {"x": floats(of(1, 4), of(1, 2), size) * 3 + 2}, constants, TensorProto.FLOAT)


def window(op):
    a, b = of("us", "uu") if op == "ConvInteger" else kinds()
    n, k = of(1, 2, 2, 3), of(1, 2, 3, 5)
    group, ic, oc = of((1, of(1, 3, 4, 5, 16, 36), of(1, 3, 16, 17)), (1, of(2, 8, 20), of(4, 32)), (of(2, 3), of(1, 2, 3, 8), of(1, 2, 4)), (of(1, 4, 20), 1, 1))
    kernel = [k] * n if of(True, False) else [of(1, 2, 3) for _ in range(n)]
    x, w = codes(a, of(1, 2), group * ic, *[of(5, 6, 8) for _ in range(n)]), codes(b, group * oc, ic, *kernel)
    shape = {"group": group, "kernel_shape": kernel, "strides": [of(1, 1, 2)] * n, "pads": [of(0, 1) for _ in range(2 * n)],
             "dilations": [of(1, 1, 2) if k < 4 else 1] * n}
    return a, b, x, w, shape, ic * int(np.prod(kernel))


def qlinear_conv():
    a, b, x, w, shape, k = window("QLinearConv")
    n, each = w.shape[0], of(True, False)
    inputs, constants = {"x": x}, {"xs": np.float32(1), "xz": zero(a, 0.6), "ws": rng.uniform(0.5, 2, n).astype(np.float32) if each else np.float32(1),
                                   "wz": np.full(n, zero(b, 0.3)) if each else zero(b, 0.3), "b": rng.integers(-10000, 10000, n).astype(np.int32), **result(a, k)}
    put(inputs, constants, "w", w)
    return network([helper.make_node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", *of((), ("b",))], ["y"], **shape)], inputs, constants, code_type(a))


def conv_integer():
    a, b, x, w, shape, k = window("ConvInteger")
    inputs, constants = {"x": x}, {"xz": zero(a, 0.6), "wz": zero(b, 0.3)}
    put(inputs, constants, "w", w)
    return network([helper.make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], **shape)], inputs, constants, TensorProto.INT32)


def network_of_layers():
    """Convolutions, one of them depthwise, and a Gemm behind each other."""
    constants, nodes, last, c = {"one": np.float32(1), "z": np.uint8(of(0, 10, 128))}, [], "x", of(3, 8)
    x = codes("u", 1, c, 8, 8)
    for i, (out, group, kernel) in enumerate(((16, 1, 3), (16, 16, 3), (12, 1, 1))):
        constants.update({"w%d" % i: codes("s", out, c // group, kernel, kernel), "z%d" % i: np.zeros(out, np.int8),
                          "s%d" % i: rng.uniform(0.5, 2, out).astype(np.float32), "y%d" % i: result("u", c // group * kernel * kernel)["ys"]})
        nodes.append(helper.make_node("QLinearConv", [last, "one", "z", "w%d" % i, "s%d" % i, "z%d" % i, "y%d" % i, "z"], ["t%d" % i], group=group,
                                      pads=[kernel // 2] * 4))
        last, c = "t%d" % i, out
    constants.update(w=codes("s", 12 * 64, 10), wz=np.zeros(10, np.int8), ws=np.ones(10, np.float32), ys=result("u", 12 * 64)["ys"])
    nodes += [helper.make_node("Flatten", [last], ["f"]), helper.make_node("QGemm", ["f", "one", "z", "w", "ws", "wz", "", "ys", "z"], ["y"],
                                                                           domain="com.microsoft")]
    return network(nodes, {"x": x}, constants, TensorProto.UINT8)


def emulated(jobs):
    (folder / "jobs").write_bytes(pickle.dumps(jobs))
    subprocess.run([*EMULATED, sys.executable, __file__, "--run", folder / "jobs", folder / "results"], check=True, stderr=subprocess.DEVNULL)
    return pickle.loads((folder / "results").read_bytes())


def golden(model, inputs, requant):
    (folder / "one.onnx").write_bytes(model)
    command = [weft, "run", folder / "one.onnx", "--device", "golden", "--requant", requant, "-o", folder]
    for name, x in inputs.items():
        np.save(folder / (name + ".npy"), x)
        command += ["-i", "%s=%s/%s.npy" % (name, folder, name)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.load(next(folder.glob("0_*.npy")))


def differing(a, b):
    same = a.dtype == b.dtype and a.shape == b.shape
    return int((np.ascontiguousarray(a).view(np.uint8) != np.ascontiguousarray(b).view(np.uint8)).sum()) if same else max(a.size, 1)


def main():
    plan = [(kind, kind()) for kind, rounds in ((matmul_integer, 40), (qlinear_matmul, 30), (qgemm, 30), (to_float, 16), (dynamic_matmul, 16), (dynamic_lstm, 12),
                                                (qlinear_conv, 60), (conv_integer, 16), (network_of_layers, 6)) for _ in range(rounds)]
    differ, saturated, elements = {}, 0, 0
    for (kind, (model, inputs)), want in zip(plan, emulated([job for _, job in plan])):
        bad = differing(golden(model, inputs, "runtime-avx2"), want)
        if bad:
            print(kind.__name__, [x.shape for x in inputs.values()], onnx.load_from_string(model).graph.node[0].input, bad, "of", want.nbytes, "bytes differ")
        differ[kind.__name__] = differ.get(kind.__name__, 0) + bad
        saturated += differing(golden(model, inputs, "runtime"), want) > 0
        elements += want.size
    for name, bad in differ.items():
        print("%-17s %3d networks, %d bytes differ" % (name, sum(k.__name__ == name for k, _ in plan), bad))
    print("%d networks, %d of which saturate; %d elements" % (len(plan), saturated, elements))
    sys.exit(any(differ.values()) or not saturated)


if __name__ == "__main__":
    main()
