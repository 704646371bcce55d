# SPDX-License-Identifier: Apache-2.0
"""The same provider under Ray Serve: `app = Weft.bind("net.onnx", device="usb:*")`."""
import os

import numpy as np
import onnxruntime as ort
from ray import serve


@serve.deployment(max_ongoing_requests=8)
class Weft:
    def __init__(self, path, **options):
        ort.register_execution_provider_library("weft", os.environ["WEFT_EP"])
        o = ort.SessionOptions()
        o.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == "WeftExecutionProvider"], options)
        self.session = ort.InferenceSession(path, o, enable_fallback=0)

    def __call__(self, request):
        feed = {i.name: np.asarray(request[i.name], np.float32) for i in self.session.get_inputs()}
        return {o.name: y.tolist() for o, y in zip(self.session.get_outputs(), self.session.run(None, feed))}
