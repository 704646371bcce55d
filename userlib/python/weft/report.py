# SPDX-License-Identifier: Apache-2.0
"""What a run was like, as plain dataclasses."""
import dataclasses
from typing import Any, List, Optional

from ._native import lib, text


@dataclasses.dataclass(frozen=True)
class OperatorReport:
    """One operator of the source network, or a group that was fused."""

    index: int            #: in the source file; the first of a group
    name: str             #: its output tensor
    op: str               #: "CONV_2D", "CONV_2D+ADD"
    unit: str             #: "npu" or "host"
    reason: str           #: why it runs there
    macs: int
    cycles: int           #: measured; 0 on the host, the model and a card
    estimate: int         #: the compiler's estimate of the cycles
    host_ms: float        #: expected processor time on the host; negative if nobody knows
    dram_read_bytes: int
    dram_write_bytes: int


@dataclasses.dataclass(frozen=True)
class FirstMismatch:
    """The first element that differs from golden."""

    op: int
    op_name: str
    tensor: str
    index: int            #: element, row-major
    expected: int
    got: int
    cmd: int              #: command as `weft dump` counts; -1: seen at the end
    cycle: int


@dataclasses.dataclass(frozen=True)
class Report:
    """A run's figures. Cycles are 0 on devices that do not count them."""

    cycles: int
    estimate: int
    macs: int
    utilization: float
    host_ms: float
    checked: bool
    tensors: int          #: compared whole
    elements: int         #: compared
    mismatches: int
    first: Optional[FirstMismatch]
    seconds: float
    sim_cycles: int
    macs_all: int         #: of all operators, wherever they run
    npu_cycles: float     #: the NPU's part of all cycles, the host's time taken as cycles at 100 MHz
    switches: List[str]   #: tensors that the NPU makes and the host reads, or the other way round
    channels: int         #: of all convolutions' results
    folded: int           #: channels of these that no step makes, since nothing needs them
    macs_folded: int      #: multiplications among macs that nothing does for that reason
    ops: List[OperatorReport]

    def to_pandas(self) -> Any:
        """The operators as a pandas DataFrame, a row for each; needs pandas."""
        import pandas

        return pandas.DataFrame([dataclasses.asdict(o) for o in self.ops])


def _operator(o: Any) -> OperatorReport:
    return OperatorReport(index=o.index, name=text(o.name), op=text(o.op), unit="npu" if o.unit == lib.WEFT_RUN_NPU else "host",
                          reason=text(o.reason), macs=o.macs, cycles=o.cycles, estimate=o.estimate, host_ms=o.host_ms,
                          dram_read_bytes=o.dram_read_bytes, dram_write_bytes=o.dram_write_bytes)


def take(r: Any) -> Optional[Report]:
    """The library's report as a dataclass; the library's own is freed."""
    if not r:
        return None
    f = r.first
    first = None
    if f.found:
        first = FirstMismatch(op=f.op, op_name=text(f.op_name), tensor=text(f.tensor), index=f.index, expected=f.expected,
                              got=f.got, cmd=f.cmd, cycle=f.cycle)
    report = Report(cycles=r.cycles, estimate=r.estimate, macs=r.macs, utilization=r.utilization, host_ms=r.host_ms,
                    checked=bool(r.checked), tensors=r.tensors, elements=r.elements, mismatches=r.mismatches, first=first,
                    seconds=r.seconds, sim_cycles=r.sim_cycles,
                    macs_all=r.macs_all, npu_cycles=r.npu_cycles, switches=[text(r.switches[i]) for i in range(r.n_switches)],
                    channels=r.channels, folded=r.folded, macs_folded=r.macs_folded,
                    ops=[_operator(r.ops[i]) for i in range(r.n_ops)])
    lib.weft_report_free(r)
    return report
