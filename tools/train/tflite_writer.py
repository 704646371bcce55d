# SPDX-License-Identifier: Apache-2.0
"""Writes .tflite files: a FlatBuffer, built front to back.

Only what plain int8 networks for images need: convolutions, pooling, addition,
mean, RESHAPE, FULLY_CONNECTED and SOFTMAX. Every object is placed after the one that refers to it, so that all
offsets point forward as the format demands; a table's vtable comes right
before the table. Fields at their default are left out, as other writers do.

Field numbers and enum values: TensorFlow Lite's public schema, version 3.
"""

import struct

INT32, INT8 = 2, 9                              # TensorType
ADD, AVERAGE_POOL_2D, CONV_2D, DEPTHWISE_CONV_2D = 0, 1, 3, 4   # BuiltinOperator
FULLY_CONNECTED, MAX_POOL_2D, RESHAPE, SOFTMAX, MEAN = 9, 17, 22, 25, 40
OP_VERSION = {ADD: 2, AVERAGE_POOL_2D: 2, CONV_2D: 3, DEPTHWISE_CONV_2D: 3, FULLY_CONNECTED: 4,
              MAX_POOL_2D: 2, RESHAPE: 1, SOFTMAX: 2, MEAN: 2}  # first with int8
OPTIONS_TYPE = {ADD: 11, AVERAGE_POOL_2D: 5, CONV_2D: 1, DEPTHWISE_CONV_2D: 2, FULLY_CONNECTED: 8,
                MAX_POOL_2D: 5, RESHAPE: 17, SOFTMAX: 9, MEAN: 27}
NO_ACTIVATION, RELU, RELU6 = 0, 1, 3            # ActivationFunctionType
SAME, VALID = 0, 1                              # Padding


class Table:
    """fields: {number: (struct code, value) or a Table, Vector or Tables}."""

    def __init__(self, fields):
        self.fields = {k: v for k, v in fields.items() if v is not None}


class Vector:
    """Scalars, already little-endian, whose first element is at `align`."""

    def __init__(self, count, data, align=4, tail=b""):
        self.count, self.data, self.align, self.tail = count, data, align, tail


class Tables:
    def __init__(self, tables):
        self.tables = tables


def scalars(code, values):
    values = list(values)
    return Vector(len(values), struct.pack("<%d%s" % (len(values), code), *values),
                  max(4, struct.calcsize(code)))


def string(text):
    return Vector(len(text.encode()), text.encode(), 4, b"\0")


def scalar(code, value, default):
    return None if value == default else (code, value)


def pad_to(out, align, ahead=0):
    """Zeros until the byte `ahead` of the end would be at a multiple of align."""
    out.extend(bytes(-(len(out) + ahead) % align))


def put_table(out, table, later):
    """Largest fields first, so that each is naturally aligned. Returns where."""
    width = {k: struct.calcsize("<" + v[0]) if isinstance(v, tuple) else 4
             for k, v in table.fields.items()}
    order = sorted(width, key=lambda k: (-width[k], k))
    at, where = 4, {}
    for k in order:
        where[k] = at
        at += width[k]
    n_slots = 1 + max(table.fields, default=-1)
    slots = [where.get(k, 0) for k in range(n_slots)]
    vtable = struct.pack("<%dH" % (2 + n_slots), 4 + 2 * n_slots, at, *slots)
    pad_to(out, 4, len(vtable))
    out += vtable
    start = len(out)
    out += struct.pack("<i", len(vtable)) + bytes(at - 4)
    for k, v in table.fields.items():
        if isinstance(v, tuple):
            struct.pack_into("<" + v[0], out, start + where[k], v[1])
        else:
            later.append((start + where[k], v))
    return start


def put_object(out, obj, later):
    if isinstance(obj, Table):
        return put_table(out, obj, later)
    if isinstance(obj, Tables):
        pad_to(out, 4)
        start = len(out)
        out += struct.pack("<I", len(obj.tables)) + bytes(4 * len(obj.tables))
        later.extend((start + 4 + 4 * i, t) for i, t in enumerate(obj.tables))
        return start
    pad_to(out, obj.align, 4)
    start = len(out)
    out += struct.pack("<I", obj.count) + obj.data + obj.tail
    return start


def flatbuffer(root, identifier):
    out = bytearray(4) + identifier
    later = [(0, root)]
    while later:
        at, obj = later.pop(0)
        struct.pack_into("<I", out, at, put_object(out, obj, later) - at)
    pad_to(out, 16)
    return bytes(out)


def conv_options(stride, activation):
    return Table({0: scalar("b", SAME, SAME), 1: ("i", stride), 2: ("i", stride),
                  3: scalar("b", activation, NO_ACTIVATION)})


def depthwise_options(stride, activation):
    return Table({0: scalar("b", SAME, SAME), 1: ("i", stride), 2: ("i", stride), 3: ("i", 1),
                  4: scalar("b", activation, NO_ACTIVATION)})


def pool_options(size, stride, padding):
    return Table({0: scalar("b", padding, SAME), 1: ("i", stride), 2: ("i", stride),
                  3: ("i", size), 4: ("i", size)})


def add_options(activation):
    return Table({0: scalar("b", activation, NO_ACTIVATION)})


def mean_options(keep_dims):
    return Table({0: scalar("B", int(keep_dims), 0)})


def fully_connected_options(activation=NO_ACTIVATION):
    return Table({0: scalar("b", activation, NO_ACTIVATION)})


def softmax_options(beta):
    return Table({0: scalar("f", beta, 0.0)})


def reshape_options(shape):
    return Table({0: scalars("i", shape)})


class Model:
    """One subgraph. add_tensor() returns the tensor's number."""

    def __init__(self, description):
        self.description = description
        self.buffers = [Table({})]              # buffer 0 is the empty one
        self.tensors, self.operators, self.codes = [], [], []

    def add_tensor(self, name, shape, dtype, data=None, scales=None,
                   zero_points=None, dimension=0):
        """data: raw little-endian bytes of a constant; None for an activation."""
        quantization = None
        if scales is not None:
            quantization = Table({2: scalars("f", scales), 3: scalars("q", zero_points),
                                  6: scalar("i", dimension, 0)})
        self.tensors.append(Table({
            0: scalars("i", shape), 1: scalar("b", dtype, 0),
            2: scalar("I", 0 if data is None else len(self.buffers), 0),
            3: string(name), 4: quantization}))
        if data is not None:
            self.buffers.append(Table({0: Vector(len(data), data, 16)}))
        return len(self.tensors) - 1

    def add_operator(self, code, inputs, outputs, options):
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append(Table({
            0: scalar("I", self.codes.index(code), 0), 1: scalars("i", inputs),
            2: scalars("i", outputs), 3: ("B", OPTIONS_TYPE[code]), 4: options}))

    def to_bytes(self, inputs, outputs):
        # Both fields of a code are written: old readers know only the byte.
        codes = [Table({0: ("b", c), 2: scalar("i", OP_VERSION[c], 1), 3: ("i", c)})
                 for c in self.codes]
        subgraph = Table({0: Tables(self.tensors), 1: scalars("i", inputs),
                          2: scalars("i", outputs), 3: Tables(self.operators),
                          4: string("main")})
        return flatbuffer(Table({
            0: ("I", 3), 1: Tables(codes), 2: Tables([subgraph]),
            3: string(self.description), 4: Tables(self.buffers)}), b"TFL3")
