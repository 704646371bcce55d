# SPDX-License-Identifier: Apache-2.0
"""Sessions that come and go leave nothing behind.

    memory.py MODEL [SESSIONS]

Makes, runs and drops sessions, a thousand by default, with the provider and without, each in a
process of its own. Prints how far the resident memory grew from the 100th to the last, in KiB, and
ends with status 1 if the provider's share of that is 1 MiB or more. What the C library's allocator
holds of freed memory is given back before each look: how much of it there is depends on how the
holes happen to lie, and it moves by a megabyte without any leak.
"""
import ctypes
import gc
import os
import subprocess
import sys

import numpy as np


def resident():
    """KiB, without freed memory."""
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def grow(model, sessions, with_provider):
    import onnxruntime as ort
    ort.register_execution_provider_library("weft", os.path.join(os.environ["WEFT_BUILD"], "libweft_ort_ep.so"))
    devices = [d for d in ort.get_ep_devices() if d.ep_name == "WeftExecutionProvider"][:1]
    x = {"image": np.zeros((1, 1, 8, 8), np.float32)}
    at_100 = 0
    for k in range(sessions):
        o = ort.SessionOptions()
        o.log_severity_level = 3
        if with_provider:
            o.add_provider_for_devices(devices, {"device": "model"})
        s = ort.InferenceSession(model, o, enable_fallback=0)
        s.run(None, x)
        del s, o
        gc.collect()
        if k == 99:
            at_100 = resident()
    return resident() - at_100


def main():
    model, sessions = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    if len(sys.argv) > 3:
        print(grow(model, sessions, sys.argv[3] == "with"))
        return
    grown = {}
    for how in "with", "without":
        p = subprocess.run([sys.executable, __file__, model, str(sessions), how], check=True, capture_output=True, text=True)
        grown[how] = int(p.stdout.split()[-1])
    print(f"{sessions} sessions: {grown['with']} KiB with the provider, {grown['without']} KiB without")
    sys.exit(grown["with"] - grown["without"] >= 1024)


main()
