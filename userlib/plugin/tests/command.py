# SPDX-License-Identifier: Apache-2.0
"""What the command weft, in the folder WEFT_BUILD, says of a network: for comparison with what a plugin does."""
import os
import re
import subprocess
import tempfile

import numpy as np

BUILD = os.environ["WEFT_BUILD"]


def weft_run(model, values, *options):
    """The outputs that `weft run` gives for values: pairs of an input's name and its array. None: it refuses the network."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for k, (name, x) in enumerate(values):
            np.save(f"{folder}/{k}.npy", x)
            inputs += ["-i", f"{name}={folder}/{k}.npy"]
        p = subprocess.run([f"{BUILD}/weft", "run", model, *inputs, "-o", f"{folder}/out", *options], capture_output=True, text=True)
        if p.returncode:
            return None
        files = sorted(os.listdir(f"{folder}/out"), key=lambda f: int(f.split("_")[0]))
        return [np.load(f"{folder}/out/{f}") for f in files]


def weft_share(model, *options):
    """Share of multiplications on the NPU in per cent, and their count, as `weft info` says; None: it refuses the network."""
    p = subprocess.run([f"{BUILD}/weft", "info", model, *options], capture_output=True, text=True)
    if p.returncode:
        return None
    # A line for a group of operators says "host" if one of them runs there: what the NPU has stands in the sum.
    all_macs = sum(int(n) for n in re.findall(r"^ *\d+ (?:npu|host) +(\d+) ", p.stdout, re.M))
    npu = int(re.search(r"^(\d+) MACs on the NPU", p.stdout, re.M)[1])
    return round(100 * npu / all_macs, 1) if all_macs else 0.0, all_macs


def same(a, b):
    """Two lists of outputs, of which neither is None, have the same bytes."""
    return a is not None and b is not None and [np.asarray(y).tobytes() for y in a] == [np.asarray(y).tobytes() for y in b]
