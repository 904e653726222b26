"""Which instruction a tensor unit has failed at."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia_hw.scalar.dispatch import TENSOR_UNITS, issue_units, unit_bits
from celosia_hw.scalar.encoding import PC_BITS

__all__ = ["ErrorLookup", "error_layout"]


def error_layout(config: TpuConfig) -> data.StructLayout:
    """An error of a tensor unit, if ``valid``: of which, at which instruction, its FAULT_ADDR.

    ``pc`` and ``detail`` of one of the vector unit stay until there is a bus error. On a chip with
    ports ``down`` tells whether one of a port is that its link is down.
    """
    return data.StructLayout({
        "valid": 1, "unit": unit_bits(config), "pc": PC_BITS, "detail": 32,
        **({"down": 1} if config.ports else {})})


class ErrorLookup(wiring.Component):
    """Tells, two cycles after an instruction has failed, which one it was.

    First its slot is found, then its index. Should two units fail at once, the first of
    `issue_units` is told.

    Members
    -------
    enter : In(1), slot : In, pc : In(32)
        An instruction enters the window.
    failed : In, slots : In
        For each of `issue_units`: whether its oldest instruction has failed, and the slot of it.
    detail : In(32)
        With a failure of the vector unit or of a port: its FAULT_ADDR.
    down : In(1)
        On a chip with ports, with a failure of one: its link is down.
    busy : Out(1)
        An error is on its way, or told.
    error : Out(error_layout())
    """

    enter: Signal
    slot: Signal
    pc: Signal
    failed: Signal
    slots: data.View
    detail: Signal
    down: Signal
    busy: Signal
    error: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        bits, units = ceil_log2(config.window), len(issue_units(config))
        super().__init__({
            "enter": In(1), "slot": In(bits), "pc": In(PC_BITS), "failed": In(units),
            "slots": In(data.ArrayLayout(bits, units)), "detail": In(32), "busy": Out(1),
            "error": Out(error_layout(config)), **({"down": In(1)} if config.ports else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.pcs = pcs = memory.Memory(
            shape=PC_BITS, depth=self._config.window, init=[])
        put, get = pcs.write_port(), pcs.read_port(domain="comb")
        error = self.error
        found, known = Signal(), Signal()
        unit = Signal.like(error.unit, reset_less=True)
        slot, detail = Signal.like(self.slot, reset_less=True), Signal(32, reset_less=True)
        m.d.comb += [put.addr.eq(self.slot), put.data.eq(self.pc), put.en.eq(self.enter),
                     get.addr.eq(slot), self.busy.eq(found | error.valid)]
        m.d.sync += [found.eq(self.failed.any()), error.valid.eq(found), error.unit.eq(unit),
                     detail.eq(self.detail)]
        if self._config.ports:
            down = Signal(reset_less=True)
            m.d.sync += [down.eq(self.down), error.down.eq(down)]
        for i in reversed(range(len(self.failed))):
            with m.If(self.failed[i]):
                m.d.sync += [slot.eq(self.slots[i]), unit.eq(i)]
        with m.If(found & ~(known & (unit == Unit.VPU))):
            m.d.sync += [error.pc.eq(get.data), known.eq(unit == Unit.VPU)]
            told: Value = unit == Unit.VPU
            if self._config.ports:
                told = unit >= Unit.VPU
                assert max(TENSOR_UNITS) == Unit.VPU
            with m.If(told):
                m.d.sync += error.detail.eq(detail)
            with m.Else():
                m.d.sync += error.detail.eq(0)
        return m
