# SPDX-License-Identifier: Apache-2.0
"""The C library, through cffi's ABI mode."""
import importlib.metadata
import pathlib
from typing import Any

import cffi

_HERE = pathlib.Path(__file__).resolve().parent

ffi = cffi.FFI()
ffi.cdef((_HERE / "_cdef.h").read_text())
ffi.cdef("void free(void *p); void *malloc(size_t n);")
# A wheel brings the library and the simulators; a distribution's package uses those of the system.
_BUNDLED = _HERE / "lib" / "libweft.so"


def _load() -> Any:
    """The library. ImportError, with one line: there is none that can be loaded, or it is older than this package."""
    name = str(_BUNDLED) if _BUNDLED.exists() else "libweft.so.0"
    try:
        found = ffi.dlopen(name)
        version = ffi.string(found.weft_version()).decode()
    except (OSError, AttributeError) as e:
        # Behind this word cffi tells where it has looked, too.
        why = str(e).splitlines()[0].split(".  Additionally")[0]
        raise ImportError("%s is not there, or no libweft: %s; `make wheel` makes a package with it, Debian's is libweft0" % (name, why)) from None
    try:
        wanted = importlib.metadata.version("weft")
    except importlib.metadata.PackageNotFoundError:
        return found        # not installed: the tree's own
    has, needs = ([int(n) for n in v.split(".")[:2]] for v in (version, wanted))
    if has[0] != needs[0] or has < needs:
        raise ImportError("%s is of version %s, the Python package of version %s" % (name, version, wanted))
    return found


lib: Any = _load()
_libc: Any = ffi.dlopen(None)

MSG_BYTES = 256
# Where the simulators are; None: where the library looks by itself.
RTL_DIR = str(_HERE / "lib" / "rtl").encode() if _BUNDLED.exists() else None


def version() -> str:
    """The library's version, such as "0.1.0"."""
    return ffi.string(lib.weft_version()).decode()


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
