# SPDX-License-Identifier: Apache-2.0
"""One network in ONNX Runtime with the provider, compared with everything that it can be compared with.

    network.py MODEL [OPTION=VALUE]...

WEFT_BUILD is the folder of libweft_ort_ep.so and of the command weft. Prints "begin"; "plain" when
the runtime has run the network alone; what the provider says; and one line of JSON: whether the results'
bits are those of the runtime without optimisations and of `weft run`, the share of multiplications on
the NPU by `weft info`, and whether the inputs' shapes are fixed. The device checks every tensor against
golden: a difference is an error of the run.
"""
import json
import os
import re
import sys

import numpy as np
import onnxruntime as ort

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../plugin/tests"))
from command import BUILD, same, weft_run, weft_share

NAME = "WeftExecutionProvider"
LINE = re.compile(NAME + r": (\d+) of (\d+) nodes in (\d+) parts, device \S+, configuration \w+, ([\d.]+) % of (\d+) MACs")
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int8)": np.int8,
         "tensor(uint8)": np.uint8, "tensor(int16)": np.int16, "tensor(uint16)": np.uint16, "tensor(int32)": np.int32,
         "tensor(int64)": np.int64, "tensor(bool)": np.bool_}


def stored_values(model, session):
    """The inputs that come with one of ONNX's node tests; None: there are none."""
    folder = os.path.join(os.path.dirname(model), "test_data_set_0")
    if not os.path.isdir(folder):
        return None
    import onnx.numpy_helper
    values = {}
    for k, i in enumerate(session.get_inputs()):
        t = onnx.TensorProto()
        with open(f"{folder}/input_{k}.pb", "rb") as f:
            t.ParseFromString(f.read())
        values[i.name] = onnx.numpy_helper.to_array(t)
    return values


def some_values(session):
    random = np.random.default_rng(0)
    return {i.name: some_value(i, random) for i in session.get_inputs()}


def some_value(i, random):
    """A value of an input; open dimensions are 1."""
    dtype, shape = TYPES[i.type], [d if isinstance(d, int) else 1 for d in i.shape]
    if dtype in (np.float32, np.float64, np.float16):
        return random.random(shape).astype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    low, high = (0, 3) if dtype in (np.int32, np.int64) else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return random.integers(low, high, shape).astype(dtype)


def said(line):
    """What the provider's line of log says."""
    m = LINE.search(line)
    return {"nodes": int(m[1]), "of": int(m[2]), "parts": int(m[3]), "share": float(m[4]), "macs": int(m[5])}


def look_at(model, **options):
    print("begin", flush=True)
    o = ort.SessionOptions()
    o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    o.log_severity_level = 3
    plain = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])
    values = stored_values(model, plain) or some_values(plain)
    want = plain.run(None, values)
    print("plain", flush=True)
    ort.register_execution_provider_library("weft", os.path.join(BUILD, "libweft_ort_ep.so"))
    o = ort.SessionOptions()
    o.log_severity_level = 1
    devices = [d for d in ort.get_ep_devices() if d.ep_name == NAME]
    o.add_provider_for_devices(devices[:1], {"device": "model", "check": "1", **options})
    got = ort.InferenceSession(model, o, enable_fallback=0).run(None, values)
    info = weft_share(model)
    return {"like_runtime": same(got, want), "like_weft": same(got, weft_run(model, values.items())), "share": info and info[0], "macs": info and info[1],
            "fixed": all(isinstance(d, int) for i in plain.get_inputs() for d in i.shape)}


if __name__ == "__main__":
    print(json.dumps(look_at(sys.argv[1], **dict(a.split("=", 1) for a in sys.argv[2:]))))
