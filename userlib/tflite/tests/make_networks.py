# SPDX-License-Identifier: Apache-2.0
"""Networks for the tests of the delegate, made of the project's own one.

    make_networks.py DIGITS.tflite DIR

mixed.tflite    a float sine in the middle: two parts
resized.tflite  the number of images is open, and a shape is computed from it: tensors are dynamic
floats.tflite   the same operators with float tensors: nothing for the NPU
"""
import sys

import flatbuffers
from ai_edge_litert import schema_py_generated as s


def load(path):
    m = s.ModelT.InitFromPackedBuf(open(path, "rb").read(), 0)
    for o in m.subgraphs[0].operators:
        o.inputs, o.outputs = [int(i) for i in o.inputs], [int(i) for i in o.outputs]
    return m


def save(model, path):
    b = flatbuffers.Builder(0)
    b.Finish(model.Pack(b), b"TFL3")
    open(path, "wb").write(bytes(b.Output()))


def code(model, number, version=1):
    c = s.OperatorCodeT()
    c.builtinCode, c.deprecatedBuiltinCode, c.version = number, min(number, 127), version
    model.operatorCodes.append(c)
    return len(model.operatorCodes) - 1


def tensor(model, name, shape, kind, quantization=None, data=None, signature=None):
    t = s.TensorT()
    t.name, t.shape, t.type, t.quantization, t.shapeSignature, t.buffer = name, list(shape), kind, quantization, signature, 0
    if data is not None:
        buffer = s.BufferT()
        buffer.data = list(data)
        model.buffers.append(buffer)
        t.buffer = len(model.buffers) - 1
    model.subgraphs[0].tensors.append(t)
    return len(model.subgraphs[0].tensors) - 1


def operator(model, opcode, inputs, outputs, kind=0, options=None):
    o = s.OperatorT()
    o.opcodeIndex, o.inputs, o.outputs, o.builtinOptionsType, o.builtinOptions = opcode, inputs, outputs, kind, options
    return o


def mixed(path, out):
    m = load(path)
    g = m.subgraphs[0]
    at = 2
    cut = g.operators[at - 1].outputs[0]
    t = g.tensors[cut]
    a = tensor(m, "as_float", t.shape, s.TensorType.FLOAT32)
    b = tensor(m, "sine", t.shape, s.TensorType.FLOAT32)
    c = tensor(m, "again", t.shape, t.type, t.quantization)
    g.operators[at].inputs[0] = c
    new = [operator(m, code(m, s.BuiltinOperator.DEQUANTIZE, 2), [cut], [a]), operator(m, code(m, s.BuiltinOperator.SIN), [a], [b]),
           operator(m, code(m, s.BuiltinOperator.QUANTIZE), [b], [c])]
    g.operators[at:at] = new
    save(m, out)


def resized(path, out):
    m = load(path)
    g = m.subgraphs[0]
    for t in g.tensors:
        if not t.buffer or m.buffers[t.buffer].data is None or not len(m.buffers[t.buffer].data):
            t.shapeSignature = [-1] + list(t.shape[1:])
    at = next(k for k, o in enumerate(g.operators) if m.operatorCodes[o.opcodeIndex].builtinCode == s.BuiltinOperator.RESHAPE)
    reshape, int32 = g.operators[at], s.TensorType.INT32
    n_features = g.tensors[reshape.outputs[0]].shape[-1]

    def number(name, values):
        return tensor(m, name, [len(values)], int32, data=b"".join(v.to_bytes(4, "little", signed=True) for v in values))

    shape = tensor(m, "shape", [4], int32)
    batch = tensor(m, "batch", [], int32)
    features = tensor(m, "features", [], int32, data=int(n_features).to_bytes(4, "little"))
    packed = tensor(m, "packed", [2], int32)
    cut, pack, of = s.StridedSliceOptionsT(), s.PackOptionsT(), s.ShapeOptionsT()
    of.outType = int32
    cut.shrinkAxisMask, pack.valuesCount, pack.axis = 1, 2, 0
    new = [operator(m, code(m, s.BuiltinOperator.SHAPE), [reshape.inputs[0]], [shape], s.BuiltinOptions.ShapeOptions, of),
           operator(m, code(m, s.BuiltinOperator.STRIDED_SLICE), [shape, number("b", [0]), number("e", [1]), number("s", [1])], [batch],
                    s.BuiltinOptions.StridedSliceOptions, cut),
           operator(m, code(m, s.BuiltinOperator.PACK), [batch, features], [packed], s.BuiltinOptions.PackOptions, pack)]
    reshape.inputs = [reshape.inputs[0], packed]
    reshape.builtinOptions, reshape.builtinOptionsType = None, 0
    g.operators[at:at] = new
    save(m, out)


def floats(out):
    """ADD and RELU of floats."""
    m = s.ModelT()
    m.version, m.operatorCodes, m.buffers = 3, [], [s.BufferT()]
    g = s.SubGraphT()
    m.subgraphs, g.tensors = [g], []
    shape, kind = [1, 4, 4, 3], s.TensorType.FLOAT32
    x, y, z = (tensor(m, name, shape, kind) for name in "xyz")
    o = s.AddOptionsT()
    g.inputs, g.outputs = [x], [z]
    g.operators = [operator(m, code(m, s.BuiltinOperator.ADD), [x, x], [y], s.BuiltinOptions.AddOptions, o),
                   operator(m, code(m, s.BuiltinOperator.RELU), [y], [z])]
    save(m, out)


if __name__ == "__main__":
    mixed(sys.argv[1], f"{sys.argv[2]}/mixed.tflite")
    resized(sys.argv[1], f"{sys.argv[2]}/resized.tflite")
    floats(f"{sys.argv[2]}/floats.tflite")
