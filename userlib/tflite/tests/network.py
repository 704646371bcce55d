# SPDX-License-Identifier: Apache-2.0
"""One network in TensorFlow Lite with the delegate, compared with everything that it can be compared with.

    network.py MODEL [OPTION=VALUE]...

WEFT_BUILD is the folder of libweft_delegate.so and of the command weft. Prints "begin"; "plain" when
the runtime has run the network alone; what the delegate says; and one line of JSON: whether the results'
bits are those of the runtime's reference kernels and of `weft run`, the share of multiplications
on the NPU by `weft info`, and whether shapes are known before the network runs. The
device checks every tensor against golden: a difference is an error of the run.
"""
import json
import os
import re
import sys

import numpy as np

try:
    from ai_edge_litert import interpreter as tfl
except ImportError:
    import tflite_runtime.interpreter as tfl

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../plugin/tests"))
from command import BUILD, same, weft_run, weft_share

LINE = re.compile(r"INFO: Weft: (\d+) of (\d+) nodes in (\d+) parts? on \S+ \(\w+\), ([\d.]+) % of (\d+) MACs(.*)")


def delegate(**options):
    return tfl.load_delegate(os.path.join(BUILD, "libweft_delegate.so"), {"device": "model", **options})


def interpreter(model, *delegates, kernels=tfl.OpResolverType.BUILTIN_REF, **kw):
    """With the reference kernels, whose bits are the library's."""
    return tfl.Interpreter(model, experimental_delegates=list(delegates), experimental_op_resolver_type=kernels, **kw)


def some_interpreter(model):
    """Without a delegate; with the optimised kernels where an operator has no reference kernel. Also which."""
    for kernels in tfl.OpResolverType.BUILTIN_REF, tfl.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES:
        try:
            return interpreter(model, kernels=kernels), kernels
        except ValueError as e:
            error = e
    raise error


def some_value(detail, random):
    dtype, shape = detail["dtype"], detail["shape"]
    if dtype == np.float32:
        return random.random(shape, dtype=np.float32)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    # Numbers of things, such as tokens: small ones are always there.
    low, high = (0, 10) if dtype in (np.int32, np.int64) else (np.iinfo(dtype).min, np.iinfo(dtype).max + 1)
    return random.integers(low, high, shape).astype(dtype)


def run(i, values):
    for detail, x in zip(i.get_input_details(), values):
        i.set_tensor(detail["index"], x)
    i.invoke()
    return [i.get_tensor(d["index"]) for d in i.get_output_details()]


def said(line):
    """What the delegate's line of log says."""
    m = LINE.search(line)
    return {"nodes": int(m[1]), "of": int(m[2]), "parts": int(m[3]), "share": float(m[4]), "macs": int(m[5]), "kept": m[6]}


def shapes(i):
    """Of all tensors that have a name, by number."""
    return {d["index"]: tuple(d["shape"]) for d in i.get_tensor_details() if d["name"]}


def look_at(model, **options):
    print("begin", flush=True)
    plain, kernels = some_interpreter(model)
    before = shapes(plain)
    plain.allocate_tensors()
    random = np.random.default_rng(0)
    values = [some_value(d, random) for d in plain.get_input_details()]
    want = run(plain, values)
    after = shapes(plain)
    print("plain", flush=True)
    i = interpreter(model, delegate(check="1", **options), kernels=kernels)
    i.allocate_tensors()
    runtime = ["--runtime", options["runtime"]] if "runtime" in options else []
    got = run(i, values)
    info = weft_share(model, *runtime)
    return {
        "like_runtime": same(got, want),
        "like_weft": same(got, weft_run(model, [(d["name"], x) for d, x in zip(plain.get_input_details(), values)], *runtime)),
        "share": info and info[0], "macs": info and info[1],
        "fixed": all(after[t] == shape for t, shape in before.items() if t in after),
        "reference": kernels == tfl.OpResolverType.BUILTIN_REF,
    }


if __name__ == "__main__":
    print(json.dumps(look_at(sys.argv[1], **dict(a.split("=", 1) for a in sys.argv[2:]))))
