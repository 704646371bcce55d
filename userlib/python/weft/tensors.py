# SPDX-License-Identifier: Apache-2.0
"""numpy arrays as the library's tensors, and back.

Types that numpy does not have travel as bit patterns: float8 and the types of 2
and 4 bits as uint8 or int8, bfloat16 as uint16, int48 as int64.
"""
from typing import Any, Dict, List, Tuple

import numpy as np

from ._native import ffi, lib, text
from .errors import BadInput

_NUMPY: Dict[str, str] = {
    "bool": "bool", "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16", "int32": "int32",
    "uint32": "uint32", "int64": "int64", "uint64": "uint64", "float16": "float16", "float32": "float32",
    "float64": "float64", "int4": "int8", "int2": "int8", "uint4": "uint8", "uint2": "uint8", "int48": "int64",
    "bfloat16": "uint16",
}


def dtype_name(code: int) -> str:
    """The library's name of an element type: "int8", "float8e4m3fn"."""
    return text(lib.weft_dtype_name(code))


def numpy_type(code: int) -> np.dtype:
    """The numpy type that holds elements of a library type."""
    return np.dtype(_NUMPY.get(dtype_name(code), "uint8"))


def shape_of(t: Any) -> Tuple[int, ...]:
    """The shape of a weft_tensor or weft_port."""
    return tuple(int(t.dim[i]) for i in range(t.rank))


def as_array(x: Any) -> np.ndarray:
    """Whatever speaks DLPack or numpy's protocols as an array, without a copy where that is possible."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "__dlpack__") and hasattr(np, "from_dlpack"):
        return np.from_dlpack(x)
    return np.asarray(x)


def for_port(port: Any, x: Any) -> np.ndarray:
    """x as a dense array of the port's type and shape. Another type of the same width is taken as bits."""
    a = as_array(x)
    want = numpy_type(port.dtype)
    shape = shape_of(port)
    name = text(port.name)
    if a.dtype != want:
        if a.dtype.itemsize != want.itemsize or a.dtype.kind in "OUSM":
            raise BadInput('input "%s": the array has %s, the network wants %s' % (name, a.dtype, dtype_name(port.dtype)))
        if a.dtype.kind in "iuf" and want.kind in "iuf" and a.dtype.kind != "V":
            raise BadInput('input "%s": the array has %s, the network wants %s; convert it first'
                           % (name, a.dtype, dtype_name(port.dtype)))
        a = np.ascontiguousarray(a).view(want)
    if a.shape != shape:
        raise BadInput('input "%s": the array has shape %s, the network wants %s' % (name, a.shape, shape))
    return np.ascontiguousarray(a)


def fill(t: Any, code: int, a: np.ndarray) -> Any:
    """Let the tensor t refer to the array's memory; returns what must stay alive meanwhile."""
    t.dtype = code
    t.rank = a.ndim
    for i in range(8):
        t.dim[i] = a.shape[i] if i < a.ndim else 1
    keep = ffi.from_buffer(a) if a.flags.writeable else ffi.from_buffer(a.copy())
    t.data = keep
    return keep


def to_array(t: Any) -> np.ndarray:
    """A copy of a tensor's elements."""
    n = lib.weft_tensor_bytes(ffi.addressof(t) if ffi.typeof(t).kind == "struct" else t)
    raw = np.frombuffer(ffi.buffer(t.data, n), dtype=numpy_type(t.dtype))
    return raw.reshape(shape_of(t)).copy()


def arrays(tensors: Any, n: int) -> List[np.ndarray]:
    """Copies of n tensors' elements."""
    return [to_array(tensors[i]) for i in range(n)]
