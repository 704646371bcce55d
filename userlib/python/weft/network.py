# SPDX-License-Identifier: Apache-2.0
"""Networks: loading, looking at their edges, compiling, converting."""
import dataclasses
import os
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from ._native import ffi, lib, message, take_bytes, text
from .custom import CustomOp, table
from .errors import check
from .tensors import dtype_name, numpy_type, shape_of

Source = Union[str, "os.PathLike[str]", bytes]


@dataclasses.dataclass(frozen=True)
class Port:
    """An input or output of a network."""

    name: str
    dtype: str                    #: the network's type: "int8", "float8e4m3fn"
    numpy: np.dtype               #: the numpy type that holds it
    shape: Tuple[int, ...]
    scale: Optional[float]        #: None if the tensor is not quantised
    zero_point: Optional[int]


def _port(p: Any) -> Port:
    return Port(name=text(p.name), dtype=dtype_name(p.dtype), numpy=numpy_type(p.dtype), shape=shape_of(p),
                scale=p.scale if p.quantised else None, zero_point=int(p.zp) if p.quantised else None)


def bounds(bind: Optional[Dict[str, Any]]) -> Tuple[Any, int, List[Any]]:
    """What a file leaves open as an array of weft_bound; the list keeps memory alive.

    A value that is an array becomes a constant; a tuple is a shape alone.
    """
    if not bind:
        return ffi.NULL, 0, []
    out = ffi.new("struct weft_bound[]", len(bind))
    keep: List[Any] = [out]
    codes = {dtype_name(i): i for i in range(1, lib.WEFT_N_DTYPES)}
    for b, (name, value) in zip(out, bind.items()):
        keep.append(ffi.new("char[]", name.encode()))
        b.name = keep[-1]
        dims: Any = (value,) if isinstance(value, int) else value
        if isinstance(value, np.ndarray):
            a = np.ascontiguousarray(value)
            b.value.dtype = codes[str(a.dtype)]
            dims = a.shape
            keep.extend((a, ffi.from_buffer(a)))
            b.value.data = keep[-1]
        b.value.rank = len(dims)
        for i in range(8):
            b.value.dim[i] = dims[i] if i < len(dims) else 1
    return out, len(bind), keep


class Network:
    """A loaded network. It does not change and may be shared by threads.

    source is the path of a .tflite, .onnx, .tosa or .weft file, or such a file's
    bytes. requant "rescale" takes the nearest integer arithmetic where ONNX's
    exact results would need the host, "runtime" ONNX Runtime's own rounding, and
    "runtime-avx2" that of processors without VNNI, whose sums saturate. bind gives sizes that the file leaves open.
    custom has the custom operators of a .tflite file by their names. Without compress,
    compiled programs have no coded weights, so that devices that cannot decode them take them.
    """

    def __init__(self, source: Source, *, requant: str = "exact", bind: Optional[Dict[str, Any]] = None,
                 name: str = "network", custom: Optional[Dict[str, CustomOp]] = None,
                 compress: bool = True):
        if requant not in ("exact", "rescale", "runtime", "runtime-avx2"):
            raise ValueError('requant is "exact", "rescale", "runtime" or "runtime-avx2", not %r' % requant)
        options = ffi.new("struct weft_load_options *", lib.weft_load_options_default())
        options.requant_rescale, options.requant_runtime = requant == "rescale", requant in ("runtime", "runtime-avx2")
        options.requant_avx2 = requant == "runtime-avx2"
        options.no_compress = not compress
        options.bound, options.n_bound, keep = bounds(bind)
        options.custom, self._custom = table(custom)
        net, msg = ffi.new("weft_net **"), message()
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            err, what = lib.weft_net_load_with(data, len(data), name.encode(), options, net, msg), name
        else:
            what = os.fspath(source)
            err = lib.weft_net_load_file_with(os.fsencode(what), options, net, msg)
        check(err, text(msg), what)
        del keep
        self._net = ffi.gc(net[0], lib.weft_net_free)
        self.name = what

    @property
    def inputs(self) -> List[Port]:
        """The inputs in the file's order."""
        return [_port(p) for p in self._ports(lib.weft_net_n_inputs, lib.weft_net_input)]

    @property
    def outputs(self) -> List[Port]:
        """The outputs in the file's order."""
        return [_port(p) for p in self._ports(lib.weft_net_n_outputs, lib.weft_net_output)]

    def _ports(self, count: Any, get: Any) -> List[Any]:
        ports = []
        for i in range(count(self._net)):
            p = ffi.new("struct weft_port *")
            check(get(self._net, i, p))
            ports.append(p)
        return ports

    def compile(self, config: str = "w16") -> bytes:
        """The program for a configuration, as the bytes of a .weft file."""
        out, n, msg = ffi.new("uint8_t **"), ffi.new("size_t *"), message()
        check(lib.weft_net_save(self._net, config.encode(), out, n, msg), text(msg), self.name)
        return take_bytes(out[0], n[0])

    def convert(self, strict: bool = False) -> bytes:
        """The network as the bytes of a .tosa file. strict refuses what TOSA cannot say."""
        out, n, note, msg = ffi.new("uint8_t **"), ffi.new("size_t *"), message(), message()
        check(lib.weft_net_convert(self._net, strict, out, n, note, msg), text(msg), self.name)
        return take_bytes(out[0], n[0])

    def disassemble(self, config: str = "w16") -> str:
        """The program's commands as text."""
        out, msg = ffi.new("char **"), message()
        check(lib.weft_net_disassemble(self._net, config.encode(), out, msg), text(msg), self.name)
        return take_bytes(out[0], len(ffi.string(out[0]))).decode()


def compile(source: Source, config: str = "w16", **options: Any) -> bytes:
    """Compile a network into the bytes of a .weft file; options are Network's."""
    return Network(source, **options).compile(config)


def convert(source: Source, strict: bool = False, **options: Any) -> bytes:
    """Convert a network into the bytes of a .tosa file; options are Network's."""
    return Network(source, **options).convert(strict)
