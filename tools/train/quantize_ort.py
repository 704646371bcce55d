#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weft quantize writes, in ONNX Runtime.

    quantize_ort.py WEFT MODEL.onnx...

Each float network of one input is quantised to int8 and int16x8 with 16 samples of normal
random numbers. The result runs on golden and in the onnxruntime that this Python has, at
every level of optimisation. A line for each says how many elements of the outputs differ, and by
how much of the greatest. Exit status 1 if ONNX Runtime refuses one. Needs numpy and onnxruntime.
"""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnxruntime as ort

LEVELS = ["DISABLE_ALL", "ENABLE_BASIC", "ENABLE_EXTENDED", "ENABLE_ALL"]
SAMPLES = 16


def shape_of(port):
    return [d if isinstance(d, int) and d > 0 else 1 for d in port.shape]


def session(path, level):
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, "ORT_" + level)
    options.add_session_config_entry("session.x64quantprecision", "1")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def golden(weft, model, name, x, folder):
    out = os.path.join(folder, "out")
    np.save(os.path.join(folder, "x.npy"), x)
    subprocess.run([weft, "run", model, "--device", "golden", "-o", out, "-i", f"{name}={folder}/x.npy"], check=True,
                   stdout=subprocess.DEVNULL)
    return [np.load(os.path.join(out, f)) for f in sorted(os.listdir(out))]


def compare(weft, model, kind, folder):
    port = session(model, "ENABLE_ALL").get_inputs()[0]
    random = np.random.default_rng(1)
    samples = os.path.join(folder, "samples")
    os.makedirs(samples)
    for i in range(SAMPLES):
        np.save(os.path.join(samples, f"{i}_" + re.sub(r"[^A-Za-z0-9._-]", "_", port.name) + ".npy"), random.normal(size=shape_of(port)).astype(np.float32))
    quantised = os.path.join(folder, "q.onnx")
    subprocess.run([weft, "quantize", model, "-o", quantised, "--calibrate", samples, "--type", kind], check=True, stdout=subprocess.DEVNULL)
    x = random.normal(size=shape_of(port)).astype(np.float32)
    want = golden(weft, quantised, port.name, x, folder)
    words = []
    for level in LEVELS:
        try:
            got = session(quantised, level).run(None, {port.name: x})
        except Exception as error:                   # noqa: BLE001  the runtime's own classes differ between releases
            return False, f"{level}: {str(error)[:200]}"
        differ = sum(int((a != b).sum()) for a, b in zip(want, got))
        most = max(float(np.abs(a.astype(float) - b).max() / max(np.abs(a).max(), 1e-30)) for a, b in zip(want, got))
        words.append(f"{differ}" + (f" ({most:.1e})" if differ else ""))
    return True, f"{sum(a.size for a in want)} elements, differ at the four levels: " + ", ".join(words)


def main():
    weft, good = sys.argv[1], True
    print("onnxruntime", ort.__version__)
    for model in sys.argv[2:]:
        for kind in ("int8", "int16x8"):
            with tempfile.TemporaryDirectory() as folder:
                runs, words = compare(weft, model, kind, folder)
            good = good and runs
            print(f"{os.path.basename(model)} {kind}: {'' if runs else 'refused, '}{words}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
