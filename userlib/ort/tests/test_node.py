# SPDX-License-Identifier: Apache-2.0
"""ONNX's own node tests (onnx==1.20.0, the newest wheel that ships them) through the provider.

Each model that ONNX Runtime runs by itself runs with the provider, too: the results are those that ONNX
records, by the rule of ONNX's own runner, or, where ONNX Runtime's processor does not keep to these, the processor's.
Variables as for test_ort.py.
"""
import glob
import os

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper
from test_ort import NAME

DATA = os.path.join(os.path.dirname(onnx.__file__), "backend/test/data/node")


def tensors(pattern):
    """The values of a test's files in order; None: one is no tensor."""
    out = []
    for i in range(len(glob.glob(pattern % "*"))):
        with open(pattern % i, "rb") as f:
            t = onnx.TensorProto()
            try:
                t.ParseFromString(f.read())
                out.append(numpy_helper.to_array(t))
            except Exception:
                return None
    return out


def close(got, want):
    """ONNX's runner: types and shapes are equal, values within rtol 1e-3 and atol 1e-7."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return False
    if got.dtype.kind not in "fc":
        return np.array_equal(got, want)
    return np.allclose(got, want, rtol=1e-3, atol=1e-7, equal_nan=True)


def test_node_tests(capfd):
    devices = [d for d in ort.get_ep_devices() if d.ep_name == NAME]
    models = sorted(glob.glob(os.path.join(DATA, "*/model.onnx")))
    ran = taken = 0
    wrong = []
    assert len(models) > 1500
    for path in models:
        name = os.path.basename(os.path.dirname(path))
        given, want = (tensors(os.path.join(os.path.dirname(path), "test_data_set_0", f"{k}_%s.pb")) for k in ("input", "output"))
        try:
            plain = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
            feed = dict(zip([i.name for i in plain.get_inputs()], given))
            own = plain.run(None, feed)
        except Exception:
            continue      # not an operator or type of this release's processor, or no tensors
        capfd.readouterr()
        o = ort.SessionOptions()
        o.log_severity_level = 1
        o.add_provider_for_devices(devices, {"device": "model", "check": "1"})
        got = ort.InferenceSession(path, o, enable_fallback=0).run(None, feed)
        log = "".join(capfd.readouterr())
        took = f"{NAME}: 0 of" not in log and f"{NAME}: " in log
        ran, taken = ran + 1, taken + took
        # Without a part of the provider's, random results are not the same twice.
        for k in range(len(got) if took else 0):
            if isinstance(got[k], np.ndarray) and not close(got[k], want[k]) and not close(got[k], own[k]):
                wrong.append(f"{name}: output {k}")
    with capfd.disabled():
        print(f"{len(models)} models, ONNX Runtime runs {ran}, the provider takes part in {taken}; wrong: {len(wrong)}")
    assert not wrong, wrong
    assert ran > 1200 and taken > 10
