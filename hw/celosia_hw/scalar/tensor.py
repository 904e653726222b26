"""The way of tensor instructions: checked, entered in the scoreboard, issued to their units."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.registers import NUM_WINDOWS, Activity
from celosia_hw.commands import fault_layout, window_layout
from celosia_hw.scalar.check import Checker, resolved_layout
from celosia_hw.scalar.dispatch import issue_units, unit_signature
from celosia_hw.scalar.errors import error_layout
from celosia_hw.scalar.scoreboard import Scoreboard
from celosia_hw.scalar.streams import stride_layout
from celosia_hw.stream import SkidBuffer

__all__ = ["TensorIssue"]


class TensorIssue(wiring.Component):
    """`Checker` and `Scoreboard`, and a place before them where an instruction waits, but on a chip
    that is ``small``.

    So the scalar unit goes on while the instruction before is checked, and what it does then does
    not depend on what the checker finds.

    Members
    -------
    i, windows, stride_write, stride_index, stride, fault : as of `Checker`
    checked : Out(1)
        Nothing is being checked, or waits for it.
    port_load, port_store, port_mxu, port_vpu, error, activities : as of `Scoreboard`
    following : as of `Scoreboard`
    finished : Out(1)
        No instruction is in the scoreboard.
    """

    i: stream.Interface
    windows: data.View
    stride_write: Signal
    stride_index: Signal
    stride: data.View
    fault: data.View
    checked: Signal
    error: data.View
    activities: list[Signal]
    following: Signal
    finished: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        self._units = units = issue_units(config)
        super().__init__({
            "i": In(stream.Signature(resolved_layout())),
            "windows": In(data.ArrayLayout(window_layout(), NUM_WINDOWS)),
            "stride_write": In(1), "stride_index": In(range(isa.NUM_STRIDES)),
            "stride": In(stride_layout()), "fault": Out(fault_layout()), "checked": Out(1),
            **{f"port_{unit.name.lower()}": Out(unit_signature(config, unit))
               for unit in units},
            "error": Out(error_layout(config)), "finished": Out(1),
            "following": Out(1),
            "activities": Out(Activity).array(len(units)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.checker = checker = Checker(self._config)
        m.submodules.scoreboard = scoreboard = Scoreboard(self._config)
        m.submodules.waiting = waiting = SkidBuffer(
            resolved_layout(), holds=not self._config.small)
        wiring.connect(m, wiring.flipped(self.i), waiting.i)
        wiring.connect(m, waiting.o, checker.i)
        wiring.connect(m, checker.entry, scoreboard.entry)
        if self._config.small:
            m.d.comb += checker.comparing.eq(scoreboard.comparing)
        for unit in self._units:
            name = f"port_{unit.name.lower()}"
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(scoreboard, name))
            m.d.comb += self.activities[unit].eq(scoreboard.activities[unit])
        m.d.comb += [
            *(getattr(checker, name).eq(getattr(self, name))
              for name in ("windows", "stride_write", "stride_index", "stride")),
            *(getattr(scoreboard, name).eq(getattr(checker, name))
              for name in ("word", "word_valid", "part", "part_index", "part_valid")),
            self.checked.eq(checker.idle & waiting.i.ready), self.fault.eq(checker.fault),
            self.finished.eq(scoreboard.empty),
            self.following.eq(scoreboard.following), self.error.eq(scoreboard.error),
        ]
        return m
