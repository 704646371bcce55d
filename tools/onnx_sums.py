#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where ONNX Runtime's codes of quantised products are not those of the exact real numbers, and why.

usage: onnx_sums.py MODEL.onnx INPUT.bin ...      the network's inputs in order, raw bytes

MODEL has MatMul or Gemm between DequantizeLinear and QuantizeLinear. ONNX Runtime runs it without optimisation, and
each product is computed again from the codes that it had there: exactly, in rational numbers, and as a chain of fused
multiplications and additions in float32, along the inner dimension from its beginning. A line for each product: how many
codes are not the exact ones, by how many steps, the greatest distance of the exact values there from a tie, and
how many codes and floats are not the chain's.

Needs onnx, onnxruntime and numpy.
"""

import sys
from fractions import Fraction

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

TYPES = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


class Network:
    """A network whose intermediate values are all outputs."""

    def __init__(self, path, files):
        model = onnx.load(path)
        self.nodes = list(model.graph.node)
        self.values = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
        self.values.update({n.output[0]: numpy_helper.to_array(n.attribute[0].t) for n in self.nodes if n.op_type == "Constant"})
        self.maker = {o: n for n in self.nodes for o in n.output}
        names = [o for n in self.nodes for o in n.output if o and n.op_type != "Constant"]
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in names)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        feed = {i.name: np.fromfile(f, TYPES[i.type]).reshape([d if isinstance(d, int) else 1 for d in i.shape])
                for i, f in zip(session.get_inputs(), files)}
        self.values.update(zip(names, session.run(names, feed)))

    def codes(self, name):
        """A dequantised value as integers without zero point, and scales that broadcast to them; None for another value."""
        n = self.maker.get(name)
        if n is None or n.op_type != "DequantizeLinear":
            return None
        q, scale = self.values[n.input[0]].astype(np.int64), self.values[n.input[1]]
        axis = next((a.i for a in n.attribute if a.name == "axis"), 1)

        def spread(a):
            return a.reshape([-1 if i == axis else 1 for i in range(q.ndim)]) if a.size > 1 else a.reshape(())
        zero = spread(self.values[n.input[2]].astype(np.int64)) if len(n.input) > 2 else 0
        return q - zero, np.broadcast_to(spread(scale), q.shape)


def chain(a, b):
    """The product of float32 matrices; each element is one chain. A long double holds a product and nearly all of a sum."""
    y = np.zeros(a.shape[:-1] + b.shape[-1:], np.float32)
    for k in range(a.shape[-1]):
        y = (a[..., :, k, None].astype(np.longdouble) * b[..., None, k, :] + y).astype(np.float32)
    return y


def matrices(net, product):
    """Operands of MatMul or Gemm as (codes, scales), turned as the attributes say, and the bias or None; None if they are no codes."""
    of = [net.codes(i) for i in product.input if i]
    if any(v is None for v in of):
        return None
    turn = {a.name: a.i for a in product.attribute}
    for k, name in enumerate(("transA", "transB")):
        if turn.get(name):
            of[k] = tuple(np.swapaxes(v, -1, -2) for v in of[k])
    return of[0], of[1], of[2] if len(of) > 2 else None


def judge(net, node, product):
    found = matrices(net, product)
    if not found:
        return None
    (a, a_scale), (b, b_scale), bias = found
    sums, y_scale = a @ b, Fraction(float(net.values[node.input[1]]))
    codes = net.values[node.output[0]]
    zero = int(net.values[node.input[2]]) if len(node.input) > 2 else 0
    limits = np.iinfo(codes.dtype)
    floats = chain(a.astype(np.float32) * a_scale, b.astype(np.float32) * b_scale)
    if bias:
        floats = (floats + bias[0].astype(np.float32) * bias[1]).astype(np.float32)
    quotient = (floats / np.float32(net.values[node.input[1]])).astype(np.float32)
    chained = np.clip(np.rint(quotient) + zero, limits.min, limits.max).astype(np.int64)
    one, columns = Fraction(float(a_scale.flat[0])), np.broadcast_to(b_scale, b.shape)[..., 0, :]
    steps, distance = {}, 0.0
    for at in np.ndindex(sums.shape):
        real = int(sums[at]) * one * Fraction(float(columns[at[:-2] + at[-1:]] if columns.ndim > 1 else columns[at[-1]]))
        if bias:
            real += int(np.broadcast_to(bias[0], sums.shape)[at]) * Fraction(float(np.broadcast_to(bias[1], sums.shape)[at]))
        real /= y_scale
        by = int(codes[at]) - min(max(round(real) + zero, limits.min), limits.max)
        if by:
            steps[by] = steps.get(by, 0) + 1
            distance = max(distance, abs(float(real - real.__floor__() - Fraction(1, 2))))
    return sums.size, steps, distance, int((codes.astype(np.int64) != chained).sum()), int((floats != net.values[product.output[0]]).sum())


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    net = Network(sys.argv[1], sys.argv[2:])
    print("%-60s %9s %9s %-16s %12s %12s %12s" % ("codes", "elements", "not exact", "by steps", "from a tie", "not chained", "floats not"))
    for node in net.nodes:
        product = net.maker.get(node.input[0]) if node.op_type == "QuantizeLinear" else None
        found = judge(net, node, product) if product is not None and product.op_type in ("MatMul", "Gemm") else None
        if found:
            size, steps, distance, chained, floats = found
            print("%-60s %9d %9d %-16s %12.3g %12d %12d" % (node.output[0][:60], size, sum(steps.values()), steps or "", distance, chained, floats))


if __name__ == "__main__":
    main()
