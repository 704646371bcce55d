#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what ONNX Runtime gives for single operators.

usage: record_onnx_ops.py [file]        default: tests/models/onnx_ops.gz

Operators on floats that few networks have, and ONNX Runtime's own quantised ones,
with scales at which their results tie, constant operands, transposed factors.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install onnx==1.23.2 onnxruntime==1.31.1
    /tmp/v/bin/python tools/train/record_onnx_ops.py

The file, gzip: "ONNXOPS1", then per case, little-endian: u16 and name, u32 and model, u8
inputs, u8 outputs, and each of these: u8 type as ONNX numbers it (1 float, 2 uint8, 3 int8),
u8 rank, u32 extents, elements.
"""

import gzip
import struct
import sys
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

CODES = {np.dtype("f4"): 1, np.dtype("u1"): 2, np.dtype("i1"): 3}
RNG = np.random.default_rng(5)


def model(op, inputs, constants, attrs, opset, domain="", order=None):
    names = order or list(inputs) + list(constants)
    node = h.make_node(op, names, ["y"], domain=domain, **attrs)
    ports = [h.make_tensor_value_info(k, CODES[v.dtype], v.shape) for k, v in inputs.items()]
    out = CODES[next(iter(inputs.values())).dtype]
    graph = h.make_graph([node], "g", ports, [h.make_tensor_value_info("y", out, None)], [nh.from_array(v, k) for k, v in constants.items()])
    sets = [h.make_opsetid("", opset)] + ([h.make_opsetid(domain, 1)] if domain else [])
    return h.make_model(graph, opset_imports=sets, ir_version=8)


def tensor(v):
    v = np.ascontiguousarray(v)
    return bytes([CODES[v.dtype], v.ndim]) + struct.pack("<%dI" % v.ndim, *v.shape) + v.tobytes()


def record(name, m, inputs):
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level, o.intra_op_num_threads = 4, 1      # threads each find a range of the states of their own
    file = m.SerializeToString()
    y = ort.InferenceSession(file, o, providers=["CPUExecutionProvider"]).run(None, inputs)
    return (struct.pack("<H", len(name)) + name.encode() + struct.pack("<I", len(file)) + file + bytes([len(inputs), len(y)]) +
            b"".join(tensor(v) for v in inputs.values()) + b"".join(tensor(v) for v in y))


def floats():
    s = (2, 6, 3, 4)
    wide = np.array([-3, -1, -0.25, 0, 0, 0.3, 1, 2.5], "f4")
    x = np.concatenate([wide, RNG.normal(size=int(np.prod(s)) - 8).astype("f4") * 2]).astype("f4").reshape(s)
    c = lambda n: RNG.normal(size=n).astype("f4")
    yield "Softsign", x, {}, {}, 13
    yield "Mish", x, {}, {}, 18
    yield "Celu", x, {}, {"alpha": 0.7}, 12
    yield "ThresholdedRelu", x, {}, {"alpha": 0.3}, 10
    for op in ("ReduceL1", "ReduceL2", "ReduceLogSumExp"):
        yield op, x, {"axes": np.array([1])}, {"keepdims": 1}, 18
        yield op, x, {}, {"axes": [2, -1], "keepdims": 0}, 13
    yield "ReduceLogSum", np.abs(x) + 1, {"axes": np.array([0, 2])}, {"keepdims": 1}, 18
    yield "LpNormalization", x, {}, {"axis": 1, "p": 2}, 13
    yield "LpNormalization", x, {}, {"axis": -1, "p": 1}, 13
    yield "InstanceNormalization", x, {"scale": c(6), "bias": c(6)}, {"epsilon": 1e-4}, 13
    yield "GroupNormalization", x, {"scale": c(3), "bias": c(3)}, {"num_groups": 3}, 18
    yield "GroupNormalization", x, {"scale": c(6), "bias": c(6)}, {"num_groups": 2}, 21
    yield "Upsample", x, {}, {"mode": "nearest", "scales": [1.0, 1.0, 2.0, 3.0]}, 7
    yield "Upsample", x, {"scales": np.array([1, 1, 2, 2], "f4")}, {"mode": "linear"}, 9


def codes(t, *shape):
    info = np.iinfo(t)
    return RNG.integers(info.min, info.max + 1, shape).astype(t)


def pairs():
    """QLinearAdd and QLinearMul: scales of powers of two and of 1/127.5 tie often; a constant first or second."""
    f = np.float32
    scales = ((f(1 / 127.5), f(1 / 127), f(2 / 255)), (f(1 / 8), f(1 / 16), f(1 / 16)), (f(0.013), f(0.029), f(0.041)))
    shapes = ((1, 3, 5, 8), (), (3, 1, 1), (1, 3, 1, 8))
    for op in ("QLinearAdd", "QLinearMul"):
        for t in (np.int8, np.uint8):
            for k, (sa, sb, sy) in enumerate(scales):
                for i, shape in enumerate(shapes):
                    zp = [codes(t) for _ in range(3)]
                    zp[2] = t(int(zp[2]) | 1)
                    p = {"as": sa, "az": zp[0], "bs": sb, "bz": zp[1], "ys": sy, "yz": zp[2]}
                    order = ["a", "as", "az", "b", "bs", "bz", "ys", "yz"] if (i + k) % 2 else ["b", "bs", "bz", "a", "as", "az", "ys", "yz"]
                    ins = {"a": codes(t, 1, 3, 5, 8)}
                    consts = {k: np.asarray(v) for k, v in p.items()}
                    (consts if i else ins)["b"] = codes(t, *shape)
                    yield op, ins, consts, {}, order


def gemms():
    f = np.float32
    for t in (np.int8, np.uint8):
        for ta, tb, alpha, bias in ((0, 0, 1.0, 0), (1, 0, 1.0, 1), (0, 1, 0.5, 2), (1, 1, 2.0, 1)):
            a, b = codes(t, *((9, 4) if ta else (4, 9))), codes(t, *((6, 9) if tb else (9, 6)))
            c = {"as": f(0.02), "az": codes(t), "b": b, "bs": f(0.03), "bz": codes(t)}
            c = {k: np.asarray(v) for k, v in c.items()}
            order = ["a", "as", "az", "b", "bs", "bz", "", "ys", "yz"]
            if bias:
                c["c"] = RNG.integers(-20000, 20000, (1, 6) if bias > 1 else (6,)).astype("i4")
                order[6] = "c"
            c["ys"], c["yz"] = np.asarray(f(0.4)), np.asarray(codes(t))
            yield "QGemm", {"a": a}, c, {"transA": ta, "transB": tb, "alpha": alpha}, order


def int4():
    """Between DequantizeLinear and QuantizeLinear, weights of 4 bits: a convolution and a matrix product."""
    for op, shape, w_shape, axis in (("Conv", (1, 6, 5, 7), (8, 6, 3, 3), 0), ("Gemm", (3, 20), (20, 9), 1)):
        n = w_shape[axis]
        x, w = codes(np.int8, *shape), RNG.integers(-8, 8, w_shape)
        scale = RNG.uniform(0.01, 0.05, n).astype("f4")
        init = [nh.from_array(np.asarray(v), k) for k, v in
                {"as": np.float32(0.031), "az": np.int8(5), "ws": scale, "ys": np.float32(0.37), "yz": np.int8(-9)}.items()]
        init.append(h.make_tensor("w", T.INT4, w_shape, w.ravel().tolist()))
        nodes = [h.make_node("DequantizeLinear", ["x", "as", "az"], ["f"]), h.make_node("DequantizeLinear", ["w", "ws"], ["v"], axis=axis),
                 h.make_node(op, ["f", "v"], ["g"]), h.make_node("QuantizeLinear", ["g", "ys", "yz"], ["y"])]
        graph = h.make_graph(nodes, "g", [h.make_tensor_value_info("x", T.INT8, shape)], [h.make_tensor_value_info("y", T.INT8, None)], init)
        yield "int4 " + op, h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10), {"x": x}


def sums():
    """QLinearAdd of pairs of codes whose result depends on the order of additions: as vectors, and with one number for many first or second."""
    def fused(a, ra, b, rb, az, bz, yz):
        wide = np.longdouble
        rest = np.float32(wide(yz) - wide(np.float32(wide(ra) * az + wide(np.float32(rb * np.float32(bz))))))
        return (a * wide(ra) + (b * wide(rb) + rest).astype("f4")).astype("f4")

    for n in range(2):
        t = (np.uint8, np.int8)[n]
        a, b = (v.ravel() for v in np.meshgrid(np.arange(256), np.arange(256), indexing="ij"))
        a, b = a + np.iinfo(t).min, b + np.iinfo(t).min
        for _ in range(60):
            sa, sb, sy = RNG.uniform(0.005, 0.05, 3).astype("f4")
            az, bz, yz = (int(codes(t)) for _ in range(3))
            ra, rb = sa / sy, sb / sy
            way = [fused(a, ra, b, rb, az, bz, yz), fused(b, rb, a, ra, bz, az, yz),
                   ((a - az).astype("f4") * ra + (b - bz).astype("f4") * rb) + np.float32(yz)]
            way = [np.clip(np.rint(v), np.iinfo(t).min, np.iinfo(t).max) for v in way]
            hard = np.flatnonzero((way[0] != way[1]) | (way[0] != way[2]) | (way[1] != way[2]))
            if not hard.size:
                continue
            x, y = a[hard].astype(t), b[hard].astype(t)
            c = {"as": sa, "az": t(az), "bs": sb, "bz": t(bz), "ys": sy, "yz": t(yz)}
            c = {k: np.asarray(v) for k, v in c.items()}
            many = np.ones((1, 3), t)
            for ins in ({"a": x, "b": y}, {"a": x[:, None], "b": y[:, None] * many}, {"a": x[:, None] * many, "b": y[:, None]}):
                yield "QLinearAdd", ins, c, {}, ["a", "as", "az", "b", "bs", "bz", "ys", "yz"]


def small_weights():
    """MatMulNBits: bits, blocks, and whether x gets codes of 8 bits, too (accuracy_level 4)."""
    rows, k, n = 3, 72, 10
    for bits, block, level in ((4, 16, 0), (4, 32, 4), (4, 16, 4), (8, 32, 4), (8, 64, 0), (2, 16, 4), (2, 32, 4)):
        blocks = -(-k // block)
        c = {"b": RNG.integers(0, 256, (n, blocks, block * bits // 8)).astype("u1"), "s": RNG.normal(size=n * blocks).astype("f4") * np.float32(0.02)}
        if block == 16:
            c["z"] = RNG.integers(0, 256, n * -(-blocks * bits // 8)).astype("u1")
        x = RNG.normal(size=(rows, k)).astype("f4")
        x[1, 16:32] = 0
        yield "MatMulNBits", {"x": x}, c, {"K": k, "N": n, "bits": bits, "block_size": block, "accuracy_level": level}, ["x", *c]


def volumes():
    """QLinearAveragePool over windows of three dimensions."""
    for k in range(4):
        t = (np.uint8, np.int8)[k % 2]
        c = {"s": np.float32(RNG.uniform(0.01, 0.05)), "z": codes(t), "ys": np.float32(RNG.uniform(0.005, 0.02)), "yz": codes(t)}
        attrs = {"kernel_shape": [2, 3, 2], "strides": [2, 1, 1], "pads": [k // 2, 1, 0, 0, 1, 1], "count_include_pad": k // 2}
        yield "QLinearAveragePool", {"x": codes(t, 1, 3, 6, 5, 7)}, {k: np.asarray(v) for k, v in c.items()}, attrs, ["x", *c]


def infinities():
    """Linear Resize of infinities, which weigh 0 for some results."""
    for how in ("half_pixel", "asymmetric", "align_corners"):
        x = RNG.normal(size=(1, 2, 5, 6)).astype("f4")
        x[0, 0, 1, 2], x[0, 1, 4, 5], x[0, 1, 0, 3] = np.inf, -np.inf, np.nan
        yield "Resize", {"x": x}, {"scales": np.array([1, 1, 2, 2], "f4")}, {"mode": "linear", "coordinate_transformation_mode": how}, ["x", "", "scales"]


def lstms():
    """DynamicQuantizeLSTM: weights of both types, scales for all or for each column, both directions, what may be absent."""
    steps, batch, size, hidden = 7, 3, 6, 5
    forms = (("forward", np.int8, False, {}), ("reverse", np.uint8, True, {}), ("bidirectional", np.int8, True, {"clip": 0.8}),
             ("bidirectional", np.uint8, False, {"input_forget": 1}), ("forward", np.uint8, False, {"activations": ["HardSigmoid", "Relu", "Softsign"]}))
    for k, (direction, t, columns, attrs) in enumerate(forms):
        n = 2 if direction == "bidirectional" else 1
        shape = (n, 4 * hidden) if columns else (n,)
        c = {"w": codes(t, n, size, 4 * hidden), "r": codes(t, n, hidden, 4 * hidden)}
        if k % 2 == 0:
            c["b"] = RNG.normal(size=(n, 8 * hidden)).astype("f4")
        if k > 1:
            c["lens"] = np.array([7, 0, 4], "i4")
            c["h0"], c["c0"] = (RNG.normal(size=(n, batch, hidden)).astype("f4") for _ in range(2))
        if k == 2:
            c["p"] = RNG.normal(size=(n, 3 * hidden)).astype("f4")
        for name in ("w", "r"):
            c[name + "s"] = RNG.uniform(0.004, 0.01, shape).astype("f4")
            c[name + "z"] = np.full(shape, 0 if t is np.int8 else 131, t)
        order = ["x"] + [name if name in c else "" for name in ("w", "r", "b", "lens", "h0", "c0", "p", "ws", "wz", "rs", "rz")]
        node = h.make_node("DynamicQuantizeLSTM", order, ["y", "yh", "yc"], domain="com.microsoft", direction=direction, hidden_size=hidden, **attrs)
        graph = h.make_graph([node], "g", [h.make_tensor_value_info("x", T.FLOAT, (steps, batch, size))],
                             [h.make_tensor_value_info(y, T.FLOAT, None) for y in ("y", "yh", "yc")], [nh.from_array(v, name) for name, v in c.items()])
        m = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("com.microsoft", 1)], ir_version=8)
        yield "DynamicQuantizeLSTM %d" % k, m, {"x": RNG.normal(size=(steps, batch, size)).astype("f4")}


def main():
    default = Path(__file__).resolve().parents[2] / "tests" / "models" / "onnx_ops.gz"
    out, n = b"ONNXOPS1", 0
    for op, x, constants, attrs, opset in floats():
        out += record("%s %d" % (op, opset), model(op, {"x": x}, constants, attrs, opset), {"x": x})
        n += 1
    for generate in (pairs, gemms):
        for op, ins, constants, attrs, order in generate():
            out += record("%s %d" % (op, n), model(op, ins, constants, attrs, 13, "com.microsoft", order), ins)
            n += 1
    for generate in (int4, lstms):
        for name, m, ins in generate():
            out += record(name, m, ins)
            n += 1
    for op, ins, constants, attrs, order in (*sums(), *small_weights(), *volumes()):
        out += record("%s %d" % ("3-D " + op if "kernel_shape" in attrs else op, n), model(op, ins, constants, attrs, 13, "com.microsoft", order), ins)
        n += 1
    for op, ins, constants, attrs, order in infinities():
        out += record("%s %d" % (op, n), model(op, ins, constants, attrs, 13, order=order), ins)
        n += 1
    with open(sys.argv[1] if len(sys.argv) > 1 else default, "wb") as f, gzip.GzipFile(fileobj=f, mode="wb", filename="", mtime=0) as z:
        z.write(out)
    print(n, "cases")


main()
