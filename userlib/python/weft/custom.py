# SPDX-License-Identifier: Apache-2.0
"""Custom operators of .tflite files, by Python functions."""
import dataclasses
import errno
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._native import ffi, lib, text
from .tensors import numpy_type, shape_of


@dataclasses.dataclass(frozen=True)
class CustomCall:
    """One call of a custom operator. The arrays of inputs are valid during the call alone."""

    name: str
    options: bytes
    inputs: List[Optional[np.ndarray]]                  #: None: absent, or, when shapes are asked for, not constant
    input_shapes: List[Optional[Tuple[int, ...]]]       #: None: absent
    input_scales: List[Optional[Tuple[float, int]]]     #: scale and zero point; None: the file states none
    output_shapes: List[Tuple[int, ...]]
    output_types: List[np.dtype]
    output_scales: List[Optional[Tuple[float, int]]]


@dataclasses.dataclass(frozen=True)
class CustomOp:
    """A custom operator: run(call) returns its results; shapes(call), if given, their shapes."""

    run: Callable[[CustomCall], Sequence[Any]]
    shapes: Optional[Callable[[CustomCall], Sequence[Sequence[int]]]] = None


def _view(t: Any) -> Optional[np.ndarray]:
    if not t.dtype or not t.data:
        return None
    return np.frombuffer(ffi.buffer(t.data, lib.weft_tensor_bytes(ffi.addressof(t))), numpy_type(t.dtype)).reshape(shape_of(t))


def _scale(q: Any) -> Optional[Tuple[float, int]]:
    return (float(q.scale), int(q.zp)) if q.present else None


def _call(c: Any) -> CustomCall:
    given = [getattr(c, "in")[k] for k in range(c.n_in)]
    made = [c.out[k] for k in range(c.n_out)]
    return CustomCall(
        name=text(c.name), options=bytes(ffi.buffer(c.options, c.n_options)), inputs=[_view(t) for t in given],
        input_shapes=[shape_of(t) if t.dtype else None for t in given],
        input_scales=[_scale(c.in_quant[k]) for k in range(c.n_in)], output_shapes=[shape_of(t) for t in made],
        output_types=[numpy_type(t.dtype) for t in made], output_scales=[_scale(c.out_quant[k]) for k in range(c.n_out)])


def _shapes(op: CustomOp, c: Any) -> None:
    assert op.shapes is not None
    shapes = op.shapes(_call(c))
    if len(shapes) != c.n_out:
        raise ValueError("%d shapes for %d results" % (len(shapes), c.n_out))
    for k, shape in enumerate(shapes):
        if len(shape) != c.out[k].rank:
            raise ValueError("result %d has rank %d, not %d" % (k, len(shape), c.out[k].rank))
        for i, n in enumerate(shape):
            c.out[k].dim[i] = n


def _run(op: CustomOp, c: Any) -> None:
    values = op.run(_call(c))
    if len(values) != c.n_out:
        raise ValueError("%d results, not %d" % (len(values), c.n_out))
    for k, value in enumerate(values):
        to, a = _view(c.out[k]), np.asarray(value)
        if to is None or a.dtype != to.dtype or a.shape != to.shape:
            raise ValueError("result %d: %s of shape %s, not %s of %s" % (
                k, a.dtype, a.shape, numpy_type(c.out[k].dtype), shape_of(c.out[k])))
        to[...] = a


def _function(work: Callable[[CustomOp, Any], None], op: CustomOp) -> Any:
    """work as a C function that turns an exception into an errno and a line."""
    def called(_user: Any, c: Any) -> int:
        try:
            work(op, c)
        except Exception as e:
            line = " ".join(("%s: %s" % (type(e).__name__, e)).split()).encode()[:c.n_msg - 1]
            ffi.memmove(c.msg, line + b"\0", len(line) + 1)
            return -errno.EINVAL
        return 0
    return ffi.callback("int(void *, const struct weft_custom_call *)", called)


def table(ops: Optional[Dict[str, CustomOp]]) -> Tuple[Any, List[Any]]:
    """ops by name as a weft_custom_table; the list keeps memory alive, which a network needs as long as it lives."""
    if not ops:
        return ffi.NULL, []
    rows, out = ffi.new("struct weft_custom_op[]", len(ops)), ffi.new("struct weft_custom_table *")
    keep: List[Any] = [rows, out]
    for row, (name, op) in zip(rows, ops.items()):
        keep += [ffi.new("char[]", name.encode()), _function(_run, op)]
        row.name, row.run = keep[-2], keep[-1]
        if op.shapes is not None:
            keep.append(_function(_shapes, op))
            row.shapes = keep[-1]
    out.ops, out.n_ops = rows, len(ops)
    return out, keep
