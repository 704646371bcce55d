#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what TensorFlow Lite's reference kernels give for foreign networks.

usage: record_uint8.py DATA [file]   default: tests/models/uint8_expected/layers.tsv

For networks of the foreign data (DATA is what WEFT_DATA names) that have no
stored outputs: the CRC-32 of every operator's first result and of the network's
outputs, for two inputs that anyone can make again. The test conformance/uint8
makes them and must get the same. "= NETWORK INPUT" starts a run; operators are
counted in the file's order, outputs from -1 down.

Needs packages that the project does not use otherwise:
    python3.11 -m venv /tmp/v && /tmp/v/bin/pip install ai-edge-litert==2.3.0 numpy
    /tmp/v/bin/python tools/train/record_uint8.py ../shared/data
(tflite-runtime 2.14, which record_ops.py uses, computes some results in place of
others and so cannot show all of them afterwards.)

Inputs, per element i of the flattened tensor, as a number v of 0..255:
  noise   x = x*1664525 + 1013904223 mod 2^32, from x = 1; v = x >> 24
  waves   for NHWC index (y, x, c): (|2*((y*5 + x*3 + c*85) mod 256) - 255|
          + |2*((y*2 + x*7 + c*40) mod 256) - 255|) / 2, rounded down
uint8 takes v, int8 v - 128, float32 (v - 128) / 128.
"""

import sys
import zlib
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

NETWORKS = (
    "coral_test_data/mobilenet_v1_0.25_128_quant", "coral_test_data/mobilenet_v1_0.5_160_quant",
    "coral_test_data/mobilenet_v2_1.0_224_quant", "coral_test_data/deeplabv3_mnv2_dm05_pascal_quant",
    "coral_test_data/movenet_single_pose_lightning_ptq", "ai_edge_quantizer/insert_dequant_test",
    "litert/single_rsqrt_default_a8w8_recipe_quantized",
)


def noise(shape):
    x, out = 1, np.empty(int(np.prod(shape)), dtype=np.int64)
    for i in range(out.size):
        x = (x * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = x >> 24
    return out


def waves(shape):
    n, h, w, c = ([1] * 4 + list(shape))[-4:]
    _, y, x, k = np.meshgrid(*(np.arange(d) for d in (n, h, w, c)), indexing="ij")
    a = np.abs(2 * ((y * 5 + x * 3 + k * 85) % 256) - 255)
    b = np.abs(2 * ((y * 2 + x * 7 + k * 40) % 256) - 255)
    return ((a + b) // 2).ravel()


def typed(v, dtype):
    if dtype == np.float32:
        return ((v - 128) / 128.0).astype(np.float32)
    return (v - 128).astype(np.int8) if dtype == np.int8 else v.astype(np.uint8)


def crc(array):
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def operators(it):
    """(index, name, result tensor) in the file's order, without what delegates add."""
    for op in it._get_ops_details():            # the package has no public way
        yield op["index"], op["op_name"], op["outputs"][0]


def record(data, name, kind, make, out):
    it = Interpreter(str(data / (name + ".tflite")), experimental_preserve_all_tensors=True,
                     experimental_op_resolver_type=OpResolverType.BUILTIN_REF)
    it.allocate_tensors()
    for detail in it.get_input_details():
        shape = tuple(int(d) for d in detail["shape"])
        it.set_tensor(detail["index"], typed(make(shape), detail["dtype"]).reshape(shape))
    it.invoke()
    out.append(f"= {name} {kind}")
    for index, op, tensor in operators(it):
        t = it.get_tensor(tensor)
        shape = "x".join(str(d) for d in t.shape) or "1"
        out.append(f"{index}\t{op}\t{shape}\t{t.dtype}\t{crc(t):08x}\t{len(np.unique(t))}")
    for i, detail in enumerate(it.get_output_details()):
        t = it.get_tensor(detail["index"])
        shape = "x".join(str(d) for d in t.shape) or "1"
        out.append(f"{-1 - i}\tOUTPUT\t{shape}\t{t.dtype}\t{crc(t):08x}\t{len(np.unique(t))}")


def main():
    data = Path(sys.argv[1])
    to = Path(sys.argv[2] if len(sys.argv) > 2 else "tests/models/uint8_expected/layers.tsv")
    out = ["operator\tname\tshape\ttype\tcrc32\tdistinct"]
    for name in NETWORKS:
        for kind, make in (("noise", noise), ("waves", waves)):
            record(data, name, kind, make, out)
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("\n".join(out) + "\n")
    print(len(out) - 1, "lines,", to.stat().st_size, "bytes in", to)


if __name__ == "__main__":
    main()
