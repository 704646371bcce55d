# SPDX-License-Identifier: Apache-2.0
"""Writes .onnx files: a graph of nodes, constants, inputs and outputs.

Field numbers and type codes: ONNX's public description of its format (IR
version 8). Standard library only; constants are given as bytes.
"""

import struct

FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7    # TensorProto.DataType
FLOAT_ATTRIBUTE, INT_ATTRIBUTE, STRING_ATTRIBUTE, INTS_ATTRIBUTE = 1, 2, 3, 7
IR_VERSION = 8


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v > 0x7F:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def block(field, data):
    data = data.encode() if isinstance(data, str) else bytes(data)
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, v):
    out = block(1, name)
    if isinstance(v, float):
        return out + varint(2 << 3 | 5) + struct.pack("<f", v) + number(20, FLOAT_ATTRIBUTE)
    if isinstance(v, int):
        return out + number(3, v) + number(20, INT_ATTRIBUTE)
    if isinstance(v, str):
        return out + block(4, v) + number(20, STRING_ATTRIBUTE)
    return out + b"".join(number(8, i) for i in v) + number(20, INTS_ATTRIBUTE)


class Graph:
    def __init__(self, name):
        self.name = name
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.domains = set()

    def add_constant(self, name, dtype, shape, data):
        self.constants.append(b"".join(number(1, d) for d in shape) + number(2, dtype) + block(8, name) + block(9, data))
        return name

    def add_float(self, name, v):
        return self.add_constant(name, FLOAT, [], struct.pack("<f", v))

    def add_node(self, op, inputs, output, domain="", **attributes):
        """inputs: names, "" for those left out."""
        outputs = [output] if isinstance(output, str) else output
        node = b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in outputs) + block(4, op)
        node += b"".join(block(5, attribute(k, v)) for k, v in sorted(attributes.items()))
        if domain:
            node += block(7, domain)
            self.domains.add(domain)
        self.nodes.append(node)
        return outputs[0]

    def port(self, name, dtype, shape):
        dims = b"".join(block(1, number(1, d)) for d in shape)
        return block(1, name) + block(2, block(1, number(1, dtype) + block(2, dims)))

    def add_input(self, name, dtype, shape):
        self.inputs.append(self.port(name, dtype, shape))
        return name

    def add_output(self, name, dtype, shape):
        self.outputs.append(self.port(name, dtype, shape))

    def to_bytes(self, opset, description=""):
        graph = b"".join(block(1, n) for n in self.nodes) + block(2, self.name)
        graph += b"".join(block(5, c) for c in self.constants)
        graph += b"".join(block(11, p) for p in self.inputs) + b"".join(block(12, p) for p in self.outputs)
        sets = block(8, number(2, opset))
        sets += b"".join(block(8, block(1, d) + number(2, 1)) for d in sorted(self.domains))
        return number(1, IR_VERSION) + block(2, description) + block(7, graph) + sets
