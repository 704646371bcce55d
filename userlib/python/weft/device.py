# SPDX-License-Identifier: Apache-2.0
"""Devices for bring-up: buffers, raw command streams, registers, the scratchpad."""
import dataclasses
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._native import RTL_DIR, ffi, lib, message, text
from .errors import WeftError, check
from .session import parse_device


@dataclasses.dataclass(frozen=True)
class CardInfo:
    """A card on the USB."""

    name: str             #: what "usb:" takes: the serial, or the port if it has none or another card has the same
    serial: str
    product: str
    port: str             #: "1-2.3": bus 1, port 3 of the hub in port 2
    where: str            #: "bus 1 device 4"
    used_by: str          #: who has it; "" if it is free or nobody knows
    access: int           #: 0, or the positive errno that opening it would give


def devices() -> List[CardInfo]:
    """The cards that are plugged in."""
    found, n, msg = ffi.new("struct weft_dev_info[]", 64), ffi.new("size_t *"), message()
    check(lib.weft_dev_list(found, 64, n, msg), text(msg), "devices")
    return [CardInfo(name=text(i.name), serial=text(i.serial), product=text(i.product), port=text(i.port), where=text(i.where), used_by=text(i.used_by),
                     access=-i.access) for i in list(found)[:min(n[0], 64)]]


@dataclasses.dataclass(frozen=True)
class JobResult:
    """How a stream of commands ended."""

    status: int           #: 0, or a positive errno
    cycles: int
    fault_code: int
    fault_unit: int
    fault_cmd: int
    fault_info: int
    counters: Dict[str, int]


class Buffer:
    """Device memory, zeroed at first. Device.buffer() makes it."""

    def __init__(self, dev: "Device", size: int):
        self._dev, self.size = dev, size
        b = ffi.new("weft_buf **")
        check(lib.weft_buf_alloc(dev._open(), size, b), dev.error, "buffer of %d bytes" % size)
        self._b = b[0]

    def write(self, data: Any, offset: int = 0) -> None:
        """Write bytes or an array at an offset."""
        raw = np.ascontiguousarray(data).tobytes() if isinstance(data, np.ndarray) else bytes(data)
        check(lib.weft_buf_write(self._b, offset, raw, len(raw)), self._dev.error, "write")

    def read(self, size: Optional[int] = None, offset: int = 0) -> bytes:
        """Read bytes from an offset; all behind it if no size is given."""
        n = self.size - offset if size is None else size
        out = ffi.new("char[]", max(n, 1))
        check(lib.weft_buf_read(self._b, offset, out, n), self._dev.error, "read")
        return bytes(ffi.buffer(out, n))

    def free(self) -> None:
        """Give the memory back; jobs that use it must have been waited for."""
        if self._b:
            lib.weft_buf_free(self._b)
            self._b = ffi.NULL


class Device:
    """A device without a network: raw streams, memory, registers. One thread at a time."""

    def __init__(self, device: str = "rtl", *, config: str = "w16", memory: str = "ddr", cosim: bool = False):
        kind, usb = parse_device(device)
        if kind == 0:
            raise ValueError("golden is no device; use model, rtl or usb")
        o = ffi.new("struct weft_dev_options *", lib.weft_dev_options_default())
        strings = [ffi.NULL if s is None else ffi.new("char[]", s) for s in (config.encode(), RTL_DIR, (usb or "").encode())]
        o.kind, o.cosim = kind - 1, cosim
        o.memory = lib.WEFT_MEMORY_SRAM if memory == "sram" else lib.WEFT_MEMORY_DDR
        o.config, o.rtl_dir, o.usb = strings
        dev, msg = ffi.new("weft_dev **"), message()
        check(lib.weft_dev_open(o, dev, msg), text(msg), device)
        self._d, self._strings, self._buffers = dev[0], strings, []  # type: Any, Any, List[Buffer]

    def _open(self) -> Any:
        if not self._d:
            raise WeftError("the device is closed")
        return self._d

    @property
    def error(self) -> str:
        """The last error in words; "" if there was none."""
        return text(lib.weft_dev_error(self._open()))

    def buffer(self, size: int) -> Buffer:
        """Device memory of so many bytes; it is freed with the device."""
        b = Buffer(self, size)
        self._buffers.append(b)
        return b

    def run(self, words: Sequence[int], windows: Sequence[Tuple[Buffer, str]] = (), timeout_ms: int = 10000) -> JobResult:
        """Run a stream of 64-bit command words and wait for its end.

        windows are the DMA windows from 1 on, each a buffer and "r", "w" or "rw".
        A stream that the verifier refuses raises BadInput with command and rule.
        """
        w = np.ascontiguousarray(words, dtype=np.uint64)
        win = ffi.new("struct weft_window[]", max(len(windows), 1))
        for k, (b, how) in enumerate(windows):
            win[k].buf, win[k].rd, win[k].wr = b._b, "r" in how, "w" in how
        job, r = ffi.new("weft_job *"), ffi.new("struct weft_job_result *")
        raw = ffi.new("uint64_t[]", [int(v) for v in w])
        check(lib.weft_submit(self._open(), raw, len(w), win, len(windows), job), self.error, "submit")
        result = lib.weft_wait(self._d, job[0], timeout_ms, r)
        line = self.error
        if result < 0:      # a job that has not ended goes on, and nobody would ask after it again
            lib.weft_forget(self._d, job[0])
        check(result, line, "wait")
        names = [n for n, _ in ffi.typeof("struct weft_counters").fields]
        return JobResult(status=-r.status, cycles=r.cycles, fault_code=r.fault_code, fault_unit=r.fault_unit,
                         fault_cmd=r.fault_cmd, fault_info=r.fault_info, counters={n: getattr(r.counters, n) for n in names})

    def peek(self, address: int, size: int) -> bytes:
        """Bytes of the scratchpad."""
        out = ffi.new("char[]", size)
        check(lib.weft_dev_peek_sp(self._open(), address, size, out), self.error, "peek 0x%x" % address)
        return bytes(ffi.buffer(out, size))

    def poke(self, address: int, data: bytes) -> None:
        """Bytes of the scratchpad for the next job to begin with; simulated devices only."""
        check(lib.weft_dev_poke_sp(self._open(), address, len(data), data), self.error, "poke 0x%x" % address)

    def read_register(self, address: int) -> int:
        """A register as the last job left it; the model has none."""
        return int(lib.weft_dev_reg_read(self._open(), address))

    def write_register(self, address: int, value: int) -> None:
        """Write a register between jobs."""
        check(lib.weft_dev_reg_write(self._open(), address, value), self.error, "register 0x%x" % address)

    def reset(self) -> None:
        """Reset the device."""
        check(lib.weft_dev_reset(self._open()), self.error, "reset")

    def close(self) -> None:
        """Free all buffers and close the device."""
        if self._d:
            for b in self._buffers:
                b.free()
            lib.weft_dev_close(self._d)
            self._d = ffi.NULL

    def __enter__(self) -> "Device":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_d", None):
            self.close()
