# SPDX-License-Identifier: Apache-2.0
"""The installed package weft-onnxruntime, in a process that knows nothing of the tree's build."""
import os

import numpy as np
import onnxruntime as ort
import weft_onnxruntime as weft


def test_package_brings_what_the_provider_needs():
    path = weft.get_library_path()
    assert "site-packages" in path and os.path.exists(path)
    ort.register_execution_provider_library("weft", path)
    devices = [d for d in ort.get_ep_devices() if d.ep_name == weft.get_ep_name()]
    assert [d.ep_name for d in devices[:1]] == weft.get_ep_names()
    model = os.path.join(os.environ["WEFT_MODELS"], "digits_qdq.onnx")
    x = {"image": np.random.default_rng(0).random((1, 1, 8, 8), dtype=np.float32)}
    got = []
    for device in "model", "rtl":
        o = ort.SessionOptions()
        o.add_provider_for_devices(devices[:1], {"device": device, "check": "1"})
        o.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        got.append(ort.InferenceSession(model, o, enable_fallback=0).run(None, x)[0].tobytes())
    assert got[0] == got[1]
