# SPDX-License-Identifier: Apache-2.0
"""The C library, through cffi's ABI mode."""
import pathlib
from typing import Any

import cffi

_HERE = pathlib.Path(__file__).resolve().parent

ffi = cffi.FFI()
ffi.cdef((_HERE / "_cdef.h").read_text())
ffi.cdef("void free(void *p); void *malloc(size_t n);")
# A wheel brings the library and the simulators; a distribution's package uses those of the system.
_BUNDLED = _HERE / "lib" / "libweft.so"
lib: Any = ffi.dlopen(str(_BUNDLED) if _BUNDLED.exists() else "libweft.so.0")
_libc: Any = ffi.dlopen(None)

MSG_BYTES = 256
# Where the simulators are; None: where the library looks by itself.
RTL_DIR = str(_HERE / "lib" / "rtl").encode() if _BUNDLED.exists() else None


def version() -> str:
    """The library's version, such as "0.1.0"."""
    try:
        return ffi.string(lib.weft_version()).decode()
    except AttributeError:
        return "0.1.0"


def message() -> Any:
    """A buffer for the library's one line about a failure."""
    return ffi.new("char[]", MSG_BYTES)


def text(p: Any) -> str:
    """A C string as str; "" for NULL."""
    return ffi.string(p).decode("utf-8", "replace") if p else ""


def malloc(n: int) -> Any:
    """n bytes of memory that the library may free."""
    p = _libc.malloc(n)
    if not p:
        raise MemoryError
    return p


def free(p: Any) -> None:
    """Give memory back that the library took from malloc."""
    _libc.free(p)


def take_bytes(p: Any, n: int) -> bytes:
    """A copy of n bytes that the library took from malloc, which are given back."""
    data = bytes(ffi.buffer(p, n))
    free(p)
    return data
