# SPDX-License-Identifier: Apache-2.0
"""An MLServer runtime: networks through ONNX Runtime with Weft's execution provider.

`model-settings.json` names it as `weft_serve.WeftModel`; README.md lists its parameters. Requests
run in threads, as many at a time as `threads` says: over several cards ("usb:*") they are divided
among the cards, and one with which a card fails is repeated on another.
"""
import asyncio
import concurrent.futures
import os
import threading

import numpy as np
import onnxruntime as ort
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.errors import InferenceError, MLServerError
from mlserver.types import InferenceRequest, InferenceResponse
from mlserver.utils import get_model_uri

NAME = "WeftExecutionProvider"
OPTIONS = ("device", "config", "check", "requant")
_lock = threading.Lock()


def register():
    """Load the provider, once in a process: the file that WEFT_EP names, or that of the package weft-onnxruntime."""
    with _lock:
        if any(d.ep_name == NAME for d in ort.get_ep_devices()):
            return
        path = os.environ.get("WEFT_EP")
        if not path:
            import weft_onnxruntime

            path = weft_onnxruntime.get_library_path()
        ort.register_execution_provider_library("weft", path)


class WeftModel(MLModel):
    """A network as a model of MLServer."""

    async def load(self) -> bool:
        extra = (self.settings.parameters.extra if self.settings.parameters else None) or {}
        unknown = set(extra) - set(OPTIONS) - {"threads", "batch"}
        if unknown:
            raise MLServerError("model %s: there is no parameter %s" % (self.name, ", ".join(sorted(unknown))))
        self._options = {k: str(v) for k, v in extra.items() if k in OPTIONS}
        self._batch = int(extra.get("batch", 0))
        self._path = await get_model_uri(self.settings, wellknown_filenames=["model.onnx"])
        self._pool = concurrent.futures.ThreadPoolExecutor(int(extra.get("threads", 8)))
        self._session = await asyncio.get_running_loop().run_in_executor(self._pool, self._open)
        return True

    def _open(self):
        register()
        o = ort.SessionOptions()
        # Requests run beside each other, not pieces of one; nobody turns in circles while a card works.
        o.intra_op_num_threads = 1
        o.add_session_config_entry("session.intra_op.allow_spinning", "0")
        o.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == NAME], self._options)
        if self._batch:
            # The provider takes networks whose shapes are known: an open first dimension becomes `batch`.
            for name in self._open_dimensions():
                o.add_free_dimension_override_by_name(name, self._batch)
        return ort.InferenceSession(self._path, o, enable_fallback=0)

    def _open_dimensions(self):
        plain = ort.InferenceSession(self._path, providers=["CPUExecutionProvider"])
        return {i.shape[0] for i in plain.get_inputs() if i.shape and isinstance(i.shape[0], str)}

    async def unload(self) -> bool:
        self._pool.shutdown()
        self._session = None
        return True

    def _run(self, feed):
        """Runs a request; with `batch`, in pieces of that size, the last one filled up with zeros."""
        if not self._batch:
            return self._session.run(None, feed)
        n = next(iter(feed.values())).shape[0]
        pieces = []
        for at in range(0, n, self._batch):
            part = {k: v[at:at + self._batch] for k, v in feed.items()}
            short = self._batch - next(iter(part.values())).shape[0]
            full = {k: np.concatenate([v, np.zeros((short,) + v.shape[1:], v.dtype)]) if short else v for k, v in part.items()}
            pieces.append([y[:self._batch - short] for y in self._session.run(None, full)])
        return [np.concatenate(ys) for ys in zip(*pieces)]

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        feed = {i.name: NumpyCodec.decode_input(i) for i in payload.inputs}
        try:
            outputs = await asyncio.get_running_loop().run_in_executor(self._pool, self._run, feed)
        except Exception as e:      # the runtime's and the library's one line, as an answer of the protocol
            raise InferenceError(str(e)) from e
        names = [o.name for o in self._session.get_outputs()]
        return InferenceResponse(model_name=self.name, model_version=self.version,
                                 outputs=[NumpyCodec.encode_output(n, y) for n, y in zip(names, outputs)])
