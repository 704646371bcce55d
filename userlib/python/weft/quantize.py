# SPDX-License-Identifier: Apache-2.0
"""Quantising a float network with samples from a Python iterable."""
import os
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

import numpy as np

from ._native import ffi, lib, malloc, message, take_bytes, text
from .errors import check
from .network import Source, bounds
from .tensors import for_port, shape_of

Sample = Union[np.ndarray, Sequence[np.ndarray]]
_TYPES = {"int8": "WEFT_QUANTIZE_INT8", "int16x8": "WEFT_QUANTIZE_INT16X8", "fp8e4m3": "WEFT_QUANTIZE_FP8"}


class _Port:
    """A sample's tensor with the fields that for_port() reads."""

    def __init__(self, t: Any, i: int):
        self.dtype, self.rank, self.dim = t.dtype, t.rank, t.dim
        self.name = ffi.new("char[]", b"%d" % i)


def quantize(source: Source, samples: Iterable[Sample], *, type: str = "int8", percentile: float = 100.0,
             bind: Optional[Dict[str, Any]] = None) -> bytes:
    """Quantise a float .onnx network (path or bytes) and return the quantised one's bytes.

    Each sample is an array, or one array for each input. type is "int8",
    "int16x8" or "fp8e4m3"; percentile, above 50 up to 100, is the share of the
    values that ranges cover. Samples are kept in memory, since ranges by
    percentile need them twice.
    """
    if type not in _TYPES:
        raise ValueError("type is one of %s, not %r" % (", ".join(_TYPES), type))
    kept: List[List[np.ndarray]] = [[np.asarray(a) for a in (s if isinstance(s, (list, tuple)) else [s])] for s in samples]
    raised: List[BaseException] = []

    @ffi.callback("int(void *, int, weft_tensor *, int, char *)")
    def sample(_user: Any, i: int, inputs: Any, n: int, _msg: Any) -> int:
        if i >= len(kept):
            return 0
        try:
            if len(kept[i]) != n:
                raise ValueError("sample %d has %d arrays, the network %d inputs" % (i, len(kept[i]), n))
            for k in range(n):
                a = for_port(_Port(inputs[k], k), kept[i][k].reshape(shape_of(inputs[k])))
                inputs[k].data = malloc(a.nbytes + 1)
                ffi.memmove(inputs[k].data, ffi.from_buffer(a), a.nbytes)
            return 1
        except BaseException as e:  # goes through C and is raised behind it
            raised.append(e)
            return -22

    data = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else open(source, "rb").read()
    o = ffi.new("struct weft_quantize_options *", lib.weft_quantize_options_default())
    o.type, o.percentile, o.sample = getattr(lib, _TYPES[type]), percentile, sample
    o.bound, o.n_bound, keep = bounds(bind)
    folder = None
    if not isinstance(source, (bytes, bytearray, memoryview)):
        folder = ffi.new("char[]", os.fsencode(os.path.dirname(os.fspath(source)) or "."))
        o.folder = folder
    out, n, msg = ffi.new("uint8_t **"), ffi.new("size_t *"), message()
    err = lib.weft_quantize(data, len(data), o, out, n, msg)
    del keep, folder
    if raised:
        raise raised[0]
    check(err, text(msg), "quantize")
    return take_bytes(out[0], n[0])
