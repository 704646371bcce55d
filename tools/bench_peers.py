#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other runtimes beside which `make bench-speed` measures: ONNX Runtime and LiteRT, packages of PyPI.

usage: bench_peers.py install [FOLDER]     make an environment with them; default: build/venv/peers
       bench_peers.py time [--exact] FILE  time FILE on one core, in that environment: .onnx on ONNX Runtime, .tflite on LiteRT

time prints one line of JSON: "peer", its name and version, and "ms", the processor time of the fastest run. --exact
asks ONNX Runtime for sums that do not saturate (session.x64quantprecision=1). Exit status: 0; 2 for bad usage or a file
that the runtime refuses; as tools/venv.sh where packages are missing.
"""

import json
import os
import subprocess
import sys
import time

PACKAGES = ["numpy==2.4.6", "onnxruntime==1.31.1", "ai-edge-litert==2.3.0"]
ENOUGH_SECONDS = 0.4


def fastest(run):
    """Milliseconds of processor time."""
    run()
    best, end = float("inf"), time.process_time() + ENOUGH_SECONDS
    while time.process_time() < end:
        before = time.process_time()
        run()
        best = min(best, time.process_time() - before)
    return best * 1e3


def random_values(np, shape, dtype):
    rng = np.random.default_rng(1)
    if np.issubdtype(dtype, np.floating):
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, size=shape, dtype=dtype, endpoint=True)


def time_onnx(path, exact):
    import numpy as np
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.x64quantprecision", "1" if exact else "0")
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    types = {"tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(float)": np.float32}
    feed = {i.name: random_values(np, i.shape, types[i.type]) for i in session.get_inputs()}
    return "ONNX Runtime " + ort.__version__, fastest(lambda: session.run(None, feed))


def time_tflite(path):
    import importlib.metadata
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    net = Interpreter(path, num_threads=1)
    net.allocate_tensors()
    for i in net.get_input_details():
        net.set_tensor(i["index"], random_values(np, i["shape"], i["dtype"]))
    return "LiteRT " + importlib.metadata.version("ai-edge-litert"), fastest(net.invoke)


def main(argv):
    if argv[:1] == ["install"] and len(argv) <= 2:
        here = os.path.dirname(os.path.abspath(__file__))
        return subprocess.call([os.path.join(here, "venv.sh"), argv[1] if len(argv) == 2 else "build/venv/peers"] + PACKAGES)
    if argv[:1] == ["time"] and len(argv) - ("--exact" in argv) == 2:
        try:
            peer, ms = time_onnx(argv[-1], "--exact" in argv) if argv[-1].endswith(".onnx") else time_tflite(argv[-1])
        except (ImportError, OSError, RuntimeError, ValueError, KeyError) as e:
            print("bench_peers: %s: %s" % (argv[-1], str(e).split("\n")[0]), file=sys.stderr)
            return 2
        print(json.dumps({"peer": peer, "ms": ms}))
        return 0
    print(__doc__.split("\n\n")[1], file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
