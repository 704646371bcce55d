# SPDX-License-Identifier: Apache-2.0
"""Writes .tosa files: TOSA 1.0, one region of one block.

Only what a float8 network of CONV2D, CLAMP, CAST and RESHAPE needs. A name
stands for a tensor. Field numbers and enum values: userlib/import/tosa/tosa.fbs.
"""

import struct

from flatbuffer import Table, Tables, Vector, flatbuffer, scalar, scalars, string

FP16, FP8E4M3 = 8, 11                           # DType
CONV2D, CLAMP, RESHAPE, CAST, CONST, CONST_SHAPE = 3, 11, 57, 65, 67, 75    # Op and Attribute


def conv_attribute(pad, stride, acc):
    """pad: top, bottom, left, right."""
    return Table({0: scalars("i", pad), 1: scalars("i", [stride, stride]), 2: scalars("i", [1, 1]),
                  4: ("I", acc)})


def clamp_attribute(low, high):
    """Two fp16 numbers."""
    return Table({k: Vector(2, struct.pack("<e", v)) for k, v in enumerate((low, high))})


def strings(names):
    return Tables([string(name) for name in names])


class Graph:
    """add_...() return the name of the tensor or shape that they add."""

    def __init__(self):
        self.tensors, self.shapes, self.operators = [], [], []

    def add_tensor(self, name, shape, dtype, data=None):
        """data: raw little-endian bytes of a constant."""
        self.tensors.append(Table({
            0: string(name), 1: scalars("i", shape), 2: ("I", dtype),
            3: None if data is None else Vector(len(data), data, 8)}))
        if data is not None:
            self.add_operator(CONST, [], [name])
        return name

    def add_shape(self, name, values):
        data = struct.pack("<%dq" % len(values), *values)
        self.shapes.append(Table({0: string(name), 1: scalar("I", len(values), 0),
                                  2: Vector(len(data), data, 8)}))
        self.add_operator(CONST_SHAPE, [], [name])
        return name

    def add_operator(self, op, inputs, outputs, attribute=None):
        self.operators.append(Table({0: ("I", op), 1: ("B", op), 2: attribute or Table({}),
                                     3: strings(inputs), 4: strings(outputs)}))

    def to_bytes(self, inputs, outputs):
        block = Table({0: string("main"), 1: Tables(self.operators), 2: Tables(self.tensors),
                       3: strings(inputs), 4: strings(outputs), 5: Tables(self.shapes)})
        region = Table({0: string("main"), 1: Tables([block])})
        version = Table({0: ("i", 1), 1: ("i", 0), 2: ("i", 0), 3: ("b", 0)})
        return flatbuffer(Table({0: version, 1: Tables([region])}), b"TOSA")
