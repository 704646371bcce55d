# SPDX-License-Identifier: Apache-2.0
"""Exceptions: the library's negative errno with its one line."""
import errno
from typing import Any, Optional


class WeftError(RuntimeError):
    """A call of the library failed. `errno` is the positive error number."""

    def __init__(self, line: str, number: int = 0):
        super().__init__(line)
        self.errno = number


class BadInput(WeftError, ValueError):
    """A file, an option or an input is not what it should be."""


class NotSupported(WeftError):
    """The network has an operator or a type that is not supported; the line names it."""


class OutOfMemory(WeftError, MemoryError):
    """The library could not get memory."""


class DeviceFault(WeftError):
    """The device ended with a fault; the line names it."""


class DeviceLost(WeftError):
    """The card is not there, or not any more. Close the session and open another."""


class TimedOut(WeftError, TimeoutError):
    """The device did not finish in time."""


class Mismatch(WeftError):
    """A checked run differs from golden. `report` says where."""

    report: Optional[Any] = None


_KINDS = {
    errno.EINVAL: BadInput, errno.ENOENT: BadInput, errno.ERANGE: BadInput, errno.EISDIR: BadInput, errno.EFBIG: BadInput,
    errno.ENOTSUP: NotSupported, errno.ENOMEM: OutOfMemory, errno.EBADMSG: Mismatch, errno.EIO: DeviceFault,
    errno.ENODEV: DeviceLost, errno.ECONNRESET: DeviceLost, errno.ETIMEDOUT: TimedOut,
}


def check(result: int, line: str = "", what: str = "") -> int:
    """Return a result that is not negative; raise the exception of a negative errno, whose line begins with what."""
    if result >= 0:
        return result
    kind = _KINDS.get(-result, WeftError)
    line = line or errno.errorcode.get(-result, str(-result))
    raise kind("%s: %s" % (what, line) if what and not line.startswith(what + ": ") else line, -result)
