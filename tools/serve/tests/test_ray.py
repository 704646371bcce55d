# SPDX-License-Identifier: Apache-2.0
"""Ray Serve with the provider, where `ray` is installed. WEFT_BUILD and WEFT_MODELS as for test_serve.py."""
import os
import shutil
import sys
import tempfile

import numpy as np
import pytest

ray = pytest.importorskip("ray")
serve = pytest.importorskip("ray.serve")
HERE = os.path.dirname(os.path.abspath(__file__))


def test_ray_serve(tmp_path):
    env = {"WEFT_EP": os.path.join(os.environ["WEFT_BUILD"], "libweft_ort_ep.so"), "PYTHONPATH": os.path.join(HERE, "..")}
    os.environ.update(env)
    sys.path.insert(0, env["PYTHONPATH"])
    import onnxruntime as ort
    from ray_serve import Weft

    path = os.path.join(os.environ["WEFT_MODELS"], "digits_qdq.onnx")
    plain = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    name, output = plain.get_inputs()[0].name, plain.get_outputs()[0].name
    # Ray's sockets lie there, and their paths are long.
    folder = tempfile.mkdtemp(prefix="weft-ray-", dir="/tmp")
    ray.init(num_cpus=2, runtime_env={"env_vars": env}, include_dashboard=False, logging_level="error", _temp_dir=folder)
    try:
        # Requests come through the handle alone; a proxy that nobody asks has to be up within a minute otherwise.
        serve.start(proxy_location="Disabled")
        handle = serve.run(Weft.bind(path, device="model", check="1"), route_prefix=None)
        for seed in range(8):
            x = np.random.default_rng(seed).random((1, 1, 8, 8), dtype=np.float32)
            y = np.asarray(handle.remote({name: x.tolist()}).result(timeout_s=120)[output], np.float32)
            assert np.array_equal(y, plain.run(None, {name: x})[0])
    finally:
        serve.shutdown()
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
