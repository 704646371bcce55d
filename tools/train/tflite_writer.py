# SPDX-License-Identifier: Apache-2.0
"""Writes .tflite files.

Only what plain int8 and int16x8 networks for images need: convolutions,
pooling, addition, mean, RESHAPE, FULLY_CONNECTED and SOFTMAX.

Field numbers and enum values: TensorFlow Lite's public schema, version 3.
"""

from flatbuffer import Table, Tables, Vector, flatbuffer, scalar, scalars, string

INT32, INT64, INT16, INT8 = 2, 4, 7, 9          # TensorType
ADD, AVERAGE_POOL_2D, CONV_2D, DEPTHWISE_CONV_2D = 0, 1, 3, 4   # BuiltinOperator
FULLY_CONNECTED, MAX_POOL_2D, RESHAPE, SOFTMAX, MEAN = 9, 17, 22, 25, 40
OP_VERSION = {                                  # the first with activations of that type
    INT8: {ADD: 2, AVERAGE_POOL_2D: 2, CONV_2D: 3, DEPTHWISE_CONV_2D: 3, FULLY_CONNECTED: 4,
           MAX_POOL_2D: 2, RESHAPE: 1, SOFTMAX: 2, MEAN: 2},
    INT16: {CONV_2D: 4, FULLY_CONNECTED: 7, RESHAPE: 1, SOFTMAX: 3},
}
OPTIONS_TYPE = {ADD: 11, AVERAGE_POOL_2D: 5, CONV_2D: 1, DEPTHWISE_CONV_2D: 2, FULLY_CONNECTED: 8,
                MAX_POOL_2D: 5, RESHAPE: 17, SOFTMAX: 9, MEAN: 27}
NO_ACTIVATION, RELU, RELU6 = 0, 1, 3            # ActivationFunctionType
SAME, VALID = 0, 1                              # Padding


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
    """One subgraph. add_tensor() returns the tensor's number.

    dtype: of its activations.
    """

    def __init__(self, description, dtype):
        self.description, self.dtype = description, dtype
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
        # Both fields of a code are written: old readers know only the byte, which says 127 for what it cannot hold.
        codes = [Table({0: ("b", min(c, 127)), 2: scalar("i", OP_VERSION[self.dtype][c], 1), 3: ("i", c)})
                 for c in self.codes]
        subgraph = Table({0: Tables(self.tensors), 1: scalars("i", inputs),
                          2: scalars("i", outputs), 3: Tables(self.operators),
                          4: string("main")})
        return flatbuffer(Table({
            0: ("I", 3), 1: Tables(codes), 2: Tables([subgraph]),
            3: string(self.description), 4: Tables(self.buffers)}), b"TFL3")
