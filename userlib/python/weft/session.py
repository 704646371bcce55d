# SPDX-License-Identifier: Apache-2.0
"""Sessions: a network on a device."""
import asyncio
import dataclasses
import os
import threading
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np

from . import report as _report
from ._native import RTL_DIR, ffi, lib, message, text
from .errors import Mismatch, WeftError, check
from .network import Network, Source
from .tensors import arrays, fill, for_port

Result = Union[np.ndarray, Tuple[np.ndarray, ...]]
_DEVICES = {"golden": 0, "model": 1, "rtl": 2, "usb": 3}


def parse_device(device: str) -> Tuple[int, Optional[str]]:
    """The kind of device and, of "usb:NAME", the name."""
    kind, colon, rest = device.partition(":") if isinstance(device, str) else ("", "", "")
    if kind not in _DEVICES or (colon and not (kind == "usb" and rest)):
        raise ValueError('device is "golden", "model", "rtl", "usb", "usb:SERIAL", "usb:@SOCKET", a list of these cards or "usb:*", not %r' % device)
    return _DEVICES[kind], rest or None


def parse_fault(fault: str) -> Dict[str, int]:
    """Fields of struct weft_plant for "pe:ROW,COL,BIT", "lane:LANE,BIT" or "sp:ADDRESS,BIT"."""
    forms = {"pe": ("PE", ("row", "col", "bit")), "lane": ("LANE", ("lane", "bit")), "sp": ("SP", ("addr", "bit"))}
    kind, _, rest = fault.partition(":")
    try:
        enum, names = forms[kind]
        values = [int(v, 0) for v in rest.split(",")]
        if len(values) != len(names):
            raise ValueError
    except (KeyError, ValueError):
        raise ValueError('plant is "pe:ROW,COL,BIT", "lane:LANE,BIT" or "sp:ADDRESS,BIT", not %r' % fault) from None
    return dict(zip(names, values), kind=getattr(lib, "WEFT_PLANT_" + enum))


@dataclasses.dataclass(frozen=True)
class CardReport:
    """One of the cards of a session over several."""

    name: str             #: its serial, or "@SOCKET"
    lost: bool            #: it was given up
    why: str              #: why, or what went wrong last; ""
    runs: int             #: runs that it has made
    repeated: int         #: runs that it began and another card had to repeat
    cycles: int           #: cycles in which its NPU was busy with runs


class Session:
    """A network on a device. Runs of one session are made one after another, from any thread; on
    several cards ("usb:*") as many at a time as there are cards, see run_async() and cards.

    source is what Network takes, or a Network. check compares every tensor that
    the device makes with golden and raises Mismatch if one differs. config names the NPU's
    configuration; None is the one that the card has, or "w16". memory is the
    simulated memory's profile, "ddr" or "sram". timeout is in seconds, for each
    stream of commands; None waits as long as it takes. plant, for tests and lessons,
    disturbs the RTL: "pe:0,0,9" holds bit 9 of a PE's sum at 1. Other options are Network's.
    """

    def __init__(self, source: Union[Source, Network], device: str = "model", *, config: Optional[str] = None, check: bool = False,
                 strict: bool = False, memory: str = "ddr", timeout: Optional[float] = None, keep: bool = False,
                 profile: Optional[Union[str, "os.PathLike[str]"]] = None, capture: Optional[Union[str, "os.PathLike[str]"]] = None,
                 rtl_dir: Optional[Union[str, "os.PathLike[str]"]] = None, threads: int = 1, plant: Optional[str] = None,
                 **options: Any):
        self.network = source if isinstance(source, Network) else Network(source, **options)
        kind, usb = parse_device(device)
        if memory not in ("ddr", "sram"):
            raise ValueError('memory is "ddr" or "sram", not %r' % memory)
        for name, value in ("check", check), ("strict", strict), ("keep", keep):
            if value not in (False, True):
                raise ValueError("%s is True or False, not %r" % (name, value))
        o = ffi.new("struct weft_session_options *", lib.weft_session_options_default())
        o.device, o.check, o.strict, o.keep, o.threads = kind, check, strict, keep, threads
        o.memory = lib.WEFT_MEMORY_SRAM if memory == "sram" else lib.WEFT_MEMORY_DDR
        o.timeout_ms = 0 if timeout is None else max(1, round(1000 * timeout))
        self._keep: List[Any] = []
        o.config = self._string(config)
        o.rtl_dir = self._string(os.fspath(rtl_dir) if rtl_dir else RTL_DIR)
        o.usb = self._string(usb)
        o.profile = self._string(os.fspath(profile) if profile else None)
        o.capture = self._string(os.fspath(capture) if capture else None)
        for name, value in (parse_fault(plant) if plant else {}).items():
            setattr(o.plant, name, value)
        s, msg = ffi.new("weft_session **"), message()
        _checked(lib.weft_session_open(self.network._net, o, s, msg), msg, self.network.name)
        self._s = s[0]
        self._lock = threading.Condition()
        self._running = 0
        self.report: Optional[_report.Report] = None

    def _string(self, s: Any) -> Any:
        if s is None:
            return ffi.NULL
        self._keep.append(ffi.new("char[]", s if isinstance(s, bytes) else s.encode()))
        return self._keep[-1]

    def close(self) -> None:
        """Close the device. A run that is under way ends first."""
        with self._lock:
            self._lock.wait_for(lambda: not self._running)
            if self._s:
                lib.weft_session_close(self._s)
                self._s = ffi.NULL

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_s", None):
            self.close()

    def run(self, *inputs: Any, **named: Any) -> Result:
        """Run once. Inputs come in the network's order, or by name; numpy arrays or anything with DLPack.

        Returns the output as an array, or a tuple of arrays if there are several.
        self.report then has the run's figures. Ctrl-C is answered at once; the
        session then closes behind the run that is under way.
        """
        done: Dict[str, Any] = {}
        feed = self._feed(inputs, named)

        def work() -> None:
            try:
                done["result"] = self._run(feed)
            except BaseException as e:  # handed to the caller's thread
                done["error"] = e

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(0.2)
        except KeyboardInterrupt:
            threading.Thread(target=self.close, daemon=True).start()
            raise
        if "error" in done:
            raise done["error"]
        return done["result"]

    async def run_async(self, *inputs: Any, **named: Any) -> Result:
        """As run(), without blocking the event loop."""
        feed = self._feed(inputs, named)
        return await asyncio.get_running_loop().run_in_executor(None, self._run, feed)

    def _feed(self, inputs: Tuple[Any, ...], named: Dict[str, Any]) -> List[Tuple[int, np.ndarray]]:
        ports = self.network._ports(lib.weft_net_n_inputs, lib.weft_net_input)
        names = [text(p.name) for p in ports]
        if len(inputs) == 1 and isinstance(inputs[0], dict) and not named:
            inputs, named = (), inputs[0]
        unknown = [n for n in named if n not in names]
        if unknown:
            raise ValueError("no input is called %r; there are %s" % (unknown[0], ", ".join(map(repr, names))))
        values = list(inputs) + [named[n] for n in names[len(inputs):] if n in named]
        if len(values) != len(ports):
            raise ValueError("%d inputs are given, the network has %d: %s" % (len(values), len(ports), ", ".join(map(repr, names))))
        return [(p.dtype, for_port(p, v)) for p, v in zip(ports, values)]

    def _run(self, feed: List[Tuple[int, np.ndarray]]) -> Result:
        n_out = lib.weft_net_n_outputs(self.network._net)
        given, out = ffi.new("weft_tensor[]", len(feed) or 1), ffi.new("weft_tensor[]", n_out)
        keep = [fill(given[i], code, a) for i, (code, a) in enumerate(feed)]
        rep, msg = ffi.new("struct weft_report **"), message()
        with self._lock:
            if not self._s:
                raise WeftError("the session is closed")
            self._running += 1
        try:
            err = lib.weft_session_run(self._s, given, out, rep, msg)
        finally:
            with self._lock:
                self._running -= 1
                self._lock.notify_all()
        self.report = taken = _report.take(rep[0])
        del keep
        _checked(err, msg, self.network.name, taken)
        result = arrays(out, n_out)
        for i in range(n_out):
            lib.weft_tensor_release(ffi.addressof(out, i))
        return result[0] if n_out == 1 else tuple(result)

    @property
    def cards(self) -> List[CardReport]:
        """What each card has done, of a session over several; [] on one device."""
        with self._lock:
            cards = lib.weft_session_cards(self._s) if self._s else ffi.NULL
            out: List[CardReport] = []
            info = ffi.new("struct weft_cards_info *")
            for i in range(lib.weft_cards_count(cards) if cards else 0):
                check(lib.weft_cards_info(cards, i, info))
                out.append(CardReport(name=text(info.name), lost=bool(info.lost), why=text(info.why), runs=info.runs,
                                      repeated=info.repeated, cycles=info.cycles))
        return out

    def reset_variables(self) -> None:
        """What runs have kept for later ones (SVDF's memory, resource variables) is as it was when the session was opened."""
        with self._lock:
            self._lock.wait_for(lambda: not self._running)
            if not self._s:
                raise WeftError("the session is closed")
            lib.weft_session_reset_variables(self._s)

    def plan(self) -> _report.Report:
        """Where each operator would run, and why, without running anything."""
        rep, msg = ffi.new("struct weft_report **"), message()
        with self._lock:
            self._lock.wait_for(lambda: not self._running)
            _checked(lib.weft_session_plan(self._s, rep, msg), msg, self.network.name)
        taken = _report.take(rep[0])
        assert taken is not None
        return taken

    def tensors(self) -> Dict[str, np.ndarray]:
        """The tensors of the last run that have values, by name, if the session was opened with keep=True."""
        found = {}
        k = ffi.new("struct weft_kept *")
        with self._lock:
            self._lock.wait_for(lambda: not self._running)
            for i in range(lib.weft_session_n_kept(self._s)):
                check(lib.weft_session_kept(self._s, i, k))
                if k.tensor and k.tensor.data:
                    found[text(k.name)] = arrays(k.tensor, 1)[0]
        return found


def _checked(err: int, msg: Any, what: str, rep: Optional[_report.Report] = None) -> None:
    try:
        check(err, text(msg), what)
    except Mismatch as e:
        e.report = rep
        raise
